// Which kernels the cuda device has: walks the op table, as PackPlan does for the CPU.
#pragma once
#include "compiler/lower/device/DeviceBuilder.h"
#include "dialects/rules/Diag.h"
#include <functional>
#include <string>
#include <vector>

namespace torchc::pack {

struct DeviceKernel {
  uint64_t key; // deviceKey
  std::string name; // of the entry point
  std::function<bool(lower::DeviceBuilder &, llvm::StringRef name, Diag &)> emit;
};

/// Sorted by key.
std::vector<DeviceKernel> planDevice();

} // namespace torchc::pack
