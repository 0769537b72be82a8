// Layer and batch normalisation in primitives (N6), and their derivatives.
#pragma once
#include "dialects/rules/Builder.h"

namespace torchc::rules {

/// y = (x - mean) * rstd * w + b, rstd = 1 / sqrt(var + eps), in the op-math type. Parameters run along `axes` of x.
template <class B> class Norm {
public:
  using V = typename B::V;

  /// `x` in the op-math type; `across`: statistics are over the axes without parameters (batch_norm), else over theirs.
  Norm(B &b, const V &x, const Attr &axes, bool across, double eps) : b(b), x(x), dims(b.dims(x)), eps(eps) {
    bool has[maxRank] = {};
    for (uint32_t i = 0; i < axes.size; i++)
      has[axes.list[i]] = true;
    for (int i = 0; i < dims.size(); i++) {
      along.push(has[i] ? dims[i] : 1);
      (has[i] ? parameter : others).push(i);
    }
    reduced = across ? others : parameter;
    for (int64_t d : reduced)
      count *= double(dims[int(d)]);
  }

  /// Statistics of x itself: mean, then the mean of squared distances from it.
  void measure() {
    distance = b.op(OpId::Sub, {x, meanOver(x)});
    normalise(meanOver(b.op(OpId::Mul, {distance, distance})));
  }
  /// Statistics that are given, one for each parameter.
  void take(const V &mean, const V &var) {
    distance = b.op(OpId::Sub, {x, spread(mean)});
    normalise(spread(var));
  }

  V forward(const V &w, const V &bias) { return b.op(OpId::Fma, {normal, spread(w), spread(bias)}); }

  /// The cotangent of x where the statistics are its own: rstd * (gw - mean(gw) - normal * mean(gw * normal)), gw = g * w.
  V ofInput(const V &g, const V &w) {
    V gw = b.op(OpId::Mul, {g, spread(w)});
    V slope = b.op(OpId::Mul, {normal, meanOver(b.op(OpId::Mul, {gw, normal}))});
    return b.op(OpId::Mul, {b.op(OpId::Sub, {b.op(OpId::Sub, {gw, meanOver(gw)}), slope}), rstd});
  }
  V ofWeight(const V &g) { return collect(b.op(OpId::Mul, {g, normal})); }
  V ofBias(const V &g) { return collect(g); }

  /// Where the statistics are given: of x, of its mean (the same with the other sign), of its variance.
  V ofGivenInput(const V &g, const V &w) { return b.op(OpId::Mul, {b.op(OpId::Mul, {g, spread(w)}), rstd}); }
  V ofMean(const V &g, const V &w) { return b.op(OpId::Neg, {collect(ofGivenInput(g, w))}); }
  V ofVar(const V &g, const V &w) {
    V square = b.op(OpId::Mul, {rstd, rstd});
    V slope = b.op(OpId::Mul, {b.op(OpId::Mul, {ofGivenInput(g, w), distance}), square});
    return b.op(OpId::Mul, {collect(slope), -0.5});
  }

private:
  V sum(const V &v, const Dims &over, bool keep) { return b.op(OpId::Sum, {v}, {ints(over), Attr::boolean(keep)}); }
  V meanOver(const V &v) { return b.op(OpId::Div, {sum(v, reduced, true), count}); }
  /// A parameter as an operand of x.
  V spread(const V &v) { return b.dims(v) == along ? v : b.op(OpId::Reshape, {v}, {ints(along)}); }
  /// Summed to a parameter's shape.
  V collect(const V &v) { return others.size() ? sum(v, others, false) : v; }
  void normalise(const V &var) {
    rstd = b.op(OpId::Rsqrt, {b.op(OpId::Add, {var, eps})});
    normal = b.op(OpId::Mul, {distance, rstd});
  }

  B &b;
  V x, distance, rstd, normal;
  Dims dims, along, parameter, others, reduced; // along: x's with 1 where no parameter runs
  double eps, count = 1;
};

template <class B>
typename B::V layerNorm(B &b, const typename B::V &x, const typename B::V &w, const typename B::V &bias,
                        const Attr *attrs, DType result) {
  DType t = computeType(result);
  Norm<B> norm(b, castTo(b, x, t), attrs[0], false, attrs[1].f);
  norm.measure();
  return castTo(b, norm.forward(castTo(b, w, t), castTo(b, bias, t)), result);
}

template <class B>
typename B::V batchNorm(B &b, const typename B::V &x, const typename B::V &w, const typename B::V &bias,
                        const typename B::V &mean, const typename B::V &var, const Attr *attrs, DType result) {
  DType t = computeType(result);
  Norm<B> norm(b, castTo(b, x, t), attrs[0], true, attrs[1].f);
  norm.take(castTo(b, mean, t), castTo(b, var, t));
  return castTo(b, norm.forward(castTo(b, w, t), castTo(b, bias, t)), result);
}

template <class B, class C> typename B::V layerNormVjp(B &b, const C &c, const typename B::V &given, int operand) {
  auto g = opMath(b, given);
  Norm<B> norm(b, opMath(b, operand == 2 ? given : c.operand(0)), c.attr(0), false, c.attr(1).f);
  if (operand == 2)
    return norm.ofBias(g);
  norm.measure();
  return operand == 0 ? norm.ofInput(g, opMath(b, c.operand(1))) : norm.ofWeight(g);
}

/// Training: the statistics are those of x, measured anew where the derivative's own derivative must see that they are.
template <class B, class C> typename B::V batchNormVjp(B &b, const C &c, const typename B::V &given, int operand) {
  bool training = c.attr(2).i;
  auto g = opMath(b, given);
  Norm<B> norm(b, opMath(b, operand == 2 ? given : c.operand(0)), c.attr(0), true, c.attr(1).f);
  if (operand == 2)
    return norm.ofBias(g);
  if (training && b.differentiable())
    norm.measure();
  else
    norm.take(opMath(b, c.operand(3)), opMath(b, c.operand(4)));
  if (operand == 1)
    return norm.ofWeight(g);
  auto w = opMath(b, c.operand(1));
  if (operand == 0)
    return training ? norm.ofInput(g, w) : norm.ofGivenInput(g, w);
  if (training)
    return typename B::V(); // the input's part
  return operand == 3 ? norm.ofMean(g, w) : norm.ofVar(g, w);
}

} // namespace torchc::rules
