// Convolutions by rule N5: layouts, tables and blocks around the pack's strip kernels. Freestanding C++ (no libstdc++, no
// TLS, no exceptions), so that artefacts carry the same code.
#pragma once
#include "dialects/rules/DType.h"
#include "dialects/rules/Isa.h"
#include "dialects/rules/Window.h"
#include "runtime/kernels/Kernel.h"
#include <cstddef>

namespace torchc {

/// What the pack has for one type and ISA: PackForm::Conv with aux = 0 shared, 1 lanes, 2 stepped (compiler/lower/Window.h),
/// and the transposition of GemmKernels.
struct ConvKernels {
  Kernel shared, lanes, stepped, turn;
  int64_t rows, columns; // of a register tile
};

/// y = conv(x, w), or one of its gradients; all row-major. Output: a = x, b = w. Input: a = y, b = w. Weight: a = x,
/// b = y. f32 and f64 with FMA chains, integers wrapping; f16 and bf16 are converted by the caller (N6). `out` overlaps
/// nothing.
struct ConvCall {
  DType dtype;
  ConvWhat what;
  ConvGeometry g;
  const void *a, *b;
  void *out;
  // Output only: added to each channel once, after the last block; then max(., +0).
  const void *bias = nullptr;
  bool relu = false;
};

/// The call of torchc_conv's arguments (below).
inline ConvCall convCallOf(void *const *ptrs, const int64_t *sizes, const void *scalars) {
  const uint64_t *options = static_cast<const uint64_t *>(scalars);
  ConvCall call{DType(options[0]), ConvWhat(options[1]), {}, ptrs[1], ptrs[2], ptrs[0]};
  __builtin_memcpy(&call.g, sizes, sizeof call.g);
  call.bias = options[2] & 1 ? ptrs[3] : nullptr;
  call.relu = options[2] & 2;
  return call;
}

/// Bytes of scratch memory (64-byte aligned) that one thread needs for a call.
size_t convScratchBytes(const ConvKernels &kernels, const ConvCall &call);

/// The kernels of the pack in use for `t`; null if there are none.
ConvKernels convKernels(DType t);

/// With the pool's threads. False: no kernels for the type, or no memory.
bool conv(const ConvCall &call);

/// A pool over `planes` planes by the pack's kernel (`ptrs` are its), with the pool's threads.
void poolPlanes(Kernel kernel, void **ptrs, int64_t planes, const PoolGeometry &g);

} // namespace torchc

extern "C" {
/// The E5 form for compiled code: ptrs = {out, a, b, bias, int32 status} or, without a bias, {out, a, b, int32 status};
/// sizesStrides = ConvGeometry; scalars = {dtype, ConvWhat, bit 0: has a bias, bit 1: relu} as u64.
void torchc_conv(void **ptrs, const int64_t *sizesStrides, const void *scalars, int64_t begin, int64_t end);
}
