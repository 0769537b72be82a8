// Kernels that are the same function.
#pragma once
#include "compiler/schedule/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace torchc::schedule {

/// Keeps the first of each set of equal kernels in `module`; the plan's steps name that one. A loop of a program that was
/// recorded unrolled has few different kernels, and each costs the back end's time.
void uniteKernels(mlir::ModuleOp module, Plan &plan);

} // namespace torchc::schedule
