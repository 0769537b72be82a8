// torchc_conv of a shipped model: the runtime's code on the caller's thread, with the kernels that the compiler put in and
// scratch memory that `create` took, so that `run` allocates nothing. Freestanding C++.
#include "runtime/artefact/Runtime.h"
#include "runtime/kernels/ConvPlan.cpp"
#include "runtime/kernels/ConvTables.cpp"

using namespace torchc;

extern "C" void torchc_conv(void **ptrs, const int64_t *s, const void *scalars, int64_t, int64_t) {
  ConvCall call = convCallOf(ptrs, s, scalars);
  const torchc_conv_desc *d = torchc_desc.convolutions; // has every type that the model convolves
  while (d->dtype != uint32_t(call.dtype))
    ++d;
  ConvKernels kernels{d->shared, d->lanes, d->stepped, d->turn, d->rows, d->columns};
  char *status = static_cast<char *>(ptrs[call.bias ? 4 : 3]);
  d->run(&kernels, &call, reinterpret_cast<torchc_instance *>(status - offsetof(torchc_instance, status))->scratch);
}
