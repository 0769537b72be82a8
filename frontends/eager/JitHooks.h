// How frontends/jit takes part in eager execution: it installs these functions, eager calls them only under the thread's
// Recording and Retracing flags or for pending tensors.
#pragma once
#include "dialects/rules/OpInfo.h"
#include "frontends/eager/Tensor.h"

namespace torchc {

/// One call of an op as the dispatcher sees it; everything is borrowed.
struct OpCall {
  OpId op;
  const Operand *operands;
  int numOperands;
  const Attr *attrs;
  int numAttrs;
  Out out;
};

/// What the program learns about a tensor, or does to it, outside of ops.
enum class Effect : uint8_t {
  ReadValue, // item(), bool(), tolist(), printing, an export
  SetData // its metadata and memory are another tensor's now
};

struct JitHooks {
  /// Retracing: matches the call and returns a pending tensor (owned; for an in-place call the target, retained).
  /// Null: the program left the trace, everything so far is computed, go on eagerly.
  TensorImpl *(*lazyOp)(const OpCall &call);
  /// Recording: the call has run and gave `result` (the target of an in-place call or `out=`).
  void (*recordOp)(const OpCall &call, TensorImpl *result);
  /// Recording and retracing: an effect happens now. Retracing finishes pending work first where order matters.
  void (*effect)(Effect kind, TensorImpl *t);
  /// Computes a pending tensor; Runtime error if its run is another thread's.
  void (*materialize)(TensorImpl *t);
  /// An op that may not be deferred comes next: compute everything pending in this thread's run.
  void (*flush)();
  /// An op registered at run time comes next: as flush(), and a recording's segment ends here, which is reported.
  void (*opaque)(const char *name);
  /// ThreadState::abstract: may an op write to `t`? Throws where it belongs to somebody else.
  void (*checkWrite)(TensorImpl *t);
};
extern JitHooks jitHooks;

/// Before the memory of `t` is read or written outside of ops: computes it, and ends the recorded segment that made it.
inline void materialize(TensorImpl *t) {
  if (TORCHC_UNLIKELY((t->flags & FlagPending) || (threadState.modes.flags & (FlagRecording | FlagRetracing))))
    jitHooks.materialize(t);
}
/// Python's or a user's code runs between recorded segments: what was deferred is computed, and nothing it does is
/// recorded.
class OpaqueScope {
public:
  explicit OpaqueScope(const char *name) {
    constexpr uint32_t traced = FlagRecording | FlagRetracing;
    if (!(threadState.modes.flags & traced))
      return;
    jitHooks.opaque(name);
    cleared = threadState.modes.flags & traced; // a run that has left doesn't trace any more
    changeFlags(0, cleared);
  }
  ~OpaqueScope() {
    if (cleared)
      changeFlags(cleared, 0);
  }
  OpaqueScope(const OpaqueScope &) = delete;

private:
  uint32_t cleared = 0;
};
/// Before a tensor changes: a function that becomes a graph (cond, while_loop) may change its own alone.
inline void checkChange(TensorImpl *t) {
  if (TORCHC_UNLIKELY(threadState.abstract) && (threadState.modes.flags & FlagRecording))
    jitHooks.checkWrite(t);
}
inline void noteEffect(Effect kind, TensorImpl *t) {
  if (TORCHC_UNLIKELY(threadState.modes.flags & (FlagRecording | FlagRetracing)))
    jitHooks.effect(kind, t);
}

} // namespace torchc
