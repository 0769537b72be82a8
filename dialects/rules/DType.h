// Element types: sizes, categories, op-math types and PyTorch's promotion lattice (torch.promote_types).
#pragma once
#include <cstdint>
#include <string_view>

namespace torchc {

/// Numbers are part of the trace format and of kernel tables: append only.
enum class DType : uint8_t {
  Bool = 0,
  U8 = 1,
  I8 = 2,
  I16 = 3,
  I32 = 4,
  I64 = 5,
  F16 = 6,
  BF16 = 7,
  F32 = 8,
  F64 = 9,
  C64 = 10,
  C128 = 11,
  // Stored types: cast, moved and compared; the few ops that compute in them say so in their records (RATIONALE.md).
  U16 = 12,
  U32 = 13,
  U64 = 14,
  F8E4M3FN = 15,
  F8E5M2 = 16,
  F8E4M3FNUZ = 17,
  F8E5M2FNUZ = 18
};
inline constexpr int numDTypes = 19;
inline constexpr int numComputeDTypes = 10; // those below C64

namespace detail {
inline constexpr int8_t itemSizes[numDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 2, 4, 8, 1, 1, 1, 1};
inline constexpr std::string_view shortNames[numDTypes] = {
    "bool", "u8",   "i8",  "i16", "i32", "i64",      "f16",    "bf16",       "f32",       "f64",
    "c64",  "c128", "u16", "u32", "u64", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz"};
inline constexpr std::string_view torchNames[numDTypes] = {
    "bool",     "uint8",         "int8",        "int16",           "int32",          "int64",  "float16",
    "bfloat16", "float32",       "float64",     "complex64",       "complex128",     "uint16", "uint32",
    "uint64",   "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"};
} // namespace detail

constexpr int64_t itemSize(DType t) { return detail::itemSizes[int(t)]; }
/// "f32", as in files, symbols and the command line.
constexpr std::string_view shortName(DType t) { return detail::shortNames[int(t)]; }
/// "float32", as a PyTorch user writes it.
constexpr std::string_view torchName(DType t) { return detail::torchNames[int(t)]; }

/// The types that tensors are kept in rather than computed in: uint16, uint32, uint64 and the float8 types.
constexpr bool isStored(DType t) { return t >= DType::U16; }
constexpr bool isFloat8(DType t) { return t >= DType::F8E4M3FN; }
constexpr bool isWideUnsigned(DType t) { return isStored(t) && !isFloat8(t); }
constexpr bool isUnsigned(DType t) { return t == DType::U8 || isWideUnsigned(t); }

constexpr bool isFloat(DType t) { return (t >= DType::F16 && t <= DType::F64) || isFloat8(t); }
constexpr bool isComplex(DType t) { return t == DType::C64 || t == DType::C128; }
/// What can have gradients.
constexpr bool isDifferentiable(DType t) { return isFloat(t) || isComplex(t); }
constexpr bool isIntegral(DType t) { return (t >= DType::U8 && t <= DType::I64) || isWideUnsigned(t); }
constexpr bool isReducedFloat(DType t) { return t == DType::F16 || t == DType::BF16; }

/// Promotion category: 0 bool, 1 integers, 2 floats, 3 complex.
constexpr int category(DType t) { return t == DType::Bool ? 0 : isIntegral(t) ? 1 : isFloat(t) ? 2 : 3; }

/// The type an op computes in (N6): f16 and bf16 compute in f32.
constexpr DType computeType(DType t) { return isReducedFloat(t) ? DType::F32 : t; }

/// The type whose numbers are read and written for those of `t`: float32 for types that no machine has.
constexpr DType readType(DType t) { return isReducedFloat(t) || isFloat8(t) ? DType::F32 : t; }
/// The signed integer of that size, which has the same bits after sums, products and logic.
constexpr DType signedType(DType t) {
  constexpr DType types[] = {DType::I8, DType::I16, DType::I32, DType::I64};
  int64_t size = itemSize(t);
  return types[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}
/// The largest number of an integer type.
constexpr uint64_t largestInteger(DType t) { return ~uint64_t(0) >> (64 - 8 * itemSize(t) + (isUnsigned(t) ? 0 : 1)); }

/// The type of a complex type's parts; others as they are.
constexpr DType realType(DType t) { return t == DType::C64 ? DType::F32 : t == DType::C128 ? DType::F64 : t; }
/// The complex type with parts of type `t`, or of the next wider one that there is. Stored types have none in PyTorch.
constexpr DType complexType(DType t) { return isComplex(t) ? t : t == DType::F64 ? DType::C128 : DType::C64; }

/// Have the two types a common one? As in PyTorch, uint16, uint32 and uint64 have one with floating types alone, float8
/// types with none.
constexpr bool promotes(DType a, DType b) {
  if (a == b || (!isStored(a) && !isStored(b)))
    return true;
  DType other = isStored(a) ? b : a;
  return !isFloat8(a) && !isFloat8(b) && !isStored(other) && isFloat(other);
}

/// torch.promote_types(a, b), where there is one.
constexpr DType promoteTypes(DType a, DType b) {
  if (a == b)
    return a;
  if (category(a) != category(b)) {
    DType hi = category(a) > category(b) ? a : b, lo = category(a) > category(b) ? b : a;
    // A double in the lower category widens a complex type; integers never widen a float.
    if (hi == DType::C64 && lo == DType::F64)
      return DType::C128;
    return hi;
  }
  if (isIntegral(a)) {
    if (a == DType::U8 || b == DType::U8) {
      DType other = a == DType::U8 ? b : a;
      return other == DType::I8 ? DType::I16 : other;
    }
    return a > b ? a : b;
  }
  if (isReducedFloat(a) && isReducedFloat(b))
    return DType::F32;
  return a > b ? a : b;
}

} // namespace torchc
