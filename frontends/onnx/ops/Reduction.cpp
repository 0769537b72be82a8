#include "frontends/onnx/ops/Ops.h"
#include <algorithm>

namespace torchc::onnx {
namespace {

/// Axes are an attribute below opset 13 (ReduceSum) or 18, an input since; no axes mean all of them.
template <Tensor (*F)(const Tensor &, IntList, bool)> void reduce(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> axes = intsOf(n, "axes", 1);
  if (axes.empty() && n.intAttr("noop_with_empty_axes"))
    return n.set(x);
  for (int64_t &a : axes)
    a = axisOf(n, a, x.dim());
  if (axes.empty())
    for (int64_t i = 0; i < x.dim(); i++)
      axes.push_back(i);
  n.set(F(x, axes, n.intAttr("keepdims")));
}

/// Sums keep the operand's type here, integers too.
Tensor total(const Tensor &x, IntList axes, bool keep) { return sum(x, axes, keep, x.dtype()); }
Tensor productOf(const Tensor &x, IntList axes, bool keep) {
  Tensor p = x;
  for (int64_t a : axes) // ascending or not, one axis at a time keeps their numbers
    p = x.dim() ? prod(p, a, true, x.dtype()) : p;
  if (keep || !x.dim())
    return p;
  std::vector<int64_t> shape;
  for (int64_t i = 0; i < x.dim(); i++)
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      shape.push_back(x.sizes()[size_t(i)]);
  return reshape(p, shape);
}
Tensor average(const Tensor &x, IntList axes, bool keep) {
  if (isFloat(x.dtype()))
    return mean(x, axes, keep);
  int64_t count = 1;
  for (int64_t a : axes)
    count *= x.sizes()[size_t(a)];
  return div(total(x, axes, keep), count, std::string_view("trunc"));
}
/// What nothing is larger than (least), or smaller than: the result over no elements.
Scalar limitOf(DType t, bool least) {
  if (isFloat(t))
    return least ? -__builtin_inf() : __builtin_inf();
  if (t == DType::Bool || t == DType::U8)
    return int64_t(least ? 0 : t == DType::Bool ? 1 : 255);
  int bits = int(itemSize(t)) * 8 - 1;
  int64_t high = int64_t((uint64_t(1) << bits) - 1);
  return least ? -high - 1 : high;
}
template <bool Largest> Tensor extreme(const Tensor &x, IntList axes, bool keep) {
  if (!x.dim())
    return x;
  if (x.numel())
    return Largest ? amax(x, axes, keep) : amin(x, axes, keep);
  IntList shape = sum(x, axes, keep).sizes();
  return full(shape, limitOf(x.dtype(), Largest), x.dtype());
}
Tensor norm1(const Tensor &x, IntList axes, bool keep) { return total(abs(x), axes, keep); }
Tensor norm2(const Tensor &x, IntList axes, bool keep) { return to(sqrt(total(mul(x, x), axes, keep)), x.dtype()); }
Tensor squares(const Tensor &x, IntList axes, bool keep) { return total(mul(x, x), axes, keep); }
Tensor logOfSum(const Tensor &x, IntList axes, bool keep) { return to(log(total(x, axes, keep)), x.dtype()); }
Tensor logOfExps(const Tensor &x, IntList axes, bool keep) {
  if (!x.dim())
    return x;
  Tensor top = extreme<true>(x, axes, true);
  constexpr double inf = __builtin_inf();
  top = where(eq(abs(top), inf), 0, top); // all -inf: their sum is 0
  Tensor s = add(log(sum(exp(sub(x, top)), axes, true)), top);
  return to(keep ? s : sum(s, axes, false), x.dtype());
}

template <Tensor (*F)(const Tensor &, std::optional<int64_t>, bool)> void position(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  if (!n.intAttr("select_last_index"))
    return n.set(F(x, axis, n.intAttr("keepdims")));
  int64_t size = x.sizes()[size_t(axis)];
  std::vector<int64_t> backwards;
  for (int64_t i = size; i-- > 0;)
    backwards.push_back(i);
  n.set(rsub(F(index_select(x, axis, intVector(backwards)), axis, n.intAttr("keepdims")), size - 1));
}

const HandlerRow rows[] = {
    {"ReduceProd", reduce<productOf>},     {"ReduceSum", reduce<total>},
    {"ReduceMean", reduce<average>},       {"ReduceMax", reduce<extreme<true>>},
    {"ReduceMin", reduce<extreme<false>>}, {"ReduceL1", reduce<norm1>},
    {"ReduceL2", reduce<norm2>},           {"ReduceSumSquare", reduce<squares>},
    {"ReduceLogSum", reduce<logOfSum>},    {"ReduceLogSumExp", reduce<logOfExps>},
    {"ArgMax", position<argmax>},          {"ArgMin", position<argmin>},
};

} // namespace

Rows reductionRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
