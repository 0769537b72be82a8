// Sorting, searching, contractions by equation, sampling on a grid.
#include "frontends/onnx/ops/Ops.h"
#include <algorithm>

namespace torchc::onnx {
namespace {

void topK(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis", -1), x.dim()), k = n.version() < 10 ? n.intAttr("k") : n.integer(1);
  if (k < 0 || k > x.sizes()[size_t(axis)])
    n.invalid("k of " + std::to_string(k) + " for a dimension of " + std::to_string(x.sizes()[size_t(axis)]));
  // A stable sort: of equal elements the lower index comes first.
  auto [values, index] = sort(x, axis, n.intAttr("largest", 1) != 0, true);
  n.set(0, narrow(values, axis, 0, k));
  n.set(1, narrow(index, axis, 0, k));
}

void nonZero(NodeRun &n) {
  std::vector<Tensor> at = where(n.tensor(0));
  n.set(at.empty() ? zeros({0, n.tensor(0).numel()}, DType::I64) : stack(at, 0));
}

void compress(NodeRun &n) {
  Tensor x = n.tensor(0);
  Tensor at = where(n.tensor(1))[0];
  if (!n.hasAttr("axis"))
    return n.set(index_select(flatten(x), 0, at));
  n.set(index_select(x, axisOf(n, n.intAttr("axis"), x.dim()), at));
}

void reverseSequence(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t batch = n.intAttr("batch_axis"), time = n.intAttr("time_axis");
  if (x.dim() < 2 || std::min(batch, time) != 0 || std::max(batch, time) != 1)
    n.invalid("expected batch_axis and time_axis 0 and 1");
  std::vector<int64_t> column(size_t(x.dim()), 1), row(size_t(x.dim()), 1);
  column[size_t(time)] = x.sizes()[size_t(time)], row[size_t(batch)] = x.sizes()[size_t(batch)];
  Tensor at = reshape(arange(0, Scalar(column[size_t(time)]), 1, DType::I64), column);
  Tensor length = reshape(to(n.tensor(1), DType::I64), row);
  Tensor index = where(lt(at, length), sub(sub(length, 1), at), at);
  n.set(gather(x, time, expand(index, x.sizes())));
}

void equation(NodeRun &n) { n.set(einsum(n.textAttr("equation"), n.tensors())); }

void gridSample(NodeRun &n) {
  std::string_view mode = n.textAttr("mode", "linear");
  mode = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
  n.set(grid_sample(n.tensor(0), n.tensor(1), mode, n.textAttr("padding_mode", "zeros"),
                    n.intAttr("align_corners", 0) != 0));
}

const HandlerRow rows[] = {
    {"TopK", topK},       {"NonZero", nonZero},       {"Compress", compress}, {"ReverseSequence", reverseSequence},
    {"Einsum", equation}, {"GridSample", gridSample},
};

} // namespace

Rows orderRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
