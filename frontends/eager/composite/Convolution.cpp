// API of convolutions in 1, 2 and 3 spatial dimensions: arguments, unbatched input, named padding, bias.
#include "dialects/rules/Window.h"
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {
namespace {

std::string str(int64_t v) { return std::to_string(v); }

/// One value per spatial dimension of an argument that may be one number.
Dims perDimension(IntList given, int n, int64_t standard, const char *what) {
  Dims out(given.data(), int(given.size()));
  if (given.size() <= 1) {
    out = Dims();
    out.resize(n, given.empty() ? standard : given[0]);
  }
  if (out.size() != n)
    fail("expected " + std::string(what) + " to be a single integer value or a list of " + str(n) +
         " values to match the convolution dimensions, but got " + what + "=" + out.str());
  return out;
}

/// One convolution's arguments after the checks that all forms share; the input has its batch dimension.
struct Arguments {
  std::string name;
  int n; // spatial dimensions
  Tensor input, weight, bias;
  Dims stride, padding, dilation;
  int64_t groups;
  bool batched;
};

void checkPositive(const Dims &values, int64_t least, const char *text) {
  for (int64_t v : values)
    if (v < least)
      fail(std::string(text) + ", got " + values.str());
}

void checkTypes(const Arguments &a) {
  if (a.weight->dtype != a.input->dtype)
    fail("Input type (" + std::string(torchName(a.input->dtype)) + ") and weight type (" +
         std::string(torchName(a.weight->dtype)) + ") should be the same");
  if (a.bias.defined() && a.bias->dtype != a.input->dtype)
    fail("Input type (" + std::string(torchName(a.input->dtype)) + ") and bias type (" +
         std::string(torchName(a.bias->dtype)) + ") should be the same");
}

/// `outputs` is the number of channels of the result.
void checkBias(const Arguments &a, int64_t outputs) {
  if (a.bias.defined() && (a.bias->rank != 1 || a.bias->sizes()[0] != outputs))
    fail("Given weight of size " + a.weight->dims().str() + ", expected bias to be 1-dimensional with " + str(outputs) +
         " elements, but got bias of size " + a.bias->dims().str() + " instead");
}

Arguments arguments(std::string name, int n, const Tensor &input, const Tensor &weight, const OptTensor &bias,
                    IntList stride, IntList padding, IntList dilation, int64_t groups) {
  if (input->rank != n + 1 && input->rank != n + 2)
    fail("Expected " + str(n + 1) + "D (unbatched) or " + str(n + 2) + "D (batched) input to " + name +
         ", but got input of size: " + input->dims().str());
  if (weight->rank != n + 2)
    fail(name + "(): expected a weight of " + str(n + 2) + " dimensions, but got weight of size " +
         weight->dims().str());
  Arguments a{std::move(name),
              n,
              input,
              weight,
              bias,
              perDimension(stride, n, 1, "stride"),
              perDimension(padding, n, 0, "padding"),
              perDimension(dilation, n, 1, "dilation"),
              groups,
              input->rank == n + 2};
  checkPositive(a.padding, 0, "negative padding is not supported");
  checkPositive(a.stride, 1, "non-positive stride is not supported");
  checkPositive(a.dilation, 1, "dilation should be greater than zero");
  if (groups < 1)
    fail("non-positive groups is not supported, got " + str(groups));
  if (weight->sizes()[0] < groups)
    fail("Given groups=" + str(groups) + ", expected weight to be at least " + str(groups) +
         " at dimension 0, but got weight of size " + weight->dims().str() + " instead");
  checkTypes(a);
  if (!a.batched) {
    Dims shape = input->dims();
    shape.insert(0, 1);
    a.input = reshaped(input, shape);
  }
  return a;
}

/// Adds the bias, once and in the op-math type, before the one rounding (N3, N6).
template <class F> Tensor withBias(const Arguments &a, F product) {
  DType type = a.input->dtype, compute = a.bias.defined() ? computeType(type) : type;
  Tensor y = product(as(a.input, compute), as(a.weight, compute));
  if (a.bias.defined()) {
    Dims shape;
    shape.resize(a.n + 1, 1);
    shape[0] = a.bias->numel;
    y = as(callOp(OpId::Add, {y, reshaped(as(a.bias, compute), shape)}), type);
  }
  if (a.batched)
    return y;
  Dims shape = y->dims();
  shape.erase(0);
  return reshaped(y, shape);
}

Tensor convolve(const Arguments &a) {
  checkBias(a, a.weight->sizes()[0]);
  return withBias(a, [&](const Tensor &x, const Tensor &w) {
    return callOp(OpId::Conv, {x, w}, {attr(a.stride), attr(a.padding), attr(a.dilation), Attr::integer(a.groups)});
  });
}

Tensor convNamed(const char *name, int n, const Tensor &input, const Tensor &weight, const OptTensor &bias,
                 IntList stride, std::string_view padding, IntList dilation, int64_t groups) {
  if (padding != "same" && padding != "valid")
    fail("Invalid padding string: '" + std::string(padding) + "'");
  Arguments a = arguments(name, n, input, weight, bias, stride, IntList(), dilation, groups);
  for (int i = 0; padding == "same" && i < n; i++) {
    if (a.stride[i] != 1)
      fail("padding='same' is not supported for strided convolutions");
    int64_t total = a.dilation[i] * std::max<int64_t>(a.weight->sizes()[i + 2] - 1, 0);
    a.padding[i] = total / 2;
    if (total % 2 == 0)
      continue;
    // One more +0 behind than in front.
    Dims shape = a.input->dims();
    shape[i + 2] = 1;
    Tensor parts[] = {a.input, fullTensor(shape, Scalar(0), a.input->dtype, a.input->device)};
    Operand operands[] = {Operand(parts[0]), Operand(parts[1])};
    Attr dim = Attr::integer(i + 2);
    a.input = callOpList(OpId::Cat, List<Operand>(operands, 2), List<Attr>(&dim, 1));
  }
  return convolve(a);
}

Tensor convPadded(const char *name, int n, const Tensor &input, const Tensor &weight, const OptTensor &bias,
                  IntList stride, IntList padding, IntList dilation, int64_t groups) {
  return convolve(arguments(name, n, input, weight, bias, stride, padding, dilation, groups));
}

Tensor convTransposed(const char *name, int n, const Tensor &input, const Tensor &weight, const OptTensor &bias,
                      IntList stride, IntList padding, IntList outputPadding, int64_t groups, IntList dilation) {
  Arguments a = arguments(name, n, input, weight, bias, stride, padding, dilation, groups);
  Dims extra = perDimension(outputPadding, n, 0, "output_padding"), size;
  checkPositive(extra, 0, "negative output_padding is not supported");
  if (a.input->sizes()[1] != a.weight->sizes()[0])
    fail("Given transposed=1, weight of size " + a.weight->dims().str() + ", expected input" + a.input->dims().str() +
         " to have " + str(a.weight->sizes()[0]) + " channels, but got " + str(a.input->sizes()[1]) +
         " channels instead");
  for (int i = 0; i < n; i++) {
    if (extra[i] >= std::max(a.stride[i], a.dilation[i]))
      fail("output padding must be smaller than either stride or dilation, but got output_padding " + extra.str() +
           ", stride " + a.stride.str() + ", dilation " + a.dilation.str());
    int64_t in = a.input->sizes()[i + 2], k = a.weight->sizes()[i + 2], spread, reach;
    if (__builtin_mul_overflow(in - 1, a.stride[i], &spread) || __builtin_mul_overflow(a.dilation[i], k - 1, &reach) ||
        a.padding[i] > windowLimit || spread > INT64_MAX / 4 || reach > INT64_MAX / 4)
      fail(a.name + "(): the output's size doesn't fit into 64 bits");
    size.push(spread - 2 * a.padding[i] + reach + extra[i] + 1);
  }
  for (int64_t v : size)
    if (v < 1)
      fail("Given input size per channel: " + a.input->dims().str() +
           ". Calculated output size per channel: " + size.str() + ". Output size is too small");
  checkBias(a, a.weight->sizes()[1] * groups);
  return withBias(a, [&](const Tensor &x, const Tensor &w) {
    return callOp(OpId::ConvInput, {x, w},
                  {attr(size), attr(a.stride), attr(a.padding), attr(a.dilation), Attr::integer(a.groups)});
  });
}

} // namespace

#define TORCHC_CONV(N)                                                                                                 \
  Tensor conv##N##dPadded(const Tensor &input, const Tensor &weight, const OptTensor &bias, IntList stride,            \
                          IntList padding, IntList dilation, int64_t groups) {                                         \
    return convPadded("conv" #N "d", N, input, weight, bias, stride, padding, dilation, groups);                       \
  }                                                                                                                    \
  Tensor conv##N##dNamed(const Tensor &input, const Tensor &weight, const OptTensor &bias, IntList stride,             \
                         std::string_view padding, IntList dilation, int64_t groups) {                                 \
    return convNamed("conv" #N "d", N, input, weight, bias, stride, padding, dilation, groups);                        \
  }                                                                                                                    \
  Tensor convTranspose##N##d(const Tensor &input, const Tensor &weight, const OptTensor &bias, IntList stride,         \
                             IntList padding, IntList outputPadding, int64_t groups, IntList dilation) {               \
    return convTransposed("conv_transpose" #N "d", N, input, weight, bias, stride, padding, outputPadding, groups,     \
                          dilation);                                                                                   \
  }
TORCHC_CONV(1)
TORCHC_CONV(2)
TORCHC_CONV(3)
#undef TORCHC_CONV

} // namespace torchc::composite
