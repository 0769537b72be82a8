#include "runtime/core/Layout.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Index.h"
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace torchc;

namespace {

template <class T> IndexVector vec(const std::vector<T> &v, bool wrap = false) {
  return {v.data(), sizeof(T) == 8 ? DType::I64 : DType::I32, int64_t(v.size()), 1, wrap};
}

} // namespace

TEST(RuntimeIndex, Select) {
  std::mt19937 r(1);
  for (int64_t inner : {0, 1, 2, 3, 4, 8, 12, 400})
    for (int64_t outer : {0, 1, 3}) {
      int64_t bound = 7;
      std::vector<char> src(size_t(outer * bound * inner));
      for (auto &c : src)
        c = char(r());
      std::vector<int32_t> ix;
      for (int i = 0; i < 50; ++i)
        ix.push_back(int32_t(r() % 7));
      std::vector<char> out(size_t(outer * 50 * inner), 99), expected;
      for (int64_t o = 0; o < outer; ++o)
        for (int32_t v : ix)
          for (int64_t j = 0; j < inner; ++j)
            expected.push_back(src[size_t((o * bound + v) * inner + j)]);
      ASSERT_EQ(indexSelect(out.data(), src.data(), vec(ix), outer, bound, inner, nullptr), KernelStatus::Ok);
      ASSERT_EQ(out, expected);
    }
}

TEST(RuntimeIndex, OutOfRangeChangesNothing) {
  std::vector<float> src(10, 1), out(3, 5), target(10, 2);
  IndexFault fault;
  for (int64_t bad : {int64_t(10), int64_t(-1), INT64_MIN, INT64_MAX}) {
    std::vector<int64_t> ix{0, bad, 3};
    fault = {};
    EXPECT_EQ(indexSelect(out.data(), src.data(), vec(ix), 1, 10, 4, &fault), KernelStatus::IndexOutOfRange);
    EXPECT_EQ(fault.value, bad);
    EXPECT_EQ(fault.position, 1);
    EXPECT_EQ(indexAdd(DType::F32, target.data(), src.data(), vec(ix), 1, 10, 1, &fault),
              KernelStatus::IndexOutOfRange);
  }
  EXPECT_EQ(out, std::vector<float>(3, 5));
  EXPECT_EQ(target, std::vector<float>(10, 2));
  std::vector<int64_t> last{-1, -10, 9};
  EXPECT_EQ(checkIndices(vec(last, true), 10, nullptr), KernelStatus::Ok);
  std::vector<int64_t> past{-11};
  EXPECT_EQ(checkIndices(vec(past, true), 10, nullptr), KernelStatus::IndexOutOfRange);
  std::vector<int64_t> none;
  EXPECT_EQ(checkIndices(vec(none), 0, nullptr), KernelStatus::Ok);
  std::vector<int64_t> zero{0};
  EXPECT_EQ(checkIndices(vec(zero), 0, nullptr), KernelStatus::IndexOutOfRange);
  IndexVector floats{src.data(), DType::F32, 1, 1, false};
  EXPECT_EQ(checkIndices(floats, 10, nullptr), KernelStatus::Unsupported);
}

// Float sums show the order: with any number of threads the bits are those of the serial loop.
TEST(RuntimeIndex, AddIsByAscendingSource) {
  int before = numThreads();
  std::mt19937 r(5);
  for (int threads : {1, 3})
    for (auto [outer, n, bound, inner] : {std::array<int64_t, 4>{1, 100000, 10, 1},
                                          {1, 5000, 3, 30},
                                          {4, 20000, 50, 2},
                                          {1, 10, 100000, 1},
                                          {2, 0, 5, 3},
                                          {0, 4, 5, 3},
                                          {1, 4, 5, 0}}) {
      setNumThreads(threads);
      std::vector<float> target(size_t(outer * bound * inner)), source(size_t(outer * n * inner));
      for (auto &v : target)
        v = float(r()) * 1e-9f;
      for (auto &v : source)
        v = float(int32_t(r())) * 1e-7f;
      std::vector<int64_t> ix;
      for (int64_t i = 0; i < n; ++i)
        ix.push_back(int64_t(r() % unsigned(bound)));
      auto expected = target;
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < inner; ++j)
            expected[size_t((o * bound + ix[size_t(i)]) * inner + j)] += source[size_t((o * n + i) * inner + j)];
      ASSERT_EQ(indexAdd(DType::F32, target.data(), source.data(), vec(ix), outer, bound, inner, nullptr),
                KernelStatus::Ok);
      ASSERT_EQ(target, expected);
    }
  setNumThreads(before);
}

TEST(RuntimeIndex, AddOfOtherTypes) {
  std::vector<int64_t> ix{1, 1};
  std::vector<int8_t> t{0, 100}, s{100, 100};
  EXPECT_EQ(indexAdd(DType::I8, t.data(), s.data(), vec(ix), 1, 2, 1, nullptr), KernelStatus::Ok);
  EXPECT_EQ(t[1], int8_t(300 - 256));
  std::vector<uint8_t> b{0, 0}, c{1, 2};
  EXPECT_EQ(indexAdd(DType::Bool, b.data(), c.data(), vec(ix), 1, 2, 1, nullptr), KernelStatus::Ok);
  EXPECT_EQ(b[1], 1);
  for (DType d : {DType::F16, DType::BF16, DType::C64})
    EXPECT_EQ(indexAdd(d, t.data(), s.data(), vec(ix), 1, 1, 0, nullptr), KernelStatus::IndexOutOfRange);
  std::vector<int64_t> zero{0, 0};
  for (DType d : {DType::F16, DType::BF16, DType::C64})
    EXPECT_EQ(indexAdd(d, t.data(), s.data(), vec(zero), 1, 1, 0, nullptr), KernelStatus::Unsupported);
}

// gather, scatter and scatter_add against naive loops over random shapes, dims, layouts and threads.
TEST(RuntimeIndex, DimLoops) {
  int before = numThreads();
  std::mt19937 r(9);
  for (int round = 0; round < 600; ++round) {
    setNumThreads(1 + round % 3);
    int rank = 1 + int(r() % 3), dim = int(r() % unsigned(rank));
    std::vector<int64_t> sizes(static_cast<size_t>(rank)), indexed;
    for (auto &s : sizes)
      s = round % 20 == 0 ? 60 : int64_t(r() % 6);
    indexed = sizes;
    int64_t bound = indexed[size_t(dim)] = 1 + int64_t(r() % 5);
    bool wrap = r() % 2;
    auto layout = [&](const std::vector<int64_t> &n, std::vector<int64_t> &strides) {
      strides.resize(n.size());
      contiguousStrides(rank, n.data(), strides.data());
      int64_t total = std::max<int64_t>(1, n.empty() ? 1 : strides[0] * std::max<int64_t>(n[0], 1));
      if (r() % 2) { // the reverse order of dims
        int64_t s = 1;
        for (int d = 0; d < rank; ++d) {
          strides[size_t(d)] = s;
          s *= std::max<int64_t>(n[size_t(d)], 1);
        }
      }
      return size_t(total);
    };
    std::vector<int64_t> is, ps, ts;
    std::vector<int64_t> index(layout(sizes, is));
    std::vector<double> plain(layout(sizes, ps)), tensor(layout(indexed, ts));
    for (auto &v : index)
      v = int64_t(r() % unsigned(bound)) - (wrap && r() % 2 ? bound : 0);
    for (auto &v : plain)
      v = double(r());
    for (auto &v : tensor)
      v = double(r()) / 3;
    DimIndexLoop loop{rank, dim, sizes.data(), index.data(), is.data(), DType::I64, bound, wrap};
    auto gathered = plain, set = tensor, added = tensor;
    std::vector<int64_t> at(static_cast<size_t>(rank), 0);
    for (bool more = numElements(rank, sizes.data()) > 0; more;) {
      int64_t oi = 0, op = 0, ot = 0;
      for (int d = 0; d < rank; ++d) {
        oi += at[size_t(d)] * is[size_t(d)];
        op += at[size_t(d)] * ps[size_t(d)];
        ot += d == dim ? 0 : at[size_t(d)] * ts[size_t(d)];
      }
      int64_t v = index[size_t(oi)];
      ot += (v < 0 ? v + bound : v) * ts[size_t(dim)];
      gathered[size_t(op)] = tensor[size_t(ot)];
      set[size_t(ot)] = plain[size_t(op)];
      added[size_t(ot)] += plain[size_t(op)];
      int d = rank - 1;
      while (d >= 0 && ++at[size_t(d)] == sizes[size_t(d)])
        at[size_t(d--)] = 0;
      more = d >= 0;
    }
    auto g = plain, s = tensor, a = tensor;
    SCOPED_TRACE(round);
    ASSERT_EQ(gatherDim(loop, g.data(), ps.data(), tensor.data(), ts.data(), 8, nullptr), KernelStatus::Ok);
    ASSERT_EQ(scatterDim(loop, s.data(), ts.data(), plain.data(), ps.data(), 8, nullptr), KernelStatus::Ok);
    ASSERT_EQ(scatterAddDim(loop, DType::F64, a.data(), ts.data(), plain.data(), ps.data(), nullptr), KernelStatus::Ok);
    ASSERT_EQ(g, gathered);
    ASSERT_EQ(s, set);
    ASSERT_EQ(a, added);
  }
  setNumThreads(before);
}

TEST(RuntimeIndex, DimLoopFault) {
  int64_t index[6] = {0, 1, 2, 0, 3, 1}, sizes[2] = {2, 3}, strides[2] = {3, 1};
  float src[9] = {}, out[6] = {};
  DimIndexLoop loop{2, 0, sizes, index, strides, DType::I64, 3};
  IndexFault fault;
  EXPECT_EQ(gatherDim(loop, out, strides, src, strides, 4, &fault), KernelStatus::IndexOutOfRange);
  EXPECT_EQ(fault.value, 3);
  EXPECT_EQ(fault.position, 4);
  loop.bound = 4;
  EXPECT_EQ(gatherDim(loop, out, strides, src, strides, 3, &fault), KernelStatus::Unsupported);
  loop.rank = 0;
  EXPECT_EQ(gatherDim(loop, out, strides, src, strides, 4, &fault), KernelStatus::Unsupported);
}
