// Sizes and strides: contiguity, row-major strides, and the simplification that strided loops start with. Strides are in
// elements and may be 0 (expanded) or negative.
#pragma once
#include "dialects/rules/Dims.h" // maxRank
#include <cstdint>

namespace torchc {

/// Product of the sizes; -1 if it leaves int64 (no such tensor exists).
inline int64_t numElements(int rank, const int64_t *sizes) {
  int64_t n = 1;
  bool empty = false;
  for (int i = 0; i < rank; ++i)
    empty |= sizes[i] == 0;
  if (empty)
    return 0;
  for (int i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(n, sizes[i], &n))
      return -1;
  return n;
}

/// Row-major strides as PyTorch gives them: a size of 0 counts as 1.
inline void contiguousStrides(int rank, const int64_t *sizes, int64_t *strides) {
  int64_t n = 1;
  for (int i = rank; i-- > 0;) {
    strides[i] = n;
    n *= sizes[i] > 1 ? sizes[i] : 1;
  }
}

/// Row-major without gaps. Strides of dims of size 1 don't matter, an empty tensor is contiguous.
inline bool isContiguous(int rank, const int64_t *sizes, const int64_t *strides) {
  int64_t n = 1;
  bool dense = true;
  for (int i = rank; i-- > 0;) {
    if (sizes[i] == 0)
      return true;
    if (sizes[i] != 1) {
      dense &= strides[i] == n;
      n *= sizes[i];
    }
  }
  return dense;
}

/// Do all elements have places of their own? False may also mean "not sure" for exotic strides, as in PyTorch.
bool isNonOverlapping(int rank, const int64_t *sizes, const int64_t *strides);

/// The lowest and highest element offset that a view reaches; 0 and -1 for an empty one. False: one leaves int64.
inline bool offsetRange(int rank, const int64_t *sizes, const int64_t *strides, int64_t &low, int64_t &high) {
  low = 0;
  high = -1;
  for (int i = 0; i < rank; ++i)
    if (sizes[i] == 0)
      return true;
  high = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach))
      return false;
    int64_t &end = reach < 0 ? low : high;
    if (__builtin_add_overflow(end, reach, &end))
      return false;
  }
  return true;
}

inline constexpr int maxOperands = 8;

/// An iteration space over up to 8 operands. Rank-0 spaces have one element.
struct LoopNest {
  int rank = 0;
  int numOperands = 0;
  int64_t sizes[maxRank];
  int64_t strides[maxOperands][maxRank];
};

/// Drops dims of size 1, sorts the rest so that the smallest strides come innermost (the first operand's decide, then
/// the others'), and merges neighbours that every operand walks as one. Which elements meet doesn't change, their
/// order does. Empty spaces become rank 1, size 0.
void simplify(LoopNest &nest);

} // namespace torchc
