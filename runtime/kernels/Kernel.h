// The one kernel ABI of pack, JIT and AOT (E5).
#pragma once
#include <cstdint>

namespace torchc {

/// ptrs = outputs, inputs, int32 status word; sizesStrides = sizes outermost first, then strides per pointer in
/// elements; [begin, end) is over the outermost dim, in the contiguous form over elements.
using Kernel = void (*)(void **ptrs, const int64_t *sizesStrides, const void *scalars, int64_t begin, int64_t end);

} // namespace torchc
