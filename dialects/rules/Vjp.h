// Derivatives: what the records' `vjp` dags can't say, and the generated dispatch `vjp(op, b, c, g, operand)`.
// A rule returns the cotangent of one operand in the broadcast shape and compute type; whoever calls it sums it to the
// operand's shape (N4) and casts it to the operand's type. Formulas are PyTorch's derivatives.yaml.
#pragma once
#include "dialects/rules/Attention.h"
#include "dialects/rules/Builder.h"
#include "dialects/rules/Norm.h"
#include "dialects/rules/VjpPointwise.h"
#include "dialects/rules/VjpWindow.h"

namespace torchc {
namespace rules {

/// Ties share the gradient equally between x and y; NaN passes it to both.
template <class B, class C> typename B::V maximumVjp(B &b, const C &c, const typename B::V &g, int operand) {
  auto shared = b.op(OpId::Where, {b.op(OpId::Eq, {c.operand(0), c.operand(1)}), b.op(OpId::Div, {g, 2.0}), g});
  auto loses = b.op(OpId::Lt, {c.operand(operand), c.operand(1 - operand)});
  return b.op(OpId::Where, {loses, 0.0, shared});
}

template <class B, class C> typename B::V minimumVjp(B &b, const C &c, const typename B::V &g, int operand) {
  auto shared = b.op(OpId::Where, {b.op(OpId::Eq, {c.operand(0), c.operand(1)}), b.op(OpId::Div, {g, 2.0}), g});
  auto loses = b.op(OpId::Gt, {c.operand(operand), c.operand(1 - operand)});
  return b.op(OpId::Where, {loses, 0.0, shared});
}

/// The size's direction: x's sign, or x / |x|, 0 at 0.
template <class B, class C> typename B::V absVjp(B &b, const C &c, const typename B::V &g, int) {
  auto &x = c.operand(0);
  if (!isComplex(b.dtype(x)))
    return b.op(OpId::Mul, {g, b.op(OpId::Sign, {x})});
  auto size = b.op(OpId::Abs, {x});
  auto zero = b.op(OpId::Eq, {size, 0.0});
  auto unit = b.op(OpId::Div, {x, b.op(OpId::Where, {zero, 1.0, size})});
  return b.op(OpId::Mul, {g, b.op(OpId::Where, {zero, 0.0, unit})});
}

/// A reduction's cotangent with the reduced axes back as size 1.
template <class B, class C> typename B::V restoreAxes(B &b, const C &c, const typename B::V &g) {
  if (c.attr(1).i)
    return g;
  return b.op(OpId::Reshape, {g}, {ints(keptDims(c.operandDims(0), c.attr(0)))});
}

template <class B, class C> typename B::V sumVjp(B &b, const C &c, const typename B::V &g, int) {
  auto kept = restoreAxes(b, c, g);
  return b.op(OpId::Expand, {kept}, {ints(c.operandDims(0))});
}

/// What doesn't change with its operand has zeros for its gradient, not none.
template <class B, class C> typename B::V zeroVjp(B &b, const C &c, const typename B::V &g, int operand) {
  return zeros(b, c.operandDims(operand), b.dtype(g));
}

/// A step from the first operand; the second only says where to.
template <class B, class C> typename B::V nextafterVjp(B &b, const C &c, const typename B::V &g, int operand) {
  return operand ? zeroVjp(b, c, g, operand) : g;
}

/// Equal extremes share the gradient: g * mask / number of them. A NaN over all axes is an extreme like any other, over
/// some it makes the gradient NaN: what max() and amax(dim) do in PyTorch.
template <class B, class C> typename B::V extremumReduceVjp(B &b, const C &c, const typename B::V &g, int) {
  if (int(c.attr(0).size) == c.operandDims(0).size()) {
    auto x = c.operand(0), found = c.result();
    auto nan = b.op(OpId::LogicalAnd, {b.op(OpId::Ne, {x, x}), b.op(OpId::Ne, {found, found})});
    auto all = b.op(OpId::LogicalOr, {b.op(OpId::Eq, {x, found}), nan});
    auto number = b.op(OpId::Sum, {all}, {c.attr(0), Attr::boolean(false)});
    return b.op(OpId::Where, {all, b.op(OpId::Div, {g, number}), 0.0});
  }
  auto mask = b.op(OpId::Eq, {c.operand(0), restoreAxes(b, c, c.result())});
  auto count = b.op(OpId::Sum, {mask}, {c.attr(0), Attr::boolean(true)});
  return b.op(OpId::Div, {b.op(OpId::Mul, {restoreAxes(b, c, g), mask}), count});
}

/// +0 with the derivatives of factor * zero where `zero` is 0; a factor that isn't finite has none.
template <class B> typename B::V zeroTimes(B &b, const typename B::V &factor, const typename B::V &zero) {
  auto finite = b.op(OpId::Eq, {b.op(OpId::Sub, {factor, factor}), 0.0});
  return b.op(OpId::Add, {b.op(OpId::Mul, {b.op(OpId::Where, {finite, factor, 0.0}), zero}), 0.0});
}

/// g * (product of the others): that of all but zeros / x, times the zeros among the others. Those of one or two are
/// read from x, as their sum, so that they have derivatives; with three the second derivatives are 0, too.
template <class B, class C> typename B::V prodVjp(B &b, const C &c, const typename B::V &g, int) {
  auto &x = c.operand(0);
  Attr keep = Attr::boolean(true);
  auto zero = b.op(OpId::Eq, {x, 0.0});
  auto safe = b.op(OpId::Where, {zero, 1.0, x});
  auto count = b.op(OpId::Sum, {zero}, {c.attr(0), keep});
  auto product = b.op(OpId::Prod, {safe}, {c.attr(0), keep});
  auto none = b.op(OpId::Eq, {count, 0.0}), one = b.op(OpId::Eq, {count, 1.0}), two = b.op(OpId::Eq, {count, 2.0});
  auto zeros = b.op(OpId::Sum, {b.op(OpId::Where, {zero, x, 0.0})}, {c.attr(0), keep});
  auto others = b.op(OpId::Sub, {zeros, b.op(OpId::Where, {zero, x, 0.0})});
  auto atZero = b.op(OpId::Where, {one, product, b.op(OpId::Where, {two, zeroTimes(b, product, others), 0.0})});
  auto slope = b.op(OpId::Div, {product, safe});
  auto beside = b.op(OpId::Where, {one, zeroTimes(b, slope, zeros), 0.0});
  auto elsewhere = b.op(OpId::Where, {none, slope, beside});
  return b.op(OpId::Mul, {restoreAxes(b, c, g), b.op(OpId::Where, {zero, atZero, elsewhere})});
}

/// g * exp(x - result), in op-math type.
template <class B, class C> typename B::V logsumexpVjp(B &b, const C &c, const typename B::V &g, int) {
  auto y = opMath(b, restoreAxes(b, c, c.result())), x = opMath(b, c.operand(0)), gm = opMath(b, restoreAxes(b, c, g));
  auto finite = b.op(OpId::Where, {b.op(OpId::Eq, {y, -__builtin_inf()}), 0.0, y}); // there every x is -inf: no part
  return b.op(OpId::Mul, {gm, b.op(OpId::Exp, {b.op(OpId::Sub, {x, finite})})});
}

template <class B, class C> typename B::V cumsumVjp(B &b, const C &c, const typename B::V &g, int) {
  return b.op(OpId::Cumsum, {g}, {c.attr(0), Attr::boolean(!c.attr(1).i)});
}

/// Up to the first zero sum(g * y) / x from each element on; at it the same with that factor left out; behind it that
/// times the zero, so that it has a derivative, at the second zero with both left out.
template <class B, class C> typename B::V cumprodVjp(B &b, const C &c, const typename B::V &g, int) {
  auto &x = c.operand(0);
  Attr back = Attr::boolean(!c.attr(1).i);
  auto zero = b.op(OpId::Eq, {x, 0.0});
  auto zeros = b.op(OpId::Cumsum, {zero}, {c.attr(0), c.attr(1)});
  auto first = b.op(OpId::LogicalAnd, {zero, b.op(OpId::Eq, {zeros, 1.0})});
  auto without = b.op(OpId::Cumprod, {b.op(OpId::Where, {first, 1.0, x})}, {c.attr(0), c.attr(1)});
  auto before = b.op(OpId::Cumsum, {b.op(OpId::Mul, {g, c.result()})}, {c.attr(0), back});
  auto at = b.op(OpId::Cumsum, {b.op(OpId::Mul, {g, without})}, {c.attr(0), back});
  auto slope = b.op(OpId::Div, {before, b.op(OpId::Where, {zero, 1.0, x})});
  auto second = b.op(OpId::LogicalAnd, {zero, b.op(OpId::Eq, {zeros, 2.0})});
  auto either = b.op(OpId::LogicalOr, {first, second});
  auto withoutBoth = b.op(OpId::Cumprod, {b.op(OpId::Where, {either, 1.0, x})}, {c.attr(0), c.attr(1)});
  auto atSecond = b.op(OpId::Cumsum, {b.op(OpId::Mul, {g, withoutBoth})}, {c.attr(0), back});
  auto value = b.op(OpId::Cumsum, {b.op(OpId::Where, {first, x, 0.0})}, {c.attr(0), c.attr(1)}); // of the first zero
  auto past = b.op(OpId::Where, {second, atSecond, b.op(OpId::Div, {at, b.op(OpId::Where, {zero, 1.0, x})})});
  auto counts = b.op(OpId::LogicalOr, {second, b.op(OpId::Eq, {zeros, 1.0})});
  auto later = b.op(OpId::Where, {counts, zeroTimes(b, past, value), 0.0});
  auto behind = b.op(OpId::Where, {first, at, later});
  return b.op(OpId::Where, {b.op(OpId::Eq, {zeros, 0.0}), slope, behind});
}

template <class B> typename B::V swapLast(B &b, const typename B::V &v) {
  int r = b.dims(v).size();
  return b.op(OpId::Transpose, {v}, {Attr::integer(r - 2), Attr::integer(r - 1)});
}

template <class B, class C> typename B::V matmulVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (operand == 0)
    return b.op(OpId::Matmul, {g, swapLast(b, c.operand(1))});
  return b.op(OpId::Matmul, {swapLast(b, c.operand(0)), g});
}

template <class B, class C> typename B::V reshapeVjp(B &b, const C &c, const typename B::V &g, int) {
  return b.op(OpId::Reshape, {g}, {ints(c.operandDims(0))});
}

template <class B, class C> typename B::V transposeVjp(B &b, const C &c, const typename B::V &g, int) {
  return b.op(OpId::Transpose, {g}, {c.attr(0), c.attr(1)});
}

template <class B, class C> typename B::V sliceVjp(B &b, const C &c, const typename B::V &g, int) {
  auto zero = zeros(b, c.operandDims(0), b.dtype(g));
  return b.op(OpId::SliceUpdate, {zero, g}, {c.attr(0), c.attr(1), c.attr(2), c.attr(3)});
}

template <class B, class C> typename B::V sliceUpdateVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (operand == 1)
    return b.op(OpId::Slice, {g}, {c.attr(0), c.attr(1), c.attr(2), c.attr(3)});
  auto zero = zeros(b, c.operandDims(1), b.dtype(g));
  return b.op(OpId::SliceUpdate, {g, zero}, {c.attr(0), c.attr(1), c.attr(2), c.attr(3)});
}

template <class B, class C> typename B::V asStridedVjp(B &b, const C &c, const typename B::V &g, int) {
  Dims dims = c.operandDims(0);
  Attr attrs[3] = {c.attr(0), c.attr(1), c.attr(2)}, zero = Attr::integer(0);
  auto sum =
      b.op(OpId::ScatterAdd,
           {zeros(b, Dims({dims.numel()}), b.dtype(g)), stridedPlaces(b, dims.numel(), attrs), flat(b, g)}, {zero});
  return b.op(OpId::Reshape, {sum}, {ints(dims)});
}

template <class B, class C> typename B::V asStridedUpdateVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (operand == 1)
    return b.op(OpId::AsStrided, {g}, {c.attr(0), c.attr(1), c.attr(2)});
  auto zero = zeros(b, c.operandDims(1), b.dtype(g));
  return b.op(OpId::AsStridedUpdate, {g, zero}, {c.attr(0), c.attr(1), c.attr(2)});
}

template <class B, class C> typename B::V indexSelectVjp(B &b, const C &c, const typename B::V &g, int) {
  auto zero = zeros(b, c.operandDims(0), b.dtype(g));
  return b.op(OpId::IndexAdd, {zero, c.operand(1), g}, {c.attr(0)});
}

template <class B, class C> typename B::V indexAddVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (operand == 0)
    return g;
  auto picked = b.op(OpId::IndexSelect, {g, c.operand(1)}, {c.attr(0)});
  return b.op(OpId::Reshape, {picked}, {ints(c.operandDims(2))});
}

template <class B, class C> typename B::V gatherVjp(B &b, const C &c, const typename B::V &g, int) {
  auto zero = zeros(b, c.operandDims(0), b.dtype(g));
  return b.op(OpId::ScatterAdd, {zero, c.operand(1), g}, {c.attr(0)});
}

template <class B, class C> typename B::V scatterVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (operand == 2)
    return b.op(OpId::Gather, {g, c.operand(1)}, {c.attr(0)});
  auto zero = zeros(b, c.operandDims(1), b.dtype(g));
  return b.op(OpId::Scatter, {g, c.operand(1), zero}, {c.attr(0)});
}

template <class B, class C> typename B::V scatterAddVjp(B &b, const C &c, const typename B::V &g, int operand) {
  return operand == 0 ? g : b.op(OpId::Gather, {g, c.operand(1)}, {c.attr(0)});
}

/// Product: the others' product, by division where nothing is zero. A source that alone is zero has the product of the
/// rest, which is the op with ones in the zeros' places.
template <class B, class C> typename B::V scatterProductVjp(B &b, const C &c, const typename B::V &g, int operand) {
  auto x = c.operand(0), index = c.operand(1), source = c.operand(2);
  auto filled = [&](const typename B::V &v, const typename B::V &mask) {
    return b.op(OpId::Where, {mask, Attr::number(1.0), v});
  };
  auto again = [&](const typename B::V &to, const typename B::V &from) {
    return b.op(OpId::ScatterReduce, {to, index, from}, {c.attr(0), c.attr(1)});
  };
  if (operand == 0) {
    auto ones = filled(x, b.op(OpId::Eq, {x, Attr::number(0.0)}));
    return b.op(OpId::Div, {b.op(OpId::Mul, {g, again(ones, source)}), ones});
  }
  auto isZero = b.op(OpId::Eq, {source, Attr::number(0.0)});
  auto counts =
      b.op(OpId::ScatterAdd,
           {zeros(b, c.operandDims(0), b.dtype(g)), index, b.op(OpId::Cast, {isZero}, {Attr::dtype(b.dtype(g))})},
           {c.attr(0)});
  auto alone = b.op(OpId::LogicalAnd,
                    {isZero, b.op(OpId::Eq, {b.op(OpId::Gather, {counts, index}, {c.attr(0)}), Attr::number(1.0)})});
  auto rest = b.op(OpId::Gather, {b.op(OpId::Mul, {g, again(x, filled(source, alone))}), index}, {c.attr(0)});
  auto whole = b.op(OpId::Gather, {b.op(OpId::Mul, {g, c.result()}), index}, {c.attr(0)});
  return b.op(OpId::Where, {alone, rest, b.op(OpId::Div, {whole, filled(source, isZero)})});
}

/// Largest and smallest: those that equal the result share its gradient.
template <class B, class C> typename B::V scatterReduceVjp(B &b, const C &c, const typename B::V &g, int operand) {
  if (c.attr(1).i == 0)
    return scatterProductVjp(b, c, g, operand);
  auto dtype = Attr::dtype(b.dtype(g));
  auto index = c.operand(1);
  auto mine = b.op(OpId::Cast, {b.op(OpId::Eq, {c.operand(0), c.result()})}, {dtype});
  auto theirs = b.op(OpId::Eq, {c.operand(2), b.op(OpId::Gather, {c.result(), index}, {c.attr(0)})});
  auto sources = b.op(OpId::Cast, {theirs}, {dtype});
  auto share = b.op(OpId::Div, {g, b.op(OpId::ScatterAdd, {mine, index, sources}, {c.attr(0)})});
  if (operand == 0)
    return b.op(OpId::Mul, {mine, share});
  return b.op(OpId::Mul, {sources, b.op(OpId::Gather, {share, index}, {c.attr(0)})});
}

template <class B, class C> typename B::V catVjp(B &b, const C &c, const typename B::V &g, int operand) {
  Dims mine = c.operandDims(operand), all = c.resultDims();
  if (mine.size() != all.size()) // a skipped 1-D tensor without elements
    return zeros(b, mine, b.dtype(g));
  int64_t dim = c.attr(0).i < 0 ? c.attr(0).i + all.size() : c.attr(0).i, start = 0;
  for (int i = 0; i < operand; i++)
    if (c.operandDims(i).size() == all.size())
      start += c.operandDims(i)[int(dim)];
  return b.op(OpId::Slice, {g},
              {Attr::integer(dim), Attr::integer(start), Attr::integer(start + mine[int(dim)]), Attr::integer(1)});
}

/// (g - sum(g*y)) * y over dim, in op-math type.
template <class B, class C> typename B::V softmaxVjp(B &b, const C &c, const typename B::V &g, int) {
  auto gm = opMath(b, g), y = opMath(b, c.result());
  int64_t dim = c.attr(0).i < 0 ? c.attr(0).i + (c.resultDims().size() ? c.resultDims().size() : 1) : c.attr(0).i;
  auto s = b.op(OpId::Sum, {b.op(OpId::Mul, {gm, y})}, {Attr::ints(&dim, 1), Attr::boolean(true)});
  return b.op(OpId::Mul, {b.op(OpId::Sub, {gm, s}), y});
}

/// g - exp(y) * sum(g) over dim, in op-math type.
template <class B, class C> typename B::V logSoftmaxVjp(B &b, const C &c, const typename B::V &g, int) {
  auto gm = opMath(b, g), y = opMath(b, c.result());
  int64_t dim = c.attr(0).i < 0 ? c.attr(0).i + (c.resultDims().size() ? c.resultDims().size() : 1) : c.attr(0).i;
  auto s = b.op(OpId::Sum, {gm}, {Attr::ints(&dim, 1), Attr::boolean(true)});
  return b.op(OpId::Sub, {gm, b.op(OpId::Mul, {b.op(OpId::Exp, {y}), s})});
}

/// The same factor on the cotangent; none for the random numbers.
template <class B, class C> typename B::V dropoutVjp(B &b, const C &c, const typename B::V &g, int operand) {
  return operand ? typename B::V() : b.op(OpId::Dropout, {g, c.operand(1)}, {c.attr(0)});
}

} // namespace rules

#include "torchc-gen/Vjp.inc"

} // namespace torchc
