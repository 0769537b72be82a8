#include "frontends/jit/Replay.h"
#include "frontends/eager/Modes.h"
#include <algorithm>

namespace torchc::jit {

bool planReplay(std::shared_ptr<Recording> graph, const std::vector<TensorImpl *> &inputs, uint64_t tag,
                const std::vector<TensorImpl *> &arguments, const std::vector<TensorImpl *> &results,
                ReplayPlan &plan) {
  const Recording &r = *graph;
  if (!r.refused.empty() || inputs.size() != r.inputs.size())
    return false;
  for (const Step &s : r.steps)
    if (s.control != traceNone || s.out != Out::None || s.random != traceNone || (opInfo(s.op).flags & OpMayRaise))
      return false;
  // Arguments that share memory may have been met as one input.
  for (size_t i = 0; i < arguments.size(); i++)
    for (size_t k = 0; k < i; k++)
      if (arguments[i] == arguments[k] || arguments[i]->storage == arguments[k]->storage)
        return false;
  plan = {};
  plan.numArguments = uint32_t(arguments.size());
  for (uint32_t i = 0; i < inputs.size(); i++) {
    auto at = std::find(arguments.begin(), arguments.end(), inputs[i]);
    if (at == arguments.end() || r.inputs[i].generator || r.inputs[i].number)
      return false;
    plan.argumentOf.push_back(uint32_t(at - arguments.begin()));
  }
  for (TensorImpl *t : results) {
    if (t->tag >> 32 != tag >> 32)
      return false;
    auto value = uint32_t(t->tag);
    const Value &v = r.values[value];
    bool whole = v.input == traceNone && r.storages[v.storage].firstValue == value;
    if (!whole || v.rank > inlineDims || std::count(plan.results.begin(), plan.results.end(), value))
      return false;
    plan.results.push_back(value);
  }
  // Arguments that share memory at replay are no other program: nothing is written.
  plan.graph = std::move(graph);
  return true;
}

static bool guarded(const ReplayPlan &plan, const Recording &r, TensorImpl *const *arguments) {
  if (r.defaultType != defaultDType())
    return false;
  for (uint32_t i = 0; i < plan.argumentOf.size(); i++) {
    const TensorImpl *t = arguments[plan.argumentOf[i]];
    if (!t->storage || t->device || (t->flags & FlagPending) || !sameLayout(r, r.values[r.inputs[i].value], t))
      return false;
  }
  return true;
}

bool replay(ReplayPlan &plan, const Recording &r, TensorImpl *const *arguments, TensorImpl **results) {
  if (r.state() != CompileState::Ready || !guarded(plan, r, arguments))
    return false;
  std::shared_ptr<const Compiled> c = r.compiled();
  if (!c || c->meta().results.size() > 16 || plan.argumentOf.size() > 40)
    return false;
  for (uint32_t v : plan.results)
    if (!c->gives(r.values[v].storage))
      return false;
  Storage *made[16] = {};
  void *ptrs[64], **p = ptrs;
  Compiled::Arena arena = c->takeArena(r);
  int32_t status = arena.memory ? 0 : 1;
  size_t count = 0;
  for (uint32_t n : c->meta().results) {
    Storage *s = newStorage(r.storages[n].nbytes);
    if (!s) {
      status = 1;
      break;
    }
    made[count++] = s;
    *p++ = s->data;
  }
  if (!status) {
    for (uint32_t a : plan.argumentOf)
      *p++ = arguments[a]->data;
    *p++ = &status;
    *p++ = arena.memory;
    c->call(ptrs, r);
  }
  if (arena.memory)
    c->returnArena(arena);
  for (uint32_t k = 0; !status && k < plan.results.size(); k++) {
    uint32_t storage = r.values[plan.results[k]].storage;
    const std::vector<uint32_t> &given = c->meta().results;
    size_t at = size_t(std::find(given.begin(), given.end(), storage) - given.begin());
    TensorImpl *t = r.shell(plan.results[k]);
    t->storage = retain(made[at]);
    t->data = made[at]->data;
    results[k] = t;
  }
  for (size_t i = 0; i < count; i++)
    release(made[i]);
  plan.launches += !status;
  return !status;
}

} // namespace torchc::jit
