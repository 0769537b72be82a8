// Pointwise functions made of primitives. Half precision is computed in f32 and rounded once (N6). Where a part has no
// finite value or derivative, a `where` in front of it keeps it out of the gradient too.
#include "frontends/eager/Families.h"
#include "frontends/eager/composite/Arith.h"
#include "frontends/eager/composite/ByBlocks.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Pack.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace torchc::composite {
using namespace arith;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor isNan(const Tensor &x) { return callOp(OpId::Ne, {x, x}); }

/// An operand in `t`, then in its op-math type; numbers stay numbers.
Operand entered(const Operand &o, DType t, Tensor &held) {
  if (o.isNumber())
    return o;
  held = wide(as(Tensor::borrow(o.tensor), t));
  return held;
}

/// f(x, y) of real numbers, as realFunction.
template <class F> Tensor realFunction2(const Operand &x, const Operand &y, Out out, F f) {
  DType t = floatTypeOf(typeOf(x, y));
  Tensor a, b;
  Operand p = entered(x, t, a), q = entered(y, t, b);
  return deliver(as(f(p, q), t), out);
}

/// Floats round; integers are what they are, as a new tensor.
Tensor rounding(OpId op, const Tensor &x, Out out) {
  if (isIntegral(x->dtype))
    return callOp(OpId::Cast, {x}, {Attr::dtype(x->dtype)}, out);
  return callOp(op, {x}, {}, out);
}

DType typeOf3(const Tensor &a, const Tensor &b, const Tensor &c) {
  const Tensor *t[3] = {&a, &b, &c};
  OperandType types[3];
  Dims dims[3];
  for (int i = 0; i < 3; i++) {
    dims[i] = (*t[i])->dims();
    types[i].dtype = (*t[i])->dtype;
    types[i].dims = &dims[i];
  }
  return resultTypeOf(types, 3);
}

/// input + value * term(tensor1, tensor2)
Tensor addScaledTerm(OpId term, const char *name, const Tensor &input, const Tensor &a, const Tensor &b,
                     const Scalar &value, Out out) {
  DType t = typeOf3(input, a, b);
  if (category(t) < 2 && value.isFloat())
    fail(std::string(name) + "(): For integral input tensors, argument value must not be a floating point number.");
  if (t == DType::Bool)
    unsupported("\"" + std::string(name) + "\" not implemented for 'bool'");
  checkFits(value, computeType(t));
  auto enter = [&](const Tensor &x) { return wide(as(x, t)); };
  Tensor x = enter(a), y = enter(b), product;
  if (term == OpId::Mul)
    product = mul(value.equals(1) ? x : mul(x, value), y);
  else {
    product = callOp(term, {x, y});
    if (!value.equals(1))
      product = mul(product, value);
  }
  if (!isReducedFloat(t))
    return callOp(OpId::Add, {enter(input), product}, {}, out);
  return deliver(as(add(enter(input), product), t), out);
}

double largest(DType t) {
  switch (t) {
  case DType::F16: return 65504;
  case DType::BF16: return 0x1.FEp127;
  case DType::F32: return std::numeric_limits<float>::max();
  default: return std::numeric_limits<double>::max();
  }
}

} // namespace

Tensor floorOf(const Tensor &input, Out out) { return rounding(OpId::Floor, input, out); }
Tensor ceilOf(const Tensor &input, Out out) { return rounding(OpId::Ceil, input, out); }
Tensor truncOf(const Tensor &input, Out out) { return rounding(OpId::Trunc, input, out); }
Tensor roundTo(const Tensor &input, int64_t decimals, Out out) {
  if (!decimals || !isFloat(input->dtype))
    return rounding(OpId::Round, input, out);
  double scale = std::pow(10.0, double(std::abs(decimals)));
  return elementFunction(input, out, [&](const Tensor &x) {
    Tensor scaled = decimals > 0 ? mul(x, scale) : callOp(OpId::Div, {x, scale});
    Tensor whole = callOp(OpId::Round, {scaled});
    return decimals > 0 ? callOp(OpId::Div, {whole, scale}) : mul(whole, scale);
  });
}
Tensor fracOf(const Tensor &input, Out out) {
  if (!isFloat(input->dtype))
    unsupported("\"frac\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  return callOp(OpId::Sub, {input, callOp(OpId::Trunc, {input})}, {}, out);
}

Tensor remainderOfNumber(const Scalar &self, const Tensor &other) { return callOp(OpId::Remainder, {self, other}); }
Tensor floorDivideOfNumber(const Scalar &self, const Tensor &other) { return callOp(OpId::FloorDivide, {self, other}); }
Tensor andOfNumber(const Scalar &self, const Tensor &other) { return callOp(OpId::BitwiseAnd, {self, other}); }
Tensor orOfNumber(const Scalar &self, const Tensor &other) { return callOp(OpId::BitwiseOr, {self, other}); }
Tensor xorOfNumber(const Scalar &self, const Tensor &other) { return callOp(OpId::BitwiseXor, {self, other}); }
Tensor leftShiftOfNumber(const Scalar &self, const Tensor &other) {
  return callOp(OpId::BitwiseLeftShift, {self, other});
}
Tensor rightShiftOfNumber(const Scalar &self, const Tensor &other) {
  return callOp(OpId::BitwiseRightShift, {self, other});
}

//===-- powers ---------------------------------------------------------------------------------------------------===//

namespace {

/// Only int64 has kernels; its low bits are those of every narrower type.
Tensor integerPower(const Operand &x, const Operand &y, DType t, Out out) {
  if (t == DType::Bool)
    unsupported("\"pow\" not implemented for 'Bool'");
  auto widened = [](const Operand &o) {
    return o.isNumber() ? fullTensor(Dims(), o.number, DType::I64) : as(Tensor::borrow(o.tensor), DType::I64);
  };
  return deliver(as(callOp(OpId::Pow, {widened(x), widened(y)}), t), out);
}

/// What PyTorch computes without a logarithm, by the value of the exponent.
Tensor powerByNumber(const Tensor &x, double e) {
  if (e == 1)
    return mul(x, 1);
  if (e == 2)
    return mul(x, x);
  if (e == 3)
    return mul(mul(x, x), x);
  if (e == 0.5)
    return callOp(OpId::Sqrt, {x});
  if (e == -0.5)
    return callOp(OpId::Rsqrt, {x});
  if (e == -1)
    return callOp(OpId::Div, {1, x});
  if (e == -2)
    return callOp(OpId::Div, {1, mul(x, x)});
  // As a tensor, so that derivatives compute with it in x's type.
  return callOp(OpId::Pow, {x, fullTensor(Dims(), e, x->dtype)});
}

} // namespace

Tensor powAny(const Tensor &input, const Operand &exponent, Out out) {
  DType t = typeOf(input, exponent);
  refuseStored("pow", t);
  if (exponent.isNumber() && !isDifferentiable(t) && exponent.number.toInt() < 0)
    fail("Integers to negative integer powers are not allowed.");
  if (exponent.isNumber() && exponent.number.imag() == 0 && isDifferentiable(t))
    return realFunction(as(input, t), out,
                        [&](const Tensor &x) { return powerByNumber(x, exponent.number.toDouble()); });
  if (!isDifferentiable(t)) {
    if (t == DType::Bool && exponent.isNumber()) // to the power of true or false
      return callOp(OpId::LogicalOr, {input, !exponent.number.toBool()}, {}, out);
    if (exponent.isNumber())
      checkFits(exponent.number, t);
    return integerPower(input, exponent, t, out);
  }
  return callOp(OpId::Pow, {input, exponent}, {}, out);
}
Tensor powOfNumber(const Scalar &self, const Tensor &exponent) {
  DType t = typeOf(self, exponent);
  refuseStored("pow", t);
  if (!isDifferentiable(t))
    return integerPower(self, exponent, t, Out());
  return realFunction(as(exponent, t), Out(),
                      [&](const Tensor &y) { return callOp(OpId::Pow, {fullTensor(Dims(), self, y->dtype), y}); });
}
/// float64, or complex128 of complex operands.
static DType powerType(const Operand &x, const Operand &y) {
  return isComplex(typeOf(x, y)) ? DType::C128 : DType::F64;
}
Tensor floatPower(const Tensor &input, const Operand &exponent, Out out) {
  DType t = powerType(input, exponent);
  if (out.kind == Out::Inplace && input->dtype != t)
    fail("float_power_(): expected a base of the result's dtype " + std::string(torchName(t)) + ", got " +
         std::string(torchName(input->dtype)));
  if (exponent.isNumber())
    return powAny(as(input, t), isComplex(t) ? exponent.number : Scalar(exponent.number.toDouble()), out);
  return callOp(OpId::Pow, {as(input, t), as(Tensor::borrow(exponent.tensor), t)}, {}, out);
}
Tensor floatPowerOfNumber(const Scalar &self, const Tensor &exponent) {
  DType t = powerType(self, exponent);
  return powOfNumber(self.isComplex() ? self : Scalar(self.toDouble()), as(exponent, t));
}
Tensor reciprocalOf(const Tensor &input, Out out) { return callOp(OpId::Div, {1, input}, {}, out); }
Tensor ldexpOf(const Tensor &input, const Tensor &other, Out out) {
  return callOp(OpId::Mul, {input, powOfNumber(2.0, other)}, {}, out);
}

//===-- signs and limits -----------------------------------------------------------------------------------------===//

Tensor positiveOf(const Tensor &input) {
  if (input->dtype == DType::Bool)
    unsupported("The `+` operator, on a bool tensor is not supported.");
  return input;
}
/// The sign; of a complex number x / |x|, 0 at 0.
Tensor sgnOf(const Tensor &input, Out out) {
  if (!isComplex(input->dtype))
    return callOp(OpId::Sign, {input}, {}, out);
  Tensor size = callOp(OpId::Abs, {input}), zero = callOp(OpId::Eq, {size, 0});
  return callOp(OpId::Where, {zero, 0, callOp(OpId::Div, {input, where(zero, 1, size)})}, {}, out);
}
Tensor signBit(const Tensor &input, Out out) {
  if (!isFloat(input->dtype))
    return callOp(OpId::Lt, {input, 0}, {}, out);
  return callOp(OpId::Lt, {callOp(OpId::Copysign, {1.0, input}), 0.0}, {}, out);
}

/// Integer limits that integers of type `t` never reach; throws Runtime for one that none of them meets.
static void dropIdleLimits(DType t, std::optional<Scalar> &min, std::optional<Scalar> &max) {
  int64_t high = t == DType::U64 ? INT64_MAX : int64_t(largestInteger(t)), low = isUnsigned(t) ? 0 : -high - 1;
  auto outside = [&](const char *which, const Scalar &s) {
    fail(std::string("Clamp ") + which + " value " + std::to_string(s.toInt()) +
         " is outside the representable range of " + std::string(torchName(t)));
  };
  auto isWhole = [&](const std::optional<Scalar> &s) {
    return s && !s->isFloat() && !(s->isWide() && t == DType::U64);
  };
  if (isWhole(min) && min->toInt() > high)
    outside("min", *min);
  if (isWhole(max) && max->toInt() < low)
    outside("max", *max);
  if (isWhole(min) && min->toInt() < low)
    min.reset();
  if (isWhole(max) && max->toInt() > high)
    max.reset();
}

/// Both limits in one pass over memory: pieces stay in L1 between the two kernels. Null if they don't serve as they are.
static Tensor clampPieces(const Tensor &x, const Scalar &min, const Scalar &max) {
  DType t = x->dtype;
  bool inType = isFloat(t) ? !isReducedFloat(t) && !min.isComplex() && !max.isComplex()
                           : isIntegral(t) && min.dtype() == DType::I64 && max.dtype() == DType::I64;
  Kernel low = packElementwise(OpId::ClampMin, t, 2), high = packElementwise(OpId::ClampMax, t, 2);
  if (!inType || !low || !high || !isPlain(x) || !x->contiguous())
    return {};
  Tensor out(newTensor(t, x->dims()));
  uint64_t atLeast[2] = {0, numberBits(min, t)}, atMost[2] = {0, numberBits(max, t)};
  parallelFor(0, x->numel, elementwiseGrain, [&](int64_t begin, int64_t end) {
    int32_t status = 0; // limits don't fail
    void *first[4] = {out->data, x->data, nullptr, &status}, *second[4] = {out->data, out->data, nullptr, &status};
    for (int64_t at = begin; at < end; at += 2048) {
      int64_t to = std::min<int64_t>(at + 2048, end);
      low(first, nullptr, atLeast, at, to);
      high(second, nullptr, atMost, at, to);
    }
  });
  return out;
}

Tensor clampNumbers(const Tensor &input, const std::optional<Scalar> &minimum, const std::optional<Scalar> &maximum,
                    Out out) {
  std::optional<Scalar> min = minimum, max = maximum;
  if (!min && !max)
    fail("torch.clamp: At least one of 'min' or 'max' must not be None");
  if (isIntegral(input->dtype))
    dropIdleLimits(input->dtype, min, max);
  if (!min && !max)
    return callOp(OpId::Cast, {input}, {Attr::dtype(input->dtype)}, out);
  if (min && max && out.kind == Out::None)
    if (Tensor clamped = clampPieces(input, *min, *max); clamped.defined())
      return clamped;
  if (min && max)
    return callOp(OpId::ClampMax, {callOp(OpId::ClampMin, {input, *min}), *max}, {}, out);
  return callOp(min ? OpId::ClampMin : OpId::ClampMax, {input, min ? *min : *max}, {}, out);
}
Tensor clampMinOf(const Tensor &input, const Operand &min, Out out) {
  return min.isNumber() ? clampNumbers(input, min.number, {}, out) : callOp(OpId::ClampMin, {input, min}, {}, out);
}
Tensor clampMaxOf(const Tensor &input, const Operand &max, Out out) {
  return max.isNumber() ? clampNumbers(input, {}, max.number, out) : callOp(OpId::ClampMax, {input, max}, {}, out);
}
Tensor clampTensors(const Tensor &input, const OptTensor &min, const OptTensor &max, Out out) {
  if (!min.defined() && !max.defined())
    fail("torch.clamp: At least one of 'min' or 'max' must not be None");
  if (min.defined() && max.defined())
    return callOp(OpId::ClampMax, {callOp(OpId::ClampMin, {input, min}), max}, {}, out);
  return callOp(min.defined() ? OpId::ClampMin : OpId::ClampMax, {input, min.defined() ? min : max}, {}, out);
}
Tensor fmaxOf(const Tensor &input, const Tensor &other, Out out) {
  Tensor first = callOp(OpId::LogicalOr, {callOp(OpId::Ge, {input, other}), isNan(other)});
  return callOp(OpId::Where, {first, input, other}, {}, out);
}
Tensor fminOf(const Tensor &input, const Tensor &other, Out out) {
  Tensor first = callOp(OpId::LogicalOr, {callOp(OpId::Le, {input, other}), isNan(other)});
  return callOp(OpId::Where, {first, input, other}, {}, out);
}
Tensor heavisideOf(const Tensor &input, const Tensor &values, Out out) {
  if (input->dtype != values->dtype)
    fail("heaviside is not yet implemented for tensors with different dtypes.");
  Tensor step = as(callOp(OpId::Gt, {input, 0}), input->dtype);
  return callOp(OpId::Where, {callOp(OpId::Eq, {input, 0}), values, step}, {}, out);
}

//===-- classes of numbers ---------------------------------------------------------------------------------------===//

/// float8 as float32, which has all its numbers, and infinity itself.
static Tensor widened(const Tensor &x) { return isFloat8(x->dtype) ? as(x, DType::F32) : x; }

Tensor isInfOf(const Tensor &given) {
  Tensor input = widened(given);
  return isDifferentiable(input->dtype) ? callOp(OpId::Eq, {callOp(OpId::Abs, {input}), inf}) : isNan(input);
}
Tensor isFiniteOf(const Tensor &given) {
  Tensor input = widened(given);
  if (isComplex(input->dtype))
    return callOp(OpId::LogicalAnd, {isFiniteOf(realOf(input)), isFiniteOf(imagOf(input))});
  return isFloat(input->dtype) ? callOp(OpId::Lt, {callOp(OpId::Abs, {input}), inf}) : callOp(OpId::Eq, {input, input});
}
/// Of what is made of comparisons, which float8 has, and which PyTorch refuses.
static void refuseFloat8(const char *op, const Tensor &x) {
  if (isFloat8(x->dtype))
    refuseStored(op, x->dtype);
}
static void needOrder(const char *op, const Tensor &x) {
  if (isComplex(x->dtype))
    fail(ErrorKind::Type,
         std::string(op) + " does not support complex inputs, got " + std::string(torchName(x->dtype)));
  refuseFloat8(op, x);
}
Tensor isPosInf(const Tensor &input, Out out) {
  needOrder("isposinf", input);
  return isFloat(input->dtype) ? callOp(OpId::Eq, {input, inf}, {}, out) : callOp(OpId::Ne, {input, input}, {}, out);
}
Tensor isNegInf(const Tensor &input, Out out) {
  needOrder("isneginf", input);
  return isFloat(input->dtype) ? callOp(OpId::Eq, {input, -inf}, {}, out) : callOp(OpId::Ne, {input, input}, {}, out);
}
Tensor isRealOf(const Tensor &input) {
  if (isComplex(input->dtype))
    return callOp(OpId::Eq, {imagOf(input), 0});
  return fullTensor(input->dims(), true, DType::Bool, input->device);
}
Tensor nanToNum(const Tensor &input, std::optional<double> nan, std::optional<double> posinf,
                std::optional<double> neginf, Out out) {
  if (isComplex(input->dtype)) {
    Tensor parts = nanToNum(callOp(OpId::ViewAsReal, {input}), nan, posinf, neginf, Out());
    return deliver(callOp(OpId::ViewAsComplex, {contiguousTensor(parts)}), out);
  }
  if (!isFloat(input->dtype))
    return callOp(OpId::Cast, {input}, {Attr::dtype(input->dtype)}, out);
  refuseFloat8("nan_to_num", input);
  double top = largest(input->dtype);
  return elementFunction(input, out, [&](const Tensor &x) {
    Tensor low = where(callOp(OpId::Eq, {x, -inf}), neginf.value_or(-top), x);
    Tensor finite = where(callOp(OpId::Eq, {x, inf}), posinf.value_or(top), low);
    return where(isNan(x), nan.value_or(0), finite);
  });
}
Tensor isClose(const Tensor &input, const Tensor &other, double rtol, double atol, bool equalNan) {
  if (input->dtype != other->dtype)
    fail(std::string(torchName(input->dtype)) + " did not match " + std::string(torchName(other->dtype)));
  bool badRtol = !(rtol >= 0); // NaN, too
  if (badRtol || !(atol >= 0))
    fail(std::string(badRtol ? "rtol" : "atol") + " must be greater than or equal to zero, but got " +
         std::to_string(badRtol ? rtol : atol));
  Tensor same = callOp(OpId::Eq, {input, other});
  if (equalNan && isDifferentiable(input->dtype))
    same = callOp(OpId::LogicalOr, {same, callOp(OpId::LogicalAnd, {isNan(input), isNan(other)})});
  DType t = floatTypeOf(input->dtype);
  Tensor x = as(input, t), y = as(other, t);
  Tensor distance = callOp(OpId::Abs, {sub(x, y)});
  Tensor bound = add(callOp(OpId::Abs, {mul(y, rtol)}), atol);
  Tensor near = callOp(OpId::LogicalAnd, {callOp(OpId::Le, {distance, bound}), callOp(OpId::Lt, {distance, inf})});
  return callOp(OpId::LogicalOr, {same, near});
}

//===-- functions ------------------------------------------------------------------------------------------------===//

Tensor degToRad(const Tensor &input, Out out) {
  return realFunction(input, out, [](const Tensor &x) { return mul(x, std::numbers::pi / 180); });
}
Tensor radToDeg(const Tensor &input, Out out) {
  return realFunction(input, out, [](const Tensor &x) { return mul(x, 180 / std::numbers::pi); });
}
Tensor logitOf(const Tensor &input, std::optional<double> eps, Out out) {
  return elementFunction(input, out, [&](const Tensor &given) {
    Tensor x = eps ? where(lt(given, *eps), *eps, where(gt(given, 1 - *eps), 1 - *eps, given)) : given;
    return callOp(OpId::Log, {callOp(OpId::Div, {x, sub(1, x)})});
  });
}
Tensor sincOf(const Tensor &input, Out out) {
  return elementFunction(input, out, [](const Tensor &x) {
    Tensor zero = callOp(OpId::Eq, {x, 0});
    Tensor angle = mul(where(zero, 1.0, x), std::numbers::pi), small = where(zero, x, 0.0);
    // 1 at 0, with the curvature that its series has there.
    Tensor top = sub(1.0, mul(mul(small, small), std::numbers::pi * std::numbers::pi / 6));
    return where(zero, top, callOp(OpId::Div, {callOp(OpId::Sin, {angle}), angle}));
  });
}

static Tensor xTimesLog(const Operand &x, const Operand &y, Out out) {
  return realFunction2(x, y, out, [](const Operand &x, const Operand &y) {
    // 0 * log(y) is 0 also where the logarithm is infinite or NaN.
    Tensor infinite = callOp(OpId::LogicalOr, {callOp(OpId::Le, {y, 0.0}), callOp(OpId::Eq, {y, inf})});
    Tensor flat = callOp(OpId::LogicalAnd, {callOp(OpId::Eq, {x, 0.0}), infinite});
    Tensor product = mul(x, callOp(OpId::Log, {where(flat, 1.0, y)}));
    return where(callOp(OpId::Eq, {x, 0.0}), add(product, 0.0), product); // a zero is +0, whatever x's sign
  });
}
Tensor xlogyOf(const Tensor &input, const Operand &other, Out out) {
  if (other.isNumber())
    return xTimesLog(input, fullTensor(Dims(), other.number, floatTypeOf(typeOf(input, other))), out);
  return xTimesLog(input, other, out);
}
Tensor xlogyOfNumber(const Scalar &self, const Tensor &other) {
  return xTimesLog(fullTensor(Dims(), self, floatTypeOf(typeOf(self, other))), other, Out());
}

/// max + log(1 + exp(-distance)); equal infinities are at distance 0. Equal numbers get the curvature that max and |d|
/// lack there.
static Tensor logAddExpBase(const Tensor &input, const Tensor &other, Out out, bool two) {
  if (!isFloat(typeOf(input, other)))
    unsupported("\"logaddexp\" not implemented for '" + std::string(torchName(typeOf(input, other))) + "'");
  return realFunction2(input, other, out, [&](const Operand &x, const Operand &y) {
    Tensor same = callOp(OpId::Eq, {x, y}), apart = sub(x, y);
    Tensor distance = callOp(OpId::Abs, {where(same, 0.0, apart)});
    Tensor e = callOp(two ? OpId::Exp2 : OpId::Exp, {callOp(OpId::Neg, {distance})});
    Tensor l = callOp(OpId::Log1p, {e});
    if (two)
      l = mul(l, std::numbers::log2e);
    Tensor zero = where(callOp(OpId::Eq, {apart, 0.0}), apart, 0.0);
    Tensor curve = mul(mul(zero, zero), (two ? std::numbers::ln2 : 1) / 8);
    return add(callOp(OpId::Maximum, {x, y}), add(l, curve));
  });
}
/// The same from the operand with the larger real part.
static Tensor logAddExpComplex(const Tensor &x, const Tensor &y, Out out) {
  Tensor swap = callOp(OpId::Lt, {realOf(x), realOf(y)});
  Tensor large = where(swap, y, x), small = where(swap, x, y);
  Tensor e = callOp(OpId::Exp, {where(callOp(OpId::Eq, {x, y}), 0.0, sub(small, large))});
  return callOp(OpId::Add, {large, callOp(OpId::Log1p, {e})}, {}, out);
}
Tensor logAddExp(const Tensor &input, const Tensor &other, Out out) {
  if (DType t = typeOf(input, other); isComplex(t))
    return logAddExpComplex(as(input, t), as(other, t), out);
  return logAddExpBase(input, other, out, false);
}
Tensor logAddExp2(const Tensor &input, const Tensor &other, Out out) { return logAddExpBase(input, other, out, true); }

Tensor polygammaOf(int64_t n, const Tensor &input, Out out) {
  if (n < 0)
    fail("polygamma(n, x) does not support negative n.");
  if (n > 1)
    unsupported("polygamma(): expected n of 0 or 1, got " + std::to_string(n));
  return callOp(n ? OpId::Trigamma : OpId::Digamma, {input}, {}, out);
}
Tensor polygammaMethod(const Tensor &input, int64_t n, Out out) { return polygammaOf(n, input, out); }
Tensor multivariateLgamma(const Tensor &input, int64_t p, Out out) {
  if (p < 1)
    fail("p has to be greater than or equal to 1");
  if (p > int64_t(1) << 24) // PyTorch asks for the terms' memory
    fail(ErrorKind::Memory, "mvlgamma(): not enough memory for " + std::to_string(p) + " terms");
  return realFunction(input, out, [&](const Tensor &x) {
    Tensor total = callOp(OpId::Lgamma, {x});
    for (int64_t i = 1; i < p; i++)
      total = add(total, callOp(OpId::Lgamma, {sub(x, 0.5 * double(i))}));
    return add(total, double(p * (p - 1)) / 4 * std::log(std::numbers::pi));
  });
}

Tensor addCMul(const Tensor &input, const Tensor &tensor1, const Tensor &tensor2, const Scalar &value, Out out) {
  return addScaledTerm(OpId::Mul, "addcmul", input, tensor1, tensor2, value, out);
}
Tensor addCDiv(const Tensor &input, const Tensor &tensor1, const Tensor &tensor2, const Scalar &value, Out out) {
  if (category(tensor1->dtype) < 2 && category(tensor2->dtype) < 2)
    fail("Integer division with addcdiv is no longer supported: divide with true_divide or div(rounding_mode=...) "
         "first, then add.");
  return addScaledTerm(OpId::Div, "addcdiv", input, tensor1, tensor2, value, out);
}
Tensor lerpChecked(const Tensor &input, const Tensor &end, const Operand &weight, Out out) {
  auto check = [&](const TensorImpl *t, const char *what) {
    if (t->dtype != input->dtype)
      fail(std::string("expected dtype ") + std::string(torchName(input->dtype)) + " for `" + what +
           "` but got dtype " + std::string(torchName(t->dtype)));
  };
  if (!isDifferentiable(input->dtype))
    unsupported("\"lerp\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  check(end.impl(), "end");
  if (weight.tensor)
    check(weight.tensor, "weight");
  if (weight.isNumber() && weight.number.dtype() == DType::Bool)
    return callOp(OpId::Lerp, {input, end, weight.number.toInt()}, {}, out);
  return callOp(OpId::Lerp, {input, end, weight}, {}, out);
}
Tensor nextafterChecked(const Tensor &input, const Tensor &other, Out out) {
  DType t = typeOf(input, other);
  if (isReducedFloat(t)) // the op-math type's neighbour would round back
    unsupported("nextafter(): not implemented for '" + std::string(torchName(t)) + "'");
  return callOp(OpId::Nextafter, {input, other}, {}, out);
}

Tensor greaterThan(const Tensor &x, const Operand &y, Out out) { return callOp(OpId::Gt, {x, y}, {}, out); }
Tensor greaterEqual(const Tensor &x, const Operand &y, Out out) { return callOp(OpId::Ge, {x, y}, {}, out); }
Tensor lessThan(const Tensor &x, const Operand &y, Out out) { return callOp(OpId::Lt, {x, y}, {}, out); }
Tensor lessEqual(const Tensor &x, const Operand &y, Out out) { return callOp(OpId::Le, {x, y}, {}, out); }
Tensor notEqual(const Tensor &x, const Operand &y, Out out) { return callOp(OpId::Ne, {x, y}, {}, out); }

} // namespace torchc::composite
