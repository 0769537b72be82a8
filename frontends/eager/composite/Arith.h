// Arithmetic with a number on either side, for composites; functions of one tensor have their names in Api.h.
#pragma once
#include "frontends/eager/composite/Common.h"

namespace torchc::composite::arith {

inline Tensor mul(const Operand &x, const Operand &y) { return callOp(OpId::Mul, {x, y}); }
inline Tensor add(const Operand &x, const Operand &y) { return callOp(OpId::Add, {x, y}); }
inline Tensor sub(const Operand &x, const Operand &y) { return callOp(OpId::Sub, {x, y}); }
inline Tensor div(const Operand &x, const Operand &y) { return callOp(OpId::Div, {x, y}); }
inline Tensor atLeast(const Tensor &x, const Operand &low) { return callOp(OpId::ClampMin, {x, low}); }

} // namespace torchc::composite::arith
