// The strided driver against naive loops, over random shapes, layouts and types.
#include "RuntimePack.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Launch.h"
#include "runtime/kernels/Strided.h"
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace torchc;
using namespace torchc::testing;

namespace {

using Random = std::mt19937;

/// A view into memory of its own, with room in front for negative strides.
struct View {
  DType dtype = DType::F32;
  std::vector<int64_t> strides;
  std::vector<char> memory;
  int64_t origin = 0; // in elements

  void *data() { return memory.data() + origin * itemSize(dtype); }
  char *at(const std::vector<int64_t> &index) {
    int64_t o = origin;
    for (size_t d = 0; d < index.size(); ++d)
      o += index[d] * strides[d];
    return memory.data() + o * itemSize(dtype);
  }
};

double read(const char *p, DType t) {
  switch (t) {
  case DType::Bool: return *reinterpret_cast<const uint8_t *>(p);
  case DType::I32: return *reinterpret_cast<const int32_t *>(p);
  case DType::I64: return double(*reinterpret_cast<const int64_t *>(p));
  case DType::F32: return *reinterpret_cast<const float *>(p);
  default: return *reinterpret_cast<const double *>(p);
  }
}
void write(char *p, DType t, double v) {
  switch (t) {
  case DType::Bool: *reinterpret_cast<uint8_t *>(p) = v != 0; break;
  case DType::I32: *reinterpret_cast<int32_t *>(p) = int32_t(v); break;
  case DType::I64: *reinterpret_cast<int64_t *>(p) = int64_t(v); break;
  case DType::F32: *reinterpret_cast<float *>(p) = float(v); break;
  default: *reinterpret_cast<double *>(p) = v; break;
  }
}

/// Permuted, padded, reversed; inputs may be broadcast along dims.
View makeView(Random &r, DType t, const std::vector<int64_t> &sizes, bool input) {
  View v;
  v.dtype = t;
  size_t rank = sizes.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (r() % 2)
    std::shuffle(order.begin(), order.end(), r);
  v.strides.resize(rank);
  int64_t n = 1, low = 0, high = 0;
  bool plain = r() % 3 == 0;
  for (size_t k = rank; k-- > 0;) {
    size_t d = order[k];
    if (input && !plain && r() % 4 == 0) {
      v.strides[d] = 0;
      continue;
    }
    if (!plain && r() % 4 == 0)
      n *= 1 + int64_t(r() % 3); // a step
    v.strides[d] = !plain && r() % 6 == 0 ? -n : n;
    int64_t reach = std::max<int64_t>(sizes[d] - 1, 0) * v.strides[d];
    (reach < 0 ? low : high) += reach;
    n *= std::max<int64_t>(sizes[d], 1);
    if (!plain && r() % 5 == 0)
      n += int64_t(r() % 3); // padding
  }
  v.origin = -low;
  v.memory.assign(size_t((high - low + 1) * itemSize(t)), 0);
  for (int64_t i = 0; i < high - low + 1; ++i)
    write(v.memory.data() + i * itemSize(t), t, double(int(r() % 200)) - 100);
  return v;
}

std::vector<int64_t> makeSizes(Random &r, bool large) {
  static const int64_t small[] = {0, 1, 1, 2, 3, 5, 31, 32, 33, 64}, big[] = {1, 2, 7, 100, 255, 256, 513, 1030};
  std::vector<int64_t> s(r() % 5);
  int64_t n = 1, limit = large ? 400000 : 20000;
  for (auto &d : s) {
    d = large ? big[r() % 8] : small[r() % 10 == 0 ? 0 : 1 + r() % 9];
    if (n * d > limit)
      d = 1;
    n *= std::max<int64_t>(d, 1);
  }
  return s;
}

template <class F> void forEachIndex(const std::vector<int64_t> &sizes, F f) {
  std::vector<int64_t> index(sizes.size(), 0);
  if (numElements(int(sizes.size()), sizes.data()) == 0)
    return;
  for (;;) {
    f(index);
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

DType anyType(Random &r) { return testDTypes[r() % 5]; }

void checkBinary(Random &r, bool large) {
  auto sizes = makeSizes(r, large);
  DType ct = anyType(r), to = r() % 2 ? ct : anyType(r);
  bool less = r() % 4 == 0, scalar = !less && r() % 5 == 0;
  DType result = less ? DType::Bool : ct;
  if (less)
    to = r() % 2 ? DType::Bool : anyType(r);
  View out = makeView(r, to, sizes, false), a = makeView(r, r() % 2 ? ct : anyType(r), sizes, true),
       b = makeView(r, r() % 2 ? ct : anyType(r), sizes, true);
  View expected = out;
  int64_t scalars[2] = {0, 0};
  write(reinterpret_cast<char *>(scalars + 1), ct, 3);
  auto viaType = [&](DType t, double v) {
    alignas(8) char c[8];
    write(c, t, v);
    return read(c, t);
  };
  forEachIndex(sizes, [&](const std::vector<int64_t> &i) {
    double x = viaType(ct, read(a.at(i), a.dtype)), y = viaType(ct, read(b.at(i), b.dtype));
    if (scalar)
      y = ct == DType::Bool ? 1 : 3;
    double v = less ? x < y : x + y;
    if (result == DType::Bool && !less)
      v = uint8_t(v) != 0 ? uint8_t(v) : 0; // the test kernel adds bytes
    if (to == DType::Bool && result != DType::Bool)
      v = v != 0;
    if (result == DType::Bool && to == DType::Bool && !less)
      *reinterpret_cast<uint8_t *>(expected.at(i)) = uint8_t(v);
    else
      write(expected.at(i), to, v);
  });
  StridedOperand operands[3] = {{out.data(), out.strides.data(), to, result},
                                {a.data(), a.strides.data(), a.dtype, ct},
                                {b.data(), b.strides.data(), b.dtype, ct}};
  if (scalar)
    operands[2] = {nullptr, nullptr, ct, ct};
  StridedLoop loop{packElementwise(less ? OpLess : OpAdd, ct, scalar ? 2 : 0),
                   1,
                   3,
                   int(sizes.size()),
                   sizes.data(),
                   operands,
                   scalars};
  int32_t status = 0;
  runStrided(loop, &status);
  ASSERT_EQ(status, 0);
  // Everything between the elements must be untouched too.
  ASSERT_EQ(out.memory, expected.memory);
}

} // namespace

TEST(RuntimeStrided, RandomBinary) {
  useTestPack();
  Random r(1);
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    checkBinary(r, false);
  }
}

TEST(RuntimeStrided, RandomBinaryLargeWithThreads) {
  useTestPack();
  int before = numThreads();
  setNumThreads(3);
  Random r(2);
  for (int i = 0; i < 100 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    checkBinary(r, true);
  }
  setNumThreads(before);
}

TEST(RuntimeStrided, RandomCopies) {
  useTestPack();
  Random r(3);
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    auto sizes = makeSizes(r, i % 50 == 0);
    DType t = anyType(r), from = r() % 2 ? t : anyType(r);
    View out = makeView(r, t, sizes, false), in = makeView(r, from, sizes, true), expected = out;
    forEachIndex(sizes, [&](const std::vector<int64_t> &k) { write(expected.at(k), t, read(in.at(k), from)); });
    int32_t status = 0;
    copyStrided(int(sizes.size()), sizes.data(), out.data(), out.strides.data(), t, in.data(), in.strides.data(), from,
                &status);
    ASSERT_EQ(status, 0);
    ASSERT_EQ(out.memory, expected.memory);
  }
}

TEST(RuntimeStrided, CopiesOfEveryItemSize) {
  for (DType t : {DType::Bool, DType::F16, DType::F32, DType::F64, DType::C64, DType::C128}) {
    int64_t sizes[2] = {70, 45}, in[2] = {1, 70}, out[2] = {45, 1};
    size_t n = size_t(itemSize(t));
    std::vector<char> from(70 * 45 * n), to(70 * 45 * n);
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = char(i * 7 + i / 256);
    int32_t status = 0;
    copyStrided(2, sizes, to.data(), out, t, from.data(), in, t, &status);
    for (size_t i = 0; i < 70; ++i)
      for (size_t j = 0; j < 45; ++j)
        ASSERT_FALSE(std::memcmp(&to[(i * 45 + j) * n], &from[(j * 70 + i) * n], n));
  }
}

TEST(RuntimeStrided, MovesOfEveryStride) {
  constexpr char untouched = 0x55;
  for (int size : {1, 2, 4, 8, 16})
    for (int64_t ds : {1, 2, -1})
      for (int64_t ss : {1, 0, -1, 2, -2, 3})
        for (int64_t n : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 65}) {
          // No room behind the last item of the source: reading further is what sanitizers look for.
          int64_t reach = (n - 1) * std::abs(ss) + 1, room = (n - 1) * std::abs(ds) + 3;
          std::vector<char> from(size_t(reach * size)), to(size_t(room * size), untouched), expected = to;
          for (size_t i = 0; i < from.size(); ++i)
            from[i] = char(i * 37 + i / 251);
          int64_t first = ss < 0 ? reach - 1 : 0, target = ds < 0 ? room - 2 : 1;
          for (int64_t i = 0; i < n; ++i)
            std::memcpy(&expected[size_t((target + i * ds) * size)], &from[size_t((first + i * ss) * size)],
                        size_t(size));
          moveItems(&to[size_t(target * size)], ds, &from[size_t(first * size)], ss, n, size);
          ASSERT_EQ(to, expected) << size << " bytes, strides " << ds << ", " << ss << ", " << n << " items";
        }
}

TEST(RuntimeStrided, TransposesOfAwkwardSizes) {
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{1024, 1024}, {700, 513}, {17, 2000}, {2000, 17}}) {
    std::vector<float> from(size_t(rows * cols)), to(from.size());
    std::iota(from.begin(), from.end(), 0.f);
    int64_t sizes[2] = {rows, cols}, in[2] = {1, rows}, out[2] = {cols, 1};
    int32_t status = 0;
    copyStrided(2, sizes, to.data(), out, DType::F32, from.data(), in, DType::F32, &status);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        ASSERT_EQ(to[size_t(i * cols + j)], float(j * rows + i));
  }
}

TEST(RuntimeStrided, MissingKernelsAreReported) {
  useTestPack();
  float x = 1, y = 2;
  int64_t one = 1;
  StridedOperand o[3] = {
      {&x, &one, DType::F32, DType::F32}, {&y, &one, DType::F16, DType::F32}, {&y, &one, DType::F32, DType::F32}};
  StridedLoop loop{packElementwise(OpAdd, DType::F32, 0), 1, 3, 1, &one, o};
  int32_t status = 0;
  runStrided(loop, &status);
  EXPECT_EQ(status, int32_t(KernelStatus::MissingKernel));
  loop.kernel = nullptr;
  status = 0;
  runStrided(loop, &status);
  EXPECT_EQ(status, int32_t(KernelStatus::MissingKernel));
  status = int32_t(KernelStatus::NoMemory); // the first code stays
  runStrided(loop, &status);
  EXPECT_EQ(status, int32_t(KernelStatus::NoMemory));
}

TEST(RuntimeStrided, InPlaceElementForElement) {
  useTestPack();
  std::vector<float> x(40 * 50), expected;
  std::iota(x.begin(), x.end(), 0.f);
  expected = x;
  for (auto &v : expected)
    v += v;
  int64_t sizes[2] = {50, 40}, strides[2] = {1, 50};
  StridedOperand o = {x.data(), strides, DType::F32, DType::F32}, os[3] = {o, o, o};
  StridedLoop loop{packElementwise(OpAdd, DType::F32, 0), 1, 3, 2, sizes, os};
  int32_t status = 0;
  runStrided(loop, &status);
  EXPECT_EQ(x, expected);
}

TEST(RuntimeStrided, Launch) {
  useTestPack();
  std::vector<float> x(300000, 1), y(300000, 2), z(300000);
  int32_t status = 0;
  void *ptrs[4] = {z.data(), x.data(), y.data(), &status};
  launch(packElementwise(OpAdd, DType::F32, 0), ptrs, nullptr, nullptr, 0, 300000);
  EXPECT_EQ(z, std::vector<float>(300000, 3));
}
