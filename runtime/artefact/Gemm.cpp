// torchc_gemm of a shipped model: the runtime's code on the caller's thread, with the kernels that the compiler put in
// and scratch memory that `create` took, so that `run` allocates nothing. Freestanding C++.
#include "runtime/kernels/Gemm.h"
#include "runtime/artefact/Runtime.h"

using namespace torchc;

extern "C" void torchc_gemm(void **ptrs, const int64_t *s, const void *scalars, int64_t begin, int64_t end) {
  uint64_t dtype = *static_cast<const uint64_t *>(scalars);
  const torchc_product_desc *p = torchc_desc.products; // has every type that the model multiplies
  while (p->dtype != dtype)
    ++p;
  GemmKernels kernels{p->strided, p->packed, p->wide, p->copy, p->turn, gemmTileRows, p->columns};
  char *status = static_cast<char *>(ptrs[3]);
  void *scratch = reinterpret_cast<torchc_instance *>(status - offsetof(torchc_instance, status))->scratch;
  for (int64_t i = begin; i < end; ++i) {
    GemmCall g = gemmCallOf(DType(dtype), ptrs, s, i);
    p->rows(&kernels, &g, scratch);
  }
}
