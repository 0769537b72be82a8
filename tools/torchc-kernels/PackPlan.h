// Which kernels the pack has: walks the op table. Nothing here knows an op by name but the random integers,
// of which one draws two words.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/Diag.h"
#include "dialects/rules/OpInfo.h"
#include <functional>
#include <string>
#include <vector>

namespace torchc::pack {

struct PlannedKernel {
  uint64_t key;     // packKey of runtime/kernels/Pack.h
  std::string name; // symbol
  std::function<bool(lower::KernelBuilder &, llvm::StringRef name, Diag &)> emit;
};

/// Is there a kernel of this elementwise op for operands of type `t`?
bool takes(const OpInfo &info, DType t);

/// Every kernel of the pack for one ISA, sorted by key.
std::vector<PlannedKernel> planPack(const codegen::TargetInfo &target);

} // namespace torchc::pack
