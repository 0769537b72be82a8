//===- CompositePointwise.td - pointwise functions made of primitives -----------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITEPOINTWISE_TD
#define TORCHC_OPS_COMPOSITEPOINTWISE_TD

include "OpSpec.td"

def : Composite<"x * x", [
  Api<"square(Tensor input) -> Tensor", allKinds, "squareOf">]>;
def : Composite<"a power computed in float64", [
  Api<"float_power(Tensor input, Operand exponent) -> Tensor", allKinds, "floatPower">,
  Api<"float_power(Scalar self, Tensor exponent) -> Tensor", functionOnly, "floatPowerOfNumber">]>;
def : Composite<"1 / x", [
  Api<"reciprocal(Tensor input) -> Tensor", allKinds, "reciprocalOf">]>;
def : Composite<"x itself, bool refused", [
  Api<"positive(Tensor input) -> Tensor", functionMethod, "positiveOf">]>;
def : Composite<"x * 2^other", [
  Api<"ldexp(Tensor input, Tensor other) -> Tensor", allKinds, "ldexpOf">]>;
def : Composite<"x - trunc(x)", [
  Api<"frac(Tensor input) -> Tensor", allKinds, "fracOf">]>;
def : Composite<"the sign, as sign() for real numbers", [
  Api<"sgn(Tensor input) -> Tensor", allKinds, "sgnOf">]>;
def : Composite<"degrees as radians, radians as degrees", [
  Api<"deg2rad(Tensor input) -> Tensor", allKinds, "degToRad">,
  Api<"rad2deg(Tensor input) -> Tensor", allKinds, "radToDeg">]>;
def : Composite<"log(x / (1 - x)); with eps, x is first limited to [eps, 1 - eps]", [
  Api<"logit(Tensor input, float? eps=None) -> Tensor", allKinds, "logitOf">]>;
def : Composite<"sin(pi x) / (pi x), 1 at 0", [
  Api<"sinc(Tensor input) -> Tensor", allKinds, "sincOf">]>;
def : Composite<"x * log(y), 0 where x is 0 unless y is NaN", [
  Api<"xlogy(Tensor input, Operand other) -> Tensor", allKinds, "xlogyOf">,
  Api<"xlogy(Scalar self, Tensor other) -> Tensor", functionOnly, "xlogyOfNumber">]>;
def : Composite<"log(exp(x) + exp(y)) without overflow; to base 2", [
  Api<"logaddexp(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "logAddExp">,
  Api<"logaddexp2(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "logAddExp2">]>;
def : Composite<"0 below 0, 1 above, `values` at 0; NaN counts as below", [
  Api<"heaviside(Tensor input, Tensor values) -> Tensor", allKinds, "heavisideOf">]>;
def : Composite<"is the sign bit set?", [
  Api<"signbit(Tensor input) -> Tensor", ["function", "method", "out"], "signBit">]>;
def : Composite<"true for NaN, infinities, finite numbers, real numbers", [
  Api<"isnan(Tensor input) -> Tensor", functionMethod, "isNanOf">,
  Api<"isinf(Tensor input) -> Tensor", functionMethod, "isInfOf">,
  Api<"isfinite(Tensor input) -> Tensor", functionMethod, "isFiniteOf">,
  Api<"isposinf(Tensor input) -> Tensor", ["function", "method", "out"], "isPosInf">,
  Api<"isneginf(Tensor input) -> Tensor", ["function", "method", "out"], "isNegInf">,
  Api<"isreal(Tensor input) -> Tensor", functionMethod, "isRealOf">]>;
def : Composite<"NaN, inf and -inf replaced; by default 0 and the type's largest and smallest", [
  Api<"nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", allKinds, "nanToNum">]>;
def : Composite<"input + value * (tensor1 * tensor2), input + value * (tensor1 / tensor2)", [
  Api<"addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", allKinds, "addCMul">,
  Api<"addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", allKinds, "addCDiv">]>;
def : Composite<"as maximum and minimum, but a NaN gives way to a number", [
  Api<"fmax(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "fmaxOf">,
  Api<"fmin(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "fminOf">]>;
def : Composite<"max with min's limit, then min with max's; at a limit the gradient is the input's", [
  Api<"clamp(Tensor input, Scalar? min=None, Scalar? max=None) -> Tensor", allKinds, "clampNumbers">,
  Api<"clamp(Tensor input, Tensor? min=None, Tensor? max=None) -> Tensor", allKinds, "clampTensors">,
  Api<"clip(Tensor input, Scalar? min=None, Scalar? max=None) -> Tensor", allKinds, "clampNumbers">,
  Api<"clip(Tensor input, Tensor? min=None, Tensor? max=None) -> Tensor", allKinds, "clampTensors">]>;
def : Composite<"|x - y| <= atol + rtol * |y|, equal values included", [
  Api<"isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor", functionMethod, "isClose">]>;
def : Composite<"comparisons under their long names", [
  Api<"greater(Tensor input, Operand other) -> Tensor", allKinds, "greaterThan">,
  Api<"greater_equal(Tensor input, Operand other) -> Tensor", allKinds, "greaterEqual">,
  Api<"less(Tensor input, Operand other) -> Tensor", allKinds, "lessThan">,
  Api<"less_equal(Tensor input, Operand other) -> Tensor", allKinds, "lessEqual">,
  Api<"not_equal(Tensor input, Operand other) -> Tensor", allKinds, "notEqual">]>;def : Composite<"derivative number n of digamma; n is 0 or 1", [
  Api<"polygamma(int n, Tensor input) -> Tensor", ["function", "out"], "polygammaOf">,
  Api<"polygamma(Tensor input, int n) -> Tensor", ["method", "inplace"], "polygammaMethod">]>;
def : Composite<"logarithm of the multivariate gamma function of dimension p", [
  Api<"mvlgamma(Tensor input, int p) -> Tensor", allKinds, "multivariateLgamma">]>;

#endif
