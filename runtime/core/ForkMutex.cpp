#include "runtime/core/ForkMutex.h"
#include <pthread.h>

namespace torchc {
namespace {

constexpr int stripeBits = 5, kinds = int(LockOrder::Count);
std::mutex locks[kinds][1 << stripeBits]; // constant-initialised

template <class F> void each(F f) {
  for (auto &stripes : locks)
    for (std::mutex &m : stripes)
      f(m);
}

void lockAll() {
  each([](std::mutex &m) { m.lock(); });
}
void unlockAll() {
  each([](std::mutex &m) { m.unlock(); });
}

// When the library is loaded: a first use that races with a fork would come too late.
[[maybe_unused]] const int installed = pthread_atfork(lockAll, unlockAll, unlockAll);

} // namespace

ForkMutex::operator std::mutex &() const {
  uint64_t hash = uint64_t(reinterpret_cast<uintptr_t>(this)) * 0x9e3779b97f4a7c15u;
  return locks[int(order)][hash >> (64 - stripeBits)];
}

} // namespace torchc
