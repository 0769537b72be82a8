// The float8 formats: what the runtime's casts and compiled ones are made from. A sign, 7 - mantissa bits of exponent, the
// mantissa; without infinities but for e5m2. The finite-only unsigned-zero ones have NaN in the place of -0.
#pragma once
#include "dialects/rules/DType.h"
#include <bit>

namespace torchc {

struct Float8Format {
  int mantissa, bias;
  uint8_t most; // the largest finite number's code
  uint8_t overflow; // of what rounds beyond it: PyTorch's e4m3fn saturates, infinities too
  uint8_t nan;
  bool unsignedZero; // codes of negative results that are 0 or NaN have no sign
};

constexpr Float8Format float8Format(DType t) {
  switch (t) {
  case DType::F8E5M2: return {2, 15, 0x7b, 0x7c, 0x7f, false};
  case DType::F8E4M3FNUZ: return {3, 8, 0x7f, 0x80, 0x80, true};
  case DType::F8E5M2FNUZ: return {2, 16, 0x7f, 0x80, 0x80, true};
  default: return {3, 7, 0x7e, 0x7e, 0x7f, false};
  }
}

/// The number with that code.
constexpr float float8ToFloat(DType t, uint8_t code) {
  Float8Format f = float8Format(t);
  uint32_t sign = uint32_t(code & 0x80) << 24, low = code & 0x7f, e = low >> f.mantissa;
  if (f.unsignedZero ? code == 0x80 : (low > f.most && low != f.overflow))
    return std::bit_cast<float>(sign | 0x7fc00000u);
  if (!f.unsignedZero && low > f.most)
    return std::bit_cast<float>(sign | 0x7f800000u);
  if (e)
    return std::bit_cast<float>(sign | ((low << (23 - f.mantissa)) + (uint32_t(127 - f.bias) << 23)));
  float unit = std::bit_cast<float>(uint32_t(128 - f.bias - f.mantissa) << 23);
  return (sign ? -1.f : 1.f) * float(low) * unit;
}

/// v rounded to nearest even.
constexpr uint8_t floatToFloat8(DType t, float v) {
  Float8Format f = float8Format(t);
  uint32_t bits = std::bit_cast<uint32_t>(v), a = bits & 0x7fffffff, sign = bits >> 24 & 0x80;
  int drop = 23 - f.mantissa;
  uint32_t odd = a >> drop & 1;
  uint32_t normal = ((a + (1u << (drop - 1)) - 1 + odd) >> drop) - (uint32_t(127 - f.bias) << f.mantissa);
  // Denormal results: adding this rounds at the place of their last bit.
  uint32_t unit = uint32_t(151 - f.bias - f.mantissa) << 23;
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(a) + std::bit_cast<float>(unit)) - unit;
  uint32_t code = a < uint32_t(128 - f.bias) << 23 ? small : normal > f.most ? f.overflow : normal;
  code = a > 0x7f800000 ? f.nan : code;
  if (f.unsignedZero)
    sign = code == 0 || code == f.nan ? 0 : sign;
  return uint8_t(code | sign);
}

} // namespace torchc
