// Copies and changes of type.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/View.h"
#include "frontends/eager/composite/Common.h"
#include "frontends/eager/cuda/Cuda.h"

namespace torchc::composite {

Tensor cloneOf(const Tensor &input) { return callOp(OpId::Cast, {input}, {Attr::dtype(input->dtype)}); }

Tensor contiguousTensor(const Tensor &input) { return input->contiguous() ? input : callOp(OpId::Contiguous, {input}); }

Tensor toDType(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool, bool copy) {
  bool moves = device && (uint8_t(device->kind) != input->device ||
                          (input->device == cudaDevice && device->index >= 0 && device->index != input.device().index));
  if (moves) {
    if (device->kind == DeviceKind::Meta)
      return Tensor(newTensor(dtype.value_or(input->dtype), input->dims(), uint8_t(device->kind)));
    if (input->device == uint8_t(DeviceKind::Meta))
      unsupported("Cannot copy out of meta tensor; no data!");
    return cuda::moved(input, *device, dtype.value_or(input->dtype));
  }
  DType t = dtype.value_or(input->dtype);
  return t == input->dtype && !copy ? input : callOp(OpId::Cast, {input}, {Attr::dtype(t)});
}
Tensor typeAs(const Tensor &input, const Tensor &other) { return as(input, other->dtype); }

Tensor toF32(const Tensor &input) { return as(input, DType::F32); }
Tensor toF64(const Tensor &input) { return as(input, DType::F64); }
Tensor toF16(const Tensor &input) { return as(input, DType::F16); }
Tensor toBF16(const Tensor &input) { return as(input, DType::BF16); }
Tensor toI32(const Tensor &input) { return as(input, DType::I32); }
Tensor toI64(const Tensor &input) { return as(input, DType::I64); }
Tensor toI16(const Tensor &input) { return as(input, DType::I16); }
Tensor toI8(const Tensor &input) { return as(input, DType::I8); }
Tensor toU8(const Tensor &input) { return as(input, DType::U8); }
Tensor toBool(const Tensor &input) { return as(input, DType::Bool); }

static Tensor copyChecked(const Tensor &target, const Tensor &src, Out out) {
  Dims shape = target->dims();
  Tensor s = src;
  if (src->device != target->device && (src->device == cudaDevice || target->device == cudaDevice))
    s = cuda::moved(src, target.device(), src->dtype);
  if (!(src->dims() == shape))
    s = callOp(OpId::Expand, {s}, {attr(shape)});
  return callOp(OpId::Cast, {s}, {Attr::dtype(target->dtype)}, out);
}

Tensor copyInto(const Tensor &input, const Tensor &src, bool, Out out) {
  if (out.kind == Out::None)
    return copyChecked(cloneOf(input), src, out);
  refuseOverlap(src.impl(), input.impl()); // while src isn't expanded
  return copyChecked(input, src, out);
}

Tensor copyNumber(const Tensor &input, const Scalar &src, bool, Out out) {
  checkFits(src, input->dtype);
  return copyChecked(out.kind == Out::None ? cloneOf(input) : input, fullTensor(Dims(), src, input->dtype), out);
}

Tensor distinctPlaces(const Tensor &t) {
  Tensor out = t;
  for (int i = 0; i < t->rank; i++)
    if (t->strides()[i] == 0 && t->sizes()[i] > 1)
      out = sliceDim(out, i, 0, 1);
  return out;
}

Tensor fillWith(const Tensor &input, const Operand &value, Out out) {
  if (value.tensor) {
    if (value.tensor->rank)
      fail("fill_ only supports 0-dimension value tensor but got tensor with " + std::to_string(value.tensor->rank) +
           " dimensions.");
    return copyChecked(input, Tensor::borrow(value.tensor), out);
  }
  checkFits(value.number, input->dtype);
  if (out.kind == Out::None && isGradEnabled() && input->requiresGrad()) { // has a gradient, of zeros
    Tensor copy = cloneOf(input);
    return fillWith(copy, value, Out::inplace(copy));
  }
  if (value.number.isComplex() && (isComplex(input->dtype) || input->dtype == DType::Bool))
    return copyChecked(input, fullTensor(Dims(), value.number, input->dtype), out);
  if (input->device == uint8_t(DeviceKind::Meta) && out.kind == Out::None)
    return Tensor(newTensor(input->dtype, input->dims(), input->device));
  Tensor target = out.kind == Out::Inplace ? distinctPlaces(input) : input;
  Dims shape = target->dims();
  Attr attrs[3] = {attr(shape), value.number.attrFor(input->dtype), Attr::dtype(input->dtype)};
  Tensor filled =
      callOpList(OpId::Full, List<Operand>(), List<Attr>(attrs, 3), target.same(input) ? out : Out::inplace(target));
  return out.kind == Out::Inplace ? input : filled;
}
Tensor fillZero(const Tensor &input, Out out) { return fillWith(input, 0, out); }

} // namespace torchc::composite
