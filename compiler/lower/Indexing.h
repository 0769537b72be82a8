// Loops that look one coordinate up in an index tensor: gather, scatter, scatter_add and, over [outer, i, inner],
// index_select and index_add.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/Diag.h"
#include "dialects/rules/Dims.h"

namespace torchc::lower {

enum class IndexMode : uint8_t {
  Read,       // out[i..] = in[i.. with i[dim] looked up]
  Write,      // out[i.. with i[dim] looked up] = in[i..]; the last one in row-major order wins
  Accumulate, // the same with +=, in row-major order from out's value (N4)
};

/// Strides are in elements, one per dimension of the loop.
struct IndexLoop {
  IndexMode mode;
  DType dtype, indexType; // Accumulate: not f16 or bf16, which accumulate in f32
  Dims sizes;             // of the loop
  int dim;
  int64_t bound;          // of the looked-up dimension
  Dims outStrides, inStrides, indexStrides;
};

/// Adds a kernel (E5) with ptrs = {out, in, index, status}. It checks every index first; one outside [0, bound) sets the
/// status word to KernelStatus::IndexOutOfRange and nothing is written.
bool emitIndexLoop(KernelBuilder &b, llvm::StringRef name, const IndexLoop &loop, Diag &diag);

} // namespace torchc::lower
