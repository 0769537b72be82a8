#include "frontends/eager/TensorImpl.h"
#include "frontends/autograd/Node.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/JitHooks.h"
#include "runtime/core/Layout.h"
#include "runtime/cuda/Cuda.h"
#include <algorithm>

namespace torchc {

// Nothing is pending before frontends/jit installs its hooks; a mode without them records nothing.
JitHooks jitHooks = {nullptr, nullptr, nullptr, [](TensorImpl *) {}, nullptr, nullptr, nullptr};
void (*releasePyObject)(TensorImpl *) = nullptr;

void fail(ErrorKind kind, std::string text) { throw Error(kind, std::move(text)); }
void fail(std::string text) { throw Error(ErrorKind::Runtime, std::move(text)); }

/// Shapes made from a user's lists outgrow maxRank in many places; all throw.
[[maybe_unused]] static const bool shapesThrow = [] {
  tooManyDims = [](int rank) { fail("expected at most 64 dimensions, got " + std::to_string(rank)); };
  return true;
}();
void outOfMemory(int64_t bytes) {
  fail(ErrorKind::Memory, "not enough memory: you tried to allocate " + std::to_string(bytes) + " bytes");
}

namespace {

void freeDims(TensorImpl *t) {
  if (t->flags & flagManyDims)
    std::free(reinterpret_cast<void *>(t->inlineSizes[0]));
  t->flags &= ~flagManyDims;
}

} // namespace

/// The common case: nothing out of line before or after.
static inline void setInlineDims(TensorImpl *t, int rank, const int64_t *sizes, const int64_t *strides) {
  int64_t n = 1;
  uint64_t dense = 1;
  bool contiguous = true;
  for (int i = inlineDims; i-- > 0;) {
    int64_t size = i < rank ? sizes[i] : 0, stride = 0;
    if (i < rank) {
      stride = strides ? strides[i] : int64_t(dense);
      contiguous &= size == 1 || stride == int64_t(dense);
      dense *= size > 1 ? uint64_t(size) : 1;
      n = __builtin_mul_overflow(n, size, &n) || n < 0 ? -1 : n;
    }
    t->inlineSizes[i] = size;
    t->inlineStrides[i] = stride;
  }
  t->rank = uint8_t(rank);
  t->numel = n;
  t->flags = contiguous || n == 0 ? t->flags & ~FlagNonContiguous : t->flags | FlagNonContiguous;
}

void setDims(TensorImpl *t, int rank, const int64_t *sizes, const int64_t *strides) {
  bool mayAlias = sizes >= t->inlineSizes && sizes < t->inlineSizes + 2 * inlineDims;
  if (rank <= inlineDims && !(t->flags & flagManyDims) && !mayAlias)
    return setInlineDims(t, rank, sizes, strides);
  int64_t own[2 * maxRank];
  std::copy_n(sizes, rank, own);
  if (strides)
    std::copy_n(strides, rank, own + rank);
  else
    contiguousStrides(rank, sizes, own + rank);
  freeDims(t);
  t->rank = uint8_t(rank);
  t->numel = numElements(rank, own);
  t->flags &= ~FlagNonContiguous;
  if (strides && !isContiguous(rank, own, own + rank))
    t->flags |= FlagNonContiguous;
  if (rank <= inlineDims) {
    for (int i = 0; i < inlineDims; i++) {
      t->inlineSizes[i] = i < rank ? own[i] : 0;
      t->inlineStrides[i] = i < rank ? own[rank + i] : 0;
    }
    return;
  }
  auto *p = static_cast<int64_t *>(std::malloc(size_t(rank) * 2 * sizeof(int64_t)));
  if (!p)
    outOfMemory(rank * 16);
  std::copy_n(own, 2 * rank, p);
  t->inlineSizes[0] = reinterpret_cast<int64_t>(p);
  t->flags |= flagManyDims;
}

TensorImpl *newShell(DType dtype, int rank, const int64_t *sizes, const int64_t *strides, uint8_t device) {
  TensorImpl *t = allocTensor();
  t->refs.init();
  t->flags = device ? uint32_t(FlagNotCpu) : 0;
  t->storage = nullptr;
  t->data = nullptr;
  t->dtype = dtype;
  t->device = device;
  t->outputNumber = 0;
  t->ownVersion = 0;
  t->node = nullptr;
  t->view = nullptr;
  t->tag = 0;
  setDims(t, rank, sizes, strides);
  return t;
}

TensorImpl *newTensor(DType dtype, const Dims &dims, uint8_t device) {
  TensorImpl *t = newShell(dtype, dims.size(), dims.data(), nullptr, device);
  int64_t bytes;
  if (t->numel < 0 || __builtin_mul_overflow(t->numel, itemSize(dtype), &bytes)) {
    release(t);
    fail("Storage size calculation overflowed with sizes=" + dims.str() + ": the bytes need more than 64 bits");
  }
  if (device == uint8_t(DeviceKind::Meta))
    return t;
  bool onCuda = device == uint8_t(DeviceKind::Cuda);
  Storage *s = newStorageOn(device, onCuda ? cuda::currentDevice() : 0, bytes);
  if (!s) {
    release(t);
    if (std::string error = onCuda ? cuda::takeError() : std::string(); !error.empty())
      fail(std::move(error)); // of work before, which the driver reports wherever it is called next
    if (onCuda)
      fail(ErrorKind::Memory, "CUDA out of memory. Tried to allocate " + std::to_string(bytes) + " bytes.");
    outOfMemory(bytes);
  }
  t->storage = s;
  t->data = s->data;
  return t;
}

TensorImpl *newAlias(TensorImpl *a, int rank, const int64_t *sizes, const int64_t *strides, int64_t offset) {
  TensorImpl *t = newShell(a->dtype, rank, sizes, strides, a->device);
  t->flags |= a->flags & (FlagInferenceTensor | flagOwnVersion | FlagPending | flagDeferredData);
  t->ownVersion = a->ownVersion;
  if (a->storage) {
    t->storage = retain(a->storage);
    t->data = a->data + offset * itemSize(a->dtype);
  }
  return t;
}

void destroySlow(TensorImpl *t) {
  if (t->node && keptByNode(t))
    return;
  if (t->flags & FlagPyOwned) {
    releasePyObject(t); // drops the object, which comes back here without the flag
    return;
  }
  dropNode(t);
  if (ViewInfo *v = std::exchange(t->view, nullptr))
    release(v);
  if (t->storage)
    release(t->storage);
  freeDims(t);
  freeSmall(t, tensorClass);
}

} // namespace torchc
