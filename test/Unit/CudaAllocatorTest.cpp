// The caching allocator and streams on the stand-in driver.
#include "runtime/cuda/Cuda.h"
#include "runtime/cuda/Driver.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

namespace torchc::cuda {
namespace {

/// Before the first use of the driver.
const bool chosen = setenv("TORCHC_PTX_EMULATOR", TORCHC_EMULATOR, 1) == 0;

class CudaAllocator : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(chosen);
    ASSERT_EQ(openDevices(), 1) << driverProblem();
    device_ = device(0);
    device_->allocator().emptyCache();
    start = device_->allocator().stats();
  }
  /// Everything a test took is back: the allocator loses nothing.
  void TearDown() override {
    AllocatorStats s = device_->allocator().stats();
    EXPECT_EQ(s.allocation.current, start.allocation.current);
    EXPECT_EQ(s.activeBytes.current, start.activeBytes.current);
    device_->allocator().emptyCache();
    EXPECT_EQ(device_->allocator().stats().reservedBytes.current, start.reservedBytes.current);
    EXPECT_EQ(takeError(), "");
  }
  void *take(size_t bytes, Handle stream = nullptr) {
    void *p = nullptr;
    EXPECT_TRUE(device_->allocator().allocate(bytes, stream, &p));
    return p;
  }
  AllocatorStats stats() { return device_->allocator().stats(); }

  CudaDevice *device_ = nullptr;
  AllocatorStats start;
};

TEST_F(CudaAllocator, RoundsAndCaches) {
  void *a = take(1), *b = take(513);
  EXPECT_EQ(stats().activeBytes.current - start.activeBytes.current, 512 + 1024);
  EXPECT_EQ(stats().requestedBytes.current - start.requestedBytes.current, 514);
  EXPECT_EQ(stats().reservedBytes.current - start.reservedBytes.current, 2 << 20);
  EXPECT_EQ(static_cast<char *>(b) - static_cast<char *>(a), 512);
  device_->allocator().free(a);
  EXPECT_EQ(take(512), a); // the same block again
  device_->allocator().free(a);
  device_->allocator().free(b);
  EXPECT_EQ(take(2 << 10), a); // joined
  device_->allocator().free(a);
  EXPECT_EQ(stats().segment.current - start.segment.current, 1);
}

TEST_F(CudaAllocator, LargeBlocksHaveTheirOwnSegments) {
  void *small = take(100), *large = take(2 << 20), *huge = take((30 << 20) + 1);
  EXPECT_EQ(stats().reservedBytes.current - start.reservedBytes.current, (2 + 20 + 32) << 20);
  for (void *p : {small, large, huge})
    device_->allocator().free(p);
  EXPECT_EQ(stats().reservedBytes.current - start.reservedBytes.current, (2 + 20 + 32) << 20);
  device_->allocator().emptyCache();
  EXPECT_EQ(stats().reservedBytes.current, start.reservedBytes.current);
}

TEST_F(CudaAllocator, StreamsDontShareFreeBlocks) {
  CudaStream *s = device_->newStream();
  void *a = take(512);
  device_->allocator().free(a);
  void *b = take(512, s->raw());
  EXPECT_NE(a, b);
  device_->allocator().free(b);
}

TEST_F(CudaAllocator, RecordedBlocksWaitForTheOtherStream) {
  CudaStream *s = device_->newStream();
  void *a = take(512);
  ASSERT_TRUE(device_->fill(a, 1, 512, *s)); // queued
  device_->allocator().record(a, s->raw());
  device_->allocator().free(a);
  void *b = take(512);
  EXPECT_NE(a, b);
  s->synchronize();
  void *c = take(512);
  EXPECT_EQ(a, c);
  device_->allocator().free(b);
  device_->allocator().free(c);
}

TEST_F(CudaAllocator, ManySizesInRandomOrderLeaveNothing) {
  std::vector<void *> live;
  uint32_t seed = 1;
  for (int i = 0; i < 2000; ++i) {
    seed = seed * 1664525 + 1013904223;
    if (live.size() > 50 || (seed >> 28 < 6 && !live.empty())) {
      size_t k = (seed >> 8) % live.size();
      device_->allocator().free(live[k]);
      live[k] = live.back();
      live.pop_back();
    } else {
      live.push_back(take(size_t(1) << (seed >> 16) % 23));
    }
  }
  for (void *p : live)
    device_->allocator().free(p);
}

TEST_F(CudaAllocator, OutOfMemoryEmptiesTheCacheFirst) {
  void *p = nullptr;
  EXPECT_FALSE(device_->allocator().allocate(size_t(1) << 40, nullptr, &p));
  EXPECT_EQ(stats().outOfMemory - start.outOfMemory, 1);
  void *a = take(size_t(3) << 30);
  device_->allocator().free(a); // cached: nearly everything
  void *b = take((size_t(3) << 30) + (size_t(2) << 20));
  EXPECT_EQ(stats().retries - start.retries, 2);
  device_->allocator().free(b);
}

TEST_F(CudaAllocator, CopiesInOrderWithAStream) {
  CudaStream *s = device_->newStream();
  std::vector<int> in(1000), out(1000, -1);
  for (int i = 0; i < 1000; ++i)
    in[size_t(i)] = i * i;
  void *a = take(4000, s->raw()), *b = take(4000, s->raw());
  ASSERT_TRUE(device_->copyFrom(a, in.data(), 4000, *deviceFor(DeviceKind::Cpu), s));
  in.assign(1000, 0); // the copy is done with the host's memory
  ASSERT_TRUE(device_->copyFrom(b, a, 4000, *device_, s));
  EXPECT_FALSE(s->query());
  ASSERT_TRUE(device_->copyToHost(out.data(), b, 4000, *s));
  EXPECT_TRUE(s->query());
  EXPECT_EQ(out[999], 999 * 999);
  device_->allocator().free(a);
  device_->allocator().free(b);
}

TEST_F(CudaAllocator, EventsOrderStreams) {
  CudaStream *s = device_->newStream();
  auto &first = static_cast<CudaStream &>(device_->defaultStream());
  void *a = take(4);
  int out = 0;
  Event e(true), later(true);
  ASSERT_TRUE(device_->fill(a, 7, 4, *s));
  ASSERT_TRUE(e.record(*s));
  EXPECT_FALSE(e.query());
  ASSERT_TRUE(e.wait(first));
  ASSERT_TRUE(device_->copyToHost(&out, a, 4, first));
  EXPECT_EQ(out, 0x07070707);
  EXPECT_TRUE(e.query());
  ASSERT_TRUE(later.record(first) && later.synchronize());
  float ms = -1;
  EXPECT_TRUE(e.elapsed(later, ms));
  EXPECT_GE(ms, 0);
  device_->allocator().free(a);
}

TEST_F(CudaAllocator, HostCodeCantTouchDeviceMemory) {
  auto *a = static_cast<volatile int *>(take(4));
  EXPECT_DEATH(*a = 1, "");
  device_->allocator().free(const_cast<int *>(a));
}

} // namespace
} // namespace torchc::cuda
