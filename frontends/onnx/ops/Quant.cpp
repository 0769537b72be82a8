#include "frontends/onnx/ops/Ops.h"
#include <algorithm>

namespace torchc::onnx {
namespace {

struct Limits {
  double low, high;
};
Limits limitsOf(const NodeRun &n, DType t) {
  switch (t) {
  case DType::U8: return {0, 255};
  case DType::I8: return {-128, 127};
  case DType::I16: return {-32768, 32767};
  default: n.unsupported("quantisation to " + std::string(torchName(t)));
  }
}

/// A scale or zero point as an operand of `x`: one number, one for each index of `axis`, or one for each block of it.
Tensor spread(const NodeRun &n, const Tensor &v, const Tensor &x) {
  if (v.numel() == 1 && v.dim() <= 1)
    return reshape(v, {});
  int64_t axis = axisOf(n, n.intAttr("axis", 1), x.dim());
  int64_t block = std::min(n.intAttr("block_size", 0), std::max<int64_t>(x.sizes()[size_t(axis)], 1));
  if (block > 0) {
    if (v.dim() != x.dim())
      n.invalid("scales of blocks with " + std::to_string(v.dim()) + " dimensions, expected " +
                std::to_string(x.dim()));
    std::vector<int64_t> shape = sizesOf(v), wide = shape;
    shape.insert(shape.begin() + axis + 1, 1);
    wide.insert(wide.begin() + axis + 1, block);
    Tensor each = flatten(expand(reshape(v, shape), wide), axis, axis + 1);
    return narrow(each, axis, 0, x.sizes()[size_t(axis)]);
  }
  std::vector<int64_t> shape(size_t(x.dim()), 1);
  shape[size_t(axis)] = v.numel();
  return reshape(v, shape);
}

Tensor quantised(const Tensor &x, const Tensor &scale, const Tensor &zero, DType t, Limits l) {
  Tensor q = round(div(x, scale));
  if (zero)
    q = add(q, to(zero, x.dtype()));
  return to(clamp(q, Scalar(l.low), Scalar(l.high)), t);
}

void quantize(NodeRun &n) {
  Tensor x = n.tensor(0), zero = n.has(2) ? spread(n, n.tensor(2), x) : Tensor();
  int64_t asked = n.intAttr("output_dtype", 0);
  DType t = zero ? zero.dtype() : asked ? n.dtypeAttr("output_dtype") : DType::U8;
  n.set(quantised(to(x, DType::F32), to(spread(n, n.tensor(1), x), DType::F32), zero, t, limitsOf(n, t)));
}

void dequantize(NodeRun &n) {
  Tensor x = n.tensor(0), scale = spread(n, n.tensor(1), x);
  Tensor wide = to(x, DType::I32);
  if (n.has(2))
    wide = sub(wide, to(spread(n, n.tensor(2), x), DType::I32));
  Tensor out = mul(to(wide, scale.dtype()), scale);
  n.set(n.intAttr("output_dtype", 0) ? to(out, n.dtypeAttr("output_dtype")) : out);
}

void dynamicQuantize(NodeRun &n) {
  Quantised q = quantiseDynamically(n.tensor(0));
  n.set(0, q.values);
  n.set(1, q.scale);
  n.set(2, q.zero);
}

/// A scale or zero point of a matrix: one number, or one for each row or column.
Tensor each(const Tensor &v, bool rows) {
  if (v.numel() == 1)
    return reshape(v, {});
  return v.dim() == 1 && rows ? unsqueeze(v, 1) : v;
}
Tensor without(const NodeRun &n, size_t i, size_t zero, bool rows) {
  Tensor x = to(n.tensor(i), DType::I32);
  if (!n.has(zero))
    return x;
  Tensor z = to(n.tensor(zero), DType::I32);
  return sub(x, each(z, rows));
}
void matmulInteger(NodeRun &n) { n.set(matmul(without(n, 0, 2, true), without(n, 1, 3, false))); }

void qlinearMatmul(NodeRun &n) {
  Tensor exact = to(matmul(without(n, 0, 2, true), without(n, 3, 5, false)), DType::F32);
  Tensor zero = each(n.tensor(7), true);
  Tensor scale = div(mul(each(n.tensor(1), true), each(n.tensor(4), false)), each(n.tensor(6), true));
  n.set(quantised(mul(exact, scale), numberLike(exact, 1), zero, zero.dtype(), limitsOf(n, zero.dtype())));
}

const HandlerRow rows[] = {{"QuantizeLinear", quantize},
                           {"DequantizeLinear", dequantize},
                           {"DynamicQuantizeLinear", dynamicQuantize},
                           {"MatMulInteger", matmulInteger},
                           {"QLinearMatMul", qlinearMatmul}};

} // namespace

Quantised quantiseDynamically(const Tensor &x) {
  Tensor low = minimum(min(x), numberLike(x, 0)), high = maximum(max(x), numberLike(x, 0));
  Tensor scale = div(sub(high, low), 255.0);
  Tensor safe = where(eq(scale, 0), numberLike(x, 1), scale); // all zero
  Tensor zero = to(round(clamp(div(neg(low), safe), Scalar(0.0), Scalar(255.0))), DType::U8);
  return {quantised(x, safe, zero, DType::U8, {0, 255}), scale, zero};
}

Rows quantRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
