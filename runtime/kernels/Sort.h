// Kernels that order values (N7): stable, NaN above everything, -0 equal to +0. They know no strides but those of the
// sorted dimension.
#pragma once
#include "dialects/rules/DType.h"
#include "runtime/core/Status.h"
#include <cstdint>

namespace torchc {

/// Contiguous [outer, size, inner]; work runs along the middle dimension.
struct SortShape {
  int64_t outer, size, inner;
};

/// out[o, 0..count, i] = the places of the first `count` values of a row in order, ties by ascending place. `descending`
/// puts the largest (NaN) first. out is contiguous [outer, count, inner]. Complex types are Unsupported.
KernelStatus argsort(DType dtype, const void *x, SortShape shape, bool descending, int64_t count, int64_t *out);

/// out[o, i] = the last place of the most frequent value of a row, the smallest of several. size >= 1.
KernelStatus argmode(DType dtype, const void *x, SortShape shape, int64_t *out);

/// out[r, j] = how many of row r's `n` ascending boundaries are below (`right`: not above) values[r, j]; one row of
/// boundaries serves all if `shared`. dtype I64, F32 or F64. NaN is above everything.
KernelStatus searchSorted(DType dtype, const void *boundaries, int64_t n, bool shared, const void *values, int64_t rows,
                          int64_t perRow, bool right, int64_t *out);

/// Order of the rows of a contiguous [rows, columns] matrix, by the first column that differs; stable.
KernelStatus argsortRows(DType dtype, const void *x, int64_t rows, int64_t columns, int64_t *out);

} // namespace torchc
