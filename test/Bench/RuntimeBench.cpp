// Prints what the runtime's hot paths cost, in nanoseconds; best of many rounds.
#include "runtime/core/Storage.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Strided.h"
#include "test/Unit/RuntimePack.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace torchc;

namespace {

template <class F> void measure(const char *what, int64_t n, F body) {
  double best = 1e30;
  for (int round = 0; round < 15; ++round) {
    auto start = std::chrono::steady_clock::now();
    body(n);
    std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
    best = std::min(best, t.count() / double(n));
  }
  std::printf("%-44s %10.2f ns\n", what, best);
}

} // namespace

int main() {
  torchc::testing::useTestPack();
  measure("block alloc + free", 1 << 20, [](int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      void *p = allocSmall(3);
      asm volatile("" : "+r"(p)::"memory");
      freeSmall(p, 3);
    }
  });
  measure("storage alloc + free, 4 bytes", 1 << 20, [](int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      Storage *s = newStorage(4);
      asm volatile("" : "+r"(s)::"memory");
      release(s);
    }
  });
  measure("storage alloc + free, 64 KiB", 1 << 18, [](int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      release(newStorage(65536));
  });
  measure("storage alloc + free, 64 MiB", 1 << 18, [](int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      release(newStorage(64 << 20));
  });
  measure("parallelFor, empty body", 1000, [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      parallelFor(0, 1024, 1, [&](int64_t b, int64_t) { asm volatile("" ::"r"(b) : "memory"); });
  });
  auto *x = static_cast<float *>(std::aligned_alloc(64, 64 << 20));
  auto *y = static_cast<float *>(std::aligned_alloc(64, 64 << 20));
  auto *z = static_cast<float *>(std::aligned_alloc(64, 64 << 20));
  for (int i = 0; i < 16 << 20; ++i)
    x[i] = y[i] = z[i] = 1;
  int32_t status = 0;
  auto add = [&](int64_t rows, int64_t cols, std::array<int64_t, 2> sx, std::array<int64_t, 2> sy) {
    int64_t sizes[2] = {rows, cols}, so[2] = {cols, 1};
    StridedOperand o[3] = {{z, so, DType::F32, DType::F32},
                           {x, sx.data(), DType::F32, DType::F32},
                           {y, sy.data(), DType::F32, DType::F32}};
    StridedLoop loop{packElementwise(torchc::testing::OpAdd, DType::F32, 0), 1, 3, 2, sizes, o};
    runStrided(loop, &status);
  };
  measure("strided add, 2x2 + row", 1 << 16, [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      add(2, 2, {2, 1}, {0, 1});
  });
  for (int threads : {1, numThreads()}) {
    setNumThreads(threads);
    std::printf("%d threads, per element of 4096x4096:\n", threads);
    int64_t n = 4096;
    measure("  x + y contiguous", n * n, [&](int64_t) { add(n, n, {n, 1}, {n, 1}); });
    measure("  x + row", n * n, [&](int64_t) { add(n, n, {n, 1}, {0, 1}); });
    measure("  x + column", n * n, [&](int64_t) { add(n, n, {n, 1}, {1, 0}); });
    measure("  x + y.t()", n * n, [&](int64_t) { add(n, n, {n, 1}, {1, n}); });
    measure("  x[:, :3] + y[:, :3], 1M rows", 3 << 20, [&](int64_t) { add(1 << 20, 3, {4, 1}, {4, 1}); });
    int64_t sizes[2] = {n, n}, so[2] = {n, 1}, st[2] = {1, n};
    measure("  copy of x.t()", n * n,
            [&](int64_t) { copyStrided(2, sizes, z, so, DType::F32, x, st, DType::F32, &status); });
  }
}
