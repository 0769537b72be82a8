#include "frontends/eager/Index.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc {
namespace {

using composite::attr;

[[noreturn]] void outOfRange(int64_t i, int dim, int64_t size) {
  fail(ErrorKind::Index, "index " + std::to_string(i) + " is out of bounds for dimension " + std::to_string(dim) +
                             " with size " + std::to_string(size));
}

int consumed(const IndexItem &i) {
  switch (i.kind) {
  case IndexItem::Integer:
  case IndexItem::Slice: return 1;
  case IndexItem::Mask: return i.tensor->dtype == DType::Bool ? i.tensor->rank : 1;
  default: return 0;
  }
}

int64_t clamped(int64_t v, int64_t size) {
  if (v < 0)
    v += size;
  return std::clamp<int64_t>(v, 0, size);
}

Tensor sliced(const Tensor &x, int dim, const IndexItem &i) {
  if (i.step <= 0)
    fail(ErrorKind::Value, i.step ? "step must be greater than zero" : "slice step cannot be zero");
  int64_t size = x->sizes()[dim];
  int64_t start = i.hasStart ? clamped(i.start, size) : 0, stop = i.hasStop ? clamped(i.stop, size) : size;
  stop = std::max(start, stop);
  if (start == 0 && stop == size && i.step == 1)
    return x;
  return callOp(OpId::Slice, {x},
                {Attr::integer(dim), Attr::integer(start), Attr::integer(stop), Attr::integer(i.step)});
}

/// The basic items applied; `dim` and `index` name the one index tensor, if any.
struct Applied {
  Tensor view;
  int dim = -1;
  Tensor index;
};

Applied applyBasic(const Tensor &x, List<IndexItem> items) {
  int used = 0, ellipses = 0, tensors = 0;
  for (const IndexItem &i : items) {
    used += consumed(i);
    ellipses += i.kind == IndexItem::Ellipsis;
    tensors += i.kind == IndexItem::Mask;
  }
  if (used > x->rank)
    fail(ErrorKind::Index, "too many indices for tensor of dimension " + std::to_string(x->rank));
  if (ellipses > 1)
    fail(ErrorKind::Index, "an index can only have a single ellipsis ('...')");
  if (tensors > 1)
    fail(ErrorKind::NotImplemented, "indexing with more than one index tensor is not implemented");
  Applied a{x};
  int dim = 0;
  for (const IndexItem &i : items) {
    switch (i.kind) {
    case IndexItem::Integer:
      if (int64_t size = a.view->sizes()[dim]; i.start < -size || i.start >= size)
        outOfRange(i.start, dim, size);
      a.view = composite::selectIndex(a.view, dim, i.start);
      break;
    case IndexItem::Slice:
      a.view = sliced(a.view, dim, i);
      dim++;
      break;
    case IndexItem::Ellipsis: dim += x->rank - used; break;
    case IndexItem::NewAxis:
      a.view = composite::unsqueezeDim(a.view, dim);
      dim++;
      break;
    case IndexItem::Mask:
      a.dim = dim;
      a.index = i.tensor;
      dim += consumed(i);
      break;
    }
  }
  return a;
}

/// Linear positions of true elements, ascending. Reads the mask.
Tensor positions(const Tensor &mask) {
  if (threadState.modes.flags & (FlagRecording | FlagRetracing))
    noteEffect(Effect::ReadValue, mask.impl());
  Tensor m = composite::contiguousTensor(mask);
  materialize(m.impl());
  int64_t count = 0;
  for (int64_t i = 0; i < m->numel; i++)
    count += m->data[i] != 0;
  Tensor out(newTensor(DType::I64, Dims({count})));
  auto *p = reinterpret_cast<int64_t *>(out->data);
  for (int64_t i = 0; i < m->numel; i++)
    if (m->data[i])
      *p++ = i;
  return out;
}

/// Turns the index tensor into a 1-D int64 one over a single dimension of the view, and tells the result's shape there.
struct Lookup {
  Tensor view; // with the indexed dimensions as one
  Tensor index;
  Dims shape; // what replaces the dimension
};

Lookup lookupOf(const Applied &a) {
  Lookup l;
  const Tensor &t = a.index;
  if (t->dtype == DType::Bool) {
    for (int i = 0; i < t->rank; i++)
      if (t->sizes()[i] != a.view->sizes()[a.dim + i])
        fail(ErrorKind::Index, "The shape of the mask " + t->dims().str() + " at index " + std::to_string(i) +
                                   " does not match the shape of the indexed tensor " + a.view->dims().str() +
                                   " at index " + std::to_string(a.dim + i));
    l.index = positions(t);
    Dims merged(a.view->sizes(), a.dim);
    merged.push(t->numel);
    for (int i = a.dim + t->rank; i < a.view->rank; i++)
      merged.push(a.view->sizes()[i]);
    l.view = composite::reshaped(a.view, merged);
    l.shape = l.index->dims();
    return l;
  }
  if (!isIntegral(t->dtype))
    fail(ErrorKind::Index, "tensors used as indices must be long, int, byte or bool tensors");
  int64_t size = a.view->sizes()[a.dim];
  Tensor index = composite::as(t, DType::I64);
  Tensor negative = callOp(OpId::Lt, {index, 0});
  index = callOp(OpId::Where, {negative, callOp(OpId::Add, {index, size}), index});
  l.index = composite::ravelAll(index);
  l.view = a.view;
  l.shape = t->dims();
  return l;
}

Dims replaced(const Tensor &view, int dim, const Dims &with) {
  Dims out(view->sizes(), dim);
  for (int64_t s : with)
    out.push(s);
  for (int i = dim + 1; i < view->rank; i++)
    out.push(view->sizes()[i]);
  return out;
}

} // namespace

Tensor applyIndex(const Tensor &x, List<IndexItem> items) {
  Applied a = applyBasic(x, items);
  if (a.dim < 0) // Python expects a new tensor
    return a.view.same(x) ? composite::viewSize(x, x.sizes()) : a.view;
  Lookup l = lookupOf(a);
  Tensor picked = callOp(OpId::IndexSelect, {l.view, l.index}, {Attr::integer(a.dim)});
  return composite::reshaped(picked, replaced(l.view, a.dim, l.shape));
}

void assignIndex(const Tensor &x, List<IndexItem> items, const Operand &value) {
  Applied a = applyBasic(x, items);
  if (a.dim < 0) {
    if (value.isNumber()) {
      fill_(a.view, value);
      return;
    }
    Tensor v = Tensor::borrow(value.tensor);
    // Leading dimensions of size 1 beyond the view's are dropped, as in PyTorch.
    while (v->rank > a.view->rank && v->sizes()[0] == 1)
      v = composite::squeezeDim(v, 0);
    copy_(a.view, v);
    return;
  }
  if (a.index->dtype == DType::Bool && value.isNumber()) {
    Tensor mask = a.index;
    Dims shape = mask->dims();
    for (int i = a.dim + mask->rank; i < a.view->rank; i++)
      shape.push(1);
    masked_fill_(a.view, composite::reshaped(mask, shape), value);
    return;
  }
  Lookup l = lookupOf(a);
  if (!(l.view->storage == x->storage))
    fail(ErrorKind::NotImplemented, "assignment through a mask over dimensions that memory doesn't have as one");
  Tensor v = value.tensor ? composite::as(Tensor::borrow(value.tensor), x->dtype)
                          : composite::fullTensor(Dims(), value.number, x->dtype);
  Dims full = replaced(l.view, a.dim, l.shape), flat = replaced(l.view, a.dim, l.index->dims());
  v = composite::reshaped(callOp(OpId::Expand, {v}, {attr(full)}), flat);
  Dims column;
  for (int i = 0; i < l.view->rank; i++)
    column.push(i == a.dim ? l.index->numel : 1);
  Tensor index = callOp(OpId::Expand, {composite::reshaped(l.index, column)}, {attr(flat)});
  composite::withIndexErrors([&] { return scatter_(l.view, a.dim, index, v); });
}

Scalar item(const Tensor &t) {
  if (t->numel != 1)
    fail("a Tensor with " + std::to_string(t->numel) + " elements cannot be converted to Scalar");
  if (t->device)
    fail(ErrorKind::NotImplemented, "Tensor.item() cannot be called on meta tensors");
  materialize(t.impl());
  TensorImpl *x = t.impl();
  Tensor wide;
  if (isReducedFloat(x->dtype) || (category(x->dtype) == 1 && x->dtype != DType::I64)) {
    InternalGuard guard;
    wide = callOp(OpId::Cast, {t}, {Attr::dtype(isFloat(x->dtype) ? DType::F32 : DType::I64)});
    x = wide.impl();
  }
  Scalar s = x->dtype == DType::F32   ? Scalar(*reinterpret_cast<float *>(x->data))
             : x->dtype == DType::F64 ? Scalar(*reinterpret_cast<double *>(x->data))
             : x->dtype == DType::I64 ? Scalar(*reinterpret_cast<int64_t *>(x->data))
             : x->dtype == DType::Bool
                 ? Scalar(*x->data != 0)
                 : (fail(ErrorKind::NotImplemented, "item() of a complex tensor is not implemented"), Scalar());
  noteEffect(Effect::ReadValue, t.impl(), nullptr, s.bits());
  return s;
}

} // namespace torchc
