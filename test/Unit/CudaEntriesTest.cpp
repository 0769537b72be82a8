// runtime/cuda/Entries.h declares what the real cuda.h declares: the same exported names, and arguments that are passed alike.
#define __CUDA_API_VERSION_INTERNAL // the header then declares symbols by their own names, _v2 and not
#include <cuda.h>

#include "runtime/cuda/Entries.h"
#include <gtest/gtest.h>
#include <type_traits>

namespace torchc::cuda {
namespace {

/// Are values of both types passed in the same way? Handles and pointers are one kind, enumerations and int another.
template <class A, class B> constexpr bool passedAlike() {
  if (sizeof(A) != sizeof(B))
    return false;
  bool integers = (std::is_integral_v<A> || std::is_enum_v<A>) && (std::is_integral_v<B> || std::is_enum_v<B>);
  return integers || (std::is_pointer_v<A> && std::is_pointer_v<B>);
}
template <class A, class B> struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct Alike<R (*)(A...), S (*)(B...)> : std::bool_constant<passedAlike<R, S>() && (passedAlike<A, B>() && ...)> {};

static_assert(Alike<int (*)(CUstream, size_t), int (*)(void *, unsigned long)>::value);
static_assert(!Alike<int (*)(CUstream, size_t), int (*)(void *, int)>::value);
static_assert(!Alike<int (*)(CUstream), int (*)(size_t)>::value);

TEST(CudaEntries, AreThoseOfTheHeader) {
#define TORCHC_COMPARE(name, symbol, arguments)                                                                        \
  EXPECT_TRUE((Alike<decltype(&::symbol), Result(*) arguments>::value)) << #symbol;
  TORCHC_CUDA_ENTRIES(TORCHC_COMPARE)
#undef TORCHC_COMPARE
}

TEST(CudaEntries, NumbersAreThoseOfTheHeader) {
  EXPECT_EQ(int(success), CUDA_SUCCESS);
  EXPECT_EQ(int(errorInvalidValue), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(int(errorOutOfMemory), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(int(errorNotInitialized), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(int(errorInvalidDevice), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(int(errorInvalidPtx), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(int(errorNotFound), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(int(errorNotReady), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(int(errorIllegalAddress), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(int(errorMisalignedAddress), CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(int(errorLaunchFailed), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(int(Attribute::WarpSize), CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  EXPECT_EQ(int(Attribute::MultiprocessorCount), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(int(Attribute::ComputeCapabilityMajor), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(int(Attribute::ComputeCapabilityMinor), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(int(Attribute::MaxThreadsPerMultiprocessor), CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  EXPECT_EQ(streamNonBlocking, unsigned(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(eventDisableTiming, unsigned(CU_EVENT_DISABLE_TIMING));
}

} // namespace
} // namespace torchc::cuda
