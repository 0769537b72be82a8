// Elements in another place: flips, rolls, repeats, orders of dimensions.
#include "frontends/eager/Families.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>
#include <numeric>

namespace torchc::composite {
namespace {

/// Wrapped dimensions of a list; throws Runtime where one comes twice.
std::vector<int64_t> distinct(const Tensor &x, IntList dims, const char *op) {
  std::vector<int64_t> out;
  for (int64_t d : dims) {
    int64_t w = wrap(d, x->rank);
    if (std::find(out.begin(), out.end(), w) != out.end())
      fail(std::string(op) + ": dim " + std::to_string(w) + " appears multiple times in the list of dims");
    out.push_back(w);
  }
  return out;
}

Tensor reversedAlong(const Tensor &x, int64_t dim) {
  int64_t n = x->rank ? x->sizes()[dim] : 1;
  if (n < 2)
    return x;
  Tensor index = arangeOf(n - 1, Scalar(-1), -1, DType::I64, DeviceId{DeviceKind(x->device)}, false);
  return callOp(OpId::IndexSelect, {x, index}, {Attr::integer(dim)});
}

Tensor rolledAlong(const Tensor &x, int64_t shift, int64_t dim) {
  int64_t n = x->rank ? x->sizes()[dim] : 1;
  int64_t start = n ? ((n - shift) % n + n) % n : 0;
  if (!start || n < 2)
    return x;
  return catPromoted({sliceDim(x, dim, start, n), sliceDim(x, dim, 0, start)}, dim, Out());
}

/// All at once, as a copy of a view that walks these dimensions backwards: no index, no copy for each dimension.
Tensor reversedCopy(const Tensor &x, const std::vector<int64_t> &dims) {
  Dims sizes = x->dims(), strides(x->strides(), x->rank);
  int64_t first = 0;
  for (int64_t d : dims) {
    first += x->rank && x->numel ? (sizes[int(d)] - 1) * strides[int(d)] : 0;
    if (x->rank)
      strides[int(d)] = -strides[int(d)];
  }
  Tensor view(newAlias(x.impl(), x->rank, sizes.data(), strides.data(), first));
  return Tensor(copyOf(view.impl(), x->dtype));
}

/// A tensor of the caller's own: a copy where nothing moved.
Tensor fresh(const Tensor &moved, const Tensor &input) { return moved.same(input) ? cloneOf(input) : moved; }

} // namespace

Tensor flipDims(const Tensor &input, IntList dims) {
  std::vector<int64_t> axes = distinct(input, dims, "flip");
  if (isPlain(input))
    return reversedCopy(input, axes);
  Tensor t = input;
  for (int64_t d : axes)
    t = reversedAlong(t, d);
  return fresh(t, input);
}
Tensor flipLr(const Tensor &input) {
  if (input->rank < 2)
    fail("Input must be >= 2-d.");
  return flipDims(input, {1});
}
Tensor flipUd(const Tensor &input) {
  if (input->rank < 1)
    fail("Input must be >= 1-d.");
  return flipDims(input, {0});
}

Tensor rollDims(const Tensor &input, IntList shifts, IntList dims) {
  if (shifts.empty())
    fail("`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    Tensor flat = ravelAll(input);
    return reshaped(fresh(rolledAlong(flat, shifts[0], 0), flat), input->dims());
  }
  if (dims.size() != shifts.size())
    fail("shifts and dimensions must align. shifts: " + std::to_string(shifts.size()) +
         ", dims:" + std::to_string(dims.size()));
  Tensor t = input;
  for (size_t i = 0; i < dims.size() && input->numel; i++) // without elements PyTorch looks at no dimension
    if (!input->rank)
      fail(ErrorKind::Index, "Dimension specified as " + std::to_string(dims[i]) + " but tensor has no dimensions");
  for (size_t i = 0; i < dims.size() && input->numel; i++)
    t = rolledAlong(t, shifts[i], wrap(dims[i], input->rank));
  return fresh(t, input);
}

Tensor rot90Dims(const Tensor &input, int64_t k, std::optional<IntList> dims) {
  std::vector<int64_t> axes = {0, 1};
  if (dims)
    axes.assign(dims->begin(), dims->end());
  if (axes.size() != 2)
    fail("expected total rotation dims == 2, but got dims = " + std::to_string(axes.size()));
  if (input->rank < 2)
    fail("expected total dims >= 2, but got total dims = " + std::to_string(input->rank));
  if (axes[0] == axes[1] || std::abs(axes[0] - axes[1]) == input->rank)
    fail("expected rotation dims to be different, but got dim0 = " + std::to_string(axes[0]) +
         " and dim1 = " + std::to_string(axes[1]));
  for (int64_t &a : axes) {
    if (a >= input->rank || a < -input->rank)
      fail(ErrorKind::Index, "Rotation dim out of range, dim = " + std::to_string(a));
    a = wrap(a, input->rank);
  }
  switch ((k % 4 + 4) % 4) {
  case 1: return transposeDims(flipDims(input, {axes[1]}), axes[0], axes[1]);
  case 2: return flipDims(input, {axes[0], axes[1]});
  case 3: return transposeDims(flipDims(input, {axes[0]}), axes[0], axes[1]);
  default: return cloneOf(input);
  }
}

/// Every dimension that repeats gets one of its own before it: [2, 3] twice is [2, 1, 3] seen as [2, 2, 3].
Tensor repeatDims(const Tensor &input, IntList repeats) {
  int lead = int(repeats.size()) - input->rank;
  if (lead < 0)
    fail("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  Dims seen, wide, out;
  checkRank(int64_t(repeats.size()), "repeat");
  for (int i = 0; i < int(repeats.size()); i++) {
    int64_t r = repeats[size_t(i)], n = i < lead ? 1 : input->sizes()[i - lead];
    if (r < 0)
      fail("Trying to create tensor with negative dimension " + std::to_string(r));
    checkRank(seen.size() + 2, "repeat");
    if (r != 1 && n != 1) {
      seen.push(1);
      wide.push(r);
    }
    seen.push(n);
    wide.push(n == 1 ? r : n);
    out.push(n * r);
  }
  Tensor spread = expanded(reshaped(input, seen), wide);
  return spread->dims() == out && !spread.same(input) ? cloneOf(spread) : reshaped(cloneOf(spread), out);
}
Tensor tileDims(const Tensor &input, IntList dims) {
  std::vector<int64_t> all(std::max<size_t>(dims.size(), input->rank), 1);
  std::copy(dims.begin(), dims.end(), all.end() - int64_t(dims.size()));
  return repeatDims(input, all);
}

//===-- repeat_interleave ---------------------------------------------------------------------------------------===//

/// Index i, repeats[i] times.
Tensor interleaveIndices(const Tensor &repeats, std::optional<int64_t> outputSize) {
  if (repeats->rank != 1)
    fail("repeat_interleave only accept 1D vector as repeat");
  if (repeats->dtype != DType::I64 && repeats->dtype != DType::I32)
    unsupported("\"repeat_interleave_cpu\" not implemented for '" + std::string(torchName(repeats->dtype)) + "'");
  Tensor counts = observed(as(repeats, DType::I64), "repeat_interleave");
  auto *n = reinterpret_cast<const int64_t *>(counts->data);
  int64_t total = 0;
  for (int64_t i = 0; i < counts->numel; i++) {
    if (n[i] < 0)
      fail("repeats can not be negative");
    if (__builtin_add_overflow(total, n[i], &total))
      fail("repeat_interleave(): the repeats sum to more than 64 bits hold");
  }
  if (outputSize && *outputSize != total)
    fail("allocated size does not match required size");
  Tensor out(newTensor(DType::I64, Dims({total})));
  auto *p = reinterpret_cast<int64_t *>(out->data);
  for (int64_t i = 0; i < counts->numel; i++)
    p = std::fill_n(p, n[i], i);
  return as(out, repeats->dtype);
}

Tensor interleaveTensor(const Tensor &input, const Tensor &repeats, std::optional<int64_t> dim,
                        std::optional<int64_t> outputSize) {
  Tensor x = dim ? input : ravelAll(input);
  if (!x->rank)
    fail(ErrorKind::Index, "Dimension specified as " + std::to_string(*dim) + " but tensor has no dimensions");
  int64_t d = dim ? wrap(*dim, x->rank) : 0, n = x->sizes()[d];
  Tensor counts = repeats;
  if (!repeats->rank || (repeats->rank == 1 && repeats->sizes()[0] == 1))
    counts = expanded(reshaped(repeats, Dims({1})), Dims({n}));
  else if (repeats->rank == 1 && repeats->sizes()[0] != n)
    fail("repeats must have the same size as input along dim, but got repeats.size(0) = " +
         std::to_string(repeats->sizes()[0]) + " and input.size(" + std::to_string(d) + ") = " + std::to_string(n));
  return indexSelectDim(x, d, interleaveIndices(counts, outputSize), Out());
}

Tensor interleaveNumber(const Tensor &input, int64_t repeats, std::optional<int64_t> dim,
                        std::optional<int64_t> outputSize) {
  if (repeats < 0)
    fail("Repeats must be non-negative");
  Tensor x = dim ? input : ravelAll(input);
  if (!x->rank)
    fail(ErrorKind::Index, "Dimension specified as " + std::to_string(*dim) + " but tensor has no dimensions");
  int64_t d = dim ? wrap(*dim, x->rank) : 0;
  Dims wide = replaced(x->dims(), int(d) + 1, 0, Dims({repeats})), out = x->dims();
  if (__builtin_mul_overflow(out[int(d)], repeats, &out[int(d)]))
    fail("repeat_interleave(): " + std::to_string(x->sizes()[d]) + " * " + std::to_string(repeats) +
         " elements need more than 64 bits");
  if (outputSize && *outputSize != out[int(d)])
    fail("repeat_interleave: Invalid output_size, expected " + std::to_string(out[int(d)]) + " but got " +
         std::to_string(*outputSize));
  return reshaped(cloneOf(expanded(unsqueezeDim(x, d + 1), wide)), out);
}

//===-- orders of dimensions ------------------------------------------------------------------------------------===//

Tensor moveDims(const Tensor &input, IntList source, IntList destination) {
  if (source.size() != destination.size())
    fail("movedim: Invalid source or destination dims: source (" + std::to_string(source.size()) +
         " dims) should contain the same number of dims as destination (" + std::to_string(destination.size()) +
         " dims)");
  std::vector<int64_t> from = distinct(input, source, "movedim: repeated dim in `source`");
  std::vector<int64_t> to = distinct(input, destination, "movedim: repeated dim in `destination`");
  if (!input->rank)
    return viewShape(input, Dims());
  std::vector<int64_t> order(input->rank, -1), rest;
  for (size_t i = 0; i < from.size(); i++)
    order[size_t(to[i])] = from[i];
  int64_t next = 0;
  for (int64_t &o : order) {
    if (o >= 0)
      continue;
    while (std::find(from.begin(), from.end(), next) != from.end())
      next++;
    o = next++;
  }
  return permuteDims(input, order);
}

Tensor adjointOf(const Tensor &input) {
  if (input->rank == 1)
    fail("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return conjOf(input->rank ? transposeDims(input, -2, -1) : viewShape(input, Dims()));
}

//===-- channels and space --------------------------------------------------------------------------------------===//

Tensor pixelShuffle(const Tensor &input, int64_t factor) {
  int r = input->rank;
  if (r < 3)
    fail("pixel_shuffle expects input to have at least 3 dimensions, but got input with " + std::to_string(r) +
         " dimension(s)");
  if (factor <= 0)
    fail("pixel_shuffle expects a positive upscale_factor, but got " + std::to_string(factor));
  Dims lead(input->sizes(), r - 3);
  int64_t c = input->sizes()[r - 3], h = input->sizes()[r - 2], w = input->sizes()[r - 1];
  auto square = int64_t(std::min<__int128>(__int128(factor) * factor, INT64_MAX));
  if (c % square || factor > INT32_MAX)
    fail("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
         "input.size(-3)=" +
         std::to_string(c) + " is not divisible by " + std::to_string(square));
  int n = r - 3;
  Tensor t = reshaped(input, replaced(input->dims(), n, 3, Dims({c / square, factor, factor, h, w})));
  std::vector<int64_t> order(size_t(n) + 5);
  std::iota(order.begin(), order.end(), 0);
  const int64_t tail[5] = {n, n + 3, n + 1, n + 4, n + 2};
  std::copy(tail, tail + 5, order.begin() + n);
  return reshaped(permuteDims(t, order), replaced(input->dims(), n, 3, Dims({c / square, h * factor, w * factor})));
}

Tensor pixelUnshuffle(const Tensor &input, int64_t factor) {
  int r = input->rank, n = r - 3;
  if (r < 3)
    fail("pixel_unshuffle expects input to have at least 3 dimensions, but got input with " + std::to_string(r) +
         " dimension(s)");
  if (factor <= 0)
    fail("pixel_unshuffle expects a positive downscale_factor, but got " + std::to_string(factor));
  int64_t c = input->sizes()[n], h = input->sizes()[r - 2], w = input->sizes()[r - 1];
  if (h % factor || w % factor || factor > INT32_MAX)
    fail("pixel_unshuffle expects height and width to be divisible by downscale_factor, but input.size(-2)=" +
         std::to_string(h) + " and input.size(-1)=" + std::to_string(w) + " are not both divisible by " +
         std::to_string(factor));
  Tensor t = reshaped(input, replaced(input->dims(), n, 3, Dims({c, h / factor, factor, w / factor, factor})));
  std::vector<int64_t> order(size_t(n) + 5);
  std::iota(order.begin(), order.end(), 0);
  const int64_t tail[5] = {n, n + 2, n + 4, n + 1, n + 3};
  std::copy(tail, tail + 5, order.begin() + n);
  return reshaped(permuteDims(t, order),
                  replaced(input->dims(), n, 3, Dims({c * factor * factor, h / factor, w / factor})));
}

Tensor channelShuffle(const Tensor &input, int64_t groups) {
  if (input->rank <= 2)
    fail("channel_shuffle expects input with > 2 dims, but got input with sizes " + input->dims().str());
  if (groups <= 0)
    fail("Number of groups to divide channels in must be positive. Value of groups:" + std::to_string(groups));
  int64_t c = input->sizes()[1];
  if (c % groups)
    fail("Number of channels must be divisible by groups. Got " + std::to_string(c) + " channels and " +
         std::to_string(groups) + " groups.");
  Tensor t = reshaped(input, replaced(input->dims(), 1, 1, Dims({groups, c / groups})));
  return reshaped(cloneOf(transposeDims(t, 1, 2)), input->dims());
}

} // namespace torchc::composite
