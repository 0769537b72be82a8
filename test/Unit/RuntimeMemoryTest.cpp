#include "runtime/core/ForkMutex.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Storage.h"
#include "runtime/core/knobs.h"
#include "runtime/device/Device.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace torchc;

TEST(RuntimeStorage, HeaderAndDataShareABlock) {
  for (int64_t n : {0, 1, 4, 63, 64, 960, 961, 1024, 100000, 1 << 20, 5 << 20}) {
    Storage *s = newStorage(n);
    ASSERT_NE(s, nullptr) << n;
    EXPECT_EQ(s->nbytes, n);
    EXPECT_EQ(s->data, reinterpret_cast<char *>(s + 1));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(s->data) % 64, 0u);
    EXPECT_EQ(s->version, 0u);
    std::memset(s->data, 0xab, size_t(n));
    release(s);
  }
}

TEST(RuntimeStorage, AbsurdSizesGiveNull) {
  for (int64_t n : {int64_t(-1), INT64_MIN, INT64_MAX, int64_t(1) << 62, int64_t(1) << 46, maxAllocation,
                    maxAllocation + 1, memoryLimit() * 2})
    EXPECT_EQ(newStorage(n), nullptr) << n;
}

TEST(RuntimeStorage, BlocksAreReused) {
  for (int64_t n : {8, 1000, 5000, 3 << 20, 33 << 20}) {
    Storage *a = newStorage(n);
    release(a);
    int64_t reserved = memoryStats().reserved;
    Storage *b = newStorage(n);
    EXPECT_EQ(a, b) << n;
    EXPECT_EQ(memoryStats().reserved, reserved);
    release(b);
  }
  emptyCache();
}

TEST(RuntimeStorage, LargeBlocksServeSmallerSizes) {
  emptyCache();
  Storage *a = newStorage(7 << 20);
  release(a);
  int64_t reserved = memoryStats().reserved;
  Storage *b = newStorage(5 << 20); // two classes less
  EXPECT_EQ(a, b);
  EXPECT_EQ(memoryStats().reserved, reserved);
  release(b);
  b = newStorage(3 << 20); // too wasteful
  EXPECT_GT(memoryStats().reserved, reserved);
  release(b);
  emptyCache();
  EXPECT_LT(memoryStats().reserved, reserved);
}

TEST(RuntimeStorage, Statistics) {
  MemoryStats before = memoryStats();
  resetPeakMemory();
  Storage *a = newStorage(100), *b = newStorage(1 << 20);
  MemoryStats both = memoryStats();
  EXPECT_EQ(both.allocated - before.allocated, 100 + (1 << 20));
  EXPECT_EQ(both.peak, both.allocated);
  EXPECT_EQ(both.allocations - before.allocations, 2);
  release(a);
  release(b);
  MemoryStats after = memoryStats();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_EQ(after.peak, both.peak);
  resetPeakMemory();
  EXPECT_EQ(memoryStats().peak, after.allocated);
  EXPECT_GE(after.reserved, 1 << 20);
  emptyCache();
  EXPECT_LE(memoryStats().reserved, after.reserved - (1 << 20));
}

TEST(RuntimeStorage, ForeignMemoryAndDeleter) {
  static int deleted;
  static char memory[16];
  deleted = 0;
  int context = 7;
  Storage *s = newForeignStorage(memory, 16, [](Storage *s) { deleted += *static_cast<int *>(s->context); }, &context);
  EXPECT_EQ(s->data, memory);
  retain(s);
  release(s);
  EXPECT_EQ(deleted, 0);
  release(s);
  EXPECT_EQ(deleted, 7);
  release(newForeignStorage(nullptr, 0, nullptr, nullptr));
}

TEST(RuntimeStorage, ReleaseHooks) {
  static std::vector<int> order;
  order.clear();
  auto hook = [](Storage *, void *c) { order.push_back(int(intptr_t(c))); };
  for (int64_t n : {8, 100000}) {
    Storage *s = newStorage(n);
    onRelease(s, hook, reinterpret_cast<void *>(1));
    onRelease(s, hook, reinterpret_cast<void *>(2));
    onRelease(s, hook, reinterpret_cast<void *>(3));
    EXPECT_TRUE(removeReleaseHook(s, hook, reinterpret_cast<void *>(2)));
    EXPECT_FALSE(removeReleaseHook(s, hook, reinterpret_cast<void *>(2)));
    release(s);
  }
  EXPECT_EQ(order, (std::vector<int>{1, 3, 1, 3}));
  Storage *s = newStorage(8);
  EXPECT_EQ(s->releaseHooks, 0);
  release(s);
}

TEST(RuntimeStorage, CountsUnderThreads) {
  static std::atomic<int> deleted;
  deleted = 0;
  static char memory[8];
  for (int round = 0; round < 200; ++round) {
    Storage *s = newForeignStorage(memory, 8, [](Storage *) { ++deleted; }, nullptr);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      retain(s);
      threads.emplace_back([s] {
        for (int i = 0; i < 100; ++i) {
          retain(s);
          release(s);
        }
        release(s);
      });
    }
    release(s);
    for (auto &t : threads)
      t.join();
    ASSERT_EQ(deleted, round + 1);
  }
}

// Blocks made on one thread and freed on another, contents checked: no block is ever given out twice.
TEST(RuntimeStorage, BlocksMoveBetweenThreads) {
  int64_t before = memoryStats().allocated;
  std::vector<std::atomic<Storage *>> slots(64);
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20000; ++i) {
      int64_t n = 1 + int64_t(random() % (random() % 16 ? 900 : 70000));
      Storage *s = newStorage(n);
      s->version = uint32_t(n);
      std::memset(s->data, int(n & 0xff), size_t(n));
      if (Storage *old = slots[random() % slots.size()].exchange(s)) {
        ASSERT_EQ(old->nbytes, old->version);
        for (int64_t k : {int64_t(0), old->nbytes / 2, old->nbytes - 1})
          ASSERT_EQ(uint8_t(old->data[k]), uint8_t(old->nbytes & 0xff));
        release(old);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back(work, t);
  for (auto &t : threads)
    t.join();
  for (auto &s : slots)
    if (s)
      release(s.load());
  EXPECT_EQ(memoryStats().allocated, before); // threads that ended handed in their counts
}

TEST(RuntimeDevice, Table) {
  EXPECT_EQ(deviceFor(DeviceKind::Cpu)->name(), "cpu");
  EXPECT_EQ(deviceFor(DeviceKind::Meta, -1)->kind(), DeviceKind::Meta);
  EXPECT_EQ(deviceFor(DeviceKind::Cuda, 63), nullptr);
  EXPECT_EQ(deviceFor(DeviceKind::Cpu, 64), nullptr);
  EXPECT_EQ(deviceFor(DeviceKind(9)), nullptr);
  EXPECT_EQ(deviceCount(DeviceKind::Cpu), 1);
  Device *cpu = deviceFor(DeviceKind::Cpu);
  for (size_t n : {size_t(0), size_t(1), size_t(1024), size_t(1025), size_t(1) << 20}) {
    void *p;
    ASSERT_TRUE(cpu->allocate(n, &p));
    std::memset(p, 1, n);
    cpu->free(p, n);
  }
  void *p;
  EXPECT_FALSE(cpu->allocate(SIZE_MAX, &p));
}

TEST(RuntimeDevice, MetaStorage) {
  Storage *s = newStorageOn(uint8_t(DeviceKind::Meta), 0, int64_t(1) << 50);
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->data, nullptr);
  EXPECT_EQ(s->device, uint8_t(DeviceKind::Meta));
  release(s);
  EXPECT_EQ(newStorageOn(2, 63, 4), nullptr);
  EXPECT_EQ(newStorageOn(1, 0, -4), nullptr);
}

TEST(RuntimeDevice, Parse) {
  auto parse = [](const char *text) {
    DeviceId id;
    Diag d;
    return parseDevice(text, id, d) ? deviceString(id.kind, id.index) : d.text;
  };
  EXPECT_EQ(parse("cpu"), "cpu");
  EXPECT_EQ(parse("cuda:1"), "cuda:1");
  EXPECT_EQ(parse("meta"), "meta");
  EXPECT_EQ(parse("cpu:x"), "Invalid device string: 'cpu:x'");
  EXPECT_EQ(parse("cuda:"), "Invalid device string: 'cuda:'");
  EXPECT_EQ(parse("cuda:01"), "Invalid device string: 'cuda:01'");
  EXPECT_EQ(parse("cuda:999"), "Invalid device string: 'cuda:999'");
  EXPECT_EQ(parse("gpu"), "Expected one of cpu, cuda, meta device type at start of device string: gpu");
}

TEST(RuntimeThreadState, ModesAndDigest) {
  EXPECT_EQ(threadState.digest, 0u);
  ThreadModes old = changeFlags(FlagNoGrad, 0);
  uint32_t digest = threadState.digest;
  EXPECT_NE(digest, 0u);
  changeFlags(FlagInference, 0);
  EXPECT_NE(threadState.digest, digest);
  changeFlags(0, FlagInference);
  EXPECT_EQ(threadState.digest, digest);
  std::thread([] { EXPECT_EQ(threadState.digest, 0u); }).join();
  setModes(old);
  EXPECT_EQ(threadState.digest, 0u);
}

TEST(RuntimeLayout, Contiguity) {
  auto contiguous = [](std::vector<int64_t> n, std::vector<int64_t> s) {
    return isContiguous(int(n.size()), n.data(), s.data());
  };
  EXPECT_TRUE(contiguous({}, {}));
  EXPECT_TRUE(contiguous({2, 3}, {3, 1}));
  EXPECT_FALSE(contiguous({2, 3}, {1, 2}));
  EXPECT_TRUE(contiguous({2, 1, 3}, {3, 99, 1}));
  EXPECT_TRUE(contiguous({2, 0, 3}, {7, 8, 9}));
  EXPECT_FALSE(contiguous({4}, {0}));
  EXPECT_TRUE(contiguous({1}, {0}));
  int64_t sizes[3] = {2, 0, 3}, strides[3];
  contiguousStrides(3, sizes, strides);
  EXPECT_EQ(strides[0], 3);
  EXPECT_EQ(strides[1], 3);
  EXPECT_EQ(strides[2], 1);
  int64_t huge[2] = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_EQ(numElements(2, huge), -1);
  int64_t emptyHuge[3] = {int64_t(1) << 40, int64_t(1) << 40, 0};
  EXPECT_EQ(numElements(3, emptyHuge), 0);
}

TEST(RuntimeLayout, Overlap) {
  auto apart = [](std::vector<int64_t> n, std::vector<int64_t> s) {
    return isNonOverlapping(int(n.size()), n.data(), s.data());
  };
  EXPECT_TRUE(apart({2, 3}, {3, 1}));
  EXPECT_TRUE(apart({3, 2}, {1, 3}));
  EXPECT_FALSE(apart({4, 3}, {0, 1}));
  EXPECT_FALSE(apart({4, 3}, {1, 1}));
  EXPECT_TRUE(apart({4, 0}, {0, 1}));
}

TEST(RuntimeLayout, Simplify) {
  auto make = [](std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> strides) {
    LoopNest n;
    n.rank = int(sizes.size());
    n.numOperands = int(strides.size());
    std::copy(sizes.begin(), sizes.end(), n.sizes);
    for (size_t k = 0; k < strides.size(); ++k)
      std::copy(strides[k].begin(), strides[k].end(), n.strides[k]);
    simplify(n);
    return n;
  };
  LoopNest a = make({2, 3, 4}, {{12, 4, 1}, {12, 4, 1}});
  EXPECT_EQ(a.rank, 1);
  EXPECT_EQ(a.sizes[0], 24);
  LoopNest b = make({4, 1, 3}, {{1, 9, 4}, {1, 9, 4}}); // both column-major
  EXPECT_EQ(b.rank, 1);
  EXPECT_EQ(b.sizes[0], 12);
  LoopNest c = make({2, 3, 4}, {{12, 4, 1}, {0, 0, 1}}); // a row broadcast
  EXPECT_EQ(c.rank, 2);
  EXPECT_EQ(c.sizes[0], 6);
  EXPECT_EQ(make({2, 0, 4}, {{4, 4, 1}}).sizes[0], 0);
  EXPECT_EQ(make({1, 1}, {{4, 4}}).rank, 0);
}

TEST(RuntimeFork, WaitsForLocksOfOtherThreads) {
  for (int order = 0; order < int(LockOrder::Count); order++) {
    ForkMutex mutex{LockOrder(order)};
    std::atomic<bool> held{false};
    bool complete = true;
    std::thread other([&] {
      std::lock_guard<std::mutex> lock(mutex);
      complete = false;
      held = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      complete = true;
    });
    while (!held)
      std::this_thread::yield();
    pid_t child = fork();
    if (!child) {
      alarm(10);
      std::lock_guard<std::mutex> lock(mutex);
      _exit(complete ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << order;
    other.join();
    std::lock_guard<std::mutex> lock(mutex); // the parent's are free again
  }
}
