// Runs as other threads meet them. A run belongs to the thread that calls the function; another one that needs a value
// which the run defers goes through the gate and has it computed.
#pragma once
#include "runtime/core/ThreadState.h"
#include <atomic>
#include <memory>

namespace torchc::jit {

class Run;

/// Runs wait(context) where it can't hold up others: the binding lets Python's lock go meanwhile. Null: just runs it.
using BlockingCallback = void (*)(void (*wait)(void *), void *context);
extern BlockingCallback blockingCallback;

/// One thread at a time; entering again from the same thread is free. Uncontended one exchange.
class RunGate {
public:
  explicit RunGate(Run *run) : run(run) {}
  /// False: this thread was inside already.
  bool enter() {
    const void *nobody = nullptr;
    if (TORCHC_LIKELY(owner.compare_exchange_strong(nobody, &threadState, std::memory_order_acquire)))
      return true;
    if (nobody == &threadState)
      return false;
    enterSlow();
    return true;
  }
  void leave() { owner.store(nullptr, std::memory_order_release); }

  Run *run; // null once it has ended; read and written inside

private:
  friend class ActiveRuns;
  void enterSlow();
  std::atomic<const void *> owner{nullptr};
};

class InsideGate {
public:
  explicit InsideGate(RunGate &gate) : gate(gate), entered(gate.enter()) {}
  ~InsideGate() {
    if (entered)
      gate.leave();
  }
  InsideGate(const InsideGate &) = delete;

private:
  RunGate &gate;
  bool entered;
};

/// The gates of all runs of the process; what a forked child inherits of other threads' runs is gone there.
class ActiveRuns {
public:
  static void add(const std::shared_ptr<RunGate> &gate);
  static void remove(const Run *run);
  /// By the word that its deferred storages carry. Null: that run has ended.
  static std::shared_ptr<RunGate> find(const Run *run);
};

} // namespace torchc::jit
