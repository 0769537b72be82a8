// Running reductions along one dimension (N4): y[0] = x[0], y[i] = y[i - 1] o x[i] in the accumulator type.
#pragma once
#include "compiler/lower/Reduce.h"

namespace torchc::lower {

/// Running sum, product, or the index of the latest largest (smallest) element so far, where NaN is the largest (smallest).
enum class ScanKind : uint8_t { Sum, Prod, MaxIndex, MinIndex };
std::optional<ScanKind> scanKind(const OpInfo &info);

/// Adds a kernel (E5) with ptrs = {out, in, status} over contiguous [outer, n, inner] arrays. sizesStrides = {n, inner,
/// first, step}: element i of a scan lies at first + i * step elements; [begin, end) is over outer. n is at least 1.
void emitScan(KernelBuilder &b, llvm::StringRef name, ScanKind kind, DType in);

} // namespace torchc::lower
