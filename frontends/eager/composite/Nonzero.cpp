// Functions of where a mask is true: their sizes depend on the values.
#include "frontends/eager/composite/Common.h"
#include "runtime/kernels/Index.h"
#include <algorithm>

namespace torchc::composite {
namespace {

/// Row-major places of non-zero elements, int64, 1-D; observes x.
Tensor placesOf(const Tensor &x, const char *op) {
  Tensor mask = x;
  if (x->dtype != DType::Bool) {
    NoGradGuard quiet;
    mask = callOp(OpId::Ne, {x, 0});
  }
  mask = observed(mask, op);
  Tensor out(newTensor(DType::I64, Dims({countTrue(mask->data, mask->numel)})));
  truePlaces(mask->data, out->numel, reinterpret_cast<int64_t *>(out->data));
  return out;
}

/// One index of each dimension: [n] ascending places in `shape` as [n, rank]. Only where the last dimension is left are the
/// others computed anew.
Tensor coordinates(const Tensor &places, const Dims &shape) {
  int64_t n = places->numel, rank = shape.size();
  if (rank == 1)
    return viewShape(places, Dims({n, 1}));
  Tensor out(newTensor(DType::I64, Dims({n, rank})));
  auto *p = reinterpret_cast<const int64_t *>(places->data);
  auto *to = reinterpret_cast<int64_t *>(out->data);
  int64_t start = 0, last = 0; // of the row, and its length
  for (int64_t i = 0; rank && i < n; i++, to += rank) {
    if (p[i] - start < last) {
      std::copy_n(to - rank, rank, to);
      to[rank - 1] = p[i] - start;
      continue;
    }
    int64_t rest = p[i];
    for (int64_t d = rank; d-- > 0;) {
      to[d] = rest % shape[int(d)];
      rest /= shape[int(d)];
    }
    start = p[i] - to[rank - 1];
    last = shape[int(rank) - 1];
  }
  return out;
}

void needBool(const Tensor &mask, const char *op) {
  if (mask->dtype != DType::Bool)
    fail(std::string(op) + ": expected BoolTensor for mask, got " + std::string(torchName(mask->dtype)));
}

} // namespace

Tensor argWhere(const Tensor &input) { return coordinates(placesOf(input, "nonzero"), input->dims()); }
TensorOrList nonzeroOf(const Tensor &input, bool asTuple) {
  if (!asTuple)
    return argWhere(input);
  return unbindDim(argWhere(input->rank ? input : viewShape(input, Dims({1}))), 1);
}
std::vector<Tensor> whereTrue(const Tensor &condition) { return std::get<1>(nonzeroOf(condition, true)); }

/// The first `size` rows; missing ones are filled.
Tensor nonzeroStatic(const Tensor &input, int64_t size, int64_t fillValue) {
  if (size < 0)
    fail("nonzero_static: 'size' must be an non-negative integer");
  Tensor found = argWhere(input);
  int64_t n = found->sizes()[0], rank = input->rank;
  if (n >= size)
    return cloneOf(sliceDim(found, 0, 0, size));
  return catPromoted({found, fullTensor(Dims({size - n, rank}), fillValue, DType::I64)}, 0, Out());
}

Tensor maskedSelect(const Tensor &input, const Tensor &mask) {
  needBool(mask, "masked_select");
  std::vector<Tensor> both = broadcastTensors({input, mask});
  return indexSelectDim(ravelAll(both[0]), 0, placesOf(both[1], "masked_select"), Out());
}

Tensor maskedScatter(const Tensor &input, const Tensor &mask, const Tensor &source) {
  needBool(mask, "masked_scatter_");
  if (source->dtype != input->dtype)
    fail("masked_scatter: expected self and source to have same dtypes but got " +
         std::string(torchName(input->dtype)) + " and " + std::string(torchName(source->dtype)));
  std::vector<Tensor> both = broadcastTensors({input, mask});
  Tensor places = placesOf(both[1], "masked_scatter_");
  if (places->numel > source->numel)
    fail("masked_scatter: expected source to have at least " + std::to_string(places->numel) + " elements, got " +
         std::to_string(source->numel));
  Tensor from = sliceDim(ravelAll(source), 0, 0, places->numel);
  return reshaped(callOp(OpId::Scatter, {ravelAll(both[0]), places, from}, {Attr::integer(0)}), both[0]->dims());
}

} // namespace torchc::composite
