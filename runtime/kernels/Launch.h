// Launching a kernel of the pack over a range with the pool's threads.
#pragma once
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Kernel.h"

namespace torchc {

/// kernel(ptrs, sizesStrides, scalars, b, e) over pieces of [begin, end) of at least `grain`. Every piece gets the same
/// arguments; a kernel's result must not depend on the cut, which holds for all forms of the pack.
inline void launch(Kernel kernel, void **ptrs, const int64_t *sizesStrides, const void *scalars, int64_t begin,
                   int64_t end, int64_t grain = elementwiseGrain) {
  if (TORCHC_LIKELY(end - begin <= grain || threadState.inParallel)) {
    kernel(ptrs, sizesStrides, scalars, begin, end);
    return;
  }
  parallelFor(begin, end, grain, [=](int64_t b, int64_t e) { kernel(ptrs, sizesStrides, scalars, b, e); });
}

} // namespace torchc
