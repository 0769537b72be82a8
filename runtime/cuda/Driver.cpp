#include "runtime/cuda/Driver.h"
#include "runtime/core/knobs.h"
#include <dlfcn.h>

namespace torchc::cuda {
namespace {

struct Opened {
  Driver driver;
  std::string problem;
  Opened();
};

Opened::Opened() {
  const char *standIn = knobs().ptxEmulator;
  const char *path = standIn ? standIn : "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    problem = standIn
                  ? "TORCHC_PTX_EMULATOR=" + std::string(standIn) + " can't be opened: " + dlerror()
                  : "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
                    "driver from http://www.nvidia.com/Download/index.aspx";
    return;
  }
#define TORCHC_FIND(name, symbol, arguments)                                                                           \
  driver.name = reinterpret_cast<Result(*) arguments>(dlsym(library, #symbol));                                        \
  if (!driver.name && problem.empty())                                                                                 \
    problem = std::string(path) + " has no " #symbol;
  TORCHC_CUDA_ENTRIES(TORCHC_FIND)
#undef TORCHC_FIND
  if (!problem.empty())
    return;
#define TORCHC_FIND(name, symbol, arguments)                                                                           \
  driver.name = reinterpret_cast<Result(*) arguments>(dlsym(library, #symbol));
  TORCHC_EMULATOR_ENTRIES(TORCHC_FIND)
#undef TORCHC_FIND
  if (Result r = driver.cuInit(0))
    problem = "the CUDA driver can't be initialised: error " + std::to_string(r);
  else if (driver.cuDeviceGetCount(&driver.devices) || !driver.devices)
    problem = "No CUDA GPUs are available";
}

Opened &opened() {
  static auto *o = new Opened; // storages may outlive static destructors
  return *o;
}

} // namespace

const Driver *driver() { return opened().problem.empty() ? &opened().driver : nullptr; }
const std::string &driverProblem() { return opened().problem; }

std::string errorText(Result r) {
  const Driver *d = driver();
  const char *text = nullptr;
  if (!d || d->cuGetErrorString(r, &text) || !text)
    return "CUDA error: " + std::to_string(r);
  std::string s = "CUDA error: " + std::string(text);
  if (d->emulatorFault && !d->emulatorFault(&text) && *text)
    s += " (" + std::string(text) + ")";
  return s;
}

} // namespace torchc::cuda
