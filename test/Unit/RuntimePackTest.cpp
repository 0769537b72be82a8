#include "RuntimePack.h"
#include <gtest/gtest.h>

using namespace torchc;
using namespace torchc::testing;

TEST(RuntimePack, Lookup) {
  useTestPack();
  EXPECT_EQ(packElementwise(OpAdd, DType::F32, 0), (&binaryKernel<DType::F32, false>));
  EXPECT_EQ(packElementwise(OpAdd, DType::F32, 2), &addScalarKernel<DType::F32>);
  EXPECT_EQ(packElementwise(OpLess, DType::I64, 0), (&binaryKernel<DType::I64, true>));
  EXPECT_EQ(packElementwise(OpLess, DType::I64, 1), nullptr);
  EXPECT_EQ(packElementwise(OpLess, DType::I64, 9), nullptr);
  EXPECT_EQ(packElementwise(77u, DType::I64, 0), nullptr);
  EXPECT_EQ(packReduce(77u, DType::I64), nullptr);
  EXPECT_EQ(packReduce(OpAdd, DType::I64), nullptr);
  EXPECT_EQ(packCast(DType::F32, DType::Bool), (&castKernel<DType::F32, DType::Bool>));
  EXPECT_EQ(packCast(DType::F32, DType::C64), nullptr);
  EXPECT_NE(packGemm(DType::F32), nullptr);
  EXPECT_EQ(packGemm(DType::F64), nullptr);
  EXPECT_EQ(packRandom(OpAdd, DType::F32), nullptr);
}

TEST(RuntimePack, Symbols) {
  useTestPack();
  EXPECT_EQ(packSymbol("torchc_k_gemm_f32_v3"), packGemm(DType::F32));
  EXPECT_EQ(packSymbol("torchc_k_gemm_f32_v"), nullptr);
  EXPECT_EQ(packSymbol(""), nullptr);
}

/// Code compiled for an older processor finds its kernels on a newer one.
TEST(RuntimePack, SymbolsOfAllThatRunsHere) {
  Isa best = processorIsa();
  if (best == Isa::A64)
    GTEST_SKIP() << "one ISA alone";
  static const PackEntry older{0, &addScalarKernel<DType::F32>, "older"},
      newer{0, &addScalarKernel<DType::F32>, "newer"};
  static const PackTable v3{packAbi, Isa::V3, 1, &older}, v4{packAbi, Isa::V4, 1, &newer};
  static const PackTable *const tables[] = {&v3, &v4, nullptr};
  packUse(tables);
  EXPECT_EQ(packIsa(), best);
  EXPECT_EQ(packSymbol("older"), older.fn);
  EXPECT_EQ(packSymbol("newer"), best == Isa::V4 ? newer.fn : nullptr);
  useTestPack();
}

TEST(RuntimePack, NoPackGivesNull) {
  packUse(nullptr);
  EXPECT_EQ(packElementwise(OpAdd, DType::F32, 0), nullptr);
  EXPECT_EQ(packGemm(DType::F32), nullptr);
  EXPECT_EQ(packSymbol("torchc_k_gemm_f32_v3"), nullptr);
  EXPECT_EQ(packIsa(), Isa::None);
  static const PackTable future{packAbi + 1, Isa::V3, 0, nullptr};
  static const PackTable *const tables[] = {&future, nullptr};
  packUse(tables);
  EXPECT_EQ(packTable(), nullptr);
  EXPECT_NE(packProblem(), nullptr);
  useTestPack();
  EXPECT_NE(packIsa(), Isa::None);
}
