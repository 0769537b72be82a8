// How ops of each family run once their types are known. One function per family; none looks at an op's name.
#pragma once
#include "dialects/rules/Infer.h"
#include "frontends/eager/JitHooks.h"

namespace torchc {

/// A call with its result type. Operands are computed.
struct Resolved {
  const OpCall &call;
  const OpInfo &info;
  TensorType type;
  Promoted promoted;
  /// In-place and `out=`: a family may write here (and return it retained), or return a new tensor that the dispatcher
  /// copies. Null if the target must not be written while operands are read.
  TensorImpl *target = nullptr;

  TensorImpl *operand(int i) const { return call.operands[i].tensor; }
  const Attr &attr(int i) const { return call.attrs[i]; }
};

/// Each returns an owned tensor, or throws.
TensorImpl *runElementwise(Resolved &r);
TensorImpl *runCast(Resolved &r);
TensorImpl *runReduction(Resolved &r);
TensorImpl *runContraction(Resolved &r);
/// runContraction's convolutions.
TensorImpl *runConvolution(Resolved &r);
TensorImpl *runPooling(Resolved &r);
TensorImpl *runView(Resolved &r);
TensorImpl *runIndexing(Resolved &r);
TensorImpl *runCreation(Resolved &r);
TensorImpl *runRandom(Resolved &r);
TensorImpl *runFused(Resolved &r);
TensorImpl *runLibrary(Resolved &r);

/// Whatever the family: by the op's meaning for complex operands (rules/Complex.h), unseen by tape and tracer.
TensorImpl *runComplex(Resolved &r, uint8_t device);
/// copyInto of or to a complex type: a real number has the imaginary part 0, a complex one loses its own (N8).
void copyComplex(TensorImpl *dst, TensorImpl *src);

/// Elementwise ops whose operands meet in a stored type.
TensorImpl *runStored(Resolved &r);

/// A new tensor of the call's result type, laid out as PyTorch lays out elementwise results.
TensorImpl *newLaidOut(const Resolved &r);
/// A contiguous copy, or t itself retained.
TensorImpl *contiguousOf(TensorImpl *t);
/// Contiguous and of type `dtype`, copied if it must be.
TensorImpl *contiguousAs(TensorImpl *t, DType dtype);
/// Always a fresh contiguous copy. Neither recorded nor on the tape.
TensorImpl *copyOf(TensorImpl *t, DType dtype);
/// dst[...] = src[...] with src broadcast to dst's shape and converted.
void copyInto(TensorImpl *dst, TensorImpl *src);
/// A number's bits in the type kernels read it in: rounded first to `common` if `through`.
uint64_t numberBits(const Scalar &s, DType common, bool through = false);
/// Strides of t seen in the shape `dims` by broadcasting.
void broadcastStrides(const TensorImpl *t, int rank, const int64_t *sizes, int64_t *strides);
/// A number as an element of type `t` (N2: rounded to the op-math type, then to t).
uint64_t elementBits(const Scalar &s, DType t);
/// Throws if a kernel has trapped.
void checkStatus(const char *op);
[[noreturn]] void notImplementedFor(const char *op, DType t);

} // namespace torchc
