// API of pools in 1, 2 and 3 spatial dimensions: arguments, output sizes, indices.
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {
namespace {

std::string str(int64_t v) { return std::to_string(v); }

/// The windows of one call, one value per pooled dimension.
struct Windows {
  Dims size, kernel, stride, padding, dilation;
};

Dims perDimension(const std::string &name, IntList given, const Dims &standard, const char *what) {
  int n = standard.size();
  Dims out(given.data(), int(given.size()));
  if (given.empty())
    return standard;
  if (given.size() == 1)
    out.resize(n, given[0]);
  if (out.size() != n)
    fail(name + ": " + what + " must either be a single int, or a tuple of " + str(n) + " ints, got " + out.str());
  return out;
}

/// Planes and, optionally, samples; all dimensions but the samples' have elements.
void checkInput(const std::string &name, const Tensor &x, int n) {
  bool ok = x->rank == n + 1 || x->rank == n + 2;
  for (int i = x->rank == n + 2; ok && i < x->rank; i++)
    ok = x->sizes()[i] > 0;
  if (!ok)
    fail(name + "(): Expected " + str(n + 1) + "D or " + str(n + 2) +
         "D (batch mode) tensor with optional 0 dim batch size for input, but got:" + x->dims().str());
}

/// Outputs along one dimension; with `ceil` the last window may reach over the end, but starts before it.
int64_t pooledExtent(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil) {
  int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil ? stride - 1 : 0);
  int64_t out = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
  return ceil && (out - 1) * stride >= in + padding ? out - 1 : out;
}

Windows windows(const std::string &name, const Tensor &x, int n, IntList kernel, IntList stride, IntList padding,
                IntList dilation, bool ceil) {
  Dims one, none;
  one.resize(n, 1);
  none.resize(n, 0);
  if (kernel.empty())
    fail(name + ": kernel_size must either be a single int, or a tuple of " + str(n) + " ints");
  Windows w;
  w.kernel = perDimension(name, kernel, one, "kernel_size");
  w.stride = perDimension(name, stride, w.kernel, "stride");
  w.padding = perDimension(name, padding, none, "padding");
  w.dilation = perDimension(name, dilation, one, "dilation");
  checkInput(name, x, n);
  for (int i = 0; i < n; i++) {
    constexpr int64_t limit = int64_t(1) << 30;
    if (w.stride[i] < 1)
      fail(name + "(): stride should not be zero, got " + w.stride.str());
    if (w.kernel[i] < 1 || w.dilation[i] < 1 || w.kernel[i] > limit || w.dilation[i] > limit || w.stride[i] > limit)
      fail(name + "(): kernel size and dilation should be greater than zero, but got kernel_size=" + w.kernel.str() +
           ", dilation=" + w.dilation.str());
    int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    if (w.padding[i] < 0)
      fail(name + "(): pad must be non-negative, but got pad: " + str(w.padding[i]));
    if (w.padding[i] > reach / 2)
      fail(name + "(): pad should be at most half of effective kernel size, but got pad=" + str(w.padding[i]) +
           ", kernel_size=" + str(w.kernel[i]) + " and dilation=" + str(w.dilation[i]));
    w.size.push(pooledExtent(x->sizes()[x->rank - n + i], w.kernel[i], w.stride[i], w.padding[i], w.dilation[i], ceil));
  }
  for (int64_t v : w.size)
    if (v < 1)
      fail(name + "(): Given input size: " + x->dims().str() + ". Calculated output size: " + w.size.str() +
           ". Output size is too small");
  return w;
}

Tensor maxOf(const Tensor &x, const Windows &w) {
  return callOp(OpId::MaxPool, {x}, {attr(w.size), attr(w.kernel), attr(w.stride), attr(w.padding), attr(w.dilation)});
}
Tensor maxIndexOf(const Tensor &x, const Windows &w) {
  return callOp(OpId::MaxPoolIndex, {x},
                {attr(w.size), attr(w.kernel), attr(w.stride), attr(w.padding), attr(w.dilation)});
}
Tensor meanOf(const Tensor &x, const Windows &w, bool countPadding, int64_t divisor) {
  return callOp(OpId::AvgPool, {x},
                {attr(w.size), attr(w.kernel), attr(w.stride), attr(w.padding), Attr::boolean(countPadding),
                 Attr::integer(divisor)});
}

std::string named(const char *what, int n) { return what + str(n) + "d"; }

Tensor maxPool(int n, const Tensor &x, IntList kernel, IntList stride, IntList padding, IntList dilation, bool ceil) {
  return maxOf(x, windows(named("max_pool", n), x, n, kernel, stride, padding, dilation, ceil));
}

std::tuple<Tensor, Tensor> maxPoolIndices(int n, const Tensor &x, IntList kernel, IntList stride, IntList padding,
                                          IntList dilation, bool ceil) {
  Windows w = windows(named("max_pool", n), x, n, kernel, stride, padding, dilation, ceil);
  return {maxOf(x, w), maxIndexOf(x, w)};
}

Tensor avgPool(int n, const Tensor &x, IntList kernel, IntList stride, IntList padding, bool ceil, bool countPadding,
               std::optional<int64_t> divisor) {
  if (divisor && *divisor == 0)
    fail("divisor must be not zero");
  return meanOf(x, windows(named("avg_pool", n), x, n, kernel, stride, padding, IntList(), ceil), countPadding,
                divisor.value_or(0));
}

Windows adaptive(const char *what, int n, const Tensor &x, IntList size) {
  std::string name = named(what, n);
  Dims standard;
  standard.resize(n, 1);
  if (size.size() == 0)
    fail(name + "(): expected output_size of " + std::to_string(n) + " elements, got none");
  Windows w;
  w.size = perDimension(name, size, standard, "output_size");
  checkInput(name, x, n);
  for (int64_t v : w.size)
    if (v < 0)
      fail(name + "(): elements of output_size must be greater than or equal to 0 but received " + w.size.str());
  return w;
}

std::tuple<Tensor, Tensor> adaptiveMax(int n, const Tensor &x, IntList size) {
  Windows w = adaptive("adaptive_max_pool", n, x, size);
  return {maxOf(x, w), maxIndexOf(x, w)};
}

/// Windows of one size where they divide the input: the same sums, by the kernel that knows where each lies.
Tensor adaptiveMean(int n, const Tensor &x, IntList size) {
  Windows w = adaptive("adaptive_avg_pool", n, x, size);
  bool even = true;
  for (int i = 0; i < n; i++) {
    int64_t in = x->sizes()[x->rank - n + i], out = w.size[i];
    even = even && in > 0 && out > 0 && in % out == 0;
  }
  for (int i = 0; even && i < n; i++) {
    w.kernel.push(x->sizes()[x->rank - n + i] / w.size[i]);
    w.padding.push(0);
  }
  w.stride = w.kernel;
  return meanOf(x, w, false, 0);
}

} // namespace

#define TORCHC_POOL(N)                                                                                                 \
  Tensor maxPool##N##d(const Tensor &input, IntList kernel, IntList stride, IntList padding, IntList dilation,         \
                       bool ceil) {                                                                                    \
    return maxPool(N, input, kernel, stride, padding, dilation, ceil);                                                 \
  }                                                                                                                    \
  std::tuple<Tensor, Tensor> maxPool##N##dWithIndices(const Tensor &input, IntList kernel, IntList stride,             \
                                                      IntList padding, IntList dilation, bool ceil) {                  \
    return maxPoolIndices(N, input, kernel, stride, padding, dilation, ceil);                                          \
  }                                                                                                                    \
  std::tuple<Tensor, Tensor> adaptiveMaxPool##N##d(const Tensor &input, IntList size) {                                \
    return adaptiveMax(N, input, size);                                                                                \
  }                                                                                                                    \
  Tensor adaptiveAvgPool##N##d(const Tensor &input, IntList size) { return adaptiveMean(N, input, size); }
TORCHC_POOL(1)
TORCHC_POOL(2)
TORCHC_POOL(3)
#undef TORCHC_POOL

Tensor avgPool1d(const Tensor &input, IntList kernel, IntList stride, IntList padding, bool ceil, bool countPadding) {
  return avgPool(1, input, kernel, stride, padding, ceil, countPadding, std::nullopt);
}
Tensor avgPool2d(const Tensor &input, IntList kernel, IntList stride, IntList padding, bool ceil, bool countPadding,
                 std::optional<int64_t> divisor) {
  return avgPool(2, input, kernel, stride, padding, ceil, countPadding, divisor);
}
Tensor avgPool3d(const Tensor &input, IntList kernel, IntList stride, IntList padding, bool ceil, bool countPadding,
                 std::optional<int64_t> divisor) {
  return avgPool(3, input, kernel, stride, padding, ceil, countPadding, divisor);
}

} // namespace torchc::composite
