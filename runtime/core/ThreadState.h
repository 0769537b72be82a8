// What a thread carries (E1): one POD in initial-exec TLS. A library opened at run time gets its static TLS from about
// 1.5 kB that all libraries share, so it stays within 512 bytes; bigger tables hang on pointers.
#pragma once
#include <atomic>
#include <cstdint>

#define TORCHC_LIKELY(x) __builtin_expect(!!(x), 1)
#define TORCHC_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace torchc {

/// Tensor flags and ThreadState::modes share one bit space, so that an op's fast path is one `or` and one test.
enum Flag : uint32_t {
  // of a tensor
  FlagRequiresGrad = 1u << 0,
  FlagPending = 1u << 1,       // not computed yet (re-trace)
  FlagNonContiguous = 1u << 2,
  FlagPyOwned = 1u << 3,       // owns its Python object (dict, weak reference, subclass)
  FlagSubclass = 1u << 4,      // of a class with __torch_dispatch__
  FlagView = 1u << 5,          // shares its storage with a base that autograd tracks
  FlagNotCpu = 1u << 7,
  FlagInferenceTensor = 1u << 8,
  // of the thread
  FlagNoGrad = 1u << 16,
  FlagInference = 1u << 17,
  FlagRecording = 1u << 18,    // a tracer records ops
  FlagRetracing = 1u << 19,    // ops are matched and deferred
  FlagAutocast = 1u << 20,
  FlagFunctorch = 1u << 21,
  FlagProfiling = 1u << 22,
  FlagSavedHooks = 1u << 23,   // saved-tensor hooks are installed
  FlagTorchMode = 1u << 24,    // __torch_dispatch__ modes
  FlagFunctionMode = 1u << 25, // __torch_function__ modes: the bindings ask, ops don't
  FlagNoSubclassFunctions = 1u << 26, // __torch_function__ of classes is off
  FlagNoFunctions = 1u << 27,         // and of modes
  FlagNoDispatch = 1u << 28,          // __torch_dispatch__ of classes and modes is off
  FlagNoCastCache = 1u << 29          // autocast doesn't keep its casts of parameters
};
/// Any of these sends an op to its slow path.
inline constexpr uint32_t slowFlags = FlagPending | FlagNonContiguous | FlagSubclass | FlagNotCpu | FlagInference |
                                      FlagInferenceTensor | FlagRecording | FlagRetracing | FlagFunctorch |
                                      FlagProfiling | FlagTorchMode;

/// The part that tape nodes capture and backward restores, and that guards compare by its digest.
struct ThreadModes {
  uint32_t flags = 0; // Flag bits of the thread
  uint8_t autocastDType[4] = {7, 8, 6, 0}; // per DeviceKind, a DType
  uint8_t deviceKind = 0; // of the `with device` context
  int8_t deviceIndex = -1;
  uint16_t functorchDepth = 0;
  uint32_t hookStack = 0; // identity of the saved-tensor hook stack, 0: none
};
static_assert(sizeof(ThreadModes) == 16);

/// A list of free blocks of one size class, linked through their first word.
struct FreeList {
  void *head;
  uint32_t count, pad;
};

inline constexpr int numSmallClasses = 17; // class c holds blocks of 64*c bytes; 0 isn't used
struct AllocatorCache;                     // lists of the larger classes, on the heap

struct ThreadState {
  ThreadModes modes;
  uint32_t digest;     // of modes, see setModes
  int32_t status;      // the status word of launches on this thread
  uint8_t inParallel;  // inside parallelFor: inner ones run serially
  uint8_t abstract;    // frontends: results get memory and layout, but no kernel runs
  uint8_t pad[2];
  uint32_t runId;      // of the re-trace run, 0: none
  void *run;           // frontends/jit: the recording or re-trace in progress
  uint64_t sequence;   // next sequence number of a tape node
  void *stream;        // current Stream of the current device, null: default
  void *frontend;      // frontends/eager/Autocast.cpp: the contexts of autocast that are open, null: none
  AllocatorCache *cache;
  int64_t foldBytes;   // bytes allocated minus freed here since they were last added to the process's total
  FreeList small[numSmallClasses];
  // Not beside foldBytes: one 16-byte access to both would wait for the 8-byte store that a free just made (15 ns).
  int64_t foldCount; // allocations since foldBytes was added up
};
static_assert(sizeof(ThreadState) <= 512, "static TLS of an opened library is short");

// __thread, not thread_local: no wrapper call, no destructor (a pthread key cleans up, Allocator.cpp).
extern __thread ThreadState threadState __attribute__((tls_model("initial-exec")));

/// Replaces the modes and their digest; returns the former ones, to be restored the same way.
ThreadModes setModes(const ThreadModes &modes);
/// Sets and clears Flag bits.
inline ThreadModes changeFlags(uint32_t set, uint32_t clear) {
  ThreadModes m = threadState.modes;
  m.flags = (m.flags & ~clear) | set;
  return setModes(m);
}

/// The process-wide epoch (E2): equal epochs mean that nothing guarded has changed.
inline std::atomic<uint64_t> epoch{1};
inline void bumpEpoch() { epoch.fetch_add(1, std::memory_order_release); }
inline uint64_t currentEpoch() { return epoch.load(std::memory_order_acquire); }

} // namespace torchc
