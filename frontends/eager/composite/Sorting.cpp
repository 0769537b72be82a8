// Order statistics: an argsort (N7), and a gather at its indices that has the gradient.
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc::composite {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

int64_t sizeAt(const Tensor &x, int64_t d) { return x->rank ? x->sizes()[d] : 1; }

Tensor places(const Tensor &x, int64_t d, bool descending, int64_t count) {
  return callOp(OpId::Argsort, {x}, {Attr::integer(d), Attr::boolean(descending), Attr::integer(count)});
}
Tensor valuesAt(const Tensor &x, int64_t d, const Tensor &places) {
  return callOp(OpId::Gather, {x, places}, {Attr::integer(d)});
}
/// One index of the dimension, which stays only if wanted.
Tensor pickAt(const Tensor &x, int64_t d, int64_t i, bool keep) {
  if (!x->rank)
    return x;
  Tensor one = sliceDim(x, d, i, i + 1);
  return keep ? one : squeezeDim(one, d);
}
Tensor dropped(const Tensor &x, int64_t d, bool keep) { return keep || !x->rank ? x : squeezeDim(x, d); }

void needElements(const Tensor &x, int64_t d, const char *op) {
  if (x->rank && !x->sizes()[d])
    fail(ErrorKind::Index,
         std::string(op) + "(): Expected reduction dim " + std::to_string(d) + " to have non-zero size.");
}

void needNumbers(const Tensor &x, const char *op) {
  if (x->dtype == DType::Bool)
    unsupported("\"" + std::string(op) + "_cpu\" not implemented for 'Bool'");
}

/// The middle place of a sorted row, the first NaN's where there is one. `skipNan`: the middle of the others.
Tensor medianPlace(const Tensor &x, int64_t d, bool skipNan) {
  int64_t n = sizeAt(x, d);
  Tensor order = places(x, d, false, n);
  if (!isFloat(x->dtype))
    return pickAt(order, d, (n - 1) / 2, true);
  Tensor isNan = isNanOf(x->requiresGrad() ? detached(x) : x);
  Tensor nans = callOp(OpId::Sum, {isNan}, {Attr::ints(&d, 1), Attr::boolean(true)});
  if (!x->rank)
    return order;
  if (!skipNan) { // NaN sorts last: the place behind all numbers is the first NaN's
    Tensor at = callOp(OpId::Where, {callOp(OpId::Eq, {nans, 0}), (n - 1) / 2, callOp(OpId::Sub, {n, nans})});
    return callOp(OpId::Gather, {order, at}, {Attr::integer(d)});
  }
  // (n - nans - 1) / 2, at least 0, halved exactly in double.
  Tensor middle = callOp(OpId::Mul, {as(callOp(OpId::Sub, {n - 1, nans}), DType::F64), 0.5});
  Tensor at = as(callOp(OpId::Maximum, {middle, fullTensor(Dims(), 0.0, DType::F64, x->device)}), DType::I64);
  return callOp(OpId::Gather, {order, at}, {Attr::integer(d)});
}

Pair medianAlong(const Tensor &x, int64_t dim, bool keep, bool skipNan) {
  int64_t d = wrap(dim, x->rank);
  needNumbers(x, "median");
  needElements(x, d, skipNan ? "nanmedian" : "median");
  Tensor at = medianPlace(x, d, skipNan);
  return {dropped(valuesAt(x, d, at), d, keep), dropped(at, d, keep)};
}

Tensor medianOfAll(const Tensor &x, bool skipNan) {
  needNumbers(x, "median");
  if (!x->numel) {
    if (!isFloat(x->dtype)) // NaN as x86 converts it
      return fullTensor(Dims(),
                        x->dtype == DType::I64   ? INT64_MIN
                        : x->dtype == DType::I32 ? INT32_MIN
                                                 : 0,
                        x->dtype, x->device);
    return fullTensor(Dims(), __builtin_nan(""), x->dtype, x->device);
  }
  Tensor flat = ravelAll(x);
  return reshaped(valuesAt(flat, 0, medianPlace(flat, 0, skipNan)), Dims());
}

} // namespace

Pair sortDim(const Tensor &input, int64_t dim, bool descending, bool) {
  int64_t d = wrap(dim, input->rank);
  Tensor at = places(input, d, descending, sizeAt(input, d));
  return {valuesAt(input, d, at), at};
}
Tensor argsortDim(const Tensor &input, int64_t dim, bool descending, bool) {
  int64_t d = wrap(dim, input->rank);
  return places(input, d, descending, sizeAt(input, d));
}
Tensor msortFirst(const Tensor &input) { return std::get<0>(sortDim(input, 0, false, true)); }

Pair topkDim(const Tensor &input, int64_t k, int64_t dim, bool largest, bool) {
  int64_t d = wrap(dim, input->rank);
  if (k < 0 || k > sizeAt(input, d))
    fail("topk(): selected index k out of range, expected 0 <= k <= " + std::to_string(sizeAt(input, d)) + ", got " +
         std::to_string(k));
  if (input->dtype == DType::Bool)
    unsupported("topk does not support bool dtypes on CPU");
  Tensor at = places(input, d, largest, k);
  return {valuesAt(input, d, at), at};
}

Pair kthValue(const Tensor &input, int64_t k, int64_t dim, bool keepdim) {
  int64_t d = wrap(dim, input->rank), n = sizeAt(input, d);
  needElements(input, d, "kthvalue");
  if (k < 1 || k > n)
    fail("kthvalue(): selected number k out of range for dimension " + std::to_string(d) +
         ", expected 1 <= k <= " + std::to_string(n) + ", got " + std::to_string(k));
  if (input->dtype == DType::Bool)
    unsupported("\"kthvalue\" not implemented for 'bool'");
  Tensor at = pickAt(places(input, d, false, k), d, k - 1, true);
  return {dropped(valuesAt(input, d, at), d, keepdim), dropped(at, d, keepdim)};
}

Tensor medianAll(const Tensor &input) { return medianOfAll(input, false); }
Tensor nanMedianAll(const Tensor &input) { return medianOfAll(input, true); }
Pair medianDim(const Tensor &input, int64_t dim, bool keepdim) { return medianAlong(input, dim, keepdim, false); }
Pair nanMedianDim(const Tensor &input, int64_t dim, bool keepdim) { return medianAlong(input, dim, keepdim, true); }

Pair modeDim(const Tensor &input, int64_t dim, bool keepdim) {
  int64_t d = wrap(dim, input->rank);
  Tensor at = callOp(OpId::Argmode, {input}, {Attr::integer(d)});
  return {dropped(valuesAt(input, d, at), d, keepdim), dropped(at, d, keepdim)};
}

//===-- searching -----------------------------------------------------------------------------------------------===//

static Tensor searchIn(const Tensor &sorted, const Tensor &values, bool right, bool outInt32) {
  DType t = commonType(sorted->dtype, values->dtype);
  if (t == DType::Bool)
    t = DType::I64;
  Tensor found = callOp(OpId::SearchSorted, {as(sorted, t), as(values, t)}, {Attr::boolean(right)});
  return outInt32 ? as(found, DType::I32) : found;
}

static bool fromRight(bool right, std::optional<std::string_view> side, const char *op) {
  if (!side)
    return right;
  if (*side != "left" && *side != "right")
    fail(std::string(op) + "(): side can only be 'left' or 'right' but got " + std::string(*side));
  if (*side == "left" && right)
    fail(std::string(op) + "(): side and right can't be set to opposites, got side of left while right was True");
  return *side == "right";
}

Tensor searchSortedTensor(const Tensor &sortedSequence, const Tensor &input, bool outInt32, bool right,
                          std::optional<std::string_view> side, const OptTensor &sorter) {
  bool fromAbove = fromRight(right, side, "torch.searchsorted");
  if (!sortedSequence->rank)
    fail("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
  if (sortedSequence->rank != 1 &&
      (!input->rank || sortedSequence->rank != input->rank ||
       !std::equal(input->sizes(), input->sizes() + input->rank - 1, sortedSequence->sizes())))
    fail("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
         "tensor and input value tensor must match, but we got boundaries tensor " +
         sortedSequence->dims().str() + " and input value tensor " + input->dims().str());
  Tensor sorted = sortedSequence;
  if (sorter.defined()) {
    if (!(sorter->dims() == sorted->dims()))
      fail("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor " +
           sorted->dims().str() + " and got sorter tensor " + sorter->dims().str());
    if (sorter->dtype != DType::I64)
      fail("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype " +
           std::string(torchName(sorter->dtype)));
    sorted = callOp(OpId::Gather, {sorted, sorter}, {Attr::integer(sorted->rank - 1)});
  }
  return searchIn(sorted, input, fromAbove, outInt32);
}
Tensor searchSortedNumber(const Tensor &sortedSequence, const Scalar &input, bool outInt32, bool right,
                          std::optional<std::string_view> side, const OptTensor &sorter) {
  if (sortedSequence->rank != 1)
    fail("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
  DType t = input.isFloat() && !isFloat(sortedSequence->dtype) ? defaultDType() : sortedSequence->dtype;
  return searchSortedTensor(sortedSequence, fullTensor(Dims(), input, t, sortedSequence->device), outInt32, right, side,
                            sorter);
}
Tensor bucketizeTensor(const Tensor &input, const Tensor &boundaries, bool outInt32, bool right) {
  if (boundaries->rank != 1)
    fail("bucketize(): boundaries tensor must be 1 dimension, but got dim(" + std::to_string(boundaries->rank) + ")");
  return searchIn(boundaries, input, right, outInt32);
}
Tensor bucketizeNumber(const Scalar &input, const Tensor &boundaries, bool outInt32, bool right) {
  if (boundaries->rank != 1)
    fail("bucketize(): boundaries tensor must be 1 dimension, but got dim(" + std::to_string(boundaries->rank) + ")");
  return searchSortedNumber(boundaries, input, outInt32, right, {}, {});
}

} // namespace torchc::composite
