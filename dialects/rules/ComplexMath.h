// Functions of complex numbers by functions of their parts. Special values are those of C99's Annex G. Sources: W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987) for the inverse
// functions, tanh and sqrt; R. L. Smith, "Algorithm 116: Complex Division" (1962).
#pragma once
#include "dialects/rules/ComplexParts.h"

namespace torchc::rules::complex {

template <class B> class Functions {
public:
  using V = typename B::V;
  using A = OpArg<V>;
  using Z = Parts<B>;
  explicit Functions(B &b) : b(b) {}

  Z mul(const Z &x, const Z &y) {
    return {sub(mul(x.re, y.re), mul(x.im, y.im)), add(mul(x.re, y.im), mul(x.im, y.re))};
  }

  /// Smith's: by the larger part of the divisor. By 0: each part divided by +0.
  Z div(const Z &x, const Z &y) {
    V swap = less(abs(y.re), abs(y.im));
    V large = pick(swap, y.im, y.re), small = pick(swap, y.re, y.im);
    V none = equal(large, 0.0);
    V ratio = pick(none, 0.0, div(small, pick(none, 1.0, large)));
    V scale = pick(none, 0.0, add(large, mul(small, ratio)));
    V re = pick(swap, add(mul(x.re, ratio), x.im), add(x.re, mul(x.im, ratio)));
    V im = pick(swap, sub(mul(x.im, ratio), x.re), sub(x.im, mul(x.re, ratio)));
    return {div(re, scale), div(im, scale)};
  }
  Z reciprocal(const Z &z) {
    DType t = b.dtype(z.re);
    return div(Z{filled(b, Dims(), Attr::number(1), t), rules::zeros(b, Dims(), t)}, z);
  }

  Z exp(const Z &z) {
    V e = f(OpId::Exp, z.re), s = f(OpId::Sin, z.im), wild = endlessOrNaN(z.im);
    V high = both(wild, equal(z.re, inf)), low = both(wild, equal(z.re, -inf));
    V re = pick(low, 0.0, pick(high, inf, mul(e, f(OpId::Cos, z.im))));
    return {re, pick(equal(s, 0.0), s, pick(low, f2(OpId::Copysign, 0.0, z.im), mul(e, s)))};
  }
  Z exp2(const Z &z) { return exp(scaled(z, ln2)); }
  /// exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y/2)^2. At infinities and NaN what the products give, as in PyTorch.
  Z expm1(const Z &z) {
    V s = f(OpId::Sin, mul(z.im, 0.5));
    V re = sub(mul(f(OpId::Expm1, z.re), f(OpId::Cos, z.im)), mul(mul(s, s), 2.0));
    return {re, mul(f(OpId::Exp, z.re), f(OpId::Sin, z.im))};
  }

  Z log(const Z &z) { return {logOfSize(z.re, z.im), angle(z.im, z.re)}; }
  Z log2(const Z &z) { return scaled(log(z), 1 / ln2); }
  Z log10(const Z &z) { return scaled(log(z), 0.43429448190325183); }
  /// log|1 + z| = log1p(x (2 + x) + y^2) / 2 where z is small
  Z log1p(const Z &z) {
    V one = add(z.re, 1.0);
    V near = less(f2(OpId::Hypot, z.re, z.im), 0.5);
    V x = pick(near, z.re, 0.0), y = pick(near, z.im, 0.0);
    V small = mul(f(OpId::Log1p, add(mul(x, add(x, 2.0)), mul(y, y))), 0.5);
    return {pick(near, small, logOfSize(one, z.im)), angle(z.im, one)};
  }

  /// The root in the right half plane: its larger part is sqrt((|x| + |z|) / 2), the other one |y| / (2 * that). Of z
  /// times 2^-4 or 2^60, so that neither |z| nor a half leaves the type.
  Z sqrt(const Z &z) {
    V large = f2(OpId::LogicalOr, less(1.0, abs(z.re)), less(1.0, abs(z.im)));
    V by = pick(large, 0.0625, 0x1p60), x = mul(z.re, by), y = mul(z.im, by);
    V t = f(OpId::Sqrt, add(mul(abs(x), 0.5), mul(f2(OpId::Hypot, x, y), 0.5)));
    t = mul(t, pick(large, 4.0, 0x1p-30));
    V zero = equal(t, 0.0), infinite = equal(abs(z.im), inf);
    V u = pick(zero, 0.0, div(abs(z.im), pick(zero, 1.0, add(t, t))));
    V left = less(z.re, 0.0);
    V re = pick(left, u, t), im = f2(OpId::Copysign, pick(left, t, u), z.im);
    return {pick(infinite, inf, re), pick(infinite, z.im, im)};
  }
  Z rsqrt(const Z &z) { return reciprocal(sqrt(z)); }

  Z sinh(const Z &z) {
    V x = f(OpId::Sinh, z.re), s = f(OpId::Sin, z.im);
    V kept = both(endlessOrNaN(z.im), f2(OpId::LogicalOr, equal(x, 0.0), equal(abs(z.re), inf)));
    return {pick(kept, x, mul(x, f(OpId::Cos, z.im))), pick(equal(s, 0.0), s, mul(f(OpId::Cosh, z.re), s))};
  }
  Z cosh(const Z &z) {
    V x = f(OpId::Sinh, z.re), s = f(OpId::Sin, z.im), wild = endlessOrNaN(z.im);
    V re = pick(both(wild, equal(abs(z.re), inf)), inf, mul(f(OpId::Cosh, z.re), f(OpId::Cos, z.im)));
    V im = pick(equal(s, 0.0), mul(f2(OpId::Copysign, 1.0, z.re), s), mul(x, s));
    return {re, pick(both(wild, equal(x, 0.0)), 0.0, im)};
  }
  /// With t = tan(y), s = sinh(x): (s sqrt(1 + s^2) (1 + t^2), t) / (1 + (1 + t^2) s^2); far out 1 and 4 sin cos / e^2x.
  Z tanh(const Z &z) {
    V far = less(20.0, abs(z.re));
    V x = pick(far, 0.0, z.re);
    V t = f(OpId::Tan, z.im), s = f(OpId::Sinh, x);
    V b1 = add(mul(t, t), 1.0), s2 = mul(s, s);
    V d = add(mul(b1, s2), 1.0);
    V re = div(mul(mul(b1, s), f(OpId::Sqrt, add(s2, 1.0))), d);
    V rest = mul(mul(f(OpId::Sin, z.im), f(OpId::Cos, z.im)), mul(f(OpId::Exp, mul(abs(z.re), -2.0)), 4.0));
    V wild = endlessOrNaN(z.im), edge = equal(abs(z.re), inf);
    re = pick(far, f2(OpId::Copysign, pick(both(wild, less(abs(z.re), inf)), nan, 1.0), z.re), re);
    V im = pick(edge, f2(OpId::Copysign, 0.0, z.im), pick(far, rest, div(t, d)));
    return {pick(both(wild, equal(z.re, 0.0)), z.re, re), pick(equal(z.im, 0.0), z.im, im)};
  }
  Z sin(const Z &z) { return overI(sinh(timesI(z))); }
  Z cos(const Z &z) { return cosh(timesI(z)); }
  Z tan(const Z &z) { return overI(tanh(timesI(z))); }

  // Far out, where 1 is nothing beside z: direction, and log|2z|.
  Z asin(const Z &z) {
    Z p = sqrt(oneMinus(z)), q = sqrt(onePlus(z));
    Z near = {pick(equal(z.re, 0.0), z.re, angle(z.re, sub(mul(p.re, q.re), mul(p.im, q.im)))),
              f(OpId::Asinh, sub(mul(p.re, q.im), mul(p.im, q.re)))};
    return pick(far(z), {angle(z.re, abs(z.im)), f2(OpId::Copysign, logOfTwice(z), z.im)}, near);
  }
  Z acos(const Z &z) {
    Z p = sqrt(oneMinus(z)), q = sqrt(onePlus(z));
    Z near = {pick(onAxis(z), halfPi, mul(angle(p.re, q.re), 2.0)),
              f(OpId::Asinh, sub(mul(q.re, p.im), mul(q.im, p.re)))};
    return pick(far(z), {angle(abs(z.im), z.re), f2(OpId::Copysign, logOfTwice(z), neg(z.im))}, near);
  }
  Z acosh(const Z &z) {
    Z p = sqrt({sub(z.re, 1.0), z.im}), q = sqrt(onePlus(z));
    Z near = {f(OpId::Asinh, add(mul(p.re, q.re), mul(p.im, q.im))),
              pick(onAxis(z), halfPi, mul(angle(p.im, q.re), 2.0))};
    return pick(far(z), {logOfTwice(z), angle(z.im, z.re)}, near);
  }
  /// Where squares would leave the type: far out x / |z|^2 and pi/2, at the pole log(2 / |y|) / 2.
  Z atanh(const Z &z) {
    V x = abs(z.re), less1 = sub(1.0, x), y2 = mul(z.im, z.im), size = f2(OpId::Hypot, z.re, z.im);
    V re = mul(f(OpId::Log1p, div(mul(x, 4.0), add(mul(less1, less1), y2))), 0.25);
    V pole = both(equal(less1, 0.0), less(abs(z.im), 1e-9)), far = less(1e18, size);
    re = pick(pole, mul(sub(ln2, f(OpId::Log, abs(z.im))), 0.5), pick(far, div(div(x, size), size), re));
    V im = mul(angle(add(z.im, z.im), sub(mul(less1, add(x, 1.0)), y2)), 0.5);
    V end = endless(z);
    V known = both(f2(OpId::LogicalOr, end, far), equal(z.im, z.im));
    re = pick(f2(OpId::LogicalOr, end, equal(z.re, 0.0)), 0.0, re);
    return {f2(OpId::Copysign, re, z.re), pick(known, f2(OpId::Copysign, halfPi, z.im), im)};
  }
  Z asinh(const Z &z) { return overI(asin(timesI(z))); }
  Z atan(const Z &z) { return overI(atanh(timesI(z))); }

  /// 1 / (1 + exp(-z)), in the left half plane exp(z) / (1 + exp(z)): exp is 1 at most.
  Z sigmoid(const Z &z) {
    V left = less(z.re, 0.0);
    Z e = exp(pick(left, z, {neg(z.re), neg(z.im)}));
    return div(Z{pick(left, e.re, 1.0), pick(left, e.im, 0.0)}, onePlus(e));
  }
  Z silu(const Z &z) { return mul(z, sigmoid(z)); }

  /// exp(y log(x)); 0 to a power of positive real part is 0, to the power 0 it is 1.
  Z pow(const Z &x, const Z &y) {
    V none = both(equal(x.re, 0.0), equal(x.im, 0.0));
    V flat = both(equal(y.re, 0.0), equal(y.im, 0.0));
    V gone = both(none, less(0.0, y.re));
    Z p = exp(mul(y, log(x)));
    return {pick(flat, 1.0, pick(gone, 0.0, p.re)), pick(flat, 0.0, pick(gone, 0.0, p.im))};
  }

private:
  static constexpr double inf = __builtin_inf(), nan = __builtin_nan(""), ln2 = 0.69314718055994531,
                          halfPi = 1.5707963267948966;

  V f(OpId op, A x) { return b.op(op, {x}); }
  V f2(OpId op, A x, A y) { return b.op(op, {x, y}); }
  V add(A x, A y) { return f2(OpId::Add, x, y); }
  V sub(A x, A y) { return f2(OpId::Sub, x, y); }
  V mul(A x, A y) { return f2(OpId::Mul, x, y); }
  V div(A x, A y) { return f2(OpId::Div, x, y); }
  V neg(A x) { return f(OpId::Neg, x); }
  V abs(A x) { return f(OpId::Abs, x); }
  V less(A x, A y) { return f2(OpId::Lt, x, y); }
  V equal(A x, A y) { return f2(OpId::Eq, x, y); }
  V both(A x, A y) { return f2(OpId::LogicalAnd, x, y); }
  V pick(A cond, A x, A y) { return b.op(OpId::Where, {cond, x, y}); }
  V angle(A y, A x) { return f2(OpId::Atan2, y, x); }
  Z pick(A cond, const Z &x, const Z &y) { return {pick(cond, x.re, y.re), pick(cond, x.im, y.im)}; }
  V endless(const Z &z) { return f2(OpId::LogicalOr, equal(abs(z.re), inf), equal(abs(z.im), inf)); }
  V endlessOrNaN(A x) { return f2(OpId::Ne, sub(x, x), 0.0); }
  /// 0 + NaN i: of which some functions know a part.
  V onAxis(const Z &z) { return both(equal(z.re, 0.0), f2(OpId::Ne, z.im, z.im)); }

  V far(const Z &z) { return f2(OpId::LogicalOr, less(0x1p50, abs(z.re)), less(0x1p50, abs(z.im))); }
  V logOfTwice(const Z &z) { return add(logOfSize(z.re, z.im), ln2); }

  /// log|x + iy|, by log1p where |x + iy| is near 1; scaled by 2^64 or 2^-64 where it might leave the type or its
  /// full precision.
  V logOfSize(const V &x, const V &y) {
    V ax = abs(x), ay = abs(y);
    V huge = far(Z{x, y}), tiny = both(less(ax, 0x1p-60), less(ay, 0x1p-60));
    V by = pick(huge, 0x1p-64, pick(tiny, 0x1p64, 1.0));
    V size = f2(OpId::Hypot, mul(x, by), mul(y, by));
    V near = both(both(less(0.5, size), less(size, 2.0)), equal(by, 1.0));
    V large = pick(near, f2(OpId::Maximum, ax, ay), 1.0), small = pick(near, f2(OpId::Minimum, ax, ay), 0.0);
    V distance = add(mul(sub(large, 1.0), add(large, 1.0)), mul(small, small));
    V far = f(OpId::Log, size);
    far = pick(huge, add(far, 64 * ln2), pick(tiny, sub(far, 64 * ln2), far));
    return pick(near, mul(f(OpId::Log1p, distance), 0.5), far);
  }

  Z scaled(const Z &z, double by) { return {mul(z.re, by), mul(z.im, by)}; }
  Z onePlus(const Z &z) { return {add(z.re, 1.0), z.im}; }
  Z oneMinus(const Z &z) { return {sub(1.0, z.re), neg(z.im)}; }
  Z timesI(const Z &z) { return {neg(z.im), z.re}; }
  Z overI(const Z &z) { return {z.im, neg(z.re)}; }

  B &b;
};

#define TORCHC_COMPLEX_FUNCTION(NAME)                                                                                  \
  template <class B> typename B::V NAME(B &b, const Call<B> &c) {                                                      \
    return join(b, Functions<B>(b).NAME(split(b, c.x[0], c.type)));                                                    \
  }
#define TORCHC_COMPLEX_FUNCTION2(NAME)                                                                                 \
  template <class B> typename B::V NAME(B &b, const Call<B> &c) {                                                      \
    return join(b, Functions<B>(b).NAME(split(b, c.x[0], c.type), split(b, c.x[1], c.type)));                          \
  }
TORCHC_COMPLEX_FUNCTION(exp)
TORCHC_COMPLEX_FUNCTION(exp2)
TORCHC_COMPLEX_FUNCTION(expm1)
TORCHC_COMPLEX_FUNCTION(log)
TORCHC_COMPLEX_FUNCTION(log2)
TORCHC_COMPLEX_FUNCTION(log10)
TORCHC_COMPLEX_FUNCTION(log1p)
TORCHC_COMPLEX_FUNCTION(sqrt)
TORCHC_COMPLEX_FUNCTION(rsqrt)
TORCHC_COMPLEX_FUNCTION(sin)
TORCHC_COMPLEX_FUNCTION(cos)
TORCHC_COMPLEX_FUNCTION(tan)
TORCHC_COMPLEX_FUNCTION(asin)
TORCHC_COMPLEX_FUNCTION(acos)
TORCHC_COMPLEX_FUNCTION(atan)
TORCHC_COMPLEX_FUNCTION(sinh)
TORCHC_COMPLEX_FUNCTION(cosh)
TORCHC_COMPLEX_FUNCTION(tanh)
TORCHC_COMPLEX_FUNCTION(asinh)
TORCHC_COMPLEX_FUNCTION(acosh)
TORCHC_COMPLEX_FUNCTION(atanh)
TORCHC_COMPLEX_FUNCTION(sigmoid)
TORCHC_COMPLEX_FUNCTION(silu)
TORCHC_COMPLEX_FUNCTION2(mul)
TORCHC_COMPLEX_FUNCTION2(div)
TORCHC_COMPLEX_FUNCTION2(pow)
#undef TORCHC_COMPLEX_FUNCTION
#undef TORCHC_COMPLEX_FUNCTION2

} // namespace torchc::rules::complex
