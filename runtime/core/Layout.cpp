#include "runtime/core/Layout.h"
#include <algorithm>
#include <cstdlib>
#include <utility>

namespace torchc {
namespace {

/// Does dim `a` belong inside dim `b`? The first operand that tells them apart decides; broadcast dims (stride 0) say
/// nothing. 1 yes, -1 no, 0 undecided.
int inside(const LoopNest &n, int a, int b) {
  for (int k = 0; k < n.numOperands; ++k) {
    int64_t x = std::abs(n.strides[k][a]), y = std::abs(n.strides[k][b]);
    if (x == 0 || y == 0 || x == y)
      continue;
    return x < y ? 1 : -1;
  }
  return 0;
}

void copyDim(LoopNest &n, int to, int from) {
  n.sizes[to] = n.sizes[from];
  for (int k = 0; k < n.numOperands; ++k)
    n.strides[k][to] = n.strides[k][from];
}

void swapDims(LoopNest &n, int a, int b) {
  std::swap(n.sizes[a], n.sizes[b]);
  for (int k = 0; k < n.numOperands; ++k)
    std::swap(n.strides[k][a], n.strides[k][b]);
}

bool mergeable(const LoopNest &n, int outer, int inner) {
  for (int k = 0; k < n.numOperands; ++k)
    if (n.strides[k][outer] != n.strides[k][inner] * n.sizes[inner])
      return false;
  return true;
}

} // namespace

void simplify(LoopNest &n) {
  int rank = 0;
  for (int i = 0; i < n.rank; ++i) {
    if (n.sizes[i] == 0) {
      n.rank = 1;
      n.sizes[0] = 0;
      for (int k = 0; k < n.numOperands; ++k)
        n.strides[k][0] = 0;
      return;
    }
    if (n.sizes[i] != 1)
      copyDim(n, rank++, i);
  }
  n.rank = rank;
  // Insertion sort: stable, and the usual case is sorted already. Undecided pairs are looked past, as far as the next
  // decided one.
  for (int i = 1; i < rank; ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      int c = inside(n, j, at);
      if (c > 0) {
        swapDims(n, j, at);
        at = j;
      } else if (c < 0)
        break;
    }
  }
  if (!rank)
    return;
  int last = 0;
  for (int i = 1; i < rank; ++i) {
    if (mergeable(n, last, i)) {
      int64_t size = n.sizes[last];
      copyDim(n, last, i);
      n.sizes[last] *= size;
    } else
      copyDim(n, ++last, i);
  }
  n.rank = last + 1;
}

bool isNonOverlapping(int rank, const int64_t *sizes, const int64_t *strides) {
  std::pair<int64_t, int64_t> dims[maxRank]; // |stride|, size
  int n = 0;
  for (int i = 0; i < rank && n < maxRank; ++i) {
    if (sizes[i] == 0)
      return true;
    if (sizes[i] != 1)
      dims[n++] = {std::abs(strides[i]), sizes[i]};
  }
  std::sort(dims, dims + n);
  int64_t reach = 0; // the farthest offset of the dims so far
  for (int i = 0; i < n; ++i) {
    if (dims[i].first <= reach)
      return false;
    reach += dims[i].first * (dims[i].second - 1);
  }
  return true;
}

} // namespace torchc
