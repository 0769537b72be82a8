// Fused ops by their decomposition (rules/Decompose.h), run unseen by tape and tracer.
#include "dialects/rules/Decompose.h"
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"
#include "runtime/core/Storage.h"

namespace torchc {

TensorImpl *runFused(Resolved &r) {
  InternalGuard guard;
  EagerBuilder builder{r.operand(0) ? r.operand(0)->device : uint8_t(0)};
  EagerValue operands[maxFixedOperands];
  for (int i = 0; i < r.call.numOperands; i++)
    operands[i] = EagerValue(Tensor::borrow(r.operand(i)));
  EagerValue v = decompose(r.call.op, builder, operands, r.call.attrs, r.type.dtype);
  if (!v.tensor.defined())
    fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): no decomposition");
  // A decomposition may hand an operand back (nothing to normalise): the result is a tensor of its own.
  for (int i = 0; i < r.call.numOperands; i++)
    if (v.tensor.same(operands[i].tensor) || v.tensor->storage == operands[i].tensor->storage)
      return copyOf(v.tensor.impl(), v.tensor->dtype);
  return v.tensor.take();
}

} // namespace torchc
