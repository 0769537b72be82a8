// View ops: new sizes and strides over the same storage.
#include "frontends/eager/View.h"
#include "frontends/eager/Families.h"
#include "runtime/core/Layout.h"
#include <algorithm>
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

bool isDense(const TensorImpl *t) {
  if (t->contiguous())
    return true;
  int order[maxRank], n = 0;
  for (int i = 0; i < t->rank; i++)
    if (t->sizes()[i] != 1)
      order[n++] = i;
  std::sort(order, order + n, [&](int a, int b) { return t->strides()[a] < t->strides()[b]; });
  int64_t step = 1;
  for (int i = 0; i < n; i++) {
    if (t->strides()[order[i]] != step)
      return false;
    step *= t->sizes()[order[i]];
  }
  return true;
}

bool sameView(const TensorImpl *a, const TensorImpl *b) {
  if (a->data != b->data || !sameShape(a, b) || a->dtype != b->dtype)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->strides()[i] != b->strides()[i] && a->sizes()[i] != 1) // a stride over one element leads nowhere
      return false;
  return true;
}

bool overlaps(const TensorImpl *a, const TensorImpl *b) {
  if (!a->storage || a->storage != b->storage || !a->numel || !b->numel)
    return false;
  int64_t low[2], high[2];
  const TensorImpl *t[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    offsetRange(t[i]->rank, t[i]->sizes(), t[i]->strides(), low[i], high[i]);
    int64_t at = t[i]->data - t[i]->storage->data, item = itemSize(t[i]->dtype);
    low[i] = at + low[i] * item;
    high[i] = at + high[i] * item + item - 1;
  }
  return low[0] <= high[1] && low[1] <= high[0];
}

void refuseOverlap(const TensorImpl *read, const TensorImpl *written) {
  if (overlaps(read, written) && !sameView(read, written) && isDense(read) && isDense(written))
    fail("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
         "location. Please clone() the tensor before performing the operation.");
}

bool sameOrder(const TensorImpl *a, const TensorImpl *b) {
  if (a->contiguous() || b->contiguous())
    return a->contiguous() && b->contiguous();
  return sameShape(a, b) && isDense(a) && !std::memcmp(a->strides(), b->strides(), size_t(a->rank) * sizeof(int64_t));
}

namespace {

/// All of the result's shape, with the same strides and dense: the result is laid out just so.
bool commonStrides(TensorImpl *const *operands, int n, const Dims &sizes, Dims &out) {
  const TensorImpl *first = nullptr;
  for (int i = 0; i < n; i++) {
    const TensorImpl *t = operands[i];
    if (!t)
      continue;
    if (!(t->dims() == sizes))
      return false;
    if (!first)
      first = t;
    else if (std::memcmp(t->strides(), first->strides(), size_t(t->rank) * sizeof(int64_t)))
      return false;
  }
  if (!first || !isDense(first))
    return false;
  out = Dims(first->strides(), first->rank);
  return true;
}

/// Below 0: dimension a moves faster through memory than b; above: slower; 0: no operand can tell.
int comparePlaces(TensorImpl *const *operands, int n, const Dims &sizes, int a, int b) {
  for (int i = 0; i < n; i++) {
    const TensorImpl *t = operands[i];
    if (!t)
      continue;
    int lead = sizes.size() - t->rank;
    auto stride = [&](int d) -> int64_t {
      return d < lead || (t->sizes()[d - lead] == 1 && sizes[d] != 1) ? 0 : t->strides()[d - lead];
    };
    int64_t x = stride(a), y = stride(b);
    if (!x || !y)
      continue;
    if (x != y)
      return x < y ? -1 : 1;
    if (sizes[a] > sizes[b])
      return 1;
  }
  return 0;
}

} // namespace

bool resultStrides(TensorImpl *const *operands, int n, const Dims &sizes, Dims &out) {
  bool rowMajor = true;
  for (int i = 0; i < n; i++)
    rowMajor &= !operands[i] || operands[i]->contiguous();
  if (sizes.size() < 2)
    return false;
  if (commonStrides(operands, n, sizes, out)) // as the dispatcher's fast path
    return true;
  if (rowMajor)
    return false;
  int order[maxRank], rank = sizes.size(); // fastest first
  for (int i = 0; i < rank; i++)
    order[i] = rank - 1 - i;
  for (int i = 1; i < rank; i++)
    for (int at = i, k = i - 1; k >= 0; k--) {
      int c = comparePlaces(operands, n, sizes, order[k], order[at]);
      if (c > 0)
        std::swap(order[k], order[at]), at = k;
      else if (c < 0)
        break;
    }
  bool same = true;
  int64_t step = 1;
  out = sizes;
  for (int i = 0; i < rank; i++) {
    same &= order[i] == rank - 1 - i;
    out[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return !same;
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
  strides[dim] = steppedStride(strides[dim], r.attr(3).i);
  return newAlias(x, x->rank, r.type.dims.data(), strides.data(), offset);
}

TensorImpl *strided(Resolved &r, TensorImpl *x) {
  const Dims &sizes = r.type.dims;
  const int64_t *strides = r.attr(1).list;
  int64_t offset = r.attr(2).i, low, high, first, bytes;
  int64_t item = itemSize(x->dtype), have = x->storage ? x->storage->nbytes : INT64_MAX;
  bool counted = offsetRange(sizes.size(), sizes.data(), strides, low, high) &&
                 !__builtin_add_overflow(x->storageOffset(), offset, &first) &&
                 !__builtin_add_overflow(first, high, &bytes) && !__builtin_add_overflow(bytes, int64_t(1), &bytes) &&
                 !__builtin_mul_overflow(bytes, item, &bytes);
  if (!counted)
    fail("Storage size calculation overflowed with sizes=" + sizes.str() +
         " and strides=" + Dims(strides, sizes.size()).str());
  if (sizes.numel() && (first < 0 || bytes > have))
    fail("setStorage: sizes " + sizes.str() + ", strides " + Dims(strides, sizes.size()).str() + ", storage offset " +
         std::to_string(first) + ", and itemsize " + std::to_string(item) + " requiring a storage size of " +
         std::to_string(bytes) + " are out of bounds for storage of size " + std::to_string(have));
  return newAlias(x, sizes.size(), sizes.data(), strides, offset);
}

TensorImpl *realParts(Resolved &r, TensorImpl *x) {
  Dims strides(x->strides(), x->rank);
  for (int i = 0; i < x->rank; i++)
    strides[i] *= 2;
  strides.push(1);
  Tensor v(newAlias(x, r.type.dims.size(), r.type.dims.data(), strides.data(), 0));
  v->dtype = r.type.dtype;
  return v.take();
}

TensorImpl *complexPairs(Resolved &r, TensorImpl *x) {
  int last = x->rank - 1;
  if (x->strides()[last] != 1)
    fail("Tensor must have a last dimension with stride 1, got strides " + Dims(x->strides(), x->rank).str());
  Dims strides;
  for (int i = 0; i < last; i++) {
    if (x->strides()[i] % 2 && x->sizes()[i] > 1)
      fail("Tensor must have a stride divisible by 2 for all but last dimension, got strides " +
           Dims(x->strides(), x->rank).str());
    strides.push(x->strides()[i] / 2);
  }
  if (x->storageOffset() % 2)
    fail("Tensor must have a storage_offset divisible by 2, got " + std::to_string(x->storageOffset()));
  Tensor v(newAlias(x, last, r.type.dims.data(), strides.data(), 0));
  v->dtype = r.type.dtype;
  return v.take();
}

} // namespace

TensorImpl *runView(Resolved &r) {
  TensorImpl *x = r.operand(0);
  switch (r.info.shape) {
  case ShapeRule::Reshape: return reshaped(r, x);
  case ShapeRule::Transpose: return transposed(r, x);
  case ShapeRule::Expand: return expanded(r, x);
  case ShapeRule::Slice: return sliced(r, x);
  case ShapeRule::AsStrided: return strided(r, x);
  case ShapeRule::RealParts: return realParts(r, x);
  case ShapeRule::ComplexPairs: return complexPairs(r, x);
  default: fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): no such view in eager execution");
  }
}

} // namespace torchc
