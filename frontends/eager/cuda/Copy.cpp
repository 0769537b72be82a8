// Copies within a cuda device and between it and the host, fills, moves between devices.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Modes.h"
#include "frontends/eager/View.h"
#include "frontends/eager/cuda/Launch.h"
#include "runtime/cuda/Driver.h"

namespace torchc::cuda {
namespace {

Pointwise operandOf(const TensorImpl *t, const int64_t *strides) { return {t->data, strides, itemSize(t->dtype)}; }

void refuseComplex(const TensorImpl *t) {
  if (isComplex(t->dtype))
    fail(ErrorKind::NotImplemented,
         "\"copy_\" not implemented for '" + std::string(torchName(t->dtype)) + "' on device cuda");
}

/// The type whose kernel moves elements of `t`.
DType moverOf(DType t) { return isStored(t) ? signedType(t) : t; }

void withinDevice(TensorImpl *dst, TensorImpl *src) {
  refuseComplex(dst);
  refuseComplex(src);
  bool moves = dst->dtype == src->dtype;
  DType from = moves ? moverOf(src->dtype) : src->dtype, to = moves ? from : dst->dtype;
  int64_t strides[maxRank];
  broadcastStrides(src, dst->rank, dst->sizes(), strides);
  Pointwise operands[2] = {operandOf(dst, dst->strides()), operandOf(src, strides)};
  runPointwise("copy_", src->dtype, deviceKey(DeviceForm::Cast, 0, from, unsigned(to)), dst->dims(), operands, 2,
               streamFor(dst));
}

/// The bytes of equal, dense layouts.
void toCuda(TensorImpl *dst, const TensorImpl *src) {
  CudaStream &stream = streamFor(dst);
  if (!stream.cudaDevice().copyFrom(dst->data, src->data, size_t(src->nbytes()), *deviceFor(DeviceKind::Cpu), &stream))
    checkErrors();
}
void toHost(TensorImpl *dst, const TensorImpl *src) {
  CudaStream &stream = streamFor(src);
  if (!stream.cudaDevice().copyToHost(dst->data, src->data, size_t(src->nbytes()), stream))
    checkErrors();
}

} // namespace

/// Between devices bytes go as they lie; what has another layout or type goes through a contiguous tensor on either side.
void copyTensor(TensorImpl *dst, TensorImpl *src) {
  if (!dst->numel)
    return;
  if (dst->device == src->device)
    return withinDevice(dst, src);
  Tensor from = Tensor::borrow(src);
  if (src->dtype != dst->dtype || !src->contiguous())
    from = Tensor(copyOf(src, dst->dtype));
  bool direct = dst->contiguous() && sameShape(dst, from.impl());
  Tensor to = direct ? Tensor::borrow(dst) : Tensor(newTensor(dst->dtype, from->dims(), dst->device));
  dst->device == cudaDevice ? toCuda(to.impl(), from.impl()) : toHost(to.impl(), from.impl());
  if (!direct)
    copyInto(dst, to.impl());
}

void fillTensor(TensorImpl *out, uint64_t bits) {
  if (!out->numel)
    return;
  refuseComplex(out);
  Pointwise operands[2] = {operandOf(out, out->strides()), {}};
  operands[1].isNumber = true;
  operands[1].number = bits;
  runPointwise("fill_", out->dtype, deviceKey(DeviceForm::Cast, 0, moverOf(out->dtype), unsigned(moverOf(out->dtype))),
               out->dims(), operands, 2, streamFor(out));
}

void fillRange(TensorImpl *out, uint64_t startBits, uint64_t stepBits) {
  if (!out->numel)
    return;
  Arguments a;
  a.pointer(out->data);
  a.word(out->numel);
  a.bits(startBits);
  a.bits(stepBits);
  startLinear("arange", out->dtype, deviceKey(DeviceForm::Arange, 0, out->dtype), out->numel, a, streamFor(out));
}

void requireDevice(DeviceId id) {
  if (id.kind != DeviceKind::Cuda)
    return;
  if (!openDevices())
    fail(driverProblem());
  if (!device(id.index))
    fail("CUDA error: invalid device ordinal: cuda:" + std::to_string(int(id.index)) + ", there " +
         (openDevices() == 1 ? "is 1 device" : "are " + std::to_string(openDevices()) + " devices"));
}

namespace {

Tensor movedQuietly(const Tensor &input, DeviceId device, DType t) {
  // In the order of memory where it is dense, as PyTorch does.
  Tensor out(newTensor(t, input->dims(), uint8_t(device.kind)));
  Tensor from = input;
  if (!input->contiguous() && isDense(input.impl())) {
    setDims(out.impl(), input->rank, input->sizes(), input->strides());
    Dims flat({input->numel});
    int64_t one[1] = {1};
    from = Tensor(newAlias(input.impl(), 1, flat.data(), one, 0));
    Tensor to(newAlias(out.impl(), 1, flat.data(), one, 0));
    copyTensor(to.impl(), from.impl());
    return out;
  }
  copyTensor(out.impl(), input.impl());
  return out;
}

/// The gradient of a move: the cotangent on the input's device, in its type.
struct MoveFunction : NodeFunction {
  DeviceId device;
  DType dtype;
  MoveFunction(DeviceId device, DType dtype) : device(device), dtype(dtype) {}
  std::string name() const override { return "ToCopyBackward0"; }
  std::vector<Tensor> apply(const std::vector<Tensor> &grads, const std::vector<bool> &) override {
    return {grads[0].defined() ? moved(grads[0], device, dtype) : Tensor()};
  }
};

} // namespace

Tensor moved(const Tensor &input, DeviceId device, DType t) {
  requireDevice(device);
  materialize(input.impl());
  Tensor out;
  {
    InternalGuard quiet;
    out = movedQuietly(input, device, t);
  }
  if (isFloat(t) && isFloat(input->dtype) && isGradEnabled() && input.requiresGrad()) {
    auto f = std::make_unique<MoveFunction>(input.device(), input->dtype);
    recordFunction(std::move(f), TensorList(&input, 1), TensorList(&out, 1));
  }
  return out;
}

} // namespace torchc::cuda
