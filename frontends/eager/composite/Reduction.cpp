// API of reductions: `dim=` in all its forms, types, and what is made of several primitives.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/composite/Common.h"
#include <limits>

namespace torchc::composite {
namespace {

int64_t countOf(const Tensor &x, const Dims &axes) {
  int64_t n = 1;
  for (int64_t a : axes)
    n *= x->sizes()[a];
  return n;
}

Tensor reduce(OpId op, const Tensor &x, const Dims &axes, bool keepdim) {
  return callOp(op, {x}, {attr(axes), Attr::boolean(keepdim)});
}

/// An extreme of nothing has no value.
void refuseEmpty(const char *name, const Tensor &x, const Dims &axes, bool named = true) {
  for (int64_t a : axes)
    if (x->sizes()[a] == 0)
      fail(named ? ErrorKind::Index : ErrorKind::Runtime,
           std::string(name) + "(): Expected reduction dim " + std::to_string(a) + " to have non-zero size.");
}

Tensor extreme(OpId op, const char *name, const Tensor &x, IntList dim, bool keepdim) {
  Dims axes = axesOf(x, dim);
  refuseEmpty(name, x, axes, !dim.empty());
  return reduce(op, x, axes, keepdim);
}

Tensor argExtreme(OpId op, const char *name, const Tensor &x, std::optional<int64_t> dim, bool keepdim) {
  if (x->dtype == DType::Bool)
    fail(ErrorKind::NotImplemented, "\"" + std::string(name) + "_cpu\" not implemented for 'Bool'");
  Dims axes = allAxes(x->rank);
  if (dim) {
    int64_t d = wrap(*dim, x->rank);
    axes = x->rank ? Dims({d}) : Dims();
  }
  refuseEmpty(name, x, axes);
  return reduce(op, x, axes, keepdim);
}

std::tuple<Tensor, Tensor> extremeDim(OpId op, const char *name, const Tensor &x, int64_t dim, bool keepdim) {
  int64_t d = wrap(dim, x->rank);
  Dims axes = x->rank ? Dims({d}) : Dims();
  refuseEmpty(name, x, axes);
  Tensor index = reduce(op, x, axes, true);
  Tensor values = callOp(OpId::Gather, {x, index}, {Attr::integer(d)});
  if (!keepdim && x->rank) {
    Dims shape = values->dims();
    shape.erase(int(d));
    values = reshaped(values, shape);
    index = reshaped(index, shape);
  }
  return {values, index};
}

Tensor extremeAll(OpId op, const char *name, const Tensor &x) {
  if (!x->numel)
    fail(std::string(name) +
         "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
         "with the 'dim' argument.");
  return reduce(op, x, allAxes(x->rank), false);
}

} // namespace

Tensor sumDims(const Tensor &input, std::optional<IntList> dim, bool keepdim, std::optional<DType> dtype) {
  Tensor sum = reduce(OpId::Sum, dtype ? as(input, *dtype) : input, axesOf(input, dim), keepdim);
  return dtype ? as(sum, *dtype) : sum; // narrow integers add in int64
}
Tensor amaxDims(const Tensor &input, IntList dim, bool keepdim) {
  return extreme(OpId::Amax, "amax", input, dim, keepdim);
}
Tensor aminDims(const Tensor &input, IntList dim, bool keepdim) {
  return extreme(OpId::Amin, "amin", input, dim, keepdim);
}
Tensor argmaxDim(const Tensor &input, std::optional<int64_t> dim, bool keepdim) {
  return argExtreme(OpId::Argmax, "argmax", input, dim, keepdim);
}
Tensor argminDim(const Tensor &input, std::optional<int64_t> dim, bool keepdim) {
  return argExtreme(OpId::Argmin, "argmin", input, dim, keepdim);
}

Tensor maxAll(const Tensor &input) { return extremeAll(OpId::Amax, "max", input); }
Tensor minAll(const Tensor &input) { return extremeAll(OpId::Amin, "min", input); }
std::tuple<Tensor, Tensor> maxDim(const Tensor &input, int64_t dim, bool keepdim) {
  return extremeDim(OpId::Argmax, "max", input, dim, keepdim);
}
std::tuple<Tensor, Tensor> minDim(const Tensor &input, int64_t dim, bool keepdim) {
  return extremeDim(OpId::Argmin, "min", input, dim, keepdim);
}
Tensor maxOther(const Tensor &input, const Tensor &other) { return callOp(OpId::Maximum, {input, other}); }
Tensor minOther(const Tensor &input, const Tensor &other) { return callOp(OpId::Minimum, {input, other}); }

static Tensor truth(const Tensor &x) { return callOp(OpId::Ne, {x, 0}); }
/// Bool, but uint8 of uint8, as in PyTorch.
static Tensor truthReduced(OpId op, const Tensor &x, const Dims &axes, bool keepdim) {
  return as(reduce(op, truth(x), axes, keepdim), x->dtype == DType::U8 ? DType::U8 : DType::Bool);
}
Tensor anyOf(const Tensor &input) { return truthReduced(OpId::Amax, input, allAxes(input->rank), false); }
Tensor allOf(const Tensor &input) { return truthReduced(OpId::Amin, input, allAxes(input->rank), false); }
Tensor anyDim(const Tensor &input, int64_t dim, bool keepdim) {
  return truthReduced(OpId::Amax, input, axesOf(input, IntList(&dim, 1)), keepdim);
}
Tensor allDim(const Tensor &input, int64_t dim, bool keepdim) {
  return truthReduced(OpId::Amin, input, axesOf(input, IntList(&dim, 1)), keepdim);
}

Tensor meanDims(const Tensor &input, std::optional<IntList> dim, bool keepdim, std::optional<DType> dtype) {
  DType t = dtype.value_or(input->dtype);
  if (!isFloat(t))
    fail("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: " +
         std::string(torchName(t)));
  Dims axes = axesOf(input, dim);
  Tensor x = as(as(input, t), computeType(t)); // one rounding, at the end (N4)
  Tensor total = reduce(OpId::Sum, x, axes, keepdim);
  return as(callOp(OpId::Div, {total, double(countOf(input, axes))}), t);
}

Tensor varDims(const Tensor &input, std::optional<IntList> dim, const Scalar &correction, bool keepdim) {
  DType t = input->dtype;
  if (!isFloat(t))
    fail("std and var only support floating point and complex dtypes");
  Dims axes = axesOf(input, dim);
  double n = double(countOf(input, axes));
  Tensor x = as(input, computeType(t));
  Tensor mean = callOp(OpId::Div, {reduce(OpId::Sum, x, axes, true), n});
  Tensor d = callOp(OpId::Sub, {x, mean});
  Tensor total = reduce(OpId::Sum, callOp(OpId::Mul, {d, d}), axes, keepdim);
  return as(callOp(OpId::Div, {total, std::max(0.0, n - correction.toDouble())}), t);
}
Tensor stdDims(const Tensor &input, std::optional<IntList> dim, const Scalar &correction, bool keepdim) {
  DType t = input->dtype;
  Tensor x = isFloat(t) ? as(input, computeType(t)) : input;
  return as(callOp(OpId::Sqrt, {varDims(x, dim, correction, keepdim)}), t);
}

Tensor softmaxDim(const Tensor &input, int64_t dim, std::optional<DType> dtype) {
  return callOp(OpId::Softmax, {dtype ? as(input, *dtype) : input}, {Attr::integer(wrap(dim, input->rank))});
}
Tensor logSoftmaxDim(const Tensor &input, int64_t dim, std::optional<DType> dtype) {
  return callOp(OpId::LogSoftmax, {dtype ? as(input, *dtype) : input}, {Attr::integer(wrap(dim, input->rank))});
}

bool equalAll(const Tensor &input, const Tensor &other) {
  if (!sameShape(input.impl(), other.impl()))
    return false;
  return !input->numel || item(allOf(callOp(OpId::Eq, {input, other}))).toBool();
}

bool allClose(const Tensor &input, const Tensor &other, double rtol, double atol, bool equalNan) {
  NoGradGuard guard;
  if (!input->numel || !other->numel)
    return true;
  Tensor same = callOp(OpId::Eq, {input, other});
  if (equalNan)
    same = callOp(OpId::LogicalOr, {same, callOp(OpId::LogicalAnd, {isNanOf(input), isNanOf(other)})});
  Tensor distance = callOp(OpId::Abs, {callOp(OpId::Sub, {input, other})});
  Tensor bound = callOp(OpId::Add, {callOp(OpId::Mul, {callOp(OpId::Abs, {other}), rtol}), atol});
  // An infinite distance is close to nothing: equal infinities are in `same`.
  Tensor finite = callOp(OpId::Lt, {distance, std::numeric_limits<double>::infinity()});
  Tensor near = callOp(OpId::LogicalAnd, {callOp(OpId::Le, {distance, bound}), finite});
  return item(allOf(callOp(OpId::LogicalOr, {same, near}))).toBool();
}

} // namespace torchc::composite
