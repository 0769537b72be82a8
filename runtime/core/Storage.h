// Storage: reference-counted memory of tensors. A 64-byte header stands in front of its data, one block for both;
// foreign and device memory hangs on a header of its own.
#pragma once
#include "runtime/device/Allocator.h"
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace torchc {

/// An atomic count whose last owner frees without a locked instruction: nobody else can hold a reference then.
struct RefCount {
  std::atomic<uint32_t> v;
  void init() { v.store(1, std::memory_order_relaxed); }
  void increment() { v.fetch_add(1, std::memory_order_relaxed); }
  /// True: the caller was the last owner and must free.
  bool decrement() { return v.load(std::memory_order_acquire) == 1 || v.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  uint32_t get() const { return v.load(std::memory_order_acquire); }
};

/// Storage::exposed of memory that an out= may not grow: NumPy's, or seen by an array.
inline constexpr uint8_t exposedFixed = 2;

struct alignas(64) Storage {
  RefCount refs;
  uint32_t version;     // bumped by every write (E3)
  char *data;           // null on the meta device and for 0 foreign bytes
  int64_t nbytes;
  int32_t blockClass;   // of the allocator's block; < 0: `data` is foreign and the header alone is ours
  uint8_t device;       // DeviceKind
  int8_t deviceIndex;
  uint8_t exposed;      // a NumPy array, DLPack capsule, buffer or data_ptr() of it is or was alive (J3)
  uint8_t releaseHooks; // how many hooks onRelease() registered, saturating
  void (*deleter)(Storage *); // of foreign memory; may be null
  void *context;        // the deleter's
  uint64_t tag;         // number of the storage in a recording (aliasing guards), 0: none
  uint64_t deferred;    // frontends/jit: the run that will compute the content, 0: it is there

  void bumpVersion() { ++version; }
};
static_assert(sizeof(Storage) == 64);

namespace detail {
void freeStorageSlow(Storage *);
Storage *newStorageLarge(size_t bytes);
inline void initStorage(Storage *s, char *data, int64_t nbytes, int blockClass) {
  s->refs.init();
  s->version = 0;
  s->data = data;
  s->nbytes = nbytes;
  s->blockClass = blockClass;
  s->device = 0;
  s->deviceIndex = 0;
  s->exposed = s->releaseHooks = 0;
  s->deleter = nullptr;
  s->context = nullptr;
  s->tag = 0;
  s->deferred = 0;
}
} // namespace detail

/// Uninitialised CPU memory, 64-byte aligned, one reference, version 0. Null if `nbytes` is negative or more than the
/// machine can give: the caller reports ErrorKind::Memory.
inline Storage *newStorage(int64_t nbytes) {
  Storage *s;
  uint64_t c = (uint64_t(nbytes) + sizeof(Storage) + 63) >> 6;
  if (TORCHC_LIKELY(uint64_t(nbytes) <= 1024 - sizeof(Storage))) {
    s = static_cast<Storage *>(allocSmall(int(c)));
    if (TORCHC_UNLIKELY(!s))
      return nullptr;
    detail::initStorage(s, reinterpret_cast<char *>(s + 1), nbytes, int(c));
  } else if (s = detail::newStorageLarge(uint64_t(nbytes)); !s)
    return nullptr;
  countAlloc(nbytes);
  return s;
}

/// Memory that someone else made. `deleter` runs once, on whichever thread drops the last reference. Null: no memory for
/// the header (then the deleter isn't run).
Storage *newForeignStorage(void *data, int64_t nbytes, void (*deleter)(Storage *), void *context);

/// Memory of any device (Device.h); null as newStorage, or if there is no such device.
Storage *newStorageOn(uint8_t deviceKind, int deviceIndex, int64_t nbytes);

inline Storage *retain(Storage *s) {
  s->refs.increment();
  return s;
}
inline void release(Storage *s) {
  if (!s->refs.decrement())
    return;
  if (TORCHC_LIKELY(unsigned(s->blockClass) < unsigned(numSmallClasses) && !s->releaseHooks)) {
    countFree(s->nbytes);
    freeSmall(s, s->blockClass);
  } else
    detail::freeStorageSlow(s);
}

/// Calls hook(s, context) when the last reference goes, before the memory does. For caches keyed by storage (packed
/// weights). The hook must not retain `s`.
void onRelease(Storage *s, void (*hook)(Storage *, void *), void *context);
/// Undoes one onRelease with the same arguments; false if there was none.
bool removeReleaseHook(Storage *s, void (*hook)(Storage *, void *), void *context);

} // namespace torchc
