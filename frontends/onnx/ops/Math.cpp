// Functions of real numbers, bits, remainders, and activations made of them.
#include "frontends/eager/Index.h"
#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

template <Tensor (*F)(const Tensor &)> void unary(NodeRun &n) { n.set(F(n.tensor(0))); }
template <Tensor (*F)(const Tensor &, const Operand &)> void binary(NodeRun &n) { n.set(F(n.tensor(0), n.tensor(1))); }

void rounded(NodeRun &n) { n.set(round(n.tensor(0))); }
/// The result has the base's type.
void power(NodeRun &n) {
  Tensor x = n.tensor(0), y = legacyBroadcast(n, x, n.tensor(1));
  n.set(to(pow(x, y), x.dtype()));
}
/// Python's remainder, or C's with fmod.
void modulo(NodeRun &n) {
  Tensor x = n.tensor(0), y = n.tensor(1);
  n.set(n.intAttr("fmod") ? fmod(x, y) : remainder(x, y));
}
void shift(NodeRun &n) {
  Tensor x = n.tensor(0), y = n.tensor(1);
  std::string_view to = n.textAttr("direction");
  if (to != "LEFT" && to != "RIGHT")
    n.invalid("direction '" + std::string(to) + "', expected LEFT or RIGHT");
  n.set(to == "LEFT" ? bitwise_left_shift(x, y) : bitwise_right_shift(x, y));
}
void cumulative(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.integer(1), x.dim());
  std::vector<int64_t> dims{axis};
  bool back = n.intAttr("reverse");
  Tensor y = back ? flip(x, dims) : x, s = cumsum(y, axis, x.dtype());
  if (n.intAttr("exclusive")) { // the sum before each element: that of the one in front of it, 0 at the first
    int64_t size = x.sizes()[size_t(axis)];
    std::vector<int64_t> first = sizesOf(x);
    first[size_t(axis)] = std::min<int64_t>(size, 1);
    s = cat(std::vector<Tensor>{zeros(first, x.dtype()), narrow(s, axis, 0, std::max<int64_t>(size - 1, 0))}, axis);
  }
  n.set(back ? flip(s, dims) : s);
}

void gaussian(NodeRun &n) { n.set(gelu(n.tensor(0), n.textAttr("approximate", "none"))); }
void exponentialLinear(NodeRun &n) { n.set(elu(n.tensor(0), n.floatAttr("alpha", 1))); }
void scaledLinear(NodeRun &n) {
  double alpha = n.floatAttr("alpha", 1.67326319217681884765625),
         gamma = n.floatAttr("gamma", 1.05070102214813232421875);
  n.set(elu(n.tensor(0), alpha, gamma));
}
void continuousLinear(NodeRun &n) { n.set(celu(n.tensor(0), n.floatAttr("alpha", 1))); }
void soft(NodeRun &n) { n.set(softplus(n.tensor(0))); }
void shrink(NodeRun &n) {
  Tensor x = n.tensor(0);
  double lambd = n.floatAttr("lambd", 0.5), bias = n.floatAttr("bias");
  n.set(where(lt(x, -lambd), add(x, bias), where(gt(x, lambd), sub(x, bias), 0)));
}

const HandlerRow rows[] = {
    {"Sigmoid", unary<sigmoid>},
    {"Erf", unary<erf>},
    {"Sin", unary<sin>},
    {"Cos", unary<cos>},
    {"Tan", unary<tan>},
    {"Asin", unary<asin>},
    {"Acos", unary<acos>},
    {"Atan", unary<atan>},
    {"Sinh", unary<sinh>},
    {"Cosh", unary<cosh>},
    {"Asinh", unary<asinh>},
    {"Acosh", unary<acosh>},
    {"Atanh", unary<atanh>},
    {"Floor", unary<floor>},
    {"Ceil", unary<ceil>},
    {"Round", rounded},
    {"Reciprocal", unary<reciprocal>},
    {"Pow", power},
    {"Mod", modulo},
    {"BitShift", shift},
    {"BitwiseAnd", binary<bitwise_and>},
    {"BitwiseOr", binary<bitwise_or>},
    {"BitwiseXor", binary<bitwise_xor>},
    {"BitwiseNot", unary<bitwise_not>},
    {"CumSum", cumulative},
    {"Gelu", gaussian},
    {"Elu", exponentialLinear},
    {"Selu", scaledLinear},
    {"Celu", continuousLinear},
    {"Mish", unary<mish>},
    {"Softplus", soft},
    {"Shrink", shrink},
};

} // namespace

Rows mathRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
