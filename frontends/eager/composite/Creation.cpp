// Tensors made from sizes, numbers and random streams.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/composite/Random.h"
#include "frontends/eager/cuda/Cuda.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Strided.h"
#include <algorithm>
#include <cmath>

namespace torchc::composite {

Dims checkedSize(IntList size) {
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

Tensor withGrad(Tensor t, bool requiresGrad) {
  if (requiresGrad)
    setRequiresGrad(t.impl(), true);
  return t;
}

namespace {

Tensor uninitialised(const Dims &dims, DType t, uint8_t device) {
  // A tracer must see where a tensor comes from: recorded, memory is defined.
  if (threadState.modes.flags & (FlagRecording | FlagRetracing))
    return fullTensor(dims, 0, t, device);
  return Tensor(newTensor(t, dims, device));
}

} // namespace

Tensor fullOf(IntList size, const Scalar &value, std::optional<DType> dtype, std::optional<DeviceId> device,
              bool grad) {
  DType t = dtype.value_or(typeOfNumber(value));
  checkFits(value, t);
  return withGrad(fullTensor(checkedSize(size), value, t, deviceKind(device)), grad);
}
Tensor zerosOf(IntList size, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return withGrad(fullTensor(checkedSize(size), 0, dtype.value_or(defaultDType()), deviceKind(device)), grad);
}
Tensor onesOf(IntList size, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return withGrad(fullTensor(checkedSize(size), 1, dtype.value_or(defaultDType()), deviceKind(device)), grad);
}
Tensor emptyOf(IntList size, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return withGrad(uninitialised(checkedSize(size), dtype.value_or(defaultDType()), deviceKind(device)), grad);
}
Tensor fullLike(const Tensor &input, const Scalar &value, std::optional<DType> dtype, std::optional<DeviceId> device,
                bool grad) {
  checkFits(value, dtype.value_or(input->dtype));
  return withGrad(fullTensor(input->dims(), value, dtype.value_or(input->dtype), deviceKind(device, input->device)),
                  grad);
}
Tensor zerosLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return fullLike(input, 0, dtype, device, grad);
}
Tensor onesLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return fullLike(input, 1, dtype, device, grad);
}
Tensor emptyLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return withGrad(uninitialised(input->dims(), dtype.value_or(input->dtype), deviceKind(device, input->device)), grad);
}

Tensor rangeOnCuda(int64_t size, const Scalar &start, const Scalar &step, DType t) {
  Tensor wide(newTensor(start.isFloat() || step.isFloat() ? DType::F64 : DType::I64, Dims({size}), cudaDevice));
  cuda::fillRange(wide.impl(), scalarBits(start, wide->dtype), scalarBits(step, wide->dtype));
  return as(wide, t);
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
  if (deviceKind(device) == uint8_t(DeviceKind::Meta))
    return withGrad(Tensor(newTensor(t, Dims({size}), deviceKind(device))), grad);
  // Integers count in integers: only the number of elements comes from the fractions.
  Scalar from = isFloat(t) ? start : Scalar(start.toInt()), by = isFloat(t) ? step : Scalar(step.toInt());
  if (deviceKind(device) == cudaDevice)
    return withGrad(rangeOnCuda(size, from, by, t), grad);
  return withGrad(callOp(OpId::Arange, {}, {Attr::integer(size), from.attr(), by.attr(), Attr::dtype(t)}), grad);
}

Tensor eyeOf(int64_t n, std::optional<int64_t> m, std::optional<DType> dtype, std::optional<DeviceId> device,
             bool grad) {
  if (n < 0 || m.value_or(0) < 0)
    fail("n must be greater or equal to 0, got " + std::to_string(n < 0 ? n : *m));
  DType t = dtype.value_or(defaultDType());
  if (!isWatched() && !deviceKind(device)) {
    int64_t columns = m.value_or(n), parts = isComplex(t) ? 2 : 1;
    Tensor out = fullTensor(Dims({n, columns}), 0, t);
    uint64_t one = elementBits(1, isComplex(t) ? realType(t) : t); // of complex numbers the real part
    moveItems(out->data, (columns + 1) * parts, &one, 0, std::min(n, columns), int(itemSize(t) / parts));
    return withGrad(out, grad);
  }
  Tensor row = arangeOf(n, {}, 1, {}, device, false), column = arangeOf(m.value_or(n), {}, 1, {}, device, false);
  Tensor diagonal = callOp(OpId::Eq, {unsqueezeDim(row, 1), column});
  return withGrad(as(diagonal, t), grad);
}

/// A number argument that may be a 0-d tensor, which is read.
static Scalar numberOf(const Operand &o, const char *op) {
  if (!o.tensor)
    return o.number;
  if (o.tensor->rank)
    fail(std::string(op) + " only supports 0-dimensional start and end tensors, but got start or end with " +
         std::to_string(o.tensor->rank) + " dimension(s).");
  return item(Tensor::borrow(o.tensor));
}

/// Numbers [from, to) of a row of `steps`, as evenlySpaced computes them.
template <class T>
static void spaceEvenly(T *out, double start, double end, double step, int64_t steps, int64_t from, int64_t to) {
  int64_t half = std::max<int64_t>(steps / 2, 1);
  for (int64_t block = from; block < to;) {
    bool low = block < half;
    auto n = int32_t(std::min<int64_t>(1024, (low ? std::min(half, to) : to) - block));
    double first = low ? double(block) : double(steps - 1) - double(block), turn = low ? 1 : -1;
    double base = low ? start : end, by = low ? step : -step;
    for (int32_t i = 0; i < n; i++) { // steps of their own: nothing is to be fused
      double place = first + turn * i, offset = place * by;
      out[block + i] = T(base + offset);
    }
    block += n;
  }
}

/// From both ends towards the middle in double, rounded once: the last number is `end` itself. In double, or in `t` already.
static Tensor evenlySpaced(double start, double end, int64_t steps, uint8_t device, DType t = DType::F64) {
  if (device == uint8_t(DeviceKind::Meta))
    return Tensor(newTensor(DType::F64, Dims({steps}), device));
  double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
  if (!isWatched() && !device) {
    Tensor out(newTensor(t == DType::F32 ? t : DType::F64, Dims({steps})));
    parallelFor(0, steps, elementwiseGrain, [&](int64_t b, int64_t e) {
      if (t == DType::F32)
        spaceEvenly(reinterpret_cast<float *>(out->data), start, end, step, steps, b, e);
      else
        spaceEvenly(reinterpret_cast<double *>(out->data), start, end, step, steps, b, e);
    });
    return out;
  }
  Tensor i = arangeOf(steps, {}, 1, DType::F64, DeviceId{DeviceKind(device)}, false);
  Tensor low = callOp(OpId::Add, {callOp(OpId::Mul, {i, step}), start});
  Tensor high = callOp(OpId::Sub, {end, callOp(OpId::Mul, {callOp(OpId::Sub, {double(steps - 1), i}), step})});
  return callOp(OpId::Where, {callOp(OpId::Lt, {i, double(std::max<int64_t>(steps / 2, 1))}), low, high});
}
static DType spacedType(const Scalar &start, const Scalar &end, std::optional<DType> dtype) {
  bool any = start.isComplex() || end.isComplex();
  DType t = dtype.value_or(any ? complexType(defaultDType()) : defaultDType());
  refuseStored("linspace", t);
  if (any && !isComplex(t))
    fail("linspace(): inferred dtype " + std::string(torchName(complexType(defaultDType()))) +
         " can't be safely cast to passed dtype " + std::string(torchName(t)));
  return t;
}
/// Both parts evenly spaced.
static Tensor spacedComplex(const Scalar &start, const Scalar &end, int64_t steps, DType t, uint8_t device) {
  auto part = [&](double from, double to) { return evenlySpaced(from, to, steps, device); };
  return as(complexOf(part(start.real(), end.real()), part(start.imag(), end.imag()), Out()), t);
}
Tensor linspaceOf(const Operand &start, const Operand &end, int64_t steps, std::optional<DType> dtype,
                  std::optional<DeviceId> device, bool grad) {
  Scalar first = numberOf(start, "linspace"), last = numberOf(end, "linspace");
  DType t = spacedType(first, last, dtype);
  if (steps < 0)
    fail("number of steps must be non-negative");
  if (isComplex(t))
    return withGrad(spacedComplex(first, last, steps, t, deviceKind(device)), grad);
  double from = first.toDouble(), to = last.toDouble();
  if (!isFloat(t)) { // integers start and end as integers
    from = std::trunc(from);
    to = std::trunc(to);
  }
  return withGrad(as(evenlySpaced(from, to, steps, deviceKind(device), t), t), grad);
}

/// base to evenly spaced powers, in double and rounded once.
Tensor logspaceOf(const Operand &start, const Operand &end, int64_t steps, double base, std::optional<DType> dtype,
                  std::optional<DeviceId> device, bool grad) {
  Scalar first = numberOf(start, "logspace"), last = numberOf(end, "logspace");
  DType t = spacedType(first, last, dtype);
  if (steps < 0)
    fail("number of steps must be non-negative");
  std::optional<OpId> power = lookupOp("pow");
  if (!power)
    unsupported("logspace() needs pow() of tensors, which is not implemented");
  if (isComplex(t))
    return withGrad(as(powOfNumber(base, spacedComplex(first, last, steps, DType::C128, deviceKind(device))), t), grad);
  double from = first.toDouble(), to = last.toDouble();
  if (!isFloat(t)) {
    from = std::trunc(from);
    to = std::trunc(to);
  }
  Tensor y = callOp(*power, {base, evenlySpaced(from, to, steps, deviceKind(device))});
  if (!isFloat(t)) // a whole power that came out a little low isn't truncated to the number below
    y = callOp(OpId::Mul, {y, 1 + 0x1p-50});
  return withGrad(as(y, t), grad);
}

Tensor scalarTensor(const Scalar &s, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  checkFits(s, dtype.value_or(defaultDType()));
  return withGrad(fullTensor(Dims(), s, dtype.value_or(defaultDType()), deviceKind(device)), grad);
}

/// Memory for the element furthest from the first.
Tensor emptyStrided(IntList size, IntList stride, std::optional<DType> dtype, std::optional<DeviceId> device,
                    bool grad) {
  if (size.size() != stride.size())
    fail("mismatch in length of strides and shape");
  Dims shape = checkedSize(size);
  DType t = dtype.value_or(defaultDType());
  int64_t extent = shape.numel() ? 1 : 0;
  for (size_t i = 0; i < stride.size(); i++) {
    int64_t reach;
    if (stride[i] < 0)
      fail("Negative strides are not supported at the moment, got strides: " +
           Dims(stride.data(), int(stride.size())).str());
    if (extent && (__builtin_mul_overflow(shape[int(i)] - 1, stride[i], &reach) ||
                   __builtin_add_overflow(extent, reach, &extent)))
      fail("empty_strided(): strides reach more elements than 64 bits count");
  }
  int64_t numel;
  Diag diag;
  if (!checkedNumel(Dims({extent}), numel, diag))
    fail(diag);
  Tensor base(newTensor(t, Dims({extent}), deviceKind(device)));
  return withGrad(Tensor(newAlias(base.impl(), shape.size(), shape.data(), stride.data(), 0)), grad);
}
/// Dense, with the dimensions in memory in the order of `physicalLayout`.
Tensor emptyPermuted(IntList size, IntList physicalLayout, std::optional<DType> dtype, std::optional<DeviceId> device,
                     bool grad) {
  size_t rank = size.size();
  if (physicalLayout.size() != rank)
    fail("Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = " +
         std::to_string(rank) + " is not equal to len(physical_layout) = " + std::to_string(physicalLayout.size()));
  std::vector<int64_t> strides(rank, 0);
  std::vector<bool> seen(rank);
  int64_t step = 1;
  for (size_t i = rank; i-- > 0;) {
    int64_t d = physicalLayout[i];
    if (d < 0 || d >= int64_t(rank))
      fail("Dimension out of range (expected to be between 0 and " + std::to_string(int64_t(rank) - 1) + ", but got " +
           std::to_string(d) + " at index " + std::to_string(i) + "). NB: negative dims not currently supported");
    if (seen[size_t(d)])
      fail("Duplicate dim not allowed");
    seen[size_t(d)] = true;
    strides[size_t(d)] = step;
    step *= std::max<int64_t>(size[size_t(d)], 1);
  }
  return emptyStrided(size, strides, dtype, device, grad);
}

} // namespace torchc::composite
