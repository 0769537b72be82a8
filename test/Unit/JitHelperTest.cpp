// The compile helper's client in good times and bad, against a fake helper.
#include "frontends/jit/Helper.h"
#include "frontends/jit/HelperProtocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace torchc;
using namespace torchc::jit;
using testing::HasSubstr;
using namespace std::chrono_literals;

static std::atomic<int64_t> clockSetBack{0}; // seconds

// In place of the C library's: a clock that somebody sets.
extern "C" int clock_gettime(clockid_t id, timespec *t) noexcept {
  int result = int(syscall(SYS_clock_gettime, id, t));
  if (!result && id == CLOCK_REALTIME)
    t->tv_sec -= clockSetBack;
  return result;
}

namespace {

struct HelperTest : testing::Test {
  Records records;
  HelperOptions options() {
    HelperOptions o;
    o.executable = FAKE_HELPER;
    o.timeout = 20s;
    o.records = &records;
    return o;
  }
};

std::vector<uint8_t> bytes(std::string_view s) { return {s.begin(), s.end()}; }
/// The answer's text, or "!" and the error.
std::string ask(Helper &h, std::string_view request) {
  HelperAnswer a = h.ask(bytes(request));
  return a.ok ? std::string(a.bytes.begin(), a.bytes.end()) : "!" + a.error;
}

TEST_F(HelperTest, StartsOnFirstUse) {
  Helper h(options());
  EXPECT_FALSE(h.pid());
  EXPECT_EQ(ask(h, "echo hello"), "hello");
  EXPECT_GT(h.pid().value_or(-1), 1);
  EXPECT_EQ(ask(h, "echo "), "");
  EXPECT_EQ(h.starts(), 1);
  EXPECT_EQ(records.all().size(), 0u);
}

TEST_F(HelperTest, LargeFramesBothWays) {
  Helper h(options());
  std::string big(20 << 20, 'y');
  EXPECT_EQ(ask(h, "echo " + big), big);
  EXPECT_EQ(ask(h, "big 30000000").size(), 30000000u);
}

TEST_F(HelperTest, AnswersInOrderFromManyThreads) {
  Helper h(options());
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        std::string text = std::to_string(t * 1000 + i);
        right += ask(h, "echo " + text) == text;
      }
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(right, 800);
  EXPECT_EQ(h.starts(), 1);
}

TEST_F(HelperTest, SendReturnsAtOnceAndCallbacksMaySend) {
  Helper h(options());
  std::atomic<bool> done{false};
  auto start = std::chrono::steady_clock::now();
  h.send(bytes("slow 200"), [&](HelperAnswer) { h.send(bytes("echo x"), [&](HelperAnswer a) { done = a.ok; }); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 100ms);
  EXPECT_EQ(h.pending(), 1u);
  while (!done)
    std::this_thread::sleep_for(1ms);
}

TEST_F(HelperTest, RunsInSurroundingsOfItsOwn) {
  Helper h(options());
  EXPECT_EQ(ask(h, "info"), "torchc-compiled --serve 3 " + std::to_string(getpid()) +
                                " / session empty unblocked default fds=6 /dev/null /dev/null");
}

TEST_F(HelperTest, CrashFailsOnlyTheGuiltyRequest) {
  Helper h(options());
  std::vector<std::string> answers(5);
  std::atomic<int> left{5};
  const char *requests[] = {"echo a", "crash", "echo b", "echo c", "echo d"};
  for (int i = 0; i < 5; ++i)
    h.send(bytes(requests[i]), [&, i](HelperAnswer a) {
      answers[i] = a.ok ? std::string(a.bytes.begin(), a.bytes.end()) : a.error;
      --left;
    });
  while (left)
    std::this_thread::sleep_for(1ms);
  EXPECT_THAT(answers, testing::ElementsAre("a", "helper died", "b", "c", "d"));
  EXPECT_EQ(h.starts(), 2);
  ASSERT_EQ(records.all().size(), 1u);
  EXPECT_EQ(records.all()[0].reason, "helper died");
}

TEST_F(HelperTest, GivesUpAfterDeathsInARow) {
  Helper h(options());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(ask(h, "crash"), "!helper died");
  EXPECT_EQ(ask(h, "echo still"), "still"); // an answer starts the count anew
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(ask(h, "crash"), HasSubstr("helper died"));
  EXPECT_THAT(ask(h, "echo x"), HasSubstr("!helper died; no helper is started any more"));
  EXPECT_FALSE(h.pid());
  EXPECT_THAT(records.text(), HasSubstr("no helper is started any more"));
}

TEST_F(HelperTest, StartsAreBoundedWhateverHappensInBetween) {
  HelperOptions o = options();
  o.maxStarts = 4;
  Helper h(o);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ask(h, "echo x"), "x");
    EXPECT_THAT(ask(h, "exit"), HasSubstr("helper died"));
  }
  EXPECT_THAT(ask(h, "echo x"), HasSubstr("no helper is started any more"));
}

TEST_F(HelperTest, BadFramesAreRefused) {
  for (const char *request : {"garbage", "wrong-id", "huge"}) {
    Helper h(options());
    EXPECT_EQ(ask(h, request), "!helper sent what isn't an answer") << request;
    EXPECT_EQ(ask(h, "echo next"), "next") << request;
  }
  Helper h(options());
  EXPECT_EQ(ask(h, "half"), "!helper died");
  EXPECT_EQ(ask(h, "twice"), "first");
  EXPECT_THAT(ask(h, "echo next"), testing::AnyOf("next", "!helper sent what isn't an answer"));
  EXPECT_EQ(ask(h, "echo next"), "next");
}

TEST_F(HelperTest, SlowAnswersTimeOut) {
  HelperOptions o = options();
  o.timeout = 300ms;
  Helper h(o);
  EXPECT_EQ(ask(h, "slow 20"), "slow");
  std::optional<pid_t> pid = h.pid();
  EXPECT_EQ(ask(h, "hang"), "!helper timed out after 300 ms");
  EXPECT_EQ(ask(h, "echo x"), "x");
  EXPECT_NE(h.pid(), pid);
}

TEST_F(HelperTest, MissingExecutableIsNamed) {
  HelperOptions o = options();
  o.executable = "/no/such/torchc-compiled";
  Helper h(o);
  EXPECT_EQ(ask(h, "echo x"), "!cannot start helper '/no/such/torchc-compiled': No such file or directory");
  EXPECT_EQ(records.all().size(), 1u);
}

TEST_F(HelperTest, ShutdownFailsWhatIsPending) {
  Helper h(options());
  std::vector<std::string> errors;
  for (int i = 0; i < 3; ++i)
    h.send(bytes("hang"), [&](HelperAnswer a) { errors.push_back(a.error); });
  h.shutdown();
  EXPECT_THAT(errors, testing::ElementsAre("helper was shut down", "helper was shut down", "helper was shut down"));
  EXPECT_EQ(ask(h, "echo x"), "!helper was shut down");
}

TEST_F(HelperTest, CallbacksThatThrowAreRecorded) {
  Helper h(options());
  h.send(bytes("echo x"), [](HelperAnswer) { throw std::bad_alloc(); });
  h.send(bytes("echo x"), [](HelperAnswer) { throw 3; });
  EXPECT_EQ(ask(h, "echo y"), "y");
  ASSERT_EQ(records.all().size(), 1u);
  EXPECT_EQ(records.all()[0].reason, "what waited for the helper's answer failed");
  EXPECT_EQ(records.all()[0].count, 2u);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // their address space has no bounds
TEST_F(HelperTest, AnAnswerWithoutMemoryForItFailsAlone) {
  pid_t child = fork(); // the limit is the process's
  if (!child) {
    alarm(60);
    Helper h(options());
    bool ok = ask(h, "echo x") == "x";
    long pages = 0;
    std::FILE *f = std::fopen("/proc/self/statm", "r");
    ok &= f && std::fscanf(f, "%ld", &pages) == 1;
    rlimit before, tight;
    getrlimit(RLIMIT_AS, &before);
    tight = before;
    tight.rlim_cur = rlim_t(pages * sysconf(_SC_PAGESIZE)) + (64 << 20);
    setrlimit(RLIMIT_AS, &tight);
    std::string answer = ask(h, "big 250000000");
    setrlimit(RLIMIT_AS, &before);
    ok &= answer == "!no memory for the helper's answer" && ask(h, "echo y") == "y";
    _exit(ok ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

TEST_F(HelperTest, ShutdownByTwoThreadsEndsBoth) {
  for (int i = 0; i < 5; ++i) {
    Helper h(options());
    std::atomic<bool> told{false};
    h.send(bytes("hang"), [&](HelperAnswer) {
      std::this_thread::sleep_for(50ms);
      told = true;
    });
    std::atomic<int> early{0};
    auto end = [&] {
      h.shutdown();
      early += !told;
    };
    std::thread one(end), two(end);
    one.join();
    two.join();
    EXPECT_EQ(early, 0);
  }
}

TEST_F(HelperTest, StartsWhateverTheClockSays) {
  clockSetBack = 3600;
  Helper h(options());
  EXPECT_EQ(ask(h, "echo x"), "x");
  clockSetBack = 0;
  EXPECT_EQ(records.text(), "");
}

TEST_F(HelperTest, TooLargeRequestsAreRefused) {
  HelperOptions o = options();
  o.maxFrame = 10;
  Helper h(o);
  EXPECT_EQ(ask(h, "echo 12345678"), "!a request of 13 bytes is too large for the helper");
  EXPECT_EQ(ask(h, "big 11"), "!helper sent what isn't an answer");
}

TEST_F(HelperTest, LeaksNoDescriptors) {
  auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  auto before = count();
  for (int i = 0; i < 5; ++i) {
    Helper h(options());
    ask(h, "echo x");
    ask(h, "crash");
    ask(h, "echo x");
  }
  EXPECT_EQ(count(), before);
}

TEST(HelperProtocol, RequestHasTheDocumentedLayout) {
  uint8_t trace[] = {7, 8};
  std::vector<uint8_t> r = makeCompileRequest("{}", trace);
  EXPECT_EQ(std::string(r.begin(), r.end()), std::string("TCRQ\1\0\0\0\2\0\0\0{}\7\10", 16));
}

TEST(HelperProtocol, AnswersAreTakenApart) {
  std::string text("\0\0\0\0\6\0\0\0\3\0\0\0\0\0\0\0objectELF\4\0\0\0\0\0\0\0\0\0\0\0text", 41);
  std::vector<uint8_t> answer = bytes(text); // the pieces borrow from it
  CompileAnswer a;
  Diag diag;
  ASSERT_TRUE(parseCompileAnswer(answer, a, diag)) << diag.text;
  EXPECT_EQ(a.status, 0u);
  ASSERT_EQ(a.pieces.size(), 2u);
  EXPECT_EQ(a.pieces[0].kind, "object");
  EXPECT_EQ(a.find("text")->bytes.size(), 0u);
  EXPECT_EQ(a.find("error"), nullptr);
  for (size_t n = 0; n < text.size(); ++n) {
    Diag d;
    bool whole = n == 4 || n == 25;
    EXPECT_EQ(parseCompileAnswer(bytes(text.substr(0, n)), a, d), whole) << n;
  }
  text[13] = 1; // 2^40 bytes
  EXPECT_FALSE(parseCompileAnswer(bytes(text), a, diag));
  EXPECT_THAT(diag.text, HasSubstr("piece 0 reaches beyond the end"));
}

} // namespace
