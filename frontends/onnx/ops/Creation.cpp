#include "frontends/onnx/ops/Ops.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace torchc::onnx {
namespace {

void constant(NodeRun &n) {
  if (n.hasAttr("value"))
    return n.set(n.tensorAttr("value"));
  if (n.hasAttr("value_int"))
    return n.set(intNumber(n.intAttr("value_int")));
  if (n.hasAttr("value_ints"))
    return n.set(intVector(n.intsAttr("value_ints")));
  if (n.hasAttr("value_float"))
    return n.set(full({}, n.floatAttr("value_float"), DType::F32));
  if (n.hasAttr("value_floats")) {
    std::vector<double> v = n.floatsAttr("value_floats");
    Tensor t = empty({int64_t(v.size())}, DType::F32);
    for (size_t i = 0; i < v.size(); i++)
      t.dataAs<float>()[i] = float(v[i]);
    return n.set(t);
  }
  n.unsupported("a constant that is no tensor or number");
}

void constantOfShape(NodeRun &n) {
  std::vector<int64_t> shape = n.ints(0);
  for (int64_t s : shape)
    if (s < 0)
      n.invalid("a size of " + std::to_string(s));
  if (!n.hasAttr("value"))
    return n.set(zeros(shape, DType::F32));
  Tensor value = n.tensorAttr("value");
  if (value.numel() != 1)
    n.invalid("value has " + std::to_string(value.numel()) + " elements, expected one");
  n.set(clone(expand(reshape(value, {}), shape)));
}

void range(NodeRun &n) {
  DType t = n.tensor(0).dtype();
  if (isFloat(t)) {
    double start = n.number(0), limit = n.number(1), step = n.number(2);
    double size = std::ceil((limit - start) / step);
    if (step == 0 || !(size < 0x1p53))
      n.invalid("from " + std::to_string(start) + " to " + std::to_string(limit) + " by " + std::to_string(step));
    int64_t count = int64_t(std::max(0.0, size));
    return n.set(to(add(mul(arange(0, Scalar(count), 1, DType::F64), step), start), t));
  }
  int64_t step = n.integer(2);
  if (!step)
    n.invalid("a step of 0");
  int64_t start = n.integer(0), limit = n.integer(1);
  if (step > 0 ? limit <= start : limit >= start)
    return n.set(zeros({0}, t));
  n.set(arange(start, Scalar(limit), step, t));
}

void eyeLike(NodeRun &n) {
  Tensor x = n.tensor(0);
  if (x.dim() != 2)
    n.invalid("expected 2 dimensions, got " + std::to_string(x.dim()));
  DType t = n.hasAttr("dtype") ? n.dtypeAttr("dtype") : x.dtype();
  Tensor row = unsqueeze(arange(0, Scalar(x.sizes()[0]), 1, DType::I64), 1);
  Tensor column = arange(0, Scalar(x.sizes()[1]), 1, DType::I64);
  n.set(to(eq(add(row, n.intAttr("k")), column), t));
}

void triangle(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t k = n.has(1) ? n.integer(1) : 0;
  if (x.dim() < 2)
    n.invalid("expected at least 2 dimensions, got " + std::to_string(x.dim()));
  int64_t height = x.sizes()[size_t(x.dim() - 2)], width = x.sizes()[size_t(x.dim() - 1)];
  k = std::clamp(k, -height, width); // beyond these diagonals nothing changes
  Tensor row = unsqueeze(arange(0, Scalar(height), 1, DType::I64), 1);
  Tensor column = arange(0, Scalar(width), 1, DType::I64);
  Tensor keep = n.intAttr("upper") ? ge(column, add(row, k)) : le(column, add(row, k));
  n.set(where(keep, x, numberLike(x, 0)));
}

const HandlerRow rows[] = {
    {"Constant", constant}, {"ConstantOfShape", constantOfShape}, {"Range", range}, {"EyeLike", eyeLike, SizesOnly},
    {"Trilu", triangle},
};

} // namespace

Rows creationRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
