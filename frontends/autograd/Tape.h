// Recording applied ops on the tape.
#pragma once
#include "frontends/autograd/Node.h"
#include "frontends/eager/JitHooks.h"

namespace torchc {

/// torch.autograd.graph.saved_tensors_hooks: where saved tensors go instead of into the node. The innermost of this
/// thread, null: none.
struct SavedHooks {
  virtual ~SavedHooks() = default;
  virtual Unpack pack(const Tensor &t) = 0;
};
extern __thread SavedHooks *savedHooks __attribute__((tls_model("initial-exec")));

/// The last op of this thread that had an operand with gradients but knows no derivative for it though its result is a
/// float; NumOps: none since it was set so.
extern __thread OpId lostDerivative __attribute__((tls_model("initial-exec")));

/// While one lives, what this thread records are parts of a function that is linear in pieces: its derivative, which
/// depends on no value of its input, still gets a history under create_graph, one of zeros, as PyTorch's has.
struct LinkedScope {
  LinkedScope() { depth++; }
  ~LinkedScope() { depth--; }
  LinkedScope(const LinkedScope &) = delete;
  LinkedScope &operator=(const LinkedScope &) = delete;
  static __thread int depth __attribute__((tls_model("initial-exec")));
};

/// What a call will need recorded, worked out before the op runs (an in-place op overwrites operand 0).
struct TapePlan {
  bool wanted = false;
  uint16_t saves = 0;               // bits as OpInfo::saves
  Tensor copies[maxFixedOperands]; // of operands that an in-place op overwrites and the gradient reads
};

/// Refreshes views; `wanted` if gradients are on and a differentiable operand requires one.
TapePlan planTape(const OpCall &call);
/// The same for in-place and `out=` calls: refuses what the tape can't follow, and copies what the gradient reads and the
/// op overwrites.
TapePlan planInto(const OpCall &call);
/// After the target was written (or its write deferred): moves its version and gives it its history.
void finishInto(const OpCall &call, const TapePlan &plan);
/// The node of a call whose result has `result`'s type and storage; owned.
Node *recordNode(const OpCall &call, const TapePlan &plan, TensorImpl *result);
/// Gives `out` the history `n` (taken).
inline void setNode(TensorImpl *out, Node *n) {
  out->node = n;
  out->flags |= FlagRequiresGrad;
}

} // namespace torchc
