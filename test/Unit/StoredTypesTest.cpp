// Casts of stored types against definitions written out here; every code, both ways.
#include "dialects/rules/Float8.h"
#include "runtime/kernels/Pack.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace torchc;

namespace {

constexpr DType float8Types[] = {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ};

/// A code's number from its fields.
double numberOf(DType t, int code) {
  Float8Format f = float8Format(t);
  int low = code & 0x7f, e = low >> f.mantissa, m = low & ((1 << f.mantissa) - 1);
  double v =
      e ? std::ldexp(1 + m / double(1 << f.mantissa), e - f.bias) : std::ldexp(m / double(1 << f.mantissa), 1 - f.bias);
  if (t == DType::F8E5M2 && e == 31)
    v = m ? NAN : INFINITY;
  if (f.unsignedZero ? code == 0x80 : t == DType::F8E4M3FN && low == 0x7f)
    v = NAN;
  return code & 0x80 ? -v : v;
}

template <class To, class From> To castOne(DType from, DType to, From v) {
  To out{};
  int32_t status = 0;
  void *p[3] = {&out, &v, &status};
  Kernel k = packCast(from, to);
  EXPECT_TRUE(k) << shortName(from) << " " << shortName(to);
  if (k)
    k(p, nullptr, nullptr, 0, 1);
  EXPECT_EQ(status, 0);
  return out;
}

} // namespace

TEST(StoredTypes, EveryPairHasACast) {
  for (int i = 0; i < numDTypes; ++i)
    for (int j = 0; j < numDTypes; ++j)
      if (i != j && !isComplex(DType(i)) && !isComplex(DType(j))) {
        EXPECT_TRUE(packCast(DType(i), DType(j))) << shortName(DType(i)) << " " << shortName(DType(j));
      }
}

TEST(StoredTypes, Float8CodesAreTheirNumbers) {
  for (DType t : float8Types)
    for (int code = 0; code < 256; ++code) {
      double want = numberOf(t, code);
      float got = castOne<float>(t, DType::F32, uint8_t(code));
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want))
          << shortName(t) << " " << code;
      EXPECT_TRUE(std::isnan(want) || castOne<uint8_t>(DType::F32, t, got) == code) << shortName(t) << " " << code;
    }
}

TEST(StoredTypes, FloatsBecomeTheNearestFloat8) {
  std::mt19937 random(1);
  for (DType t : float8Types) {
    Float8Format f = float8Format(t);
    double last = numberOf(t, f.most), edge = last + (last - numberOf(t, f.most - 1)) / 2;
    for (int i = 0; i < 100000; ++i) {
      float v = std::bit_cast<float>(uint32_t(random() & 0x7fffffff));
      if (i & 1)
        v = float(numberOf(t, int(random() % f.most)) * (1 + double(random() % 257) / 1024));
      int code = castOne<uint8_t>(DType::F32, t, v);
      if (std::isnan(v)) {
        EXPECT_EQ(code, f.nan);
        continue;
      }
      if (v > edge || (v == edge && f.most % 2)) {
        EXPECT_EQ(code, f.overflow) << shortName(t) << " " << v;
        continue;
      }
      double far = std::fabs(numberOf(t, code) - v);
      for (int other : {code - 1, code + 1}) {
        if (other < 0 || other > f.most)
          continue;
        double that = std::fabs(numberOf(t, other) - v);
        EXPECT_TRUE(far < that || (far == that && code % 2 == 0)) << shortName(t) << " " << v << " " << code;
      }
    }
  }
}

TEST(StoredTypes, LongRowsGoThroughPieces) {
  std::vector<int16_t> in(1500);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = int16_t(i * 37 - 20000);
  std::vector<uint8_t> out(in.size());
  int32_t status = 0;
  void *p[3] = {out.data(), in.data(), &status};
  packCast(DType::I16, DType::F8E5M2)(p, nullptr, nullptr, 3, 1400);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], i < 3 || i >= 1400 ? 0 : floatToFloat8(DType::F8E5M2, float(in[i]))) << i;
}

TEST(StoredTypes, Uint64SaturatesAndRoundsOnce) {
  EXPECT_EQ(castOne<uint64_t>(DType::F64, DType::U64, -1.0), 0u);
  EXPECT_EQ(castOne<uint64_t>(DType::F64, DType::U64, double(NAN)), 0u);
  EXPECT_EQ(castOne<uint64_t>(DType::F64, DType::U64, 0x1p64), UINT64_MAX);
  EXPECT_EQ(castOne<uint64_t>(DType::F64, DType::U64, 0x1p63), uint64_t(1) << 63);
  EXPECT_EQ(castOne<float>(DType::U64, DType::F32, UINT64_MAX), 0x1p64f);
  EXPECT_EQ(castOne<float>(DType::U64, DType::F32, (uint64_t(1) << 63) + (uint64_t(1) << 39)), 0x1p63f);
  EXPECT_EQ(castOne<float>(DType::U64, DType::F32, (uint64_t(1) << 63) + (uint64_t(1) << 39) + 1), 0x1.000002p63f);
}
