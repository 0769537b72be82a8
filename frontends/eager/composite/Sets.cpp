// Sets and counts: their sizes depend on the values, so most of them observe their operands.
#include "frontends/eager/composite/Common.h"
#include "runtime/kernels/Index.h"
#include "runtime/kernels/Sort.h"
#include <algorithm>
#include <cmath>

namespace torchc::composite {
namespace {

Tensor host(const std::vector<int64_t> &v) {
  Tensor out(newTensor(DType::I64, Dims({int64_t(v.size())})));
  if (!v.empty())
    std::memcpy(out->data, v.data(), v.size() * sizeof(int64_t));
  return out;
}
const int64_t *longs(const Tensor &t) { return reinterpret_cast<const int64_t *>(t->data); }
void checkSort(KernelStatus s) {
  if (s != KernelStatus::Ok)
    fail(statusKind(s), std::string("unique(): ") + statusText(s));
}

/// Where runs of equal rows begin in rows[order[0]], rows[order[1]], ... (null: as they stand). NaN equals nothing.
std::vector<char> runStarts(const Tensor &rows, const int64_t *order) {
  int64_t n = rows->sizes()[0];
  std::vector<char> starts(size_t(n), 1);
  if (n < 2)
    return starts;
  InternalGuard quiet;
  Tensor picked = rows;
  if (order) {
    Tensor index(newTensor(DType::I64, Dims({n})));
    std::memcpy(index->data, order, size_t(n) * sizeof(int64_t));
    picked = indexSelectDim(rows, 0, index, Out());
  }
  Tensor differs = callOp(OpId::Ne, {sliceDim(picked, 0, 1, n), sliceDim(picked, 0, 0, n - 1)});
  int64_t columns = differs->numel / (n - 1);
  Tensor flags = contiguousTensor(differs);
  if (columns == 1) {
    std::memcpy(starts.data() + 1, flags->data, size_t(n - 1));
    return starts;
  }
  for (int64_t i = 0; i + 1 < n; i++) {
    const char *row = flags->data + i * columns;
    starts[size_t(i) + 1] = std::any_of(row, row + columns, [](char c) { return c != 0; });
  }
  return starts;
}

struct Runs {
  std::vector<int64_t> first, inverse, counts; // a representative of each run, each row's run, each run's length
};
/// `inverse` and `counts` where they are wanted.
Runs runsOf(const Tensor &rows, const int64_t *order, bool inverse, bool counts) {
  int64_t n = rows->sizes()[0];
  std::vector<char> starts = runStarts(rows, order);
  Runs r;
  r.first.resize(size_t(countTrue(starts.data(), n)));
  truePlaces(starts.data(), int64_t(r.first.size()), r.first.data());
  if (counts) {
    r.counts.resize(r.first.size());
    for (size_t i = 0; i < r.first.size(); i++)
      r.counts[i] = (i + 1 < r.first.size() ? r.first[i + 1] : n) - r.first[i];
  }
  if (order)
    for (int64_t &place : r.first)
      place = order[place];
  if (!inverse)
    return r;
  r.inverse.resize(size_t(n));
  int64_t run = -1;
  for (int64_t i = 0; i < n; i++) {
    run += starts[size_t(i)] != 0;
    r.inverse[size_t(order ? order[i] : i)] = run;
  }
  return r;
}

TensorOrList finish(const Tensor &x, int64_t dim, const Runs &runs, const Dims &inverseShape, bool inverse,
                    bool counts) {
  Tensor values = indexSelectDim(x, dim, host(runs.first), Out());
  if (!inverse && !counts)
    return values;
  std::vector<Tensor> out = {values};
  if (inverse)
    out.push_back(reshaped(host(runs.inverse), inverseShape));
  if (counts)
    out.push_back(host(runs.counts));
  return out;
}

/// The rows x[.., i, ..] of a dimension as a matrix [n, rest], computed.
Tensor asRows(const Tensor &x, int64_t dim, const char *op) {
  Tensor seen = observed(x, op);
  InternalGuard quiet;
  Tensor first = contiguousTensor(transposeDims(seen, 0, dim));
  int64_t n = first->sizes()[0];
  if (n && !first->numel)
    fail(std::string(op) + "(): There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  return reshaped(first, Dims({n, n ? first->numel / n : 0}));
}

} // namespace

static TensorOrList uniqueFlat(const Tensor &x, bool inverse, bool counts) {
  Tensor flat = ravelAll(x), seen = observed(flat, "unique");
  Tensor order(newTensor(DType::I64, flat->dims()));
  if (flat->numel)
    checkSort(argsort(seen->dtype, seen->data, {1, flat->numel, 1}, false, flat->numel,
                      reinterpret_cast<int64_t *>(order->data)));
  return finish(flat, 0, runsOf(seen, longs(order), inverse, counts), x->dims(), inverse, counts);
}

/// Always sorted, whatever `sorted` says, as in PyTorch with dim=.
TensorOrList uniqueOf(const Tensor &input, bool, bool returnInverse, bool returnCounts, std::optional<int64_t> dim) {
  int64_t d = dim ? wrap(*dim, input->rank) : 0;
  if (!dim || !input->rank)
    return uniqueFlat(input, returnInverse, returnCounts);
  Tensor rows = asRows(input, d, "unique");
  int64_t n = rows->sizes()[0];
  std::vector<int64_t> order(static_cast<size_t>(n));
  checkSort(argsortRows(rows->dtype, rows->data, n, rows->sizes()[1], order.data()));
  return finish(input, d, runsOf(rows, order.data(), returnInverse, returnCounts), Dims({n}), returnInverse,
                returnCounts);
}

TensorOrList uniqueConsecutive(const Tensor &input, bool returnInverse, bool returnCounts, std::optional<int64_t> dim) {
  int64_t d = dim ? wrap(*dim, input->rank) : 0;
  if (!dim || !input->rank) {
    Tensor flat = ravelAll(input);
    return finish(flat, 0, runsOf(observed(flat, "unique_consecutive"), nullptr, returnInverse, returnCounts),
                  input->dims(), returnInverse, returnCounts);
  }
  Tensor rows = asRows(input, d, "unique_consecutive");
  return finish(input, d, runsOf(rows, nullptr, returnInverse, returnCounts), Dims({rows->sizes()[0]}), returnInverse,
                returnCounts);
}

//===-- counts --------------------------------------------------------------------------------------------------===//

Tensor binCount(const Tensor &input, const OptTensor &weights, int64_t minlength) {
  if (input->rank != 1 || (!isIntegral(input->dtype) && input->dtype != DType::Bool))
    fail("bincount only supports 1-d non-negative integral inputs.");
  if (minlength < 0)
    fail("minlength should be >= 0");
  if (weights.defined() && !(weights->dims() == input->dims()))
    fail("weights should be 1-d and have the same length as input");
  Tensor index = observed(as(input, DType::I64), "bincount");
  int64_t least = 0, most = minlength - 1;
  for (int64_t i = 0; i < index->numel; i++) {
    least = std::min(least, longs(index)[i]);
    most = std::max(most, longs(index)[i]);
  }
  if (least < 0)
    fail("bincount only supports 1-d non-negative integral inputs.");
  if (most == INT64_MAX)
    fail(ErrorKind::Memory, "bincount(): more bins than 64 bits count");
  int64_t bins = most + 1;
  if (!weights.defined() && isPlain(index)) {
    Tensor counts = fullTensor(Dims({bins}), 0, DType::I64, input->device);
    auto *to = reinterpret_cast<int64_t *>(counts->data);
    for (int64_t i = 0; i < index->numel; i++)
      to[longs(index)[i]]++;
    return counts;
  }
  DType t = !weights.defined() ? DType::I64 : weights->dtype == DType::F32 ? DType::F32 : DType::F64;
  Tensor source = weights.defined() ? as(weights, t) : fullTensor(input->dims(), 1, t, input->device);
  return callOp(OpId::IndexAdd, {fullTensor(Dims({bins}), 0, t, input->device), index, source}, {Attr::integer(0)});
}

/// Bin (x - min) / (max - min) * bins, the last one closed; what lies outside counts nowhere.
Tensor histC(const Tensor &input, int64_t bins, const Scalar &min, const Scalar &max) {
  if (!isFloat(input->dtype))
    unsupported("\"histogram_cpu\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
  if (bins <= 0)
    fail("torch.histogram(): bins must be > 0");
  InternalGuard quiet;
  Tensor x = ravelAll(detached(input));
  double low = min.toDouble(), high = max.toDouble();
  if (low == high && x->numel) {
    low = item(minAll(x)).toDouble();
    high = item(maxAll(x)).toDouble();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high))
    fail("torch.histc: range of [" + std::to_string(low) + ", " + std::to_string(high) + "] is not finite");
  if (low > high)
    fail("torch.histc: max must be larger than min");
  DType t = computeType(x->dtype);
  Tensor inside = callOp(OpId::LogicalAnd, {callOp(OpId::Ge, {x, low}), callOp(OpId::Le, {x, high})});
  Tensor kept = maskedSelect(as(x, t), inside);
  Tensor at = callOp(OpId::Div, {callOp(OpId::Mul, {callOp(OpId::Sub, {kept, low}), double(bins)}), high - low});
  Tensor index = minOther(as(at, DType::I64), fullTensor(Dims(), bins - 1, DType::I64));
  Tensor ones = fullTensor(kept->dims(), 1, DType::I64, kept->device);
  Tensor counts =
      callOp(OpId::IndexAdd, {fullTensor(Dims({bins}), 0, DType::I64, kept->device), index, ones}, {Attr::integer(0)});
  return as(counts, input->dtype);
}

//===-- membership ----------------------------------------------------------------------------------------------===//

static Tensor anyLast(const Tensor &x) {
  int64_t last = -1;
  return anyDims(x, IntList(&last, 1), false);
}
static Tensor negated(const Tensor &found, bool invert) { return invert ? callOp(OpId::LogicalNot, {found}) : found; }
Tensor isInTensor(const Tensor &elements, const Tensor &testElements, bool, bool invert) {
  DType t = commonType(elements->dtype, testElements->dtype);
  if (!testElements->numel)
    return fullTensor(elements->dims(), invert, DType::Bool, elements->device);
  Tensor x = as(elements, t), set = as(ravelAll(testElements), t);
  if (set->numel <= 16) // cheaper than a sort
    return negated(anyLast(callOp(OpId::Eq, {unsqueezeDim(x, -1), set})), invert);
  Tensor sorted = std::get<0>(sortDim(set, 0, false, true));
  Tensor at = callOp(OpId::SearchSorted, {sorted, ravelAll(x)}, {Attr::boolean(false)});
  at = minOther(at, fullTensor(Dims(), set->numel - 1, DType::I64, x->device));
  Tensor found = callOp(OpId::Eq, {indexSelectDim(sorted, 0, at, Out()), ravelAll(x)});
  return negated(reshaped(found, elements->dims()), invert);
}
Tensor isInNumber(const Tensor &elements, const Scalar &testElement, bool, bool invert) {
  return negated(callOp(OpId::Eq, {elements, testElement}), invert);
}
Tensor numberIsIn(const Scalar &element, const Tensor &testElements, bool, bool invert) {
  return negated(anyDims(callOp(OpId::Eq, {testElements, element}), {}, false), invert);
}

} // namespace torchc::composite
