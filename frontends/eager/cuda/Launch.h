// Putting together the arguments of device kernels (dialects/rules/DeviceKernel.h).
#pragma once
#include "dialects/rules/DeviceKernel.h"
#include "frontends/eager/cuda/Cuda.h"
#include "runtime/cuda/Cuda.h"

namespace torchc::cuda {

/// The words of one launch, in order.
class Arguments {
public:
  void word(int64_t v) { words[count++] = uint64_t(v); }
  void bits(uint64_t v) { words[count++] = v; }
  void pointer(const void *p) { words[count++] = uint64_t(p); }
  /// deviceRank sizes or strides, innermost first, of `n`.
  void innermostFirst(int n, const int64_t *values, int64_t rest) {
    for (int d = 0; d < deviceRank; ++d)
      word(d < n ? values[n - 1 - d] : rest);
  }
  uint64_t words[deviceArguments];
  int count = 0;
};

/// The current stream of the tensors' device.
CudaStream &streamFor(const TensorImpl *t);
/// Throws NotImplementedError naming `op` and `dtype` where the pack has no such kernel, and on CUDA's errors.
void start(const char *op, DType dtype, uint64_t key, const unsigned (&grid)[3], const unsigned (&block)[3],
           Arguments &a, CudaStream &stream);
/// A thread for each of `n` elements.
void startLinear(const char *op, DType dtype, uint64_t key, int64_t n, Arguments &a, CudaStream &stream);

/// One operand of a pointwise kernel; first the output. Numbers have no memory.
struct Pointwise {
  char *data = nullptr;
  const int64_t *strides = nullptr;
  int64_t itemBytes = 1;
  bool isNumber = false;
  uint64_t number = 0;
};
/// Runs an Elementwise or Cast kernel over `sizes`: dimensions are joined where all operands allow it, and the outer ones of more
/// than deviceRank are walked here.
void runPointwise(const char *op, DType dtype, uint64_t key, const Dims &sizes, const Pointwise *operands, int count,
                  CudaStream &stream, bool mayTrap = false);

/// Ops that read or write through indices along one dimension.
TensorImpl *runIndexed(Resolved &r);

} // namespace torchc::cuda
