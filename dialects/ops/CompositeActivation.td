//===- CompositeActivation.td - activations of torch.nn.functional --------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITEACTIVATION_TD
#define TORCHC_OPS_COMPOSITEACTIVATION_TD

include "OpSpec.td"

defvar activation = ["function", "inplace"];

def : Composite<"x * sigmoid(x)", [
  Api<"silu(Tensor input) -> Tensor", activation, "siluOf">]>;
def : Composite<"x * cdf(x) of the normal distribution (N6), or its approximation by tanh", [
  Api<"gelu(Tensor input, *, str approximate='none') -> Tensor", activation, "geluOf">]>;
def : Composite<"x * tanh(softplus(x))", [
  Api<"mish(Tensor input) -> Tensor", activation, "mishOf">]>;
def : Composite<"x limited to [min_val, max_val]; no gradient at the limits", [
  Api<"hardtanh(Tensor input, Scalar min_val=-1, Scalar max_val=1) -> Tensor", activation, "hardtanhOf">,
  Api<"relu6(Tensor input) -> Tensor", activation, "relu6Of">]>;
def : Composite<"piecewise linear sigmoid, and x times it", [
  Api<"hardsigmoid(Tensor input) -> Tensor", activation, "hardsigmoidOf">,
  Api<"hardswish(Tensor input) -> Tensor", activation, "hardswishOf">]>;
def : Composite<"x above 0, else x times a slope, given or learnt per channel", [
  Api<"leaky_relu(Tensor input, Scalar negative_slope=0.01) -> Tensor", activation, "leakyRelu">,
  Api<"prelu(Tensor input, Tensor weight) -> Tensor", ["function", "method", "castLow"], "preluOf">]>;
def : Composite<"scale * x above 0, else scale * alpha * (exp(input_scale * x) - 1)", [
  Api<"elu(Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", activation, "eluOf">,
  Api<"selu(Tensor input) -> Tensor", activation, "seluOf">,
  Api<"celu(Tensor input, Scalar alpha=1.0) -> Tensor", activation, "celuOf">]>;
def : Composite<"the first half of dim times the sigmoid of the second", [
  Api<"glu(Tensor input, int dim=-1) -> Tensor", functionOnly, "gluOf">]>;
def : Composite<"log(1 + exp(beta * x)) / beta, x itself where beta * x is above threshold", [
  Api<"softplus(Tensor input, Scalar beta=1, Scalar threshold=20) -> Tensor", functionOnly, "softplusOf">]>;
def : Composite<"log(sigmoid(x))", [
  Api<"logsigmoid(Tensor input) -> Tensor", functionOnly, "logSigmoid">]>;
def : Composite<"x / (1 + |x|), x - tanh(x)", [
  Api<"softsign(Tensor input) -> Tensor", functionOnly, "softsignOf">,
  Api<"tanhshrink(Tensor input) -> Tensor", functionOnly, "tanhshrinkOf">]>;
def : Composite<"x moved towards 0 by lambd, 0 within it; x itself outside [-lambd, lambd]", [
  Api<"softshrink(Tensor input, Scalar lambd=0.5) -> Tensor", functionOnly, "softshrinkOf">,
  Api<"hardshrink(Tensor input, Scalar lambd=0.5) -> Tensor", ["function", "method"], "hardshrinkOf">]>;
def : Composite<"x above threshold, else value", [
  Api<"threshold(Tensor input, Scalar threshold, Scalar value) -> Tensor", activation, "thresholdOf">]>;
#endif
