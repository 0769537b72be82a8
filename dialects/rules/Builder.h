// The concept that derivatives (Vjp.h) and decompositions (Decompose.h) are templates over. Two builders exist: the eager
// one runs ops (V = Tensor), the compiler's creates them (V = mlir::Value). Both promote operands by the op's record.
//
//   struct B {
//     using V = ...;                                     // default-constructed: no gradient
//     V op(OpId, std::initializer_list<OpArg<V>> operands, std::initializer_list<Attr> attrs = {});
//     V op(OpId, const V *operands, int n, std::initializer_list<Attr> attrs);   // variadic ops
//     Dims dims(const V &);
//     DType dtype(const V &);
//     bool differentiable() const;                       // may what is built be differentiated again?
//   };
//   struct C {                                           // one application of the op that is differentiated
//     const V &operand(int i) const;                     // only those the record saves
//     const V &result() const;
//     Dims operandDims(int i) const;  DType operandDType(int i) const;  int numOperands() const;
//     Dims resultDims() const;        const Attr &attr(int k) const;    // in the record's order
//   };
#pragma once
#include "dialects/rules/Dims.h"
#include "dialects/rules/OpInfo.h"
#include <initializer_list>

namespace torchc {

/// An operand of a builder call: a value, or a number (Bool, Int or Float attribute). Borrows the value for the call.
template <class V> struct OpArg {
  const V *value = nullptr;
  Attr number;
  OpArg(const V &v) : value(&v) {}
  OpArg(double n) : number(Attr::number(n)) {}
  OpArg(const Attr &n) : number(n) {}
};

/// The type a Python number takes part in promotion with.
inline DType numberCategory(const Attr &n) {
  return n.tag == AttrTag::Bool ? DType::Bool : n.tag == AttrTag::Int ? DType::I64 : DType::F64;
}

namespace rules {

inline Attr ints(const Dims &d) { return Attr::ints(d.data(), uint32_t(d.size())); }

template <class B> typename B::V zeros(B &b, const Dims &dims, DType dtype) {
  return b.op(OpId::Full, {}, {ints(dims), Attr::number(0.0), Attr::dtype(dtype)});
}

template <class B> typename B::V castTo(B &b, const typename B::V &v, DType t) {
  return b.dtype(v) == t ? v : b.op(OpId::Cast, {v}, {Attr::dtype(t)});
}

/// f16 and bf16 values in f32, others as they are (N6).
template <class B> typename B::V opMath(B &b, const typename B::V &v) {
  DType t = b.dtype(v);
  return isReducedFloat(t) ? b.op(OpId::Cast, {v}, {Attr::dtype(computeType(t))}) : v;
}

/// `dims` with the axes of `reduced` set to 1.
inline Dims keptDims(const Dims &dims, const Attr &reduced) {
  Dims out = dims;
  for (uint32_t i = 0; i < reduced.size && dims.size(); i++)
    out[int(reduced.list[i])] = 1;
  return out;
}

/// Un-broadcasts: sums `g` (N4) over the axes that broadcasting added or repeated. Tape and differentiate pass share it.
template <class B> typename B::V sumTo(B &b, const typename B::V &g, const Dims &target) {
  Dims have = b.dims(g), axes;
  if (have == target)
    return g;
  int lead = have.size() - target.size();
  for (int i = 0; i < have.size(); i++)
    if (i < lead || (target[i - lead] == 1 && have[i] != 1))
      axes.push(i);
  auto s = b.op(OpId::Sum, {g}, {ints(axes), Attr::boolean(false)});
  return b.dims(s) == target ? s : b.op(OpId::Reshape, {s}, {ints(target)});
}

/// The linear index, in a row-major tensor of `numel` elements, of each element of as_strided(...) (attrs: size, stride,
/// offset), 1-D.
template <class B> typename B::V stridedPlaces(B &b, int64_t numel, const Attr *attrs) {
  auto all =
      b.op(OpId::Arange, {}, {Attr::integer(numel), Attr::integer(0), Attr::integer(1), Attr::dtype(DType::I64)});
  auto places = b.op(OpId::AsStrided, {all}, {attrs[0], attrs[1], attrs[2]});
  int64_t count = b.dims(places).numel();
  return b.op(OpId::Reshape, {places}, {Attr::ints(&count, 1)});
}

/// `v`, or the real part of complex numbers.
template <class B> typename B::V realPart(B &b, const typename B::V &v) {
  if (!isComplex(b.dtype(v)))
    return v;
  Dims dims = b.dims(v);
  auto first = b.op(OpId::Slice, {b.op(OpId::ViewAsReal, {v})},
                    {Attr::integer(dims.size()), Attr::integer(0), Attr::integer(1), Attr::integer(1)});
  return b.op(OpId::Reshape, {first}, {ints(dims)});
}

/// `v` as one dimension.
template <class B> typename B::V flat(B &b, const typename B::V &v) {
  int64_t count = b.dims(v).numel();
  return b.op(OpId::Reshape, {v}, {Attr::ints(&count, 1)});
}

} // namespace rules
} // namespace torchc
