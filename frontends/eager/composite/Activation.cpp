// Activations of torch.nn.functional in primitives. Half precision is computed in f32 and rounded once (N6); a `where`
// in front of what may overflow keeps infinities out of the gradient.
#include "frontends/autograd/Tape.h"
#include "frontends/eager/composite/Arith.h"
#include "frontends/eager/composite/ByBlocks.h"

namespace torchc::composite {
using namespace arith;

namespace {

void needFloat(const char *name, const Tensor &x) {
  if (!isFloat(x->dtype))
    unsupported("\"" + std::string(name) + "\" not implemented for '" + std::string(torchName(x->dtype)) + "'");
}

/// elementFunction of what PyTorch has for floating types alone.
template <class F> Tensor activation(const char *name, const Tensor &x, Out out, F f) {
  needFloat(name, x);
  return elementFunction(x, out, f);
}

/// One that is linear in pieces.
template <class F> Tensor piecewise(const char *name, const Tensor &x, Out out, F f) {
  LinkedScope linked;
  return activation(name, x, out, f);
}

/// No gradient at the limits; NaN passes.
Tensor limited(const Tensor &x, const Scalar &low, const Scalar &high) {
  return where(ge(x, high), high, where(le(x, low), low, x));
}

Tensor scaled(const Tensor &x, double factor) { return factor == 1 ? x : mul(x, factor); }

Tensor eluIn(const Tensor &x, double alpha, double scale, double inputScale) {
  Tensor negative = le(x, 0);
  Tensor e = callOp(OpId::Expm1, {scaled(where(negative, x, 0.0), inputScale)});
  return where(negative, scaled(e, alpha * scale), scaled(x, scale));
}

Tensor softplusIn(const Tensor &x, double beta, double threshold) {
  Tensor bx = scaled(x, beta);
  Tensor far = gt(bx, threshold);
  Tensor l = log1p(exp(where(far, 0.0, bx)));
  return where(far, x, beta == 1 ? l : div(l, beta));
}

/// By one comparison, so that 0 has derivatives of every order.
Tensor logSigmoidIn(const Tensor &x) {
  Tensor negative = lt(x, 0);
  return sub(where(negative, x, 0.0), log1p(exp(where(negative, x, neg(x)))));
}

} // namespace

Tensor siluOf(const Tensor &input, Out out) {
  if (!isDifferentiable(input->dtype))
    unsupported("\"silu\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  return callOp(OpId::Silu, {input}, {}, out);
}
Tensor geluOf(const Tensor &input, std::string_view approximate, Out out) {
  if (approximate != "none" && approximate != "tanh")
    fail("approximate argument must be either none or tanh.");
  if (!isFloat(input->dtype))
    unsupported("\"gelu\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  return callOp(approximate == "tanh" ? OpId::GeluTanh : OpId::Gelu, {input}, {}, out);
}
Tensor mishOf(const Tensor &input, Out out) {
  return activation("mish", input, out,
                    [](const Tensor &x) { return mul(x, callOp(OpId::Tanh, {softplusIn(x, 1, 20)})); });
}
Tensor hardtanhOf(const Tensor &input, const Scalar &low, const Scalar &high, Out out) {
  if (low.toDouble() > high.toDouble())
    fail("hardtanh(): min_val cannot be greater than max_val");
  if (!isFloat(input->dtype)) {
    if (input->dtype == DType::Bool)
      unsupported("Bool inputs not supported for hardtanh");
    return clampNumbers(input, Scalar(low.toInt()), Scalar(high.toInt()), out);
  }
  return piecewise("hardtanh", input, out,
                   [&](const Tensor &x) { return limited(x, low.toDouble(), high.toDouble()); });
}
Tensor relu6Of(const Tensor &input, Out out) { return hardtanhOf(input, 0, 6, out); }
Tensor hardsigmoidOf(const Tensor &input, Out out) {
  return activation("hardsigmoid", input, out,
                    [](const Tensor &x) { return div(limited(add(x, 3.0), 0.0, 6.0), 6.0); });
}
Tensor hardswishOf(const Tensor &input, Out out) {
  return activation("hardswish", input, out,
                    [](const Tensor &x) { return div(mul(x, limited(add(x, 3.0), 0.0, 6.0)), 6.0); });
}
Tensor leakyRelu(const Tensor &input, const Scalar &slope, Out out) {
  return piecewise("leaky_relu", input, out,
                   [&](const Tensor &x) { return where(gt(x, 0), x, mul(x, slope.toDouble())); });
}
Tensor preluOf(const Tensor &input, const Tensor &weight) {
  if (input->dtype != weight->dtype)
    fail("prelu: Type promoting not supported. Got " + std::string(torchName(input->dtype)) + " and " +
         std::string(torchName(weight->dtype)));
  if (weight->rank > 1)
    fail("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = " + std::to_string(weight->rank));
  Tensor w = weight;
  if (weight->numel != 1) {
    int64_t channels = input->rank > 1 ? input->sizes()[1] : 1;
    if (!input->rank || channels != weight->numel)
      fail("Mismatch of parameter numbers and input channel size. Found parameter numbers = " +
           std::to_string(weight->numel) + " and channel size = " + std::to_string(channels) + ".");
  }
  Dims shape;
  for (int i = 0; i < input->rank; i++)
    shape.push(i == (input->rank > 1 ? 1 : 0) ? weight->numel : 1);
  if (!(w->dims() == shape))
    w = reshaped(weight, shape);
  needFloat("prelu", input);
  LinkedScope linked;
  return realFunction(input, Out(), [&](const Tensor &x) { return where(gt(x, 0), x, mul(x, wide(w))); });
}
Tensor eluOf(const Tensor &input, const Scalar &alpha, const Scalar &scale, const Scalar &inputScale, Out out) {
  return activation("elu", input, out, [&](const Tensor &x) {
    return eluIn(x, alpha.toDouble(), scale.toDouble(), inputScale.toDouble());
  });
}
Tensor seluOf(const Tensor &input, Out out) {
  return activation("elu", input, out, [](const Tensor &x) {
    return eluIn(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
  });
}
Tensor celuOf(const Tensor &input, const Scalar &alpha, Out out) {
  double a = alpha.toDouble();
  if (a == 0)
    fail("ZeroDivisionError: alpha cannot be 0 for CELU");
  return activation("elu", input, out, [&](const Tensor &x) { return eluIn(x, a, 1, 1 / a); });
}
Tensor gluOf(const Tensor &input, int64_t dim) {
  if (!input->rank)
    fail("glu does not support 0-dimensional tensors");
  int64_t d = wrap(dim, input->rank), size = input->sizes()[d];
  if (size % 2)
    fail("Halving dimension must be even, but dimension " + std::to_string(d) + " is size " + std::to_string(size));
  needFloat("glu", input);
  return realFunction(input, Out(), [&](const Tensor &x) {
    return mul(narrowDim(x, d, 0, size / 2), callOp(OpId::Sigmoid, {narrowDim(x, d, size / 2, size / 2)}));
  });
}
Tensor softplusOf(const Tensor &input, const Scalar &beta, const Scalar &threshold) {
  return activation("softplus", input, Out(),
                    [&](const Tensor &x) { return softplusIn(x, beta.toDouble(), threshold.toDouble()); });
}
Tensor logSigmoid(const Tensor &input) { return activation("log_sigmoid", input, Out(), logSigmoidIn); }
Tensor softsignOf(const Tensor &input) {
  return elementFunction(input, Out(), [](const Tensor &x) { return div(x, add(abs(x), 1)); });
}
Tensor tanhshrinkOf(const Tensor &input) {
  return elementFunction(input, Out(), [](const Tensor &x) { return sub(x, callOp(OpId::Tanh, {x})); });
}
Tensor softshrinkOf(const Tensor &input, const Scalar &lambd) {
  double l = lambd.toDouble();
  if (!(l >= 0))
    fail("lambda must be greater or equal to 0, but found to be " + std::to_string(l));
  return piecewise("softshrink", input, Out(), [&](const Tensor &x) {
    return where(gt(x, l), sub(x, l), where(lt(x, -l), add(x, l), mul(x, 0.0)));
  });
}
Tensor hardshrinkOf(const Tensor &input, const Scalar &lambd) {
  double l = lambd.toDouble();
  return piecewise("hardshrink", input, Out(),
                   [&](const Tensor &x) { return where(callOp(OpId::LogicalAnd, {ge(x, -l), le(x, l)}), 0.0, x); });
}
Tensor thresholdOf(const Tensor &input, const Scalar &threshold, const Scalar &value, Out out) {
  if (input->dtype == DType::Bool)
    unsupported("\"threshold\" not implemented for 'bool'");
  checkFits(value, input->dtype);
  auto number = [&](const Scalar &s) { return isFloat(input->dtype) ? Scalar(s.toDouble()) : Scalar(s.toInt()); };
  LinkedScope linked;
  return callOp(OpId::Where, {le(input, threshold), number(value), input}, {}, out);
}

} // namespace torchc::composite
