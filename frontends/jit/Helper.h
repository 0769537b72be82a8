// The program's side of the compile helper (rule J7): a process of its own that compiles in the
// background. Whatever happens to it, the program goes on: a request ends with an answer or with a
// reason why there is none.
#pragma once
#include "frontends/jit/Records.h"
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <sys/types.h>

namespace torchc::jit {

struct HelperOptions {
  std::string executable; // torchc-compiled
  /// Why the executable must not be started (again); empty: it may. Without one it may always.
  std::function<std::string()> unfit = {};
  /// A request may take this long once the helper has it; then the helper is killed.
  std::chrono::milliseconds timeout{120'000};
  /// A helper that a signal has stopped is killed after this long; one that doesn't start, after five times that.
  std::chrono::milliseconds patience{2'000};
  /// After so many deaths without an answer in between, no helper is started any more.
  int maxDeaths = 3;
  /// Helpers started by one process at most, however well they do in between.
  int maxStarts = 64;
  uint64_t maxFrame = uint64_t(1) << 30;
  Records *records = &Records::global();
};

struct HelperAnswer {
  bool ok = false;
  std::string error; // "helper died", "helper timed out after 120000 ms", ...
  std::vector<uint8_t> bytes;
};

/// Runs on the helper's background thread, with no lock held; it may call send(). What it throws is
/// recorded and goes no further.
using HelperCallback = std::function<void(HelperAnswer)>;

class Helper {
public:
  explicit Helper(HelperOptions options);
  /// Like shutdown().
  ~Helper();
  Helper(const Helper &) = delete;

  /// Queues a request and returns at once. The first one starts thread and helper. Requests are
  /// handed over one by one, so that a request which kills the helper takes no other with it.
  /// `done` is called exactly once, except in a forked child: it starts with no helper and no
  /// requests. If send() itself throws, there being no memory, it isn't called.
  void send(std::vector<uint8_t> request, HelperCallback done);

  /// Sends and waits. Not from a callback.
  HelperAnswer ask(std::vector<uint8_t> request);

  /// Ends the helper and the thread; what is pending fails with "helper was shut down", later
  /// requests too. Not from a callback; the caller must hold nothing that a callback waits for
  /// (such as Python's lock).
  void shutdown();

  /// Process id of the running helper, above 1.
  std::optional<pid_t> pid() const;
  size_t pending() const;
  int starts() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace torchc::jit
