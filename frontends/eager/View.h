// Layout arithmetic of views.
#pragma once
#include "dialects/rules/Dims.h"

namespace torchc {

/// The strides that let a tensor of `sizes` and `strides` be seen as `shape` (equal numbers of elements) without copying;
/// false if there are none.
bool viewStrides(const Dims &sizes, const Dims &strides, const Dims &shape, Dims &out);

} // namespace torchc
