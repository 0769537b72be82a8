#include "runtime/cuda/Allocator.h"
#include "runtime/cuda/Cuda.h"
#include "runtime/cuda/Driver.h"
#include <algorithm>

namespace torchc::cuda {
namespace {

// PyTorch's sizes, so that its memory numbers are met: blocks are multiples of 512 bytes, those up to 1 MiB share segments of
// 2 MiB, those below 10 MiB segments of 20 MiB, larger ones have segments in steps of 2 MiB.
constexpr size_t unit = 512, smallLimit = size_t(1) << 20, smallSegment = size_t(2) << 20;
constexpr size_t largeLimit = size_t(10) << 20, largeSegment = size_t(20) << 20, step = size_t(2) << 20;

size_t roundUp(size_t n, size_t m) { return (n + m - 1) / m * m; }

size_t segmentBytes(size_t bytes) {
  return bytes <= smallLimit ? smallSegment : bytes < largeLimit ? largeSegment : roundUp(bytes, step);
}

} // namespace

void AllocatorStats::Count::add(int64_t n) {
  current += n;
  allocated += n;
  peak = std::max(peak, current);
}
void AllocatorStats::Count::remove(int64_t n) {
  current -= n;
  freed += n;
}

/// The stand-in driver checks accesses against what lives, not against segments.
void Allocator::note(const Block &b, bool lives) const {
  if (driver()->emulatorNote)
    driver()->emulatorNote(b.at, b.requested, lives, b.stream);
}

Allocator::Block *Allocator::find(size_t bytes, Handle stream, bool small) {
  Pool &p = free_[{stream, small}];
  Block key{0, bytes, 0, stream};
  auto it = p.lower_bound(&key);
  if (it == p.end())
    return nullptr;
  Block *b = *it;
  p.erase(it);
  return b;
}

Allocator::Block *Allocator::newSegment(size_t bytes, Handle stream, bool small) {
  size_t size = segmentBytes(bytes);
  Pointer at = 0;
  Result r = driver()->cuMemAlloc(&at, size);
  if (r == errorOutOfMemory) {
    ++counts.retries;
    settle(true);
    releaseSegments();
    r = driver()->cuMemAlloc(&at, size);
  }
  if (r != success) {
    if (r != errorOutOfMemory)
      check(r);
    return nullptr;
  }
  counts.segment.add(1);
  counts.reservedBytes.add(int64_t(size));
  if (driver()->emulatorNote) { // divides it: nothing in it lives yet
    driver()->emulatorNote(at, size, 0, stream);
  }
  return new Block{at, size, 0, stream, false, small};
}

/// The rest of a block becomes one of its own where another may use it.
void Allocator::cut(Block *b, size_t bytes) {
  size_t rest = b->bytes - bytes;
  if (b->isSmall ? rest < unit : rest <= smallLimit)
    return;
  auto *r = new Block{b->at + bytes, rest, 0, b->stream, false, b->isSmall};
  b->bytes = bytes;
  r->before = b;
  r->after = b->after;
  if (r->after)
    r->after->before = r;
  b->after = r;
  pool(*r).insert(r);
}

bool Allocator::allocate(size_t bytes, Handle stream, void **out) {
  *out = nullptr;
  if (!bytes)
    return true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!waiting.empty())
    settle(false);
  size_t size = roundUp(bytes, unit);
  bool small = size <= smallLimit;
  Block *b = find(size, stream, small);
  if (!b)
    b = newSegment(size, stream, small);
  if (!b) {
    ++counts.outOfMemory;
    return false;
  }
  cut(b, size);
  b->isLive = true;
  b->requested = bytes;
  live[b->at] = b;
  counts.allocation.add(1);
  counts.activeBytes.add(int64_t(b->bytes));
  counts.requestedBytes.add(int64_t(bytes));
  note(*b, true);
  *out = reinterpret_cast<void *>(b->at);
  return true;
}

void Allocator::record(void *p, Handle stream) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = live.find(Pointer(p));
  if (it != live.end() && it->second->stream != stream)
    it->second->others.insert(stream);
}

void Allocator::free(void *p) {
  if (!p)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  auto it = live.find(Pointer(p));
  if (it == live.end())
    return;
  Block *b = it->second;
  live.erase(it);
  counts.allocation.remove(1);
  counts.activeBytes.remove(int64_t(b->bytes));
  counts.requestedBytes.remove(int64_t(b->requested));
  for (Handle stream : b->others) {
    Handle event = nullptr;
    if (driver()->cuEventCreate(&event, eventDisableTiming) == success &&
        driver()->cuEventRecord(event, stream) == success)
      b->waits.push_back(event);
  }
  b->others.clear();
  if (b->waits.empty())
    release(b);
  else
    waiting.push_back(b);
}

Allocator::Block *Allocator::join(Block *into, Block *other) {
  pool(*other).erase(other);
  into->at = std::min(into->at, other->at);
  into->bytes += other->bytes;
  if (into->before == other)
    into->before = other->before;
  else
    into->after = other->after;
  if (into->before)
    into->before->after = into;
  if (into->after)
    into->after->before = into;
  delete other;
  return into;
}

void Allocator::release(Block *b) {
  note(*b, false);
  b->isLive = false;
  auto isFree = [](const Block *n) { return n && !n->isLive; };
  if (isFree(b->before))
    join(b, b->before);
  if (isFree(b->after))
    join(b, b->after);
  pool(*b).insert(b);
}

/// Blocks whose other streams are done with them become free.
void Allocator::settle(bool wait) {
  std::vector<Block *> still;
  for (Block *b : waiting) {
    while (!b->waits.empty()) {
      Handle event = b->waits.back();
      if (wait)
        driver()->cuEventSynchronize(event);
      else if (driver()->cuEventQuery(event) == errorNotReady)
        break;
      driver()->cuEventDestroy(event);
      b->waits.pop_back();
    }
    if (b->waits.empty())
      release(b);
    else
      still.push_back(b);
  }
  waiting.swap(still);
}

void Allocator::releaseSegments() {
  for (auto &[key, p] : free_)
    for (auto it = p.begin(); it != p.end();) {
      Block *b = *it;
      if (b->before || b->after) {
        ++it;
        continue;
      }
      it = p.erase(it);
      driver()->cuMemFree(b->at); // waits for the work that uses it
      counts.segment.remove(1);
      counts.reservedBytes.remove(int64_t(b->bytes));
      delete b;
    }
}

void Allocator::emptyCache() {
  std::lock_guard<std::mutex> lock(mutex);
  settle(true);
  releaseSegments();
}

AllocatorStats Allocator::stats() {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

void Allocator::resetPeak() {
  std::lock_guard<std::mutex> lock(mutex);
  for (AllocatorStats::Count *c :
       {&counts.allocation, &counts.segment, &counts.activeBytes, &counts.reservedBytes, &counts.requestedBytes})
    c->peak = c->current;
}

} // namespace torchc::cuda
