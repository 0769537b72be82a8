#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Tape.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/DispatchHooks.h"
#include "frontends/eager/Modes.h"

namespace torchc {

DispatchHooks dispatchHooks;

/// The handler's result as a result of the op: what already has a history or is an operand gets an object of its own.
static Tensor ownResult(const OpCall &call, Tensor out) {
  bool shared = out->requiresGrad() || (opInfo(call.op).flags & OpIsView);
  for (int i = 0; i < call.numOperands; i++)
    shared |= call.operands[i].tensor == out.impl();
  return shared ? detachTensor(out) : out;
}

TensorImpl *callDispatched(const OpCall &call) {
  for (int i = 0; i < call.numOperands; i++)
    if (call.operands[i].tensor)
      materialize(call.operands[i].tensor);
  if (call.out.tensor)
    materialize(call.out.tensor);
  OpaqueScope opaque("__torch_dispatch__");
  auto run = [&] {
    NoGradGuard quiet;
    return Tensor(dispatchHooks.run(call));
  };
  if (TensorImpl *t = call.out.tensor) {
    checkChange(t);
    TapePlan plan = planInto(call);
    run();
    finishInto(call, plan);
    return retain(t);
  }
  TapePlan plan = planTape(call);
  Tensor out = run();
  bool wanted = plan.wanted && isDifferentiable(out->dtype), view = opInfo(call.op).flags & OpIsView;
  if (wanted || view)
    out = ownResult(call, std::move(out));
  TensorImpl *x = view ? call.operands[0].tensor : nullptr;
  if (view && out->storage && out->storage == x->storage)
    trackView(call.op, call.attrs, call.numAttrs, x, out.impl());
  if (wanted)
    setNode(out.impl(), recordNode(call, plan, out.impl()));
  return out.take();
}

} // namespace torchc
