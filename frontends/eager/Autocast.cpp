#include "frontends/eager/Autocast.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Dispatch.h"
#include <memory>
#include <unordered_map>

namespace torchc {
namespace {

/// A cast that later calls use again, as PyTorch does: its gradients add up in the lower type before they are cast back.
struct Kept {
  Tensor source; // held, so that the key means no other tensor
  uint32_t version;
  std::shared_ptr<Storage> memory; // what it was when it was cast: `.data` may be another tensor's now
  Tensor cast;
};
struct Contexts {
  int depth = 0;
  std::unordered_map<TensorImpl *, Kept> kept;
};

Contexts *contexts() { return static_cast<Contexts *>(threadState.frontend); }

/// Parameters only: other tensors are seldom met twice. Not where the cast has no gradient, as a later call may want one,
/// nor where tensors stand for others (cond, while_loop).
bool mayKeep(TensorImpl *t, DType to) {
  return contexts() && t->dtype == DType::F32 && to == autocastDType() && t->requiresGrad() && isLeaf(t) && !t->view &&
         isGradEnabled() && !threadState.abstract && !(threadState.modes.flags & FlagNoCastCache);
}

std::shared_ptr<Storage> memoryOf(TensorImpl *t) {
  return {retain(t->storage), [](Storage *s) { release(s); }};
}

Tensor castTo(const Tensor &t, DType to) { return callOp(OpId::Cast, {t}, {Attr::dtype(to)}); }

} // namespace

void setAutocastDType(DeviceKind kind, DType dtype) {
  ThreadModes m = threadState.modes;
  m.autocastDType[int(kind)] = uint8_t(dtype);
  setModes(m);
}

void enterAutocast() {
  if (!contexts())
    threadState.frontend = new Contexts;
  contexts()->depth++;
}
int leaveAutocast() {
  Contexts *c = contexts();
  if (!c)
    return 0;
  if (int left = --c->depth)
    return left;
  threadState.frontend = nullptr; // releasing tensors may call back
  delete c;
  return 0;
}
int autocastDepth() { return contexts() ? contexts()->depth : 0; }
void clearAutocastCache() {
  if (contexts())
    std::exchange(contexts()->kept, {}).clear();
}

Tensor AutocastCall::operator()(const Tensor &t) const {
  if (policy == Autocast::None || !t.defined() || t->device || !isFloat(t->dtype) || t->dtype == DType::F64)
    return t;
  DType to = policy == Autocast::Low ? autocastDType() : policy == Autocast::Single || wide ? DType::F32 : t->dtype;
  if (t->dtype == to)
    return t;
  if (!mayKeep(t.impl(), to))
    return castTo(t, to);
  auto &kept = contexts()->kept;
  auto it = kept.find(t.impl());
  if (it != kept.end() && it->second.version == t->version() && it->second.cast->dtype == to &&
      it->second.memory.get() == t->storage)
    return it->second.cast;
  Tensor cast = castTo(t, to);
  kept.insert_or_assign(t.impl(), Kept{t, t->version(), memoryOf(t.impl()), cast});
  return cast;
}

std::vector<Tensor> AutocastCall::operator()(const TensorList &list) const {
  std::vector<Tensor> out;
  for (const Tensor &t : list)
    out.push_back((*this)(t));
  return out;
}

} // namespace torchc
