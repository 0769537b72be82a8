// Derivatives of pointwise functions that a record's dag can't say without computing a part twice.
#pragma once
#include "dialects/rules/Builder.h"

namespace torchc::rules {

/// x: 0 where y is 0, so that pow(0, -1) doesn't count. y: 0 where x is 0 and y isn't negative, for log(0).
template <class B, class C> typename B::V powVjp(B &b, const C &c, const typename B::V &g, int operand) {
  auto &x = c.operand(0), &y = c.operand(1);
  if (operand == 0) {
    auto slope = b.op(OpId::Mul, {y, b.op(OpId::Pow, {x, b.op(OpId::Sub, {y, Attr::integer(1)})})});
    return b.op(OpId::Where, {b.op(OpId::Eq, {y, 0.0}), 0.0, b.op(OpId::Mul, {g, slope})});
  }
  auto flat = b.op(OpId::LogicalAnd, {b.op(OpId::Eq, {x, 0.0}), b.op(OpId::Ge, {realPart(b, y), 0.0})});
  auto slope = b.op(OpId::Mul, {c.result(), b.op(OpId::Log, {x})});
  return b.op(OpId::Where, {flat, 0.0, b.op(OpId::Mul, {g, slope})});
}

/// g / sqrt(x^2 - 1), of complex numbers by two roots: the branch cut is acosh's.
template <class B, class C> typename B::V acoshVjp(B &b, const C &c, const typename B::V &g, int) {
  auto &x = c.operand(0);
  if (!isComplex(b.dtype(x)))
    return b.op(OpId::Mul, {g, b.op(OpId::Rsqrt, {b.op(OpId::Sub, {b.op(OpId::Mul, {x, x}), 1.0})})});
  auto below = b.op(OpId::Rsqrt, {b.op(OpId::Sub, {x, 1.0})}), above = b.op(OpId::Rsqrt, {b.op(OpId::Add, {x, 1.0})});
  return b.op(OpId::Mul, {g, b.op(OpId::Mul, {below, above})});
}

/// g * s * (1 + x * (1 - s)), in op-math type as the other activations.
template <class B, class C> typename B::V siluVjp(B &b, const C &c, const typename B::V &g, int) {
  auto x = opMath(b, c.operand(0)), gm = opMath(b, g);
  auto s = b.op(OpId::Sigmoid, {x});
  auto rest = b.op(OpId::Mul, {x, b.op(OpId::Sub, {1.0, s})});
  return b.op(OpId::Mul, {gm, b.op(OpId::Mul, {s, b.op(OpId::Add, {rest, 1.0})})});
}

/// cdf(x) + x * pdf(x) of the normal distribution
template <class B, class C> typename B::V geluVjp(B &b, const C &c, const typename B::V &g, int) {
  auto x = opMath(b, c.operand(0)), gm = opMath(b, g);
  auto cdf =
      b.op(OpId::Mul, {b.op(OpId::Add, {b.op(OpId::Erf, {b.op(OpId::Mul, {x, 0.70710678118654752})}), 1.0}), 0.5});
  auto pdf =
      b.op(OpId::Mul, {b.op(OpId::Exp, {b.op(OpId::Mul, {b.op(OpId::Mul, {x, x}), -0.5})}), 0.39894228040143268});
  return b.op(OpId::Mul, {gm, b.op(OpId::Add, {cdf, b.op(OpId::Mul, {x, pdf})})});
}

/// y = x/2 * (1 + t), t = tanh(k * (x + c*x^3)): (1 + t)/2 + x/2 * (1 - t^2) * k * (1 + 3c*x^2)
template <class B, class C> typename B::V geluTanhVjp(B &b, const C &c, const typename B::V &g, int) {
  constexpr double k = 0.79788456080286536, cube = 0.044715;
  auto x = opMath(b, c.operand(0)), gm = opMath(b, g);
  auto x2 = b.op(OpId::Mul, {x, x});
  auto inner = b.op(OpId::Mul, {b.op(OpId::Add, {x, b.op(OpId::Mul, {b.op(OpId::Mul, {x2, x}), cube})}), k});
  auto t = b.op(OpId::Tanh, {inner});
  auto first = b.op(OpId::Mul, {b.op(OpId::Add, {t, 1.0}), 0.5});
  auto bend = b.op(OpId::Sub, {1.0, b.op(OpId::Mul, {t, t})});
  auto slope = b.op(OpId::Mul, {b.op(OpId::Add, {b.op(OpId::Mul, {x2, 3 * cube}), 1.0}), k});
  auto second = b.op(OpId::Mul, {b.op(OpId::Mul, {b.op(OpId::Mul, {x, 0.5}), bend}), slope});
  return b.op(OpId::Mul, {gm, b.op(OpId::Add, {first, second})});
}

/// x: g * (x - t) / max((1 - x) * x, 1e-12). t: the difference of the two logarithms.
template <class B, class C> typename B::V bceVjp(B &b, const C &c, const typename B::V &g, int operand) {
  auto x = opMath(b, c.operand(0)), t = opMath(b, c.operand(1)), gm = opMath(b, g);
  if (operand == 0) {
    auto spread = b.op(OpId::ClampMin, {b.op(OpId::Mul, {b.op(OpId::Sub, {1.0, x}), x}), 1e-12});
    return b.op(OpId::Div, {b.op(OpId::Mul, {gm, b.op(OpId::Sub, {x, t})}), spread});
  }
  auto off = b.op(OpId::ClampMin, {b.op(OpId::Log1p, {b.op(OpId::Neg, {x})}), -100.0});
  auto on = b.op(OpId::ClampMin, {b.op(OpId::Log, {x}), -100.0});
  return b.op(OpId::Mul, {gm, b.op(OpId::Sub, {off, on})});
}

} // namespace torchc::rules
