// Elementwise kernels: one or several fused ops over a contiguous range or an N-d iteration space.
#pragma once
#include "compiler/lower/Expr.h"

namespace torchc::lower {

struct ElementwiseOutput {
  int node;          // its dtype is the memory's
  unsigned slot = 0; // pointer number in ptrs
  llvm::SmallVector<int64_t, 4> strides; // with `sizes`; empty: row-major
};

struct ElementwiseSpec {
  Expr expr;
  llvm::SmallVector<ElementwiseOutput, 2> outputs;
  /// The iteration space, outermost first; -1 is read from sizesStrides[dim]. Empty: the contiguous form over
  /// elements [begin, end). Otherwise [begin, end) is over dim 0.
  llvm::SmallVector<int64_t, 4> sizes;
  /// Vectors in step in the main loop; 0 chooses by the size of the bodies.
  unsigned vectors = 0;
};

/// Adds a kernel (E5) named `name` to the builder's module. Strides may be `dynamicStride`: then sizesStrides[rank +
/// slot * rank + dim] holds it, and such an inner dim is walked element by element. Outputs may be an input's memory at the
/// same index. False, with a text in `diag`, when a body is missing or malformed; the module is then unusable.
bool emitElementwise(KernelBuilder &b, llvm::StringRef name, const ElementwiseSpec &spec, Diag &diag);

} // namespace torchc::lower
