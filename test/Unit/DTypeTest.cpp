#include "dialects/rules/DType.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace torchc;

TEST(DType, PromotionIsCommutativeIdempotentAndNeverLowersTheCategory) {
  for (int i = 0; i < numDTypes; ++i)
    for (int j = 0; j < numDTypes; ++j) {
      DType a = DType(i), b = DType(j), c = promoteTypes(a, b);
      EXPECT_EQ(promotes(a, b), promotes(b, a)) << shortName(a) << " " << shortName(b);
      if (!promotes(a, b))
        continue;
      EXPECT_EQ(c, promoteTypes(b, a)) << shortName(a) << " " << shortName(b);
      EXPECT_EQ(promoteTypes(c, a), c) << shortName(a) << " " << shortName(b);
      EXPECT_EQ(category(c), std::max(category(a), category(b)));
    }
}

TEST(DType, PromotionMatchesTheReference) {
  EXPECT_EQ(promoteTypes(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promoteTypes(DType::U8, DType::I64), DType::I64);
  EXPECT_EQ(promoteTypes(DType::Bool, DType::U8), DType::U8);
  EXPECT_EQ(promoteTypes(DType::I64, DType::F16), DType::F16);
  EXPECT_EQ(promoteTypes(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promoteTypes(DType::F64, DType::C64), DType::C128);
}

TEST(DType, StoredTypesPromoteWithFewOthers) {
  EXPECT_EQ(promoteTypes(DType::U16, DType::BF16), DType::BF16);
  EXPECT_EQ(promoteTypes(DType::F64, DType::U64), DType::F64);
  EXPECT_TRUE(promotes(DType::F8E5M2, DType::F8E5M2));
  for (DType t : {DType::U8, DType::I64, DType::Bool, DType::C64, DType::U32, DType::F8E4M3FN})
    EXPECT_FALSE(promotes(DType::U16, t)) << shortName(t);
  for (DType t : {DType::F32, DType::I8, DType::F8E4M3FN, DType::U64})
    EXPECT_FALSE(promotes(DType::F8E5M2, t)) << shortName(t);
}

TEST(DType, EveryTypeHasItsLimits) {
  EXPECT_EQ(largestInteger(DType::U8), 255u);
  EXPECT_EQ(largestInteger(DType::I8), 127u);
  EXPECT_EQ(largestInteger(DType::I64), uint64_t(INT64_MAX));
  EXPECT_EQ(largestInteger(DType::U32), UINT32_MAX);
  EXPECT_EQ(largestInteger(DType::U64), UINT64_MAX);
  EXPECT_EQ(signedType(DType::U64), DType::I64);
  EXPECT_EQ(signedType(DType::F8E5M2), DType::I8);
}

TEST(DType, ReducedFloatsComputeInF32) {
  EXPECT_EQ(computeType(DType::F16), DType::F32);
  EXPECT_EQ(computeType(DType::BF16), DType::F32);
  EXPECT_EQ(computeType(DType::I8), DType::I8);
}
