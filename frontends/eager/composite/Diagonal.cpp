// Diagonals and triangles.
#include "frontends/eager/View.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc::composite {
namespace {

/// true where column - row == offset, of a rows x columns matrix on x's device.
Tensor onDiagonal(const Tensor &x, int64_t rows, int64_t columns, int64_t offset) {
  Tensor row = viewShape(rangeLike(x, rows), Dims({rows, 1}));
  return callOp(OpId::Eq, {callOp(OpId::Add, {row, offset}), rangeLike(x, columns)});
}

/// x where column - row is at most (at least) `diagonal`, else zero.
Tensor triangle(const Tensor &x, int64_t diagonal, bool lower, const char *op) {
  if (x->rank < 2)
    fail(std::string(op) + ": input tensor must have at least 2 dimensions");
  int64_t rows = x->sizes()[x->rank - 2], columns = x->sizes()[x->rank - 1];
  // Beyond the matrix the number changes nothing, but could overflow below.
  diagonal = std::clamp(diagonal, -rows - 1, columns + 1);
  Tensor limit = callOp(OpId::Add, {viewShape(rangeLike(x, rows), Dims({rows, 1})), diagonal});
  Tensor mask = callOp(lower ? OpId::Ge : OpId::Le, {limit, rangeLike(x, columns)});
  return callOp(OpId::Where, {mask, x, x->dtype == DType::Bool ? Scalar(false) : Scalar(0)});
}

int64_t diagonalLength(int64_t rows, int64_t columns, int64_t offset) {
  return std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
}

/// Row and column of each element of a triangle, row by row.
Tensor triangleIndices(int64_t rows, int64_t columns, int64_t offset, bool lower, DType type,
                       std::optional<DeviceId> device) {
  if (rows < 0 || columns < 0)
    fail((rows < 0 ? "row" : "col") + std::string(" must be non-negative, got ") +
         std::to_string(rows < 0 ? rows : columns));
  if (type != DType::I64 && type != DType::I32)
    unsupported(std::string("\"") + (lower ? "tril" : "triu") + "_indices\" not implemented for '" +
                std::string(torchName(type)) + "'");
  offset = std::clamp(offset, -rows - 1, columns + 1); // beyond the matrix the number changes nothing
  // Below: rows whose length grows by one from `first` on, until they have all columns; above: what is left of those.
  auto below = [&](__int128 o) { // elements with column <= row + o
    __int128 from = std::max<__int128>(0, -o), full = std::max<__int128>(from, columns - 1 - o);
    full = std::min<__int128>(full, rows);
    __int128 n = std::max<__int128>(0, full - from), first = from + o + 1;
    return n * first + n * (n - 1) / 2 + std::max<__int128>(0, rows - std::max(full, from)) * columns;
  };
  __int128 count = lower ? below(offset) : __int128(rows) * columns - below(__int128(offset) - 1);
  if (count > INT64_MAX / 16)
    fail(ErrorKind::Memory, std::string(lower ? "tril" : "triu") + "_indices(): not enough memory for the indices of " +
                                std::to_string(rows) + " x " + std::to_string(columns) + " elements");
  if (count > (int64_t(1) << 20)) // asks for the memory before the work
    release(newTensor(DType::I64, Dims({2, int64_t(count)}), deviceKind(device)));
  std::vector<int64_t> r, c;
  // Rows without an element are many where a matrix is high.
  int64_t first = lower ? std::max<int64_t>(-offset, 0) : 0;
  int64_t last = !columns ? 0
                 : lower  ? rows
                          : std::min(rows, std::max<int64_t>(columns - std::min(offset, columns), 0));
  for (int64_t i = first; i < last; i++) {
    int64_t from = lower ? 0 : std::clamp<int64_t>(i + offset, 0, columns);
    int64_t to = lower ? std::clamp<int64_t>(i + offset + 1, 0, columns) : columns;
    for (int64_t j = from; j < to; j++) {
      r.push_back(i);
      c.push_back(j);
    }
  }
  int64_t n = int64_t(r.size());
  r.insert(r.end(), c.begin(), c.end());
  Tensor like(newTensor(DType::I64, Dims({0}), deviceKind(device)));
  return as(reshaped(indexLike(like, r), Dims({2, n})), type);
}

} // namespace

Tensor trilOf(const Tensor &input, int64_t diagonal) { return triangle(input, diagonal, true, "tril"); }
Tensor triuOf(const Tensor &input, int64_t diagonal) { return triangle(input, diagonal, false, "triu"); }

Tensor trilIndices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype,
                   std::optional<DeviceId> device) {
  return triangleIndices(row, col, offset, true, dtype.value_or(DType::I64), device);
}
Tensor triuIndices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype,
                   std::optional<DeviceId> device) {
  return triangleIndices(row, col, offset, false, dtype.value_or(DType::I64), device);
}

/// Where memory has both dimensions as one: every (columns + 1)-th element of that one, a view. Undefined otherwise.
static Tensor steppedDiagonal(const Tensor &x, int64_t offset, int64_t a, int64_t b) {
  Tensor t = moveDims(x, {a, b}, {-2, -1});
  int64_t rows = t->sizes()[t->rank - 2], columns = t->sizes()[t->rank - 1];
  int64_t n = diagonalLength(rows, columns, offset);
  Dims flat(t->sizes(), t->rank - 2), strides;
  flat.push(rows * columns);
  if (!viewStrides(t->dims(), Dims(t->strides(), t->rank), flat, strides))
    return {};
  int64_t start = offset >= 0 ? offset : -offset * columns;
  start = n ? start : 0;
  return sliceDim(viewShape(t, flat), flat.size() - 1, start, n ? start + (n - 1) * (columns + 1) + 1 : 0, columns + 1);
}
Tensor diagonalOf(const Tensor &input, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t a = wrap(dim1, input->rank), b = wrap(dim2, input->rank);
  if (a == b)
    fail("diagonal dimensions cannot be identical " + std::to_string(dim1) + ", " + std::to_string(dim2));
  Dims sizes, strides;
  for (int i = 0; i < input->rank; i++)
    if (i != a && i != b) {
      sizes.push(input->sizes()[i]);
      strides.push(input->strides()[i]);
    }
  int64_t n = diagonalLength(input->sizes()[a], input->sizes()[b], offset), sa = input->strides()[a],
          sb = input->strides()[b];
  sizes.push(n);
  strides.push(sa + sb);
  for (bool turned : {false, true}) {
    Tensor t = turned ? steppedDiagonal(input, -offset, b, a) : steppedDiagonal(input, offset, a, b);
    if (t.defined()) // a dimension of one element or none has no step of its own
      return n <= 1 || !t->numel ? viewWithStrides(t, sizes, strides) : t;
  }
  return asStrided(input, IntList(sizes.data(), size_t(sizes.size())), IntList(strides.data(), size_t(strides.size())),
                   input->storageOffset() + (!n            ? 0
                                             : offset >= 0 ? offset * sb
                                                           : -offset * sa));
}
/// Its values, whatever the layout.
static Tensor diagonalValues(const Tensor &input, int64_t offset, int64_t dim1, int64_t dim2) {
  return diagonalOf(contiguousTensor(input), offset, dim1, dim2);
}

Tensor diagonalEmbed(const Tensor &input, int64_t offset, int64_t dim1, int64_t dim2) {
  int rank = input->rank + 1;
  int64_t a = wrap(dim1, rank), b = wrap(dim2, rank);
  if (a == b)
    fail("diagonal dimensions cannot be identical " + std::to_string(dim1) + ", " + std::to_string(dim2));
  int64_t n = input->rank ? input->sizes()[input->rank - 1] : 1, size = n + std::abs(offset);
  if (!input->rank)
    fail("diag_embed(): expected a tensor of at least 1 dimension, got 0");
  // As rows below zeros, so that element (i, i + offset) has the value of its row; zero elsewhere.
  Tensor x = unsqueezeDim(input, -1);
  if (offset) {
    Dims pad = x->dims();
    pad[pad.size() - 2] = std::abs(offset);
    Tensor zeros = fullTensor(pad, 0, x->dtype, x->device);
    x = offset > 0 ? catPromoted({x, zeros}, -2, Out()) : catPromoted({zeros, x}, -2, Out());
  }
  Tensor mask = onDiagonal(input, size, size, offset);
  Tensor out = callOp(OpId::Where, {mask, x, x->dtype == DType::Bool ? Scalar(false) : Scalar(0)});
  return moveDims(out, {-2, -1}, {a, b});
}

Tensor diagOf(const Tensor &input, int64_t diagonal) {
  if (input->rank == 1)
    return diagonalEmbed(input, diagonal, 0, 1);
  if (input->rank != 2)
    fail("diag(): Supports 1D or 2D tensors. Got " + std::to_string(input->rank) + "D");
  return cloneOf(diagonalValues(input, diagonal, 0, 1));
}
Tensor diagFlat(const Tensor &input, int64_t offset) { return diagonalEmbed(ravelAll(input), offset, 0, 1); }

Tensor traceOf(const Tensor &input) {
  if (input->rank != 2)
    fail("trace: expected a matrix, but got tensor with dim " + std::to_string(input->rank));
  if (input->dtype == DType::Bool)
    unsupported("\"trace\" not implemented for 'Bool'");
  return sum(diagonalValues(input, 0, 0, 1));
}

/// The value at `value`'s place on the diagonal, x elsewhere.
Tensor diagonalScatter(const Tensor &input, const Tensor &src, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor out = cloneOf(input), view = diagonalOf(out, offset, dim1, dim2);
  if (!(view->dims() == src->dims()))
    fail("expected src to have a size equal to the slice of self. src size = " + src->dims().str() +
         ", slice size = " + view->dims().str());
  copy_(view, src);
  return out;
}

/// `wrap`: a tall matrix gets further diagonals below, each one row apart from the last.
Tensor fillDiagonal(const Tensor &input, const Scalar &value, bool wraps, Out) {
  int rank = input->rank;
  if (rank < 2)
    fail("dimensions must larger than 1");
  for (int i = 1; i < rank && rank > 2; i++)
    if (input->sizes()[i] != input->sizes()[0])
      fail("all dimensions of input must be of equal length");
  int64_t rows = input->sizes()[0], columns = input->sizes()[1];
  Tensor d = input;
  for (int left = rank; left > 1; left--)
    d = diagonalOf(d, 0, 0, 1);
  fill_(d, value);
  for (int64_t from = columns + 1; wraps && rank == 2 && from < rows; from += columns + 1)
    fill_(diagonalOf(sliceDim(input, 0, from, rows), 0, 0, 1), value);
  return input;
}

} // namespace torchc::composite
