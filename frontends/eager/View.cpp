// View ops: new sizes and strides over the same storage.
#include "frontends/eager/View.h"
#include "frontends/eager/Families.h"
#include <numeric>

namespace torchc {

bool viewStrides(const Dims &sizes, const Dims &strides, const Dims &shape, Dims &out) {
  out = Dims();
  out.resize(shape.size());
  if (shape.numel() == 0) { // as contiguous
    int64_t n = 1;
    for (int i = shape.size(); i-- > 0;) {
      out[i] = n;
      n *= std::max<int64_t>(shape[i], 1);
    }
    return true;
  }
  // Walk chunks of axes of `sizes` that memory has as one, innermost first, and cut each by `shape`.
  int at = shape.size() - 1;
  int64_t chunk = 1, base = strides.size() ? strides.back() : 1, cut = 1;
  for (int i = sizes.size() - 1; i >= 0; i--) {
    chunk *= sizes[i];
    bool ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != chunk * base);
    if (!ends)
      continue;
    while (at >= 0 && (cut < chunk || shape[at] == 1)) {
      out[at] = cut * base;
      cut *= shape[at--];
    }
    if (cut != chunk)
      return false;
    if (i > 0) {
      base = strides[i - 1];
      chunk = cut = 1;
    }
  }
  for (; at >= 0; at--) // only when `sizes` is empty
    out[at] = 1;
  return true;
}

namespace {

TensorImpl *reshaped(Resolved &r, TensorImpl *x) {
  Dims strides;
  if (!viewStrides(x->dims(), Dims(x->strides(), x->rank), r.type.dims, strides))
    fail("view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
         "contiguous subspaces). Use .reshape(...) instead.");
  return newAlias(x, r.type.dims.size(), r.type.dims.data(), strides.data(), 0);
}

TensorImpl *transposed(Resolved &r, TensorImpl *x) {
  Dims strides(x->strides(), x->rank);
  if (x->rank) {
    int a = int(r.attr(0).i < 0 ? r.attr(0).i + x->rank : r.attr(0).i);
    int b = int(r.attr(1).i < 0 ? r.attr(1).i + x->rank : r.attr(1).i);
    std::swap(strides[a], strides[b]);
  }
  return newAlias(x, x->rank, r.type.dims.data(), strides.data(), 0);
}

TensorImpl *expanded(Resolved &r, TensorImpl *x) {
  Dims strides;
  strides.resize(r.type.dims.size());
  broadcastStrides(x, r.type.dims.size(), r.type.dims.data(), &strides[0]);
  int lead = r.type.dims.size() - x->rank;
  for (int i = lead; i < r.type.dims.size(); i++) // size 1 kept: its stride too
    if (r.type.dims[i] == 1 && x->sizes()[i - lead] == 1)
      strides[i] = x->strides()[i - lead];
  return newAlias(x, r.type.dims.size(), r.type.dims.data(), strides.data(), 0);
}

TensorImpl *sliced(Resolved &r, TensorImpl *x) {
  int dim = int(r.attr(0).i < 0 ? r.attr(0).i + x->rank : r.attr(0).i);
  Dims strides(x->strides(), x->rank);
  int64_t offset = r.attr(1).i * strides[dim];
  strides[dim] *= r.attr(3).i;
  return newAlias(x, x->rank, r.type.dims.data(), strides.data(), x->numel ? offset : 0);
}

} // namespace

TensorImpl *runView(Resolved &r) {
  TensorImpl *x = r.operand(0);
  switch (r.info.shape) {
  case ShapeRule::Reshape: return reshaped(r, x);
  case ShapeRule::Transpose: return transposed(r, x);
  case ShapeRule::Expand: return expanded(r, x);
  case ShapeRule::Slice: return sliced(r, x);
  default: fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): no such view in eager execution");
  }
}

} // namespace torchc
