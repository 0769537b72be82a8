// __torch_dispatch__: ops that Python takes, below autograd. The binding installs these functions; eager calls them only
// under FlagTorchMode and for tensors of classes that dispatch (FlagSubclass).
#pragma once
#include "frontends/eager/JitHooks.h"

namespace torchc {

struct DispatchHooks {
  /// What the innermost mode or an operand's class makes of the call; owned. Gradients are off meanwhile.
  TensorImpl *(*run)(const OpCall &call);
  /// Another tensor of t's class and attributes, on the same memory, without history.
  Tensor (*alias)(TensorImpl *t);
  /// Ones of t's class, size and type.
  Tensor (*ones)(TensorImpl *t);
};
extern DispatchHooks dispatchHooks;

/// Does Python take this call?
inline bool isDispatched(const OpCall &call) {
  uint32_t f = threadState.modes.flags;
  if (TORCHC_UNLIKELY(f & (FlagTorchMode | FlagNoDispatch)))
    return !(f & FlagNoDispatch);
  for (int i = 0; i < call.numOperands; i++)
    if (call.operands[i].tensor)
      f |= call.operands[i].tensor->flags;
  return TORCHC_UNLIKELY(f & FlagSubclass);
}
/// Runs such a call: tape and views as for any other op.
TensorImpl *callDispatched(const OpCall &call);

} // namespace torchc
