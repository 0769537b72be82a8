// CUDA's driver, opened at run time: libcuda.so.1, or the stand-in that TORCHC_PTX_EMULATOR names.
#pragma once
#include "runtime/cuda/Entries.h"
#include <string>

namespace torchc::cuda {

struct Driver {
#define TORCHC_POINTER(name, symbol, arguments) Result(*name) arguments = nullptr;
  TORCHC_CUDA_ENTRIES(TORCHC_POINTER)
  TORCHC_EMULATOR_ENTRIES(TORCHC_POINTER) // null with a real driver
#undef TORCHC_POINTER
  int devices = 0;
};

/// The driver, opened and initialised at the first call; null where there is none or no device.
const Driver *driver();
/// Why driver() is null; empty if it isn't.
const std::string &driverProblem();

/// "CUDA error: an illegal memory access was encountered" and, from the stand-in, what and where.
std::string errorText(Result r);

} // namespace torchc::cuda
