// Running one kernel over a grid.
#pragma once
#include "runtime/emulator/Memory.h"
#include "runtime/emulator/Ptx.h"

namespace torchc::ptx {

struct Fault {
  enum Kind { None, Address, Misaligned, Race, Divergence, Unsupported } kind = None;
  std::string text; // "out of bounds: kernel add, line 12, address 0x..., 4 bytes, block 0 thread 3"
};

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
};

/// Runs `kernel`; `parameters` points to each parameter's value. Addresses of global memory are those of this process.
/// The first fault ends the launch.
Fault launch(const Kernel &kernel, const Shape &shape, const void *const *parameters, const Blocks &blocks);

} // namespace torchc::ptx
