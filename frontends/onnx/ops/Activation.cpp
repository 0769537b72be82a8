#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

void rectify(NodeRun &n) { n.set(relu(n.tensor(0))); }
void hyperbolicTangent(NodeRun &n) { n.set(tanh(n.tensor(0))); }

/// Before opset 13 the operand counts as a matrix: the axes from `axis` on together.
template <Tensor (*F)(const Tensor &, int64_t, std::optional<DType>)> void overAxis(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  if (n.version() >= 13)
    return n.set(F(x, axis, std::nullopt));
  n.set(reshape(F(flatten(x, axis), axis, std::nullopt), x.sizes()));
}

void leaky(NodeRun &n) {
  Tensor x = n.tensor(0);
  n.set(where(lt(x, 0), mul(x, n.floatAttr("alpha")), x));
}
void parametric(NodeRun &n) {
  Tensor x = n.tensor(0), slope = n.tensor(1);
  if (n.version() < 7 && slope.numel() > 1 && x.dim() > 1) { // one slope for each channel
    std::vector<int64_t> shape(size_t(x.dim()), 1);
    shape[1] = slope.numel();
    slope = reshape(slope, shape);
  }
  n.set(where(lt(x, 0), mul(x, slope), x));
}
void thresholded(NodeRun &n) {
  Tensor x = n.tensor(0);
  n.set(where(gt(x, n.floatAttr("alpha")), x, 0));
}
void hardSigmoid(NodeRun &n) {
  Tensor x = n.tensor(0);
  n.set(clamp(add(mul(x, n.floatAttr("alpha")), n.floatAttr("beta")), Scalar(0), Scalar(1)));
}
void hardSwish(NodeRun &n) {
  Tensor x = n.tensor(0);
  n.set(mul(x, clamp(add(mul(x, 1.0 / 6), 0.5), Scalar(0), Scalar(1))));
}
void softSign(NodeRun &n) {
  Tensor x = n.tensor(0);
  n.set(div(x, add(abs(x), 1)));
}

const HandlerRow rows[] = {
    {"Relu", rectify},
    {"Tanh", hyperbolicTangent},
    {"Softmax", overAxis<softmax>},
    {"LogSoftmax", overAxis<log_softmax>},
    {"LeakyRelu", leaky},
    {"PRelu", parametric},
    {"ThresholdedRelu", thresholded},
    {"HardSigmoid", hardSigmoid},
    {"HardSwish", hardSwish},
    {"Softsign", softSign},
};

} // namespace

Rows activationRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
