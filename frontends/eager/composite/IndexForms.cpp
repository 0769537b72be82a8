// Reads and writes by index that gather, scatter and slice_update express.
#include "frontends/eager/composite/Common.h"
#include <algorithm>
#include <limits>

namespace torchc::composite {
namespace {

std::string typeText(const Tensor &t) { return std::string(torchName(t->dtype)); }

void needLong(const Tensor &index, const char *op) {
  if (index->dtype != DType::I64)
    fail(std::string(op) + "(): Expected a long tensor for index, but got " + typeText(index));
}
void needSameType(const Tensor &a, const Tensor &b, const char *op) {
  if (a->dtype != b->dtype)
    fail(std::string(op) + "(): self and source expected to have the same dtype, but got (self) " + typeText(a) +
         " and (source) " + typeText(b));
}

/// A 1-D index as one of the whole shape `like` with `dim` looked up.
Tensor spread(const Tensor &index, int64_t dim, const Dims &like) {
  Dims column;
  for (int i = 0; i < like.size(); i++)
    column.push(i == dim ? index->numel : 1);
  Dims shape = like;
  if (shape.size())
    shape[int(dim)] = index->numel;
  return expanded(reshaped(index, column), shape);
}

bool anyNegative(const Tensor &index) {
  auto *p = reinterpret_cast<const int64_t *>(index->data);
  int64_t signs = 0;
  for (int64_t i = 0; i < index->numel; i++)
    signs |= p[i];
  return signs < 0;
}

/// Negative indices counted from the end of n; the index itself where a look shows that there are none.
Tensor fromEnd(const Tensor &index, int64_t n) {
  if (index->dtype == DType::I64 && index->contiguous() && isPlain(index) && !anyNegative(index))
    return index;
  return callOp(OpId::Where, {callOp(OpId::Lt, {index, 0}), callOp(OpId::Add, {index, n}), index});
}

Tensor scatterAt(const Tensor &x, int64_t dim, const Tensor &index, const Tensor &source) {
  return callOp(OpId::Scatter, {x, index, source}, {Attr::integer(dim)});
}

} // namespace

//===-- whole tensor as one dimension ---------------------------------------------------------------------------===//

Tensor takeFlat(const Tensor &input, const Tensor &index) {
  if (index->dtype != DType::I64)
    fail("take(): Expected a long tensor for index, but got " + typeText(index));
  if (!input->numel && index->numel)
    fail(ErrorKind::Index, "take(): tried to take from an empty tensor");
  Tensor at = ravelAll(fromEnd(index, input->numel));
  return withIndexErrors([&] { return reshaped(indexSelectDim(ravelAll(input), 0, at, Out()), index->dims()); });
}

Tensor takeAlong(const Tensor &input, const Tensor &indices, std::optional<int64_t> dim) {
  if (indices->dtype != DType::I64)
    fail("torch.take_along_dim(): dtype of indices should be Long but got " + typeText(indices));
  if (!dim)
    return gatherDim(ravelAll(input), 0, ravelAll(indices), false, Out());
  if (input->rank != indices->rank)
    fail("torch.take_along_dim(): input and indices should have the same number of dimensions, but got " +
         std::to_string(input->rank) + " dimensions for input, and " + std::to_string(indices->rank) +
         " dimensions for indices");
  int64_t d = wrap(*dim, input->rank);
  Dims x = input->dims(), i = indices->dims(), shape;
  if (input->rank)
    x[int(d)] = i[int(d)] = 1;
  Diag diag;
  if (!broadcastShapes(x, i, shape, diag))
    fail(diag);
  Dims xs = shape, is = shape;
  if (input->rank) {
    xs[int(d)] = input->sizes()[d];
    is[int(d)] = indices->sizes()[d];
  }
  Tensor at = fromEnd(indices, input->rank ? input->sizes()[d] : 1);
  return gatherDim(expanded(input, xs), d, expanded(at, is), false, Out());
}

Tensor putFlat(const Tensor &input, const Tensor &index, const Tensor &source, bool accumulate) {
  needLong(index, "put_");
  needSameType(input, source, "put_");
  if (index->numel != source->numel)
    fail("put_(): Expected source and index to have the same number of elements, but got source.numel() = " +
         std::to_string(source->numel) + ", index.numel() = " + std::to_string(index->numel));
  if (!input->numel && index->numel)
    fail(ErrorKind::Index, "put_(): cannot put elements into an empty tensor");
  Tensor flat = ravelAll(input), at = ravelAll(fromEnd(index, input->numel)), from = ravelAll(source);
  return withIndexErrors([&] {
    Tensor out = callOp(accumulate ? OpId::IndexAdd : OpId::Scatter, {flat, at, from}, {Attr::integer(0)});
    return reshaped(out, input->dims());
  });
}

//===-- along one dimension -------------------------------------------------------------------------------------===//

Tensor indexCopy(const Tensor &input, int64_t dim, const Tensor &index, const Tensor &source) {
  int64_t d = wrap(dim, input->rank);
  if (index->rank > 1)
    fail(ErrorKind::Index,
         "index_copy_(): Index should have dimension 1 or 0 (got " + std::to_string(index->rank) + ")");
  if (index->dtype != DType::I64)
    fail("index_copy_(): Expected a long tensor for index, but got " + typeText(index));
  needSameType(input, source, "index_copy_");
  Dims want = input->dims();
  if (want.size())
    want[int(d)] = index->numel;
  if (!source->rank && index->numel != 1)
    fail(ErrorKind::Index, "index_copy_(): When source is scalar, index should have one element (got " +
                               std::to_string(index->numel) + ")");
  if (source->rank && input->rank && source->rank != input->rank)
    fail(ErrorKind::Index, "index_copy_(): When source and destination are not scalars, their dimensionality must "
                           "match. Source dimensionality (" +
                               std::to_string(source->rank) + "), destination dimensionality (" +
                               std::to_string(input->rank) + ")");
  if (source->rank && source->sizes()[std::min<int64_t>(d, source->rank - 1)] != index->numel)
    fail(ErrorKind::Index,
         "index_copy_(): Number of indices (" + std::to_string(index->numel) + ") should be equal to source.size(dim)");
  if (source->numel != want.numel())
    fail("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: " +
         want.str() + " and source slice shape: " + source->dims().str());
  return withIndexErrors([&] { return scatterAt(input, d, spread(index, d, input->dims()), reshaped(source, want)); });
}

Tensor indexFill(const Tensor &input, int64_t dim, const Tensor &index, const Operand &value) {
  int64_t d = wrap(dim, input->rank);
  if (index->dtype != DType::I64 && index->dtype != DType::I32)
    fail(ErrorKind::Index, "index_fill_(): Expected dtype int64 for index.");
  if (index->rank > 1)
    fail(ErrorKind::Index, "Index has to be a vector/scalar");
  if (value.tensor && value.tensor->rank)
    fail("index_fill_ only supports a 0-dimensional value tensor, but got tensor with " +
         std::to_string(value.tensor->rank) + " dimension(s).");
  if (!value.tensor)
    checkFits(value.number, input->dtype);
  if (!input->rank && index->numel != 1) // the one place again and again, or never
    return reshaped(indexFill(reshaped(input, Dims({1})), 0, index, value), Dims());
  Tensor at = spread(fromEnd(index, input->rank ? input->sizes()[d] : 1), d, input->dims());
  Tensor v = value.tensor ? as(Tensor::borrow(value.tensor), input->dtype)
                          : fullTensor(Dims(), value.number, input->dtype, input->device);
  return withIndexErrors([&] { return scatterAt(input, d, at, expanded(v, at->dims())); });
}

//===-- parts of a tensor replaced ------------------------------------------------------------------------------===//

Tensor sliceScatter(const Tensor &input, const Tensor &src, int64_t dim, std::optional<int64_t> start,
                    std::optional<int64_t> end, int64_t step) {
  if (!input->rank)
    fail("slice() cannot be applied to a 0-dim tensor.");
  int64_t d = wrap(dim, input->rank), n = input->sizes()[d];
  if (step <= 0)
    fail("slice step must be positive");
  auto clamped = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  int64_t from = clamped(start.value_or(0)), to = std::max(from, clamped(end.value_or(n)));
  Dims want = input->dims();
  want[int(d)] = sliceCount(from, to, step);
  if (!(want == src->dims()))
    fail("expected src to have a size equal to the slice of self. src size = " + src->dims().str() +
         ", slice size = " + want.str());
  return callOp(OpId::SliceUpdate, {input, as(src, input->dtype)},
                {Attr::integer(d), Attr::integer(from), Attr::integer(to), Attr::integer(step)});
}

Tensor selectScatter(const Tensor &input, const Tensor &src, int64_t dim, int64_t index) {
  if (!input->rank)
    fail(ErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
  int64_t d = wrap(dim, input->rank), n = input->sizes()[d];
  if (index < -n || index >= n)
    fail(ErrorKind::Index, "select(): index " + std::to_string(index) + " out of range for tensor of size " +
                               input->dims().str() + " at dimension " + std::to_string(d));
  int64_t i = index < 0 ? index + n : index;
  Dims want = input->dims();
  want.erase(int(d));
  if (!(want == src->dims()))
    fail("expected src to have a size equal to the slice of self. src size = " + src->dims().str() +
         ", slice size = " + want.str());
  return sliceScatter(input, unsqueezeDim(src, d), d, i, i + 1, 1);
}

//===-- reductions through an index -----------------------------------------------------------------------------===//

namespace {

struct Reduce {
  enum Kind { Sum, Product, Mean, Max, Min } kind;
  /// ScatterReduce's mode.
  Attr mode() const { return Attr::integer(kind == Product ? 0 : kind == Max ? 1 : 2); }
};

Reduce reduceNamed(std::string_view name, const char *op, bool sums) {
  if (name == "prod" || name == "multiply")
    return {Reduce::Product};
  if (name == "mean")
    return {Reduce::Mean};
  if (name == "amax")
    return {Reduce::Max};
  if (name == "amin")
    return {Reduce::Min};
  if (sums && name == "sum")
    return {Reduce::Sum};
  fail(std::string(op) + "(): reduce argument must be either " + (sums ? "sum, " : "") +
       "prod, mean, amax or amin, got " + std::string(name));
}

/// What changes nothing when combined.
Scalar identity(Reduce r, DType t) {
  if (r.kind == Reduce::Product)
    return 1;
  if (r.kind == Reduce::Sum || r.kind == Reduce::Mean)
    return 0;
  bool low = r.kind == Reduce::Max;
  if (isDifferentiable(t))
    return low ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (t == DType::Bool)
    return !low;
  if (t == DType::U8)
    return low ? 0 : 255;
  int bits = int(itemSize(t)) * 8;
  return low ? std::numeric_limits<int64_t>::min() >> (64 - bits) : std::numeric_limits<int64_t>::max() >> (64 - bits);
}

/// A mean of integers is rounded down.
Tensor divided(const Tensor &sum, const Tensor &counts) {
  if (isDifferentiable(sum->dtype))
    return callOp(OpId::Div, {sum, counts});
  Tensor s = as(sum, DType::F64), c = as(counts, DType::F64);
  Tensor q = as(callOp(OpId::Div, {s, c}), DType::I64);
  Tensor above = callOp(OpId::Gt, {callOp(OpId::Mul, {q, counts}), sum});
  return as(callOp(OpId::Sub, {q, as(above, DType::I64)}), sum->dtype);
}

Tensor reduceAt(const Tensor &x, int64_t d, const Tensor &index, const Tensor &source, Reduce r, bool includeSelf) {
  Tensor start = x;
  if (!includeSelf) {
    Tensor fill = expanded(fullTensor(Dims(), identity(r, x->dtype), x->dtype, x->device), index->dims());
    start = scatterAt(x, d, index, fill);
  }
  if (r.kind != Reduce::Sum && r.kind != Reduce::Mean)
    return callOp(OpId::ScatterReduce, {start, index, source}, {Attr::integer(d), r.mode()});
  Tensor total = callOp(OpId::ScatterAdd, {start, index, source}, {Attr::integer(d)});
  if (r.kind == Reduce::Sum)
    return total;
  DType t = isDifferentiable(x->dtype) ? realType(x->dtype) : DType::I64;
  Tensor counts = fullTensor(x->dims(), includeSelf ? 1 : 0, t, x->device);
  counts = callOp(OpId::ScatterAdd, {counts, index, fullTensor(source->dims(), 1, t, x->device)}, {Attr::integer(d)});
  Tensor none = callOp(OpId::Lt, {counts, 1});
  return divided(total, callOp(OpId::Where, {none, 1, counts}));
}

} // namespace

/// sum, prod, mean, amax, amin of the sources at each index, with the value that is there unless told otherwise.
Tensor scatterReduce(const Tensor &input, int64_t dim, const Tensor &index, const Tensor &src, std::string_view reduce,
                     bool includeSelf) {
  Reduce r = reduceNamed(reduce, "scatter_reduce", true);
  int64_t d = wrap(dim, input->rank);
  DType compute = computeType(input->dtype);
  if (compute == input->dtype || src->dtype != input->dtype || r.kind != Reduce::Mean)
    return reduceAt(input, d, index, src, r, includeSelf);
  return as(reduceAt(as(input, compute), d, index, as(src, compute), r, includeSelf), input->dtype); // one rounding
}

/// scatter with reduce="add" or "multiply".
Tensor scatterWithReduce(const Tensor &input, int64_t dim, const Tensor &index, const Operand &src,
                         std::string_view reduce) {
  if (reduce != "add" && reduce != "multiply")
    fail("reduce argument must be either add or multiply.");
  if (!src.tensor)
    checkFits(src.number, input->dtype);
  Tensor source = src.tensor ? Tensor::borrow(src.tensor)
                             : expanded(fullTensor(Dims(), src.number, input->dtype, input->device), index->dims());
  return reduceAt(input, wrap(dim, input->rank), index, source,
                  reduce == "add" ? Reduce{Reduce::Sum} : Reduce{Reduce::Product}, true);
}

Tensor indexReduce(const Tensor &input, int64_t dim, const Tensor &index, const Tensor &source, std::string_view reduce,
                   bool includeSelf) {
  Reduce r = reduceNamed(reduce, "index_reduce", false);
  int64_t d = wrap(dim, input->rank);
  if (index->rank > 1)
    fail(ErrorKind::Index, "index_reduce(): Index is supposed to be a vector");
  needSameType(input, source, "index_reduce");
  Dims want = input->dims();
  if (want.size())
    want[int(d)] = index->numel;
  if (source->numel != want.numel())
    fail("index_reduce(): Number of indices (" + std::to_string(index->numel) +
         ") should be equal to source.size(dim)");
  Tensor at = spread(as(index, DType::I64), d, input->dims()), from = reshaped(source, want);
  DType compute = computeType(input->dtype);
  return withIndexErrors(
      [&] { return as(reduceAt(as(input, compute), d, at, as(from, compute), r, includeSelf), input->dtype); });
}

//===-- rows of a table -----------------------------------------------------------------------------------------===//

/// Multi-dimensional places from row-major ones.
std::vector<Tensor> unravelIndex(const Tensor &indices, IntList shape) {
  if (!isIntegral(indices->dtype))
    fail(ErrorKind::Type, "expected 'indices' to be integer dtype, but got " + typeText(indices));
  std::vector<Tensor> out(shape.size());
  Tensor seen = observed(as(indices, DType::I64), "unravel_index");
  __int128 total = 1; // as good as any beyond 64 bits
  for (int64_t s : shape) {
    if (s < 0)
      fail(ErrorKind::Value, "'shape' cannot have negative values");
    if (!s && indices->numel)
      fail(ErrorKind::Value, "'shape' cannot have zero dimensions when 'indices' is non-empty");
    total = std::min<__int128>(total * s, __int128(1) << 63);
  }
  std::vector<int64_t> rest(reinterpret_cast<int64_t *>(seen->data),
                            reinterpret_cast<int64_t *>(seen->data) + seen->numel);
  for (int64_t &v : rest)
    v = total ? int64_t(((v % total) + total) % total) : 0;
  for (size_t k = shape.size(); k-- > 0;) {
    std::vector<int64_t> at(rest.size());
    for (size_t i = 0; i < rest.size(); i++) {
      at[i] = shape[k] ? rest[i] % shape[k] : 0;
      rest[i] = shape[k] ? rest[i] / shape[k] : 0;
    }
    out[k] = reshaped(indexLike(indices, at), indices->dims());
  }
  return out;
}

} // namespace torchc::composite
