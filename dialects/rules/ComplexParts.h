// Complex values as their real and imaginary parts: what the meanings in Complex.h are written with.
#pragma once
#include "dialects/rules/Builder.h"

namespace torchc::rules::complex {

/// One application of an op to complex operands.
template <class B> struct Call {
  OpId op;
  const typename B::V *x;
  int n;
  const Attr *attrs;
  DType type; // the complex type that operands meet in
};

template <class B> struct Parts {
  typename B::V re, im;
};

/// `v` with `last` as another dimension of size 1 or 2 behind the others: a view if it can be one.
template <class B> typename B::V withLast(B &b, const typename B::V &v, int64_t last) {
  Dims dims = b.dims(v);
  dims.push(last);
  return b.op(OpId::Reshape, {v}, {rules::ints(dims)});
}

/// `v` in the complex type `t`, as pairs in another dimension.
template <class B> typename B::V pairs(B &b, const typename B::V &v, DType t) {
  return b.op(OpId::ViewAsReal, {b.dtype(v) == t ? v : b.op(OpId::Cast, {v}, {Attr::dtype(t)})});
}

template <class B> typename B::V slice(B &b, const typename B::V &v, int dim, int64_t from, int64_t to) {
  return b.op(OpId::Slice, {v}, {Attr::integer(dim), Attr::integer(from), Attr::integer(to), Attr::integer(1)});
}
template <class B> typename B::V cat(B &b, const typename B::V &v, const typename B::V &w, int dim) {
  const typename B::V both[2] = {v, w};
  return b.op(OpId::Cat, both, 2, {Attr::integer(dim)});
}
/// A number, of a shape.
template <class B> typename B::V filled(B &b, const Dims &dims, const Attr &value, DType t) {
  return b.op(OpId::Full, {}, {rules::ints(dims), value, Attr::dtype(t)});
}

/// `v`, of the complex or a lower type, as its parts: views.
template <class B> Parts<B> split(B &b, const typename B::V &v, DType t) {
  auto p = pairs(b, v, t);
  Dims dims = b.dims(v);
  int last = dims.size();
  return {b.op(OpId::Reshape, {slice(b, p, last, 0, 1)}, {rules::ints(dims)}),
          b.op(OpId::Reshape, {slice(b, p, last, 1, 2)}, {rules::ints(dims)})};
}

/// Pairs, in another dimension, of two parts of one shape.
template <class B> typename B::V joinPairs(B &b, const Parts<B> &z) {
  return cat(b, withLast(b, z.re, 1), withLast(b, z.im, 1), b.dims(z.re).size());
}
template <class B> typename B::V join(B &b, const Parts<B> &z) { return b.op(OpId::ViewAsComplex, {joinPairs(b, z)}); }

} // namespace torchc::rules::complex
