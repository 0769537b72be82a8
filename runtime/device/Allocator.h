// The CPU's block allocator: 64-byte aligned size classes. Blocks up to 1 KiB come from thread-local lists in line
// (alloc and free about 1 ns together), up to 1 MiB from thread-local lists out of line, larger ones from one shared
// list. Freed memory is kept, large blocks too: a first touch costs 2.5 us a page.
#pragma once
#include "runtime/core/ThreadState.h"
#include <cstddef>
#include <cstdint>

namespace torchc {

/// Requests above this are refused at once.
inline constexpr int64_t maxAllocation = int64_t(1) << 46;

namespace detail {
void *refillSmall(int blockClass); // a block, taken off its list; null: no memory
void spillSmall(int blockClass);
void foldStats();
inline constexpr int64_t foldLimit = 64 << 10;
inline constexpr uint32_t smallListLimit = 512;
} // namespace detail

/// A block of 64 * blockClass bytes, 1 <= blockClass <= 16. Null: no memory.
inline void *allocSmall(int blockClass) {
  FreeList &f = threadState.small[blockClass];
  void *p = f.head;
  if (TORCHC_UNLIKELY(!p))
    return detail::refillSmall(blockClass);
  f.head = *static_cast<void **>(p);
  --f.count;
  return p;
}
/// Gives back a block of allocSmall, on any thread.
inline void freeSmall(void *p, int blockClass) {
  FreeList &f = threadState.small[blockClass];
  *static_cast<void **>(p) = f.head;
  f.head = p;
  if (TORCHC_UNLIKELY(++f.count > detail::smallListLimit))
    detail::spillSmall(blockClass);
}

/// A block of at least `bytes` > 1024 bytes; its class goes to `blockClass`. Null: the machine can't give as much. `exact`:
/// of largeClass(bytes), for who frees it by its size.
void *allocLarge(size_t bytes, int &blockClass, bool exact = false);
void freeLarge(void *p, int blockClass);
/// The class that allocLarge(bytes) uses, bytes > 1024.
int largeClass(size_t bytes);

/// Statistics count tensor data, not headers and rounding. They are kept per thread and added up every 64 KiB, so that
/// other threads' shares may be off by that much; the calling thread's are exact.
inline void countAlloc(int64_t bytes) {
  ThreadState &t = threadState;
  ++t.foldCount;
  t.foldBytes += bytes;
  if (TORCHC_UNLIKELY(uint64_t(t.foldBytes + detail::foldLimit) > 2 * detail::foldLimit))
    detail::foldStats();
}
inline void countFree(int64_t bytes) {
  ThreadState &t = threadState;
  t.foldBytes -= bytes;
  if (TORCHC_UNLIKELY(uint64_t(t.foldBytes + detail::foldLimit) > 2 * detail::foldLimit))
    detail::foldStats();
}

struct MemoryStats {
  int64_t allocated; // bytes in live storages
  int64_t peak; // the most that was, since the start or resetPeakMemory()
  int64_t reserved; // bytes taken from the system and not given back
  int64_t allocations; // how many storages were made
};
MemoryStats memoryStats();
void resetPeakMemory();
/// Gives cached blocks of more than 1 KiB back to the system: the calling thread's and the shared ones.
void emptyCache();
/// Bytes that the machine can give in all: memory and swap, or the cgroup's limit if that is less.
int64_t memoryLimit();

} // namespace torchc
