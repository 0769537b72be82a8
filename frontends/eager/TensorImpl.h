// A tensor as one block of 192 bytes whose head is the room of its Python object, so that wrapping allocates nothing and
// identity is the address. Only the binding touches gc, pyRefs, pyType, dict and weakRefs.
#pragma once
#include "dialects/rules/DType.h"
#include "dialects/rules/Dims.h"
#include "runtime/core/Storage.h"
#include "runtime/core/ThreadState.h"
#include <cstddef>
#include <cstring>

namespace torchc {

struct Node; // frontends/autograd/Node.h
struct ViewInfo; // frontends/autograd/Views.h

inline constexpr int inlineDims = 5;

/// More flags of a tensor, in the bits that runtime/core/ThreadState.h leaves free.
inline constexpr uint32_t flagManyDims = 1u << 10; // sizes and strides are out of line
inline constexpr uint32_t flagOwnVersion = 1u << 11; // `.data`: counts its own versions
inline constexpr uint32_t flagDeferredData = 1u
                                             << 13; // deferred: `data` is an offset into a storage without memory yet
/// Any of these sends an op to its slow path.
inline constexpr uint32_t dispatchSlow = slowFlags | flagManyDims;

struct alignas(64) TensorImpl {
  // the Python object
  uint64_t gc[2];
  int64_t pyRefs;
  void *pyType;

  RefCount refs;
  uint32_t flags;
  Storage *storage; // null on the meta device
  char *data; // first element
  DType dtype;
  uint8_t device; // DeviceKind
  uint8_t rank;
  uint8_t outputNumber; // of `node`
  uint32_t ownVersion; // on the meta device, and under flagOwnVersion

  int64_t numel;
  Node *node; // grad_fn, or the accumulation node of a leaf; owned
  ViewInfo *view; // how it was made from its base; owned
  int64_t inlineSizes[inlineDims]; // flagManyDims: [0] points to sizes, then strides

  int64_t inlineStrides[inlineDims];
  uint64_t tag; // value number in the trace being recorded or matched
  void *dict, *weakRefs;

  const int64_t *sizes() const {
    return TORCHC_UNLIKELY(flags & flagManyDims) ? reinterpret_cast<const int64_t *>(inlineSizes[0]) : inlineSizes;
  }
  const int64_t *strides() const {
    return TORCHC_UNLIKELY(flags & flagManyDims) ? reinterpret_cast<const int64_t *>(inlineSizes[0]) + rank
                                                 : inlineStrides;
  }
  Dims dims() const { return Dims(sizes(), rank); }
  uint32_t &version() { return TORCHC_LIKELY(storage && !(flags & flagOwnVersion)) ? storage->version : ownVersion; }
  bool contiguous() const { return !(flags & FlagNonContiguous); }
  bool requiresGrad() const { return flags & FlagRequiresGrad; }
  int64_t nbytes() const { return numel * itemSize(dtype); }
  /// In elements.
  int64_t storageOffset() const {
    if (TORCHC_UNLIKELY(flags & flagDeferredData))
      return reinterpret_cast<intptr_t>(data) / itemSize(dtype);
    return storage ? (data - storage->data) / itemSize(dtype) : 0;
  }
};
static_assert(sizeof(TensorImpl) == 192 && offsetof(TensorImpl, pyRefs) == 16);
/// What is copied to make another tensor with the same metadata.
inline constexpr size_t metadataOffset = offsetof(TensorImpl, refs);
inline constexpr size_t metadataBytes = offsetof(TensorImpl, dict) - metadataOffset;
inline constexpr int tensorClass = 3; // of allocSmall

[[noreturn]] void outOfMemory(int64_t bytes);

inline TensorImpl *allocTensor() {
  auto *t = static_cast<TensorImpl *>(allocSmall(tensorClass));
  if (TORCHC_UNLIKELY(!t))
    outOfMemory(sizeof(TensorImpl));
  t->pyRefs = 0;
  t->dict = t->weakRefs = nullptr;
  return t;
}

void destroySlow(TensorImpl *t);
inline void destroy(TensorImpl *t) {
  constexpr uint32_t special = FlagPending | FlagPyOwned | flagManyDims;
  if (TORCHC_UNLIKELY(t->node || t->view || !t->storage || (t->flags & special)))
    return destroySlow(t);
  release(t->storage);
  freeSmall(t, tensorClass);
}
inline void release(TensorImpl *t) {
  if (t->refs.decrement())
    destroy(t);
}
inline TensorImpl *retain(TensorImpl *t) {
  t->refs.increment();
  return t;
}

/// Uninitialised and contiguous, with the shape and type of `a`, which must be an inline-dims CPU tensor.
inline TensorImpl *newLike(const TensorImpl *a, int64_t nbytes) {
  TensorImpl *t = allocTensor();
  Storage *s = newStorage(nbytes);
  if (TORCHC_UNLIKELY(!s)) {
    freeSmall(t, tensorClass);
    outOfMemory(nbytes);
  }
  t->refs.init();
  t->flags = 0;
  t->storage = s;
  t->data = s->data;
  std::memcpy(&t->dtype, &a->dtype, 4);
  t->outputNumber = 0;
  t->ownVersion = 0;
  t->numel = a->numel;
  t->node = nullptr;
  t->view = nullptr;
  std::memcpy(t->inlineSizes, a->inlineSizes, sizeof t->inlineSizes);
  std::memcpy(t->inlineStrides, a->inlineStrides, sizeof t->inlineStrides);
  t->tag = 0;
  return t;
}

/// Metadata without storage: contiguous strides unless `strides` is given; sets FlagNonContiguous and flagManyDims.
/// Sizes must have been checked (checkedNumel).
TensorImpl *newShell(DType dtype, int rank, const int64_t *sizes, const int64_t *strides = nullptr, uint8_t device = 0);
/// Uninitialised memory on the device (none on meta).
TensorImpl *newTensor(DType dtype, const Dims &dims, uint8_t device = 0);
/// Shares a's storage, version and device; offset in elements from a's first. No autograd.
TensorImpl *newAlias(TensorImpl *a, int rank, const int64_t *sizes, const int64_t *strides, int64_t offset);
/// Changes sizes and strides in place, flags too.
void setDims(TensorImpl *t, int rank, const int64_t *sizes, const int64_t *strides);

/// Not memcmp: 40 bytes are a libc call for some compilers.
inline bool sameInline(const int64_t *a, const int64_t *b) {
  return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4])) == 0;
}
/// Equal shapes of two tensors without flagManyDims; unused sizes are 0.
inline bool sameInlineShape(const TensorImpl *a, const TensorImpl *b) {
  return a->rank == b->rank && sameInline(a->inlineSizes, b->inlineSizes);
}
inline bool sameShape(const TensorImpl *a, const TensorImpl *b) {
  return a->rank == b->rank && std::memcmp(a->sizes(), b->sizes(), size_t(a->rank) * sizeof(int64_t)) == 0;
}

/// Drops the Python object that a tensor owns (FlagPyOwned); installed by the binding. The binding calls release()
/// again when the object is gone.
extern void (*releasePyObject)(TensorImpl *);

} // namespace torchc
