// Kernels over windows: the strips of convolutions (N5) and pools. Addresses come from tables and sizes at run time, so that one
// kernel serves every geometry.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/Diag.h"

namespace torchc::lower {

/// Rows and columns of the register tile of convolutions.
struct ConvTile {
  unsigned rows, vectors, lanes;
  unsigned columns() const { return vectors * lanes; }
};
ConvTile convTile(const codegen::TargetInfo &target, DType t);

enum class ConvVariant : uint8_t {
  Shared = 0, // A has one element per row and k, aStep is 1: sums over channels or positions
  Lanes = 1, // A has a column's own element: depthwise convolutions
  Stepped = 2, // as Shared, with any aStep
};
inline constexpr unsigned convVariants = 3;

/// Adds a strip kernel (E5): rows [begin, end) of one panel of NR columns. k runs through a table of entries
/// {a offset, b offset, count}: count products at A + rows[i] + a + n * aStep and B + b + n * bStep, n ascending;
///   C[i][j] = (flags & 2 ? C[i][j] : nothing) + chain over the entries of fma(A, B[j], .) from +0,
/// then + bias[j] (flags & 4), then max(., 0) by N7 (flags & 8). Integers multiply and add, wrapping. ptrs = {C, A, B,
/// rows, entries, bias}; sizesStrides = {entries, aStep, bStep, C row stride, flags}. Offsets and strides are i64 and
/// count elements. Shared with flags & 1: rows are neighbours in A, which is asked into the cache an entry ahead; an a offset
/// follows the last entry then.
void emitConvStrip(KernelBuilder &b, llvm::StringRef name, DType t, ConvVariant variant);

enum class PoolKind : uint8_t { Max, MaxIndex, MaxInput, Mean, MeanInput };

/// Adds a kernel (E5) over planes [begin, end): ptrs = {out, in, status}, of MaxInput {out, cotangent, x, status};
/// sizesStrides = PoolGeometry (rules/Window.h). f16 and bf16 are compared, and means summed and divided, in f32.
void emitPool(KernelBuilder &b, llvm::StringRef name, DType t, PoolKind kind);

} // namespace torchc::lower
