// The process's worker threads (E6): sized by cgroup and affinity, serial below the grain, nested-safe, fork-safe.
// Results never depend on how a range is cut (C2): whoever splits a sum does so on the block boundaries of N3 and N4.
#pragma once
#include "runtime/core/ThreadState.h"
#include <cstdint>
#include <type_traits>

namespace torchc {

/// Work on [begin, end). Must not throw.
using RangeFn = void (*)(void *context, int64_t begin, int64_t end);

/// Elements for each thread in one cheap pass over memory, about 15 us: waking a worker that sleeps costs as much.
inline constexpr int64_t elementwiseGrain = 65536;

namespace detail {
void parallelForSlow(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void *context);
}

/// Cuts [begin, end) into pieces of at least `grain` (>= 1) and runs fn on each, on this thread and the workers; returns
/// when all are done. Runs fn(begin, end) here if the range is short, inside another parallelFor, while another
/// thread has the pool, or with one thread. Empty ranges don't call fn.
inline void parallelFor(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void *context) {
  if (end - begin > grain && !threadState.inParallel)
    detail::parallelForSlow(begin, end, grain, fn, context);
  else if (begin < end)
    fn(context, begin, end);
}
/// The same for a callable: body(begin, end).
template <class F> void parallelFor(int64_t begin, int64_t end, int64_t grain, F &&body) {
  using Body = std::remove_reference_t<F>;
  parallelFor(
      begin, end, grain, [](void *c, int64_t b, int64_t e) { (*static_cast<Body *>(c))(b, e); },
      const_cast<void *>(static_cast<const void *>(&body)));
}

/// How many threads a parallelFor uses, the caller's included: set by setNumThreads, TORCHC_NUM_THREADS,
/// OMP_NUM_THREADS, or as many as cgroup and affinity allow.
int numThreads();
/// 1 <= n <= 1024. False: out of range, or called inside a parallelFor.
bool setNumThreads(int n);
inline bool inParallel() { return threadState.inParallel; }

/// The flush-denormal bits of this thread (0: off, the default), and setting them. Other bits of the floating-point
/// environment are left alone (N11).
uint32_t flushDenormals();
void setFlushDenormals(uint32_t bits);

} // namespace torchc

extern "C" {
/// parallelFor for compiled code.
void torchc_parallel_for(int64_t begin, int64_t end, int64_t grain, torchc::RangeFn fn, void *context);
}
