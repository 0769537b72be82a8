// Operators over whole dimensions: one maximum, statistics.
#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

void hardmax(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  Tensor flat = n.version() < 13 ? flatten(x, axis) : x;
  Tensor best = argmax(flat, axis, true);
  std::vector<int64_t> shape(size_t(flat.dim()), 1);
  shape[size_t(axis)] = flat.sizes()[size_t(axis)];
  Tensor at = reshape(arange(0, Scalar(shape[size_t(axis)]), 1, DType::I64), shape);
  n.set(reshape(to(eq(best, at), x.dtype()), x.sizes()));
}

void meanVariance(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> axes = n.intsAttr("axes", {0, 2, 3});
  Tensor m = mean(x, axes, true), square = mean(mul(x, x), axes, true);
  n.set(div(sub(x, m), add(sqrt(sub(square, mul(m, m))), 1e-9)));
}

const HandlerRow rows[] = {
    {"Hardmax", hardmax},
    {"MeanVarianceNormalization", meanVariance},
};

} // namespace

Rows statisticRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
