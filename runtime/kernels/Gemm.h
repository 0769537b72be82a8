// Matrix products by rule N3: blocking, packing and edges around the pack's strip kernels. Freestanding C++ (no
// libstdc++, no TLS, no exceptions), so that artefacts carry the same code.
#pragma once
#include "dialects/rules/DType.h"
#include "dialects/rules/Isa.h"
#include "runtime/kernels/Kernel.h"
#include <cstddef>
#include <cstdint>

namespace torchc {

/// k is cut into blocks of this many products (N3); it is also the best cache pass.
inline constexpr int64_t gemmBlock = 1024;

/// What the pack has for one type and ISA: PackForm::Gemm with aux = 0 strided A, 1 packed A, 2 one row, four panels,
/// 3 strided A that also packs B, 4 a transposition; arguments in compiler/lower/Gemm.h.
struct GemmKernels {
  Kernel strided, packed, wide, copy, turn;
  int64_t rows, columns; // of a register tile
};

/// C[m][n] = sum over k of A[m][k] * B[k][n], strides in elements; C's columns are contiguous. C must not overlap A or
/// B. f32 and f64 with FMA chains, integers wrapping. f16 and bf16 are converted by the caller (N6).
struct GemmCall {
  DType dtype;
  int64_t m, n, k;
  const void *a;
  int64_t aRow, aK;
  const void *b;
  int64_t bK, bColumn;
  void *c;
  int64_t cRow;
  bool start = false; // the chains of the first block of k start from what C holds, not from +0
};

/// The product number `batch` of torchc_gemm's arguments (below).
inline GemmCall gemmCallOf(DType t, void *const *ptrs, const int64_t *s, int64_t batch) {
  int64_t step = batch * itemSize(t);
  return {t,
          s[1],
          s[2],
          s[3],
          static_cast<const char *>(ptrs[1]) + s[4] * step,
          s[5],
          s[6],
          static_cast<const char *>(ptrs[2]) + s[7] * step,
          s[8],
          s[9],
          static_cast<char *>(ptrs[0]) + s[10] * step,
          s[11],
          s[12] != 0};
}

/// The kernels of the pack in use for `t`; `strided` is null if there are none.
GemmKernels gemmKernels(DType t);

/// Which kernels gemmRows calls for all rows of `call`, so that an artefact carries no other: bit 0 strided, 1 packed,
/// 2 wide, 3 copy, 4 turn.
unsigned gemmKernelsOf(const GemmKernels &kernels, const GemmCall &call);

/// Bytes of scratch memory (64-byte aligned) that gemmRows needs.
size_t gemmScratchBytes(const GemmKernels &kernels, const GemmCall &call);

/// Rows [begin, end) of C, on this thread. The result doesn't depend on how rows are cut. `scratch` of
/// gemmScratchBytes(call) bytes.
void gemmRows(const GemmKernels &kernels, const GemmCall &call, int64_t begin, int64_t end, void *scratch);

/// All of C with the pool's threads. False: no kernels for the type, or no memory.
bool gemm(const GemmCall &call);

} // namespace torchc

extern "C" {
/// The E5 form for compiled code: ptrs = {C, A, B, int32 status}; sizesStrides = {batch, M, N, K, A's strides (batch,
/// row, k), B's (batch, k, column), C's (batch, row)}; scalars = {dtype as u64}; [begin, end) over batches.
void torchc_gemm(void **ptrs, const int64_t *sizesStrides, const void *scalars, int64_t begin, int64_t end);
}
