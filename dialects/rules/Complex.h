// What ops mean for complex operands, in terms of ops on real and imaginary parts: templates over a builder, named by the
// records' `complex` field. Ops that only move elements need none. RATIONALE.md says why no kernel has a complex type.
#pragma once
#include "dialects/rules/ComplexMath.h"

namespace torchc {
namespace rules::complex {

/// What acts on both parts alike: the op over pairs.
template <class B> typename B::V partwise(B &b, const Call<B> &c) {
  auto x = pairs(b, c.x[0], c.type);
  return b.op(OpId::ViewAsComplex, {c.n == 1 ? b.op(c.op, {x}) : b.op(c.op, {x, pairs(b, c.x[1], c.type)})});
}

template <class B> typename B::V conj(B &b, const Call<B> &c) {
  auto z = split(b, c.x[0], c.type);
  return join(b, {z.re, b.op(OpId::Neg, {z.im})});
}

template <class B> typename B::V abs(B &b, const Call<B> &c) {
  auto z = split(b, c.x[0], c.type);
  return b.op(OpId::Hypot, {z.re, z.im});
}

template <class B> typename B::V where(B &b, const Call<B> &c) {
  auto x = pairs(b, c.x[1], c.type), y = pairs(b, c.x[2], c.type);
  return b.op(OpId::ViewAsComplex, {b.op(OpId::Where, {withLast(b, c.x[0], 1), x, y})});
}

/// x + w (y - x), from the nearer end.
template <class B> typename B::V lerp(B &b, const Call<B> &c) {
  auto &x = c.x[0], &y = c.x[1], &w = c.x[2];
  auto d = b.op(OpId::Sub, {y, x});
  auto near = b.op(OpId::Lt, {b.op(OpId::Abs, {w}), 0.5});
  return b.op(OpId::Where, {near, b.op(OpId::Add, {x, b.op(OpId::Mul, {w, d})}),
                            b.op(OpId::Sub, {y, b.op(OpId::Mul, {d, b.op(OpId::Sub, {1.0, w})})})});
}

template <class B> typename B::V full(B &b, const Call<B> &c) {
  Dims shape(c.attrs[0].list, int(c.attrs[0].size));
  DType real = realType(c.type);
  return join(b, {filled(b, shape, c.attrs[1], real), rules::zeros(b, shape, real)});
}

template <class B> typename B::V eq(B &b, const Call<B> &c) {
  auto x = split(b, c.x[0], c.type), y = split(b, c.x[1], c.type);
  return b.op(OpId::LogicalAnd, {b.op(OpId::Eq, {x.re, y.re}), b.op(OpId::Eq, {x.im, y.im})});
}
template <class B> typename B::V ne(B &b, const Call<B> &c) {
  auto x = split(b, c.x[0], c.type), y = split(b, c.x[1], c.type);
  return b.op(OpId::LogicalOr, {b.op(OpId::Ne, {x.re, y.re}), b.op(OpId::Ne, {x.im, y.im})});
}

/// Ops on truth values: what isn't 0 is true.
template <class B> typename B::V truth(B &b, const Call<B> &c) {
  auto isTrue = [&](const typename B::V &v) { return b.op(OpId::Cast, {v}, {Attr::dtype(DType::Bool)}); };
  return c.n == 1 ? b.op(c.op, {isTrue(c.x[0])}) : b.op(c.op, {isTrue(c.x[0]), isTrue(c.x[1])});
}

//===-- reductions and scans -------------------------------------------------------------------------------------===//

template <class B> typename B::V sum(B &b, const Call<B> &c) { // two real sums (N4)
  Attr axes = c.attrs[0];
  if (b.dims(c.x[0]).empty())
    axes.size = 0;
  return b.op(OpId::ViewAsComplex, {b.op(OpId::Sum, {pairs(b, c.x[0], c.type)}, {axes, c.attrs[1]})});
}

/// One axis after the other: element i times element i + n/2, an odd last one moving on as it is, until one is left.
template <class B> typename B::V prod(B &b, const Call<B> &c) {
  Dims dims = b.dims(c.x[0]), kept = rules::keptDims(dims, c.attrs[0]), result;
  typename B::V y = c.x[0];
  if (kept.numel() && !dims.numel()) {
    DType real = realType(c.type);
    y = join(b, {filled(b, kept, Attr::number(1), real), rules::zeros(b, kept, real)});
  }
  bool reduced[maxRank] = {};
  for (uint32_t k = 0; k < c.attrs[0].size && dims.size(); k++) {
    int d = int(c.attrs[0].list[k]);
    reduced[d] = true;
    for (int64_t n = b.dims(y)[d]; n > 1; n = b.dims(y)[d]) {
      int64_t half = n / 2;
      auto product = b.op(OpId::Mul, {slice(b, y, d, 0, half), slice(b, y, d, half, 2 * half)});
      y = n % 2 ? cat(b, product, slice(b, y, d, 2 * half, n), d) : product;
    }
  }
  if (!kept.numel()) // nothing to compute
    y = join(b, {rules::zeros(b, kept, realType(c.type)), rules::zeros(b, kept, realType(c.type))});
  for (int i = 0; i < dims.size(); i++)
    if (!reduced[i] || c.attrs[1].i)
      result.push(kept[i]);
  return result == b.dims(y) ? y : b.op(OpId::Reshape, {y}, {rules::ints(result)});
}

template <class B> typename B::V cumsum(B &b, const Call<B> &c) {
  if (b.dims(c.x[0]).empty())
    return c.x[0];
  return b.op(OpId::ViewAsComplex, {b.op(OpId::Cumsum, {pairs(b, c.x[0], c.type)}, {c.attrs[0], c.attrs[1]})});
}

/// By doubling: after step s each element is the product of the s elements that end with it.
template <class B> typename B::V cumprod(B &b, const Call<B> &c) {
  typename B::V y = c.x[0];
  Dims dims = b.dims(y);
  int d = int(c.attrs[0].i);
  int64_t n = dims.size() ? dims[d] : 1;
  for (int64_t s = 1; s < n && dims.numel(); s *= 2) {
    auto low = slice(b, y, d, 0, n - s), high = slice(b, y, d, s, n), both = b.op(OpId::Mul, {low, high});
    y = c.attrs[1].i ? cat(b, both, slice(b, y, d, n - s, n), d) : cat(b, slice(b, y, d, 0, s), both, d);
  }
  return y;
}

//===-- contractions -----------------------------------------------------------------------------------------------===//
// One real product of twice the length: each k is a real and an imaginary position, so that the chain of N3 is
// fma(ar, br), fma(ai, -bi) for the real and fma(ar, bi), fma(ai, br) for the imaginary part.

/// v and w, of one shape, side by side in a new dimension `dim`.
template <class B> typename B::V stack(B &b, const typename B::V &v, const typename B::V &w, int dim) {
  Dims dims = b.dims(v);
  dims.insert(dim, 1);
  return cat(b, b.op(OpId::Reshape, {v}, {rules::ints(dims)}), b.op(OpId::Reshape, {w}, {rules::ints(dims)}), dim);
}
/// Dimensions `dim` and `dim + 1` as one.
template <class B> typename B::V merge(B &b, const typename B::V &v, int dim) {
  Dims dims = b.dims(v);
  dims[dim] *= dims[dim + 1];
  dims.erase(dim + 1);
  return b.op(OpId::Reshape, {v}, {rules::ints(dims)});
}
/// Dimension `dim`, of an even size, as two of which the second has size 2.
template <class B> typename B::V unmerge(B &b, const typename B::V &v, int dim) {
  Dims dims = b.dims(v);
  dims[dim] /= 2;
  dims.insert(dim + 1, 2);
  return b.op(OpId::Reshape, {v}, {rules::ints(dims)});
}
/// Dimension `from` moved to the place `to`, the others keeping their order.
template <class B> typename B::V moveDim(B &b, typename B::V v, int from, int to) {
  for (; from != to; from += from < to ? 1 : -1)
    v = b.op(OpId::Transpose, {v}, {Attr::integer(from), Attr::integer(from < to ? from + 1 : from - 1)});
  return v;
}

/// [..., M, 2K] times [..., 2K, 2N], whose rows are b and i b in turn.
template <class B> typename B::V matmul(B &b, const Call<B> &c) {
  int r = b.dims(c.x[0]).size();
  auto y = split(b, c.x[1], c.type);
  auto rows = stack(b, joinPairs(b, y), joinPairs(b, {b.op(OpId::Neg, {y.im}), y.re}), r - 1); // [..., K, 2, N, 2]
  auto product = b.op(OpId::Matmul, {merge(b, pairs(b, c.x[0], c.type), r - 1), merge(b, merge(b, rows, r), r - 2)});
  return b.op(OpId::ViewAsComplex, {unmerge(b, product, r - 1)});
}

template <class B> typename B::V dot(B &b, const Call<B> &c) {
  auto x = rules::flat(b, pairs(b, c.x[0], c.type));
  auto y = split(b, c.x[1], c.type);
  auto times = [&](const Parts<B> &z) { return b.op(OpId::Dot, {x, rules::flat(b, joinPairs(b, z))}); };
  return join(b, {times({y.re, b.op(OpId::Neg, {y.im})}), times({y.im, y.re})});
}

/// [N, C, *] as [N, 2C, *], and back.
template <class B> typename B::V channels(B &b, const typename B::V &v, DType t) {
  return merge(b, moveDim(b, pairs(b, v, t), b.dims(v).size(), 2), 1);
}
template <class B> typename B::V ofChannels(B &b, const typename B::V &v, int dim) {
  auto parts = moveDim(b, unmerge(b, v, dim), dim + 1, b.dims(v).size());
  return b.op(OpId::ViewAsComplex, {b.op(OpId::Contiguous, {parts})});
}
/// A weight [O, C, *] as [2O, 2C, *]: rows of (re, off) and (-off, re), off = `sign` * im.
template <class B> typename B::V blocks(B &b, const typename B::V &w, DType t, bool negative) {
  auto z = split(b, w, t);
  auto minus = b.op(OpId::Neg, {z.im});
  auto first = merge(b, stack(b, z.re, negative ? minus : z.im, 2), 1);
  auto second = merge(b, stack(b, negative ? z.im : minus, z.re, 2), 1);
  return merge(b, stack(b, first, second, 1), 0);
}

template <class B> typename B::V conv(B &b, const Call<B> &c) {
  const Attr *a = c.attrs;
  auto y = b.op(OpId::Conv, {channels(b, c.x[0], c.type), blocks(b, c.x[1], c.type, true)}, {a[0], a[1], a[2], a[3]});
  return ofChannels(b, y, 1);
}
template <class B> typename B::V convInput(B &b, const Call<B> &c) {
  const Attr *a = c.attrs;
  auto x = b.op(OpId::ConvInput, {channels(b, c.x[0], c.type), blocks(b, c.x[1], c.type, false)},
                {a[0], a[1], a[2], a[3], a[4]});
  return ofChannels(b, x, 1);
}
/// Of the four real products: (rr - ii, ri + ir).
template <class B> typename B::V convWeight(B &b, const Call<B> &c) {
  const Attr *a = c.attrs;
  auto w = b.op(OpId::ConvWeight, {channels(b, c.x[0], c.type), channels(b, c.x[1], c.type)},
                {a[0], a[1], a[2], a[3], a[4]});
  auto all = unmerge(b, unmerge(b, w, 1), 0); // [O, 2, C, 2, *]
  auto part = [&](int y, int x) {
    auto p = slice(b, slice(b, all, 1, y, y + 1), 3, x, x + 1);
    return merge(b, merge(b, p, 2), 0);
  };
  return join(b, {b.op(OpId::Sub, {part(0, 0), part(1, 1)}), b.op(OpId::Add, {part(0, 1), part(1, 0)})});
}

//===-- accumulation by index ------------------------------------------------------------------------------------===//

/// f over pairs and a dimension that isn't negative; a 0-d tensor takes part as one of one element.
template <class B, class F> typename B::V overPairs(B &b, const Call<B> &c, F f) {
  Dims dims = b.dims(c.x[0]);
  bool single = dims.empty();
  int64_t dim = c.attrs[0].i < 0 ? c.attrs[0].i + (single ? 1 : dims.size()) : c.attrs[0].i;
  auto raised = [&](const typename B::V &v) { return b.dims(v).empty() ? rules::flat(b, v) : v; };
  auto y = f(pairs(b, raised(c.x[0]), c.type), raised(c.x[1]), pairs(b, raised(c.x[2]), c.type), Attr::integer(dim));
  auto z = b.op(OpId::ViewAsComplex, {y});
  return single ? b.op(OpId::Reshape, {z}, {rules::ints(dims)}) : z;
}

template <class B> typename B::V indexAdd(B &b, const Call<B> &c) {
  using V = typename B::V;
  return overPairs(b, c, [&](const V &x, const V &index, const V &source, const Attr &dim) {
    return b.op(OpId::IndexAdd, {x, index, source}, {dim});
  });
}
template <class B> typename B::V scatterAdd(B &b, const Call<B> &c) {
  using V = typename B::V;
  return overPairs(b, c, [&](const V &x, const V &index, const V &source, const Attr &dim) {
    Dims shape = b.dims(index);
    shape.push(2);
    auto twice = b.op(OpId::Expand, {withLast(b, index, 1)}, {rules::ints(shape)});
    return b.op(OpId::ScatterAdd, {x, twice, source}, {dim});
  });
}

} // namespace rules::complex

/// An op of complex operands, or with a complex result, as ops of real ones. `type`: the complex type that operands meet
/// in. No value: the op isn't defined for complex numbers, or only moves elements.
#include "torchc-gen/Complex.inc"

} // namespace torchc
