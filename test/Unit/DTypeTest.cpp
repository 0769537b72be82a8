#include "dialects/rules/DType.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace torchc;

TEST(DType, PromotionIsCommutativeIdempotentAndNeverLowersTheCategory) {
  for (int i = 0; i < numDTypes; ++i)
    for (int j = 0; j < numDTypes; ++j) {
      DType a = DType(i), b = DType(j), c = promoteTypes(a, b);
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

TEST(DType, ReducedFloatsComputeInF32) {
  EXPECT_EQ(computeType(DType::F16), DType::F32);
  EXPECT_EQ(computeType(DType::BF16), DType::F32);
  EXPECT_EQ(computeType(DType::I8), DType::I8);
}
