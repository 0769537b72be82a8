// Casts from and to the stored types: plain loops, or ways through a type that the pack casts.
#pragma once
#include "dialects/rules/DType.h"
#include "runtime/kernels/Kernel.h"

namespace torchc {

/// Fills in the pairs with a stored type; those of the compute types are there. Kernels as PackForm::Cast. By N6 and N8:
/// float8 types by way of float32, floats to uint64 saturate to [0, 2^64 - 1] (NaN to 0), to narrower ones as to the
/// signed type of that size.
void storedCasts(Kernel (&cast)[numDTypes][numDTypes]);

} // namespace torchc
