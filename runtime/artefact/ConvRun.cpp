// Convolutions of one element size, compiled once for each: a file of its own, so that an artefact carries what it needs.
#include "runtime/kernels/ConvRun.h"
#include "runtime/kernels/ConvWeight.h"

#define TORCHC_JOIN(a, b) a##b
#define TORCHC_NAME(a, b) TORCHC_JOIN(a, b)

namespace {
/// One thread, and memory that is there already.
struct ScratchPool {
  char *at;
  void *shared(size_t bytes) {
    char *p = at;
    at += (bytes + 63) & ~size_t(63);
    return p;
  }
  template <class F> bool each(int64_t n, int64_t, size_t, F f) {
    if (n > 0)
      f(int64_t(0), n, static_cast<void *>(at));
    return true;
  }
};
} // namespace

extern "C" void TORCHC_NAME(torchc_conv_run_, TORCHC_GEMM_BYTES)(const void *kernels, const void *call, void *scratch) {
  using namespace torchc;
  const ConvKernels &ks = *static_cast<const ConvKernels *>(kernels);
  const ConvCall &c = *static_cast<const ConvCall *>(call);
  ScratchPool pool{static_cast<char *>(scratch)};
  if (c.what == ConvWhat::Weight)
    ConvWeight<TORCHC_GEMM_TYPE>(ks, c).run(pool);
  else
    ConvRows<TORCHC_GEMM_TYPE>(ks, c).run(pool);
}
