// Padding and resizing: each axis by itself, with indices and weights that depend on sizes alone.
#include "frontends/onnx/ops/Ops.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace torchc::onnx {
namespace {

//===-- Pad -----------------------------------------------------------------------------------------------------===//

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

/// Where the element at `i` (outside [0, size) perhaps) comes from.
int64_t sourceOf(std::string_view mode, int64_t i, int64_t size) {
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, size - 1);
  if (mode == "wrap")
    return modulo(i, size);
  if (size == 1)
    return 0;
  int64_t period = 2 * (size - 1), at = modulo(i, period); // reflect
  return at < size ? at : period - at;
}

Tensor padAxis(const NodeRun &n, const Tensor &x, int64_t axis, int64_t before, int64_t after, std::string_view mode,
               const Tensor &value) {
  constexpr int64_t most = int64_t(1) << 48; // no memory holds more; sums of these don't overflow
  if (std::max(before, after) > most || std::min(before, after) < -most)
    n.invalid("pads of " + std::to_string(before) + " and " + std::to_string(after) + " elements");
  int64_t size = x.sizes()[size_t(axis)], begin = std::max<int64_t>(-before, 0),
          end = size - std::max<int64_t>(-after, 0);
  if (begin > end)
    n.invalid("pads take away more than dimension " + std::to_string(axis) + " of size " + std::to_string(size));
  if (mode != "constant") {
    if (size == 0 && (before > 0 || after > 0))
      n.invalid("mode '" + std::string(mode) + "' with an empty dimension");
    // As a tensor: a size that no memory holds is refused by the allocator.
    Tensor at = empty({size + before + after}, DType::I64);
    int64_t *to = at.dataAs<int64_t>();
    for (int64_t i = -before; i < size + after; i++)
      *to++ = sourceOf(mode, i, size);
    return index_select(x, axis, at);
  }
  std::vector<Tensor> parts;
  auto fill = [&](int64_t count) {
    std::vector<int64_t> shape = sizesOf(x);
    shape[size_t(axis)] = count;
    if (count > 0)
      parts.push_back(expand(value, shape));
  };
  fill(before);
  parts.push_back(narrow(x, axis, begin, end - begin));
  fill(after);
  return parts.size() == 1 ? parts[0] : cat(parts, axis);
}

void pad(NodeRun &n) {
  Tensor x = n.tensor(0);
  std::string_view mode = n.textAttr("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "wrap" && mode != "reflect")
    n.unsupported("mode '" + std::string(mode) + "'");
  std::vector<int64_t> pads = n.version() < 11 ? n.intsAttr(n.version() < 2 ? "paddings" : "pads") : n.ints(1), axes;
  if (n.has(3))
    axes = n.ints(3);
  else
    for (int64_t i = 0; i < x.dim(); i++)
      axes.push_back(i);
  if (pads.size() != 2 * axes.size())
    n.invalid(std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) + " axes");
  Tensor value = n.version() >= 11 && n.has(2) ? reshape(n.tensor(2), {}) : numberLike(x, n.floatAttr("value", 0));
  for (size_t i = 0; i < axes.size(); i++)
    if (pads[i] || pads[axes.size() + i])
      x = padAxis(n, x, axisOf(n, axes[i], x.dim()), pads[i], pads[axes.size() + i], mode, value);
  n.set(x);
}

//===-- Resize --------------------------------------------------------------------------------------------------===//

struct ResizeOptions {
  std::string_view mode, coordinates, nearest;
  double cubic, outside;
  bool exclude, antialias;
};

/// One axis: each output is a weighted sum of inputs; `outside` marks outputs that lie out of the input (crop).
struct Taps {
  std::vector<std::vector<int64_t>> index; // by tap, then output
  std::vector<std::vector<double>> weight;
  std::vector<bool> outside;
};

double coordinate(const ResizeOptions &o, double i, double in, double out, double scale, double start, double end) {
  if (o.coordinates == "align_corners")
    return out == 1 ? 0 : i * (in - 1) / (out - 1);
  if (o.coordinates == "asymmetric")
    return i / scale;
  if (o.coordinates == "pytorch_half_pixel")
    return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
  if (o.coordinates == "tf_half_pixel_for_nn")
    return (i + 0.5) / scale;
  if (o.coordinates == "tf_crop_and_resize")
    return out > 1 ? start * (in - 1) + i * (end - start) * (in - 1) / (out - 1) : 0.5 * (start + end) * (in - 1);
  if (o.coordinates == "half_pixel_symmetric") {
    double adjust = out / (scale * in), centre = in / 2;
    return centre * (1 - adjust) + (i + 0.5) / scale - 0.5;
  }
  return (i + 0.5) / scale - 0.5; // half_pixel
}

double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

int64_t nearestOf(const ResizeOptions &o, double x) {
  if (o.nearest == "round_prefer_ceil")
    return int64_t(std::floor(x + 0.5));
  if (o.nearest == "floor")
    return int64_t(std::floor(x));
  if (o.nearest == "ceil")
    return int64_t(std::ceil(x));
  return int64_t(std::ceil(x - 0.5)); // round_prefer_floor
}

Taps tapsOf(const ResizeOptions &o, int64_t in, int64_t out, double scale, double start, double end) {
  Taps t;
  bool cubic = o.mode == "cubic", nearest = o.mode == "nearest";
  double stretch = o.antialias && scale < 1 ? 1 / scale : 1;
  double reach = nearest ? 0 : (cubic ? 2 : 1) * stretch;
  size_t count = nearest ? 1 : size_t(2 * std::ceil(reach));
  t.index.assign(count, std::vector<int64_t>(size_t(out)));
  t.weight.assign(count, std::vector<double>(size_t(out), nearest ? 1.0 : 0.0));
  t.outside.assign(size_t(out), false);
  for (int64_t i = 0; i < out; i++) {
    double x = coordinate(o, double(i), double(in), double(out), scale, start, end);
    t.outside[size_t(i)] = o.coordinates == "tf_crop_and_resize" && (x < 0 || x > double(in - 1));
    if (nearest) {
      t.index[0][size_t(i)] = std::clamp<int64_t>(nearestOf(o, x), 0, in - 1);
      continue;
    }
    int64_t first = int64_t(std::floor(x)) - int64_t(count) / 2 + 1;
    double total = 0;
    for (size_t k = 0; k < count; k++) {
      int64_t at = first + int64_t(k);
      double d = (x - double(at)) / stretch;
      double w = cubic ? cubicWeight(d, o.cubic) : std::max(0.0, 1 - std::fabs(d));
      if (o.exclude && (at < 0 || at >= in))
        w = 0;
      total += w;
      t.weight[k][size_t(i)] = w;
      t.index[k][size_t(i)] = std::clamp<int64_t>(at, 0, in - 1);
    }
    if (o.exclude || o.antialias)
      for (size_t k = 0; k < count; k++)
        t.weight[k][size_t(i)] /= total;
  }
  return t;
}

Tensor weights(const std::vector<double> &v, const Tensor &x, int64_t axis) {
  std::vector<int64_t> shape(size_t(x.dim()), 1);
  shape[size_t(axis)] = int64_t(v.size());
  Tensor t = empty({int64_t(v.size())}, DType::F64);
  if (!v.empty())
    std::memcpy(t.data(), v.data(), v.size() * sizeof(double));
  return reshape(to(t, x.dtype()), shape);
}

Tensor resizeAxis(const Tensor &x, int64_t axis, const Taps &t, const ResizeOptions &o) {
  Tensor sum;
  for (size_t k = 0; k < t.index.size(); k++) {
    Tensor part = index_select(x, axis, intVector(t.index[k]));
    if (o.mode != "nearest")
      part = mul(part, weights(t.weight[k], x, axis));
    sum = sum ? add(sum, part) : part;
  }
  if (std::find(t.outside.begin(), t.outside.end(), true) == t.outside.end())
    return sum;
  std::vector<double> mask(t.outside.begin(), t.outside.end());
  return where(gt(weights(mask, x, axis), 0), numberLike(x, o.outside), sum);
}

ResizeOptions optionsOf(const NodeRun &n) {
  bool upsample = n.version() < 11; // Upsample and the first Resize
  ResizeOptions o{n.textAttr("mode", "nearest"),
                  upsample ? "asymmetric" : n.textAttr("coordinate_transformation_mode", "half_pixel"),
                  upsample ? "floor" : n.textAttr("nearest_mode", "round_prefer_floor"),
                  n.floatAttr("cubic_coeff_a", -0.75),
                  n.floatAttr("extrapolation_value", 0),
                  n.intAttr("exclude_outside", 0) != 0,
                  n.intAttr("antialias", 0) != 0};
  if (o.mode == "bilinear")
    o.mode = "linear";
  if (o.mode != "nearest" && o.mode != "linear" && o.mode != "cubic")
    n.unsupported("mode '" + std::string(o.mode) + "'");
  return o;
}

/// What becomes of the dimension `axis`.
struct Extent {
  int64_t axis, in, out;
  double scale, start, end;
};

std::vector<Extent> extentsOf(const NodeRun &n, const Tensor &x, bool crops) {
  bool upsample = n.version() < 11;
  size_t scaleInput = upsample ? 1 : 2;
  std::vector<double> scales = n.hasAttr("scales") ? n.floatsAttr("scales")
                               : n.has(scaleInput) ? n.numbers(scaleInput)
                                                   : std::vector<double>();
  std::vector<int64_t> sizes = !upsample && n.has(3) ? n.ints(3) : std::vector<int64_t>(), axes = n.intsAttr("axes");
  std::vector<double> roi = crops ? n.numbers(1) : std::vector<double>();
  if (axes.empty())
    for (int64_t i = 0; i < x.dim(); i++)
      axes.push_back(i);
  size_t count = axes.size();
  if ((sizes.empty() ? scales.size() : sizes.size()) != count || (!roi.empty() && roi.size() != 2 * count))
    n.invalid("expected one scale or size for each of " + std::to_string(count) + " axes");
  std::vector<Extent> all;
  for (size_t i = 0; i < count; i++) {
    Extent e{axisOf(n, axes[i], x.dim()), 0, 0, 0, roi.empty() ? 0 : roi[i], roi.empty() ? 1 : roi[count + i]};
    e.in = x.sizes()[size_t(e.axis)];
    e.scale = sizes.empty() ? scales[i] : double(sizes[i]) / double(e.in);
    e.out = sizes.empty() ? 0 : sizes[i];
    all.push_back(e);
  }
  std::string_view policy = n.textAttr("keep_aspect_ratio_policy", "stretch");
  auto less = [](const Extent &a, const Extent &b) { return a.scale < b.scale; };
  if (!sizes.empty() && policy != "stretch") {
    double one = (policy == "not_larger" ? *std::min_element(all.begin(), all.end(), less)
                                         : *std::max_element(all.begin(), all.end(), less))
                     .scale;
    for (Extent &e : all)
      e.scale = one, e.out = int64_t(std::floor(one * double(e.in) + 0.5));
  }
  for (Extent &e : all) {
    if (!(e.scale >= 1e-6) || e.scale > 1e6)
      n.invalid("a scale of " + std::to_string(e.scale));
    e.out = sizes.empty() ? int64_t(std::floor(double(e.in) * e.scale)) : e.out;
  }
  return all;
}

void resize(NodeRun &n) {
  Tensor x = n.tensor(0);
  DType type = x.dtype();
  ResizeOptions o = optionsOf(n);
  bool crops = o.coordinates == "tf_crop_and_resize";
  std::vector<Extent> extents = extentsOf(n, x, crops);
  if (!isFloat(type) && o.mode != "nearest") // weights are fractions
    x = to(x, DType::F64);
  for (const Extent &e : extents) {
    if (e.scale == 1 && e.out == e.in && !crops)
      continue;
    x = e.out == 0 ? narrow(x, e.axis, 0, 0)
                   : resizeAxis(x, e.axis, tapsOf(o, e.in, e.out, e.scale, e.start, e.end), o);
  }
  n.set(to(x, type));
}

const HandlerRow rows[] = {{"Pad", pad}, {"Resize", resize}, {"Upsample", resize}};

} // namespace

Rows resampleRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
