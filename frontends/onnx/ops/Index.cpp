#include "frontends/onnx/ops/Ops.h"
#include <algorithm>

namespace torchc::onnx {
namespace {

/// Negative indices count from the end.
Tensor wrapped(const Tensor &index, int64_t size) {
  Tensor i = to(index, DType::I64);
  return where(lt(i, 0), add(i, size), i);
}

void gatherSlices(NodeRun &n) {
  Tensor x = n.tensor(0), index = n.tensor(1);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  Tensor picked = index_select(x, axis, wrapped(flatten(index), x.sizes()[size_t(axis)]));
  std::vector<int64_t> shape(x.sizes().begin(), x.sizes().begin() + axis);
  shape.insert(shape.end(), index.sizes().begin(), index.sizes().end());
  shape.insert(shape.end(), x.sizes().begin() + axis + 1, x.sizes().end());
  n.set(reshape(picked, shape));
}

void gatherElements(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  n.set(gather(x, axis, wrapped(n.tensor(1), x.sizes()[size_t(axis)])));
}

/// The row-major position of each index tuple in the last dimension of `index`, over the dimensions of `x` from `from`;
/// far below 0 where one of the tuple is out of its dimension: what uses it refuses it.
Tensor positions(NodeRun &n, const Tensor &x, const Tensor &index, int64_t from) {
  int64_t depth = index.sizes()[size_t(index.dim() - 1)];
  if (from + depth > x.dim())
    n.invalid("index tuples of " + std::to_string(depth) + " for a tensor of rank " + std::to_string(x.dim()));
  Tensor at, outside;
  for (int64_t k = 0; k < depth; k++) {
    int64_t size = x.sizes()[size_t(from + k)];
    Tensor i = wrapped(select(index, -1, k), size), wrong = logical_or(lt(i, 0), ge(i, size));
    at = at ? add(mul(at, size), i) : i;
    outside = outside ? logical_or(outside, wrong) : wrong;
  }
  at = at ? where(outside, intNumber(INT64_MIN / 2), at) : at;
  if (!at) {
    std::vector<int64_t> shape(index.sizes().begin(), index.sizes().end() - 1);
    at = zeros(shape, DType::I64);
  }
  return at;
}

int64_t product(IntList sizes, int64_t from, int64_t to) {
  int64_t p = 1;
  for (int64_t i = from; i < to; i++)
    p *= sizes[size_t(i)];
  return p;
}

void gatherND(NodeRun &n) {
  Tensor x = n.tensor(0), index = n.tensor(1);
  int64_t batch = n.intAttr("batch_dims");
  if (index.dim() < 1 || batch < 0 || batch >= index.dim() || batch > x.dim())
    n.invalid("batch_dims of " + std::to_string(batch));
  if (!std::equal(x.sizes().begin(), x.sizes().begin() + batch, index.sizes().begin()))
    n.invalid("data and indices of different sizes in the first " + std::to_string(batch) + " dimensions");
  int64_t depth = index.sizes()[size_t(index.dim() - 1)];
  Tensor at = positions(n, x, index, batch);
  int64_t batches = product(x.sizes(), 0, batch), inner = product(x.sizes(), batch, batch + depth);
  if (batch) { // each batch has its own rows
    Tensor base = mul(arange(0, Scalar(batches), 1, DType::I64), inner);
    at = add(reshape(at, {batches, at.numel() / std::max<int64_t>(batches, 1)}), unsqueeze(base, 1));
  }
  int64_t rest = product(x.sizes(), batch + depth, x.dim());
  Tensor picked = index_select(reshape(x, {batches * inner, rest}), 0, flatten(at));
  std::vector<int64_t> shape(index.sizes().begin(), index.sizes().end() - 1);
  shape.insert(shape.end(), x.sizes().begin() + batch + depth, x.sizes().end());
  n.set(reshape(picked, shape));
}

/// source into x at index by the `reduction` of newer versions.
Tensor scattered(NodeRun &n, const Tensor &x, int64_t axis, const Tensor &index, const Tensor &source) {
  std::string_view how = n.textAttr("reduction", "none");
  if (how == "none")
    return scatter(x, axis, index, source);
  if (how == "add")
    return scatter_add(x, axis, index, source);
  std::string_view ours = how == "mul" ? "prod" : how == "max" ? "amax" : how == "min" ? "amin" : "";
  if (ours.empty())
    n.unsupported("reduction '" + std::string(how) + "'");
  return scatter_reduce(x, axis, index, source, ours);
}

void scatterElements(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  n.set(scattered(n, x, axis, wrapped(n.tensor(1), x.sizes()[size_t(axis)]), n.tensor(2)));
}

void scatterND(NodeRun &n) {
  Tensor x = n.tensor(0), index = n.tensor(1), source = n.tensor(2);
  if (index.dim() < 1)
    n.invalid("indices of rank 0");
  int64_t depth = index.sizes()[size_t(index.dim() - 1)];
  Tensor at = flatten(positions(n, x, index, 0));
  int64_t rows = product(x.sizes(), 0, depth), rest = product(x.sizes(), depth, x.dim());
  Tensor wide = expand(unsqueeze(at, 1), {at.numel(), rest});
  Tensor out = scattered(n, reshape(x, {rows, rest}), 0, wide, reshape(source, {at.numel(), rest}));
  n.set(reshape(out, x.sizes()));
}

void oneHot(NodeRun &n) {
  Tensor index = to(n.tensor(0), DType::I64), values = n.tensor(2);
  double given = n.number(1);
  if (!(given >= 0 && given < 0x1p53))
    n.invalid("a depth of " + std::to_string(given));
  int64_t depth = int64_t(given), rank = index.dim() + 1;
  int64_t axis = axisOf(n, n.intAttr("axis"), rank);
  Tensor at = unsqueeze(wrapped(index, depth), axis);
  std::vector<int64_t> shape(size_t(rank), 1);
  shape[size_t(axis)] = depth;
  Tensor hit = eq(at, reshape(arange(0, Scalar(depth), 1, DType::I64), shape));
  n.set(where(hit, select(values, 0, 1), select(values, 0, 0)));
}

const HandlerRow rows[] = {
    {"Gather", gatherSlices},     {"GatherElements", gatherElements},
    {"GatherND", gatherND},       {"ScatterElements", scatterElements},
    {"Scatter", scatterElements}, {"ScatterND", scatterND},
    {"OneHot", oneHot},
};

} // namespace

Rows indexRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
