// The view functions' counterparts that always copy.
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {

static std::vector<Tensor> copies(std::vector<Tensor> views) {
  for (Tensor &v : views)
    v = cloneOf(v);
  return views;
}

Tensor diagonalCopy(const Tensor &input, int64_t offset, int64_t dim1, int64_t dim2) {
  return cloneOf(diagonalOf(contiguousTensor(input), offset, dim1, dim2));
}
Tensor expandCopy(const Tensor &input, IntList size) { return cloneOf(expandSize(input, size)); }
Tensor permuteCopy(const Tensor &input, IntList dims) { return cloneOf(permuteDims(input, dims)); }
Tensor selectCopy(const Tensor &input, int64_t dim, int64_t index) { return cloneOf(selectIndex(input, dim, index)); }
Tensor narrowCopy(const Tensor &input, int64_t dim, int64_t start, int64_t length) {
  return cloneOf(narrowDim(input, dim, start, length));
}
Tensor squeezeCopyAll(const Tensor &input) { return cloneOf(squeezeAll(input)); }
Tensor squeezeCopyDim(const Tensor &input, int64_t dim) { return cloneOf(squeezeDim(input, dim)); }
Tensor squeezeCopyDims(const Tensor &input, IntList dim) { return cloneOf(squeezeDims(input, dim)); }
Tensor unsqueezeCopy(const Tensor &input, int64_t dim) { return cloneOf(unsqueezeDim(input, dim)); }
Tensor tCopy(const Tensor &input) { return cloneOf(tMatrix(input)); }
Tensor transposeCopy(const Tensor &input, int64_t dim0, int64_t dim1) {
  return cloneOf(transposeDims(input, dim0, dim1));
}
Tensor viewCopy(const Tensor &input, IntList size) { return reshapeOrCopy(cloneOf(input), size); }
std::vector<Tensor> unbindCopy(const Tensor &input, int64_t dim) { return copies(unbindDim(input, dim)); }
std::vector<Tensor> splitSizesCopy(const Tensor &input, IntList sizes, int64_t dim) {
  return copies(composite::splitSizes(input, sizes, dim));
}

} // namespace torchc::composite
