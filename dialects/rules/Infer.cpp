#include "dialects/rules/Infer.h"
#include "dialects/rules/InferWindow.h"
#include <algorithm>

namespace torchc {
namespace {

std::string str(int64_t v) { return std::to_string(v); }
std::string quoted(std::string_view s) { return "'" + std::string(s) + "'"; }

/// What the rules see of one call.
struct Call {
  const OpInfo &info;
  const OperandType *in;
  int n;
  const Attr *attrs;
  DType defaultDType;
  TensorType &out;
  Diag &diag;

  const Dims &dims(int i) const { return *in[i].dims; }
  std::string name() const { return std::string(info.name) + "()"; }
  bool fail(ErrorKind k, std::string text) const { return diag.fail(k, name() + ": " + std::move(text)); }
  Dims list(int i) const { return Dims(attrs[i].list, int(attrs[i].size)); }
};

bool inferBroadcast(const Call &c) {
  c.out.dtype = promote(c.info.promote, c.in, c.n, c.defaultDType).result;
  Dims shape;
  for (int i = 0; i < c.n; i++) {
    if (c.in[i].isNumber)
      continue;
    Dims next;
    if (!broadcastShapes(shape, c.dims(i), next, c.diag))
      return false;
    shape = next;
  }
  c.out.dims = shape;
  return true;
}

bool inferCast(const Call &c) {
  c.out.dtype = c.attrs[0].asDType();
  c.out.dims = c.dims(0);
  return true;
}

bool inferReduce(const Call &c) {
  const Dims &x = c.dims(0);
  Dims dims = c.list(0);
  bool keep = c.attrs[1].i;
  bool reduced[maxRank] = {};
  int64_t last = -1;
  for (int64_t d : dims) {
    if (d <= last || d >= std::max(x.size(), 1))
      return c.fail(ErrorKind::Index, "expected ascending axes below " + str(x.size()) + ", got " + dims.str());
    last = d;
    if (x.size())
      reduced[d] = true;
  }
  for (int i = 0; i < x.size(); i++) {
    if (!reduced[i])
      c.out.dims.push(x[i]);
    else if (keep)
      c.out.dims.push(1);
  }
  // Sums and products of integers and bool are int64 (N4); other reductions keep the type.
  const Body &body = c.info.bodies[int(BodyClass::Int)];
  BodyOp combines = body.numNodes ? body.nodes[body.numNodes - 1].op : BodyOp::Add;
  bool sums = combines == BodyOp::Add || combines == BodyOp::Mul;
  bool integral = category(c.in[0].dtype) < 2;
  c.out.dtype = sums && integral ? DType::I64 : c.in[0].dtype;
  return true;
}

bool inferArgReduce(const Call &c) {
  if (!inferReduce(c))
    return false;
  c.out.dtype = DType::I64;
  return true;
}

bool sameDType(const Call &c) {
  if (c.in[0].dtype == c.in[1].dtype)
    return true;
  return c.fail(ErrorKind::Runtime, "expected both operands to have the same dtype, got " +
                                        std::string(torchName(c.in[0].dtype)) + " and " +
                                        std::string(torchName(c.in[1].dtype)));
}

bool inferMatmul(const Call &c) {
  const Dims &x = c.dims(0), &y = c.dims(1);
  int r = x.size();
  if (r < 2 || y.size() != r)
    return c.fail(ErrorKind::Runtime,
                  "expected two operands of one rank of at least 2, got shapes " + x.str() + " and " + y.str());
  if (!sameDType(c))
    return false;
  for (int i = 0; i < r - 2; i++)
    if (x[i] != y[i])
      return c.fail(ErrorKind::Runtime, "batch dimensions differ in shapes " + x.str() + " and " + y.str());
  if (x[r - 1] != y[r - 2])
    return c.fail(ErrorKind::Runtime, "mat1 and mat2 shapes cannot be multiplied (" + str(x[r - 2]) + "x" +
                                          str(x[r - 1]) + " and " + str(y[r - 2]) + "x" + str(y[r - 1]) + ")");
  c.out.dtype = c.in[0].dtype;
  c.out.dims = x;
  c.out.dims[r - 1] = y[r - 1];
  if (c.n > 2 && !(c.dims(2) == c.out.dims))
    return c.fail(ErrorKind::Runtime, "expected a start of shape " + c.out.dims.str() + ", got " + c.dims(2).str());
  return true;
}

bool inferDot(const Call &c) {
  const Dims &x = c.dims(0), &y = c.dims(1);
  if (x.size() != 1 || y.size() != 1)
    return c.fail(ErrorKind::Runtime,
                  "1D tensors expected, but got " + str(x.size()) + "D and " + str(y.size()) + "D tensors");
  if (!sameDType(c))
    return false;
  if (x[0] != y[0])
    return c.fail(ErrorKind::Runtime,
                  "inconsistent tensor size, expected tensors of equal length, got " + str(x[0]) + " and " + str(y[0]));
  c.out.dtype = c.in[0].dtype;
  return true;
}

bool inferReshapeOp(const Call &c) {
  c.out.dtype = c.in[0].dtype;
  return inferReshape(c.dims(0), c.attrs[0].list, int(c.attrs[0].size), c.out.dims, c.diag);
}

bool inferTranspose(const Call &c) {
  int64_t a, b;
  if (!wrapDim(c.attrs[0].i, c.dims(0).size(), a, c.diag) || !wrapDim(c.attrs[1].i, c.dims(0).size(), b, c.diag))
    return false;
  c.out.dtype = c.in[0].dtype;
  c.out.dims = c.dims(0);
  if (c.out.dims.size())
    std::swap(c.out.dims[int(a)], c.out.dims[int(b)]);
  return true;
}

bool inferExpandOp(const Call &c) {
  c.out.dtype = c.in[0].dtype;
  return inferExpand(c.dims(0), c.attrs[0].list, int(c.attrs[0].size), c.out.dims, c.diag);
}

/// The extent of [start, stop) by step, after checking it against the dimension's size.
bool sliceExtent(const Call &c, const Attr *a, const Dims &x, int64_t &dim, int64_t &extent) {
  if (x.empty())
    return c.fail(ErrorKind::Index, "a 0-dim tensor has no dimension to slice");
  if (!wrapDim(a[0].i, x.size(), dim, c.diag))
    return false;
  int64_t start = a[1].i, stop = a[2].i, step = a[3].i;
  if (start < 0 || stop < start || stop > x[int(dim)] || step < 1)
    return c.fail(ErrorKind::Value, "expected 0 <= start <= stop <= " + str(x[int(dim)]) + " and step >= 1, got " +
                                        str(start) + ":" + str(stop) + ":" + str(step));
  extent = sliceCount(start, stop, step);
  return true;
}

bool inferSlice(const Call &c) {
  int64_t dim, extent;
  if (!sliceExtent(c, c.attrs, c.dims(0), dim, extent))
    return false;
  c.out.dtype = c.in[0].dtype;
  c.out.dims = c.dims(0);
  c.out.dims[int(dim)] = extent;
  return true;
}

bool inferSliceUpdate(const Call &c) {
  int64_t dim, extent;
  if (!sliceExtent(c, c.attrs, c.dims(0), dim, extent) || !sameDType(c))
    return false;
  Dims want = c.dims(0);
  want[int(dim)] = extent;
  if (!(want == c.dims(1)))
    return c.fail(ErrorKind::Runtime, "expected an update of shape " + want.str() + ", got " + c.dims(1).str());
  c.out.dtype = c.in[0].dtype;
  c.out.dims = c.dims(0);
  return true;
}

bool inferCat(const Call &c) {
  if (c.n == 0)
    return c.fail(ErrorKind::Value, "expected a non-empty list of Tensors");
  int first = 0;
  // A 1-D tensor without elements is skipped, as in PyTorch.
  auto skipped = [&](int i) { return c.dims(i).size() == 1 && c.dims(i)[0] == 0; };
  while (first < c.n - 1 && skipped(first))
    first++;
  const Dims &base = c.dims(first);
  if (base.empty())
    return c.fail(ErrorKind::Runtime,
                  "zero-dimensional tensor (at position " + str(first) + ") cannot be concatenated");
  int64_t dim;
  if (!wrapDim(c.attrs[0].i, base.size(), dim, c.diag))
    return false;
  int64_t total = 0;
  for (int i = 0; i < c.n; i++) {
    if (skipped(i) && base.size() != 1)
      continue;
    const Dims &x = c.dims(i);
    Dims compare = x;
    if (x.size() == base.size())
      compare[int(dim)] = base[int(dim)];
    if (!(compare == base))
      return c.fail(ErrorKind::Runtime, "Sizes of tensors must match except in dimension " + str(dim) + ": expected " +
                                            base.str() + " but got " + x.str() + " for tensor number " + str(i) +
                                            " in the list");
    if (__builtin_add_overflow(total, x[int(dim)], &total))
      return c.fail(ErrorKind::Runtime, "the sizes in dimension " + str(dim) + " add up to more than 64 bits hold");
  }
  c.out.dtype = promote(Promote::Common, c.in, c.n, c.defaultDType).result;
  c.out.dims = base;
  c.out.dims[int(dim)] = total;
  return true;
}

bool indexDType(const Call &c, int operand) {
  DType t = c.in[operand].dtype;
  if (t == DType::I64 || t == DType::I32)
    return true;
  return c.fail(ErrorKind::Runtime, "expected dtype int32 or int64 for index, got " + std::string(torchName(t)));
}

bool inferIndexSelect(const Call &c) {
  int64_t dim;
  if (!wrapDim(c.attrs[0].i, c.dims(0).size(), dim, c.diag) || !indexDType(c, 1))
    return false;
  if (c.dims(1).size() > 1)
    return c.fail(ErrorKind::Index, "Index is supposed to be a vector, got shape " + c.dims(1).str());
  if (!c.dims(0).size() && c.dims(1).numel() != 1)
    return c.fail(ErrorKind::Runtime,
                  "Index to scalar can have only 1 value, got " + std::to_string(c.dims(1).numel()) + " value(s)");
  c.out.dtype = c.in[0].dtype;
  c.out.dims = c.dims(0);
  if (c.out.dims.size())
    c.out.dims[int(dim)] = c.dims(1).numel();
  return true;
}

bool inferIndexUpdate(const Call &c) {
  int64_t dim;
  const Dims &x = c.dims(0), &index = c.dims(1), &source = c.dims(2);
  if (!wrapDim(c.attrs[0].i, x.size(), dim, c.diag) || !indexDType(c, 1))
    return false;
  if (index.size() > 1)
    return c.fail(ErrorKind::Index, "Index is supposed to be a vector, got shape " + index.str());
  if (c.in[0].dtype != c.in[2].dtype)
    return c.fail(ErrorKind::Runtime, "self and source expected to have the same dtype, but got (self) " +
                                          std::string(torchName(c.in[0].dtype)) + " and (source) " +
                                          std::string(torchName(c.in[2].dtype)));
  Dims want = x;
  if (want.size())
    want[int(dim)] = index.numel();
  if (!(want == source) && !(want.size() == 0 && source.numel() == 1 && index.numel() == 1))
    return c.fail(source.size() && want.size() && source[std::min<int>(int(dim), source.size() - 1)] != index.numel()
                      ? ErrorKind::Index
                      : ErrorKind::Runtime,
                  "expected source of shape " + want.str() + ", got " + source.str());
  c.out.dtype = c.in[0].dtype;
  c.out.dims = x;
  return true;
}

bool inferGather(const Call &c) {
  int64_t dim;
  const Dims &x = c.dims(0), &index = c.dims(1);
  if (!wrapDim(c.attrs[0].i, x.size(), dim, c.diag) || (index.numel() && !indexDType(c, 1)))
    return false;
  if (index.numel() && std::max(x.size(), 1) != std::max(index.size(), 1))
    return c.fail(ErrorKind::Runtime, "Index tensor must have the same number of dimensions as input tensor, got " +
                                          index.str() + " and " + x.str());
  for (int i = 0; index.numel() && i < index.size() && x.size(); i++)
    if (i != dim && index[i] > x[i])
      return c.fail(ErrorKind::Runtime, "Size does not match at dimension " + str(i) + " expected index " +
                                            index.str() + " to be no larger than self " + x.str() +
                                            " apart from dimension " + str(dim));
  c.out.dtype = c.in[0].dtype;
  c.out.dims = index;
  return true;
}

bool inferScatter(const Call &c) {
  int64_t dim;
  const Dims &x = c.dims(0), &index = c.dims(1);
  if (!wrapDim(c.attrs[0].i, x.size(), dim, c.diag) || !indexDType(c, 1))
    return false;
  if (!c.in[2].isNumber) {
    const Dims &source = c.dims(2);
    if (c.in[0].dtype != c.in[2].dtype)
      return c.fail(ErrorKind::Runtime, "Expected self.dtype to be equal to src.dtype, got " +
                                            std::string(torchName(c.in[0].dtype)) + " and " +
                                            std::string(torchName(c.in[2].dtype)));
    if (index.numel() && std::max(source.size(), 1) != std::max(index.size(), 1))
      return c.fail(ErrorKind::Runtime, "Index tensor must have the same number of dimensions as src tensor");
    for (int i = 0; index.numel() && i < index.size() && source.size(); i++)
      if (index[i] > source[i])
        return c.fail(ErrorKind::Runtime,
                      "Expected index " + index.str() + " to be no larger than src " + source.str());
  }
  if (index.numel() && std::max(x.size(), 1) != std::max(index.size(), 1))
    return c.fail(ErrorKind::Runtime, "Index tensor must have the same number of dimensions as self tensor");
  for (int i = 0; index.numel() && i < index.size() && x.size(); i++)
    if (i != dim && index[i] > x[i])
      return c.fail(ErrorKind::Runtime, "Expected index " + index.str() + " to be no larger than self " + x.str() +
                                            " apart from dimension " + str(dim));
  c.out.dtype = c.in[0].dtype;
  c.out.dims = x;
  return true;
}

bool inferFull(const Call &c) {
  c.out.dims = c.list(0);
  c.out.dtype = c.attrs[2].asDType();
  return true;
}

bool inferArange(const Call &c) {
  if (c.attrs[0].i < 0)
    return c.fail(ErrorKind::Runtime, "expected a size of at least 0, got " + str(c.attrs[0].i));
  c.out.dims.push(c.attrs[0].i);
  c.out.dtype = c.attrs[3].asDType();
  return true;
}

bool inferRandom(const Call &c) {
  if (c.in[0].dtype != DType::I64 || c.dims(0).numel() != 2)
    return c.fail(ErrorKind::Runtime, "expected a generator state of two int64, got " +
                                          quoted(torchName(c.in[0].dtype)) + " " + c.dims(0).str());
  c.out.dims = c.list(0);
  c.out.dtype = c.attrs[1].asDType();
  if (!isFloat(c.out.dtype))
    return c.fail(ErrorKind::NotImplemented, "not implemented for " + quoted(torchName(c.out.dtype)));
  return true;
}

bool inferLike(const Call &c) {
  int64_t dim;
  if (!wrapDim(c.attrs[0].i, c.dims(0).size(), dim, c.diag))
    return false;
  c.out.dtype = promote(c.info.promote, c.in, c.n, c.defaultDType).result;
  c.out.dims = c.dims(0);
  return true;
}

bool inferRandomInt(const Call &c) {
  c.out.dims = c.list(0);
  c.out.dtype = c.attrs[1].asDType();
  if (c.in[0].dtype != DType::I64 || c.dims(0).numel() != 4 || c.out.dtype != DType::I64)
    return c.fail(ErrorKind::Runtime, "expected a state of four int64 and the type int64");
  return true;
}

bool ordered(const Call &c, ErrorKind kind = ErrorKind::NotImplemented) {
  if (!isComplex(c.in[0].dtype))
    return true;
  return c.fail(kind, "complex numbers have no order, got " + std::string(torchName(c.in[0].dtype)));
}

bool inferSort(const Call &c) {
  int64_t dim, count = c.attrs[2].i;
  const Dims &x = c.dims(0);
  if (!wrapDim(c.attrs[0].i, x.size(), dim, c.diag) || !ordered(c, ErrorKind::Type))
    return false;
  if (count < 0 || count > (x.size() ? x[int(dim)] : 1))
    return c.fail(ErrorKind::Runtime, "selected index " + str(count) + " out of range for a dimension of size " +
                                          str(x.size() ? x[int(dim)] : 1));
  c.out.dtype = DType::I64;
  c.out.dims = x;
  if (x.size())
    c.out.dims[int(dim)] = count;
  return true;
}

bool inferMode(const Call &c) {
  int64_t dim;
  const Dims &x = c.dims(0);
  if (!wrapDim(c.attrs[0].i, x.size(), dim, c.diag) || !ordered(c))
    return false;
  if (x.size() && !x[int(dim)])
    return c.fail(ErrorKind::Index, "Expected reduction dim " + str(dim) + " to have non-zero size.");
  c.out.dtype = DType::I64;
  c.out.dims = x;
  if (x.size())
    c.out.dims[int(dim)] = 1;
  return true;
}

bool inferSearch(const Call &c) {
  const Dims &sorted = c.dims(0), &values = c.dims(1);
  if (!sameDType(c) || !ordered(c))
    return false;
  bool rows = sorted.size() == values.size();
  for (int i = 0; i + 1 < sorted.size() && rows; i++)
    rows = sorted[i] == values[i];
  if (sorted.size() != 1 && !(rows && sorted.size()))
    return c.fail(ErrorKind::Runtime,
                  "expected boundaries of one dimension, or of the values' leading dimensions, got " + sorted.str() +
                      " and values " + values.str());
  c.out.dtype = DType::I64;
  c.out.dims = values;
  return true;
}

bool inferAsStrided(const Call &c) {
  Dims sizes = c.list(0), strides = c.list(1);
  if (sizes.size() != strides.size())
    return c.fail(ErrorKind::Runtime,
                  "mismatch in length of strides and shape: " + strides.str() + " and " + sizes.str());
  for (int i = 0; i < sizes.size(); i++)
    if (sizes[i] < 0 || strides[i] < 0)
      return c.fail(ErrorKind::Runtime, "Negative sizes and strides are not supported, got sizes " + sizes.str() +
                                            " and strides " + strides.str());
  c.out.dtype = c.in[0].dtype;
  c.out.dims = sizes;
  return true;
}

bool inferAsStridedUpdate(const Call &c) {
  if (!inferAsStrided(c) || !sameDType(c))
    return false;
  if (!(c.out.dims == c.dims(1)))
    return c.fail(ErrorKind::Runtime, "expected an update of shape " + c.out.dims.str() + ", got " + c.dims(1).str());
  c.out.dims = c.dims(0);
  return true;
}

bool inferRealParts(const Call &c) {
  if (!isComplex(c.in[0].dtype))
    return c.fail(ErrorKind::Type, "expected a complex tensor, got " + std::string(torchName(c.in[0].dtype)));
  if (c.dims(0).size() == maxRank)
    return c.fail(ErrorKind::Runtime, "expected at most " + str(maxRank - 1) + " dimensions, got " + str(maxRank));
  c.out.dtype = realType(c.in[0].dtype);
  c.out.dims = c.dims(0);
  c.out.dims.push(2);
  return true;
}

bool inferComplexPairs(const Call &c) {
  const Dims &x = c.dims(0);
  if (c.in[0].dtype != DType::F32 && c.in[0].dtype != DType::F64)
    return c.fail(ErrorKind::NotImplemented,
                  "expected a tensor of float32 or float64, got " + std::string(torchName(c.in[0].dtype)));
  if (x.empty() || x.back() != 2)
    return c.fail(ErrorKind::Runtime, "Tensor must have a last dimension of size 2, got shape " + x.str());
  c.out.dtype = complexType(c.in[0].dtype);
  c.out.dims = Dims(x.data(), x.size() - 1);
  return true;
}

bool inferWindowOp(const Call &c) { return inferWindow(c.info, c.in, c.attrs, c.out, c.diag); }

/// Running sums and products of integers and bool are int64 (N4), as are indices.
bool inferScan(const Call &c) {
  const Body &body = c.info.bodies[int(BodyClass::F32)];
  BodyOp last = body.nodes[body.numNodes - 1].op;
  bool keeps = isDifferentiable(c.in[0].dtype) && (last == BodyOp::Add || last == BodyOp::Mul);
  c.out.dims = c.dims(0);
  c.out.dtype = keeps ? c.in[0].dtype : DType::I64;
  int rank = std::max(c.dims(0).size(), 1);
  if (c.attrs[0].i < 0 || c.attrs[0].i >= rank)
    return c.fail(ErrorKind::Index, "expected a dimension below " + str(rank) + ", got " + str(c.attrs[0].i));
  return true;
}

/// Query [..., L, D], key [..., S, D], value [..., S, V]: one rank of at least 2, equal leading sizes.
bool inferAttention(const Call &c) {
  const Dims &q = c.dims(0), &k = c.dims(1), &v = c.dims(2);
  int r = q.size();
  bool fits = r >= 2 && k.size() == r && v.size() == r && q[r - 1] == k[r - 1] && k[r - 2] == v[r - 2];
  for (int i = 0; fits && i < r - 2; i++)
    fits = q[i] == k[i] && q[i] == v[i];
  if (!fits)
    return c.fail(ErrorKind::Runtime, "expected query [..., L, D], key [..., S, D] and value [..., S, V], got " +
                                          q.str() + ", " + k.str() + " and " + v.str());
  c.out.dims = q;
  c.out.dims[r - 1] = v[r - 1];
  c.out.dtype = c.in[0].dtype;
  return true;
}

/// Parameters have the sizes of the input along `axes`.
bool inferNorm(const Call &c) {
  const Dims &x = c.dims(0);
  Dims axes = c.list(0), sizes;
  int64_t last = -1;
  for (int64_t d : axes) {
    if (d <= last || d >= x.size())
      return c.fail(ErrorKind::Index, "expected ascending axes below " + str(x.size()) + ", got " + axes.str());
    last = d;
    sizes.push(x[int(d)]);
  }
  for (int i = 1; i < c.n; i++)
    if (!(c.dims(i) == sizes))
      return c.fail(ErrorKind::Runtime, "expected " + std::string(c.info.operands[i]) + " of shape " + sizes.str() +
                                            ", got " + c.dims(i).str());
  c.out.dtype = promote(c.info.promote, c.in, c.n, c.defaultDType).result;
  c.out.dims = x;
  return true;
}

using Rule = bool (*)(const Call &);
// In the order of enum ShapeRule.
constexpr Rule rules[] = {
    inferBroadcast,    inferCast,        inferReduce,          inferArgReduce, inferMatmul,      inferDot,
    inferReshapeOp,    inferTranspose,   inferExpandOp,        inferSlice,     inferSliceUpdate, inferCat,
    inferIndexSelect,  inferIndexUpdate, inferGather,          inferScatter,   inferFull,        inferArange,
    inferRandom,       inferLike,        inferRandomInt,       inferSort,      inferMode,        inferSearch,
    inferWindowOp,     inferWindowOp,    inferWindowOp,        inferWindowOp,  inferWindowOp,    inferWindowOp,
    inferWindowOp,     inferAsStrided,   inferAsStridedUpdate, inferScan,      inferAttention,   inferRealParts,
    inferComplexPairs, inferNorm};

const char *attrKind(AttrTag tag) {
  constexpr const char *names[] = {"a number", "a bool",   "an int",         "a float",  "a string",
                                   "a dtype",  "a device", "a list of ints", "an input", "a graph"};
  return names[int(tag)];
}

bool isNumber(AttrTag tag) { return tag == AttrTag::Bool || tag == AttrTag::Int || tag == AttrTag::Float; }

} // namespace

bool checkAttrs(const OpInfo &info, const Attr *attrs, int n, Diag &diag) {
  auto expected = [&](int i, std::string text) {
    return std::string(info.name) + "(): expected " + text + " for " + info.attrs[i].name + ", got ";
  };
  if (n != info.numAttrs)
    return diag.fail(ErrorKind::Internal,
                     std::string(info.name) + "(): expected " + str(info.numAttrs) + " attributes, got " + str(n));
  for (int i = 0; i < n; i++) {
    AttrTag want = info.attrs[i].tag, have = attrs[i].tag;
    if (want == AttrTag::None ? !isNumber(have) : have != want)
      return diag.fail(ErrorKind::Type,
                       expected(i, attrKind(want)) + (have == AttrTag::None ? "none" : attrKind(have)));
    if (have == AttrTag::IntList && attrs[i].size > uint32_t(maxRank))
      return diag.fail(ErrorKind::Runtime, expected(i, "at most " + str(maxRank) + " numbers") + str(attrs[i].size));
  }
  return true;
}

bool stridedWithin(int64_t numel, const Attr *attrs) {
  int64_t last = attrs[2].i, reach;
  if (attrs[0].size != attrs[1].size || last < 0)
    return false;
  for (uint32_t i = 0; i < attrs[0].size; i++)
    if (attrs[0].list[i] == 0)
      return true;
  for (uint32_t i = 0; i < attrs[0].size; i++)
    if (attrs[0].list[i] < 0 || attrs[1].list[i] < 0 ||
        __builtin_mul_overflow(attrs[0].list[i] - 1, attrs[1].list[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  return last < numel;
}

bool inferOp(OpId id, const OperandType *operands, int n, const Attr *attrs, int numAttrs, DType defaultDType,
             TensorType &out, Diag &diag) {
  const OpInfo &info = opInfo(id);
  out.dims = Dims();
  if (!(info.flags & OpVariadic) && n != info.numOperands)
    return diag.fail(ErrorKind::Internal,
                     std::string(info.name) + "(): expected " + str(info.numOperands) + " operands, got " + str(n));
  if (!checkAttrs(info, attrs, numAttrs, diag))
    return false;
  for (int i = 0; i < n; i++)
    if (operands[i].isNumber && info.shape != ShapeRule::Broadcast && !(info.shape == ShapeRule::Scatter && i == 2))
      return diag.fail(ErrorKind::Type,
                       std::string(info.name) + "(): expected tensors, got a number as operand " + str(i));
  // Broadcasting can give more elements than can be counted; nothing after this asks again.
  int64_t numel;
  return rules[int(info.shape)](Call{info, operands, n, attrs, defaultDType, out, diag}) &&
         checkedNumel(out.dims, numel, diag) && checkStored(info, operands, n, defaultDType, out.dtype, diag);
}

} // namespace torchc
