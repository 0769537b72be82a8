#include "frontends/eager/composite/Common.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/cuda/Cuda.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace torchc::composite {

void unsupported(std::string what) { fail(ErrorKind::NotImplemented, std::move(what)); }

void refuseStored(const char *op, DType t) {
  if (isStored(t))
    unsupported("\"" + std::string(op) + "\" not implemented for '" + std::string(torchName(t)) + "'");
}

int64_t wrap(int64_t dim, int rank) {
  Diag diag;
  int64_t out;
  if (!wrapDim(dim, rank, out, diag))
    fail(diag);
  return out;
}

static constexpr uint32_t watching = slowFlags & ~FlagNonContiguous;

bool isWatched() { return (threadState.modes.flags & watching) || threadState.abstract; }

bool isPlain(const Tensor &x) {
  return !isWatched() && !(x->flags & watching) && !x->device && !(isGradEnabled() && requiresGrad(x.impl()));
}

void checkRank(int64_t rank, const char *op) {
  if (rank > maxRank)
    fail(std::string(op) + "(): expected at most 64 dimensions, got " + std::to_string(rank));
}

void checkFits(const Scalar &s, DType t) {
  if (s.isComplex() && isComplex(t))
    return;
  if (s.imag() != 0 && t != DType::Bool)
    fail("value cannot be converted to type " + std::string(torchName(t)) +
         " without overflow: its imaginary part is " + std::to_string(s.imag()));
  double v = s.real(), most = t == DType::F16    ? 65504
                              : t == DType::BF16 ? 0x1.FEp127
                              : t == DType::F32  ? double(std::numeric_limits<float>::max())
                                                 : std::numeric_limits<double>::infinity();
  bool fits = true;
  if (isFloat(t))
    fits = !std::isfinite(v) || std::fabs(v) <= most;
  else if (s.isWide())
    fits = t == DType::U64 || t == DType::Bool || isComplex(t);
  else if (t == DType::U64) // negative integers wrap, as those of the other unsigned types do
    fits = !s.isFloat() || (v >= 0 && v < 0x1p64);
  else if (t != DType::Bool && !isComplex(t)) {
    int64_t limit = int64_t(largestInteger(t));
    int64_t low = isUnsigned(t) ? s.isFloat() ? 0 : -limit : -limit - 1;
    fits = s.isFloat() ? v >= double(low) && (t == DType::I64 ? v < 0x1p63 : v <= double(limit))
                       : s.toInt() >= low && s.toInt() <= limit;
  }
  if (!fits)
    fail("value cannot be converted to type " + std::string(torchName(t)) + " without overflow");
}

Dims allAxes(int rank) {
  Dims d;
  for (int i = 0; i < rank; i++)
    d.push(i);
  return d;
}

Dims axesOf(const Tensor &t, std::optional<IntList> dim) {
  if (!dim || dim->empty())
    return allAxes(t->rank);
  if (int64_t(dim->size()) > std::max<int>(t->rank, 1))
    fail("expected at most " + std::to_string(std::max<int>(t->rank, 1)) + " dims, got " + std::to_string(dim->size()));
  bool seen[maxRank] = {};
  for (int64_t d : *dim) {
    int64_t w = wrap(d, t->rank);
    if (seen[w])
      fail("dim " + std::to_string(w) + " appears multiple times in the list of dims");
    seen[w] = true;
  }
  Dims out;
  for (int i = 0; i < std::max<int>(t->rank, 1); i++)
    if (seen[i] && t->rank)
      out.push(i);
  return out;
}

DType resultTypeOf(const OperandType *operands, int n) {
  TypeClash clash;
  DType t = resultType(operands, n, defaultDType(), &clash);
  if (clash.found())
    fail(clash.text());
  return t;
}

DType typeOf(const Operand &a, const Operand &b) {
  const Operand *o[2] = {&a, &b};
  OperandType types[2];
  Dims dims[2];
  for (int i = 0; i < 2; i++) {
    types[i].isNumber = o[i]->isNumber();
    types[i].dtype = o[i]->tensor ? o[i]->tensor->dtype : o[i]->number.dtype();
    if (o[i]->tensor) {
      dims[i] = o[i]->tensor->dims();
      types[i].dims = &dims[i];
    }
  }
  return resultTypeOf(types, 2);
}

Tensor as(const Tensor &x, DType t) { return x->dtype == t ? x : callOp(OpId::Cast, {x}, {Attr::dtype(t)}); }

Tensor deliver(const Tensor &value, Out out) {
  if (out.kind == Out::None)
    return value;
  return callOp(OpId::Cast, {value}, {Attr::dtype(value->dtype)}, out);
}

Tensor deliverSame(const Tensor &value, Out out) {
  if (out.kind != Out::None && out.tensor->dtype != value->dtype)
    fail("Expected out tensor to have dtype " + std::string(torchName(value->dtype)) + ", but got " +
         std::string(torchName(out.tensor->dtype)) + " instead");
  return deliver(value, out);
}

Tensor reshaped(const Tensor &x, const Dims &shape) {
  return reshapeOrCopy(x, IntList(shape.data(), size_t(shape.size())));
}

Tensor fullTensor(const Dims &shape, const Scalar &value, DType t, uint8_t device) {
  if (value.isComplex() && isComplex(t)) {
    DType part = realType(t);
    return complexOf(fullTensor(shape, value.real(), part, device), fullTensor(shape, value.imag(), part, device),
                     Out());
  }
  if (device == uint8_t(DeviceKind::Meta)) {
    int64_t numel;
    Diag diag;
    if (!checkedNumel(shape, numel, diag))
      fail(diag);
    return Tensor(newTensor(t, shape, device));
  }
  if (device == cudaDevice) {
    Tensor out(newTensor(t, shape, device));
    cuda::fillTensor(out.impl(), elementBits(value, t));
    return out;
  }
  Scalar number = value.isComplex() && t == DType::Bool ? Scalar(value.toBool()) : value; // attributes are real
  return callOp(OpId::Full, {}, {attr(shape), number.attrFor(t), Attr::dtype(t)});
}

Tensor sliceDim(const Tensor &x, int64_t dim, int64_t start, int64_t stop, int64_t step) {
  return callOp(OpId::Slice, {x}, {Attr::integer(dim), Attr::integer(start), Attr::integer(stop), Attr::integer(step)});
}
Tensor viewShape(const Tensor &x, const Dims &shape) { return callOp(OpId::Reshape, {x}, {attr(shape)}); }
Tensor expanded(const Tensor &x, const Dims &shape) {
  return shape == x->dims() ? x : callOp(OpId::Expand, {x}, {attr(shape)});
}

Tensor rangeLike(const Tensor &x, int64_t n) {
  return arangeOf(n, {}, 1, DType::I64, DeviceId{DeviceKind(x->device)}, false);
}
Tensor indexLike(const Tensor &x, const std::vector<int64_t> &values) {
  Tensor out(newTensor(DType::I64, Dims({int64_t(values.size())}), x->device));
  if (!x->device && !values.empty())
    std::memcpy(out->data, values.data(), values.size() * sizeof(int64_t));
  if (x->device == cudaDevice) { // numbers of the program, not of tensors
    Tensor here(newTensor(DType::I64, out->dims()));
    std::copy(values.begin(), values.end(), reinterpret_cast<int64_t *>(here->data));
    torchc::copyInto(out.impl(), here.impl());
  }
  return out;
}

Tensor observed(const Tensor &x, const char *op) {
  if (x->device == cudaDevice)
    unsupported(std::string(op) + "(): no kernels for device cuda");
  if (x->device)
    unsupported(std::string(op) + "(): the result depends on values, which a meta tensor doesn't have");
  noteEffect(Effect::ReadValue, x.impl());
  InternalGuard quiet;
  Tensor c = contiguousTensor(x);
  materialize(c.impl());
  return c;
}

int64_t product(const Dims &d, int from, int to) {
  int64_t v = 1;
  for (int i = from; i < to; i++)
    v *= d[i];
  return v;
}
Dims replaced(const Dims &d, int dim, int count, const Dims &with) {
  checkRank(d.size() - count + with.size(), "reshape");
  Dims out(d.data(), dim);
  for (int64_t s : with)
    out.push(s);
  for (int i = dim + count; i < d.size(); i++)
    out.push(d[i]);
  return out;
}

uint8_t deviceKind(std::optional<DeviceId> device, uint8_t otherwise) {
  if (device)
    cuda::requireDevice(*device);
  return device ? uint8_t(device->kind) : otherwise;
}

} // namespace torchc::composite
