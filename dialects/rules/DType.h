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
  C128 = 11
};
inline constexpr int numDTypes = 12;
inline constexpr int numComputeDTypes = 10; // those below C64

namespace detail {
inline constexpr int8_t itemSizes[numDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
inline constexpr std::string_view shortNames[numDTypes] = {"bool", "u8",   "i8",  "i16", "i32", "i64",
                                                           "f16",  "bf16", "f32", "f64", "c64", "c128"};
inline constexpr std::string_view torchNames[numDTypes] = {"bool",    "uint8",   "int8",      "int16",
                                                           "int32",   "int64",   "float16",   "bfloat16",
                                                           "float32", "float64", "complex64", "complex128"};
} // namespace detail

constexpr int64_t itemSize(DType t) { return detail::itemSizes[int(t)]; }
/// "f32", as in files, symbols and the command line.
constexpr std::string_view shortName(DType t) { return detail::shortNames[int(t)]; }
/// "float32", as a PyTorch user writes it.
constexpr std::string_view torchName(DType t) { return detail::torchNames[int(t)]; }

constexpr bool isFloat(DType t) { return t >= DType::F16 && t <= DType::F64; }
constexpr bool isComplex(DType t) { return t >= DType::C64; }
/// What can have gradients.
constexpr bool isDifferentiable(DType t) { return t >= DType::F16; }
constexpr bool isIntegral(DType t) { return t >= DType::U8 && t <= DType::I64; }
constexpr bool isReducedFloat(DType t) { return t == DType::F16 || t == DType::BF16; }

/// Promotion category: 0 bool, 1 integers, 2 floats, 3 complex.
constexpr int category(DType t) { return t == DType::Bool ? 0 : isIntegral(t) ? 1 : isFloat(t) ? 2 : 3; }

/// The type an op computes in (N6): f16 and bf16 compute in f32.
constexpr DType computeType(DType t) { return isReducedFloat(t) ? DType::F32 : t; }

/// The type of a complex type's parts; others as they are.
constexpr DType realType(DType t) { return t == DType::C64 ? DType::F32 : t == DType::C128 ? DType::F64 : t; }
/// The complex type with parts of type `t`, or of the next wider one that there is.
constexpr DType complexType(DType t) { return isComplex(t) ? t : t == DType::F64 ? DType::C128 : DType::C64; }

/// torch.promote_types(a, b).
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
