// One background thread owns the socket and the request in flight. The mutex guards the queue and the process handles, so
// that a fork (whose handler takes it) knows every descriptor there is; it is never held while anybody waits.
#include "frontends/jit/Helper.h"
#include "frontends/jit/HelperProtocol.h"
#include "frontends/jit/HelperSpawn.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace torchc::jit;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t readStep = 256 << 10; // memory is taken as bytes arrive, not as a length promises them

struct Request {
  uint64_t id = 0;
  std::vector<uint8_t> frame; // header and bytes
  HelperCallback done;
};

/// What is to be told once the lock is free: requests that ended, and records.
struct News {
  std::vector<std::pair<HelperCallback, HelperAnswer>> ended;
  std::vector<std::string> records;

  /// All of these keep the callback where it is if they throw.
  void end(HelperCallback &done, HelperAnswer answer) {
    ended.reserve(ended.size() + 1);
    ended.emplace_back(std::move(done), std::move(answer));
  }
  void fail(HelperCallback &done, const std::string &why) { end(done, {false, why, {}}); }
};

} // namespace

struct Helper::Impl {
  HelperOptions options;

  mutable std::mutex mutex;
  std::deque<Request> queue;
  bool busy = false; // `current` is in flight
  bool stopping = false, threadRuns = false, joining = false;
  std::string refusal; // why no helper is started any more
  int deaths = 0, numStarts = 0;
  uint64_t nextId = 1;
  pthread_t thread{};
  int wake = -1;
  SpawnedHelper process;

  // Only the background thread uses these.
  Request current;
  size_t sent = 0;
  Clock::time_point deadline, stoppedSince;
  bool seenStopped = false;
  std::vector<uint8_t> input;
  size_t inputUsed = 0;

  explicit Impl(HelperOptions given);
  ~Impl();
  bool startThread(std::string &why);
  static void *threadMain(void *self);
  void loop();
  bool turn(News &news);
  void outOfMemory(News &news);
  bool begin(News &news);
  void start(News &news);
  void step(News &news);
  void waitForEvents();
  std::string overdue();
  const char *exchange(News &news);
  const char *receive(News &news);
  const char *takeFrame(News &news, bool &took);
  const char *sendSome();
  void lose(const std::string &why, News &news);
  void failQueue(const std::string &why, News &news);
  void report(News &news);
  void forgetInChild();
  void wakeUp() const;

  // All helpers of the process, for the fork handlers; never destroyed.
  struct Registry {
    std::mutex mutex;
    std::vector<Impl *> all;
  };
  static Registry &registry();
  static void beforeFork();
  static void afterForkInParent();
  static void afterForkInChild();
};

//===-- Fork: the child has no thread and no right to the socket
//--------------------------------===//

Helper::Impl::Registry &Helper::Impl::registry() {
  static Registry *r = [] {
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    return new Registry();
  }();
  return *r;
}

void Helper::Impl::beforeFork() {
  registry().mutex.lock();
  for (Impl *h : registry().all)
    h->mutex.lock();
}

void Helper::Impl::afterForkInParent() {
  for (Impl *h : registry().all)
    h->mutex.unlock();
  registry().mutex.unlock();
}

void Helper::Impl::afterForkInChild() {
  for (Impl *h : registry().all)
    h->forgetInChild();
  afterForkInParent();
}

void Helper::Impl::forgetInChild() {
  if (wake >= 0)
    close(wake);
  wake = -1;
  process.forget();
  // The thread may have been anywhere in these, and what callbacks hold may be locked: they are
  // left alone for ever.
  new std::deque<Request>(std::move(queue));
  new (&queue) std::deque<Request>();
  new (&current) Request();
  new (&input) std::vector<uint8_t>();
  threadRuns = joining = busy = seenStopped = false;
  sent = inputUsed = 0;
  deaths = numStarts = 0;
  refusal.clear();
}

//===-- Life
//-----------------------------------------------------------------------------------===//

Helper::Impl::Impl(HelperOptions given) : options(std::move(given)) {
  // The helper starts in /, so the path must be absolute.
  if (char *path = realpath(options.executable.c_str(), nullptr)) {
    options.executable = path;
    free(path);
  }
  std::lock_guard lock(registry().mutex);
  registry().all.push_back(this);
}

Helper::Impl::~Impl() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().all, this);
}

Helper::Helper(HelperOptions options) : impl(std::make_unique<Impl>(std::move(options))) {}

Helper::~Helper() { shutdown(); }

void Helper::Impl::wakeUp() const {
  uint64_t one = 1;
  ssize_t written = write(wake, &one, sizeof one);
  (void)written; // the counter can only be full, and then the thread wakes anyway
}

bool Helper::Impl::startThread(std::string &why) {
  if (threadRuns)
    return true;
  wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    why = std::string("cannot make an eventfd: ") + std::strerror(errno);
    return false;
  }
  // Signals belong to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = pthread_create(&thread, nullptr, threadMain, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) {
    why = std::string("cannot start the helper's thread: ") + std::strerror(error);
    close(wake);
    wake = -1;
    return false;
  }
  threadRuns = true;
  return true;
}

void *Helper::Impl::threadMain(void *self) {
  pthread_setname_np(pthread_self(), "torchc-helper");
  static_cast<Impl *>(self)->loop();
  return nullptr;
}

void Helper::send(std::vector<uint8_t> request, HelperCallback done) {
  std::string why;
  if (request.size() > impl->options.maxFrame)
    why = "a request of " + std::to_string(request.size()) + " bytes is too large for the helper";
  if (why.empty()) {
    std::lock_guard lock(impl->mutex);
    if (impl->stopping) {
      why = "helper was shut down";
    } else if (impl->startThread(why)) {
      Request r{impl->nextId++, {}, std::move(done)};
      uint64_t header[2] = {request.size(), r.id};
      r.frame.reserve(frameHeaderBytes + request.size());
      auto *p = reinterpret_cast<const uint8_t *>(header);
      r.frame.assign(p, p + sizeof header);
      r.frame.insert(r.frame.end(), request.begin(), request.end());
      impl->queue.push_back(std::move(r));
      impl->wakeUp();
      return;
    }
  }
  done({false, why, {}});
}

HelperAnswer Helper::ask(std::vector<uint8_t> request) {
  std::mutex mutex;
  std::condition_variable ready;
  bool done = false;
  HelperAnswer answer;
  send(std::move(request), [&](HelperAnswer a) {
    std::lock_guard lock(mutex);
    answer = std::move(a);
    done = true;
    ready.notify_one();
  });
  std::unique_lock lock(mutex);
  ready.wait(lock, [&] { return done; });
  return answer;
}

void Helper::shutdown() {
  for (bool wait = false;; wait = true) {
    if (wait)
      std::this_thread::sleep_for(1ms);
    std::lock_guard lock(impl->mutex);
    impl->stopping = true;
    if (!impl->threadRuns)
      return;
    if (impl->joining) // another thread is at it
      continue;
    impl->joining = true;
    impl->wakeUp();
    break;
  }
  pthread_join(impl->thread, nullptr);
  std::lock_guard lock(impl->mutex);
  impl->threadRuns = impl->joining = false;
  close(impl->wake);
  impl->wake = -1;
}

std::optional<pid_t> Helper::pid() const {
  std::lock_guard lock(impl->mutex);
  return impl->process.running() ? std::optional(impl->process.pid) : std::nullopt;
}

size_t Helper::pending() const {
  std::lock_guard lock(impl->mutex);
  return impl->queue.size() + impl->busy;
}

int Helper::starts() const {
  std::lock_guard lock(impl->mutex);
  return impl->numStarts;
}

//===-- The background thread
//-------------------------------------------------------------------===//

void Helper::Impl::loop() {
  for (bool run = true; run;) {
    News news;
    try {
      run = turn(news);
    } catch (const std::exception &) {
      outOfMemory(news);
    }
    report(news);
  }
}

/// What the thread does between two looks at the queue; false: it is to end.
bool Helper::Impl::turn(News &news) {
  bool needsHelper = false;
  {
    std::lock_guard lock(mutex);
    if (stopping) {
      process.close();
      if (busy)
        news.fail(current.done, "helper was shut down");
      busy = false;
      failQueue("helper was shut down", news);
      return false;
    }
    needsHelper = begin(news);
  }
  if (needsHelper)
    start(news);
  else if (news.ended.empty())
    step(news);
  return true;
}

/// The request in flight fails; if there is no memory even for that, at its deadline.
void Helper::Impl::outOfMemory(News &news) {
  std::this_thread::sleep_for(1ms); // others may give some back
  std::lock_guard lock(mutex);
  try {
    lose("no memory for the helper's answer", news);
  } catch (const std::exception &) {
  }
}

/// Waits until something happens to the helper or the request, and sees to it.
void Helper::Impl::step(News &news) {
  waitForEvents();
  const char *trouble = process.running() ? exchange(news) : nullptr;
  std::string why = trouble ? trouble : overdue();
  if (why.empty())
    return;
  std::lock_guard lock(mutex);
  lose(why, news);
}

/// Takes the next request when none is in flight; true: a helper must be started for it first. The lock is held.
bool Helper::Impl::begin(News &news) {
  if (busy || queue.empty())
    return false;
  if (!refusal.empty()) {
    failQueue(refusal, news);
    return false;
  }
  if (!process.running())
    return true;
  current = std::move(queue.front());
  queue.pop_front();
  busy = true;
  seenStopped = false;
  sent = 0;
  deadline = Clock::now() + options.timeout;
  return false;
}

void Helper::Impl::start(News &news) {
  if (std::string why = options.unfit ? options.unfit() : ""; !why.empty()) {
    std::lock_guard lock(mutex);
    refusal = why;
    news.records.push_back(why);
    failQueue(why, news);
    return;
  }
  SpawnedHelper made;
  {
    std::lock_guard lock(mutex);
    ++numStarts;
    if (process.open())
      made = process;
    else
      made.error = process.error;
  }
  if (!made.error)
    spawnHelper(made, options.executable, 5 * options.patience);
  std::lock_guard lock(mutex);
  int error = made.error;
  if (!error) {
    process = made;
    process.closeTheirs();
    return;
  }
  std::string why = "cannot start helper '" + options.executable +
                    "': " + (error == ETIMEDOUT ? "it was stopped, or took too long" : std::strerror(error));
  failQueue(why, news);
  lose(why, news);
}

void Helper::Impl::waitForEvents() {
  pollfd fds[2] = {{wake, POLLIN, 0}, {process.socket, POLLIN, 0}};
  if (busy && sent < current.frame.size())
    fds[1].events |= POLLOUT;
  int timeout = -1;
  if (busy) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    timeout = int(std::clamp(left, 0ms, options.patience / 4 + 1ms).count());
  }
  poll(fds, process.running() ? 2 : 1, timeout);
  uint64_t count;
  ssize_t got = read(wake, &count, sizeof count);
  (void)got;
}

/// Why the helper isn't waited for any longer; "": it is.
std::string Helper::Impl::overdue() {
  if (!busy)
    return "";
  auto now = Clock::now();
  if (now >= deadline)
    return "helper timed out after " + std::to_string(options.timeout.count()) + " ms";
  bool stopped = process.stopped();
  if (stopped && !seenStopped)
    stoppedSince = now;
  seenStopped = stopped;
  if (stopped && now - stoppedSince >= options.patience)
    return "helper was stopped by a signal for " + std::to_string(options.patience.count()) + " ms";
  return "";
}

/// Reads and writes what is possible without waiting. Returns why the helper is lost, or null.
const char *Helper::Impl::exchange(News &news) {
  if (const char *trouble = receive(news))
    return trouble;
  return busy ? sendSome() : nullptr;
}

const char *Helper::Impl::receive(News &news) {
  for (;;) {
    input.resize(inputUsed + readStep);
    ssize_t got = recv(process.socket, input.data() + inputUsed, readStep, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return nullptr;
    if (got <= 0)
      return "helper died";
    inputUsed += size_t(got);
    for (bool took = true; took;)
      if (const char *trouble = takeFrame(news, took))
        return trouble;
  }
}

/// Takes one whole frame from the input when there is one.
const char *Helper::Impl::takeFrame(News &news, bool &took) {
  took = false;
  if (inputUsed < frameHeaderBytes)
    return nullptr;
  uint64_t header[2];
  std::memcpy(header, input.data(), sizeof header);
  if (!busy || sent < current.frame.size() || header[1] != current.id || header[0] > options.maxFrame)
    return "helper sent what isn't an answer";
  if (inputUsed - frameHeaderBytes < header[0])
    return nullptr;
  auto begin = input.begin() + frameHeaderBytes, end = begin + ptrdiff_t(header[0]);
  news.end(current.done, {true, {}, {begin, end}});
  std::memmove(input.data(), input.data() + frameHeaderBytes + header[0], inputUsed - frameHeaderBytes - header[0]);
  inputUsed -= frameHeaderBytes + header[0];
  current = Request();
  took = true;
  std::lock_guard lock(mutex);
  busy = false;
  deaths = 0;
  return nullptr;
}

const char *Helper::Impl::sendSome() {
  while (sent < current.frame.size()) {
    ssize_t n =
        ::send(process.socket, current.frame.data() + sent, current.frame.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno == EAGAIN || errno == EWOULDBLOCK ? nullptr : "helper died";
    sent += size_t(n);
  }
  return nullptr;
}

/// The helper is gone or of no use: its request fails, the others wait for the next helper. The
/// lock is held.
void Helper::Impl::lose(const std::string &why, News &news) {
  process.close(); // it has no state, so it is killed, maybe in the middle of a long compilation
  if (busy)
    news.fail(current.done, why);
  busy = false;
  current = Request();
  inputUsed = 0;
  input = {};
  news.records.push_back(why);
  if (++deaths < options.maxDeaths && numStarts < options.maxStarts)
    return;
  refusal = why + "; no helper is started any more (" + std::to_string(numStarts) + " were)";
  news.records.push_back(refusal);
  failQueue(refusal, news);
}

void Helper::Impl::failQueue(const std::string &why, News &news) {
  for (; !queue.empty(); queue.pop_front())
    news.fail(queue.front().done, why);
}

/// Whatever a callback throws, the thread and the program go on.
void Helper::Impl::report(News &news) {
  auto record = [&](const std::string &text) {
    try {
      if (options.records)
        options.records->add(RecordKind::Helper, {}, text);
    } catch (const std::exception &) { // no memory for it
    }
  };
  for (const std::string &text : news.records)
    record(text);
  for (auto &[done, answer] : news.ended)
    try {
      done(std::move(answer));
    } catch (...) {
      record("what waited for the helper's answer failed");
    }
}
