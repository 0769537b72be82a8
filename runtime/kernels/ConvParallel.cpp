// The part of convolutions and pools that knows the pack, the allocator and the pool.
#include "runtime/core/Status.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/ConvRun.h"
#include "runtime/kernels/ConvWeight.h"
#include "runtime/kernels/Launch.h"
#include "runtime/kernels/Pack.h"

namespace torchc {

ConvKernels convKernels(DType t) {
  return {packConv(t, 0), packConv(t, 1),          packConv(t, 2),
          packGemm(t, 4), convTileRows(packIsa()), convTileBytes(packIsa()) / itemSize(t)};
}

namespace {

class Block {
public:
  explicit Block(size_t bytes) : p(allocLarge(bytes < 1088 ? 1088 : bytes, blockClass)) {}
  ~Block() {
    if (p)
      freeLarge(p, blockClass);
  }
  Block(const Block &) = delete;
  void *get() const { return p; }

private:
  int blockClass = 0;
  void *p;
};

/// Memory and threads of the process for one convolution.
class ProcessPool {
public:
  ~ProcessPool() {
    if (p)
      freeLarge(p, blockClass);
  }
  void *shared(size_t bytes) { return p = allocLarge(bytes < 1088 ? 1088 : bytes, blockClass); }
  template <class F> bool each(int64_t n, int64_t grain, size_t scratchBytes, F f) {
    bool ok = true;
    parallelFor(0, n, grain, [&](int64_t b, int64_t e) {
      Block scratch(scratchBytes);
      if (scratch.get())
        f(b, e, scratch.get());
      else
        __atomic_store_n(&ok, false, __ATOMIC_RELAXED);
    });
    return ok;
  }

private:
  int blockClass = 0;
  void *p = nullptr;
};

template <class T> bool convOf(const ConvKernels &ks, const ConvCall &call) {
  ProcessPool pool;
  if (call.what == ConvWhat::Weight)
    return ConvWeight<T>(ks, call).run(pool);
  return ConvRows<T>(ks, call).run(pool);
}

template <class T> size_t scratchOf(const ConvKernels &ks, const ConvCall &call) {
  auto sum = [](const auto &c) { return ((c.sharedBytes() + 63) & ~size_t(63)) + c.scratchBytes(); };
  return call.what == ConvWhat::Weight ? sum(ConvWeight<T>(ks, call)) : sum(ConvRows<T>(ks, call));
}

} // namespace

size_t convScratchBytes(const ConvKernels &ks, const ConvCall &call) {
  switch (itemSize(call.dtype)) {
  case 1: return scratchOf<uint8_t>(ks, call);
  case 2: return scratchOf<uint16_t>(ks, call);
  case 4: return scratchOf<uint32_t>(ks, call);
  default: return scratchOf<uint64_t>(ks, call);
  }
}

bool conv(const ConvCall &call) {
  ConvKernels ks = convKernels(call.dtype);
  if (!ks.shared)
    return false;
  switch (itemSize(call.dtype)) {
  case 1: return convOf<uint8_t>(ks, call);
  case 2: return convOf<uint16_t>(ks, call);
  case 4: return convOf<uint32_t>(ks, call);
  default: return convOf<uint64_t>(ks, call);
  }
}

void poolPlanes(Kernel kernel, void **ptrs, int64_t planes, const PoolGeometry &g) {
  int64_t work = 1;
  for (int d = 0; d < maxSpatial; ++d)
    work *= g.out[d] * (g.kernel[d] ? g.kernel[d] : g.in[d] / (g.out[d] ? g.out[d] : 1) + 1);
  int64_t sizes[poolGeometryFields];
  std::memcpy(sizes, &g, sizeof g);
  launch(kernel, ptrs, sizes, nullptr, 0, planes, elementwiseGrain / (work < 1 ? 1 : work) + 1);
}

} // namespace torchc

extern "C" __attribute__((visibility("default"))) void torchc_conv(void **ptrs, const int64_t *s, const void *scalars,
                                                                   int64_t, int64_t) {
  using namespace torchc;
  ConvCall call = convCallOf(ptrs, s, scalars);
  if (!conv(call))
    raiseStatus(static_cast<int32_t *>(ptrs[call.bias ? 4 : 3]),
                convKernels(call.dtype).shared ? KernelStatus::NoMemory : KernelStatus::MissingKernel);
}
