#include "frontends/eager/Index.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/View.h"
#include "frontends/eager/composite/Common.h"
#include "frontends/eager/cuda/Cuda.h"
#include "runtime/kernels/Index.h"
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

/// One index tensor: the dimensions of the view that it replaces.
struct Lookup {
  int dim, span; // a mask spans its rank
  int position;  // dimension that messages name
  Tensor index;  // bool, or an integer type
};

/// The basic items applied, and the index tensors that are left.
struct Applied {
  Tensor view;
  std::vector<Lookup> lookups;
};

void checkMask(const Tensor &mask, const Tensor &view, int dim) {
  for (int i = 0; i < mask->rank; i++)
    if (mask->sizes()[i] != view->sizes()[dim + i])
      fail(ErrorKind::Index, "The shape of the mask " + mask->dims().str() + " at index " + std::to_string(i) +
                                 " does not match the shape of the indexed tensor " + view->dims().str() +
                                 " at index " + std::to_string(dim + i));
}

Applied applyBasic(const Tensor &x, List<IndexItem> items) {
  int used = 0;
  for (const IndexItem &i : items)
    used += consumed(i);
  if (used > x->rank)
    fail(ErrorKind::Index, "too many indices for tensor of dimension " + std::to_string(x->rank));
  Applied a{x, {}};
  int dim = 0, original = 0;
  bool expanded = false;
  for (const IndexItem &i : items) {
    switch (i.kind) {
    case IndexItem::Integer:
      if (int64_t size = a.view->sizes()[dim]; i.start < -size || i.start >= size)
        outOfRange(i.start, original, size);
      a.view = composite::selectIndex(a.view, dim, i.start);
      break;
    case IndexItem::Slice:
      a.view = sliced(a.view, dim, i);
      dim++;
      break;
    case IndexItem::Ellipsis: // a second one stands for no dimension
      if (!expanded)
        dim += x->rank - used;
      original += expanded ? 0 : x->rank - used;
      expanded = true;
      break;
    case IndexItem::NewAxis:
      a.view = composite::unsqueezeDim(a.view, dim);
      dim++;
      break;
    case IndexItem::Mask:
      if (i.tensor->dtype == DType::Bool && !i.tensor->rank) { // true or false along a new dimension
        a.view = composite::unsqueezeDim(a.view, dim);
        a.lookups.push_back({dim, 1, dim, composite::reshaped(i.tensor, Dims({1}))});
        dim++;
        break;
      }
      if (i.tensor->dtype == DType::Bool)
        checkMask(i.tensor, a.view, dim);
      else if (!isIntegral(i.tensor->dtype))
        fail(ErrorKind::Index, "tensors used as indices must be long, int, byte or bool tensors");
      a.lookups.push_back({dim, consumed(i), dim, i.tensor});
      dim += consumed(i);
      break;
    }
    original += consumed(i);
  }
  return a;
}

/// Linear positions of true elements, ascending. Reads the mask.
Tensor positions(const Tensor &mask) {
  if (mask->device == cudaDevice)
    fail(ErrorKind::NotImplemented, "nonzero(): no kernels for device cuda");
  if (mask->device)
    fail(ErrorKind::NotImplemented, "a mask on the meta device has no values to index by");
  if (threadState.modes.flags & (FlagRecording | FlagRetracing))
    noteEffect(Effect::ReadValue, mask.impl());
  Tensor m = composite::contiguousTensor(mask);
  materialize(m.impl());
  Tensor out(newTensor(DType::I64, Dims({countTrue(m->data, m->numel)})));
  truePlaces(m->data, out->numel, reinterpret_cast<int64_t *>(out->data));
  return out;
}

/// All index tensors as one over one dimension.
struct Flat {
  Tensor view;  // the indexed dimensions, in one place, are one
  Tensor index; // 1-D int64, not negative
  int dim;
  Dims shape;   // what replaces the dimension
  bool aliases; // is `view` the memory that was indexed?
};

/// `shape` of the same elements; notes whether that took a copy.
Tensor regrouped(const Tensor &view, const Dims &shape, bool &aliases) {
  Dims strides;
  aliases &= viewStrides(view->dims(), Dims(view->strides(), view->rank), shape, strides);
  return composite::reshaped(view, shape);
}

/// Merges `span` dimensions from `dim` on.
Dims merged(const Dims &dims, int dim, int span) {
  Dims out(dims.data(), dim);
  int64_t product = 1;
  for (int i = dim; i < dim + span; i++)
    product *= dims[i];
  out.push(product);
  for (int i = dim + span; i < dims.size(); i++)
    out.push(dims[i]);
  return out;
}

/// Masks become positions over their dimensions merged into one.
void resolveMasks(Applied &a, bool &aliases) {
  for (size_t k = 0; k < a.lookups.size(); k++) {
    Lookup &l = a.lookups[k];
    if (l.index->dtype != DType::Bool)
      continue;
    l.index = positions(l.index);
    if (l.span == 1)
      continue;
    a.view = regrouped(a.view, merged(a.view->dims(), l.dim, l.span), aliases);
    for (size_t j = k + 1; j < a.lookups.size(); j++)
      a.lookups[j].dim -= l.span - 1;
    l.span = 1;
  }
}

/// Brings the indexed dimensions together: where they stand if they are neighbours, else to the front.
void gatherDims(Applied &a) {
  bool together = true;
  for (size_t k = 1; k < a.lookups.size(); k++)
    together &= a.lookups[k].dim == a.lookups[k - 1].dim + 1;
  if (together)
    return;
  std::vector<int64_t> order;
  for (const Lookup &l : a.lookups)
    order.push_back(l.dim);
  for (int i = 0; i < a.view->rank; i++)
    if (std::find(order.begin(), order.begin() + ptrdiff_t(a.lookups.size()), i) ==
        order.begin() + ptrdiff_t(a.lookups.size()))
      order.push_back(i);
  a.view = composite::permuteDims(a.view, order);
  for (size_t k = 0; k < a.lookups.size(); k++)
    a.lookups[k].dim = int(k);
}

Dims broadcastIndices(const std::vector<Lookup> &lookups) {
  Dims shape;
  for (const Lookup &l : lookups) {
    Dims next;
    Diag diag;
    if (broadcastShapes(shape, l.index->dims(), next, diag)) {
      shape = next;
      continue;
    }
    std::string shapes;
    for (const Lookup &m : lookups)
      shapes += (shapes.empty() ? "" : ", ") + m.index->dims().str();
    fail(ErrorKind::Index, "shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes);
  }
  return shape;
}

/// The linear index by memory: checks every index against its dimension.
Tensor linearDirect(const Applied &a, const Dims &shape) {
  Tensor out(newTensor(DType::I64, Dims({shape.numel()})));
  auto *linear = reinterpret_cast<int64_t *>(out->data);
  std::fill_n(linear, out->numel, 0);
  int64_t selected = out->numel;
  for (int i = 0; i < a.view->rank; i++)
    if (std::none_of(a.lookups.begin(), a.lookups.end(), [&](const Lookup &l) { return l.dim == i; }))
      selected *= a.view->sizes()[i];
  for (const Lookup &l : a.lookups) {
    Tensor wide = composite::as(l.index, DType::I64);
    Tensor index = composite::contiguousTensor(callOp(OpId::Expand, {wide}, {attr(shape)}));
    auto *p = reinterpret_cast<const int64_t *>(index->data);
    int64_t size = a.view->sizes()[l.dim];
    for (int64_t i = 0; i < out->numel; i++) {
      if (p[i] < -size || p[i] >= size) {
        if (!size)
          fail(ErrorKind::Index, "index is out of bounds for dimension with size 0");
        if (!selected) { // nothing to read or write: PyTorch doesn't look at the indices
          linear[i] = 0;
          continue;
        }
        outOfRange(p[i], l.position, size);
      }
      linear[i] = linear[i] * size + (p[i] < 0 ? p[i] + size : p[i]);
    }
  }
  return out;
}

/// The same by ops, for tracers and tensors without memory; an index out of range gives -1, which index ops refuse.
Tensor linearByOps(const Applied &a, const Dims &shape) {
  Tensor linear, valid;
  for (const Lookup &l : a.lookups) {
    int64_t size = a.view->sizes()[l.dim];
    Tensor index = composite::as(l.index, DType::I64);
    if (a.view->device == cudaDevice && index->device != cudaDevice)
      index = cuda::moved(index, a.view.device(), DType::I64); // PyTorch takes indices of the cpu
    else if (a.view->device != index->device)
      index = Tensor(newTensor(DType::I64, index->dims(), a.view->device));
    index = callOp(OpId::Where, {callOp(OpId::Lt, {index, 0}), callOp(OpId::Add, {index, size}), index});
    if (a.lookups.size() == 1)
      return composite::ravelAll(index);
    Tensor fits = callOp(OpId::LogicalAnd, {callOp(OpId::Ge, {index, 0}), callOp(OpId::Lt, {index, size})});
    valid = valid.defined() ? callOp(OpId::LogicalAnd, {valid, fits}) : fits;
    linear = linear.defined() ? callOp(OpId::Add, {callOp(OpId::Mul, {linear, size}), index}) : index;
  }
  linear = callOp(OpId::Where, {valid, linear, -1});
  return composite::ravelAll(callOp(OpId::Expand, {linear}, {attr(shape)}));
}

bool readable(const Applied &a) {
  if ((threadState.modes.flags & (FlagRecording | FlagRetracing)) || a.view->device)
    return false;
  return std::none_of(a.lookups.begin(), a.lookups.end(),
                      [](const Lookup &l) { return (l.index->flags & FlagPending) || l.index->device; });
}

/// Leading dimensions of size 1 that the target lacks are dropped, as in PyTorch.
Tensor withoutLeadingOnes(Tensor v, int rank) {
  while (v->rank > rank && v->sizes()[0] == 1)
    v = composite::squeezeDim(v, 0);
  return v;
}

/// Does `v`, of at most as many dimensions, broadcast to `shape`?
void checkSpread(const Dims &v, const Dims &shape) {
  Diag diag;
  Dims target;
  if (!inferExpand(v, shape.data(), shape.size(), target, diag))
    fail("shape mismatch: value tensor of shape " + v.str() + " cannot be broadcast to indexing result of shape " +
         shape.str());
}

/// `value` in the shape of what is indexed.
Tensor spread(const Tensor &value, const Dims &shape) {
  Tensor v = withoutLeadingOnes(value, shape.size());
  checkSpread(v->dims(), shape);
  return callOp(OpId::Expand, {v}, {attr(shape)});
}

/// The shape of what is indexed once the dimensions of `a` are together.
Dims indexedShape(const Applied &a, const Dims &with) {
  int first = a.lookups[0].dim, span = int(a.lookups.size());
  composite::checkRank(a.view->rank - span + with.size(), "indexing");
  Dims out(a.view->sizes(), first);
  for (int64_t s : with)
    out.push(s);
  for (int i = first + span; i < a.view->rank; i++)
    out.push(a.view->sizes()[i]);
  return out;
}

/// `value`, if any, must broadcast to what is indexed; that is an error before an index out of range is.
Flat flatten(Applied a, const Tensor &value = {}) {
  Flat f;
  f.aliases = true;
  resolveMasks(a, f.aliases);
  gatherDims(a);
  f.shape = broadcastIndices(a.lookups);
  if (value.defined()) {
    Dims target = indexedShape(a, f.shape), given = value->dims();
    while (given.size() > target.size() && given[0] == 1)
      given.erase(0);
    checkSpread(given, target);
  }
  {
    NoGradGuard quiet;
    f.index = readable(a) ? linearDirect(a, f.shape) : linearByOps(a, f.shape);
  }
  f.dim = a.lookups[0].dim;
  int span = int(a.lookups.size());
  f.view = span == 1 ? a.view : regrouped(a.view, merged(a.view->dims(), f.dim, span), f.aliases);
  return f;
}

Dims replaced(const Tensor &view, int dim, const Dims &with) {
  composite::checkRank(view->rank - 1 + with.size(), "indexing");
  Dims out(view->sizes(), dim);
  for (int64_t s : with)
    out.push(s);
  for (int i = dim + 1; i < view->rank; i++)
    out.push(view->sizes()[i]);
  return out;
}

Tensor select(const Flat &f) {
  Dims shape = replaced(f.view, f.dim, f.shape);
  Tensor picked = callOp(OpId::IndexSelect, {f.view, f.index}, {Attr::integer(f.dim)});
  return composite::reshaped(picked, shape);
}

void writeFlat(const Flat &f, const Tensor &value, bool accumulate) {
  Tensor v = spread(value, replaced(f.view, f.dim, f.shape));
  Dims flat = replaced(f.view, f.dim, f.index->dims());
  v = composite::reshaped(v, flat);
  Attr dim = Attr::integer(f.dim);
  composite::withIndexErrors([&] {
    if (accumulate)
      return callOp(OpId::IndexAdd, {f.view, f.index, v}, {dim}, Out::inplace(f.view));
    Dims column;
    for (int i = 0; i < f.view->rank; i++)
      column.push(i == f.dim ? f.index->numel : 1);
    Tensor index = callOp(OpId::Expand, {composite::reshaped(f.index, column)}, {attr(flat)});
    return callOp(OpId::Scatter, {f.view, index, v}, {dim}, Out::inplace(f.view));
  });
}

/// A part of the view itself may be spread over it, as in PyTorch.
void assignBasic(const Tensor &view, const Operand &value) {
  if (value.isNumber()) {
    fill_(view, value);
    return;
  }
  Tensor v = withoutLeadingOnes(Tensor::borrow(value.tensor), view->rank);
  copy_(view, v->dims() == view->dims() || v->device != view->device ? v : composite::expanded(v, view->dims()));
}

/// x[mask] = one number: without reading the mask.
bool assignMasked(const Applied &a, const Operand &value) {
  if (a.lookups.size() != 1 || a.lookups[0].index->dtype != DType::Bool)
    return false;
  if (value.tensor && (value.tensor->numel != 1 || requiresGrad(value.tensor)))
    return false;
  const Lookup &l = a.lookups[0];
  Dims shape = l.index->dims();
  for (int i = l.dim + l.span; i < a.view->rank; i++)
    shape.push(1);
  Operand number = value;
  Tensor zeroDim;
  if (value.tensor) {
    zeroDim = composite::reshaped(Tensor::borrow(value.tensor), Dims());
    number = Operand(zeroDim);
  }
  masked_fill_(a.view, composite::reshaped(l.index, shape), number);
  return true;
}

void assign(const Tensor &x, const Applied &a, const Operand &value, bool accumulate) {
  Tensor v;
  if (value.tensor) {
    v = Tensor::borrow(value.tensor);
    if (v->dtype != x->dtype)
      fail("Index put requires the source and destination dtypes match, got " + std::string(torchName(x->dtype)) +
           " for the destination and " + std::string(torchName(v->dtype)) + " for the source.");
  } else {
    composite::checkFits(value.number, x->dtype);
    v = composite::fullTensor(Dims(), value.number, x->dtype, x->device);
  }
  Flat f = flatten(a, v);
  if (f.aliases) {
    writeFlat(f, v, accumulate);
    return;
  }
  // Memory doesn't have the indexed dimensions as one: every element by its own place.
  Tensor places = composite::arangeOf(a.view->numel, {}, 1, DType::I64, a.view.device(), false);
  Tensor picked = select(flatten({composite::reshaped(places, a.view->dims()), a.lookups}));
  Flat all{{}, composite::ravelAll(picked), 0, picked->dims(), true};
  all.view = regrouped(a.view, Dims({a.view->numel}), all.aliases);
  writeFlat(all, v, accumulate);
  if (!all.aliases)
    copy_(a.view, composite::reshaped(all.view, a.view->dims()));
}

} // namespace

Tensor applyIndex(const Tensor &x, List<IndexItem> items) {
  Applied a = applyBasic(x, items);
  if (a.lookups.empty()) // Python expects a new tensor
    return a.view.same(x) ? composite::viewSize(x, x.sizes()) : a.view;
  return select(flatten(std::move(a)));
}

void assignIndex(const Tensor &x, List<IndexItem> items, const Operand &value) {
  Applied a = applyBasic(x, items);
  if (a.lookups.empty())
    return assignBasic(a.view, value);
  if (!assignMasked(a, value))
    assign(x, a, value, false);
}

Tensor putAt(const Tensor &x, TensorList indices, const Tensor &values, bool accumulate) {
  std::vector<IndexItem> items;
  for (const Tensor &t : indices)
    items.push_back(IndexItem::of(t));
  Applied a = applyBasic(x, items);
  if (a.lookups.empty())
    fail("index_put_(): expected at least one index tensor");
  if (accumulate || !assignMasked(a, values))
    assign(x, a, values, accumulate);
  return x;
}

static Scalar unsignedNumber(uint64_t v) { return v >> 63 ? Scalar::wideInteger(v) : Scalar(int64_t(v)); }

Scalar item(const Tensor &t) {
  if (t->numel != 1)
    fail("a Tensor with " + std::to_string(t->numel) + " elements cannot be converted to Scalar");
  if (t->device == cudaDevice)
    return item(cuda::moved(t, DeviceId{}, t->dtype));
  if (t->device)
    fail(ErrorKind::NotImplemented, "Tensor.item() cannot be called on meta tensors");
  materialize(t.impl());
  TensorImpl *x = t.impl();
  Tensor wide;
  if (readType(x->dtype) != x->dtype || (category(x->dtype) == 1 && x->dtype != DType::I64 && x->dtype != DType::U64)) {
    InternalGuard guard;
    wide = callOp(OpId::Cast, {t}, {Attr::dtype(isFloat(x->dtype) ? DType::F32 : DType::I64)});
    x = wide.impl();
  }
  auto *floats = reinterpret_cast<float *>(x->data);
  auto *doubles = reinterpret_cast<double *>(x->data);
  Scalar s = x->dtype == DType::F32    ? Scalar(*reinterpret_cast<float *>(x->data))
             : x->dtype == DType::F64  ? Scalar(*reinterpret_cast<double *>(x->data))
             : x->dtype == DType::I64  ? Scalar(*reinterpret_cast<int64_t *>(x->data))
             : x->dtype == DType::U64  ? unsignedNumber(*reinterpret_cast<uint64_t *>(x->data))
             : x->dtype == DType::C64  ? Scalar::complex(floats[0], floats[1])
             : x->dtype == DType::C128 ? Scalar::complex(doubles[0], doubles[1])
                                       : Scalar(*x->data != 0);
  noteEffect(Effect::ReadValue, t.impl());
  return s;
}

} // namespace torchc
