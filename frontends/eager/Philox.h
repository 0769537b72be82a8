// Uniform numbers of rule N9 until the kernel pack has them. To be removed with Philox.cpp then.
#pragma once
#include "dialects/rules/DType.h"
#include <cstdint>

namespace torchc {

/// out[i] in [0, 1) for i < n; false for types that aren't floating point.
bool philoxUniform(DType dtype, void *out, uint64_t seed, uint64_t ordinal, int64_t n);

} // namespace torchc
