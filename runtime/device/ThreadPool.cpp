#include "runtime/device/ThreadPool.h"
#include "runtime/core/knobs.h"
#include "runtime/device/Cgroup.h"
#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace torchc {
namespace {

constexpr int maxThreads = 1024;
constexpr int64_t spinNanoseconds = 50'000;
constexpr int chunksPerThread = 4; // uneven pieces and late workers even out

// The state word: bit 31 open, bits 0..11 workers inside, between them the job's number. A worker enters by raising the
// count while the job is open, so that the caller never waits for one that slept through the job.
constexpr uint32_t openBit = 1u << 31, insideMask = (1u << 12) - 1, jobStep = 1u << 12;
constexpr uint32_t jobMask = ~(openBit | insideMask);

struct Job {
  RangeFn fn;
  void *context;
  int64_t begin, end, step;
  int64_t chunks;
  uint32_t flushBits;
};

struct Pool {
  std::atomic<uint32_t> owner{0}; // 1: a caller has the pool
  std::atomic<uint32_t> state{0};
  std::atomic<int64_t> next{0}; // next chunk
  std::atomic<uint32_t> sleepers{0}; // workers in or about to be in futexWait(state)
  std::atomic<uint32_t> left{0}; // counts leaves of the last worker: the caller's futex
  std::atomic<uint32_t> waiting{0}; // the caller sleeps on `left`
  std::atomic<uint32_t> stop{0};
  std::atomic<int> wanted{0}; // threads, 0: not decided
  Job job{};
  std::vector<pthread_t> workers;
};
// Never destroyed: workers may be inside when the process ends. Replaced in a forked child.
Pool *pool = new Pool;

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futexWake(std::atomic<uint32_t> &word, int n) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, n, nullptr, nullptr, 0);
}
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}
int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
/// Spins until done() or 50 us have passed; true: done. It yields, because on a busy machine the thread it waits for may be
/// waiting for this very core.
template <class F> bool spin(F done) {
  int64_t start = now();
  do {
    for (int i = 0; i < 64; ++i) {
      if (done())
        return true;
      pause();
    }
    sched_yield();
  } while (now() - start < spinNanoseconds);
  return false;
}

void runChunks(Pool &p) {
  const Job &j = p.job;
  for (;;) {
    int64_t c = p.next.fetch_add(1, std::memory_order_relaxed);
    if (c >= j.chunks)
      return;
    int64_t b = j.begin + c * j.step;
    j.fn(j.context, b, c == j.chunks - 1 ? j.end : b + j.step);
  }
}

/// Enters the open job if there is one that isn't `seen`.
bool enter(Pool &p, uint32_t &seen) {
  uint32_t s = p.state.load(std::memory_order_acquire);
  while ((s & openBit) && (s & jobMask) != seen)
    if (p.state.compare_exchange_weak(s, s + 1, std::memory_order_acq_rel)) {
      seen = s & jobMask;
      return true;
    }
  return false;
}

void *workerMain(void *arg) {
  Pool &p = *static_cast<Pool *>(arg);
  threadState.inParallel = 1;
  uint32_t seen = ~0u, flushBits = flushDenormals();
  while (!p.stop.load(std::memory_order_acquire)) {
    if (enter(p, seen)) {
      if (p.job.flushBits != flushBits)
        setFlushDenormals(flushBits = p.job.flushBits);
      runChunks(p);
      // The last one out of a closed job wakes the caller.
      uint32_t before = p.state.fetch_sub(1, std::memory_order_seq_cst);
      if (!(before & openBit) && (before & insideMask) == 1) {
        p.left.fetch_add(1, std::memory_order_seq_cst);
        if (p.waiting.load(std::memory_order_seq_cst))
          futexWake(p.left, 1);
      }
    }
    auto news = [&] {
      uint32_t s = p.state.load(std::memory_order_relaxed);
      return ((s & openBit) && (s & jobMask) != seen) || p.stop.load(std::memory_order_relaxed);
    };
    if (spin(news))
      continue;
    p.sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t s = p.state.load(std::memory_order_seq_cst);
    if (!((s & openBit) && (s & jobMask) != seen) && !p.stop.load(std::memory_order_seq_cst))
      futexWait(p.state, s);
    p.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  return nullptr;
}

/// A forked child has none of the workers, and perhaps a job of another thread in the middle: it starts afresh.
void forkedChild() {
  int wanted = pool->wanted.load(std::memory_order_relaxed);
  if (auto *fresh = new (std::nothrow) Pool) { // the old one is left: a job of this thread may still look at it
    fresh->wanted = wanted;
    pool = fresh;
  }
}

bool lockPool(Pool &p) {
  uint32_t free = 0;
  return p.owner.compare_exchange_strong(free, 1, std::memory_order_acquire);
}
void unlockPool(Pool &p) { p.owner.store(0, std::memory_order_release); }

/// The state word of the next job, still closed. Nobody is inside, only the owner changes the word now.
uint32_t nextJob(Pool &p) { return (p.state.load(std::memory_order_relaxed) + jobStep) & jobMask; }

/// Starts missing workers; the owner calls. Fewer than wanted is no error.
void startWorkers(Pool &p, int threads) {
  static const int atfork = pthread_atfork(nullptr, nullptr, forkedChild);
  (void)atfork;
  if (int(p.workers.size()) >= threads - 1)
    return;
  // Signals belong to the program's own threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (int(p.workers.size()) < threads - 1) {
    pthread_t t;
    if (pthread_create(&t, nullptr, workerMain, &p))
      break;
    pthread_setname_np(t, "torchc-worker");
    p.workers.push_back(t);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void stopWorkers(Pool &p) {
  p.stop.store(1, std::memory_order_seq_cst);
  // A worker between its check and its wait would miss the wake: the changed state word lets its wait return.
  p.state.store(nextJob(p), std::memory_order_seq_cst);
  futexWake(p.state, INT_MAX);
  for (pthread_t t : p.workers)
    pthread_join(t, nullptr);
  p.workers.clear();
  p.stop.store(0, std::memory_order_release);
}

/// Shuts the job and waits for the workers inside.
void closeJob(Pool &p) {
  p.state.fetch_and(~openBit, std::memory_order_seq_cst);
  auto empty = [&] { return !(p.state.load(std::memory_order_acquire) & insideMask); };
  if (empty() || spin(empty))
    return;
  p.waiting.store(1, std::memory_order_seq_cst);
  for (;;) {
    uint32_t l = p.left.load(std::memory_order_seq_cst);
    if (empty())
      break;
    futexWait(p.left, l);
  }
  p.waiting.store(0, std::memory_order_relaxed);
}

} // namespace

void detail::parallelForSlow(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void *context) {
  Pool &p = *pool;
  int threads = numThreads();
  int64_t n = end - begin, most = n / std::max<int64_t>(grain, 1);
  if (threads < 2 || most < 2 || !lockPool(p))
    return fn(context, begin, end);
  startWorkers(p, threads);
  int64_t chunks = std::min<int64_t>(most, int64_t(threads) * chunksPerThread);
  int64_t step = (n + chunks - 1) / chunks;
  p.job = {fn, context, begin, end, step, (n + step - 1) / step, flushDenormals()};
  p.next.store(0, std::memory_order_relaxed);
  p.state.store(nextJob(p) | openBit, std::memory_order_seq_cst);
  if (uint32_t asleep = p.sleepers.load(std::memory_order_seq_cst))
    futexWake(p.state, int(std::min<int64_t>(asleep, p.job.chunks - 1)));
  threadState.inParallel = 1;
  runChunks(p);
  threadState.inParallel = 0;
  closeJob(p);
  unlockPool(p);
}

int numThreads() {
  Pool &p = *pool;
  int n = p.wanted.load(std::memory_order_relaxed);
  if (TORCHC_UNLIKELY(!n)) {
    n = knobs().numThreads ? knobs().numThreads : availableCpus();
    p.wanted.store(n, std::memory_order_relaxed);
  }
  return n;
}

bool setNumThreads(int n) {
  if (n < 1 || n > maxThreads || threadState.inParallel)
    return false;
  Pool &p = *pool;
  while (!lockPool(p)) // another thread's parallelFor ends soon
    pause();
  if (n != numThreads())
    stopWorkers(p);
  p.wanted.store(n, std::memory_order_relaxed);
  unlockPool(p);
  return true;
}

#if defined(__x86_64__)
static constexpr uint32_t flushMask = 0x8040; // flush to zero, denormals are zero
uint32_t flushDenormals() { return _mm_getcsr() & flushMask; }
void setFlushDenormals(uint32_t bits) { _mm_setcsr((_mm_getcsr() & ~flushMask) | (bits & flushMask)); }
#elif defined(__aarch64__)
static constexpr uint64_t flushMask = 1u << 24; // FPCR.FZ
static uint64_t fpcr() {
  uint64_t v;
  asm volatile("mrs %0, fpcr" : "=r"(v));
  return v;
}
uint32_t flushDenormals() { return uint32_t(fpcr() & flushMask); }
void setFlushDenormals(uint32_t bits) {
  uint64_t v = (fpcr() & ~flushMask) | (bits & flushMask);
  asm volatile("msr fpcr, %0" ::"r"(v));
}
#endif

} // namespace torchc

void torchc_parallel_for(int64_t begin, int64_t end, int64_t grain, torchc::RangeFn fn, void *context) {
  torchc::parallelFor(begin, end, grain, fn, context);
}
