#include "compiler/schedule/Access.h"
#include <algorithm>

using namespace mlir;

namespace torchc::schedule {

Dims rowMajor(const Dims &dims) {
  Dims s = dims;
  int64_t step = 1;
  for (int i = dims.size(); i-- > 0;) {
    s[i] = step;
    step *= dims[i];
  }
  return s;
}

bool Access::contiguous() const {
  int64_t step = 1;
  for (int i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != step)
      return false;
    step *= dims[i];
  }
  return true;
}

Dims stridesIn(const Access &a, const Dims &space) {
  Dims s = space;
  int lead = space.size() - a.dims.size();
  for (int i = 0; i < space.size(); i++)
    s[i] = i < lead || (a.dims[i - lead] == 1 && space[i] != 1) ? 0 : a.strides[i - lead];
  return s;
}

/// Strides of `to` over the same elements: old dimensions are merged where one steps through the other, then split.
static std::optional<Dims> reshapeStrides(const Access &a, const Dims &to) {
  if (to.numel() == 0)
    return rowMajor(to);
  Dims out = to;
  int old = 0;
  for (int i = 0; i < to.size();) {
    while (old < a.dims.size() && a.dims[old] == 1)
      old++;
    if (to[i] == 1) {
      out[i++] = 0;
      continue;
    }
    // The run of old dimensions [old, last] whose product is that of the new ones [i, end).
    int64_t have = a.dims[old], want = to[i];
    int last = old, end = i + 1;
    while (have != want) {
      if (have < want) {
        int next = last + 1;
        while (next < a.dims.size() && a.dims[next] == 1)
          next++;
        if (next >= a.dims.size() || a.strides[last] != a.strides[next] * a.dims[next])
          return std::nullopt;
        last = next;
        have *= a.dims[last];
      } else {
        want *= to[end++];
      }
    }
    int64_t step = a.strides[last];
    for (int k = end; k-- > i;) {
      out[k] = to[k] == 1 ? 0 : step;
      step *= to[k];
    }
    i = end;
    old = last + 1;
  }
  return out;
}

std::optional<Access> viewAccess(Operation *op, const Access &in) {
  Access out = in;
  Dims to = ir::dimsOf(cast<RankedTensorType>(op->getResult(0).getType()));
  out.dims = to;
  if (isa<ir::ReshapeOp>(op)) {
    std::optional<Dims> strides = reshapeStrides(in, to);
    if (!strides)
      return std::nullopt;
    out.strides = *strides;
  } else if (auto t = dyn_cast<ir::TransposeOp>(op)) {
    auto wrap = [&](int64_t d) { return int(d < 0 ? d + to.size() : d); };
    if (to.size())
      std::swap(out.strides[wrap(t.getDim0())], out.strides[wrap(t.getDim1())]);
  } else if (isa<ir::ExpandOp>(op)) {
    out.strides = stridesIn(in, to);
  } else if (auto s = dyn_cast<ir::SliceOp>(op)) {
    int d = int(s.getDim() < 0 ? s.getDim() + to.size() : s.getDim());
    out.offset += s.getStart() * in.strides[d];
    out.strides[d] = steppedStride(out.strides[d], s.getStep());
  } else if (auto a = dyn_cast<ir::AsStridedOp>(op)) {
    if (!in.contiguous()) // its offsets count row-major elements
      return std::nullopt;
    out.offset += a.getOffset();
    out.strides = Dims(a.getStride().data(), int(a.getStride().size()));
  } else {
    return std::nullopt;
  }
  return out;
}

} // namespace torchc::schedule
