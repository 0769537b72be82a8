// Tensors cut into pieces and joined from them.
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc::composite {
namespace {

std::vector<Tensor> slicesAt(const Tensor &x, int64_t dim, const std::vector<int64_t> &indices) {
  int64_t size = x->sizes()[dim], at = 0;
  std::vector<Tensor> out;
  auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  for (size_t k = 0; k <= indices.size(); k++) {
    int64_t stop = k < indices.size() ? clamped(indices[k]) : size;
    out.push_back(sliceDim(x, dim, at, std::max(at, stop)));
    at = stop;
  }
  return out;
}

void needRank(const Tensor &x, const char *op, int rank) {
  if (x->rank < rank)
    fail(std::string("torch.") + op + " requires a tensor with at least " + std::to_string(rank) +
         " dimension, but got a tensor with " + std::to_string(x->rank) + " dimensions!");
}

std::vector<Tensor> splitNumbered(const Tensor &x, const char *op, int rank, int64_t dim, int64_t sections) {
  needRank(x, op, rank);
  int64_t size = x->sizes()[dim];
  if (sections <= 0 || size % sections)
    fail(std::string("torch.") + op + " attempted to split along dimension " + std::to_string(dim) +
         ", but the size of the dimension " + std::to_string(size) + " is not divisible by the split_size " +
         std::to_string(sections) + "!");
  return tensorSplitNumber(x, sections, dim);
}

} // namespace

std::vector<Tensor> tensorSplitNumber(const Tensor &input, int64_t sections, int64_t dim) {
  if (!input->rank)
    fail("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  int64_t d = wrap(dim, input->rank), size = input->sizes()[d], at = 0;
  if (sections <= 0)
    fail("number of sections must be larger than 0, got " + std::to_string(sections));
  checkPieces(sections);
  std::vector<Tensor> out;
  for (int64_t i = 0; i < sections; i++) {
    int64_t n = size / sections + (i < size % sections);
    out.push_back(sliceDim(input, d, at, at + n));
    at += n;
  }
  return out;
}
std::vector<Tensor> tensorSplitAt(const Tensor &input, IntList indices, int64_t dim) {
  if (!input->rank)
    fail("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  return slicesAt(input, wrap(dim, input->rank), std::vector<int64_t>(indices.begin(), indices.end()));
}
std::vector<Tensor> tensorSplitBy(const Tensor &input, const Tensor &indicesOrSections, int64_t dim) {
  const Tensor &t = indicesOrSections;
  if (t->dtype != DType::I64 || t->device)
    fail("tensor_split expected tensor_indices_or_sections to have dtype of long and to be on cpu");
  if (t->rank > 1)
    fail("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
         "got a tensor with " +
         std::to_string(t->rank) + " dims");
  Tensor values = observed(t, "tensor_split");
  auto *p = reinterpret_cast<const int64_t *>(values->data);
  return t->rank ? tensorSplitAt(input, IntList(p, size_t(t->numel)), dim) : tensorSplitNumber(input, *p, dim);
}

std::vector<Tensor> hsplitNumber(const Tensor &input, int64_t sections) {
  return splitNumbered(input, "hsplit", 1, input->rank == 1 ? 0 : 1, sections);
}
std::vector<Tensor> hsplitAt(const Tensor &input, IntList indices) {
  needRank(input, "hsplit", 1);
  return tensorSplitAt(input, indices, input->rank == 1 ? 0 : 1);
}
std::vector<Tensor> vsplitNumber(const Tensor &input, int64_t sections) {
  return splitNumbered(input, "vsplit", 2, 0, sections);
}
std::vector<Tensor> vsplitAt(const Tensor &input, IntList indices) {
  needRank(input, "vsplit", 2);
  return tensorSplitAt(input, indices, 0);
}
std::vector<Tensor> dsplitNumber(const Tensor &input, int64_t sections) {
  return splitNumbered(input, "dsplit", 3, 2, sections);
}
std::vector<Tensor> dsplitAt(const Tensor &input, IntList indices) {
  needRank(input, "dsplit", 3);
  return tensorSplitAt(input, indices, 2);
}

//===-- joins ---------------------------------------------------------------------------------------------------===//

Tensor atLeast1(const Tensor &input) { return input->rank ? input : viewShape(input, Dims({1})); }
Tensor atLeast2(const Tensor &input) {
  if (input->rank > 1)
    return input;
  return viewShape(input, Dims({1, input->numel}));
}
Tensor atLeast3(const Tensor &input) {
  if (input->rank > 2)
    return input;
  return input->rank == 2 ? unsqueezeDim(input, 2) : viewShape(input, Dims({1, input->numel, 1}));
}
template <Tensor (*f)(const Tensor &)> static std::vector<Tensor> each(TensorList tensors) {
  std::vector<Tensor> out;
  for (const Tensor &t : tensors)
    out.push_back(f(t));
  return out;
}
std::vector<Tensor> atLeast1All(TensorList tensors) { return each<atLeast1>(tensors); }
std::vector<Tensor> atLeast2All(TensorList tensors) { return each<atLeast2>(tensors); }
std::vector<Tensor> atLeast3All(TensorList tensors) { return each<atLeast3>(tensors); }

static void needSome(TensorList tensors, const char *op) {
  if (tensors.empty())
    fail(std::string(op) + " expects a non-empty TensorList");
}
Tensor hstackAll(TensorList tensors) {
  needSome(tensors, "hstack");
  std::vector<Tensor> parts = each<atLeast1>(tensors);
  return catPromoted(parts, parts[0]->rank == 1 ? 0 : 1, Out());
}
Tensor vstackAll(TensorList tensors) {
  needSome(tensors, "vstack");
  return catPromoted(each<atLeast2>(tensors), 0, Out());
}
Tensor dstackAll(TensorList tensors) {
  needSome(tensors, "dstack");
  return catPromoted(each<atLeast3>(tensors), 2, Out());
}
static Tensor asColumns(const Tensor &t) { return t->rank > 1 ? t : viewShape(t, Dims({t->numel, 1})); }
Tensor columnStack(TensorList tensors) {
  needSome(tensors, "column_stack");
  return catPromoted(each<asColumns>(tensors), 1, Out());
}

/// Zeros left and right of each block, then the rows below each other.
Tensor blockDiag(TensorList tensors) {
  int64_t columns = 0, at = 0;
  std::vector<Tensor> blocks, rows;
  DType type = tensors.empty() ? defaultDType() : tensors[0]->dtype;
  for (const Tensor &t : tensors) {
    if (t->rank > 2)
      fail("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input " + std::to_string(blocks.size()) +
           " has " + std::to_string(t->rank) + " dimensions");
    blocks.push_back(atLeast2(t));
    columns += blocks.back()->sizes()[1];
    type = commonType(type, t->dtype);
  }
  if (blocks.empty())
    return fullTensor(Dims({1, 0}), 0, type);
  for (const Tensor &b : blocks) {
    int64_t height = b->sizes()[0], width = b->sizes()[1];
    Tensor left = fullTensor(Dims({height, at}), 0, type, b->device);
    Tensor right = fullTensor(Dims({height, columns - at - width}), 0, type, b->device);
    rows.push_back(catPromoted({left, as(b, type), right}, 1, Out()));
    at += width;
  }
  return catPromoted(rows, 0, Out());
}

//===-- common shapes -------------------------------------------------------------------------------------------===//

std::vector<Tensor> broadcastTensors(TensorList tensors) {
  Dims shape;
  Diag diag;
  for (const Tensor &t : tensors) {
    Dims next;
    if (!broadcastShapes(shape, t->dims(), next, diag))
      fail(diag);
    shape = next;
  }
  std::vector<Tensor> out;
  for (const Tensor &t : tensors)
    out.push_back(expanded(t, shape));
  return out;
}
Tensor broadcastTo(const Tensor &input, IntList size) { return expandSize(input, size); }

std::vector<Tensor> meshGrid(TensorList tensors, std::optional<std::string_view> indexing) {
  std::string_view order = indexing.value_or("ij");
  needSome(tensors, "meshgrid");
  if (order != "ij" && order != "xy")
    fail("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: " + std::string(order));
  bool swaps = order == "xy" && tensors.size() > 1;
  std::vector<Tensor> in(tensors.begin(), tensors.end()), out;
  if (swaps)
    std::swap(in[0], in[1]);
  checkRank(int64_t(in.size()), "meshgrid");
  Dims shape;
  for (const Tensor &t : in) {
    if (t->rank > 1)
      fail("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: " + t->dims().str());
    if (t->dtype != in[0]->dtype)
      fail("torch.meshgrid expects all tensors to have the same dtype");
    shape.push(t->numel);
  }
  for (size_t i = 0; i < in.size(); i++) {
    Dims mine;
    for (size_t k = 0; k < in.size(); k++)
      mine.push(k == i ? in[i]->numel : 1);
    out.push_back(expanded(reshaped(in[i], mine), shape));
  }
  if (swaps)
    std::swap(out[0], out[1]);
  return out;
}

Tensor cartesianProduct(TensorList tensors) {
  needSome(tensors, "cartesian_prod");
  for (const Tensor &t : tensors)
    if (t->rank != 1)
      fail("Expect a 1D vector, but got shape " + t->dims().str());
  if (tensors.size() == 1)
    return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor &t : meshGrid(tensors, "ij"))
    columns.push_back(ravelAll(t));
  return stackNew(columns, 1);
}

/// The index sets in ascending order: of i < j < ..., or of i <= j <= ...
Tensor combinationsOf(const Tensor &input, int64_t r, bool withReplacement) {
  if (input->rank != 1)
    fail("Expect a 1D vector, but got shape " + input->dims().str());
  if (r < 0)
    fail("Expect a non-negative number, but got " + std::to_string(r));
  if (r == 0)
    return fullTensor(Dims({0}), 0, input->dtype, input->device);
  int64_t n = input->numel, step = withReplacement ? 0 : 1;
  std::vector<int64_t> at(size_t(r), 0), all;
  for (int64_t k = 0; k < r; k++)
    at[size_t(k)] = k * step;
  for (bool more = n > (r - 1) * step; more;) {
    all.insert(all.end(), at.begin(), at.end());
    int64_t k = r - 1;
    while (k >= 0 && at[size_t(k)] == n - 1 - (r - 1 - k) * step)
      k--;
    more = k >= 0;
    for (int64_t v = more ? at[size_t(k)] + 1 : 0; more && k < r; k++, v += step)
      at[size_t(k)] = v;
  }
  int64_t count = int64_t(all.size()) / r;
  return reshaped(indexSelectDim(input, 0, indexLike(input, all), Out()), Dims({count, r}));
}

} // namespace torchc::composite
