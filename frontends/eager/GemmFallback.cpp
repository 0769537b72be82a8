#include "frontends/eager/GemmFallback.h"
#include "runtime/device/ThreadPool.h"
#include <algorithm>
#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#define TORCHC_FMA __attribute__((target("avx2,fma")))
#else
#define TORCHC_FMA
#endif

namespace torchc {
namespace {

constexpr int64_t block = 1024;

template <class T> TORCHC_FMA inline T fmadd(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_fma(a, b, c);
  else {
    using U = std::make_unsigned_t<T>;
    return T(U(uint64_t(U(a)) * uint64_t(U(b)) + uint64_t(U(c))));
  }
}

/// One row of C; `acc` has room for a row.
template <class T> TORCHC_FMA void row(const PlainGemm &g, int64_t i, T *acc) {
  const T *a = static_cast<const T *>(g.a) + i * g.aRow, *b = static_cast<const T *>(g.b);
  T *c = static_cast<T *>(g.c) + i * g.cRow;
  std::fill(c, c + g.n, T(0));
  for (int64_t k0 = 0; k0 < g.k; k0 += block) {
    std::fill(acc, acc + g.n, T(0));
    for (int64_t k = k0; k < std::min(g.k, k0 + block); k++) {
      T x = a[k * g.aK];
      const T *bk = b + k * g.bK;
      if (g.bColumn == 1)
        for (int64_t j = 0; j < g.n; j++)
          acc[j] = fmadd(x, bk[j], acc[j]);
      else
        for (int64_t j = 0; j < g.n; j++)
          acc[j] = fmadd(x, bk[j * g.bColumn], acc[j]);
    }
    for (int64_t j = 0; j < g.n; j++)
      c[j] = k0 ? T(c[j] + acc[j]) : acc[j];
  }
}

template <class T> void rows(const PlainGemm &g) {
  parallelFor(0, g.m, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, g.n * g.k)), [&](int64_t begin, int64_t end) {
    std::vector<T> acc(size_t(std::max<int64_t>(g.n, 1)));
    for (int64_t i = begin; i < end; i++)
      row<T>(g, i, acc.data());
  });
}

template <class T> TORCHC_FMA T dotBlock(const T *a, int64_t as, const T *b, int64_t bs, int64_t n) {
  constexpr int chains = sizeof(T) == 8 ? 32 : 64;
  T c[chains] = {};
  for (int64_t i = 0; i < n; i++)
    c[i % chains] = fmadd(a[i * as], b[i * bs], c[i % chains]);
  for (int w = chains / 2; w; w /= 2)
    for (int i = 0; i < w; i++)
      c[i] = T(c[i] + c[i + w]);
  return c[0];
}

template <class T> void dot(void *out, const void *a, int64_t as, const void *b, int64_t bs, int64_t n) {
  auto *x = static_cast<const T *>(a);
  auto *y = static_cast<const T *>(b);
  std::vector<T> level;
  for (int64_t i = 0; i < n; i += block)
    level.push_back(dotBlock(x + i * as, as, y + i * bs, bs, std::min(block, n - i)));
  while (level.size() > 1) { // adjacent pairs; an odd last one moves up
    size_t half = level.size() / 2;
    for (size_t i = 0; i < half; i++)
      level[i] = T(level[2 * i] + level[2 * i + 1]);
    if (level.size() & 1)
      level[half++] = level.back();
    level.resize(half);
  }
  *static_cast<T *>(out) = level.empty() ? T(0) : level[0];
}

/// Calls f with a value of the C++ type of `t`.
template <class F> bool withType(DType t, F f) {
  switch (t) {
  case DType::F32: return f(float()), true;
  case DType::F64: return f(double()), true;
  case DType::I64: return f(int64_t()), true;
  case DType::I32: return f(int32_t()), true;
  case DType::I16: return f(int16_t()), true;
  case DType::I8: return f(int8_t()), true;
  case DType::U8: return f(uint8_t()), true;
  default: return false;
  }
}

} // namespace

bool plainGemm(const PlainGemm &g) {
  return withType(g.dtype, [&](auto zero) { rows<decltype(zero)>(g); });
}

bool plainDot(DType dtype, void *out, const void *a, int64_t aStride, const void *b, int64_t bStride, int64_t n) {
  return withType(dtype, [&](auto zero) { dot<decltype(zero)>(out, a, aStride, b, bStride, n); });
}

} // namespace torchc
