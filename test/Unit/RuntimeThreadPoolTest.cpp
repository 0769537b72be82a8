#include "runtime/device/Cgroup.h"
#include "runtime/device/ThreadPool.h"
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace torchc;

namespace {

struct Threads : ::testing::Test {
  int before = numThreads();
  ~Threads() override { setNumThreads(before); }
};
using RuntimeThreadPool = Threads;

/// Every element of [b, e) visited exactly once?
bool coversOnce(int64_t b, int64_t e, int64_t grain) {
  std::vector<std::atomic<int>> seen(size_t(std::max<int64_t>(e - b, 0)));
  parallelFor(b, e, grain, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      ++seen[size_t(i - b)];
  });
  for (auto &s : seen)
    if (s != 1)
      return false;
  return true;
}

} // namespace

TEST_F(RuntimeThreadPool, CoversEveryRange) {
  for (int threads : {1, 2, 3, 8}) {
    ASSERT_TRUE(setNumThreads(threads));
    EXPECT_EQ(numThreads(), threads);
    for (int64_t n : {0, 1, 2, 3, 7, 63, 64, 1000, 4097})
      for (int64_t grain : {1, 2, 64, 5000})
        EXPECT_TRUE(coversOnce(-5, n - 5, grain)) << threads << " " << n << " " << grain;
  }
}

TEST_F(RuntimeThreadPool, EmptyRangeAndShortRangeStayHere) {
  setNumThreads(4);
  bool called = false;
  parallelFor(3, 3, 1, [&](int64_t, int64_t) { called = true; });
  parallelFor(3, 1, 1, [&](int64_t, int64_t) { called = true; });
  EXPECT_FALSE(called);
  auto here = std::this_thread::get_id();
  parallelFor(0, 100, 100, [&](int64_t b, int64_t e) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(e - b, 100);
  });
}

TEST_F(RuntimeThreadPool, UsesThatManyThreads) {
  setNumThreads(4);
  std::set<std::thread::id> ids;
  std::mutex m;
  std::atomic<int> inside{0};
  parallelFor(0, 16, 1, [&](int64_t, int64_t) {
    ++inside;
    for (int i = 0; i < 2000 && inside < 4; ++i)
      usleep(1000);
    std::lock_guard<std::mutex> l(m);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 4u);
}

TEST_F(RuntimeThreadPool, InnerLoopsRunSerially) {
  setNumThreads(4);
  std::atomic<int64_t> sum{0};
  parallelFor(0, 8, 1, [&](int64_t b, int64_t e) {
    EXPECT_TRUE(inParallel());
    EXPECT_FALSE(setNumThreads(2));
    auto here = std::this_thread::get_id();
    for (int64_t i = b; i < e; ++i)
      parallelFor(0, 100, 1, [&](int64_t c, int64_t d) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        sum += d - c;
      });
  });
  EXPECT_EQ(sum, 800);
  EXPECT_FALSE(inParallel());
}

TEST_F(RuntimeThreadPool, ManyCallersAtOnce) {
  setNumThreads(3);
  std::vector<std::thread> callers;
  std::atomic<int> bad{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i)
        bad += !coversOnce(0, 200, 7);
    });
  for (auto &t : callers)
    t.join();
  EXPECT_EQ(bad, 0);
}

TEST_F(RuntimeThreadPool, ManyJobsWithPauses) {
  setNumThreads(3);
  for (int i = 0; i < 3000; ++i) {
    if (i % 100 == 0)
      usleep(300); // workers fall asleep
    ASSERT_TRUE(coversOnce(0, 64, 4));
  }
}

TEST_F(RuntimeThreadPool, CountsAreChecked) {
  EXPECT_FALSE(setNumThreads(0));
  EXPECT_FALSE(setNumThreads(-3));
  EXPECT_FALSE(setNumThreads(1025));
  EXPECT_GE(availableCpus(), 1);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(setNumThreads(1 + i % 5));
    ASSERT_TRUE(coversOnce(0, 1000, 1));
  }
}

TEST_F(RuntimeThreadPool, ForkedChildStartsAfresh) {
  setNumThreads(3);
  ASSERT_TRUE(coversOnce(0, 1000, 1));
  std::atomic<bool> stop{false};
  std::thread busy([&] { // a job of another thread is in the middle when the process forks
    while (!stop)
      coversOnce(0, 1000, 1);
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (!child) {
      alarm(20);
      bool ok = numThreads() == 3;
      for (int k = 0; k < 10; ++k)
        ok &= coversOnce(0, 1000, 1);
      _exit(ok ? 0 : 1);
    }
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
}

TEST_F(RuntimeThreadPool, FlushDenormalModeReachesWorkers) {
  setNumThreads(3);
  uint32_t off = flushDenormals();
  setFlushDenormals(~0u);
  uint32_t on = flushDenormals();
  EXPECT_NE(on, off);
  std::atomic<int> wrong{0}, runs{0};
  auto check = [&](uint32_t expected) {
    for (int i = 0; i < 50; ++i)
      parallelFor(0, 64, 1, [&](int64_t, int64_t) {
        wrong += flushDenormals() != expected;
        ++runs;
      });
  };
  check(on);
  setFlushDenormals(off);
  check(off);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(flushDenormals(), off);
}

TEST_F(RuntimeThreadPool, CompiledCodesEntry) {
  setNumThreads(2);
  std::atomic<int64_t> sum{0};
  torchc_parallel_for(
      0, 1000, 10, [](void *c, int64_t b, int64_t e) { *static_cast<std::atomic<int64_t> *>(c) += e - b; }, &sum);
  EXPECT_EQ(sum, 1000);
}
