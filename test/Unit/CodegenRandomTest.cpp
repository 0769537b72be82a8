// Uniform numbers against N9 and the published test vectors of Philox4x32-10.
#include "test/Unit/CodegenSupport.h"
#include <array>
#include <gtest/gtest.h>

using namespace torchc;
using namespace torchc::test;

namespace {

using Words = std::array<uint32_t, 4>;

Words philox(Words c, uint32_t k0, uint32_t k1) {
  for (int r = 0; r < 10; ++r) {
    uint64_t p0 = uint64_t(c[0]) * 0xD2511F53u, p1 = uint64_t(c[2]) * 0xCD9E8D57u;
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return c;
}

double uniformN9(DType t, uint64_t seed, uint64_t ordinal, int64_t i) {
  auto words = [&](uint64_t counter) {
    return philox({uint32_t(counter), uint32_t(counter >> 32), uint32_t(ordinal), uint32_t(ordinal >> 32)},
                  uint32_t(seed), uint32_t(seed >> 32));
  };
  if (t == DType::F64) {
    Words w = words(uint64_t(i) / 2);
    size_t k = size_t(i % 2) * 2;
    return (double(w[k] >> 5) * 0x1p26 + double(w[k + 1] >> 6)) * 0x1p-53;
  }
  uint32_t w = words(uint64_t(i) / 4)[size_t(i % 4)];
  return t == DType::F32 ? (w >> 8) * 0x1p-24 : t == DType::F16 ? (w >> 21) * 0x1p-11 : (w >> 24) * 0x1p-8;
}

} // namespace

TEST(CodegenRandom, PhiloxVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(CodegenRandom, UniformBitExact) {
  Rng rng(9);
  auto id = lookupOp("uniform");
  ASSERT_TRUE(id);
  for (const PackTable *table : runnableTables())
    for (DType t : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      Kernel k = findKernel(table, packKey(PackForm::Random, *id, t, 0));
      ASSERT_TRUE(k);
      for (int64_t n : testSizes) {
        uint64_t scalars[] = {rng(), rng()};
        Array out(t, n), expected(t, n);
        int64_t cut = n ? int64_t(rng() % uint64_t(n)) : 0;
        void *ptrs[] = {out.at(0)};
        k(ptrs, nullptr, scalars, 0, cut);
        k(ptrs, nullptr, scalars, cut, n);
        ASSERT_TRUE(out.intact());
        for (int64_t i = 0; i < n; ++i) {
          expected.set(i, {uniformN9(t, scalars[0], scalars[1], i), 0});
          ASSERT_TRUE(same(t, out.at(i), expected.at(i))) << shortName(t) << " element " << i << " of " << n;
        }
      }
    }
}

TEST(CodegenRandom, RandintBitExact) {
  Rng rng(19);
  auto narrow = lookupOp("randint"), wide = lookupOp("randint_wide");
  ASSERT_TRUE(narrow && wide);
  auto expected = [](const uint64_t *s, int64_t i, bool isWide) {
    auto words = [&](uint64_t counter) {
      return philox({uint32_t(counter), uint32_t(counter >> 32), uint32_t(s[1]), uint32_t(s[1] >> 32)}, uint32_t(s[0]),
                    uint32_t(s[0] >> 32));
    };
    if (!isWide)
      return s[2] + (uint64_t(words(uint64_t(i) / 4)[size_t(i % 4)]) * s[3] >> 32);
    Words w = words(uint64_t(i) / 2);
    uint64_t bits = w[size_t(i % 2) * 2] | uint64_t(w[size_t(i % 2) * 2 + 1]) << 32;
    return s[2] + (s[3] ? uint64_t((unsigned __int128)(bits)*s[3] >> 64) : bits);
  };
  for (const PackTable *table : runnableTables())
    for (bool isWide : {false, true}) {
      Kernel k = findKernel(table, packKey(PackForm::Random, isWide ? *wide : *narrow, DType::I64, 0));
      ASSERT_TRUE(k);
      for (int64_t n : testSizes) {
        uint64_t range = isWide ? (n % 3 ? rng() : 0) : n % 2 ? rng() >> 32 : uint64_t(1) << 32;
        uint64_t scalars[] = {rng(), rng(), rng(), range};
        Array out(DType::I64, n);
        int64_t cut = n ? int64_t(rng() % uint64_t(n)) : 0;
        void *ptrs[] = {out.at(0)};
        k(ptrs, nullptr, scalars, 0, cut);
        k(ptrs, nullptr, scalars, cut, n);
        ASSERT_TRUE(out.intact());
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(*reinterpret_cast<uint64_t *>(out.at(i)), expected(scalars, i, isWide)) << i << " of " << n;
      }
    }
}
