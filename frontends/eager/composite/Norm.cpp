// Normalisations of torch.nn.functional (N6): mean and variance by N4 in the op-math type, one rounding at the end.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/composite/Arith.h"
#include <limits>

namespace torchc::composite {
using namespace arith;

namespace {

Tensor sumOver(const Tensor &x, const Dims &axes) { return callOp(OpId::Sum, {x}, {attr(axes), Attr::boolean(true)}); }

int64_t countOf(const Tensor &x, const Dims &axes) {
  int64_t n = 1;
  for (int64_t a : axes)
    n *= x->sizes()[a];
  return n;
}

/// Mean and sum of squared distances over `axes`, kept as size 1.
struct Spread {
  Tensor mean, squares, distance;
  double n;
};
Spread spreadOf(const Tensor &x, const Dims &axes) {
  Spread s;
  s.n = double(countOf(x, axes));
  s.mean = div(sumOver(x, axes), s.n);
  s.distance = sub(x, s.mean);
  s.squares = sumOver(mul(s.distance, s.distance), axes);
  return s;
}

Tensor reciprocalRoot(const Tensor &var, double eps) { return callOp(OpId::Rsqrt, {add(var, eps)}); }

/// y * weight + bias in one rounding; what is absent does nothing.
Tensor affine(const Tensor &y, const OptTensor &weight, const OptTensor &bias) {
  if (weight.defined() && bias.defined())
    return callOp(OpId::Fma, {y, wide(weight), wide(bias)});
  if (weight.defined())
    return mul(y, wide(weight));
  return bias.defined() ? add(y, wide(bias)) : y;
}

Tensor ofShape(const Tensor &t, const Dims &shape) { return t->dims() == shape ? t : reshaped(t, shape); }

/// Weight and bias as operands of an op that has both: 1 and -0 in fma(y, w, b) leave every bit of y * w, y + b and y.
struct Parameters {
  Tensor weight, bias;
  Parameters(const Tensor &x, const OptTensor &w, const OptTensor &b, const Dims &shape)
      : weight(w.defined() ? ofShape(wide(w), shape) : fullTensor(shape, 1.0, x->dtype, x->device)),
        bias(b.defined() ? ofShape(wide(b), shape) : fullTensor(shape, -0.0, x->dtype, x->device)) {}
};

/// A vector of channels as [1, C, 1, ...].
OptTensor alongChannels(const OptTensor &v, const Tensor &x) {
  if (!v.defined())
    return v;
  Dims shape;
  for (int i = 0; i < x->rank; i++)
    shape.push(i == 1 ? v->numel : 1);
  return reshaped(v, shape);
}

/// The last dimensions, which must be `shape`.
Dims lastAxes(const char *name, const Tensor &x, IntList shape, const OptTensor &weight, const OptTensor &bias) {
  int first = x->rank - int(shape.size());
  Dims given(shape.data(), int(shape.size()));
  if (shape.empty())
    fail("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
         "normalized_shape = []");
  for (const OptTensor *t : {&weight, &bias})
    if (t->defined() && !((*t)->dims() == given))
      fail("Expected weight and bias to be of same shape as normalized_shape, but got a parameter of shape " +
           (*t)->dims().str() + " and normalized_shape = " + given.str());
  bool fits = first >= 0;
  Dims axes;
  for (int i = std::max(first, 0); fits && i < x->rank; i++) {
    fits = x->sizes()[i] == shape[size_t(i - first)];
    axes.push(i);
  }
  if (!fits)
    fail("Given normalized_shape=" + given.str() + ", expected input with shape [*, " +
         given.str().substr(1, given.str().size() - 2) + "], but got input of size" + x->dims().str());
  if (!isDifferentiable(x->dtype))
    unsupported("\"" + std::string(name) + "\" not implemented for '" + std::string(torchName(x->dtype)) + "'");
  return axes;
}

void checkChannels(const char *name, const OptTensor &v, int64_t channels, const char *what) {
  if (v.defined() && v->numel != channels)
    fail(std::string(name) + "(): expected " + what + " to contain " + std::to_string(channels) +
         " elements, the number of channels, got " + std::to_string(v->numel));
}

/// running = (1 - momentum) * running + momentum * now, in place and unseen by autograd.
void update(const OptTensor &running, const Tensor &now, double momentum) {
  if (!running.defined())
    return;
  Tensor old = wide(running), given = as(reshaped(now, running->dims()), old->dtype);
  Tensor next = add(mul(old, 1 - momentum), mul(given, momentum));
  deliver(as(next, running->dtype), Out::inplace(running));
}

} // namespace

Tensor layerNorm(const Tensor &input, IntList shape, const OptTensor &weight, const OptTensor &bias, double eps, bool) {
  Dims axes = lastAxes("layer_norm", input, shape, weight, bias);
  if (isComplex(input->dtype))
    unsupported("\"layer_norm\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  Tensor x = wide(input);
  Parameters p(x, weight, bias, Dims(shape.data(), int(shape.size())));
  return as(callOp(OpId::LayerNorm, {x, p.weight, p.bias}, {attr(axes), Attr::number(eps)}), input->dtype);
}

Tensor rmsNorm(const Tensor &input, IntList shape, const OptTensor &weight, std::optional<double> eps) {
  Dims axes = lastAxes("rms_norm", input, shape, weight, {});
  Tensor x = wide(input);
  double least = realType(x->dtype) == DType::F64 ? std::numeric_limits<double>::epsilon()
                                                  : double(std::numeric_limits<float>::epsilon());
  Tensor square = div(sumOver(mul(x, x), axes), double(countOf(x, axes)));
  return as(affine(mul(x, reciprocalRoot(square, eps.value_or(least))), weight, {}), input->dtype);
}

Tensor groupNorm(const Tensor &input, int64_t groups, const OptTensor &weight, const OptTensor &bias, double eps,
                 bool) {
  if (input->rank < 2)
    fail("Expected at least 2 dimensions for input tensor but received " + std::to_string(input->rank));
  if (!isFloat(input->dtype))
    unsupported("\"group_norm\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  int64_t channels = input->sizes()[1];
  if (groups <= 0 || channels % groups)
    fail("Expected number of channels in input to be divisible by num_groups, but got input of shape " +
         input->dims().str() + " and num_groups=" + std::to_string(groups));
  checkChannels("group_norm", weight, channels, "weight");
  checkChannels("group_norm", bias, channels, "bias");
  Tensor x = wide(input);
  Dims grouped({input->sizes()[0], groups, channels / groups});
  for (int i = 2; i < input->rank; i++)
    grouped.push(input->sizes()[i]);
  Dims axes;
  for (int i = 2; i < grouped.size(); i++)
    axes.push(i);
  Spread s = spreadOf(reshaped(x, grouped), axes);
  Tensor y = reshaped(mul(s.distance, reciprocalRoot(div(s.squares, s.n), eps)), input->dims());
  return as(affine(y, alongChannels(weight, y), alongChannels(bias, y)), input->dtype);
}

Tensor batchNorm(const Tensor &input, const OptTensor &weight, const OptTensor &bias, const OptTensor &runningMean,
                 const OptTensor &runningVar, bool training, double momentum, double eps, bool) {
  if (input->rank < 2)
    fail("batch_norm(): expected an input of at least 2 dimensions, got " + input->dims().str());
  if (!isFloat(input->dtype))
    unsupported("\"batch_norm\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  int64_t channels = input->sizes()[1];
  checkChannels("batch_norm", weight, channels, "weight");
  checkChannels("batch_norm", bias, channels, "bias");
  checkChannels("batch_norm", runningMean, channels, "running_mean");
  checkChannels("batch_norm", runningVar, channels, "running_var");
  if (!training && !(runningMean.defined() && runningVar.defined()))
    fail("Expected running_mean and running_var to be defined when training=False");
  Tensor x = wide(input), mean, var;
  Dims shape{channels}, along{1};
  if (training) {
    NoGradGuard quiet;
    Dims axes = allAxes(input->rank);
    axes.erase(1);
    Spread s = spreadOf(x, axes);
    mean = reshaped(s.mean, shape);
    var = reshaped(div(s.squares, s.n), shape);
    update(runningMean, s.mean, momentum);
    update(runningVar, div(s.squares, std::max(0.0, s.n - 1)), momentum);
  } else {
    // Copies where a tape keeps them: a step of training in between may change the running ones.
    auto kept = [](const Tensor &t) { return isGradEnabled() ? callOp(OpId::Cast, {t}, {Attr::dtype(t->dtype)}) : t; };
    mean = ofShape(kept(wide(runningMean)), shape);
    var = ofShape(kept(wide(runningVar)), shape);
  }
  Parameters p(x, weight, bias, shape);
  Tensor y = callOp(OpId::BatchNorm, {x, p.weight, p.bias, mean, var},
                    {attr(along), Attr::number(eps), Attr::boolean(training)});
  return as(y, input->dtype);
}

/// keep = u < f32(1 - p), y = x * (keep ? f32(1 / (1 - p)) : +0); p = 1 gives x * 0 (N9).
Tensor dropoutOf(const Tensor &input, double p, bool train, Out out) {
  if (!(p >= 0 && p <= 1))
    fail("dropout probability has to be between 0 and 1, but got " + std::to_string(p));
  if (!train || p == 0)
    return out.kind == Out::None ? input : deliver(input, out);
  Tensor x = wide(input);
  if (p == 1)
    return deliver(as(mul(x, 0.0), input->dtype), out);
  Tensor u = randLike(input, DType::F32, {}, false);
  return deliver(as(callOp(OpId::Dropout, {x, u}, {Attr::number(p)}), input->dtype), out);
}

} // namespace torchc::composite
