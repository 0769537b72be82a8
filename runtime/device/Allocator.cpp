#include "runtime/device/Allocator.h"
#include "runtime/core/ForkMutex.h"
#include "runtime/device/Cgroup.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

namespace torchc {
namespace {

constexpr int firstLarge = numSmallClasses;
constexpr int numClasses = firstLarge + 4 * 38; // four per doubling from 1 KiB to 2^48
constexpr size_t slabBytes = 64 << 10;
constexpr size_t sharedFrom = 1 << 20;    // blocks from here on aren't kept by threads
constexpr size_t hugeFrom = 4 << 20;      // and from here on lie on huge pages
constexpr size_t hugePage = 2 << 20;
constexpr uint32_t batch = detail::smallListLimit / 2;

struct Central {
  ForkMutex mutex{LockOrder::Allocator};
  FreeList lists[numClasses];
};
Central central; // constant-initialised, trivially usable before and after all else
std::atomic<int64_t> allocated{0}, peak{0}, reserved{0}, allocations{0};

} // namespace

struct AllocatorCache {
  FreeList large[numClasses];
};

namespace {

constexpr size_t classBytes(int c) {
  if (c < firstLarge)
    return size_t(c) * 64;
  int k = c - firstLarge;
  return (size_t(1024) << (k / 4)) / 4 * size_t(5 + k % 4);
}
static_assert(classBytes(firstLarge) == 1280 && classBytes(firstLarge + 3) == 2048);

void *pop(FreeList &f) {
  void *p = f.head;
  if (p) {
    f.head = *static_cast<void **>(p);
    --f.count;
  }
  return p;
}
void push(FreeList &f, void *p) {
  *static_cast<void **>(p) = f.head;
  f.head = p;
  ++f.count;
}

/// Moves the first `n` blocks of a thread's list to the shared one.
void spill(FreeList &f, int c, uint32_t n) {
  if (!n)
    return;
  void *first = f.head, *last = first;
  for (uint32_t i = 1; i < n; ++i)
    last = *static_cast<void **>(last);
  f.head = *static_cast<void **>(last);
  f.count -= n;
  std::lock_guard<std::mutex> lock(central.mutex);
  *static_cast<void **>(last) = central.lists[c].head;
  central.lists[c].head = first;
  central.lists[c].count += n;
}

void threadExit(void *) {
  ThreadState &t = threadState;
  detail::foldStats();
  for (int c = 1; c < numSmallClasses; ++c)
    spill(t.small[c], c, t.small[c].count);
  if (!t.cache)
    return;
  for (int c = firstLarge; c < numClasses; ++c)
    spill(t.cache->large[c], c, t.cache->large[c].count);
  std::free(t.cache);
  t.cache = nullptr;
}

pthread_key_t exitKey() {
  static pthread_key_t key = [] {
    pthread_key_t k;
    pthread_key_create(&k, threadExit);
    return k;
  }();
  return key;
}

/// The thread's lists of large classes; null: no memory. The first call arranges for the thread's end.
AllocatorCache *cache() {
  ThreadState &t = threadState;
  if (TORCHC_UNLIKELY(!t.cache)) {
    t.cache = static_cast<AllocatorCache *>(std::calloc(1, sizeof(AllocatorCache)));
    if (t.cache)
      pthread_setspecific(exitKey(), t.cache);
  }
  return t.cache;
}

uint32_t threadLimit(size_t bytes) { return bytes <= 64 << 10 ? 16 : bytes <= 256 << 10 ? 4 : 2; }

/// Frees what is cached until `wanted` bytes went back to the system.
void trim(size_t wanted) {
  size_t got = 0;
  auto drain = [&](FreeList &f, int c) {
    while (got < wanted) {
      void *p = pop(f);
      if (!p)
        return;
      std::free(p);
      got += classBytes(c);
    }
  };
  if (AllocatorCache *own = threadState.cache)
    for (int c = numClasses; c-- > firstLarge;)
      drain(own->large[c], c);
  {
    std::lock_guard<std::mutex> lock(central.mutex);
    for (int c = numClasses; c-- > firstLarge;)
      drain(central.lists[c], c);
  }
  reserved.fetch_sub(int64_t(got), std::memory_order_relaxed);
}

void *systemAlloc(size_t bytes) {
  int64_t limit = memoryLimit();
  int64_t now = reserved.load(std::memory_order_relaxed);
  if (int64_t(bytes) > limit)
    return nullptr;
  // Cached blocks of other sizes mustn't drive the process into its limit.
  if (bytes >= sharedFrom && now + int64_t(bytes) > limit / 4 * 3)
    trim(bytes);
  size_t align = bytes >= hugeFrom ? hugePage : 64;
  size_t rounded = (bytes + align - 1) & ~(align - 1);
  void *p = std::aligned_alloc(align, rounded);
  if (!p) {
    trim(SIZE_MAX);
    if (p = std::aligned_alloc(align, rounded); !p)
      return nullptr;
  }
  if (bytes >= hugeFrom)
    madvise(p, rounded, MADV_HUGEPAGE); // a hint: failure changes nothing
  reserved.fetch_add(int64_t(bytes), std::memory_order_relaxed);
  return p;
}

} // namespace

void *detail::refillSmall(int c) {
  if (!cache())
    return nullptr;
  FreeList &f = threadState.small[c];
  {
    std::lock_guard<std::mutex> lock(central.mutex);
    FreeList &from = central.lists[c];
    for (uint32_t i = 0; i < batch && from.head; ++i)
      push(f, pop(from));
  }
  if (!f.head) {
    auto *slab = static_cast<char *>(std::aligned_alloc(4096, slabBytes));
    if (!slab)
      return nullptr;
    reserved.fetch_add(int64_t(slabBytes), std::memory_order_relaxed);
    size_t b = classBytes(c), n = std::min(slabBytes / b, size_t(smallListLimit));
    for (size_t i = n; i--;)
      push(f, slab + i * b);
  }
  return pop(f);
}

void detail::spillSmall(int c) {
  cache();
  spill(threadState.small[c], c, batch);
}

int largeClass(size_t bytes) {
  int e = 63 - std::countl_zero(bytes - 1);
  return firstLarge + (e - 10) * 4 + int(((bytes - 1) >> (e - 2)) & 3);
}

void *allocLarge(size_t bytes, int &blockClass, bool exact) {
  if (bytes > size_t(maxAllocation) + 64)
    return nullptr;
  int c = blockClass = largeClass(bytes);
  size_t size = classBytes(c);
  // Programs whose sizes vary would keep a block for each: large ones also serve for up to three classes less.
  int last = exact || size < sharedFrom ? c : std::min(c + 3, numClasses - 1);
  if (size < sharedFrom) {
    AllocatorCache *own = cache();
    if (!own)
      return nullptr;
    if (void *p = pop(own->large[c]))
      return p;
  }
  {
    std::lock_guard<std::mutex> lock(central.mutex);
    for (int from = c; from <= last; from++)
      if (void *p = pop(central.lists[from])) {
        blockClass = from;
        return p;
      }
  }
  return systemAlloc(size);
}

void freeLarge(void *p, int c) {
  size_t size = classBytes(c);
  AllocatorCache *own = size < sharedFrom ? cache() : nullptr;
  if (own) {
    FreeList &f = own->large[c];
    push(f, p);
    if (TORCHC_UNLIKELY(f.count > threadLimit(size)))
      spill(f, c, f.count / 2 + 1);
    return;
  }
  std::lock_guard<std::mutex> lock(central.mutex);
  push(central.lists[c], p);
}

void detail::foldStats() {
  ThreadState &t = threadState;
  int64_t bytes = t.foldBytes;
  t.foldBytes = 0;
  allocations.fetch_add(t.foldCount, std::memory_order_relaxed);
  t.foldCount = 0;
  int64_t now = allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t top = peak.load(std::memory_order_relaxed);
  while (now > top && !peak.compare_exchange_weak(top, now, std::memory_order_relaxed))
    ;
}

MemoryStats memoryStats() {
  detail::foldStats();
  return {allocated.load(), peak.load(), reserved.load(), allocations.load()};
}

void resetPeakMemory() {
  detail::foldStats();
  peak.store(allocated.load());
}

void emptyCache() { trim(SIZE_MAX); }

int64_t memoryLimit() {
  static const int64_t limit = [] {
    struct sysinfo info;
    int64_t total = int64_t(1) << 46;
    if (!sysinfo(&info))
      total = int64_t((uint64_t(info.totalram) + info.totalswap) * info.mem_unit);
    int64_t group = cgroupMemoryLimit();
    return group > 0 && group < total ? group : total;
  }();
  return limit;
}

} // namespace torchc
