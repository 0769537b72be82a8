// Products against N3 written as loops: blocks of 1024, each one chain from +0, block sums left to right.
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Gemm.h"
#include "test/Unit/CodegenSupport.h"
#include <gtest/gtest.h>

using namespace torchc;
using namespace torchc::test;

namespace {

template <class T> T chainN3(const std::vector<T> &a, const std::vector<T> &b, T start = 0) {
  if constexpr (!std::is_floating_point_v<T>) {
    uint64_t s = uint64_t(int64_t(start));
    for (size_t i = 0; i < a.size(); ++i)
      s += uint64_t(int64_t(a[i])) * uint64_t(int64_t(b[i]));
    return T(s);
  }
  T total = start;
  for (size_t k0 = 0; k0 < a.size(); k0 += 1024) {
    T acc = k0 ? 0 : start;
    for (size_t k = k0; k < std::min(k0 + 1024, a.size()); ++k)
      if constexpr (std::is_floating_point_v<T>)
        acc = std::fma(a[k], b[k], acc);
    total = k0 ? total + acc : acc;
  }
  return total;
}

enum class Layout { Rows, Columns, Wide }; // k contiguous, m or n contiguous, neither

struct Matrix {
  Array data;
  int64_t row, column;
  Matrix(DType t, int64_t rows, int64_t columns, Layout l)
      : data(t, l == Layout::Wide ? rows * (2 * columns + 3) * 2 : rows * columns) {
    row = l == Layout::Rows ? columns : l == Layout::Columns ? 1 : 2 * (2 * columns + 3);
    column = l == Layout::Rows ? 1 : l == Layout::Columns ? rows : 2;
  }
  Scalar at(int64_t i, int64_t j) { return data.get(i * row + j * column); }
};

void mustNotRun(void **, const int64_t *, const void *, int64_t, int64_t) {
  ADD_FAILURE() << "gemmKernelsOf leaves out a kernel that is called";
}

/// `ks` with the kernels alone that gemmKernelsOf names.
GemmKernels leastOf(const GemmKernels &ks, const GemmCall &call) {
  unsigned used = gemmKernelsOf(ks, call);
  auto pick = [&](unsigned bit, Kernel k) { return used >> bit & 1 ? k : Kernel(mustNotRun); };
  return {pick(0, ks.strided), pick(1, ks.packed), pick(2, ks.wide), pick(3, ks.copy), pick(4, ks.turn), ks.rows,
          ks.columns};
}

template <class T>
void check(const GemmKernels &ks, DType t, int64_t m, int64_t n, int64_t k, Layout la, Layout lb, Rng &rng) {
  Matrix a(t, m, k, la), b(t, k, n, lb);
  fillRandom(a.data, rng, rng() % 8 == 0);
  fillRandom(b.data, rng, rng() % 8 == 0);
  int64_t cRow = n + int64_t(rng() % 3);
  Array c(t, m * cRow), before(t, m * cRow);
  fillRandom(c, rng);
  before.bytes = c.bytes;
  bool start = rng() % 3 == 0;
  GemmCall call{t, m, n, k, a.data.at(0), a.row, a.column, b.data.at(0), b.row, b.column, c.at(0), cRow, start};
  std::vector<char> scratch(gemmScratchBytes(ks, call) + 64);
  void *aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
  int64_t cut = m > 1 && rng() % 2 ? int64_t(rng() % uint64_t(m)) : m; // the cut of rows must not matter
  if (cut == m) {
    gemmRows(leastOf(ks, call), call, 0, m, aligned);
  } else {
    gemmRows(ks, call, 0, cut, aligned);
    gemmRows(ks, call, cut, m, aligned);
  }
  ASSERT_TRUE(c.intact());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < cRow; ++j) {
      if (j >= n) {
        ASSERT_EQ(0, std::memcmp(c.at(i * cRow + j), before.at(i * cRow + j), size_t(itemSize(t))));
        continue;
      }
      std::vector<T> x, y;
      for (int64_t p = 0; p < k; ++p) {
        x.push_back(std::is_floating_point_v<T> ? T(a.at(i, p).f) : T(a.at(i, p).i));
        y.push_back(std::is_floating_point_v<T> ? T(b.at(p, j).f) : T(b.at(p, j).i));
      }
      Scalar from = before.get(i * cRow + j);
      T r = chainN3(x, y, !start ? T(0) : std::is_floating_point_v<T> ? T(from.f) : T(from.i));
      ASSERT_TRUE(same(t, c.at(i * cRow + j), &r))
          << shortName(t) << " " << m << "x" << k << "x" << n << " layouts " << int(la) << int(lb) << " at " << i << ","
          << j << ": got " << show(t, c.at(i * cRow + j)) << ", expected " << show(t, &r);
    }
}

void checkType(const GemmKernels &ks, DType t, int64_t m, int64_t n, int64_t k, Layout la, Layout lb, Rng &rng) {
  switch (t) {
  case DType::F32: return check<float>(ks, t, m, n, k, la, lb, rng);
  case DType::F64: return check<double>(ks, t, m, n, k, la, lb, rng);
  case DType::I64: return check<int64_t>(ks, t, m, n, k, la, lb, rng);
  case DType::I32: return check<int32_t>(ks, t, m, n, k, la, lb, rng);
  case DType::I16: return check<int16_t>(ks, t, m, n, k, la, lb, rng);
  case DType::I8: return check<int8_t>(ks, t, m, n, k, la, lb, rng);
  default: return check<uint8_t>(ks, t, m, n, k, la, lb, rng);
  }
}

const DType types[] = {DType::F32, DType::F64, DType::I64, DType::I32, DType::I16, DType::I8, DType::U8};

GemmKernels kernelsOf(const PackTable *table, DType t) {
  auto find = [&](uint32_t v) { return findKernel(table, packKey(PackForm::Gemm, 0u, t, v)); };
  return {find(0), find(1), find(2), find(3), find(4), 6, (table->isa == Isa::V4 ? 256 : 64) / itemSize(t)};
}

} // namespace

TEST(CodegenGemm, BitExact) {
  Rng rng(3);
  const int64_t extents[] = {1, 2, 3, 5, 6, 7, 8, 12, 13, 16, 17, 31, 33, 64, 65, 100};
  const int64_t depths[] = {0, 1, 2, 3, 4, 5, 7, 16, 63, 64, 257};
  for (const PackTable *table : runnableTables())
    for (DType t : types) {
      GemmKernels ks = kernelsOf(table, t);
      ASSERT_TRUE(ks.strided && ks.packed && ks.wide && ks.copy && ks.turn);
      for (int round = 0; round < 120; ++round) {
        int64_t m = extents[rng() % std::size(extents)], n = extents[rng() % std::size(extents)];
        checkType(ks, t, m, n, depths[rng() % std::size(depths)], Layout(rng() % 3), Layout(rng() % 3), rng);
        if (testing::Test::HasFatalFailure())
          return;
      }
    }
}

TEST(CodegenGemm, BlocksOfK) {
  Rng rng(4);
  for (const PackTable *table : runnableTables())
    for (DType t : {DType::F32, DType::F64, DType::I32})
      for (int64_t k : {1023, 1024, 1025, 2049, 3000})
        for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 70}, {7, 35}, {1, 1}, {25, 17}}) {
          checkType(kernelsOf(table, t), t, m, n, k, Layout(rng() % 3), Layout(rng() % 3), rng);
          if (testing::Test::HasFatalFailure())
            return;
        }
}

/// Few rows: panels of B in parts of k, whose chains go on across parts but not across blocks.
TEST(CodegenGemm, PartsOfK) {
  Rng rng(7);
  for (const PackTable *table : runnableTables())
    for (DType t : {DType::F32, DType::F64, DType::I16})
      for (int64_t k : {255, 256, 257, 513, 1024, 1300, 2049})
        for (int64_t m : {2, 6, 7, 13, 16, 48, 49})
          for (Layout lb : {Layout::Rows, Layout::Columns}) {
            checkType(kernelsOf(table, t), t, m, kernelsOf(table, t).columns * 2 + int64_t(rng() % 2) * 5, k,
                      Layout(rng() % 3), lb, rng);
            if (testing::Test::HasFatalFailure())
              return;
          }
}

/// Many rows: several passes over packed panels, the last of a few rows.
TEST(CodegenGemm, Passes) {
  Rng rng(8);
  for (const PackTable *table : runnableTables())
    for (DType t : {DType::F32, DType::F64, DType::I8})
      for (auto [m, k] : {std::pair<int64_t, int64_t>{127, 40}, {253, 600}, {517, 33}, {1040, 1030}})
        for (Layout la : {Layout::Rows, Layout::Columns}) {
          checkType(kernelsOf(table, t), t, m, kernelsOf(table, t).columns + 9, k, la, Layout(rng() % 3), rng);
          if (testing::Test::HasFatalFailure())
            return;
        }
}

/// The transposition that packing is made of: all widths of its squares, and nothing written beside.
TEST(CodegenGemm, Turn) {
  Rng rng(9);
  for (const PackTable *table : runnableTables())
    for (DType t : types)
      for (int round = 0; round < 60; ++round) {
        int64_t rows = int64_t(rng() % 40), columns = int64_t(rng() % 40), begin = int64_t(rng() % uint64_t(rows + 1));
        int64_t columnStep = rows + int64_t(rng() % 3), rowStep = columns + int64_t(rng() % 3);
        Array in(t, columns * columnStep), out(t, rows * rowStep);
        fillRandom(in, rng, false);
        fillRandom(out, rng, false);
        Array want = out;
        size_t size = size_t(itemSize(t));
        for (int64_t i = begin; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            std::memcpy(want.at(i * rowStep + j), in.at(j * columnStep + i), size);
        void *ptrs[] = {out.at(0), in.at(0)};
        int64_t sizes[] = {columnStep, rowStep, columns};
        kernelsOf(table, t).turn(ptrs, sizes, nullptr, begin, rows);
        ASSERT_EQ(out.bytes, want.bytes) << rows << "x" << columns << " from " << begin;
      }
}

TEST(CodegenGemm, PackedA) {
  Rng rng(5);
  for (const PackTable *table : runnableTables())
    for (DType t : {DType::F32, DType::F64})
      for (Layout la : {Layout::Rows, Layout::Columns})
        checkType(kernelsOf(table, t), t, 515, 16 * kernelsOf(table, t).columns + 3, 130, la, Layout::Rows, rng);
}

/// However many threads, the same bits; through the entry compiled code calls.
TEST(CodegenGemm, ThreadsAndBatches) {
  Rng rng(6);
  const int64_t batch = 2, m = 150, n = 130, k = 200;
  Array a(DType::F32, batch * m * k), b(DType::F32, batch * k * n), c1(DType::F32, batch * m * n), c2(c1);
  fillRandom(a, rng, false);
  fillRandom(b, rng, false);
  int32_t status = 0;
  int64_t sizes[] = {batch, m, n, k, m * k, k, 1, k * n, n, 1, m * n, n, 0};
  uint64_t dtype = uint64_t(DType::F32);
  int before = numThreads();
  setNumThreads(1);
  void *p1[] = {c1.at(0), a.at(0), b.at(0), &status}, *p2[] = {c2.at(0), a.at(0), b.at(0), &status};
  torchc_gemm(p1, sizes, &dtype, 0, batch);
  setNumThreads(2);
  torchc_gemm(p2, sizes, &dtype, 0, batch);
  setNumThreads(before);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(c1.bytes, c2.bytes);
  std::vector<float> x, y;
  for (int64_t p = 0; p < k; ++p) {
    x.push_back(float(a.get(m * k + 3 * k + p).f));
    y.push_back(float(b.get(k * n + p * n + 5).f));
  }
  EXPECT_EQ(float(c1.get(m * n + 3 * n + 5).f), chainN3(x, y));
}

TEST(CodegenGemm, CMayFollowTheScratchMemory) {
  // As a heap may lay them out: no row of C is taken for scratch memory, whatever its distance.
  constexpr int64_t m = 24, n = 24, guard = 64;
  std::vector<float> a(m, 2), b(n, 3);
  for (const PackTable *table : runnableTables()) {
    GemmKernels ks = kernelsOf(table, DType::F32);
    GemmCall call{DType::F32, m, n, 1, a.data(), 1, 1, b.data(), n, 1, nullptr, n};
    size_t bytes = gemmScratchBytes(ks, call);
    for (int64_t gap = 0; gap <= m * n; gap += 4) {
      std::vector<float> memory(16 + bytes / 4 + size_t(gap + m * n + guard), 7);
      char *scratch = reinterpret_cast<char *>(memory.data());
      scratch += (64 - reinterpret_cast<uintptr_t>(scratch) % 64) % 64;
      float *c = reinterpret_cast<float *>(scratch + bytes) + gap;
      call.c = c;
      gemmRows(ks, call, 0, m, scratch);
      for (int64_t i = 0; i < m * n; ++i)
        ASSERT_EQ(c[i], 6) << gap;
      for (int64_t i = m * n; i < m * n + guard - 16; ++i)
        ASSERT_EQ(c[i], 7) << "a write behind C, which begins " << gap << " elements behind the scratch memory";
    }
  }
}
