// Functions of several ops on one element after the other.
#pragma once
#include "frontends/eager/Blocks.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {

/// realFunction whose f works element by element: by blocks where nobody sees its ops.
template <class F> Tensor elementFunction(const Tensor &x, Out out, F f) {
  DType t = floatTypeOf(x->dtype);
  auto of = [&](const Tensor &part) { return as(f(wide(as(part, t))), t); };
  if (!isFloat(t) || !isPlain(x) || !x->contiguous() || x->numel * itemSize(t) <= blockBytes)
    return deliver(of(x), out);
  Tensor y(newTensor(t, x->dims()));
  eachBlock(x->numel, blockBytes / itemSize(t), [&](int64_t first, int64_t n) {
    torchc::copyInto(rowsOf(y.impl(), first, n, Dims()).impl(), of(rowsOf(x.impl(), first, n, Dims())).impl());
  });
  return deliver(y, out);
}

} // namespace torchc::composite
