// Panel micro-kernels of the contraction rule N3: tiles of rows x NR columns of C in registers, k ascending.
#pragma once
#include "compiler/lower/KernelBuilder.h"

namespace torchc::lower {

/// Rows and columns of the register tile for a type: two vectors wide on 16 registers, four on 32.
struct GemmTile {
  unsigned rows, vectors, lanes;
  unsigned columns() const { return vectors * lanes; }
};
GemmTile gemmTile(const codegen::TargetInfo &target, DType t);

enum class GemmVariant : uint8_t {
  Strided = 0, // A by row and k strides
  Packed = 1,  // A in strips of `rows` rows: element (r, k) of a strip at rows * k + r
  Wide = 2,    // a single row of A, four panels of B at once: enough chains to hide the latency of an FMA
  Copy = 3,    // Strided, one tile of gemmCopyRows rows or more, whose panel of B is left packed at `copy`
};
inline constexpr unsigned gemmVariants = 4; // a fifth kernel is emitTurn's
inline constexpr unsigned gemmWidePanels = 4;
inline constexpr unsigned gemmCopyRows = 4; // more than six rows are cut into tiles of four to six

/// Adds a strip kernel (E5): rows [begin, end) of one panel of NR columns,
///   C[i][j] = (flags & 2 ? C[i][j] : nothing) + chain over k of fma(A[i][k], B[k][j], .) from (flags & 1 ? chain[i][j] : +0).
/// Integers multiply and add, wrapping. ptrs = {C, A, B, next, copy [K][NR] (Copy), chain [rows][NR] (Strided, Copy)};
/// sizesStrides = {K, A row stride, A k stride, B k stride, C row stride, flags, rows per tile (1 to tile.rows), elements of A
/// from one row's tile to the next row's, B stride from panel to panel (Wide), cache lines of `next` to prefetch per tile,
/// elements of `next` from the lines to prefetch at one k to those at the next (Copy)}. Strides count elements.
void emitGemmStrip(KernelBuilder &b, llvm::StringRef name, DType t, GemmVariant variant);

/// Adds a kernel (E5) that transposes, as packing does: out[k * rowStep + n] = in[n * columnStep + k] for k in [begin, end) and
/// n < columns. ptrs = {out, in}; sizesStrides = {columnStep, rowStep, columns}, in elements.
void emitTurn(KernelBuilder &b, llvm::StringRef name, DType t);

} // namespace torchc::lower
