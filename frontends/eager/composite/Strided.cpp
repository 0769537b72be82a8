// Views by strides. The op counts elements of a row-major operand; a tensor of other layout is seen through one that is.
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/composite/Common.h"
#include "runtime/core/Layout.h"
#include <algorithm>

namespace torchc::composite {
namespace {

struct Strided {
  Dims sizes, strides;
  int64_t offset; // in the storage
};

Tensor stridedOp(const Tensor &x, const Strided &s) {
  return callOp(OpId::AsStrided, {x}, {attr(s.sizes), attr(s.strides), Attr::integer(s.offset - x->storageOffset())});
}

/// Does the view stay within the elements of `x`, which is row-major?
bool within(const Tensor &x, const Strided &s) {
  int64_t from = s.offset - x->storageOffset(), low, high;
  if (!x->contiguous() || from < 0 || !offsetRange(s.sizes.size(), s.sizes.data(), s.strides.data(), low, high))
    return false;
  return high < 0 || (from < x->numel && high < x->numel - from);
}

/// The dimensions in the order of memory.
Tensor inMemoryOrder(const Tensor &x) {
  std::vector<int64_t> order(size_t(x->rank));
  for (int i = 0; i < x->rank; i++)
    order[size_t(i)] = i;
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return x->strides()[a] != x->strides()[b] ? x->strides()[a] > x->strides()[b] : a < b;
  });
  return permuteDims(x, order);
}

/// Do operations on x have a gradient?
bool tracked(const Tensor &x) { return requiresGrad(x.impl()) && isGradEnabled(); }

Tensor stridedView(const Tensor &x, const Strided &s) {
  if (within(x, s))
    return stridedOp(x, s);
  if (!x->contiguous())
    if (Tensor ordered = inMemoryOrder(x); within(ordered, s))
      return stridedOp(ordered, s);
  bool differentiable = tracked(x);
  if (x->view)
    if (Tensor base = Tensor::borrow(x->view->rootOf()); within(base, s) && !(differentiable && !tracked(base)))
      return stridedOp(base, s);
  if (differentiable)
    unsupported("as_strided(): gradients of elements outside of the tensor are not implemented");
  return stridedOp(x, s);
}

} // namespace

Tensor viewWithStrides(const Tensor &x, const Dims &shape, const Dims &strides) {
  Tensor t = callOp(OpId::Reshape, {x}, {attr(shape)});
  if (std::memcmp(t->strides(), strides.data(), size_t(shape.size()) * sizeof(int64_t)))
    setDims(t.impl(), shape.size(), shape.data(), strides.data());
  return t;
}

Tensor asStrided(const Tensor &input, IntList size, IntList stride, std::optional<int64_t> offset) {
  if (offset && *offset < 0)
    fail("as_strided: Tensor: invalid storage offset " + std::to_string(*offset));
  if (size.size() != stride.size())
    fail("mismatch in length of strides and shape");
  for (int64_t s : stride)
    if (s < 0)
      fail("as_strided: Negative strides are not supported at the moment, got strides: " +
           Dims(stride.data(), int(stride.size())).str());
  return stridedView(input, {Dims(size.data(), int(size.size())), Dims(stride.data(), int(stride.size())),
                             offset.value_or(input->storageOffset())});
}

Tensor slidingView(const Tensor &input, int64_t dimension, int64_t size, int64_t step) {
  int64_t d = wrap(dimension, input->rank), extent = input->rank ? input->sizes()[d] : 1;
  if (size < 0)
    fail("size is " + std::to_string(size) + " but must be >= 0");
  if (size > extent)
    fail("maximum size for tensor at dimension " + std::to_string(d) + " is " + std::to_string(extent) +
         " but size is " + std::to_string(size));
  if (step <= 0)
    fail("step is " + std::to_string(step) + " but must be > 0");
  checkRank(input->rank + 1, "unfold");
  // A leaf that is a view of memory without a gradient is read through a copy that has one.
  if (input->view && tracked(input) && !tracked(Tensor::borrow(input->view->rootOf())) && !input->contiguous())
    return slidingView(contiguousTensor(input), dimension, size, step);
  Strided s{input->dims(), Dims(input->strides(), input->rank), input->storageOffset()};
  if (input->rank) {
    int64_t stride = s.strides[int(d)];
    s.sizes[int(d)] = (extent - size) / step + 1;
    s.strides[int(d)] = stride * step;
    s.sizes.push(size);
    s.strides.push(stride);
  } else {
    s.sizes.push(size);
    s.strides.push(1);
  }
  return stridedView(input, s);
}

} // namespace torchc::composite
