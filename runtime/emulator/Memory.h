// What an access of a kernel is checked against: blocks of device memory with their lifetimes, and who touched what in this
// launch.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace torchc::ptx {

/// The blocks a kernel may touch. A block of the driver may be divided into tensors, whose owner says when each lives:
/// then only those may be touched.
class Blocks {
public:
  void add(uint64_t at, uint64_t bytes) { blocks[at] = {bytes, {}, false}; }
  void remove(uint64_t at) { blocks.erase(at); }
  /// [at, at + bytes) of a block lives, or lives no longer; from the first such note on the block is divided.
  void note(uint64_t at, uint64_t bytes, bool lives);
  /// Why [at, at + bytes) may not be touched; null if it may.
  const char *refuse(uint64_t at, uint64_t bytes) const;

private:
  struct Block {
    uint64_t bytes;
    std::map<uint64_t, uint64_t> parts;
    bool divided;
  };
  std::map<uint64_t, Block> blocks;
};

/// Accesses since the launch, by first byte, in a table of open addresses. Two threads conflict when one writes and no barrier is
/// between.
class Races {
public:
  /// False: the access conflicts with another thread's. `group` is the thread block, `epoch` counts its barriers.
  bool access(uint64_t at, bool writes, uint32_t thread, uint32_t group, uint32_t epoch);
  void clear();

private:
  static constexpr uint32_t none = ~0u, many = ~0u - 1;
  struct Last {
    uint64_t at = ~uint64_t(0); // ~0: no entry
    uint32_t writer = none, writerGroup = 0, writerEpoch = 0;
    uint32_t reader = none, readerGroup = 0, readerEpoch = 0; // many: several threads
  };
  Last &entry(uint64_t at);

  std::vector<Last> table = std::vector<Last>(64);
  size_t used = 0;
};

} // namespace torchc::ptx
