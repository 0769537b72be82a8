// Moving data between memory and the layouts of strip kernels. Freestanding C++.
#pragma once
#include "runtime/kernels/Kernel.h"
#include <cstring>

namespace torchc {

/// out[i][j] = in[j][i] for i < rows, j < columns: lines of `out` are `rowStep` elements apart, those of `in` `columnStep`.
/// `turn`: the pack's kernel for the type.
template <class T>
void transpose(Kernel turn, const T *in, int64_t columnStep, int64_t rows, int64_t columns, T *out, int64_t rowStep) {
  if (columns == 1 && rowStep == 1) {
    std::memcpy(out, in, size_t(rows) * sizeof(T));
    return;
  }
  void *ptrs[] = {out, const_cast<T *>(in)};
  int64_t sizes[] = {columnStep, rowStep, columns};
  turn(ptrs, sizes, nullptr, 0, rows);
}

/// A panel's row, whole cache lines. A copy of known size needs no call.
template <class T> inline void copyRow(T *to, const T *from, int64_t count) {
  int64_t bytes = count * int64_t(sizeof(T));
  if (bytes == 64)
    std::memcpy(to, from, 64);
  else if (bytes == 128)
    std::memcpy(to, from, 128);
  else
    for (int64_t i = 0; i < count; i += 64 / int64_t(sizeof(T)))
      std::memcpy(to + i, from + i, 64);
}

/// Columns [from, width) of `count` rows become zero.
template <class T> void clearColumns(T *to, int64_t count, int64_t from, int64_t width) {
  for (int64_t i = 0; from < width && i < count; ++i)
    std::memset(to + i * width + from, 0, size_t(width - from) * sizeof(T));
}

} // namespace torchc
