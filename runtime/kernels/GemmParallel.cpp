// The part of gemm that knows the pack, the allocator and the pool.
#include "runtime/core/Status.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Gemm.h"
#include "runtime/kernels/Pack.h"

namespace torchc {

GemmKernels gemmKernels(DType t) {
  return {packGemm(t, 0),
          packGemm(t, 1),
          packGemm(t, 2),
          packGemm(t, 3),
          packGemm(t, 4),
          gemmTileRows,
          gemmTileBytes(packIsa()) / itemSize(t)};
}

namespace {

/// Multiplications for each thread, about 15 us: waking a worker that sleeps costs as much (measured), so that two threads are
/// as fast as one at the threshold and faster when they are awake.
constexpr int64_t multiplyGrain = 3 << 18;

/// Pieces per thread of a*b*c multiplications each.
int64_t grainOf(int64_t a, int64_t b, int64_t c) {
  int64_t work;
  bool counted = !__builtin_mul_overflow(a, b, &work) && !__builtin_mul_overflow(work, c, &work);
  return counted ? multiplyGrain / work + 1 : 1;
}

bool gemmPiece(const GemmKernels &ks, const GemmCall &g, int64_t begin, int64_t end) {
  size_t bytes = gemmScratchBytes(ks, g);
  int blockClass = 0;
  void *scratch = allocLarge(bytes < 1088 ? 1088 : bytes, blockClass);
  if (!scratch)
    return false;
  gemmRows(ks, g, begin, end, scratch);
  freeLarge(scratch, blockClass);
  return true;
}

/// Columns [first, last) of the product as a call of its own.
GemmCall columnsOf(const GemmCall &g, int64_t first, int64_t last) {
  GemmCall piece = g;
  int64_t size = itemSize(g.dtype);
  piece.n = last - first;
  piece.b = static_cast<const char *>(g.b) + first * g.bColumn * size;
  piece.c = static_cast<char *>(g.c) + first * size;
  return piece;
}

/// Matrix times vector as vector times transposed matrix: a tile has many columns, of which one would be of use. The
/// chains are the same, as fma(a, b, c) is fma(b, a, c).
GemmCall turned(const GemmCall &g) {
  bool worthIt = g.n == 1 && g.m > 1 && g.cRow == 1 && g.aRow > 0 && g.aK > 0;
  if (!worthIt)
    return g;
  return {g.dtype, 1, g.m, g.k, g.b, 0, g.bK, g.a, g.aK, g.aRow, g.c, g.m, g.start};
}

} // namespace

bool gemm(const GemmCall &asked) {
  GemmCall g = turned(asked);
  GemmKernels ks = gemmKernels(g.dtype);
  if (!ks.strided)
    return false;
  if (g.m == 0 || g.n == 0)
    return true;
  int64_t k = g.k < 1 ? 1 : g.k;
  bool ok = true;
  // Cutting columns repeats the packing of A, cutting rows that of B: the larger side is cut.
  if (g.n >= g.m) {
    int64_t panels = (g.n + ks.columns - 1) / ks.columns;
    int64_t grain = grainOf(g.m, k, ks.columns);
    parallelFor(0, panels, grain, [&](int64_t b, int64_t e) {
      int64_t last = e * ks.columns < g.n ? e * ks.columns : g.n;
      if (!gemmPiece(ks, columnsOf(g, b * ks.columns, last), 0, g.m))
        __atomic_store_n(&ok, false, __ATOMIC_RELAXED);
    });
    return ok;
  }
  int64_t strips = (g.m + ks.rows - 1) / ks.rows;
  int64_t grain = grainOf(g.n, k, ks.rows);
  parallelFor(0, strips, grain, [&](int64_t b, int64_t e) {
    int64_t last = e * ks.rows < g.m ? e * ks.rows : g.m;
    if (!gemmPiece(ks, g, b * ks.rows, last))
      __atomic_store_n(&ok, false, __ATOMIC_RELAXED);
  });
  return ok;
}

} // namespace torchc

extern "C" __attribute__((visibility("default"))) void torchc_gemm(void **ptrs, const int64_t *s, const void *scalars,
                                                                   int64_t begin, int64_t end) {
  using namespace torchc;
  DType t = DType(*static_cast<const uint64_t *>(scalars));
  for (int64_t i = begin; i < end; ++i)
    if (!gemm(gemmCallOf(t, ptrs, s, i)))
      raiseStatus(static_cast<int32_t *>(ptrs[3]),
                  gemmKernels(t).strided ? KernelStatus::NoMemory : KernelStatus::MissingKernel);
}
