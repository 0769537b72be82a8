// Ops whose kernels no generator makes: orders, searches, reductions through an index (runtime/kernels).
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "runtime/core/Status.h"
#include "runtime/kernels/Index.h"
#include "runtime/kernels/Sort.h"

namespace torchc {
namespace {

int64_t wrapped(const Resolved &r, int attr, int rank) {
  int64_t d = r.attr(attr).i;
  return d < 0 ? d + std::max(rank, 1) : d;
}

SortShape shapeOf(const TensorImpl *x, int64_t dim) {
  SortShape s{1, 1, 1};
  for (int i = 0; i < x->rank; i++)
    (i < dim ? s.outer : i > dim ? s.inner : s.size) *= x->sizes()[i];
  return s;
}

void check(const Resolved &r, KernelStatus s) {
  if (s == KernelStatus::Unsupported)
    notImplementedFor(r.info.name, r.operand(0)->dtype);
  if (s != KernelStatus::Ok)
    fail(statusKind(s), std::string(r.info.name) + "(): " + statusText(s));
}

TensorImpl *sorted(Resolved &r) {
  Tensor x(contiguousOf(r.operand(0))), out(newTensor(DType::I64, r.type.dims));
  if (!out->numel)
    return out.take();
  auto *p = reinterpret_cast<int64_t *>(out->data);
  SortShape s = shapeOf(x.impl(), wrapped(r, 0, x->rank));
  check(r, r.info.shape == ShapeRule::Mode ? argmode(x->dtype, x->data, s, p)
                                           : argsort(x->dtype, x->data, s, r.attr(1).i, r.attr(2).i, p));
  return out.take();
}

/// Searched in a type that holds both sides' values.
TensorImpl *searched(Resolved &r) {
  DType t = r.operand(0)->dtype;
  t = isFloat(t) ? computeType(t) : DType::I64;
  Tensor sorted(contiguousAs(r.operand(0), t)), values(contiguousAs(r.operand(1), t));
  Tensor out(newTensor(DType::I64, r.type.dims));
  if (!out->numel)
    return out.take();
  int64_t n = sorted->rank ? sorted->sizes()[sorted->rank - 1] : 1, perRow = values->numel;
  bool shared = sorted->rank <= 1;
  if (!shared)
    perRow = values->sizes()[values->rank - 1];
  check(r, searchSorted(t, sorted->data, n, shared, values->data, values->numel / perRow, perRow, r.attr(0).i,
                        reinterpret_cast<int64_t *>(out->data)));
  return out.take();
}

/// f16 and bf16 are combined in f32 and rounded once.
TensorImpl *scatterReduced(Resolved &r) {
  TensorImpl *index = r.operand(1);
  DType acc = computeType(r.type.dtype);
  Tensor out(copyOf(r.operand(0), acc));
  if (!index->numel)
    return contiguousAs(out.impl(), r.type.dtype);
  Tensor source(contiguousAs(r.operand(2), acc));
  int64_t sizes[maxRank] = {1}, is[maxRank] = {1}, os[maxRank] = {1}, ss[maxRank] = {1};
  DimIndexLoop loop;
  loop.rank = std::max<int>(index->rank, 1);
  loop.dim = int(wrapped(r, 0, out->rank));
  for (int i = 0; i < index->rank; i++) {
    sizes[i] = index->sizes()[i];
    is[i] = index->strides()[i];
  }
  for (int i = 0; i < out->rank; i++)
    os[i] = out->strides()[i];
  for (int i = 0; i < source->rank; i++)
    ss[i] = source->strides()[i];
  loop.sizes = sizes;
  loop.index = index->data;
  loop.indexStrides = is;
  loop.indexType = index->dtype;
  loop.bound = out->rank ? out->sizes()[loop.dim] : 1;
  IndexFault fault;
  KernelStatus s = scatterReduceDim(loop, Combine(r.attr(1).i), acc, out->data, os, source->data, ss, &fault);
  if (s == KernelStatus::IndexOutOfRange)
    fail("index " + std::to_string(fault.value) + " is out of bounds for dimension " + std::to_string(loop.dim) +
         " with size " + std::to_string(loop.bound) + " (" + r.info.name + "(): index out of range in self)");
  check(r, s);
  return contiguousAs(out.impl(), r.type.dtype);
}

} // namespace

TensorImpl *runLibrary(Resolved &r) {
  switch (r.info.shape) {
  case ShapeRule::Sort:
  case ShapeRule::Mode: return sorted(r);
  case ShapeRule::Search: return searched(r);
  case ShapeRule::Scatter: return scatterReduced(r);
  default: fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): not implemented in eager execution");
  }
}

} // namespace torchc
