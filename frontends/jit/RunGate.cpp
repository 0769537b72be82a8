#include "frontends/jit/RunGate.h"
#include <algorithm>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace torchc::jit {

BlockingCallback blockingCallback = nullptr;

void RunGate::enterSlow() {
  auto wait = [](void *self) {
    auto *gate = static_cast<RunGate *>(self);
    long pause = 1'000; // ns; a launch takes micro- to milliseconds
    for (const void *nobody = nullptr;
         !gate->owner.compare_exchange_strong(nobody, &threadState, std::memory_order_acquire); nobody = nullptr) {
      timespec t = {0, pause};
      nanosleep(&t, nullptr);
      pause = std::min(2 * pause, 1'000'000l);
    }
  };
  if (blockingCallback)
    blockingCallback(wait, this);
  else
    wait(this);
}

namespace {

struct List {
  std::mutex mutex;
  std::vector<std::shared_ptr<RunGate>> gates;
};

List &list() {
  static List *made = new List;
  return *made;
}

} // namespace

void ActiveRuns::add(const std::shared_ptr<RunGate> &gate) {
  // A child has this thread alone: what others were in the middle of can't be finished there.
  static bool atFork = [] {
    pthread_atfork([] { list().mutex.lock(); }, [] { list().mutex.unlock(); },
                   [] {
                     std::erase_if(list().gates, [](auto &g) {
                       const void *owner = g->owner.load();
                       return owner && owner != &threadState;
                     });
                     list().mutex.unlock();
                   });
    return true;
  }();
  (void)atFork;
  std::lock_guard<std::mutex> lock(list().mutex);
  list().gates.push_back(gate);
}

void ActiveRuns::remove(const Run *run) {
  std::lock_guard<std::mutex> lock(list().mutex);
  std::erase_if(list().gates, [&](auto &g) { return g->run == run; });
}

std::shared_ptr<RunGate> ActiveRuns::find(const Run *run) {
  std::lock_guard<std::mutex> lock(list().mutex);
  for (const auto &g : list().gates)
    if (g->run == run)
      return g;
  return nullptr;
}

} // namespace torchc::jit
