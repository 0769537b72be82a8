#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

template <Tensor (*F)(const Tensor &, const Operand &)> void compare(NodeRun &n) {
  Tensor x = n.tensor(0);
  n.set(F(x, legacyBroadcast(n, x, n.tensor(1))));
}
Tensor different(const Tensor &x, const Operand &y) { return ne(x, y); }
Tensor both(const Tensor &x, const Operand &y) { return logical_and(x, Tensor::borrow(y.tensor)); }
Tensor either(const Tensor &x, const Operand &y) { return logical_or(x, Tensor::borrow(y.tensor)); }
void logicalNot(NodeRun &n) { n.set(logical_not(n.tensor(0))); }
void choose(NodeRun &n) { n.set(where(n.tensor(0), n.tensor(1), n.tensor(2))); }
void nan(NodeRun &n) { n.set(isnan(n.tensor(0))); }
void infinite(NodeRun &n) {
  Tensor x = n.tensor(0), out = full(x.sizes(), false, DType::Bool);
  constexpr double inf = __builtin_inf();
  if (n.intAttr("detect_positive"))
    out = logical_or(out, eq(x, inf));
  if (n.intAttr("detect_negative"))
    out = logical_or(out, eq(x, -inf));
  n.set(out);
}

const HandlerRow rows[] = {
    {"Equal", compare<eq>},
    {"Less", compare<lt>},
    {"Greater", compare<gt>},
    {"LessOrEqual", compare<le>},
    {"GreaterOrEqual", compare<ge>},
    {"And", compare<both>},
    {"Or", compare<either>},
    {"Xor", compare<different>},
    {"Not", logicalNot},
    {"Where", choose},
    {"IsNaN", nan},
    {"IsInf", infinite},
};

} // namespace

Rows comparisonRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
