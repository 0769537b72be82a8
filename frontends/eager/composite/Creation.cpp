// Tensors made from sizes, numbers and random streams.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/composite/Common.h"
#include <cmath>

namespace torchc::composite {
namespace {

uint8_t kindOf(std::optional<DeviceId> device, uint8_t otherwise = 0) {
  uint8_t kind = device ? uint8_t(device->kind) : otherwise;
  if (kind > uint8_t(DeviceKind::Meta))
    unsupported("device " + deviceString(DeviceKind(kind), device ? device->index : -1) + " is not implemented");
  return kind;
}

Dims checked(IntList size) {
  if (size.size() > size_t(maxRank))
    fail("expected at most 64 dimensions, got " + std::to_string(size.size()));
  Dims d(size.data(), int(size.size()));
  int64_t numel;
  Diag diag;
  for (int64_t s : d)
    if (s < 0)
      fail("Trying to create tensor with negative dimension " + std::to_string(s) + ": " + d.str());
  if (!checkedNumel(d, numel, diag))
    fail(diag);
  return d;
}

Tensor finish(Tensor t, bool requiresGrad) {
  if (requiresGrad)
    setRequiresGrad(t.impl(), true);
  return t;
}

Tensor uninitialised(const Dims &dims, DType t, uint8_t device) {
  // A tracer must see where a tensor comes from: recorded, memory is defined.
  if (threadState.modes.flags & (FlagRecording | FlagRetracing))
    return fullTensor(dims, 0, t, device);
  return Tensor(newTensor(t, dims, device));
}

Tensor uniformTensor(const Dims &dims, DType t, const OptGenerator &generator, uint8_t device) {
  if (device == uint8_t(DeviceKind::Meta))
    return Tensor(newTensor(t, dims, device));
  Generator g = generator.defined() ? generator : defaultGenerator();
  Tensor state(newTensor(DType::I64, Dims({2})));
  auto *words = reinterpret_cast<uint64_t *>(state->data);
  words[0] = g.state()->seed;
  words[1] = takeOrdinal(g);
  return callOp(OpId::Uniform, {state}, {attr(dims), Attr::dtype(t)});
}

} // namespace

Tensor fullOf(IntList size, const Scalar &value, std::optional<DType> dtype, std::optional<DeviceId> device,
              bool grad) {
  DType t = dtype.value_or(value.isFloat() ? defaultDType() : value.dtype());
  return finish(fullTensor(checked(size), value, t, kindOf(device)), grad);
}
Tensor zerosOf(IntList size, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return finish(fullTensor(checked(size), 0, dtype.value_or(defaultDType()), kindOf(device)), grad);
}
Tensor onesOf(IntList size, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return finish(fullTensor(checked(size), 1, dtype.value_or(defaultDType()), kindOf(device)), grad);
}
Tensor emptyOf(IntList size, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return finish(uninitialised(checked(size), dtype.value_or(defaultDType()), kindOf(device)), grad);
}
Tensor fullLike(const Tensor &input, const Scalar &value, std::optional<DType> dtype, std::optional<DeviceId> device,
                bool grad) {
  return finish(fullTensor(input->dims(), value, dtype.value_or(input->dtype), kindOf(device, input->device)), grad);
}
Tensor zerosLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return fullLike(input, 0, dtype, device, grad);
}
Tensor onesLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return fullLike(input, 1, dtype, device, grad);
}
Tensor emptyLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return finish(uninitialised(input->dims(), dtype.value_or(input->dtype), kindOf(device, input->device)), grad);
}

Tensor arangeOf(const Scalar &first, const std::optional<Scalar> &second, const Scalar &step,
                std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  Scalar start = second ? first : Scalar(0), end = second ? *second : first;
  bool exact = !start.isFloat() && !end.isFloat() && !step.isFloat();
  DType t = dtype.value_or(exact ? DType::I64 : defaultDType());
  if (step.toDouble() == 0)
    fail("step must be nonzero");
  double range = end.toDouble() - start.toDouble();
  if (!std::isfinite(range))
    fail("unsupported range: " + std::to_string(start.toDouble()) + " -> " + std::to_string(end.toDouble()));
  if (range * step.toDouble() < 0)
    fail("upper bound and lower bound inconsistent with step sign");
  double count = std::ceil(range / step.toDouble());
  if (!(count < 0x1p62))
    fail("arange(): expected a number of elements that fits into 64 bits, got " + std::to_string(count));
  auto size = int64_t(count);
  if (exact) { // counted without rounding; the range itself may need more than 64 bits
    __int128 s = step.toInt(), d = __int128(end.toInt()) - start.toInt();
    size = int64_t((d + s - (s > 0 ? 1 : -1)) / s);
  }
  if (kindOf(device) == uint8_t(DeviceKind::Meta))
    return finish(Tensor(newTensor(t, Dims({size}), kindOf(device))), grad);
  // Integers count in integers: only the number of elements comes from the fractions.
  Scalar from = isFloat(t) ? start : Scalar(start.toInt()), by = isFloat(t) ? step : Scalar(step.toInt());
  return finish(callOp(OpId::Arange, {}, {Attr::integer(size), from.attr(), by.attr(), Attr::dtype(t)}), grad);
}

Tensor eyeOf(int64_t n, std::optional<int64_t> m, std::optional<DType> dtype, std::optional<DeviceId> device,
             bool grad) {
  if (n < 0 || m.value_or(0) < 0)
    fail("n must be greater or equal to 0, got " + std::to_string(n < 0 ? n : *m));
  Tensor row = arangeOf(n, {}, 1, {}, device, false), column = arangeOf(m.value_or(n), {}, 1, {}, device, false);
  Tensor diagonal = callOp(OpId::Eq, {unsqueezeDim(row, 1), column});
  return finish(as(diagonal, dtype.value_or(defaultDType())), grad);
}

Tensor randOf(IntList size, const OptGenerator &generator, std::optional<DType> dtype, std::optional<DeviceId> device,
              bool grad) {
  return finish(uniformTensor(checked(size), dtype.value_or(defaultDType()), generator, kindOf(device)), grad);
}
Tensor randLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return finish(uniformTensor(input->dims(), dtype.value_or(input->dtype), {}, kindOf(device, input->device)), grad);
}

/// u·(b−a) + a (N9), computed in the type's op-math type and rounded once.
Tensor uniformInto(const Tensor &input, double from, double to, const OptGenerator &generator, Out out) {
  if (!(from <= to))
    fail("uniform_ expects to return a [from, to) range, but found from=" + std::to_string(from) +
         " > to=" + std::to_string(to));
  if (!isFloat(input->dtype))
    unsupported("\"check_uniform_bounds\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  Tensor u = uniformTensor(input->dims(), input->dtype, generator, input->device);
  if (from != 0 || to != 1) {
    u = as(u, computeType(input->dtype));
    u = callOp(OpId::Add, {callOp(OpId::Mul, {u, to - from}), from});
  }
  return deliver(as(u, input->dtype), out);
}

} // namespace torchc::composite
