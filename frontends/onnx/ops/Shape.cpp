#include "dialects/rules/Infer.h"
#include "frontends/onnx/ops/Ops.h"
#include <algorithm>
#include <climits>

namespace torchc::onnx {
namespace {

void reshapeTo(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> shape = n.version() < 5 ? n.intsAttr("shape") : n.ints(1);
  if (!n.intAttr("allowzero"))
    for (size_t i = 0; i < shape.size(); i++)
      if (shape[i] == 0) {
        if (int64_t(i) >= x.dim())
          n.invalid("0 in the shape at " + std::to_string(i) + " of an input of rank " + std::to_string(x.dim()));
        shape[i] = x.sizes()[i];
      }
  n.set(reshape(x, shape));
}

void transposeTo(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> order = n.intsAttr("perm");
  if (!n.hasAttr("perm"))
    for (int64_t i = x.dim(); i-- > 0;)
      order.push_back(i);
  n.set(permute(x, order));
}

void flattenTo(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = n.intAttr("axis"), rows = 1;
  axis = axis < 0 ? axis + x.dim() : axis;
  if (axis < 0 || axis > x.dim())
    n.invalid("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(x.dim()));
  for (int64_t i = 0; i < axis; i++)
    rows *= x.sizes()[size_t(i)];
  int64_t columns = 1;
  for (int64_t i = axis; i < x.dim(); i++)
    columns *= x.sizes()[size_t(i)];
  n.set(reshape(x, {rows, columns}));
}

void squeezeAxes(NodeRun &n) {
  Tensor x = n.tensor(0);
  if (!n.has(1) && !n.hasAttr("axes"))
    return n.set(squeeze(x));
  std::vector<int64_t> shape, axes = intsOf(n, "axes", 1);
  for (int64_t &a : axes) {
    a = axisOf(n, a, x.dim());
    if (x.sizes()[size_t(a)] != 1)
      n.invalid("axis " + std::to_string(a) + " has size " + std::to_string(x.sizes()[size_t(a)]) + ", expected 1");
  }
  for (int64_t i = 0; i < x.dim(); i++)
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      shape.push_back(x.sizes()[size_t(i)]);
  n.set(reshape(x, shape));
}

void unsqueezeAxes(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> axes = intsOf(n, "axes", 1), shape;
  int64_t rank = x.dim() + int64_t(axes.size());
  for (int64_t &a : axes)
    a = axisOf(n, a, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    n.invalid("an axis occurs twice");
  const int64_t *from = x.sizes().begin();
  for (int64_t i = 0; i < rank; i++)
    shape.push_back(std::binary_search(axes.begin(), axes.end(), i) ? 1 : *from++);
  n.set(reshape(x, shape));
}

void concat(NodeRun &n) {
  std::vector<Tensor> parts = n.tensors();
  n.set(cat(parts, axisOf(n, n.intAttr("axis", 1), parts[0].dim()))); // version 1 has the default 1
}

void splitTo(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim()), size = x.sizes()[size_t(axis)];
  std::vector<int64_t> sizes = intsOf(n, "split", 1);
  int64_t count = int64_t(n.numOutputs());
  if (n.hasAttr("num_outputs") && n.intAttr("num_outputs") != count)
    n.invalid("num_outputs is " + std::to_string(n.intAttr("num_outputs")) + ", there are " + std::to_string(count));
  if (sizes.empty()) {
    int64_t each = (size + count - 1) / count;
    for (int64_t i = 0; i < count; i++)
      sizes.push_back(std::clamp<int64_t>(size - i * each, 0, each));
  }
  if (int64_t(sizes.size()) != count)
    n.invalid(std::to_string(sizes.size()) + " sizes for " + std::to_string(count) + " outputs");
  std::vector<Tensor> parts = split_with_sizes(x, sizes, axis);
  for (size_t i = 0; i < parts.size(); i++)
    n.set(i, parts[i]);
}

/// x[start:stop:step] of one axis by NumPy's rules, steps of both signs.
Tensor sliceAxis(const Tensor &x, int64_t axis, int64_t start, int64_t stop, int64_t step) {
  int64_t size = x.sizes()[size_t(axis)];
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto bound = [&](int64_t v) { return std::clamp(v < 0 ? (v < -size ? low : v + size) : v, low, high); };
  start = bound(start), stop = bound(stop);
  step = std::max(step, -INT64_MAX); // as far as any
  int64_t count = step > 0 ? sliceCount(start, stop, step) : sliceCount(stop, start, -step);
  if (step > 0) {
    Tensor part = narrow(x, axis, count ? start : 0, count ? stop - start : 0);
    if (step == 1 || !count)
      return part;
    return callOp(OpId::Slice, {part},
                  {Attr::integer(axis), Attr::integer(0), Attr::integer(stop - start), Attr::integer(step)});
  }
  std::vector<int64_t> at;
  for (int64_t i = 0; i < count; i++)
    at.push_back(start + i * step);
  return index_select(x, axis, intVector(at));
}

void slice(NodeRun &n) {
  Tensor x = n.tensor(0);
  bool attrs = n.version() < 10;
  std::vector<int64_t> starts = attrs ? n.intsAttr("starts") : n.ints(1),
                       stops = attrs ? n.intsAttr("ends") : n.ints(2);
  std::vector<int64_t> axes = attrs ? n.intsAttr("axes") : n.has(3) ? n.ints(3) : std::vector<int64_t>();
  std::vector<int64_t> steps = !attrs && n.has(4) ? n.ints(4) : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); i++)
      axes.push_back(int64_t(i));
  if (stops.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    n.invalid("starts, ends, axes and steps of different lengths");
  for (size_t i = 0; i < starts.size(); i++) {
    if (steps[i] == 0)
      n.invalid("a step of 0");
    x = sliceAxis(x, axisOf(n, axes[i], x.dim()), starts[i], stops[i], steps[i]);
  }
  n.set(x);
}

void expandTo(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::vector<int64_t> shape = n.ints(1), have = sizesOf(x); // broadcasting both ways
  while (shape.size() < have.size())
    shape.insert(shape.begin(), 1);
  size_t shift = shape.size() - have.size();
  for (size_t i = 0; i < have.size(); i++)
    if (shape[shift + i] == 1)
      shape[shift + i] = have[i];
  n.set(expand(x, shape));
}

void tile(NodeRun &n) {
  if (n.version() < 6)
    n.unsupported("version 1 of Tile");
  Tensor x = n.tensor(0);
  std::vector<int64_t> repeats = n.ints(1);
  if (int64_t(repeats.size()) != x.dim())
    n.invalid(std::to_string(repeats.size()) + " repeats for a tensor of rank " + std::to_string(x.dim()));
  for (size_t i = 0; i < repeats.size(); i++) {
    if (repeats[i] < 0)
      n.invalid("a repeat of " + std::to_string(repeats[i]));
    if (repeats[i] == 1)
      continue;
    std::vector<int64_t> shape = sizesOf(x), wide = shape;
    wide.insert(wide.begin() + int64_t(i), repeats[i]);
    if (__builtin_mul_overflow(shape[i], repeats[i], &shape[i]))
      n.invalid("a repeat of " + std::to_string(repeats[i]));
    x = reshape(expand(unsqueeze(x, int64_t(i)), wide), shape);
  }
  n.set(x);
}

void shapeOf(NodeRun &n) {
  std::vector<int64_t> shape = sizesOf(n.tensor(0));
  int64_t rank = int64_t(shape.size());
  auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = bound(n.intAttr("start")), end = bound(n.hasAttr("end") ? n.intAttr("end") : rank);
  n.set(intVector(start < end ? std::vector<int64_t>(shape.begin() + start, shape.begin() + end)
                              : std::vector<int64_t>()));
}
void sizeOf(NodeRun &n) { n.set(intNumber(n.tensor(0).numel())); }

void depthToSpace(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t b = n.intAttr("blocksize");
  if (x.dim() != 4 || b < 1 || b > std::max<int64_t>(x.sizes()[1], 1) || x.sizes()[1] / b % b || x.sizes()[1] % b)
    n.invalid("expected 4 dimensions with channels divisible by the square of blocksize");
  int64_t N = x.sizes()[0], C = x.sizes()[1] / (b * b), H = x.sizes()[2], W = x.sizes()[3];
  bool crd = n.textAttr("mode", "DCR") == "CRD";
  Tensor t = crd ? permute(reshape(x, {N, C, b, b, H, W}), {0, 1, 4, 2, 5, 3})
                 : permute(reshape(x, {N, b, b, C, H, W}), {0, 3, 4, 1, 5, 2});
  n.set(reshape(t, {N, C, H * b, W * b}));
}
void spaceToDepth(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t b = n.intAttr("blocksize");
  if (x.dim() != 4 || b < 1 || b > INT32_MAX || x.sizes()[2] % b || x.sizes()[3] % b)
    n.invalid("expected 4 dimensions with height and width divisible by blocksize");
  int64_t N = x.sizes()[0], C = x.sizes()[1], H = x.sizes()[2] / b, W = x.sizes()[3] / b;
  bool crd = n.textAttr("mode", "DCR") == "CRD";
  Tensor t = reshape(x, {N, C, H, b, W, b});
  n.set(reshape(crd ? permute(t, {0, 1, 3, 5, 2, 4}) : permute(t, {0, 3, 5, 1, 2, 4}), {N, C * b * b, H, W}));
}

const HandlerRow rows[] = {
    {"Reshape", reshapeTo},
    {"Transpose", transposeTo},
    {"Flatten", flattenTo},
    {"Squeeze", squeezeAxes},
    {"Unsqueeze", unsqueezeAxes},
    {"Concat", concat},
    {"Split", splitTo},
    {"Slice", slice},
    {"Expand", expandTo},
    {"Tile", tile},
    {"Shape", shapeOf, SizesOnly},
    {"Size", sizeOf, SizesOnly},
    {"DepthToSpace", depthToSpace},
    {"SpaceToDepth", spaceToDepth},
};

} // namespace

Rows shapeRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
