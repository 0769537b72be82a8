#include "frontends/onnx/ops/Ops.h"
#include <cmath>

namespace torchc::onnx {
namespace {

/// One number for each channel (dimension 1) as an operand of `x`.
Tensor perChannel(const Tensor &v, const Tensor &x) {
  std::vector<int64_t> shape(size_t(std::max(x.dim(), int64_t(2))), 1);
  shape[1] = v.numel();
  return reshape(v, shape);
}

/// (x - mean) / sqrt(var + eps) * scale + bias in the type of `x`, statistics in theirs.
Tensor normalised(const Tensor &x, const Tensor &mean, const Tensor &var, double eps, const Tensor &scale,
                  const Tensor &bias) {
  Tensor t = div(sub(x, mean), sqrt(add(var, eps)));
  t = scale ? mul(t, scale) : t;
  return to(bias ? add(t, bias) : t, x.dtype());
}

void batchNorm(NodeRun &n) {
  Tensor x = n.tensor(0);
  double eps = n.floatAttr("epsilon");
  if (n.version() < 9 && !n.intAttr("spatial", 1))
    return n.set(normalised(x, n.tensor(3), n.tensor(4), eps, n.tensor(1), n.tensor(2)));
  Tensor scale = perChannel(n.tensor(1), x), bias = perChannel(n.tensor(2), x);
  bool training = n.version() >= 14 ? n.intAttr("training_mode") != 0 : n.version() < 7 && !n.intAttr("is_test");
  if (!training)
    return n.set(normalised(x, perChannel(n.tensor(3), x), perChannel(n.tensor(4), x), eps, scale, bias));
  std::vector<int64_t> axes{0};
  for (int64_t i = 2; i < x.dim(); i++)
    axes.push_back(i);
  Tensor m = mean(x, axes, true), v = var(x, axes, Scalar(0), true);
  n.set(normalised(x, m, v, eps, scale, bias));
  double momentum = n.floatAttr("momentum");
  n.set(1, add(mul(n.tensor(3), momentum), mul(flatten(m), 1 - momentum)));
  n.set(2, add(mul(n.tensor(4), momentum), mul(flatten(v), 1 - momentum)));
}

void instanceNorm(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < x.dim(); i++)
    axes.push_back(i);
  n.set(normalised(x, mean(x, axes, true), var(x, axes, Scalar(0), true), n.floatAttr("epsilon"),
                   perChannel(n.tensor(1), x), perChannel(n.tensor(2), x)));
}

void layerNorm(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> axes;
  for (int64_t i = axisOf(n, n.intAttr("axis"), x.dim()); i < x.dim(); i++)
    axes.push_back(i);
  Tensor wide = to(x, promoteTypes(x.dtype(), DType::F32)); // stash_type
  Tensor m = mean(wide, axes, true), v = var(wide, axes, Scalar(0), true);
  Tensor root = sqrt(add(v, n.floatAttr("epsilon")));
  Tensor inverse = div(ones_like(root), root);
  Tensor t = mul(to(mul(sub(wide, m), inverse), x.dtype()), n.tensor(1));
  n.set(n.has(2) ? add(t, n.tensor(2)) : t);
  n.set(1, m);
  n.set(2, inverse);
}

void rmsNorm(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> axes;
  for (int64_t i = axisOf(n, n.intAttr("axis"), x.dim()); i < x.dim(); i++)
    axes.push_back(i);
  Tensor wide = to(x, promoteTypes(x.dtype(), DType::F32));
  Tensor root = sqrt(add(mean(mul(wide, wide), axes, true), n.floatAttr("epsilon")));
  n.set(mul(to(div(wide, root), x.dtype()), n.tensor(1)));
}

void groupNorm(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t groups = n.intAttr("num_groups");
  if (x.dim() < 2 || groups < 1 || x.sizes()[1] % groups)
    n.invalid("num_groups of " + std::to_string(groups));
  Tensor g = reshape(x, {x.sizes()[0], groups, x.numel() / std::max<int64_t>(x.sizes()[0] * groups, 1)});
  Tensor t = reshape(normalised(g, mean(g, IntList{2}, true), var(g, IntList{2}, Scalar(0), true),
                                n.floatAttr("epsilon"), Tensor(), Tensor()),
                     x.sizes());
  auto spread = [&](Tensor v) { // version 18 has one number for each group
    if (v.numel() != x.sizes()[1])
      v = flatten(expand(unsqueeze(v, 1), {groups, x.sizes()[1] / groups}));
    return perChannel(v, x);
  };
  n.set(add(mul(t, spread(n.tensor(1))), spread(n.tensor(2))));
}

void lpNorm(NodeRun &n) {
  Tensor x = n.tensor(0);
  IntList axis{axisOf(n, n.intAttr("axis", -1), x.dim())};
  std::vector<int64_t> axes(axis.begin(), axis.end());
  int64_t p = n.intAttr("p", 2);
  if (p != 1 && p != 2)
    n.invalid("a norm of order " + std::to_string(p) + ", expected 1 or 2");
  Tensor size = p == 1 ? sum(abs(x), axes, true) : sqrt(sum(mul(x, x), axes, true));
  n.set(where(eq(size, 0), numberLike(x, 0), div(x, size)));
}

void dropout(NodeRun &n) {
  Tensor x = n.tensor(0);
  bool training = n.version() >= 12 ? n.has(2) && n.integer(2) : n.version() < 7 && !n.intAttr("is_test");
  double ratio = n.version() >= 12 ? (n.has(1) ? n.number(1) : 0.5) : n.floatAttr("ratio");
  if (training && ratio != 0) {
    Tensor keep = ge(rand(x.sizes(), {}, DType::F32), ratio);
    n.set(where(keep, div(x, 1 - ratio), numberLike(x, 0)));
    return n.set(1, n.version() < 10 ? to(keep, x.dtype()) : keep);
  }
  n.setValue(0, n.value(0));
  if (n.wants(1)) // a mask; below opset 10 of the operand's type
    n.set(1, full(x.sizes(), 1, n.version() < 10 ? x.dtype() : DType::Bool));
}

const HandlerRow rows[] = {
    {"BatchNormalization", batchNorm}, {"InstanceNormalization", instanceNorm}, {"LayerNormalization", layerNorm},
    {"RMSNormalization", rmsNorm},     {"GroupNormalization", groupNorm},       {"LpNormalization", lpNorm},
    {"Dropout", dropout, Random},
};

} // namespace

Rows normRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
