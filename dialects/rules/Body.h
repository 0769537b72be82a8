// Scalar bodies of elementwise ops as flat expressions. torchc-tblgen writes the tables from the op records; the kernel
// generator turns them into IR, the test oracle interprets the same tables (as JSON).
#pragma once
#include "dialects/rules/DType.h"
#include <cstdint>

namespace torchc {

/// What one body node computes. T is the compute type, I the integer of the same width.
enum class BodyOp : uint8_t {
  Arg, // bits = operand number, already in the compute type
  Index, // row-major logical linear index, i64
  Const, // bits = a double, rounded once to T
  Bits, // bits = T given by its bit pattern
  ConstI, // bits = an I
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Abs,
  Sqrt, // T; integers wrap
  Fma, // T, one rounding
  Min,
  Max, // T, rule N7: -0 < +0, NaN propagates
  Floor,
  RoundEven,
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne, // T,T -> i1; ordered, Ne unordered
  IsNan, // T -> i1
  And,
  Or,
  Xor,
  Not, // i1 or integers
  Select, // i1,T,T -> T
  ToInt,
  FromInt, // bit casts T <-> I
  IAdd,
  ISub,
  IMul,
  IAnd,
  IOr,
  IXor,
  IShl,
  IShr,
  IUShr, // I
  IFromF, // T (integral, in range) -> I
  FFromI // I -> T
};

struct BodyNode {
  BodyOp op;
  int16_t a = -1, b = -1, c = -1; // earlier nodes
  uint64_t bits = 0;
};

/// One body; `numNodes` == 0 means the op has none for that class.
struct Body {
  const BodyNode *nodes = nullptr;
  int numNodes = 0;
};

/// Bodies are written per class of compute type.
enum class BodyClass : uint8_t { F32, F64, Int, Bool, NumClasses };

constexpr BodyClass bodyClass(DType compute) {
  return compute == DType::F32    ? BodyClass::F32
         : compute == DType::F64  ? BodyClass::F64
         : compute == DType::Bool ? BodyClass::Bool
                                  : BodyClass::Int;
}

} // namespace torchc
