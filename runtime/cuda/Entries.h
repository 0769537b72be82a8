// The one table of what is used of CUDA's driver: opened at run time, so that building needs no header of CUDA and starting no
// driver. A test compares it with the real cuda.h.
#pragma once
#include <cstddef>
#include <cstdint>

namespace torchc::cuda {

using Result = int; // CUresult
using Pointer = uint64_t; // CUdeviceptr
using Handle = void *; // contexts, modules, functions, streams, events

enum : Result {
  success = 0,
  errorInvalidValue = 1,
  errorOutOfMemory = 2,
  errorNotInitialized = 3,
  errorInvalidDevice = 101,
  errorInvalidPtx = 218,
  errorNotFound = 500,
  errorNotReady = 600,
  errorIllegalAddress = 700,
  errorMisalignedAddress = 716,
  errorLaunchFailed = 719,
};
/// CUdevice_attribute
enum class Attribute : int {
  WarpSize = 10,
  MultiprocessorCount = 16,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxThreadsPerMultiprocessor = 39,
};
inline constexpr unsigned streamNonBlocking = 1; // CU_STREAM_NON_BLOCKING
inline constexpr unsigned eventDisableTiming = 2; // CU_EVENT_DISABLE_TIMING

} // namespace torchc::cuda

// X(name in cuda.h, exported symbol, arguments)
#define TORCHC_CUDA_ENTRIES(X)                                                                                         \
  X(cuInit, cuInit, (unsigned flags))                                                                                  \
  X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                                            \
  X(cuGetErrorName, cuGetErrorName, (Result error, const char **text))                                                 \
  X(cuGetErrorString, cuGetErrorString, (Result error, const char **text))                                             \
  X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                                                  \
  X(cuDeviceGet, cuDeviceGet, (int *device, int ordinal))                                                              \
  X(cuDeviceGetName, cuDeviceGetName, (char *name, int bytes, int device))                                             \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, int device))                                                \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, Attribute attribute, int device))                         \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (Handle * context, int device))                                \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (Handle context))                                                                \
  X(cuCtxSynchronize, cuCtxSynchronize, ())                                                                            \
  X(cuMemAlloc, cuMemAlloc_v2, (Pointer * memory, size_t bytes))                                                       \
  X(cuMemFree, cuMemFree_v2, (Pointer memory))                                                                         \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t *available, size_t *total))                                                 \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (Pointer to, const void *from, size_t bytes, Handle stream))              \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *to, Pointer from, size_t bytes, Handle stream))                    \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (Pointer to, Pointer from, size_t bytes, Handle stream))                  \
  X(cuMemsetD8Async, cuMemsetD8Async, (Pointer to, unsigned char value, size_t bytes, Handle stream))                  \
  X(cuStreamCreate, cuStreamCreate, (Handle * stream, unsigned flags))                                                 \
  X(cuStreamDestroy, cuStreamDestroy_v2, (Handle stream))                                                              \
  X(cuStreamSynchronize, cuStreamSynchronize, (Handle stream))                                                         \
  X(cuStreamQuery, cuStreamQuery, (Handle stream))                                                                     \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (Handle stream, Handle event, unsigned flags))                               \
  X(cuEventCreate, cuEventCreate, (Handle * event, unsigned flags))                                                    \
  X(cuEventDestroy, cuEventDestroy_v2, (Handle event))                                                                 \
  X(cuEventRecord, cuEventRecord, (Handle event, Handle stream))                                                       \
  X(cuEventQuery, cuEventQuery, (Handle event))                                                                        \
  X(cuEventSynchronize, cuEventSynchronize, (Handle event))                                                            \
  X(cuEventElapsedTime, cuEventElapsedTime, (float *milliseconds, Handle from, Handle to))                             \
  X(cuModuleLoadData, cuModuleLoadData, (Handle * module, const void *image))                                          \
  X(cuModuleGetFunction, cuModuleGetFunction, (Handle * function, Handle module, const char *name))                    \
  X(cuLaunchKernel, cuLaunchKernel,                                                                                    \
    (Handle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,                \
     unsigned blockZ, unsigned sharedBytes, Handle stream, void **parameters, void **extra))

// What only the stand-in driver has: the life of parts of its blocks, in order with a stream, and the last fault as text.
#define TORCHC_EMULATOR_ENTRIES(X)                                                                                     \
  X(emulatorNote, torchcEmulatorNote, (Pointer memory, size_t bytes, int lives, Handle stream))                        \
  X(emulatorFault, torchcEmulatorFault, (const char **text))
