// Images read at the points of a grid, and grids of affine maps.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc::composite {
namespace {

enum class Sampling { Nearest, Linear, Cubic };
enum class Border { Zeros, Clamp, Reflect };

Tensor plus(const Operand &a, const Operand &b) { return callOp(OpId::Add, {a, b}); }
Tensor minus(const Operand &a, const Operand &b) { return callOp(OpId::Sub, {a, b}); }
Tensor times(const Operand &a, const Operand &b) { return callOp(OpId::Mul, {a, b}); }

/// Towards minus infinity, in x's type, without a gradient; NaN gives 0.
Tensor lowered(const Tensor &x) {
  Tensor d = detached(x), t = as(as(d, DType::I64), x->dtype);
  return minus(t, as(callOp(OpId::Gt, {t, d}), x->dtype));
}
/// To the nearest integer, ties to even, in int64.
Tensor nearestTo(const Tensor &x) {
  Tensor up = lowered(plus(x, 0.5)), half = times(up, 0.5);
  Tensor tie = callOp(OpId::Eq, {minus(up, detached(x)), 0.5});
  Tensor odd = callOp(OpId::Ne, {lowered(half), half});
  Tensor down = as(callOp(OpId::LogicalAnd, {tie, odd}), x->dtype);
  return as(minus(up, down), DType::I64);
}

/// From [-1, 1] to pixels: the ends are centres (`align`) or edges of the first and last pixel.
Tensor pixels(const Tensor &x, int64_t size, bool align) {
  if (align)
    return times(times(plus(x, 1.0), 0.5), double(size - 1));
  return times(minus(times(plus(x, 1.0), double(size)), 1.0), 0.5);
}

/// Folded back into [low, low + span] as between two mirrors.
Tensor mirrored(const Tensor &x, double low, double span) {
  if (span <= 0)
    return times(x, 0.0);
  Tensor away = callOp(OpId::Abs, {minus(x, low)});
  Tensor folds = lowered(callOp(OpId::Div, {away, span}));
  Tensor rest = minus(away, times(folds, span));
  Tensor half = times(folds, 0.5);
  Tensor even = callOp(OpId::Eq, {lowered(half), half});
  return plus(callOp(OpId::Where, {even, rest, minus(span, rest)}), low);
}

struct Sampler {
  Tensor image; // [N, C, pixels]
  Dims size;    // of the image, in the order of memory
  Border border;
  bool align;
  DType type;

  Tensor bounded(const Tensor &x, int64_t n) const {
    if (border == Border::Zeros)
      return x;
    Tensor t = x;
    if (border == Border::Reflect)
      t = align ? mirrored(x, 0, double(n - 1)) : mirrored(x, -0.5, double(n));
    return clamp(t, Scalar(0.0), Scalar(double(n - 1)));
  }

  /// The image at integer places [N, points] of each dimension: [N, C, points]; zero outside.
  Tensor at(const std::vector<Tensor> &places) const {
    Tensor index, inside;
    for (size_t d = 0; d < places.size(); d++) {
      int64_t n = size[int(d)];
      Tensor ok = callOp(OpId::LogicalAnd, {callOp(OpId::Ge, {places[d], 0}), callOp(OpId::Lt, {places[d], n})});
      Tensor safe = callOp(OpId::Where, {ok, places[d], 0});
      inside = inside.defined() ? callOp(OpId::LogicalAnd, {inside, ok}) : ok;
      index = index.defined() ? plus(times(index, n), safe) : safe;
    }
    Dims shape = image->dims();
    shape[2] = index->sizes()[1];
    Tensor value = callOp(OpId::Gather, {image, expanded(unsqueezeDim(index, 1), shape)}, {Attr::integer(2)});
    return callOp(OpId::Where, {unsqueezeDim(inside, 1), value, 0.0});
  }
};

/// A neighbour of one dimension: how far from the floor, and its weight.
struct Tap {
  int64_t step;
  Tensor weight;
};

std::vector<Tap> linearTaps(const Tensor &t) { return {{0, minus(1.0, t)}, {1, t}}; }
std::vector<Tap> cubicTaps(const Tensor &t) {
  constexpr double a = -0.75;
  auto near = [&](const Tensor &v) { return plus(times(times(minus(times(v, a + 2), a + 3), v), v), 1.0); };
  auto far = [&](const Tensor &v) { return minus(times(plus(times(minus(times(v, a), 5 * a), v), 8 * a), v), 4 * a); };
  return {{-1, far(plus(t, 1.0))}, {0, near(t)}, {1, near(minus(1.0, t))}, {2, far(minus(2.0, t))}};
}

/// The sum over all combinations of taps.
Tensor blend(const Sampler &s, const std::vector<Tensor> &base, const std::vector<std::vector<Tap>> &taps,
             bool bounds) {
  size_t rank = base.size();
  std::vector<size_t> pick(rank, 0);
  Tensor sum;
  for (bool more = true; more;) {
    std::vector<Tensor> places;
    Tensor weight;
    for (size_t d = 0; d < rank; d++) {
      const Tap &tap = taps[d][pick[d]];
      Tensor place = plus(base[d], double(tap.step));
      places.push_back(as(bounds ? s.bounded(place, s.size[int(d)]) : place, DType::I64));
      weight = weight.defined() ? times(weight, tap.weight) : tap.weight;
    }
    Tensor part = times(s.at(places), unsqueezeDim(weight, 1));
    sum = sum.defined() ? plus(sum, part) : part;
    size_t d = rank;
    while (d > 0 && ++pick[d - 1] == taps[d - 1].size())
      pick[--d] = 0;
    more = d > 0;
  }
  return sum;
}

void checkGrid(const Tensor &input, const Tensor &grid, Sampling mode) {
  int r = input->rank;
  if (r != 4 && r != 5)
    fail("grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes " +
         input->dims().str() + " and grid with sizes " + grid->dims().str());
  if (grid->rank != r || grid->sizes()[0] != input->sizes()[0])
    fail("grid_sampler(): expected grid and input to have same batch size and number of dimensions, but got input "
         "with sizes " +
         input->dims().str() + " and grid with sizes " + grid->dims().str());
  if (grid->sizes()[r - 1] != r - 2)
    fail("grid_sampler(): expected grid to have size " + std::to_string(r - 2) +
         " in last dimension, but got grid with sizes " + grid->dims().str());
  for (int i = 2; i < r; i++)
    if (!input->sizes()[i])
      fail("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes " +
           input->dims().str());
  if (mode == Sampling::Cubic && r != 4)
    fail("grid_sampler(): bicubic interpolation only supports 4D input");
  if (input->dtype != grid->dtype)
    fail("grid_sampler(): expected input and grid to have the same dtype, but got " +
         std::string(torchName(input->dtype)) + " and " + std::string(torchName(grid->dtype)));
}

template <class E>
E named(std::string_view value, std::initializer_list<std::pair<std::string_view, E>> names, const char *what) {
  for (auto [name, e] : names)
    if (name == value)
      return e;
  fail(ErrorKind::Value, std::string("nn.functional.grid_sample(): expected ") + what +
                             " to be one of the known ones, "
                             "but got: '" +
                             std::string(value) + "'");
}

} // namespace

/// Points of the grid are (x, y) or (x, y, z) in [-1, 1]; the result has the grid's shape behind batch and channels.
Tensor gridSample(const Tensor &input, const Tensor &grid, std::string_view modeName, std::string_view paddingMode,
                  std::optional<bool> alignCorners) {
  auto mode = named<Sampling>(
      modeName, {{"bilinear", Sampling::Linear}, {"nearest", Sampling::Nearest}, {"bicubic", Sampling::Cubic}}, "mode");
  auto border =
      named<Border>(paddingMode, {{"zeros", Border::Zeros}, {"border", Border::Clamp}, {"reflection", Border::Reflect}},
                    "padding_mode");
  checkGrid(input, grid, mode);
  int r = input->rank, spatial = r - 2;
  DType c = computeType(input->dtype);
  Dims size(input->sizes() + 2, spatial), out(grid->sizes() + 1, spatial);
  int64_t n = input->sizes()[0], points = out.numel();
  Sampler s{reshaped(as(input, c), Dims({n, input->sizes()[1], size.numel()})), size, border,
            alignCorners.value_or(false), c};
  Tensor where = reshaped(as(grid, c), Dims({n, points, spatial}));
  std::vector<Tensor> base;
  std::vector<std::vector<Tap>> taps;
  for (int d = 0; d < spatial; d++) { // the grid names x first, memory has it last
    Tensor x = pixels(selectIndex(where, 2, spatial - 1 - d), size[d], s.align);
    if (mode != Sampling::Cubic)
      x = s.bounded(x, size[d]);
    if (mode == Sampling::Nearest) {
      base.push_back(nearestTo(x));
      continue;
    }
    base.push_back(lowered(x));
    taps.push_back(mode == Sampling::Linear ? linearTaps(minus(x, base.back())) : cubicTaps(minus(x, base.back())));
  }
  Tensor y = mode == Sampling::Nearest ? s.at(base) : blend(s, base, taps, mode == Sampling::Cubic);
  Dims shape({n, input->sizes()[1]});
  for (int64_t o : out)
    shape.push(o);
  return as(reshaped(y, shape), input->dtype);
}

/// With the modes as PyTorch numbers them: bilinear, nearest, bicubic; zeros, border, reflection.
Tensor gridSampler(const Tensor &input, const Tensor &grid, int64_t mode, int64_t padding, bool alignCorners) {
  static constexpr std::string_view modes[] = {"bilinear", "nearest", "bicubic"};
  static constexpr std::string_view borders[] = {"zeros", "border", "reflection"};
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    fail("grid_sampler(): expected modes from 0 to 2, got " + std::to_string(mode) + " and " + std::to_string(padding));
  return gridSample(input, grid, modes[mode], borders[padding], alignCorners);
}

/// Where an affine map sends the points of an image of `size`: [N, H, W, 2] or [N, D, H, W, 3].
Tensor affineGrid(const Tensor &theta, IntList size, std::optional<bool> alignCorners) {
  int spatial = int(size.size()) - 2;
  if (!isFloat(theta->dtype))
    fail(ErrorKind::Value,
         "Expected theta to have floating point type, but got " + std::string(torchName(theta->dtype)));
  if (spatial != 2 && spatial != 3)
    unsupported("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size " +
                Dims(size.data(), int(size.size())).str());
  if (theta->rank != 3 || theta->sizes()[1] != spatial || theta->sizes()[2] != spatial + 1)
    fail(ErrorKind::Value, "Expected a batch of affine matrices of shape [N, " + std::to_string(spatial) + ", " +
                               std::to_string(spatial + 1) + "], but got " + theta->dims().str());
  for (int64_t n : size)
    if (n <= 0)
      fail(ErrorKind::Value,
           "Expected non-zero, positive output size. Got " + Dims(size.data(), int(size.size())).str());
  bool align = alignCorners.value_or(false);
  DeviceId device{DeviceKind(theta->device)};
  Dims shape(size.data() + 2, spatial);
  std::vector<Tensor> axes;
  for (int d = spatial; d-- > 0;) { // x first
    double end = align ? 1 : double(shape[d] - 1) / double(shape[d]);
    Tensor line = shape[d] == 1 ? fullTensor(Dims({1}), 0, theta->dtype, theta->device)
                                : linspaceOf(-end, end, shape[d], theta->dtype, device, false);
    Dims mine = shape;
    for (int i = 0; i < spatial; i++)
      mine[i] = i == d ? shape[d] : 1;
    axes.push_back(ravelAll(expanded(reshaped(line, mine), shape)));
  }
  axes.push_back(fullTensor(Dims({shape.numel()}), 1, theta->dtype, theta->device));
  Tensor points = stackNew(axes, 1);
  Tensor moved = matmulBroadcast(points, transposeDims(theta, 1, 2), Out());
  Dims out({theta->sizes()[0]});
  for (int64_t n : shape)
    out.push(n);
  out.push(spatial);
  return reshaped(moved, out);
}

} // namespace torchc::composite
