#include "dialects/rules/InferWindow.h"
#include "dialects/rules/WindowAttrs.h"

namespace torchc {
namespace {

std::string str(int64_t v) { return std::to_string(v); }

struct WindowCall {
  const OpInfo &info;
  const OperandType *in;
  const Attr *attrs;
  TensorType &out;
  Diag &diag;

  const Dims &dims(int i) const { return *in[i].dims; }
  bool fail(std::string text) const {
    return diag.fail(ErrorKind::Runtime, std::string(info.name) + "(): " + std::move(text));
  }
  Dims list(int i) const { return Dims(attrs[i].list, int(attrs[i].size)); }
};

/// Each list has an entry per spatial dimension, none below `least`.
bool checkList(const WindowCall &c, int attr, int n, int64_t least) {
  Dims list = c.list(attr);
  if (list.size() != n)
    return c.fail("expected " + str(n) + " values for " + c.info.attrs[attr].name + ", got " + list.str());
  for (int64_t v : list)
    if (v < least || ((least > 0 || attr > 0) && v > windowLimit))
      return c.fail("expected values from " + str(least) + " to " + str(windowLimit) + " for " +
                    c.info.attrs[attr].name + ", got " + list.str());
  return true;
}

/// The shapes of x, w and y of a convolution, as far as the op at hand has them; the rest follows from `size`.
struct ConvShapes {
  Dims x, w, y;
};

/// Checks all but the operands' own agreement. `first`: the attribute that holds the stride.
bool checkConv(const WindowCall &c, const ConvShapes &s, int first) {
  int n = s.w.size() - 2;
  int64_t groups = c.attrs[first + 3].i;
  if (!checkList(c, first, n, 1) || !checkList(c, first + 1, n, 0) || !checkList(c, first + 2, n, 1))
    return false;
  if (groups < 1)
    return c.fail("non-positive groups is not supported, got " + str(groups));
  if (s.w[0] % groups)
    return c.fail("Given groups=" + str(groups) + ", expected weight to be divisible by " + str(groups) +
                  " at dimension 0, but got weight of size " + s.w.str());
  if (s.x[1] != s.w[1] * groups)
    return c.fail("Given groups=" + str(groups) + ", weight of size " + s.w.str() + ", expected input" + s.x.str() +
                  " to have " + str(s.w[1] * groups) + " channels, but got " + str(s.x[1]) + " channels instead");
  if (s.y[1] != s.w[0] || s.y[0] != s.x[0])
    return c.fail("expected an output for " + str(s.x[0]) + " samples of " + str(s.w[0]) + " channels, got shape " +
                  s.y.str());
  for (int i = 0; i < n; i++) {
    int64_t k = s.w[i + 2], p = c.attrs[first + 1].list[i], d = c.attrs[first + 2].list[i];
    int64_t most = k < 1 ? 0 : rules::convExtent(s.x[i + 2], k, c.attrs[first].list[i], p, d);
    if (most < 1)
      return c.fail("Kernel size can't be greater than actual input size: the padded input has " +
                    str(s.x[i + 2] + 2 * p) + " elements in dimension " + str(i + 2) + ", the kernel needs " +
                    str(d * (k - 1) + 1));
    if (s.y[i + 2] > most)
      return c.fail("expected at most " + str(most) + " outputs in dimension " + str(i + 2) + ", got " +
                    str(s.y[i + 2]));
  }
  return true;
}

/// Both operands of one type and of a rank for 1 to 3 spatial dimensions.
bool checkOperands(const WindowCall &c) {
  if (c.in[0].dtype != c.in[1].dtype)
    return c.fail("expected operands of one dtype, got " + std::string(torchName(c.in[0].dtype)) + " and " +
                  std::string(torchName(c.in[1].dtype)));
  int rank = c.dims(0).size();
  if (rank < 3 || rank > 2 + maxSpatial || c.dims(1).size() != rank)
    return c.fail("expected two operands of one rank from 3 to 5, got shapes " + c.dims(0).str() + " and " +
                  c.dims(1).str());
  return true;
}

/// [a, b, size...], the sizes checked.
bool sized(const WindowCall &c, int64_t a, int64_t b, Dims &out) {
  if (!checkList(c, 0, c.dims(0).size() - 2, 0))
    return false;
  out = Dims{a, b};
  for (int64_t v : c.list(0))
    out.push(v);
  return true;
}

bool inferConv(const WindowCall &c) {
  if (!checkOperands(c))
    return false;
  ConvShapes s{c.dims(0), c.dims(1), Dims{c.dims(0)[0], c.dims(1)[0]}};
  int n = s.x.size() - 2;
  if (!checkList(c, 0, n, 1) || !checkList(c, 1, n, 0) || !checkList(c, 2, n, 1))
    return false;
  for (int i = 0; i < n; i++)
    s.y.push(rules::convExtent(s.x[i + 2], s.w[i + 2], c.attrs[0].list[i], c.attrs[1].list[i], c.attrs[2].list[i]));
  if (!checkConv(c, s, 0))
    return false;
  c.out.dims = s.y;
  return true;
}

bool inferConvInput(const WindowCall &c) {
  if (!checkOperands(c))
    return false;
  ConvShapes s{Dims(), c.dims(1), c.dims(0)};
  if (c.attrs[4].i < 1)
    return c.fail("non-positive groups is not supported, got " + str(c.attrs[4].i));
  if (!sized(c, s.y[0], s.w[1] * c.attrs[4].i, s.x) || !checkConv(c, s, 1))
    return false;
  c.out.dims = s.x;
  return true;
}

bool inferConvWeight(const WindowCall &c) {
  if (!checkOperands(c))
    return false;
  ConvShapes s{c.dims(0), Dims(), c.dims(1)};
  int64_t groups = c.attrs[4].i;
  if (groups < 1 || s.x[1] % groups)
    return c.fail("expected a number of groups that divides " + str(s.x[1]) + " channels, got " + str(groups));
  if (!sized(c, s.y[1], s.x[1] / groups, s.w) || !checkConv(c, s, 1))
    return false;
  c.out.dims = s.w;
  return true;
}

/// `x` is the pool's input and `y` its output.
bool checkPool(const WindowCall &c, const Dims &x, const Dims &y, bool isMean) {
  int n = y.size();
  bool adaptive = c.attrs[1].size == 0;
  if (n < 1 || n > maxSpatial || x.size() < n)
    return c.fail("expected windows over 1 to 3 of the dimensions of " + x.str() + ", got output size " + y.str());
  if (adaptive) {
    for (int i = 0; i < n; i++)
      if (x[x.size() - n + i] < 1 && y[i] > 0)
        return c.fail("expected dimensions with elements, got shape " + x.str());
    return true;
  }
  if (!checkList(c, 1, n, 1) || !checkList(c, 2, n, 1) || !checkList(c, 3, n, 0) || (!isMean && !checkList(c, 4, n, 1)))
    return false;
  for (int i = 0; i < n; i++) {
    int64_t in = x[x.size() - n + i], kernel = c.attrs[1].list[i], stride = c.attrs[2].list[i],
            pad = c.attrs[3].list[i], dilation = isMean ? 1 : c.attrs[4].list[i];
    if (pad > (dilation * (kernel - 1) + 1) / 2)
      return c.fail("pad should be at most half of effective kernel size, but got pad=" + str(pad) +
                    ", kernel_size=" + str(kernel) + " and dilation=" + str(dilation));
    // Every window has an element: the last one starts inside the input or its left padding.
    if (y[i] < 0 || (y[i] > 0 && (in < 1 || y[i] - 1 > (in + pad - 1) / stride)))
      return c.fail("windows of size " + str(kernel) + " don't give " + str(y[i]) + " outputs for " + str(in) +
                    " elements");
  }
  return true;
}

bool inferPool(const WindowCall &c) {
  Dims x = c.dims(0), y = c.list(0);
  if (!checkPool(c, x, y, rules::poolsMeans(c.info)))
    return false;
  c.out.dims = x;
  for (int i = 0; i < y.size(); i++)
    c.out.dims[x.size() - y.size() + i] = y[i];
  return true;
}

/// The cotangent has the shape that the pool of x has.
bool inferPoolScatter(const WindowCall &c) {
  const Dims &y = c.dims(0), &x = c.dims(1);
  Dims size = c.list(0), want = x;
  if (c.in[0].dtype != c.in[1].dtype)
    return c.fail("expected operands of one dtype, got " + std::string(torchName(c.in[0].dtype)) + " and " +
                  std::string(torchName(c.in[1].dtype)));
  if (!checkPool(c, x, size, false))
    return false;
  for (int i = 0; i < size.size(); i++)
    want[x.size() - size.size() + i] = size[i];
  if (!(y == want))
    return c.fail("expected a cotangent of shape " + want.str() + ", got " + y.str());
  c.out.dims = x;
  return true;
}

bool inferPoolInput(const WindowCall &c) {
  Dims y = c.dims(0), size = c.list(0), x = y;
  int n = size.size();
  if (n < 1 || n > y.size())
    return c.fail("expected a size for 1 to 3 of the dimensions of " + y.str() + ", got " + size.str());
  for (int i = 0; i < n; i++)
    x[y.size() - n + i] = size[i];
  if (!checkPool(c, x, Dims(y.data() + y.size() - n, n), true))
    return false;
  c.out.dims = x;
  return true;
}

} // namespace

bool inferWindow(const OpInfo &info, const OperandType *in, const Attr *attrs, TensorType &out, Diag &diag) {
  WindowCall c{info, in, attrs, out, diag};
  out.dtype = info.shape == ShapeRule::PoolIndex ? DType::I64 : in[0].dtype;
  switch (info.shape) {
  case ShapeRule::Conv: return inferConv(c);
  case ShapeRule::ConvInput: return inferConvInput(c);
  case ShapeRule::ConvWeight: return inferConvWeight(c);
  case ShapeRule::PoolScatter: return inferPoolScatter(c);
  case ShapeRule::PoolInput: return inferPoolInput(c);
  default: return inferPool(c);
  }
}

} // namespace torchc
