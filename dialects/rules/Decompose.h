// What Fused ops mean in primitives (N6): the default meaning, lowering and derivative of each. Runs in the op-math type:
// cast up at entry, down at exit.
#pragma once
#include "dialects/rules/Builder.h"

namespace torchc {
namespace rules {

/// The pieces of both softmax forms: d = x - max, s = sum(exp(d)) with dim kept.
template <class B> struct SoftmaxParts {
  typename B::V d, e, s;
};

template <class B> SoftmaxParts<B> softmaxParts(B &b, const typename B::V &x, int64_t dim) {
  Attr dims = Attr::ints(&dim, 1), keep = Attr::boolean(true);
  auto m = b.op(OpId::Amax, {x}, {dims, keep});
  auto d = b.op(OpId::Sub, {x, m});
  auto e = b.op(OpId::Exp, {d});
  auto s = b.op(OpId::Sum, {e}, {dims, keep});
  return {d, e, s};
}

template <class B> typename B::V castTo(B &b, const typename B::V &v, DType t) {
  return b.dtype(v) == t ? v : b.op(OpId::Cast, {v}, {Attr::dtype(t)});
}

/// dim in [0, max(rank, 1)); a shape without elements has nothing to normalise.
template <class B> bool softmaxDim(B &b, const typename B::V &x, const Attr &attr, int64_t &dim) {
  Dims dims = b.dims(x);
  int rank = dims.size() ? dims.size() : 1;
  dim = attr.i < 0 ? attr.i + rank : attr.i;
  return dims.numel() != 0;
}

/// y = e * (1 / s)
template <class B> typename B::V softmax(B &b, const typename B::V &x, const Attr *attrs, DType result) {
  int64_t dim;
  if (!softmaxDim(b, x, attrs[0], dim))
    return castTo(b, x, result);
  auto p = softmaxParts(b, castTo(b, x, computeType(result)), dim);
  return castTo(b, b.op(OpId::Mul, {p.e, b.op(OpId::Div, {1.0, p.s})}), result);
}

/// y = d - log(s)
template <class B> typename B::V logSoftmax(B &b, const typename B::V &x, const Attr *attrs, DType result) {
  int64_t dim;
  if (!softmaxDim(b, x, attrs[0], dim))
    return castTo(b, x, result);
  auto p = softmaxParts(b, castTo(b, x, computeType(result)), dim);
  return castTo(b, b.op(OpId::Sub, {p.d, b.op(OpId::Log, {p.s})}), result);
}

template <class B>
typename B::V asStridedUpdate(B &b, const typename B::V &x, const typename B::V &y, const Attr *attrs, DType) {
  Dims dims = b.dims(x);
  auto places = stridedPlaces(b, dims.numel(), attrs);
  auto written = b.op(OpId::Scatter, {flat(b, x), places, flat(b, y)}, {Attr::integer(0)});
  return b.op(OpId::Reshape, {written}, {ints(dims)});
}

} // namespace rules

/// Expands one Fused op. `x` are its operands, `result` its result type.
#include "torchc-gen/Decompose.inc"

} // namespace torchc
