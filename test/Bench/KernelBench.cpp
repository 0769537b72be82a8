// Speed of generated kernels on one thread, against the machine's own limits measured in the same run:
// GEMM as a share of the FMA peak, memory-bound kernels in GB/s. Arguments: threads (1), then `gemm`, `conv` or `memory` for one part.
#include "dialects/rules/OpInfo.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Conv.h"
#include "runtime/kernels/Gemm.h"
#include "runtime/kernels/Pack.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <tuple>
#include <vector>

using namespace torchc;

static double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Best time of a call, in seconds.
template <class F> double best(F f, double seconds = 0.3) {
  f();
  double start = now();
  f();
  int64_t reps = int64_t(2e-4 / (now() - start + 1e-9)) + 1;
  double bestTime = 1e9, end = now() + seconds;
  do {
    double s = now();
    for (int64_t i = 0; i < reps; ++i)
      f();
    bestTime = std::min(bestTime, (now() - s) / double(reps));
  } while (now() < end);
  return bestTime;
}

#if defined(__x86_64__)
typedef float V8 __attribute__((vector_size(32)));
typedef float V16 __attribute__((vector_size(64)));
#define PEAK(name, isa, V, reg)                                                                                        \
  __attribute__((target(isa))) static double name() {                                                                  \
    V a[12];                                                                                                           \
    for (auto &x : a)                                                                                                  \
      x = V{} + 1e-9f;                                                                                                 \
    V p = V{} + 1.0000001f, q = V{} + 1e-9f;                                                                           \
    const int64_t n = 1000000;                                                                                         \
    double s = now();                                                                                                  \
    for (int64_t i = 0; i < n; ++i)                                                                                    \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < 12; ++j) asm volatile("vfmadd213ps %1,%2,%0" :            \
                                                                                   "+" reg(a[j]) : reg(p), reg(q));    \
    return double(n) * 12 * 2 * (sizeof(V) / 4) / (now() - s) / 1e9;                                                   \
  }
PEAK(peakOfV3, "avx2,fma", V8, "x")
PEAK(peakOfV4, "avx512f", V16, "v")
/// Of the vectors that the pack in use has.
static double peak() {
  double r = 0;
  for (int i = 0; i < 30; ++i)
    r = std::max(r, packIsa() == Isa::V4 ? peakOfV4() : peakOfV3());
  return r;
}
#else
static double peak() { return 1; }
#endif

struct Share {
  double rate, percent; // GFLOP/s, and that of the peak
};
/// The clock follows the processor's load and what its neighbours do: the peak is measured before and behind each figure.
template <class F> Share share(double gflop, F f, double seconds = 0.3) {
  double before = peak(), rate = gflop / best(f, seconds);
  return {rate, 100 * rate / std::max(before, peak())};
}

static float *make(int64_t n) {
  float *p = static_cast<float *>(std::aligned_alloc(1 << 21, size_t((n * 4 + (1 << 21)) & ~((1 << 21) - 1))));
  madvise(p, size_t(n) * 4, MADV_HUGEPAGE);
  uint32_t s = 12345;
  for (int64_t i = 0; i < n; ++i) {
    s = s * 1664525u + 1013904223u;
    p[i] = float(s >> 8) * 0x1p-23f - 1;
  }
  return p;
}

static void benchGemm() {
  std::printf("FMA peak %.1f GFLOP/s (%s)\n", peak(), isaName(packIsa()));
  const int64_t shapes[][3] = {{64, 64, 64},       {128, 128, 128},    {256, 256, 256}, {512, 512, 512},
                               {1024, 1024, 1024}, {2048, 2048, 2048}, {16, 768, 3072}, {128, 768, 3072},
                               {64, 64, 32},       {1, 1024, 1024}};
  for (auto [m, k, n] : shapes) {
    float *a = make(m * k), *b = make(k * n), *c = make(m * n);
    auto run = [&](int64_t bK, int64_t bColumn) {
      GemmCall g{DType::F32, m, n, k, a, k, 1, b, bK, bColumn, c, n};
      return share(2e-9 * double(m * n * k), [&] { gemm(g); });
    };
    Share kn = run(n, 1), nk = run(1, k);
    std::printf("gemm %5ldx%ldx%ld  B[k,n] %6.1f GFLOP/s %5.1f%%   B[n,k] %6.1f %5.1f%%\n", long(m), long(k), long(n),
                kn.rate, kn.percent, nk.rate, nk.percent);
    std::free(a), std::free(b), std::free(c);
  }
}

/// Square images and kernels; all three products of a convolution, and one image with its share of a batch of 16.
static void benchConv() {
  struct Shape {
    int64_t c, o, groups, size, kernel, stride;
  };
  const Shape shapes[] = {{128, 128, 1, 28, 3, 1}, {64, 64, 1, 56, 3, 1},  {256, 256, 1, 14, 3, 1},
                          {512, 512, 1, 7, 3, 1},  {256, 64, 1, 56, 1, 1}, {3, 64, 1, 112, 7, 2},
                          {16, 32, 1, 8, 3, 1},    {96, 96, 96, 56, 3, 1}};
  for (const Shape &h : shapes) {
    int64_t pad = h.kernel / 2, out = (h.size + 2 * pad - h.kernel) / h.stride + 1;
    std::printf("conv %ldx%ld %3ld->%3ld %3ld/%ld", long(h.kernel), long(h.kernel), long(h.c), long(h.o), long(h.size),
                long(h.stride));
    for (int64_t n : {1, 16}) {
      float *x = make(n * h.c * h.size * h.size), *w = make(h.o * h.c / h.groups * h.kernel * h.kernel),
            *y = make(n * h.o * out * out);
      ConvGeometry g{n,
                     h.c,
                     h.o,
                     h.groups,
                     {1, h.size, h.size},
                     {1, out, out},
                     {1, h.kernel, h.kernel},
                     {1, h.stride, h.stride},
                     {0, pad, pad},
                     {1, 1, 1}};
      double flops = 2e-9 * double(n * h.o * out * out * (h.c / h.groups) * h.kernel * h.kernel);
      std::printf("  n=%-2ld", long(n));
      for (auto [name, what, a, b, to] : {std::tuple{"y", ConvWhat::Output, x, w, y},
                                          {"x", ConvWhat::Input, y, w, x},
                                          {"w", ConvWhat::Weight, x, y, w}}) {
        Share s = share(flops, [&] { conv({DType::F32, what, g, a, b, to}); }, 0.2);
        std::printf("  %s %6.1f %5.1f%%", name, s.rate, s.percent);
      }
      std::free(x), std::free(w), std::free(y);
    }
    std::printf("\n");
  }
}

static void benchMemory() {
  for (int64_t n : {int64_t(1), int64_t(7), int64_t(2000), int64_t(60000), int64_t(1000000), int64_t(16000000)}) {
    float *a = make(n), *b = make(n), *c = make(n), out;
    auto elementwise = [&](const char *name, int operands) {
      Kernel k = packElementwise(*lookupOp(name), DType::F32, 0);
      void *ptrs[] = {c, a, b, nullptr};
      double t = best([&] { k(ptrs, nullptr, nullptr, 0, n); }, 0.15);
      if (n < 100)
        std::printf("  %s %.1f ns", name, t * 1e9);
      else
        std::printf("  %s %.1f", name, 4e-9 * double(n) * (operands + 1) / t);
    };
    auto reduce = [&](const char *name) {
      Kernel k = packReduce(*lookupOp(name), DType::F32);
      void *ptrs[] = {&out, a, nullptr};
      double t = best([&] { k(ptrs, &n, nullptr, 0, 1); }, 0.15);
      if (n < 100)
        std::printf("  %s %.1f ns", name, t * 1e9);
      else
        std::printf("  %s %.1f", name, 4e-9 * double(n) / t);
    };
    std::printf("%9ld elements, GB/s:", long(n));
    elementwise("add", 2);
    elementwise("neg", 1);
    elementwise("maximum", 2);
    elementwise("exp", 1);
    elementwise("tanh", 1);
    reduce("sum");
    reduce("amax");
    std::printf("\n");
    std::free(a), std::free(b), std::free(c);
  }
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{64, 10}, {64, 64}, {1024, 64}, {1024, 1000}}) {
    float *a = make(rows * cols), *c = make(rows + cols);
    void *ptrs[] = {c, a, nullptr};
    int64_t sizes[] = {cols}, colSizes[] = {rows, cols};
    double r = best([&] { packReduce(*lookupOp("sum"), DType::F32)(ptrs, sizes, nullptr, 0, rows); }, 0.15);
    double q = best([&] { packReduceCols(*lookupOp("sum"), DType::F32)(ptrs, colSizes, nullptr, 0, cols); }, 0.15);
    std::printf("sum of %ldx%ld: rows %.2f us %.1f GB/s, columns %.2f us %.1f GB/s\n", long(rows), long(cols), r * 1e6,
                4e-9 * double(rows * cols) / r, q * 1e6, 4e-9 * double(rows * cols) / q);
    std::free(a), std::free(c);
  }
}

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  setNumThreads(argc > 1 ? std::atoi(argv[1]) : 1);
  bool all = argc < 3;
  auto wanted = [&](const char *name) { return all || !std::strcmp(argv[2], name); };
  if (wanted("gemm"))
    benchGemm();
  if (wanted("conv"))
    benchConv();
  if (wanted("memory"))
    benchMemory();
}
