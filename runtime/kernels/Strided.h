// Strided data around the pack's contiguous kernels (E5): movers by item size, and the driver that gathers chunks of 512
// elements through L1, casts them where the kernel wants another type, and scatters the results.
#pragma once
#include "dialects/rules/DType.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Status.h"
#include "runtime/kernels/Kernel.h"
#include <cstdint>

namespace torchc {

/// dst[i * dstStride] = src[i * srcStride] for i < n; strides in items of itemSize = 1, 2, 4, 8 or 16 bytes. The two must
/// not overlap.
void moveItems(void *dst, int64_t dstStride, const void *src, int64_t srcStride, int64_t n, int itemSize);
/// dst contiguous.
inline void gatherItems(void *dst, const void *src, int64_t srcStride, int64_t n, int itemSize) {
  moveItems(dst, 1, src, srcStride, n, itemSize);
}
/// src contiguous.
inline void scatterItems(void *dst, int64_t dstStride, const void *src, int64_t n, int itemSize) {
  moveItems(dst, dstStride, src, 1, n, itemSize);
}

/// One operand of a strided loop.
struct StridedOperand {
  void *data; // first element; null: the kernel reads it from `scalars`
  const int64_t *strides; // `rank` of them, in elements; 0 where broadcast. Not read if data is null
  DType dtype; // in memory
  DType compute; // as the kernel takes or gives it; packCast converts if it differs
};

struct StridedLoop {
  Kernel kernel; // contiguous form of E5: ptrs = operands in order, status
  int numOutputs, numOperands; // outputs first, at most maxOperands in all
  int rank; // at most maxRank
  const int64_t *sizes;
  const StridedOperand *operands;
  const void *scalars = nullptr; // 8 bytes for each input
  /// The kernel with these inputs also from `scalars`, or null: for rows along which an input repeats one element.
  Kernel (*otherKernel)(const StridedLoop &, unsigned inputs) = nullptr;
  uint32_t op = 0; // what otherKernel needs to know
  unsigned mask = 0;
};

/// Runs an elementwise kernel over operands of any layout, with the pool's threads if there is enough to do. The order in
/// which elements are visited is free, so the kernel must not use its index. An output may share memory with an input
/// only element for element, outputs must not overlap themselves. A code goes to `status` (MissingKernel if packCast
/// lacks a pair).
void runStrided(const StridedLoop &loop, int32_t *status);

/// dst[...] = src[...], converted by N8/N6 where the types differ. The two must not overlap. Status as runStrided.
void copyStrided(int rank, const int64_t *sizes, void *dst, const int64_t *dstStrides, DType dstType, const void *src,
                 const int64_t *srcStrides, DType srcType, int32_t *status);

} // namespace torchc
