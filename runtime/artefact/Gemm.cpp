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
  GemmKernels kernels{p->strided, p->packed, p->wide, 6, p->columns};
  char *status = static_cast<char *>(ptrs[3]);
  void *scratch = reinterpret_cast<torchc_instance *>(status - offsetof(torchc_instance, status))->scratch;
  int64_t size = itemSize(DType(dtype));
  for (int64_t i = begin; i < end; ++i) {
    GemmCall g{DType(dtype),
               s[1],
               s[2],
               s[3],
               static_cast<const char *>(ptrs[1]) + i * s[4] * size,
               s[5],
               s[6],
               static_cast<const char *>(ptrs[2]) + i * s[7] * size,
               s[8],
               s[9],
               static_cast<char *>(ptrs[0]) + i * s[10] * size,
               s[11]};
    p->rows(&kernels, &g, scratch);
  }
}
