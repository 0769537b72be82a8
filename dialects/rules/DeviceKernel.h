// Kernels of devices with threads of their own (CUDA): which there are and how they take their arguments. What the generator
// (compiler/lower/device) and the launcher (runtime/cuda) agree on.
//
// Every argument is one 64-bit word: a pointer, an integer, or the bits of a number. A `space` is `rank` and deviceRank
// sizes, innermost first, all sizes positive; an operand over it is a pointer and deviceRank strides in elements.
#pragma once
#include "dialects/rules/DType.h"
#include <cstdint>

namespace torchc {

enum class DeviceForm : uint8_t {
  /// {n, mask, space, out, in0 .., numbers of in0 .., status}: a thread per element. Operand i with bit i of `mask` is the
  /// number, in the compute type (f16/bf16 as f32). dtype is the operands'.
  Elementwise = 1,
  /// The same with one input. dtype = from, aux = to; from a number of type `from` (as stored) it fills.
  Cast = 2,
  /// {in, out, n, blocks}: block (row, b) of N4, of rows that lie one after the other; gives one accumulator each.
  /// deviceChains() threads a thread block, grid = rows * blocks. dtype = the input's.
  Reduce = 3,
  /// {in, out, count, had, has}: pairs neighbours of each row of `had` accumulators into `has`; count = rows * has.
  Combine = 4,
  /// {in, extremes, out, n}: the first place of the row's extreme; a thread block of deviceThreads per row.
  Find = 5,
  /// {m, n, k, a, row and column stride, b, row and column stride, c, batches as a space, batch strides of a, of b}:
  /// N3; tiles of deviceTile^2 threads, grid = {column tiles, row tiles, batches}; c is dense. op = 0.
  Matmul = 6,
  /// {x, y, out, n, blocks}: as Reduce, with the products of two vectors; one row.
  Dot = 7,
  /// {lines, space, target, source, index, count, strides of target, source and index along the dimension, bound, fault}:
  /// a thread per line takes target[j] = source[index[j]] for j < count. dtype is an integer of the element's size, op = 0.
  Gather = 9,
  /// The same with target[index[j]] = source[j], in order.
  Scatter = 10,
  /// The same with += in the type.
  ScatterAdd = 11,
  /// {out, n, start, step}: start + i * step. dtype = i64 or f64, op = 0.
  Arange = 8,
};

inline constexpr int deviceRank = 6;
inline constexpr int deviceThreads = 256;
inline constexpr int deviceTile = 16;
inline constexpr int deviceReduceBlock = 1024;
/// Chains of N4, which are the threads of a Reduce block.
constexpr int deviceChains(int accumulatorBytes) { return accumulatorBytes == 8 ? 32 : 64; }
/// form << 56 | aux << 48 | dtype << 40 | op.
constexpr uint64_t deviceKey(DeviceForm form, uint32_t op, DType dtype, uint32_t aux = 0) {
  return uint64_t(form) << 56 | uint64_t(aux & 0xff) << 48 | uint64_t(dtype) << 40 | op;
}
/// The most arguments a kernel has.
inline constexpr int deviceArguments = 64;

} // namespace torchc
