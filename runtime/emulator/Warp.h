// The state of a launch, a thread block at a time: 32 threads in step, in registers of 32 lanes.
#pragma once
#include "runtime/emulator/Launch.h"
#include <bit>
#include <cstring>

namespace torchc::ptx {

inline constexpr int warpSize = 32;
/// Generic addresses of shared memory start here; no mapping of a process does.
inline constexpr uint64_t sharedWindow = uint64_t(1) << 56;

struct Warp {
  std::vector<uint64_t> registers; // [register][lane]
  uint32_t at[warpSize]; // next instruction
  uint32_t alive = 0, waiting = 0; // lanes
};

class Launch {
public:
  Launch(const Kernel &kernel, const Shape &shape, const void *const *parameters, const Blocks &blocks);
  Fault run();

private:
  void fillRegisters();
  void startBlock(const uint32_t (&at)[3]);
  void runWarp(uint32_t number);
  bool finishBlock();
  void fail(const Instruction &i, Fault::Kind kind, const std::string &what, uint32_t thread);
  /// The bytes of an access, checked; null after a fault.
  char *access(const Instruction &i, uint64_t address, uint32_t bytes, uint32_t thread, bool writes, bool atomic);
  void execute(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes);
  void memory(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes);
  void atomic(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes);
  void shuffle(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes);

  const Kernel &kernel;
  const Shape &shape;
  const Blocks &blocks;
  std::vector<char> parameters, shared;
  std::vector<Warp> warps;
  Races globalRaces, sharedRaces;
  uint32_t threads, group = 0, epoch = 0;
  Fault fault;
};

/// Arithmetic of one instruction on the lanes of `mask`. False: not an arithmetic one, or a type it has not.
bool arithmetic(const Instruction &i, uint64_t *registers, uint32_t mask);

template <class T> T fromBits(uint64_t bits) {
  T v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
template <class T> uint64_t toBits(T v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}

} // namespace torchc::ptx
