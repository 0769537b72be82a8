// Borders: constant ones, and ones that repeat what is inside.
#include "frontends/autograd/Tape.h"
#include "frontends/eager/Autocast.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc::composite {
namespace {

/// Places of the input for [0, left + n + right) of a dimension.
std::vector<int64_t> sources(std::string_view mode, int64_t n, int64_t left, int64_t right) {
  std::vector<int64_t> out;
  for (int64_t i = -left; i < n + right; i++) {
    int64_t at = i;
    if (mode == "replicate")
      at = std::clamp<int64_t>(i, 0, n - 1);
    else if (mode == "circular")
      at = (i % n + n) % n;
    else // reflect: the border itself is not repeated
      at = i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    out.push_back(at);
  }
  return out;
}

void checkBorder(const Tensor &x, std::string_view mode, int64_t d, int64_t left, int64_t right) {
  int64_t n = x->sizes()[d];
  std::string what = "padding size " + std::to_string(left) + ", " + std::to_string(right) + " at dimension " +
                     std::to_string(d) + " of input " + x->dims().str();
  if (mode == "reflect" && (left >= n || right >= n))
    fail("Padding size should be less than the corresponding input dimension, but got: " + what);
  if (mode == "circular" && (left > n || right > n))
    fail("Padding value causes wrapping around more than once: " + what);
  if (n + left + right <= 0 || (n == 0 && (left || right)))
    fail("pad(): the input is too small for " + what);
}

Tensor repeated(Tensor x, IntList pad, std::string_view mode) {
  size_t spatial = pad.size() / 2;
  if (!(spatial >= 1 && spatial <= 3) || (x->rank != int(spatial) + 1 && x->rank != int(spatial) + 2))
    unsupported("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  for (int i = 1; i < x->rank; i++)
    if (!x->sizes()[i] && (mode != "circular" || x->rank - i > int(spatial)))
      fail("Expected a tensor with non-zero sizes except for the batch, but got: " + x->dims().str());
  for (size_t k = 0; k < spatial; k++) {
    int64_t d = x->rank - 1 - int64_t(k), left = pad[2 * k], right = pad[2 * k + 1];
    checkBorder(x, mode, d, left, right);
    if (left || right)
      x = indexSelectDim(x, d, indexLike(x, sources(mode, x->sizes()[d], left, right)), Out());
  }
  return x;
}

} // namespace

/// Negative borders cut. The middle is copied into a tensor of `value`.
Tensor constantPad(const Tensor &input, IntList pad, const Scalar &value) {
  if (pad.size() % 2)
    fail("Length of pad must be even but instead it equals " + std::to_string(pad.size()));
  int64_t count = int64_t(pad.size()) / 2;
  if (count > input->rank)
    fail("Length of pad should be no more than twice the number of dimensions of the input. Pad length is " +
         std::to_string(pad.size()) + " while the input has " + std::to_string(input->rank) + " dimensions.");
  Tensor x = input;
  Dims shape = input->dims(), at;
  for (int i = 0; i < input->rank; i++)
    at.push(0);
  for (int64_t k = 0; k < count; k++) {
    int64_t d = input->rank - 1 - k, left = pad[size_t(2 * k)], right = pad[size_t(2 * k + 1)], n = shape[int(d)];
    if (n + left + right < 0)
      fail("The input size " + std::to_string(n) + ", plus negative padding " + std::to_string(left) + " and " +
           std::to_string(right) + " resulted in a negative output size, which is invalid. Check dimension " +
           std::to_string(d) + " of your input.");
    if (n + std::min<int64_t>(left, 0) + std::min<int64_t>(right, 0) < 0) // cuts more than is there
      fail("narrow(): length must be non-negative.");
    shape[int(d)] = n + left + right;
    at[int(d)] = std::max<int64_t>(left, 0);
    int64_t from = std::clamp<int64_t>(-left, 0, n), to = std::clamp<int64_t>(n + std::min<int64_t>(right, 0), from, n);
    if (from || to != n)
      x = sliceDim(x, d, from, to);
  }
  if (shape == x->dims())
    return cloneOf(x);
  checkFits(value, input->dtype);
  bool plain = isPlain(x); // then each element is written once
  Tensor out = plain ? Tensor(newTensor(input->dtype, shape)) : fullTensor(shape, value, input->dtype, input->device);
  Tensor middle = out, border = fullTensor(Dims(), value, input->dtype, input->device);
  for (int i = 0; i < x->rank; i++) {
    int64_t from = at[i], to = from + x->sizes()[i];
    if (plain && from)
      torchc::copyInto(sliceDim(middle, i, 0, from).impl(), border.impl());
    if (plain && to < shape[i])
      torchc::copyInto(sliceDim(middle, i, to, shape[i]).impl(), border.impl());
    if (shape[i] != x->sizes()[i])
      middle = sliceDim(middle, i, from, to);
  }
  if (plain)
    torchc::copyInto(middle.impl(), x.impl());
  else
    copy_(middle, x);
  return out;
}

Tensor padDims(const Tensor &input, IntList pad, std::string_view mode, const std::optional<Scalar> &value) {
  if (pad.size() % 2)
    fail("Padding length must be divisible by 2");
  if (int64_t(pad.size()) > 2 * int64_t(input->rank))
    fail("Padding length should be less than or equal to two times the input dimension but got padding length " +
         std::to_string(pad.size()) + " and input of dimension " + std::to_string(input->rank));
  if (mode == "constant")
    return constantPad(input, pad, value.value_or(Scalar(0)));
  if (value && value->toDouble() != 0)
    fail("Padding mode \"" + std::string(mode) + "\" doesn't take in value argument");
  if (mode != "reflect" && mode != "replicate" && mode != "circular")
    unsupported("Unrecognised padding mode " + std::string(mode));
  if (mode == "circular") // a copy by pieces in PyTorch
    return repeated(input, pad, mode);
  LinkedScope linked;
  bool single = mode == "replicate" || pad.size() < 6; // PyTorch's list has no reflection_pad3d
  if (TORCHC_UNLIKELY(isAutocast()) && single)
    return repeated(AutocastCall(Autocast::Single)(input), pad, mode);
  return repeated(input, pad, mode);
}

//===-- sliding windows -----------------------------------------------------------------------------------------===//

namespace {

struct Windows {
  int64_t kernel[2], dilation[2], padding[2], stride[2], size[2], count[2];
  int64_t padded(int i) const { return size[i] + 2 * padding[i]; }
  int64_t blocks() const { return count[0] * count[1]; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
};

void pairOf(IntList v, const char *name, int64_t *out) {
  if (v.size() != 1 && v.size() != 2)
    fail(std::string("It is expected ") + name + " equals to 2, but got size " + std::to_string(v.size()));
  out[0] = v[0];
  out[1] = v[v.size() - 1];
}

Windows windowsOf(const char *op, const int64_t *size, IntList kernel, IntList dilation, IntList padding,
                  IntList stride) {
  Windows w;
  pairOf(kernel, "kernel_size", w.kernel);
  pairOf(dilation, "dilation", w.dilation);
  pairOf(padding, "padding", w.padding);
  pairOf(stride, "stride", w.stride);
  for (int i = 0; i < 2; i++) {
    w.size[i] = size[i];
    if (w.kernel[i] <= 0 || w.dilation[i] <= 0 || w.stride[i] <= 0 || w.padding[i] < 0)
      fail(std::string(op) + "(): expected kernel_size, dilation and stride above zero and padding of at least zero");
    __int128 reach = __int128(w.dilation[i]) * (w.kernel[i] - 1) + 1,
             room = __int128(w.size[i]) + __int128(2) * w.padding[i];
    if (room > INT32_MAX)
      fail(ErrorKind::Memory,
           std::string(op) + "(): not enough memory for a padding of " + std::to_string(w.padding[i]));
    w.count[i] = room < reach ? 0 : int64_t((room - reach) / w.stride[i]) + 1;
  }
  if (!w.count[0] || !w.count[1])
    fail(std::string(op) +
         "(): the calculated shape of the array of sliding blocks is too small (non-positive), for "
         "input of spatial size " +
         Dims(size, 2).str());
  return w;
}

/// Place in the padded image of every (tap, block), row-major.
std::vector<int64_t> placesOf(const Windows &w) {
  std::vector<int64_t> out;
  out.reserve(size_t(w.taps() * w.blocks()));
  for (int64_t ky = 0; ky < w.kernel[0]; ky++)
    for (int64_t kx = 0; kx < w.kernel[1]; kx++)
      for (int64_t y = 0; y < w.count[0]; y++)
        for (int64_t x = 0; x < w.count[1]; x++)
          out.push_back((y * w.stride[0] + ky * w.dilation[0]) * w.padded(1) + x * w.stride[1] + kx * w.dilation[1]);
  return out;
}

} // namespace

/// [N, C, H, W] to [N, C * taps, blocks].
Tensor unfoldWindows(const Tensor &input, IntList kernel, IntList dilation, IntList padding, IntList stride) {
  bool batched = input->rank == 4;
  if (!batched && input->rank != 3)
    fail("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
         "but got: " +
         input->dims().str());
  for (int i = batched; i < input->rank; i++)
    if (!input->sizes()[i])
      fail("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
           "but got: " +
           input->dims().str());
  Windows w = windowsOf("unfold", input->sizes() + input->rank - 2, kernel, dilation, padding, stride);
  Tensor x = batched ? input : unsqueezeDim(input, 0);
  int64_t n = x->sizes()[0], c = x->sizes()[1];
  if (w.padding[0] || w.padding[1])
    x = constantPad(x, {w.padding[1], w.padding[1], w.padding[0], w.padding[0]}, 0);
  x = reshaped(x, Dims({n, c, w.padded(0) * w.padded(1)}));
  x = indexSelectDim(x, 2, indexLike(x, placesOf(w)), Out());
  x = reshaped(x, Dims({n, c * w.taps(), w.blocks()}));
  return batched ? x : squeezeDim(x, 0);
}

/// The sum of what unfold would read there, from +0 in the order of (tap, block).
Tensor foldWindows(const Tensor &input, IntList outputSize, IntList kernel, IntList dilation, IntList padding,
                   IntList stride) {
  int64_t size[2];
  pairOf(outputSize, "output_size", size);
  bool batched = input->rank == 3;
  if (!batched && input->rank != 2)
    fail("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
         "input, but got: " +
         input->dims().str());
  Windows w = windowsOf("fold", size, kernel, dilation, padding, stride);
  Tensor x = batched ? input : unsqueezeDim(input, 0);
  int64_t n = x->sizes()[0], channels = x->sizes()[1];
  if (channels % w.taps())
    fail("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=" +
         std::to_string(channels) + " and kernel_size product " + std::to_string(w.taps()));
  if (x->sizes()[2] != w.blocks())
    fail("Given output_size, kernel_size, dilation, padding and stride, expected size of input's dimension 2 to match "
         "the calculated number of sliding blocks " +
         std::to_string(w.blocks()) + ", but got input.size(2)=" + std::to_string(x->sizes()[2]));
  int64_t c = channels / w.taps();
  x = reshaped(x, Dims({n, c, w.taps() * w.blocks()}));
  Tensor image = fullTensor(Dims({n, c, w.padded(0) * w.padded(1)}), 0, x->dtype, x->device);
  image = callOp(OpId::IndexAdd, {image, indexLike(x, placesOf(w)), x}, {Attr::integer(2)});
  image = reshaped(image, Dims({n, c, w.padded(0), w.padded(1)}));
  for (int i = 0; i < 2; i++)
    if (w.padding[i])
      image = sliceDim(image, 2 + i, w.padding[i], w.padding[i] + w.size[i]);
  return batched ? image : squeezeDim(image, 0);
}

} // namespace torchc::composite
