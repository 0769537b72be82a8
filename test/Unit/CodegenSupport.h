// Shared by the tests of generated kernels: the pack's tables, scalar references for types, special values.
#pragma once
#include "dialects/rules/OpInfo.h"
#include "runtime/kernels/Pack.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace torchc::test {

/// One value of any element type: floats in `f` (exact), integers and bool in `i`.
struct Scalar {
  double f = 0;
  int64_t i = 0;
};

inline float halfToFloat(uint16_t h) {
  int sign = h >> 15, e = h >> 10 & 31, m = h & 1023;
  float v = e == 31 ? (m ? NAN : INFINITY) : e ? std::ldexp(float(1024 + m), e - 25) : std::ldexp(float(m), -24);
  return sign ? -v : v;
}
inline float bfloatToFloat(uint16_t h) { return std::bit_cast<float>(uint32_t(h) << 16); }

/// Rounds to the nearest value a 16-bit format has, ties to the even pattern, by comparing with its neighbours.
template <class Widen> uint16_t nearest16(float v, uint16_t inf, Widen widen) {
  uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v))
    return inf + 1;
  double a = std::fabs(double(v));
  uint16_t lo = 0, hi = inf; // widen(lo) <= a, and a < widen(hi) or hi is inf
  while (hi - lo > 1) {
    uint16_t mid = uint16_t((lo + hi) / 2);
    (double(widen(mid)) <= a ? lo : hi) = mid;
  }
  double below = widen(lo), above = hi == inf ? below + (below - double(widen(lo - 1))) : double(widen(hi));
  if (std::isinf(a))
    return sign | inf;
  double down = a - below, up = above - a;
  return sign | (down < up ? lo : up < down ? hi : lo % 2 == 0 ? lo : hi);
}
inline uint16_t floatToHalf(float v) { return nearest16(v, 0x7c00, halfToFloat); }
inline uint16_t floatToBfloat(float v) { return nearest16(v, 0x7f80, bfloatToFloat); }

template <class T> T loadAs(const void *p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

inline Scalar readElement(DType t, const void *p) {
  switch (t) {
  case DType::Bool: return {0, loadAs<uint8_t>(p) != 0};
  case DType::U8: return {0, loadAs<uint8_t>(p)};
  case DType::I8: return {0, loadAs<int8_t>(p)};
  case DType::I16: return {0, loadAs<int16_t>(p)};
  case DType::I32: return {0, loadAs<int32_t>(p)};
  case DType::I64: return {0, loadAs<int64_t>(p)};
  case DType::F16: return {halfToFloat(loadAs<uint16_t>(p))};
  case DType::BF16: return {bfloatToFloat(loadAs<uint16_t>(p))};
  case DType::F32: return {loadAs<float>(p)};
  default: return {loadAs<double>(p)};
  }
}

/// Integers wrap to the type's width; floats must be representable, except f16 and bf16 which are rounded from f32.
inline void writeElement(DType t, void *p, Scalar v) {
  auto put = [&](auto x) { std::memcpy(p, &x, sizeof x); };
  switch (t) {
  case DType::Bool: return put(uint8_t(v.i != 0));
  case DType::U8: return put(uint8_t(v.i));
  case DType::I8: return put(int8_t(v.i));
  case DType::I16: return put(int16_t(v.i));
  case DType::I32: return put(int32_t(v.i));
  case DType::I64: return put(v.i);
  case DType::F16: return put(floatToHalf(float(v.f)));
  case DType::BF16: return put(floatToBfloat(float(v.f)));
  case DType::F32: return put(float(v.f));
  default: return put(v.f);
  }
}

/// N1: the same bits, any NaN equal to any NaN.
inline bool same(DType t, const void *x, const void *y) {
  if (isFloat(t) && std::isnan(readElement(t, x).f) && std::isnan(readElement(t, y).f))
    return true;
  return std::memcmp(x, y, size_t(itemSize(t))) == 0;
}

inline std::string show(DType t, const void *p) {
  Scalar s = readElement(t, p);
  char text[64];
  if (isFloat(t))
    std::snprintf(text, sizeof text, "%.17g (%a)", s.f, s.f);
  else
    std::snprintf(text, sizeof text, "%lld", (long long)s.i);
  return text;
}

/// An array of one element type.
struct Array {
  DType type;
  int64_t size;
  std::vector<char> bytes;
  Array(DType t, int64_t n) : type(t), size(n), bytes(size_t(n * itemSize(t)) + 64, char(0x5a)) {}
  void *at(int64_t i) { return bytes.data() + i * itemSize(type); }
  Scalar get(int64_t i) { return readElement(type, at(i)); }
  void set(int64_t i, Scalar v) { writeElement(type, at(i), v); }
  /// Whether the bytes behind the last element are untouched.
  bool intact() const {
    for (size_t i = size_t(size * itemSize(type)); i < bytes.size(); ++i)
      if (bytes[i] != char(0x5a))
        return false;
    return true;
  }
};

using Rng = std::mt19937_64;

/// About one in five values is special: zeros, infinities, NaN, denormals, limits of integers.
inline void fillRandom(Array &a, Rng &rng, bool specials = true) {
  static const double special[] = {0.0,    -0.0,    INFINITY, -INFINITY, NAN,  1e-45,   -1e-40,       3e38,
                                   1.0,    -1.0,    65504,    65520,     6e-8, 5.97e-8, 2147483648.0, -2147483904.0,
                                   9.3e18, -9.3e18, 255.5,    0.5,       1.5,  2.5,     0x1p-25,      0x1.8p-25};
  for (int64_t i = 0; i < a.size; ++i) {
    Scalar s;
    double u = double(rng() >> 11) * 0x1p-53;
    s.f = float((u - 0.5) * std::ldexp(1.0, int(rng() % 12) - 4));
    s.i = int64_t(rng());
    if (specials && rng() % 5 == 0) {
      s.f = special[rng() % std::size(special)];
      static const int64_t edges[] = {0, 1, -1, INT64_MIN, INT64_MAX, 127, -128, 255, 32767, 2147483647};
      s.i = edges[rng() % std::size(edges)];
    }
    if (a.type == DType::Bool)
      s.i = s.i & 1;
    if (a.type == DType::F32)
      s.f = float(s.f);
    a.set(i, s);
  }
}

/// Tables whose code this machine can run.
inline std::vector<const PackTable *> runnableTables() {
  std::vector<const PackTable *> out;
  for (const PackTable *const *t = torchc_pack_tables; *t; ++t) {
#if defined(__x86_64__)
    bool v4 = __builtin_cpu_supports("x86-64-v4"), v3 = __builtin_cpu_supports("x86-64-v3");
    if (((*t)->isa == Isa::V3 && v3) || ((*t)->isa == Isa::V4 && v4))
#endif
      out.push_back(*t);
  }
  return out;
}

inline Kernel findKernel(const PackTable *t, uint64_t key) {
  for (uint64_t i = 0; i < t->count; ++i)
    if (t->entries[i].key == key)
      return t->entries[i].fn;
  return nullptr;
}

inline const int64_t testSizes[] = {0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 127, 1000, 1023, 1024, 1025, 3000};

} // namespace torchc::test
