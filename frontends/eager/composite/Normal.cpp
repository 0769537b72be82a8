// Normal numbers and what is computed from them.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/composite/Random.h"
#include <numbers>

namespace torchc::composite {

/// An elementwise function that this table may lack.
static Tensor function(const char *name, const Tensor &x) {
  std::optional<OpId> op = lookupOp(name);
  if (!op)
    unsupported(std::string("random numbers of this distribution need ") + name + "(), which is not implemented");
  return callOp(*op, {x});
}

/// sqrt(-2 log u1) cos(2 pi u2), each step rounded (N9).
Tensor Draw::normal(const Dims &dims, DType t, uint8_t device) const {
  Tensor u1 = callOp(OpId::Sub, {1, uniform(dims, t, device, 0)}), u2 = uniform(dims, t, device, 1);
  Tensor radius = callOp(OpId::Sqrt, {callOp(OpId::Mul, {callOp(OpId::Log, {u1}), -2.0})});
  return callOp(OpId::Mul, {radius, function("cos", callOp(OpId::Mul, {u2, 6.283185307179586}))});
}

namespace {

void needFloat(DType t, const char *op) {
  if (!isFloat(t))
    unsupported("\"" + std::string(op) + "\" not implemented for '" + std::string(torchName(t)) + "'");
}
void needDeviation(double std, const char *op) {
  if (!(std >= 0))
    fail(std::string(op) + " expects std >= 0.0, but found std " + std::to_string(std));
}

/// z * std + mean in two roundings, then rounded to `t` once.
Tensor drawNormal(const Dims &dims, const Operand &mean, const Operand &std, DType t, const OptGenerator &generator,
                  uint8_t device) {
  Tensor z = Draw(generator).normal(dims, computeType(t), device);
  return as(callOp(OpId::Add, {callOp(OpId::Mul, {z, std}), mean}), t);
}

/// Of complex numbers both parts have the variance 1/2.
Tensor standardNormal(const Dims &dims, DType t, const OptGenerator &generator, uint8_t device) {
  if (isComplex(t))
    return pairedUp(
        dims, [&](const Dims &d) { return drawNormal(d, 0, std::numbers::sqrt2 / 2, realType(t), generator, device); });
  needFloat(t, "normal_kernel_cpu");
  return drawNormal(dims, 0, 1, t, generator, device);
}

} // namespace

Tensor randnOf(IntList size, const OptGenerator &generator, std::optional<DType> dtype, std::optional<DeviceId> device,
               bool grad) {
  DType t = dtype.value_or(defaultDType());
  return withGrad(standardNormal(checkedSize(size), t, generator, deviceKind(device)), grad);
}
Tensor randnLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  DType t = dtype.value_or(input->dtype);
  return withGrad(standardNormal(input->dims(), t, {}, deviceKind(device, input->device)), grad);
}

Tensor normalInto(const Tensor &input, double mean, double std, const OptGenerator &generator, Out out) {
  if (isComplex(input->dtype)) {
    needDeviation(std, "normal");
    Tensor z = standardNormal(input->dims(), input->dtype, generator, input->device);
    return deliver(callOp(OpId::Add, {callOp(OpId::Mul, {z, std}), mean}), out);
  }
  needFloat(input->dtype, "normal_kernel_cpu");
  needDeviation(std, "normal");
  return deliver(drawNormal(input->dims(), mean, std, input->dtype, generator, input->device), out);
}
Tensor normalSized(double mean, double std, IntList size, const OptGenerator &generator, std::optional<DType> dtype,
                   std::optional<DeviceId> device, bool grad) {
  DType t = dtype.value_or(defaultDType());
  needFloat(t, "normal_kernel_cpu");
  needDeviation(std, "normal");
  return withGrad(drawNormal(checkedSize(size), mean, std, t, generator, deviceKind(device)), grad);
}

static void needDeviations(const Tensor &std) {
  if (std->device || !std->numel || (threadState.modes.flags & (FlagRecording | FlagRetracing)))
    return;
  InternalGuard quiet;
  if (isComplex(std->dtype))
    fail("normal expects standard deviation to be non-complex");
  if (item(any(callOp(OpId::Lt, {std, 0}))).toBool())
    fail("normal expects all elements of std >= 0.0");
}
Tensor normalTensors(const Tensor &mean, const Tensor &std, const OptGenerator &generator) {
  needDeviations(std);
  std::vector<Tensor> both = broadcastTensors({detached(mean), detached(std)});
  DType t = commonType(mean->dtype, std->dtype);
  return drawNormal(both[0]->dims(), both[0], both[1], isFloat(t) ? t : defaultDType(), generator, mean->device);
}
Tensor normalMeans(const Tensor &mean, double std, const OptGenerator &generator) {
  needDeviation(std, "normal");
  DType t = isFloat(mean->dtype) ? mean->dtype : defaultDType();
  return drawNormal(mean->dims(), detached(mean), std, t, generator, mean->device);
}
Tensor normalDeviations(double mean, const Tensor &std, const OptGenerator &generator) {
  needDeviations(std);
  DType t = isFloat(std->dtype) ? std->dtype : defaultDType();
  return drawNormal(std->dims(), mean, detached(std), t, generator, std->device);
}

Tensor logNormalInto(const Tensor &input, double mean, double std, const OptGenerator &generator, Out out) {
  needFloat(input->dtype, "log_normal");
  if (!(std > 0))
    fail("log_normal_ expects std > 0.0, but found std=" + std::to_string(std));
  DType t = computeType(input->dtype);
  Tensor z = drawNormal(input->dims(), mean, std, t, generator, input->device);
  return deliver(as(callOp(OpId::Exp, {z}), input->dtype), out);
}

/// median + sigma * tan(pi * (u - 1/2)).
Tensor cauchyInto(const Tensor &input, double median, double sigma, const OptGenerator &generator, Out out) {
  needFloat(input->dtype, "cauchy");
  if (!(sigma > 0))
    fail("cauchy_ expects sigma > 0.0, but found sigma=" + std::to_string(sigma));
  Tensor u = Draw(generator).uniform(input->dims(), computeType(input->dtype), input->device);
  Tensor angle = callOp(OpId::Mul, {callOp(OpId::Sub, {u, 0.5}), 3.141592653589793});
  Tensor t = callOp(OpId::Add, {callOp(OpId::Mul, {function("tan", angle), sigma}), median});
  return deliver(as(t, input->dtype), out);
}

} // namespace torchc::composite
