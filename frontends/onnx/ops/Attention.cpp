// Scaled dot products of queries and keys as weights of values: opsets 23 to 25.
#include "frontends/onnx/ops/Ops.h"
#include <algorithm>
#include <cmath>

namespace torchc::onnx {
namespace {

constexpr double inf = __builtin_inf();

/// [batch, sequence, heads x size] or [batch, heads, sequence, size] -> the latter.
Tensor headsOf(const NodeRun &n, size_t input, const char *attr) {
  Tensor t = n.tensor(input);
  if (t.dim() != n.tensor(0).dim() || t.dim() < 3 || t.dim() > 4)
    n.invalid("expected queries, keys and values of 3 or of 4 dimensions");
  if (t.dim() == 4)
    return t;
  int64_t heads = n.intAttr(attr, 0);
  if (heads < 1 || t.sizes()[2] % heads)
    n.invalid(std::string(attr) + " of " + std::to_string(heads));
  return transpose(reshape(t, {t.sizes()[0], t.sizes()[1], heads, t.sizes()[2] / heads}), 1, 2);
}

/// One head of keys serves several of queries, neighbours.
Tensor repeated(const NodeRun &n, const Tensor &t, int64_t heads) {
  int64_t have = t.sizes()[1];
  if (have == heads)
    return t;
  if (have < 1 || heads % have)
    n.invalid(std::to_string(heads) + " heads of queries for " + std::to_string(have) + " of keys");
  int64_t each = heads / have;
  std::vector<int64_t> wide{t.sizes()[0], have, each, t.sizes()[2], t.sizes()[3]};
  return reshape(expand(unsqueeze(t, 2), wide), {t.sizes()[0], heads, t.sizes()[2], t.sizes()[3]});
}

/// The input `attn_mask` as a summand; keys that a short one doesn't tell of take no part (opset 24).
Tensor maskOf(const NodeRun &n, const Tensor &scores) {
  Tensor mask = n.tensor(3);
  bool isBool = mask.dtype() == DType::Bool;
  if (mask.dim() < 1)
    n.invalid("a mask of no dimension");
  int64_t missing = scores.sizes()[3] - mask.sizes()[size_t(mask.dim() - 1)];
  if (n.version() >= 24 && missing > 0) {
    std::vector<int64_t> shape = sizesOf(mask);
    shape.back() = missing;
    mask = cat(std::vector<Tensor>{mask, isBool ? zeros(shape, DType::Bool) : full(shape, -inf, mask.dtype())}, -1);
  }
  return isBool ? where(mask, numberLike(scores, 0), numberLike(scores, -inf)) : to(mask, scores.dtype());
}

/// Which keys a query sees by its position: causality, a window, keys that are no padding. Undefined: all.
Tensor visible(const NodeRun &n, int64_t L, int64_t S) {
  constexpr int64_t far = int64_t(1) << 40; // sums of these don't overflow
  int64_t left = std::min(n.intAttr("left_window_size", -1), far),
          right = std::min(n.intAttr("right_window_size", -1), far);
  if (left < -1 || right < -1)
    n.invalid("a window of " + std::to_string(std::min(left, right)) + ", expected -1 or more");
  Tensor key = arange(0, Scalar(S), 1, DType::I64), lengths, allowed;
  if (n.has(6))
    lengths = reshape(to(n.tensor(6), DType::I64), {-1, 1, 1, 1});
  auto also = [&](Tensor t) { allowed = allowed ? logical_and(allowed, t) : std::move(t); };
  Tensor query = unsqueeze(arange(0, Scalar(L), 1, DType::I64), 1); // as a position among the keys
  if (n.has(4))
    query = add(query, n.tensor(4).sizes()[2]);
  else if (lengths)
    query = add(query, sub(lengths, L));
  if (n.intAttr("is_causal", 0))
    also(le(key, query));
  if (left >= 0)
    also(ge(key, sub(query, left)));
  if (right >= 0)
    also(le(key, add(query, right)));
  if (lengths)
    also(lt(key, lengths));
  return allowed;
}

/// softmax(scores + bias); 0 where the bias leaves no key.
Tensor weightsOf(const NodeRun &n, const Tensor &scores, const Tensor &biased, const Tensor &bias) {
  DType t = n.hasAttr("softmax_precision") ? n.dtypeAttr("softmax_precision") : scores.dtype();
  Tensor p = to(softmax(to(biased, t), -1), scores.dtype());
  if (!bias || !scores.sizes()[3])
    return p;
  return where(eq(amax(bias, IntList{-1}, true), -inf), numberLike(p, 0), p);
}

void attention(NodeRun &n) {
  Tensor q = headsOf(n, 0, "q_num_heads"), k = headsOf(n, 1, "kv_num_heads"), v = headsOf(n, 2, "kv_num_heads");
  if (n.has(4) != n.has(5) || (n.has(4) && n.has(6)))
    n.invalid("expected past_key and past_value, or nonpad_kv_seqlen, or none of them");
  if (n.has(4)) {
    k = cat(std::vector<Tensor>{n.tensor(4), k}, 2);
    v = cat(std::vector<Tensor>{n.tensor(5), v}, 2);
  }
  n.set(1, k);
  n.set(2, v);
  k = repeated(n, k, q.sizes()[1]), v = repeated(n, v, q.sizes()[1]);
  double root = std::sqrt(n.hasAttr("scale") ? n.floatAttr("scale") : 1 / std::sqrt(double(q.sizes()[3])));
  std::vector<Tensor> stages; // what qk_matmul_output_mode counts
  stages.push_back(matmul(mul(q, root), transpose(mul(k, root), 2, 3)));
  double cap = n.floatAttr("softcap", 0);
  stages.push_back(cap > 0 ? mul(tanh(div(stages[0], cap)), cap) : stages[0]);
  Tensor scores = stages[1], bias = n.has(3) ? maskOf(n, scores) : Tensor();
  if (Tensor allowed = visible(n, scores.sizes()[2], scores.sizes()[3])) {
    Tensor by = where(allowed, numberLike(scores, 0), numberLike(scores, -inf));
    bias = bias ? add(bias, by) : by;
  }
  stages.push_back(bias ? add(scores, bias) : scores);
  stages.push_back(weightsOf(n, scores, stages[2], bias));
  int64_t mode = n.intAttr("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    n.invalid("qk_matmul_output_mode of " + std::to_string(mode));
  n.set(3, stages[size_t(mode)]);
  Tensor y = matmul(stages[3], v);
  if (n.tensor(0).dim() == 3)
    y = reshape(transpose(y, 1, 2), {y.sizes()[0], y.sizes()[2], y.sizes()[1] * y.sizes()[3]});
  n.set(0, y);
}

const HandlerRow rows[] = {{"Attention", attention}};

} // namespace

Rows attentionRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
