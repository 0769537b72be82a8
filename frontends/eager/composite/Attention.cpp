// torch.nn.functional.scaled_dot_product_attention: shapes, masks and dropout factors for the op.
#include "dialects/rules/Attention.h"
#include "frontends/eager/composite/Arith.h"
#include <cmath>
#include <limits>

namespace torchc::composite {
using namespace arith;

namespace {

void checkOperands(const Tensor &q, const Tensor &k, const Tensor &v) {
  if (q->rank < 2 || k->rank < 2 || v->rank < 2)
    fail("scaled_dot_product_attention: Expected query, key, and value to all be at least 2 dimensional, but got "
         "query dim: " +
         std::to_string(q->rank) + ", key dim: " + std::to_string(k->rank) + ", value dim: " + std::to_string(v->rank) +
         " instead.");
  if (q->dtype != k->dtype || q->dtype != v->dtype)
    fail("Expected query, key, and value to have the same dtype, but got query.dtype: " +
         std::string(torchName(q->dtype)) + " key.dtype: " + std::string(torchName(k->dtype)) +
         " and value.dtype: " + std::string(torchName(v->dtype)) + " instead.");
  if (!isFloat(q->dtype))
    unsupported("scaled_dot_product_attention: not implemented for '" + std::string(torchName(q->dtype)) + "'");
}

/// x with its leading dimensions broadcast to `batch`.
Tensor spread(const Tensor &x, const Dims &batch) {
  Dims shape = batch;
  shape.push(x->sizes()[x->rank - 2]);
  shape.push(x->sizes()[x->rank - 1]);
  return x->dims() == shape ? x : expandSize(x, IntList(shape.data(), size_t(shape.size())));
}

Dims batchOf(const Tensor &x) {
  Dims d = x->dims();
  d.erase(d.size() - 1);
  d.erase(d.size() - 1);
  return d;
}

/// Each head of x `times` times in a row.
Tensor repeatHeads(const Tensor &x, int64_t times) {
  Dims d = x->dims(), wide;
  int h = d.size() - 3;
  for (int i = 0; i < d.size(); i++) {
    wide.push(d[i]);
    if (i == h)
      wide.push(times);
  }
  Tensor y = expandSize(unsqueezeDim(x, h + 1), IntList(wide.data(), size_t(wide.size())));
  d[h] *= times;
  return reshaped(y, d);
}

} // namespace

Tensor dotProductAttention(const Tensor &query, const Tensor &key, const Tensor &value, const OptTensor &mask,
                           double dropout, bool causal, std::optional<double> scale, bool grouped) {
  checkOperands(query, key, value);
  if (mask.defined() && causal)
    fail("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  if (!(dropout >= 0 && dropout <= 1))
    fail("dropout probability has to be between 0 and 1, but got " + std::to_string(dropout));
  Tensor k = key, v = value;
  if (grouped && query->rank > 2) {
    int64_t heads = query->sizes()[query->rank - 3], own = k->sizes()[k->rank - 3];
    if (!own || heads % own || v->sizes()[v->rank - 3] != own)
      fail("scaled_dot_product_attention: expected the number of query heads to be a multiple of the key and value "
           "heads, got " +
           std::to_string(heads) + " and " + std::to_string(own));
    k = repeatHeads(k, heads / own), v = repeatHeads(v, heads / own);
  }
  Diag diag;
  Dims batch, all;
  if (!broadcastShapes(batchOf(query), batchOf(k), batch, diag) || !broadcastShapes(batch, batchOf(v), all, diag))
    fail(diag);
  Tensor q = spread(query, all);
  k = spread(k, all), v = spread(v, all);
  double factor = scale ? *scale : 1 / std::sqrt(double(q->sizes()[q->rank - 1]));
  if (!mask.defined() && dropout == 0)
    return callOp(OpId::Attention, {q, k, v}, {Attr::number(factor), Attr::boolean(causal)});
  int64_t parts = 0;
  Tensor extra;
  Dims scores = all;
  scores.push(q->sizes()[q->rank - 2]);
  scores.push(k->sizes()[k->rank - 2]);
  IntList size(scores.data(), size_t(scores.size()));
  if (mask.defined()) {
    if (mask->dtype != DType::Bool && mask->dtype != q->dtype)
      fail("Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: " +
           std::string(torchName(mask->dtype)) + " and query.dtype: " + std::string(torchName(q->dtype)) + " instead.");
    parts = rules::AttentionMask;
    extra = mask->dims() == scores ? mask : expandSize(mask, size);
  }
  if (dropout > 0) {
    DType t = computeType(q->dtype);
    Tensor keep = lt(randOf(size, {}, DType::F32, {}, false), 1 - dropout);
    Tensor f = as(dropout == 1 ? as(keep, DType::F32) : as(where(keep, 1 / (1 - dropout), 0.0), DType::F32), t);
    if (extra.defined()) {
      constexpr double inf = std::numeric_limits<double>::infinity();
      Tensor added = as(extra->dtype == DType::Bool ? as(where(extra, 0.0, -inf), t) : extra, t);
      Tensor pair[2] = {unsqueezeDim(added, -3), unsqueezeDim(f, -3)};
      extra = cat(TensorList(pair, 2), -3);
    } else
      extra = f;
    parts |= rules::AttentionFactor;
  }
  return callOp(OpId::AttentionMasked, {q, k, v, extra},
                {Attr::number(factor), Attr::boolean(causal), Attr::integer(parts)});
}

} // namespace torchc::composite
