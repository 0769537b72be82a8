// Resizing: every dimension on its own, as a weighted sum of looked-up slices.
#include "frontends/eager/composite/Common.h"
#include <algorithm>
#include <cmath>

namespace torchc::composite {
namespace {

enum class Mode { Nearest, NearestExact, Linear, Cubic, Area };

struct Resize {
  Mode mode;
  bool alignCorners = false, antialias = false;
  /// Input positions per output position of a dimension.
  double scale(int64_t in, int64_t out, double given) const {
    if (alignCorners)
      return out > 1 ? double(in - 1) / double(out - 1) : 0;
    return given > 0 ? 1 / given : double(in) / double(out);
  }
};

Tensor numbersLike(const Tensor &x, const std::vector<double> &v, const Dims &shape, DType t) {
  Tensor out(newTensor(DType::F64, Dims({int64_t(v.size())}), x->device));
  if (!x->device && !v.empty())
    std::memcpy(out->data, v.data(), v.size() * sizeof(double));
  return reshaped(as(out, t), shape);
}

/// Single precision rounds positions as PyTorch does: they decide which neighbour is read.
double rounded(double v, bool single) { return single ? double(float(v)) : v; }

Tensor nearest(const Tensor &x, int64_t d, int64_t out, double scale, bool exact) {
  std::vector<int64_t> at;
  int64_t n = x->sizes()[d];
  float s = float(scale);
  for (int64_t i = 0; i < out; i++) {
    float position = exact ? (float(i) + 0.5f) * s : float(i) * s;
    at.push_back(std::min<int64_t>(int64_t(std::floor(position)), n - 1));
  }
  return indexSelectDim(x, d, indexLike(x, at), Out());
}

/// Neighbours and weights of every output position: `taps` of each.
struct Taps {
  int count;
  std::vector<std::vector<int64_t>> at;
  std::vector<std::vector<double>> weight;
};

void cubicWeights(double t, double a, double *w) {
  auto near = [a](double v) { return ((a + 2) * v - (a + 3)) * v * v + 1; };
  auto far = [a](double v) { return ((a * v - 5 * a) * v + 8 * a) * v - 4 * a; };
  w[0] = far(t + 1);
  w[1] = near(t);
  w[2] = near(1 - t);
  w[3] = far(2 - t);
}

Taps tapsOf(int64_t n, int64_t out, double scale, const Resize &r, bool single) {
  bool cubic = r.mode == Mode::Cubic;
  Taps taps{cubic ? 4 : 2, {}, {}};
  taps.at.resize(size_t(taps.count));
  taps.weight.resize(size_t(taps.count));
  for (int64_t i = 0; i < out; i++) {
    double position =
        r.alignCorners ? scale * double(i) : rounded(rounded(scale, single) * (double(i) + 0.5) - 0.5, single);
    if (!cubic)
      position = std::max(position, 0.0);
    auto base = int64_t(std::floor(position));
    if (!cubic)
      base = std::min(base, n - 1);
    double t = rounded(position - double(base), single), w[4] = {1 - t, t};
    if (cubic)
      cubicWeights(t, -0.75, w);
    for (int k = 0; k < taps.count; k++) {
      taps.at[size_t(k)].push_back(std::clamp<int64_t>(base + k - cubic, 0, n - 1));
      taps.weight[size_t(k)].push_back(w[k]);
    }
  }
  return taps;
}

Tensor blended(const Tensor &x, int64_t d, int64_t out, double scale, const Resize &r) {
  Taps taps = tapsOf(x->sizes()[d], out, scale, r, x->dtype == DType::F32);
  Dims shape;
  for (int i = 0; i < x->rank; i++)
    shape.push(i == d ? out : 1);
  Tensor sum;
  for (int k = 0; k < taps.count; k++) {
    Tensor part = indexSelectDim(x, d, indexLike(x, taps.at[size_t(k)]), Out());
    part = callOp(OpId::Mul, {part, numbersLike(x, taps.weight[size_t(k)], shape, x->dtype)});
    sum = sum.defined() ? callOp(OpId::Add, {sum, part}) : part;
  }
  return sum;
}

/// A product with the matrix of weights, [in, out] by columns.
Tensor weighted(const Tensor &x, int64_t d, int64_t out, const std::vector<double> &matrix) {
  Tensor w = numbersLike(x, matrix, Dims({x->sizes()[d], out}), x->dtype);
  return transposeDims(matmulBroadcast(transposeDims(x, d, -1), w, Out()), d, -1);
}

std::vector<double> areaMatrix(int64_t n, int64_t out) {
  std::vector<double> w(size_t(n * out), 0);
  for (int64_t o = 0; o < out; o++) {
    int64_t from = o * n / out, to = ((o + 1) * n + out - 1) / out;
    for (int64_t i = from; i < to; i++)
      w[size_t(i * out + o)] = 1 / double(to - from);
  }
  return w;
}

/// The filter stretched over all input that an output covers when the image shrinks.
std::vector<double> antialiasMatrix(int64_t n, int64_t out, double scale, bool cubic) {
  std::vector<double> w(size_t(n * out), 0);
  double stretch = std::max(scale, 1.0), support = (cubic ? 2 : 1) * stretch;
  auto filter = [cubic](double v) {
    v = std::fabs(v);
    if (!cubic)
      return v < 1 ? 1 - v : 0.0;
    constexpr double a = -0.5;
    if (v < 1)
      return ((a + 2) * v - (a + 3)) * v * v + 1;
    return v < 2 ? (((v - 5) * v + 8) * v - 4) * a : 0.0;
  };
  for (int64_t o = 0; o < out; o++) {
    double center = scale * (double(o) + 0.5), total = 0;
    int64_t from = std::max<int64_t>(int64_t(center - support + 0.5), 0);
    int64_t to = std::min<int64_t>(int64_t(center + support + 0.5), n);
    for (int64_t i = from; i < to; i++)
      total += w[size_t(i * out + o)] = filter((double(i) + 0.5 - center) / stretch);
    for (int64_t i = from; i < to && total != 0; i++)
      w[size_t(i * out + o)] /= total;
  }
  return w;
}

Tensor resized(const Tensor &x, int64_t d, int64_t out, double given, const Resize &r) {
  int64_t n = x->sizes()[d];
  double scale = r.scale(n, out, given);
  if (r.mode == Mode::Nearest || r.mode == Mode::NearestExact)
    return nearest(x, d, out, scale, r.mode == Mode::NearestExact);
  if (r.mode == Mode::Area)
    return weighted(x, d, out, areaMatrix(n, out));
  if (r.antialias)
    return weighted(x, d, out, antialiasMatrix(n, out, scale, r.mode == Mode::Cubic));
  if (n == out && scale == 1)
    return x;
  return blended(x, d, out, scale, r);
}

Mode modeNamed(std::string_view name, int spatial) {
  if (name == "nearest")
    return Mode::Nearest;
  if (name == "nearest-exact")
    return Mode::NearestExact;
  if (name == "area")
    return Mode::Area;
  static constexpr std::string_view linear[] = {"linear", "bilinear", "trilinear"};
  for (int i = 0; i < 3; i++)
    if (name == linear[i]) {
      if (spatial == i + 1)
        return Mode::Linear;
      unsupported("Got " + std::to_string(spatial + 2) + "D input, but " + std::string(name) + " mode needs " +
                  std::to_string(i + 3) + "D input");
    }
  if (name == "bicubic" && spatial == 2)
    return Mode::Cubic;
  unsupported("Input Error: Only 3D, 4D and 5D input Tensors supported (got " + std::to_string(spatial + 2) +
              "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got " +
              std::string(name) + ")");
}

/// Output sizes, and the scale to use for positions (0: the ratio of the sizes).
void targets(const Tensor &x, std::optional<IntList> size, std::optional<FloatList> factors, bool recompute,
             std::vector<int64_t> &out, std::vector<double> &scale) {
  int spatial = x->rank - 2;
  if (size.has_value() == factors.has_value())
    fail(ErrorKind::Value,
         size ? "only one of size or scale_factor should be defined" : "either size or scale_factor should be defined");
  size_t given = size ? size->size() : factors->size();
  if (given != 1 && given != size_t(spatial))
    fail(ErrorKind::Value, "Input and output must have the same number of spatial dimensions, but got input with "
                           "spatial dimensions of " +
                               std::to_string(spatial) + " and " + (size ? "output size" : "scale_factor") + " of " +
                               std::to_string(given) + " numbers");
  if (recompute && size)
    fail(ErrorKind::Value, "recompute_scale_factor is not meaningful with an explicit size.");
  for (int i = 0; i < spatial; i++) {
    size_t k = given == 1 ? 0 : size_t(i);
    int64_t n = x->sizes()[i + 2];
    out.push_back(size ? (*size)[k] : int64_t(std::floor(double(n) * (*factors)[k])));
    scale.push_back(size || recompute ? 0 : (*factors)[k]);
    if (out.back() <= 0 || n <= 0)
      fail("Input and output sizes should be greater than 0, but got input " + x->dims().str() + " and output size " +
           std::to_string(out.back()));
  }
}

} // namespace

Tensor interpolateTo(const Tensor &input, std::optional<IntList> size, std::optional<FloatList> scaleFactor,
                     std::string_view mode, std::optional<bool> alignCorners, std::optional<bool> recomputeScaleFactor,
                     bool antialias) {
  int spatial = input->rank - 2;
  bool interpolates = mode.ends_with("linear") || mode == "bicubic";
  if (alignCorners && !interpolates)
    fail(ErrorKind::Value, "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                           "bicubic | trilinear");
  std::vector<int64_t> out;
  std::vector<double> scale;
  targets(input, size, scaleFactor, recomputeScaleFactor.value_or(false), out, scale);
  if (antialias && (spatial != 2 || (mode != "bilinear" && mode != "bicubic")))
    fail(ErrorKind::Value, "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as "
                           "input");
  if (spatial < 1 || spatial > 3)
    unsupported("Input Error: Only 3D, 4D and 5D input Tensors supported (got " + std::to_string(input->rank) + "D)");
  Resize r{modeNamed(mode, spatial), alignCorners.value_or(false), antialias};
  bool moves = r.mode == Mode::Nearest || r.mode == Mode::NearestExact;
  if (!moves && !isFloat(input->dtype))
    unsupported("interpolate(): mode " + std::string(mode) + " is not implemented for " +
                std::string(torchName(input->dtype)));
  Tensor x = moves ? input : as(input, computeType(input->dtype));
  Dims shape = input->dims();
  for (int i = 0; i < spatial; i++)
    shape[i + 2] = out[size_t(i)];
  release(newTensor(input->dtype, shape, input->device)); // asks for the memory before the work
  for (int i = spatial; i-- > 0;)
    x = resized(x, i + 2, out[size_t(i)], scale[size_t(i)], r);
  x = as(x, input->dtype);
  return x.same(input) ? cloneOf(x) : contiguousTensor(x);
}

} // namespace torchc::composite
