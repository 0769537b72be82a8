#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

template <Tensor (*F)(const Tensor &)> void unary(NodeRun &n) { n.set(F(n.tensor(0))); }

template <Tensor (*F)(const Tensor &, const Tensor &)> void binary(NodeRun &n) {
  Tensor x = n.tensor(0), y = legacyBroadcast(n, x, n.tensor(1));
  if (x.dtype() != y.dtype())
    n.invalid("operands of types " + std::string(torchName(x.dtype())) + " and " + std::string(torchName(y.dtype())));
  n.set(F(x, y));
}
Tensor plus(const Tensor &x, const Tensor &y) { return add(x, y); }
Tensor minus(const Tensor &x, const Tensor &y) { return sub(x, y); }
Tensor times(const Tensor &x, const Tensor &y) { return mul(x, y); }
/// Integers divide towards zero.
Tensor over(const Tensor &x, const Tensor &y) {
  return isFloat(x.dtype()) ? div(x, y) : div(x, y, std::string_view("trunc"));
}

template <Tensor (*F)(const Tensor &, const Tensor &)> Tensor folded(NodeRun &n) {
  Tensor t = n.tensor(0);
  for (size_t i = 1; i < n.numInputs(); i++)
    t = F(t, n.tensor(i));
  return t;
}
template <Tensor (*F)(const Tensor &, const Tensor &)> void fold(NodeRun &n) { n.set(folded<F>(n)); }
void mean(NodeRun &n) { n.set(div(folded<plus>(n), double(n.numInputs()))); }

void identity(NodeRun &n) { n.setValue(0, n.value(0)); }

void clipTo(NodeRun &n) {
  Tensor x = n.tensor(0);
  if (n.version() < 11) {
    x = n.hasAttr("min") ? maximum(x, numberLike(x, n.floatAttr("min"))) : x;
    return n.set(n.hasAttr("max") ? minimum(x, numberLike(x, n.floatAttr("max"))) : x);
  }
  x = n.has(1) ? maximum(x, n.tensor(1)) : x;
  n.set(n.has(2) ? minimum(x, n.tensor(2)) : x);
}

void cast(NodeRun &n) {
  if (n.version() == 1) // by name
    n.unsupported("version 1 of Cast");
  n.set(to(n.tensor(0), n.dtypeAttr("to")));
}
void castLike(NodeRun &n) { n.set(to(n.tensor(0), n.tensor(1).dtype())); }

const HandlerRow rows[] = {
    {"Add", binary<plus>},  {"Sub", binary<minus>}, {"Mul", binary<times>}, {"Div", binary<over>},
    {"Neg", unary<neg>},    {"Abs", unary<abs>},    {"Sign", unary<sign>},  {"Exp", unary<exp>},
    {"Log", unary<log>},    {"Sqrt", unary<sqrt>},  {"Sum", fold<plus>},    {"Max", fold<maximum>},
    {"Min", fold<minimum>}, {"Mean", mean},         {"Identity", identity}, {"Clip", clipTo},
    {"Cast", cast},         {"CastLike", castLike},
};

} // namespace

Rows arithmeticRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
