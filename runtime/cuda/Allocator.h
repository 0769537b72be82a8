// The caching allocator of a cuda device, in order with streams: a freed block is kept, and given again to the stream it was
// freed on without waiting for anything. Blocks are cut from segments of the driver, and joined again.
#pragma once
#include "runtime/cuda/Entries.h"
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace torchc::cuda {

/// PyTorch's numbers: `allocated` counts rounded blocks, `requested` what was asked for.
struct AllocatorStats {
  struct Count {
    int64_t current = 0, peak = 0, allocated = 0, freed = 0;
    void add(int64_t n);
    void remove(int64_t n);
  };
  Count allocation, segment, activeBytes, reservedBytes, requestedBytes;
  int64_t retries = 0; // emptied the cache and asked again
  int64_t outOfMemory = 0;
};

class Allocator {
public:
  /// A block for work on `stream`; 0 bytes give null. False: the device has no more, with the cache emptied too.
  bool allocate(size_t bytes, Handle stream, void **out);
  void free(void *p);
  /// `stream` uses the block too: it isn't given again before what is queued there now is done.
  void record(void *p, Handle stream);
  /// Gives segments without a live block back to the driver.
  void emptyCache();
  AllocatorStats stats();
  void resetPeak();

private:
  struct Block {
    Pointer at;
    size_t bytes, requested = 0;
    Handle stream;
    bool isLive = false, isSmall = false;
    Block *before = nullptr, *after = nullptr; // neighbours in the segment
    std::set<Handle> others = {}; // streams of record()
    std::vector<Handle> waits = {}; // events before it is free
  };
  struct ByBytes {
    bool operator()(const Block *a, const Block *b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->at < b->at;
    }
  };
  using Pool = std::set<Block *, ByBytes>;

  Pool &pool(const Block &b) { return free_[{b.stream, b.isSmall}]; }
  Block *find(size_t bytes, Handle stream, bool small);
  Block *newSegment(size_t bytes, Handle stream, bool small);
  void cut(Block *b, size_t bytes);
  void release(Block *b);
  Block *join(Block *into, Block *other);
  void settle(bool wait);
  void releaseSegments();
  void note(const Block &b, bool lives) const;

  std::mutex mutex;
  std::map<std::pair<Handle, bool>, Pool> free_;
  std::unordered_map<Pointer, Block *> live;
  std::vector<Block *> waiting;
  AllocatorStats counts;
};

} // namespace torchc::cuda
