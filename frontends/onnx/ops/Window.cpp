// Convolutions and pooling. Padding of different amounts on both sides is a step of its own before them.
#include "frontends/onnx/ops/Ops.h"
#include <algorithm>

namespace torchc::onnx {
namespace {

using Ints = std::vector<int64_t>;
using Conv = Tensor (*)(const Tensor &, const Tensor &, const OptTensor &, IntList, IntList, IntList, int64_t);

/// Geometry of a window over the spatial dimensions, from the attributes.
struct Window {
  static constexpr int64_t most = int64_t(1) << 31; // products and sums of two stay far from overflow
  Ints kernel, stride, dilation, before, after;
  size_t rank;

  Window(const NodeRun &n, const Tensor &x, Ints kernelSizes, bool transposed = false)
      : kernel(std::move(kernelSizes)) {
    rank = size_t(std::max<int64_t>(x.dim() - 2, 0));
    if (rank < 1 || rank > 3)
      n.unsupported("an input of rank " + std::to_string(x.dim()));
    auto list = [&](const char *name, size_t count, int64_t otherwise) {
      Ints v = n.intsAttr(name, Ints(count, otherwise));
      if (v.size() != count)
        n.invalid(std::string(name) + " of " + std::to_string(v.size()) + " numbers, expected " +
                  std::to_string(count));
      return v;
    };
    if (kernel.size() != rank)
      n.invalid("a kernel of rank " + std::to_string(kernel.size()) + " for " + std::to_string(rank) + " dimensions");
    stride = list("strides", rank, 1), dilation = list("dilations", rank, 1);
    Ints pads = list("pads", 2 * rank, 0);
    before.assign(pads.begin(), pads.begin() + int64_t(rank));
    after.assign(pads.begin() + int64_t(rank), pads.end());
    for (size_t i = 0; i < rank; i++)
      if (stride[i] < 1 || dilation[i] < 1 || kernel[i] < 1 || std::max({stride[i], dilation[i], kernel[i]}) > most)
        n.invalid("strides, dilations and kernel sizes must be positive and at most 2^31");
    for (int64_t p : pads)
      if (p < 0 || p > most)
        n.invalid("pads of " + std::to_string(p) + ", expected 0 to 2^31");
    std::string_view mode = n.textAttr("auto_pad", "NOTSET");
    if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
      n.invalid("auto_pad '" + std::string(mode) + "'");
    if (mode != "NOTSET" && !transposed)
      automatic(mode, x);
  }
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }

  void automatic(std::string_view mode, const Tensor &x) {
    for (size_t i = 0; i < rank; i++) {
      int64_t in = x.sizes()[2 + i], out = (in + stride[i] - 1) / stride[i];
      int64_t total = mode == "VALID" ? 0 : std::max<int64_t>((out - 1) * stride[i] + reach(i) - in, 0);
      before[i] = mode == "SAME_LOWER" ? (total + 1) / 2 : total / 2;
      after[i] = total - before[i];
    }
  }

  /// Windows that only fit partly count, unless they start in the padding behind.
  void roundUp(const Tensor &x) {
    for (size_t i = 0; i < rank; i++) {
      int64_t in = x.sizes()[2 + i], room = in + before[i] + after[i] - reach(i);
      int64_t out = (room + stride[i] - 1) / stride[i] + 1;
      if ((out - 1) * stride[i] >= in + before[i])
        out--;
      extra.push_back(std::max<int64_t>((out - 1) * stride[i] + reach(i) - in - before[i] - after[i], 0));
    }
  }

  bool symmetric() const { return before == after && extra.empty(); }
  Ints extra; // behind the padding, by rounding up
};

Tensor padded(const Tensor &x, const Window &w, double value, bool withPads, bool withExtra) {
  Tensor t = x;
  for (size_t i = 0; i < w.rank; i++) {
    std::vector<Tensor> parts{t};
    auto fill = [&](int64_t count, bool front) {
      Ints shape = sizesOf(t);
      shape[2 + i] = count;
      if (count > 0)
        parts.insert(front ? parts.begin() : parts.end(), full(shape, value, x.dtype()));
    };
    if (withPads) {
      fill(w.before[i], true);
      fill(w.after[i], false);
    }
    if (withExtra && !w.extra.empty())
      fill(w.extra[i], false);
    t = parts.size() == 1 ? t : cat(parts, int64_t(2 + i));
  }
  return t;
}

void conv(NodeRun &n) {
  Tensor x = n.tensor(0), weight = n.tensor(1);
  Ints sizes(weight.sizes().begin() + std::min<int64_t>(weight.dim(), 2), weight.sizes().end());
  Window w(n, x, sizes);
  Ints pads = w.before;
  if (!w.symmetric()) {
    x = padded(x, w, 0, true, false);
    pads.assign(w.rank, 0);
  }
  int64_t group = n.intAttr("group", 1);
  auto *f = w.rank == 1   ? static_cast<Conv>(conv1d)
            : w.rank == 2 ? static_cast<Conv>(conv2d)
                          : static_cast<Conv>(conv3d);
  n.set(f(x, weight, n.optional(2), w.stride, pads, w.dilation, group));
}

void convTranspose(NodeRun &n) {
  Tensor x = n.tensor(0), weight = n.tensor(1);
  Ints sizes(weight.sizes().begin() + std::min<int64_t>(weight.dim(), 2), weight.sizes().end());
  Window w(n, x, sizes, true);
  Ints extra = n.intsAttr("output_padding", Ints(w.rank, 0)), shape = n.intsAttr("output_shape");
  if (extra.size() != w.rank || (!shape.empty() && shape.size() != w.rank))
    n.invalid("output_padding or output_shape with another number of entries than " + std::to_string(w.rank));
  for (const Ints &list : {extra, shape})
    for (int64_t v : list)
      if (v < 0 || v > Window::most)
        n.invalid("an output_padding or output_shape of " + std::to_string(v) + ", expected 0 to 2^31");
  std::string_view mode = n.textAttr("auto_pad", "NOTSET");
  for (size_t i = 0; i < w.rank; i++) {
    int64_t whole = w.stride[i] * (x.sizes()[2 + i] - 1) + extra[i] + w.reach(i);
    bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (shape.size() == w.rank || same) {
      int64_t out = shape.size() == w.rank ? shape[i] : x.sizes()[2 + i] * w.stride[i];
      int64_t total = std::max<int64_t>(whole - out, 0);
      w.before[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.after[i] = total - w.before[i];
    } else if (mode == "VALID") {
      w.before[i] = w.after[i] = 0;
    }
  }
  // Without padding, then cut: the two sides may differ, and output padding may exceed the stride.
  Ints none(w.rank, 0);
  int64_t group = n.intAttr("group", 1);
  auto *f = w.rank == 1 ? conv_transpose1d : w.rank == 2 ? conv_transpose2d : conv_transpose3d;
  Tensor y = f(x, weight, Tensor(), w.stride, none, none, group, w.dilation);
  for (size_t i = 0; i < w.rank; i++) {
    int64_t axis = int64_t(2 + i), have = y.sizes()[2 + i];
    int64_t want = shape.empty() ? have + extra[i] - w.before[i] - w.after[i] : shape[i]; // behind it is padding
    if (want < 1)
      n.invalid("pads leave nothing of dimension " + std::to_string(axis));
    int64_t kept = std::min(have - w.before[i], want);
    y = narrow(y, axis, w.before[i], kept);
    if (kept < want) {
      Ints more = sizesOf(y);
      more[2 + i] = want - kept;
      y = cat(std::vector<Tensor>{y, zeros(more, y.dtype())}, axis);
    }
  }
  if (n.has(2)) {
    Ints one(size_t(y.dim()), 1);
    one[1] = n.tensor(2).numel();
    y = add(y, reshape(n.tensor(2), one));
  }
  n.set(y);
}

void maxPool(NodeRun &n) {
  Tensor x = n.tensor(0);
  Window w(n, x, n.intsAttr("kernel_shape"));
  if (n.intAttr("ceil_mode", 0))
    w.roundUp(x);
  bool indices = n.wants(1), fits = w.symmetric();
  for (size_t i = 0; i < w.rank; i++)
    fits = fits && 2 * w.before[i] <= w.kernel[i];
  Ints pads = fits ? w.before : Ints(w.rank, 0);
  DType t = x.dtype();
  Tensor in = x;
  if (!isFloat(t)) // kernels are for floating point; small integers are exact in f64
    in = to(x, DType::F64);
  if (!fits)
    in = padded(in, w, -__builtin_inf(), true, true);
  if (!indices) {
    auto *f = w.rank == 1 ? max_pool1d : w.rank == 2 ? max_pool2d : max_pool3d;
    return n.set(to(f(in, w.kernel, w.stride, pads, w.dilation, false), t));
  }
  auto *f = w.rank == 1 ? max_pool1d_with_indices : w.rank == 2 ? max_pool2d_with_indices : max_pool3d_with_indices;
  auto [values, at] = f(in, w.kernel, w.stride, pads, w.dilation, false);
  n.set(0, to(values, t));
  // Positions within the padded plane -> within the whole input tensor, in row- or column-major order.
  Ints plane(in.sizes().begin() + 2, in.sizes().end());
  std::vector<Tensor> coordinates(w.rank);
  for (size_t i = w.rank; i-- > 0;) {
    Tensor rest = div(at, plane[i], std::string_view("floor"));
    coordinates[i] = sub(sub(at, mul(rest, plane[i])), fits ? 0 : w.before[i]);
    at = rest;
  }
  Tensor within;
  bool columns = n.intAttr("storage_order", 0);
  int64_t size = 1;
  for (size_t k = 0; k < w.rank; k++) {
    size_t i = columns ? w.rank - 1 - k : k;
    within = within ? add(mul(within, x.sizes()[2 + i]), coordinates[i]) : coordinates[i];
    size *= x.sizes()[2 + k];
  }
  int64_t planes = x.sizes()[0] * x.sizes()[1];
  Ints shape(size_t(x.dim()), 1);
  shape[0] = x.sizes()[0], shape[1] = x.sizes()[1];
  n.set(1, add(within, reshape(mul(arange(0, Scalar(planes), 1, DType::I64), size), shape)));
}

/// Sums over windows without padding: one channel at a time.
Tensor windowSums(const Tensor &x, const Window &w) {
  Ints ones{x.sizes()[1], 1}, none(w.rank, 0);
  ones.insert(ones.end(), w.kernel.begin(), w.kernel.end());
  Tensor kernel = full(ones, 1, x.dtype());
  auto *f = w.rank == 1   ? static_cast<Conv>(conv1d)
            : w.rank == 2 ? static_cast<Conv>(conv2d)
                          : static_cast<Conv>(conv3d);
  return f(x, kernel, Tensor(), w.stride, none, w.dilation, x.sizes()[1]);
}

void averagePool(NodeRun &n) {
  Tensor x = n.tensor(0);
  Window w(n, x, n.intsAttr("kernel_shape"));
  if (n.intAttr("ceil_mode", 0))
    w.roundUp(x);
  bool plain = w.symmetric() && isFloat(x.dtype());
  for (size_t i = 0; i < w.rank; i++)
    plain = plain && w.dilation[i] == 1 && 2 * w.before[i] <= w.kernel[i];
  if (plain) {
    bool counts = n.intAttr("count_include_pad", 0);
    return n.set(w.rank == 1   ? avg_pool1d(x, w.kernel, w.stride, w.before, false, counts)
                 : w.rank == 2 ? avg_pool2d(x, w.kernel, w.stride, w.before, false, counts)
                               : avg_pool3d(x, w.kernel, w.stride, w.before, false, counts));
  }
  Tensor sums = windowSums(padded(x, w, 0, true, true), w);
  // The number of elements that count, the same for every image and channel.
  Ints one = sizesOf(x);
  one[0] = one[1] = 1;
  Tensor counted = full(one, 1, x.dtype());
  Tensor counts = n.intAttr("count_include_pad", 0) ? padded(padded(counted, w, 1, true, false), w, 0, false, true)
                                                    : padded(counted, w, 0, true, true);
  n.set(div(sums, windowSums(counts, w)));
}

template <Tensor (*F)(const Tensor &, IntList, bool)> void overAll(NodeRun &n) {
  Ints axes;
  for (int64_t i = 2; i < n.tensor(0).dim(); i++)
    axes.push_back(i);
  n.set(F(n.tensor(0), axes, true));
}
Tensor meanOf(const Tensor &x, IntList axes, bool keep) { return mean(x, axes, keep); }
Tensor largestOf(const Tensor &x, IntList axes, bool keep) { return amax(x, axes, keep); }

const HandlerRow rows[] = {{"Conv", conv},
                           {"ConvTranspose", convTranspose},
                           {"MaxPool", maxPool},
                           {"AveragePool", averagePool},
                           {"GlobalAveragePool", overAll<meanOf>},
                           {"GlobalMaxPool", overAll<largestOf>}};

} // namespace

Rows windowRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
