// The function that runs a plan.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "compiler/schedule/Plan.h"

namespace torchc::schedule {

/// Adds `name` (ABI of E5) to the builder's module: ptrs = results with memory of their own, arguments, int32 status,
/// arena (64-byte aligned, plan.arenaBytes). The status is 0 on entry; it returns at the first step that traps. With symbols,
/// sizesStrides are their sizes, and a call with end = 0 only writes the arena's bytes as int64 to ptrs[0].
void emitEntry(lower::KernelBuilder &b, llvm::StringRef name, const Plan &plan);

} // namespace torchc::schedule
