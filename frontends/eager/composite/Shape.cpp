// API of views and joins.
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/View.h"
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {
namespace {

Dims inferred(const Tensor &x, IntList shape) {
  Dims out;
  Diag diag;
  if (!inferReshape(x->dims(), shape.data(), int(shape.size()), out, diag))
    fail(diag);
  return out;
}

} // namespace

Tensor reshapeOrCopy(const Tensor &input, IntList shape) {
  Dims target = inferred(input, shape), strides;
  if (viewStrides(input->dims(), Dims(input->strides(), input->rank), target, strides))
    return viewShape(input, target);
  return viewShape(contiguousTensor(input), target);
}
Tensor viewSize(const Tensor &input, IntList size) { return viewShape(input, inferred(input, size)); }
Tensor viewAs(const Tensor &input, const Tensor &other) { return viewSize(input, other.sizes()); }
Tensor reshapeAs(const Tensor &input, const Tensor &other) { return reshapeOrCopy(input, other.sizes()); }
Tensor ravelAll(const Tensor &input) { return reshaped(input, Dims({input->numel})); }

Tensor transposeDims(const Tensor &input, int64_t dim0, int64_t dim1) {
  return callOp(OpId::Transpose, {input},
                {Attr::integer(wrap(dim0, input->rank)), Attr::integer(wrap(dim1, input->rank))});
}
Tensor tMatrix(const Tensor &input) {
  if (input->rank > 2)
    fail("t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(input->rank) + "D");
  return input->rank < 2 ? viewShape(input, input->dims()) : transposeDims(input, 0, 1);
}

Tensor permuteDims(const Tensor &input, IntList dims) {
  int rank = input->rank;
  if (int(dims.size()) != rank)
    fail("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
         "ordering "
         "of dimensions i.e. input.dim() = " +
         std::to_string(rank) + " is not equal to len(dims) = " + std::to_string(dims.size()));
  Dims want, have = allAxes(rank);
  bool seen[maxRank] = {};
  for (int64_t d : dims) {
    int64_t w = wrap(d, rank);
    if (seen[w])
      fail("permute(): duplicate dims are not allowed.");
    seen[w] = true;
    want.push(w);
  }
  Tensor t = input;
  for (int i = 0; i < rank; i++) { // selection sort by transpositions
    int j = i;
    while (have[j] != want[i])
      j++;
    if (j == i)
      continue;
    std::swap(have[i], have[j]);
    t = transposeDims(t, i, j);
  }
  return t.same(input) ? viewWithStrides(input, input->dims(), Dims(input->strides(), rank)) : t;
}

Tensor expandSize(const Tensor &input, IntList size) {
  return callOp(OpId::Expand, {input}, {Attr::ints(size.data(), uint32_t(size.size()))});
}
Tensor expandAs(const Tensor &input, const Tensor &other) { return expandSize(input, other.sizes()); }

Tensor squeezeAll(const Tensor &input) {
  Dims shape, strides;
  for (int i = 0; i < input->rank; i++)
    if (input->sizes()[i] != 1) {
      shape.push(input->sizes()[i]);
      strides.push(input->strides()[i]);
    }
  return viewWithStrides(input, shape, strides);
}
/// Sizes of 1 go in any layout.
static Tensor withoutDim(const Tensor &x, int64_t d) {
  Dims shape = x->dims(), strides(x->strides(), x->rank);
  shape.erase(int(d));
  strides.erase(int(d));
  return viewWithStrides(x, shape, strides);
}
Tensor squeezeDim(const Tensor &input, int64_t dim) {
  int64_t d = wrap(dim, input->rank);
  if (input->rank && input->sizes()[d] == 1)
    return withoutDim(input, d);
  return viewWithStrides(input, input->dims(), Dims(input->strides(), input->rank));
}
Tensor squeezeDims(const Tensor &input, IntList dims) {
  bool drops[maxRank] = {};
  for (int64_t dim : dims) {
    int64_t d = wrap(dim, input->rank);
    if (drops[d])
      fail("dim " + std::to_string(d) + " appears multiple times in the list of dims");
    drops[d] = true;
  }
  Dims shape, strides;
  for (int i = 0; i < input->rank; i++)
    if (!drops[i] || input->sizes()[i] != 1) {
      shape.push(input->sizes()[i]);
      strides.push(input->strides()[i]);
    }
  return viewWithStrides(input, shape, strides);
}
Tensor unsqueezeDim(const Tensor &input, int64_t dim) {
  int64_t d = wrap(dim, input->rank + 1);
  if (input->rank == maxRank)
    fail("unsqueeze(): expected at most 63 dimensions, got 64");
  Dims shape = input->dims(), strides(input->strides(), input->rank);
  strides.insert(int(d), d < input->rank ? shape[int(d)] * strides[int(d)] : 1);
  shape.insert(int(d), 1);
  return viewWithStrides(input, shape, strides);
}

Tensor flattenDims(const Tensor &input, int64_t startDim, int64_t endDim) {
  int64_t a = wrap(startDim, input->rank), b = wrap(endDim, input->rank);
  if (a > b)
    fail("flatten() has invalid args: start_dim cannot come after end_dim");
  if (!input->rank)
    return reshaped(input, Dims({1}));
  if (a == b)
    return input;
  Dims shape(input->sizes(), int(a));
  int64_t joined = 1;
  for (int64_t i = a; i <= b; i++)
    joined *= input->sizes()[i];
  shape.push(joined);
  for (int i = int(b) + 1; i < input->rank; i++)
    shape.push(input->sizes()[i]);
  return reshaped(input, shape);
}

Tensor sumToSize(const Tensor &input, IntList size) {
  Dims target(size.data(), int(size.size())), have = input -> dims(), axes;
  int lead = have.size() - target.size();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < have.size(); i++) {
    fits = i < lead || target[i - lead] == have[i] || target[i - lead] == 1;
    if (i < lead || (target[i - lead] == 1 && have[i] != 1))
      axes.push(i);
  }
  if (!fits)
    fail("size {" + target.str() + "} is not expandable to size {" + have.str() + "}.");
  if (axes.empty() && (!target.empty() || category(input->dtype) >= 2)) // PyTorch sums to a shape of no dimensions
    return viewShape(input, have);
  Tensor x = category(input->dtype) < 2 ? as(input, DType::I64) : input; // sums of integers are int64
  if (axes.empty())
    return x;
  return reshaped(callOp(OpId::Sum, {x}, {attr(axes), Attr::boolean(false)}), target);
}

Tensor unflattenDim(const Tensor &input, int64_t dim, IntList sizes) {
  int64_t d = wrap(dim, input->rank);
  if (sizes.empty())
    fail("unflatten: sizes must be non-empty");
  Dims part;
  Diag diag;
  if (!inferReshape(Dims({input->rank ? input->sizes()[d] : 1}), sizes.data(), int(sizes.size()), part, diag))
    fail("unflatten: Provided sizes " + Dims(sizes.data(), int(sizes.size())).str() +
         " don't multiply up to the size of dim " + std::to_string(d) + " (" +
         std::to_string(input->rank ? input->sizes()[d] : 1) + ") in the input tensor");
  return viewShape(input, replaced(input->dims(), int(d), input->rank ? 1 : 0, part));
}

Tensor narrowFrom(const Tensor &input, int64_t dim, const Tensor &start, int64_t length) {
  if (start->rank || !isIntegral(start->dtype))
    fail("narrow(): start must be an 0-dim integral Tensor, got one of type " + std::string(torchName(start->dtype)) +
         " and shape " + start->dims().str());
  return narrowDim(input, dim, *reinterpret_cast<const int64_t *>(observed(as(start, DType::I64), "narrow")->data),
                   length);
}

Tensor narrowDim(const Tensor &input, int64_t dim, int64_t start, int64_t length) {
  if (!input->rank)
    fail("narrow() cannot be applied to a 0-dim tensor.");
  int64_t d = wrap(dim, input->rank), size = input->sizes()[d];
  if (length < 0)
    fail("narrow(): length must be non-negative.");
  if (start < -size || start > size)
    fail(ErrorKind::Index, "start out of range (expected to be in range of [" + std::to_string(-size) + ", " +
                               std::to_string(size) + "], but got " + std::to_string(start) + ")");
  if (start < 0)
    start += size;
  if (length > size - start)
    fail("start (" + std::to_string(start) + ") + length (" + std::to_string(length) + ") exceeds dimension size (" +
         std::to_string(size) + ").");
  return sliceDim(input, d, start, start + length);
}

/// Both view ops at once where neither tape nor tracer must see them; undefined: go the long way.
static Tensor selectDirect(TensorImpl *x, int dim, int64_t index) {
  constexpr uint32_t seen = FlagPending | FlagRecording | FlagRetracing | FlagRequiresGrad | FlagView | FlagSubclass;
  if (((x->flags | threadState.modes.flags) & seen) || x->rank > inlineDims)
    return {};
  int64_t sizes[inlineDims], strides[inlineDims];
  for (int i = 0, k = 0; i < x->rank; i++)
    if (i != dim) {
      sizes[k] = x->sizes()[i];
      strides[k++] = x->strides()[i];
    }
  Tensor out(newAlias(x, x->rank - 1, sizes, strides, index * x->strides()[dim]));
  trackSelect(x, out.impl(), dim, index);
  return out;
}

Tensor selectIndex(const Tensor &input, int64_t dim, int64_t index) {
  if (!input->rank)
    fail(ErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
  int64_t d = wrap(dim, input->rank), size = input->sizes()[d];
  if (index < -size || index >= size)
    fail(ErrorKind::Index, "select(): index " + std::to_string(index) + " out of range for tensor of size " +
                               input->dims().str() + " at dimension " + std::to_string(d));
  int64_t i = index < 0 ? index + size : index;
  if (Tensor t = selectDirect(input.impl(), int(d), i); t.defined())
    return t;
  return withoutDim(sliceDim(input, d, i, i + 1), d);
}

/// Views that one function returns together aren't to be written where gradients are needed.
static std::vector<Tensor> fixed(std::vector<Tensor> views) {
  for (Tensor &v : views)
    v->flags |= flagFixedView;
  return views;
}

std::vector<Tensor> unbindDim(const Tensor &input, int64_t dim) {
  if (!input->rank)
    fail(ErrorKind::Index, "unbind: dimension specified as " + std::to_string(dim) + " but tensor has no dimensions");
  int64_t d = wrap(dim, input->rank);
  std::vector<Tensor> out;
  for (int64_t i = 0; i < input->sizes()[d]; i++)
    out.push_back(selectIndex(input, d, i));
  return fixed(std::move(out));
}

void checkPieces(int64_t n) {
  if (n > maxAllocation / int64_t(sizeof(TensorImpl)))
    fail(ErrorKind::Memory, "not enough memory for " + std::to_string(n) + " tensors");
}

std::vector<Tensor> unsafeSplitEvery(const Tensor &input, int64_t splitSize, int64_t dim) {
  if (!input->rank)
    fail("split expects at least a 1-dimensional tensor");
  int64_t d = wrap(dim, input->rank), size = input->sizes()[d];
  if (splitSize < 0 || (splitSize == 0 && size))
    fail("split expects split_size be non-negative, but got split_size=" + std::to_string(splitSize));
  std::vector<Tensor> out;
  int64_t at = 0;
  do {
    int64_t stop = std::min(size, at + splitSize);
    out.push_back(sliceDim(input, d, at, stop));
    at = stop;
  } while (at < size);
  return out;
}
std::vector<Tensor> unsafeSplitSizes(const Tensor &input, IntList sizes, int64_t dim) {
  if (!input->rank)
    fail("split_with_sizes expects at least a 1-dimensional tensor");
  int64_t d = wrap(dim, input->rank), at = 0, total = 0;
  for (int64_t s : sizes) {
    if (s < 0)
      fail("split_with_sizes expects split_sizes have only non-negative entries, but got " + std::to_string(s));
    if (__builtin_add_overflow(total, s, &total))
      fail("split_with_sizes(): the sizes sum to more than 64 bits hold");
  }
  if (total != input->sizes()[d])
    fail("split_with_sizes expects split_sizes to sum exactly to " + std::to_string(input->sizes()[d]) +
         " (input tensor's size at dimension " + std::to_string(d) + "), but got sizes that sum to " +
         std::to_string(total));
  std::vector<Tensor> out;
  for (int64_t s : sizes) {
    out.push_back(sliceDim(input, d, at, at + s));
    at += s;
  }
  return out;
}
std::vector<Tensor> unsafeChunk(const Tensor &input, int64_t chunks, int64_t dim) {
  if (!input->rank)
    fail("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0)
    fail("chunk expects `chunks` to be greater than 0, got: " + std::to_string(chunks));
  int64_t d = wrap(dim, input->rank), size = input->sizes()[d], each = size / chunks + (size % chunks != 0);
  if (!each) // an empty dimension: that many empty pieces
    checkPieces(chunks);
  if (!each)
    return unsafeSplitSizes(input, std::vector<int64_t>(size_t(chunks), 0), d);
  return unsafeSplitEvery(input, each, d);
}
std::vector<Tensor> splitEvery(const Tensor &input, int64_t splitSize, int64_t dim) {
  return fixed(unsafeSplitEvery(input, splitSize, dim));
}
std::vector<Tensor> splitSizes(const Tensor &input, IntList sizes, int64_t dim) {
  return fixed(unsafeSplitSizes(input, sizes, dim));
}
std::vector<Tensor> chunkDim(const Tensor &input, int64_t chunks, int64_t dim) {
  return fixed(unsafeChunk(input, chunks, dim));
}

Tensor catPromoted(TensorList tensors, int64_t dim, Out out) {
  // Vectors without elements take part in no dimension: PyTorch doesn't look at it.
  if (!tensors.empty() &&
      std::all_of(tensors.begin(), tensors.end(), [](const Tensor &t) { return t->rank == 1 && t->numel == 0; }))
    dim = 0;
  std::vector<Operand> operands(tensors.begin(), tensors.end());
  Attr a = Attr::integer(dim);
  return callOpList(OpId::Cat, List<Operand>(operands), List<Attr>(&a, 1), out);
}
Tensor stackNew(TensorList tensors, int64_t dim) {
  if (tensors.empty())
    fail("stack expects a non-empty TensorList");
  int64_t d = wrap(dim, tensors[0]->rank + 1);
  std::vector<Tensor> parts;
  for (size_t i = 0; i < tensors.size(); i++) {
    if (!sameShape(tensors[0].impl(), tensors[i].impl()))
      fail("stack expects each tensor to be equal size, but got " + tensors[0]->dims().str() + " at entry 0 and " +
           tensors[i]->dims().str() + " at entry " + std::to_string(i));
    parts.push_back(unsqueezeDim(tensors[i], d));
  }
  return catPromoted(parts, d, Out());
}

Tensor detached(const Tensor &input) { return detachTensor(input); }

} // namespace torchc::composite
