// Ops that read or write by integer tensors, joins, and slices written as values.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "runtime/kernels/Index.h"

namespace torchc {
namespace {

int64_t wrapped(const Resolved &r, int attr, int rank) {
  int64_t d = r.attr(attr).i;
  return d < 0 ? d + std::max(rank, 1) : d;
}

/// Sizes before, at and behind a dimension; a 0-d tensor counts as one element.
struct Around {
  int64_t outer = 1, size = 1, inner = 1;
  Around(const TensorImpl *t, int64_t dim) {
    for (int i = 0; i < t->rank; i++)
      (i < dim ? outer : i > dim ? inner : size) *= t->sizes()[i];
  }
};

void checkIndex(KernelStatus s, const IndexFault &fault, const Resolved &r, int64_t dim, int64_t bound) {
  if (s == KernelStatus::Ok)
    return;
  bool elementwise = r.info.shape == ShapeRule::Gather || r.info.shape == ShapeRule::Scatter; // PyTorch's classes
  if (s == KernelStatus::IndexOutOfRange)
    fail(elementwise ? ErrorKind::Runtime : ErrorKind::Index,
         "index " + std::to_string(fault.value) + " is out of bounds for dimension " + std::to_string(dim) +
             " with size " + std::to_string(bound) + " (" + r.info.name + "(): index out of range in self)");
  fail(statusKind(s), std::string(r.info.name) + "(): " + statusText(s));
}

IndexVector vectorOf(TensorImpl *index) {
  return {index->data, index->dtype, index->numel, index->rank ? index->strides()[0] : 1};
}

TensorImpl *indexSelected(Resolved &r) {
  Tensor x(contiguousOf(r.operand(0)));
  int64_t dim = wrapped(r, 0, x->rank);
  Around a(x.impl(), dim);
  Tensor out(newTensor(r.type.dtype, r.type.dims));
  IndexFault fault;
  checkIndex(
      indexSelect(out->data, x->data, vectorOf(r.operand(1)), a.outer, a.size, a.inner * itemSize(x->dtype), &fault),
      fault, r, dim, a.size);
  return out.take();
}

/// Operand 0 in `acc`, contiguous, to be changed: itself in place, unless something that is read shares its memory.
Tensor toChange(Resolved &r, DType acc) {
  TensorImpl *x = r.operand(0);
  bool itself = r.target == x && x->dtype == acc && r.type.dtype == acc && x->contiguous();
  for (int i = 1; i < r.call.numOperands; i++)
    itself &= !r.operand(i) || r.operand(i)->storage != x->storage;
  return itself ? Tensor::borrow(x) : Tensor(copyOf(x, acc));
}

/// f16 and bf16 accumulate in f32 and are rounded once (N4, N6).
TensorImpl *indexAdded(Resolved &r) {
  DType acc = computeType(r.type.dtype);
  Tensor out = toChange(r, acc), source(contiguousAs(r.operand(2), acc));
  int64_t dim = wrapped(r, 0, out->rank);
  Around a(out.impl(), dim);
  IndexFault fault;
  checkIndex(indexAdd(acc, out->data, source->data, vectorOf(r.operand(1)), a.outer, a.size, a.inner, &fault), fault, r,
             dim, a.size);
  return contiguousAs(out.impl(), r.type.dtype);
}

/// Strides for a loop over `index`'s shape; 0-d tensors take part as [1].
struct LoopStrides {
  int64_t v[maxRank];
  LoopStrides(const TensorImpl *t, int rank) {
    v[0] = 1;
    for (int i = 0; i < rank && i < t->rank; i++)
      v[i] = t->strides()[i];
  }
};

DimIndexLoop loopOf(const Resolved &r, const TensorImpl *index, const TensorImpl *indexed, const LoopStrides &strides,
                    int64_t *sizes) {
  DimIndexLoop loop;
  loop.rank = std::max<int>(index->rank, 1);
  loop.dim = int(wrapped(r, 0, indexed->rank));
  sizes[0] = 1;
  for (int i = 0; i < index->rank; i++)
    sizes[i] = index->sizes()[i];
  loop.sizes = sizes;
  loop.index = index->data;
  loop.indexStrides = strides.v;
  loop.indexType = index->dtype;
  loop.bound = indexed->rank ? indexed->sizes()[loop.dim] : 1;
  return loop;
}

TensorImpl *gathered(Resolved &r) {
  TensorImpl *x = r.operand(0), *index = r.operand(1);
  Tensor out(newTensor(r.type.dtype, r.type.dims));
  if (!out->numel)
    return out.take();
  int64_t sizes[maxRank];
  int rank = std::max<int>(index->rank, 1);
  LoopStrides is(index, rank), os(out.impl(), rank), xs(x, rank);
  DimIndexLoop loop = loopOf(r, index, x, is, sizes);
  IndexFault fault;
  checkIndex(gatherDim(loop, out->data, os.v, x->data, xs.v, int(itemSize(x->dtype)), &fault), fault, r, loop.dim,
             loop.bound);
  return out.take();
}

/// `adds`: source adds to what is there, in index order; else the last write wins.
TensorImpl *scattered(Resolved &r, bool adds) {
  DType acc = adds ? computeType(r.type.dtype) : r.type.dtype;
  Tensor out = toChange(r, acc);
  TensorImpl *index = r.operand(1);
  if (!index->numel)
    return contiguousAs(out.impl(), r.type.dtype);
  Tensor source(r.operand(2) ? r.operand(2)->dtype == acc ? retain(r.operand(2)) : copyOf(r.operand(2), acc)
                             : newTensor(acc, Dims()));
  int64_t sizes[maxRank];
  int rank = std::max<int>(index->rank, 1);
  LoopStrides is(index, rank), os(out.impl(), rank), ss(source.impl(), rank);
  DimIndexLoop loop = loopOf(r, index, out.impl(), is, sizes);
  IndexFault fault;
  KernelStatus s = adds ? scatterAddDim(loop, acc, out->data, os.v, source->data, ss.v, &fault)
                        : scatterDim(loop, out->data, os.v, source->data, ss.v, int(itemSize(acc)), &fault);
  checkIndex(s, fault, r, loop.dim, loop.bound);
  return contiguousAs(out.impl(), r.type.dtype);
}

/// A view of [start, start + extent) of one dimension.
Tensor sliceOf(TensorImpl *t, int64_t dim, int64_t start, int64_t extent, int64_t step = 1) {
  Dims sizes = t->dims(), strides(t->strides(), t->rank);
  int64_t offset = extent ? start * strides[int(dim)] : 0;
  sizes[int(dim)] = extent;
  strides[int(dim)] = steppedStride(strides[int(dim)], step);
  return Tensor(newAlias(t, t->rank, sizes.data(), strides.data(), offset));
}

TensorImpl *joined(Resolved &r) {
  Tensor out(newTensor(r.type.dtype, r.type.dims, r.operand(0)->device));
  int64_t dim = wrapped(r, 0, out->rank), start = 0;
  for (int i = 0; i < r.call.numOperands; i++) {
    TensorImpl *x = r.operand(i);
    if (x->rank != out->rank) // a 1-D tensor without elements
      continue;
    int64_t extent = x->sizes()[dim];
    if (x->numel)
      copyInto(sliceOf(out.impl(), dim, start, extent).impl(), x);
    start += extent;
  }
  return out.take();
}

TensorImpl *sliceUpdated(Resolved &r) {
  Tensor out(copyOf(r.operand(0), r.type.dtype));
  TensorImpl *y = r.operand(1);
  int64_t dim = wrapped(r, 0, out->rank);
  if (y->numel)
    copyInto(sliceOf(out.impl(), dim, r.attr(1).i, y->sizes()[dim], r.attr(3).i).impl(), y);
  return out.take();
}

} // namespace

TensorImpl *runIndexing(Resolved &r) {
  switch (r.info.shape) {
  case ShapeRule::IndexSelect: return indexSelected(r);
  case ShapeRule::IndexUpdate: return indexAdded(r);
  case ShapeRule::Gather: return gathered(r);
  case ShapeRule::Scatter: return scattered(r, r.call.op == OpId::ScatterAdd);
  case ShapeRule::Cat: return joined(r);
  case ShapeRule::SliceUpdate: return sliceUpdated(r);
  default: fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): not implemented in eager execution");
  }
}

} // namespace torchc
