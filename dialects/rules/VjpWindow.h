// Derivatives of convolutions and pools.
#pragma once
#include "dialects/rules/Builder.h"
#include "dialects/rules/Window.h"

namespace torchc::rules {

/// A shape without its first two dimensions.
inline Dims spatialOf(const Dims &d) { return Dims(d.data() + 2, d.size() - 2); }

/// conv(x, w) as far as `want` reaches: a transposed convolution may leave out last outputs of the convolution that it
/// transposes (output_padding).
template <class B>
typename B::V convUpTo(B &b, const typename B::V &x, const typename B::V &w, const Attr *attrs, const Dims &want) {
  auto y = b.op(OpId::Conv, {x, w}, {attrs[0], attrs[1], attrs[2], attrs[3]});
  for (int i = 2; i < want.size(); i++)
    if (b.dims(y)[i] != want[i])
      y = b.op(OpId::Slice, {y}, {Attr::integer(i), Attr::integer(0), Attr::integer(want[i]), Attr::integer(1)});
  return y;
}

template <class B, class C> typename B::V convVjp(B &b, const C &c, const typename B::V &g, int operand) {
  Dims size = spatialOf(c.operandDims(operand));
  if (operand == 0)
    return b.op(OpId::ConvInput, {g, c.operand(1)}, {ints(size), c.attr(0), c.attr(1), c.attr(2), c.attr(3)});
  return b.op(OpId::ConvWeight, {c.operand(0), g}, {ints(size), c.attr(0), c.attr(1), c.attr(2), c.attr(3)});
}

template <class B, class C> typename B::V convInputVjp(B &b, const C &c, const typename B::V &g, int operand) {
  Attr attrs[] = {c.attr(1), c.attr(2), c.attr(3), c.attr(4)};
  if (operand == 0)
    return convUpTo(b, g, c.operand(1), attrs, c.operandDims(0));
  Dims size = spatialOf(c.operandDims(1));
  return b.op(OpId::ConvWeight, {g, c.operand(0)}, {ints(size), attrs[0], attrs[1], attrs[2], attrs[3]});
}

template <class B, class C> typename B::V convWeightVjp(B &b, const C &c, const typename B::V &g, int operand) {
  Attr attrs[] = {c.attr(1), c.attr(2), c.attr(3), c.attr(4)};
  if (operand == 1)
    return convUpTo(b, c.operand(0), g, attrs, c.operandDims(1));
  Dims size = spatialOf(c.operandDims(0));
  return b.op(OpId::ConvInput, {c.operand(1), g}, {ints(size), attrs[0], attrs[1], attrs[2], attrs[3]});
}

template <class B, class C> typename B::V maxPoolVjp(B &b, const C &c, const typename B::V &g, int) {
  return b.op(OpId::MaxPoolInput, {g, c.operand(0)}, {c.attr(0), c.attr(1), c.attr(2), c.attr(3), c.attr(4)});
}

/// What the windows chose: planes are rows, read at their indices. Where they lie doesn't change with x: zeros, as in PyTorch.
template <class B, class C> typename B::V maxPoolInputVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (operand == 1)
    return zeros(b, c.operandDims(1), b.dtype(g));
  Dims x = c.operandDims(1), y = c.operandDims(0);
  int n = int(c.attr(0).size);
  int64_t planes = 1, in = 1, out = 1;
  for (int i = 0; i < x.size(); i++)
    (i < x.size() - n ? planes : in) *= x[i];
  for (int i = 0; i < n; i++)
    out *= c.attr(0).list[i];
  auto index = b.op(OpId::MaxPoolIndex, {c.operand(1)}, {c.attr(0), c.attr(1), c.attr(2), c.attr(3), c.attr(4)});
  Dims whole{planes, in}, chosen{planes, out};
  auto rows = b.op(OpId::Reshape, {g}, {ints(whole)}), at = b.op(OpId::Reshape, {index}, {ints(chosen)});
  return b.op(OpId::Reshape, {b.op(OpId::Gather, {rows, at}, {Attr::integer(1)})}, {ints(y)});
}

/// The last n dimensions of an op's operand.
template <class C> Dims pooledDims(const C &c) {
  Dims x = c.operandDims(0);
  int n = int(c.attr(0).size);
  return Dims(x.data() + x.size() - n, n);
}

template <class B, class C> typename B::V avgPoolVjp(B &b, const C &c, const typename B::V &g, int) {
  return b.op(OpId::AvgPoolInput, {g}, {ints(pooledDims(c)), c.attr(1), c.attr(2), c.attr(3), c.attr(4), c.attr(5)});
}

template <class B, class C> typename B::V avgPoolInputVjp(B &b, const C &c, const typename B::V &g, int) {
  return b.op(OpId::AvgPool, {g}, {ints(pooledDims(c)), c.attr(1), c.attr(2), c.attr(3), c.attr(4), c.attr(5)});
}

} // namespace torchc::rules
