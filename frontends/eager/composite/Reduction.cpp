// API of reductions: `dim=` in all its forms, types, and what is made of several primitives.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Blocks.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/composite/Arith.h"
#include <algorithm>
#include <cstring>
#include <limits>

namespace torchc::composite {
using namespace arith;

namespace {

int64_t countOf(const Tensor &x, const Dims &axes) {
  int64_t n = 1;
  for (int64_t a : axes)
    n *= x->sizes()[a];
  return n;
}

Tensor reduce(OpId op, const Tensor &x, const Dims &axes, bool keepdim) {
  return callOp(op, {x}, {attr(axes), Attr::boolean(keepdim)});
}

/// What sums and products of x read: uint16, uint32 and uint64 as int64, the result's type.
Tensor added(const Tensor &x, std::optional<DType> dtype) {
  return dtype ? as(x, *dtype) : isWideUnsigned(x->dtype) ? as(x, DType::I64) : x;
}

/// An extreme of nothing has no value.
void refuseEmpty(const char *name, const Tensor &x, const Dims &axes, bool named = true) {
  for (int64_t a : axes)
    if (x->sizes()[a] == 0)
      fail(named ? ErrorKind::Index : ErrorKind::Runtime,
           std::string(name) + "(): Expected reduction dim " + std::to_string(a) + " to have non-zero size.");
}

Tensor extreme(OpId op, const char *name, const Tensor &x, IntList dim, bool keepdim) {
  Dims axes = axesOf(x, dim);
  refuseEmpty(name, x, axes, !dim.empty());
  return reduce(op, x, axes, keepdim);
}

Tensor argExtreme(OpId op, const char *name, const Tensor &x, std::optional<int64_t> dim, bool keepdim) {
  if (isComplex(x->dtype))
    fail(ErrorKind::Type,
         std::string(name) + "(): does not support complex input, got " + std::string(torchName(x->dtype)));
  if (x->dtype == DType::Bool)
    fail(ErrorKind::NotImplemented, "\"" + std::string(name) + "_cpu\" not implemented for 'Bool'");
  Dims axes = allAxes(x->rank);
  if (dim) {
    int64_t d = wrap(*dim, x->rank);
    axes = x->rank ? Dims({d}) : Dims();
  }
  refuseEmpty(name, x, axes);
  return reduce(op, x, axes, keepdim);
}

std::tuple<Tensor, Tensor> extremeDim(OpId op, const char *name, const Tensor &x, int64_t dim, bool keepdim) {
  int64_t d = wrap(dim, x->rank);
  Dims axes = x->rank ? Dims({d}) : Dims();
  refuseEmpty(name, x, axes);
  Tensor index = reduce(op, x, axes, true);
  Tensor values = callOp(OpId::Gather, {x, index}, {Attr::integer(d)});
  if (!keepdim && x->rank) {
    Dims shape = values->dims();
    shape.erase(int(d));
    values = reshaped(values, shape);
    index = reshaped(index, shape);
  }
  return {values, index};
}

Tensor extremeAll(OpId op, const char *name, const Tensor &x) {
  if (!x->numel)
    fail(std::string(name) +
         "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
         "with the 'dim' argument.");
  return reduce(op, x, allAxes(x->rank), false);
}

} // namespace

Tensor sumDims(const Tensor &input, std::optional<IntList> dim, bool keepdim, std::optional<DType> dtype) {
  Tensor sum = reduce(OpId::Sum, added(input, dtype), axesOf(input, dim), keepdim);
  return dtype ? as(sum, *dtype) : sum; // narrow integers add in int64
}
Tensor amaxDims(const Tensor &input, IntList dim, bool keepdim) {
  return extreme(OpId::Amax, "amax", input, dim, keepdim);
}
Tensor aminDims(const Tensor &input, IntList dim, bool keepdim) {
  return extreme(OpId::Amin, "amin", input, dim, keepdim);
}
Tensor argmaxDim(const Tensor &input, std::optional<int64_t> dim, bool keepdim) {
  return argExtreme(OpId::Argmax, "argmax", input, dim, keepdim);
}
Tensor argminDim(const Tensor &input, std::optional<int64_t> dim, bool keepdim) {
  return argExtreme(OpId::Argmin, "argmin", input, dim, keepdim);
}

Tensor maxAll(const Tensor &input) { return extremeAll(OpId::Amax, "max", input); }
Tensor minAll(const Tensor &input) { return extremeAll(OpId::Amin, "min", input); }
std::tuple<Tensor, Tensor> maxDim(const Tensor &input, int64_t dim, bool keepdim) {
  return extremeDim(OpId::Argmax, "max", input, dim, keepdim);
}
std::tuple<Tensor, Tensor> minDim(const Tensor &input, int64_t dim, bool keepdim) {
  return extremeDim(OpId::Argmin, "min", input, dim, keepdim);
}

namespace {
Tensor larger(OpId op, const Tensor &x, const Tensor &y, Out out) {
  if (isComplex(x->dtype) || isComplex(y->dtype))
    fail(ErrorKind::Type, std::string(opInfo(op).name) + "(): not implemented for complex tensors, got " +
                              std::string(torchName(x->dtype)) + " and " + std::string(torchName(y->dtype)));
  return callOp(op, {x, y}, {}, out);
}
} // namespace

Tensor maximumOf(const Tensor &input, const Tensor &other, Out out) { return larger(OpId::Maximum, input, other, out); }
Tensor minimumOf(const Tensor &input, const Tensor &other, Out out) { return larger(OpId::Minimum, input, other, out); }
Tensor maxOther(const Tensor &input, const Tensor &other) { return maximumOf(input, other, Out()); }
Tensor minOther(const Tensor &input, const Tensor &other) { return minimumOf(input, other, Out()); }

static Tensor truth(const Tensor &x) { return x->dtype == DType::Bool ? x : callOp(OpId::Ne, {x, 0}); }
/// Bool, but uint8 of uint8, as in PyTorch. An empty `dim` reduces nothing, other than those of sums.
static Tensor truthReduced(OpId op, const Tensor &x, const std::optional<IntList> &dim, bool keepdim) {
  DType t = x->dtype == DType::U8 ? DType::U8 : DType::Bool;
  if (dim && dim->size() == 0)
    return x->dtype == DType::Bool ? cloneOf(x) : as(truth(x), t);
  return as(reduce(op, truth(x), axesOf(x, dim), keepdim), t);
}
/// Is any byte other than 0? Looks no further than the block where one is.
static bool anyByte(const char *p, int64_t n) {
  for (int64_t block = 0; block < n; block += 4096) {
    uint8_t seen = 0;
    for (int64_t i = block, end = std::min<int64_t>(block + 4096, n); i < end; i++)
      seen |= uint8_t(p[i]);
    if (seen)
      return true;
  }
  return false;
}

Tensor anyDims(const Tensor &input, std::optional<IntList> dim, bool keepdim) {
  if (input->dtype == DType::Bool && !dim && !keepdim && input->contiguous() && isPlain(input))
    return fullTensor(Dims(), anyByte(input->data, input->numel), DType::Bool);
  return truthReduced(OpId::Amax, input, dim, keepdim);
}
Tensor allDims(const Tensor &input, std::optional<IntList> dim, bool keepdim) {
  if (input->dtype == DType::Bool && !dim && !keepdim && input->contiguous() && isPlain(input))
    return fullTensor(Dims(), !input->numel || !std::memchr(input->data, 0, size_t(input->numel)), DType::Bool);
  return truthReduced(OpId::Amin, input, dim, keepdim);
}

Tensor meanDims(const Tensor &input, std::optional<IntList> dim, bool keepdim, std::optional<DType> dtype) {
  DType t = dtype.value_or(input->dtype);
  if (!isDifferentiable(t))
    unsupported(
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: " +
        std::string(torchName(t)));
  Dims axes = axesOf(input, dim);
  Tensor x = as(as(input, t), computeType(t)); // one rounding, at the end (N4)
  Tensor total = reduce(OpId::Sum, x, axes, keepdim);
  return as(callOp(OpId::Div, {total, double(countOf(input, axes))}), t);
}

Tensor prodAll(const Tensor &input, std::optional<DType> dtype) {
  Tensor product = reduce(OpId::Prod, added(input, dtype), allAxes(input->rank), false);
  return dtype ? as(product, *dtype) : product;
}
Tensor prodDim(const Tensor &input, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  Tensor product = reduce(OpId::Prod, added(input, dtype), axesOf(input, IntList(&dim, 1)), keepdim);
  return dtype ? as(product, *dtype) : product;
}
Tensor logSumExpDims(const Tensor &input, IntList dim, bool keepdim) {
  Dims axes = axesOf(input, dim);
  return reduce(OpId::Logsumexp, as(input, floatTypeOf(input->dtype)), axes, keepdim);
}

//===-- scans ----------------------------------------------------------------------------------------------------===//

namespace {

Tensor scan(OpId op, const Tensor &x, int64_t dim, std::optional<DType> dtype, Out out) {
  if (out.kind == Out::Inplace && dtype && *dtype != x->dtype)
    fail(std::string(opInfo(op).name) + "_(): expected dtype to be the tensor's own, " +
         std::string(torchName(x->dtype)) + ", got " + std::string(torchName(*dtype)));
  Tensor from = added(x, dtype);
  std::initializer_list<Attr> attrs = {Attr::integer(wrap(dim, x->rank)), Attr::boolean(false)};
  if (!dtype || isDifferentiable(*dtype) || *dtype == DType::I64)
    return callOp(op, {from}, attrs, out);
  return deliver(as(callOp(op, {from}, attrs), *dtype), out);
}

std::tuple<Tensor, Tensor> running(OpId op, const Tensor &x, int64_t dim) {
  int64_t d = wrap(dim, x->rank);
  Tensor index = callOp(op, {x}, {Attr::integer(d), Attr::boolean(false)});
  return {callOp(OpId::Gather, {x, index}, {Attr::integer(d)}), index};
}

} // namespace

Tensor cumSum(const Tensor &input, int64_t dim, std::optional<DType> dtype, Out out) {
  if (dtype == DType::Bool)
    unsupported("\"cumsum\" not implemented for 'bool'");
  return scan(OpId::Cumsum, input, dim, dtype, out);
}
Tensor cumProd(const Tensor &input, int64_t dim, std::optional<DType> dtype, Out out) {
  return scan(OpId::Cumprod, input, dim, dtype, out);
}
std::tuple<Tensor, Tensor> cumMax(const Tensor &input, int64_t dim) { return running(OpId::CummaxIndex, input, dim); }
std::tuple<Tensor, Tensor> cumMin(const Tensor &input, int64_t dim) { return running(OpId::CumminIndex, input, dim); }

//===-- statistics -----------------------------------------------------------------------------------------------===//

namespace {

/// sqrt of sums of squares: the derivative at 0 is 0.
Tensor rootOf(const Tensor &s) {
  Tensor zero = eq(s, 0);
  return where(zero, 0.0, callOp(OpId::Sqrt, {where(zero, 1.0, s)}));
}

/// re * re + im * im of complex numbers.
Tensor squareOfSize(const Tensor &x) {
  if (!isComplex(x->dtype))
    return mul(x, x);
  Tensor re = realOf(x), im = imagOf(x);
  return add(mul(re, re), mul(im, im));
}

/// The accumulators of pieces of 2^k blocks of a row, combined as N4 combines blocks: level by level, by adjacent pairs.
template <class T> T combined(T *pieces, int64_t n) {
  for (; n > 1; n = (n + 1) / 2)
    for (int64_t i = 0; i < (n + 1) / 2; i++)
      pieces[i] = 2 * i + 1 < n ? pieces[2 * i] + pieces[2 * i + 1] : pieces[2 * i];
  return pieces[0];
}

/// The sum of f(x, perRow) over the last dimensions, by blocks: f works on rows [n, length] with its values [n, 1], or on
/// parts of a row.
template <class F> Tensor sumByBlocks(const Tensor &x, int64_t length, const Dims &result, const Tensor &perRow, F f) {
  constexpr int64_t pieceLength = 32 << 10; // 32 of N4's blocks
  int64_t rows = x->numel / length, each = blockBytes / itemSize(x->dtype) / length;
  Tensor out(newTensor(x->dtype, result));
  Dims one({1}), scalar;
  auto sumInto = [&](Tensor target, const Tensor &part, int64_t row, int64_t n) {
    Tensor own = perRow.defined() ? rowsOf(perRow.impl(), row, n, one) : Tensor();
    int64_t axis = 1;
    Tensor sum = callOp(OpId::Sum, {f(part, own)}, {Attr::ints(&axis, 1), Attr::boolean(false)});
    torchc::copyInto(target.impl(), sum.impl());
  };
  if (each > 0) {
    eachBlock(rows, each, [&](int64_t first, int64_t n) {
      sumInto(rowsOf(out.impl(), first, n, scalar), rowsOf(x.impl(), first, n, Dims({length})), first, n);
    });
    return out;
  }
  int64_t pieces = (length + pieceLength - 1) / pieceLength;
  Tensor partial(newTensor(x->dtype, Dims({rows, pieces})));
  eachBlock(rows * pieces, 1, [&](int64_t i, int64_t) {
    int64_t row = i / pieces, at = i % pieces * pieceLength, n = std::min(pieceLength, length - at);
    Dims dims({1, n});
    Tensor part(newAlias(x.impl(), 2, dims.data(), nullptr, row * length + at));
    sumInto(rowsOf(partial.impl(), i, 1, scalar), part, row, 1);
  });
  for (int64_t row = 0; row < rows; row++)
    if (x->dtype == DType::F32)
      reinterpret_cast<float *>(out->data)[row] =
          combined(reinterpret_cast<float *>(partial->data) + row * pieces, pieces);
    else
      reinterpret_cast<double *>(out->data)[row] =
          combined(reinterpret_cast<double *>(partial->data) + row * pieces, pieces);
  return out;
}

/// The sum of f(x, perRow) over axes; perRow broadcasts with x, or is undefined.
template <class F> Tensor sumOf(const Tensor &x, const Dims &axes, bool keepdim, const Tensor &perRow, F f) {
  bool last = axes.size() > 0 && (x->dtype == DType::F32 || x->dtype == DType::F64);
  for (int i = 0; i < axes.size(); i++)
    last &= axes[i] == x->rank - axes.size() + i;
  int64_t length = countOf(x, axes);
  if (!last || !isPlain(x) || !x->contiguous() || x->numel * itemSize(x->dtype) <= blockBytes)
    return reduce(OpId::Sum, f(x, perRow), axes, keepdim);
  Dims result;
  for (int i = 0; i < x->rank; i++)
    if (i < x->rank - axes.size() || keepdim)
      result.push(i < x->rank - axes.size() ? x->sizes()[i] : 1);
  return sumByBlocks(x, length, result, perRow, f);
}

struct Moments {
  Tensor var, mean; // in the op-math type
};
/// `correction`: 1 if absent.
Moments momentsOf(const Tensor &input, std::optional<IntList> dim, const std::optional<Scalar> &correction,
                  bool keepdim) {
  if (!isDifferentiable(input->dtype))
    unsupported("std and var only support floating point and complex dtypes");
  Dims axes = axesOf(input, dim);
  double n = double(countOf(input, axes));
  Tensor x = wide(input);
  Tensor mean = div(reduce(OpId::Sum, x, axes, true), n);
  Tensor total =
      sumOf(x, axes, keepdim, mean, [](const Tensor &x, const Tensor &m) { return squareOfSize(sub(x, m)); });
  Tensor var = div(total, std::max(0.0, n - correction.value_or(Scalar(1)).toDouble()));
  if (!keepdim && input->rank)
    mean = reshaped(mean, var->dims());
  return {var, mean};
}

} // namespace

Tensor varDims(const Tensor &input, std::optional<IntList> dim, const std::optional<Scalar> &correction, bool keepdim) {
  return as(momentsOf(input, dim, correction, keepdim).var, realType(input->dtype));
}
Tensor varUnbiased(const Tensor &input, std::optional<IntList> dim, bool unbiased, bool keepdim) {
  return varDims(input, dim, Scalar(int(unbiased)), keepdim);
}
Tensor varAll(const Tensor &input, bool unbiased) { return varDims(input, {}, Scalar(int(unbiased)), false); }
Tensor stdDims(const Tensor &input, std::optional<IntList> dim, const std::optional<Scalar> &correction, bool keepdim) {
  return as(rootOf(momentsOf(input, dim, correction, keepdim).var), realType(input->dtype));
}
Tensor stdUnbiased(const Tensor &input, std::optional<IntList> dim, bool unbiased, bool keepdim) {
  return stdDims(input, dim, Scalar(int(unbiased)), keepdim);
}
Tensor stdAll(const Tensor &input, bool unbiased) { return stdDims(input, {}, Scalar(int(unbiased)), false); }

using TensorPair = std::tuple<Tensor, Tensor>;
TensorPair varMean(const Tensor &input, std::optional<IntList> dim, const std::optional<Scalar> &correction,
                   bool keepdim) {
  Moments m = momentsOf(input, dim, correction, keepdim);
  return {as(m.var, realType(input->dtype)), as(m.mean, input->dtype)};
}
TensorPair varMeanUnbiased(const Tensor &input, std::optional<IntList> dim, bool unbiased, bool keepdim) {
  return varMean(input, dim, Scalar(int(unbiased)), keepdim);
}
TensorPair varMeanAll(const Tensor &input, bool unbiased) { return varMean(input, {}, Scalar(int(unbiased)), false); }
TensorPair stdMean(const Tensor &input, std::optional<IntList> dim, const std::optional<Scalar> &correction,
                   bool keepdim) {
  Moments m = momentsOf(input, dim, correction, keepdim);
  return {as(rootOf(m.var), realType(input->dtype)), as(m.mean, input->dtype)};
}
TensorPair stdMeanUnbiased(const Tensor &input, std::optional<IntList> dim, bool unbiased, bool keepdim) {
  return stdMean(input, dim, Scalar(int(unbiased)), keepdim);
}
TensorPair stdMeanAll(const Tensor &input, bool unbiased) { return stdMean(input, {}, Scalar(int(unbiased)), false); }

Tensor nanSum(const Tensor &input, std::optional<IntList> dim, bool keepdim, std::optional<DType> dtype) {
  Tensor x = dtype ? as(input, *dtype) : input;
  if (isComplex(x->dtype))
    unsupported("nansum() does not support complex inputs, got " + std::string(torchName(x->dtype)));
  if (isFloat(x->dtype))
    x = where(ne(x, x), 0.0, x);
  return sumDims(x, dim, keepdim, dtype);
}
Tensor nanMean(const Tensor &input, std::optional<IntList> dim, bool keepdim, std::optional<DType> dtype) {
  DType t = dtype.value_or(input->dtype);
  if (!isDifferentiable(t))
    unsupported("nanmean(): expected input to have floating point or complex dtype but got " +
                std::string(torchName(t)));
  Tensor x = wide(as(input, t));
  Tensor total = nanSum(x, dim, keepdim, {});
  Tensor count = sumDims(eq(x, x), dim, keepdim, {});
  return as(div(total, count), t);
}
Tensor countNonzero(const Tensor &input, std::optional<IntList> dim) {
  return reduce(OpId::Sum, truth(input), axesOf(input, dim), false);
}
TensorPair aminMax(const Tensor &input, std::optional<int64_t> dim, bool keepdim) {
  if (!dim && !input->numel)
    fail("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  std::optional<IntList> axis;
  if (dim)
    axis = IntList(&*dim, 1);
  Dims axes = axesOf(input, axis);
  refuseEmpty("aminmax", input, axes);
  return {reduce(OpId::Amin, input, axes, keepdim), reduce(OpId::Amax, input, axes, keepdim)};
}

//===-- norms ----------------------------------------------------------------------------------------------------===//

namespace {

Tensor powerOf(const Tensor &x, double p) { return callOp(OpId::Pow, {x, fullTensor(Dims(), p, x->dtype)}); }

/// pow(x, p), x >= 0, whose derivative at 0 is 0.
Tensor flatPower(const Tensor &x, double p) {
  Tensor zero = eq(x, 0);
  return where(zero, p > 0 ? 0.0 : std::numeric_limits<double>::infinity(), powerOf(where(zero, 1.0, x), p));
}

Tensor normOver(const Tensor &given, double p, const Dims &axes, bool keepdim) {
  Tensor x = isComplex(given->dtype) ? callOp(OpId::Abs, {given}) : given;
  if (p == 2)
    return rootOf(sumOf(x, axes, keepdim, {}, [](const Tensor &x, const Tensor &) { return mul(x, x); }));
  if (p == 0)
    return as(reduce(OpId::Sum, ne(x, 0), axes, keepdim), x->dtype);
  auto sizeOf = [](const Tensor &x, const Tensor &) { return callOp(OpId::Abs, {x}); };
  if (p == 1)
    return sumOf(x, axes, keepdim, {}, sizeOf);
  Tensor size = sizeOf(x, {});
  if (p == std::numeric_limits<double>::infinity() || p == -std::numeric_limits<double>::infinity()) {
    refuseEmpty("norm", x, axes);
    return reduce(p > 0 ? OpId::Amax : OpId::Amin, size, axes, keepdim);
  }
  return flatPower(reduce(OpId::Sum, flatPower(size, p), axes, keepdim), 1 / p);
}

} // namespace

/// In the op-math type, rounded once; `dtype` casts the elements first.
Tensor vectorNormDims(const Tensor &x, const Scalar &ord, std::optional<IntList> dim, bool keepdim,
                      std::optional<DType> dtype) {
  DType t = dtype.value_or(x->dtype);
  if (!isDifferentiable(x->dtype) || !isDifferentiable(t))
    unsupported("linalg.vector_norm: Expected a floating point or complex tensor as input. Got " +
                std::string(torchName(isDifferentiable(x->dtype) ? t : x->dtype)));
  if (isComplex(t) != isComplex(x->dtype) || promoteTypes(x->dtype, t) != t)
    fail("linalg.vector_norm: expected dtype to hold every " + std::string(torchName(x->dtype)) + ", " +
         (isComplex(x->dtype) ? "complex" : "real") + " as it is, got " + std::string(torchName(t)));
  return as(normOver(wide(as(x, t)), ord.toDouble(), axesOf(x, dim), keepdim), realType(t));
}
Tensor normPower(const Tensor &input, const std::optional<Scalar> &p, std::optional<IntList> dim, bool keepdim,
                 std::optional<DType> dtype) {
  return vectorNormDims(input, p.value_or(Scalar(2)), dim, keepdim, dtype);
}
Tensor normNamed(const Tensor &input, std::string_view p, std::optional<IntList> dim, bool keepdim,
                 std::optional<DType> dtype) {
  if (p == "nuc")
    unsupported("norm(): p='nuc' needs singular values, which are not implemented");
  if (p != "fro")
    fail(ErrorKind::Runtime, "norm(): expected p to be a number, 'fro' or 'nuc', got '" + std::string(p) + "'");
  return vectorNormDims(input, 2, dim, keepdim, dtype);
}
Tensor distOf(const Tensor &input, const Tensor &other, const Scalar &p) {
  return vectorNormDims(sub(input, other), p, {}, false, {});
}

/// PyTorch has kernels for floating types alone.
static void needFloat(const char *op, const Tensor &input, std::optional<DType> dtype) {
  if (DType t = dtype.value_or(input->dtype); !isFloat(t))
    unsupported("\"" + std::string(op) + "\" not implemented for '" + std::string(torchName(t)) + "'");
}
Tensor softmaxDim(const Tensor &input, int64_t dim, std::optional<DType> dtype) {
  needFloat("softmax", input, dtype);
  return callOp(OpId::Softmax, {dtype ? as(input, *dtype) : input}, {Attr::integer(wrap(dim, input->rank))});
}
Tensor logSoftmaxDim(const Tensor &input, int64_t dim, std::optional<DType> dtype) {
  needFloat("log_softmax", input, dtype);
  return callOp(OpId::LogSoftmax, {dtype ? as(input, *dtype) : input}, {Attr::integer(wrap(dim, input->rank))});
}

bool equalAll(const Tensor &input, const Tensor &other) {
  if (!sameShape(input.impl(), other.impl()))
    return false;
  return !input->numel || item(allDims(callOp(OpId::Eq, {input, other}), {}, false)).toBool();
}

bool allClose(const Tensor &input, const Tensor &other, double rtol, double atol, bool equalNan) {
  NoGradGuard guard;
  return item(allDims(isClose(input, other, rtol, atol, equalNan), {}, false)).toBool();
}

} // namespace torchc::composite
