// Sorting, searching, contractions by equation, attention.
#include "frontends/onnx/ops/Ops.h"
#include <cmath>

namespace torchc::onnx {
namespace {

void topK(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis", -1), x.dim()), k = n.version() < 10 ? n.intAttr("k") : n.integer(1);
  if (k < 0 || k > x.sizes()[size_t(axis)])
    n.invalid("k of " + std::to_string(k) + " for a dimension of " + std::to_string(x.sizes()[size_t(axis)]));
  // A stable sort: of equal elements the lower index comes first.
  auto [values, index] = sort(x, axis, n.intAttr("largest", 1) != 0, true);
  n.set(0, narrow(values, axis, 0, k));
  n.set(1, narrow(index, axis, 0, k));
}

void nonZero(NodeRun &n) {
  std::vector<Tensor> at = where(n.tensor(0));
  n.set(at.empty() ? zeros({0, n.tensor(0).numel()}, DType::I64) : stack(at, 0));
}

void compress(NodeRun &n) {
  Tensor x = n.tensor(0);
  Tensor at = where(n.tensor(1))[0];
  if (!n.hasAttr("axis"))
    return n.set(index_select(flatten(x), 0, at));
  n.set(index_select(x, axisOf(n, n.intAttr("axis"), x.dim()), at));
}

void reverseSequence(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t batch = n.intAttr("batch_axis"), time = n.intAttr("time_axis");
  if (x.dim() < 2 || batch + time != 1)
    n.invalid("expected batch_axis and time_axis 0 and 1");
  std::vector<int64_t> column(size_t(x.dim()), 1), row(size_t(x.dim()), 1);
  column[size_t(time)] = x.sizes()[size_t(time)], row[size_t(batch)] = x.sizes()[size_t(batch)];
  Tensor at = reshape(arange(0, Scalar(column[size_t(time)]), 1, DType::I64), column);
  Tensor length = reshape(to(n.tensor(1), DType::I64), row);
  Tensor index = where(lt(at, length), sub(sub(length, 1), at), at);
  n.set(gather(x, time, expand(index, x.sizes())));
}

void equation(NodeRun &n) { n.set(einsum(n.textAttr("equation"), n.tensors())); }

/// Opset 23: heads in a dimension of their own, or joined with the last one.
void attention(NodeRun &n) {
  Tensor q = n.tensor(0), k = n.tensor(1), v = n.tensor(2);
  bool joined = q.dim() == 3;
  auto split = [&](const Tensor &t, const char *heads) {
    int64_t h = n.intAttr(heads, 0);
    if (!joined)
      return t;
    if (h < 1 || t.sizes()[2] % h)
      n.invalid(std::string(heads) + " of " + std::to_string(h));
    return transpose(reshape(t, {t.sizes()[0], t.sizes()[1], h, t.sizes()[2] / h}), 1, 2);
  };
  q = split(q, "q_num_heads"), k = split(k, "kv_num_heads"), v = split(v, "kv_num_heads");
  if (n.has(4)) {
    k = cat(std::vector<Tensor>{n.tensor(4), k}, 2);
    v = cat(std::vector<Tensor>{n.tensor(5), v}, 2);
  }
  n.set(1, k);
  n.set(2, v);
  int64_t groups = q.sizes()[1] / std::max<int64_t>(k.sizes()[1], 1);
  auto repeated = [&](const Tensor &t) { // one head of keys serves several of queries
    if (groups == 1)
      return t;
    std::vector<int64_t> wide{t.sizes()[0], t.sizes()[1], groups, t.sizes()[2], t.sizes()[3]};
    return reshape(expand(unsqueeze(t, 2), wide), {t.sizes()[0], t.sizes()[1] * groups, t.sizes()[2], t.sizes()[3]});
  };
  k = repeated(k), v = repeated(v);
  double scale = n.hasAttr("scale") ? n.floatAttr("scale") : 1 / std::sqrt(double(q.sizes()[3]));
  Tensor scores = matmul(mul(q, std::sqrt(scale)), transpose(mul(k, std::sqrt(scale)), 2, 3));
  double cap = n.floatAttr("softcap", 0);
  int64_t L = q.sizes()[2], S = k.sizes()[2];
  Tensor bias = numberLike(scores, 0);
  if (n.has(3))
    bias = n.tensor(3).dtype() == DType::Bool ? where(n.tensor(3), bias, numberLike(scores, -__builtin_inf()))
                                              : n.tensor(3);
  if (n.intAttr("is_causal", 0)) {
    Tensor row = unsqueeze(arange(0, Scalar(L), 1, DType::I64), 1), column = arange(0, Scalar(S), 1, DType::I64);
    int64_t past = n.has(4) ? n.tensor(4).sizes()[2] : 0;
    bias = add(bias, where(le(column, add(row, past)), numberLike(scores, 0), numberLike(scores, -__builtin_inf())));
  }
  if (n.wants(3) && n.intAttr("qk_matmul_output_mode", 0) != 0)
    n.unsupported("qk_matmul_output_mode");
  n.set(3, scores);
  if (cap > 0)
    scores = mul(tanh(div(scores, cap)), cap);
  Tensor y = matmul(softmax(add(scores, bias), -1), v);
  if (joined)
    y = reshape(transpose(y, 1, 2), {y.sizes()[0], L, y.sizes()[1] * y.sizes()[3]});
  n.set(0, y);
}

void gridSample(NodeRun &n) {
  std::string_view mode = n.textAttr("mode", "linear");
  mode = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
  n.set(grid_sample(n.tensor(0), n.tensor(1), mode, n.textAttr("padding_mode", "zeros"),
                    n.intAttr("align_corners", 0) != 0));
}

const HandlerRow rows[] = {
    {"TopK", topK},       {"NonZero", nonZero},     {"Compress", compress},     {"ReverseSequence", reverseSequence},
    {"Einsum", equation}, {"Attention", attention}, {"GridSample", gridSample},
};

} // namespace

Rows orderRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
