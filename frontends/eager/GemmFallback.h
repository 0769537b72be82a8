// Products by plain loops in the order of N3 and N4: what serves while the pack has no kernels for a type. To be removed
// with GemmFallback.cpp once runtime/kernels covers `dot`, integers and f32/f64 matmul.
#pragma once
#include "dialects/rules/DType.h"
#include <cstdint>

namespace torchc {

/// As GemmCall of runtime/kernels/Gemm.h. False: no such type (f16 and bf16 are the caller's to convert).
struct PlainGemm {
  DType dtype;
  int64_t m, n, k;
  const void *a;
  int64_t aRow, aK;
  const void *b;
  int64_t bK, bColumn;
  void *c;
  int64_t cRow;
};
bool plainGemm(const PlainGemm &g);

/// out[0] = sum of a[i]*b[i]: N4 with acc = fma(a[i], b[i], acc) in each chain.
bool plainDot(DType dtype, void *out, const void *a, int64_t aStride, const void *b, int64_t bStride, int64_t n);

} // namespace torchc
