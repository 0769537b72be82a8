// What the handlers share. A handler computes one operator by the eager API; tables at the end of each file name them.
#pragma once
#include "frontends/eager/Api.h"
#include "frontends/onnx/Program.h"

namespace torchc::onnx {

using Rows = List<HandlerRow>;
Rows arithmeticRows();
Rows comparisonRows();
Rows activationRows();
Rows shapeRows();
Rows indexRows();
Rows creationRows();
Rows reductionRows();
Rows productRows();
Rows normRows();
Rows controlRows();
Rows windowRows();
Rows resampleRows();
Rows recurrentRows();
Rows quantRows();
Rows orderRows();
Rows attentionRows();
Rows statisticRows();
Rows mathRows();

/// x as uint8 with the scale and zero point of DynamicQuantizeLinear.
struct Quantised {
  Tensor values, scale, zero;
};
Quantised quantiseDynamically(const Tensor &x);

/// -1 -> rank-1; Value error outside the range.
int64_t axisOf(const NodeRun &n, int64_t axis, int64_t rank);
/// A 0-d tensor of the type of `like`.
Tensor numberLike(const Tensor &like, double v);
/// An int64 vector, or a 0-d tensor.
Tensor intVector(const std::vector<int64_t> &v);
Tensor intNumber(int64_t v);
/// Operators before opset 7 broadcast by attributes: `y` as an operand that broadcasts against `x` the modern way.
Tensor legacyBroadcast(const NodeRun &n, const Tensor &x, const Tensor &y);
std::vector<int64_t> sizesOf(const Tensor &t);
/// An attribute of older versions, an input of newer ones; `otherwise` when both are absent.
std::vector<int64_t> intsOf(const NodeRun &n, std::string_view attr, size_t input, std::vector<int64_t> otherwise = {});

} // namespace torchc::onnx
