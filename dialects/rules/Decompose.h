// What Fused ops mean in primitives (N6): the default meaning, lowering and derivative of each. Runs in the op-math type:
// cast up at entry, down at exit.
#pragma once
#include "dialects/rules/Attention.h"
#include "dialects/rules/Builder.h"
#include "dialects/rules/Norm.h"

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

/// m = max (of complex numbers by the real part), 0 if infinite; log(sum(exp(x - m))) + m
template <class B> typename B::V logsumexp(B &b, const typename B::V &given, const Attr *attrs, DType result) {
  auto x = castTo(b, given, computeType(result));
  Attr keep = Attr::boolean(true);
  if (!b.dims(x).numel()) // the maximum of nothing has no value, the logarithm of an empty sum is -inf
    return castTo(b, b.op(OpId::Log, {b.op(OpId::Sum, {x}, {attrs[0], attrs[1]})}), result);
  auto most = b.op(OpId::Amax, {realPart(b, x)}, {attrs[0], keep});
  auto infinite = b.op(OpId::Eq, {b.op(OpId::Abs, {most}), __builtin_inf()});
  auto m = b.op(OpId::Where, {infinite, 0.0, most});
  auto l = b.op(OpId::Log, {b.op(OpId::Sum, {b.op(OpId::Exp, {b.op(OpId::Sub, {x, m})})}, {attrs[0], keep})});
  auto y = b.op(OpId::Add, {l, m});
  if (!attrs[1].i) {
    Dims dims = b.dims(x), left;
    for (int i = 0; i < dims.size(); i++) {
      bool gone = false;
      for (uint32_t k = 0; k < attrs[0].size; k++)
        gone |= attrs[0].list[k] == i;
      if (!gone)
        left.push(dims[i]);
    }
    y = b.op(OpId::Reshape, {y}, {ints(left)});
  }
  return castTo(b, y, result);
}

/// (t - 1) * max(log1p(-x), -100) - t * max(log(x), -100)
template <class B>
typename B::V bce(B &b, const typename B::V &givenX, const typename B::V &givenT, const Attr *, DType result) {
  auto x = castTo(b, givenX, computeType(result)), t = castTo(b, givenT, computeType(result));
  auto off = b.op(OpId::ClampMin, {b.op(OpId::Log1p, {b.op(OpId::Neg, {x})}), -100.0});
  auto on = b.op(OpId::ClampMin, {b.op(OpId::Log, {x}), -100.0});
  auto left = b.op(OpId::Mul, {b.op(OpId::Sub, {t, 1.0}), off});
  return castTo(b, b.op(OpId::Sub, {left, b.op(OpId::Mul, {t, on})}), result);
}

/// y = x * (u < 1 - p ? 1 / (1 - p) : 0), the factor in f32 (N9).
template <class B>
typename B::V dropout(B &b, const typename B::V &givenX, const typename B::V &u, const Attr *attrs, DType result) {
  double keep = 1 - attrs[0].f;
  auto scale = b.op(OpId::Full, {}, {ints(Dims()), Attr::number(1 / keep), Attr::dtype(DType::F32)});
  auto factor = b.op(OpId::Where, {b.op(OpId::Lt, {u, keep}), scale, 0.0});
  return castTo(b, b.op(OpId::Mul, {castTo(b, givenX, computeType(result)), factor}), result);
}

} // namespace rules

/// Expands one Fused op. `x` are its operands, `result` its result type.
#include "torchc-gen/Decompose.inc"

} // namespace torchc
