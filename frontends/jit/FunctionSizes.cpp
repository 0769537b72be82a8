// A function's dynamic recordings (J5): how they come about, and their instances.
#include "frontends/jit/Function.h"
#include <algorithm>

namespace torchc::jit {

std::shared_ptr<Recording> Function::instanceLocked(const std::shared_ptr<Recording> &dynamic,
                                                    const std::vector<int64_t> &sizes) {
  dynamic->sizes = sizes;
  auto known = std::find_if(instances.begin(), instances.end(),
                            [&](auto &r) { return r->family == dynamic && r->sizes == sizes; });
  if (known != instances.end()) {
    std::rotate(instances.begin(), known, known + 1);
    return instances.front();
  }
  std::shared_ptr<Recording> made = Recording::instance(dynamic, sizes);
  if (!made)
    return nullptr;
  if (instances.size() >= maxInstances)
    instances.pop_back();
  instances.insert(instances.begin(), made);
  return made;
}

std::shared_ptr<Recording> Function::instance(const std::shared_ptr<Recording> &dynamic,
                                              const std::vector<int64_t> &sizes) {
  std::lock_guard<std::mutex> lock(mutex);
  return instanceLocked(dynamic, sizes);
}

std::vector<int64_t> Function::lastSizes(const Recording &dynamic) {
  std::lock_guard<std::mutex> lock(mutex);
  return dynamic.sizes;
}

/// A dynamic recording of which the segment is an instance.
std::shared_ptr<Recording> Function::covering(const Segments &list, const Recording &segment) {
  if (!segment.refused.empty())
    return nullptr;
  for (const auto &r : list) {
    if (!r->dynamic() || r->state() == CompileState::Failed)
      continue;
    std::vector<int64_t> sizes;
    for (SymbolPlace p : r->places)
      if (p.input < segment.inputs.size())
        if (const Value &v = segment.values[segment.inputs[p.input].value]; p.dim < v.rank)
          sizes.push_back(segment.sizesOf(v)[p.dim]);
    if (sizes.size() != r->places.size())
      continue;
    std::vector<int64_t> before = r->sizes;
    std::shared_ptr<Recording> i = instanceLocked(r, sizes);
    if (i && i->sameProgram(segment))
      return r;
    r->sizes = before;
  }
  return nullptr;
}

/// A dynamic recording of the segment and one of the list, entered there. What can't become dynamic has a record.
std::shared_ptr<Recording> Function::joinSizes(Segments &list, const Recording &segment) {
  if (!settings.dynamic || !segment.refused.empty())
    return nullptr;
  std::string reason;
  int tries = 4; // each works through the whole program
  for (size_t n = list.size(); n-- > 0 && tries;) {
    std::shared_ptr<Recording> earlier = list[n];
    if (!earlier->refused.empty())
      continue;
    std::string why;
    std::shared_ptr<Recording> made = Recording::joinSizes(*earlier, segment, why);
    if (!made) {
      reason = reason.empty() ? why : reason;
      tries -= !why.empty();
      continue;
    }
    auto failed = std::find_if(list.begin(), list.end(), [&](auto &r) {
      return r->identity == made->identity && r->state() == CompileState::Failed;
    });
    if (failed != list.end()) {
      reason = (*failed)->failure();
      break;
    }
    made->next = earlier->next;
    made->replaces = earlier->replaces;
    made->replaces.push_back(earlier);
    replacing = true;
    note(RecordKind::Specialise, made->siteOf(0), "sizes change from call to call: the code reads them now", "",
         made->describeSymbols());
    list.push_back(made);
    return made;
  }
  if (!reason.empty())
    note(RecordKind::Specialise, segment.siteOf(0), "sizes that change from call to call stay constants: " + reason);
  return nullptr;
}

/// What a dynamic recording makes superfluous goes when its code is there.
void Function::dropReplaced(Segments &list) {
  for (size_t n = 0; n < list.size(); n++) {
    std::shared_ptr<Recording> r = list[n];
    dropReplaced(r->next);
    if (r->replaces.empty() || !(r->state() == CompileState::Ready || settings.interpret))
      continue;
    auto gone = [&](const std::shared_ptr<Recording> &x) {
      return std::find(r->replaces.begin(), r->replaces.end(), x) != r->replaces.end();
    };
    for (const auto &x : r->replaces) {
      r->launches += x->launches;
      r->interpreted += x->interpreted;
    }
    std::erase_if(list, gone);
    std::erase_if(plans, [&](const Plan &p) { return gone(p.plan.graph); });
    std::erase_if(instances, [&](const std::shared_ptr<Recording> &i) { return gone(i->family); });
    r->replaces.clear();
    n = size_t(-1); // places have changed
  }
}

/// For replay: only sizes with which the program itself has been seen to take this path.
std::shared_ptr<Recording> Function::instanceFor(const ReplayPlan &plan, TensorImpl *const *arguments) {
  const Recording &d = *plan.graph;
  std::vector<int64_t> sizes;
  for (SymbolPlace p : d.places) {
    const TensorImpl *t = arguments[plan.argumentOf[p.input]];
    if (t->rank != d.values[d.inputs[p.input].value].rank)
      return nullptr;
    sizes.push_back(t->sizes()[p.dim]);
  }
  for (const auto &i : instances)
    if (i->family == plan.graph && i->sizes == sizes)
      return i->confirmed ? i : nullptr;
  return nullptr;
}

/// The program has run along an instance from begin to end. If it gave the values that the plan gives, replay may take
/// its place with these sizes.
void Function::confirm(const Run &run, const std::vector<TensorImpl *> &arguments,
                       const std::vector<TensorImpl *> &results, bool tuple) {
  std::lock_guard<std::mutex> lock(mutex);
  Recording &r = *run.whole();
  for (const Plan &p : plans) {
    if (p.plan.graph != r.family || p.tuple != tuple || p.plan.numArguments != arguments.size() ||
        p.plan.results.size() != results.size() || p.plan.argumentOf.size() != run.lastInputs().size())
      continue;
    bool same = true;
    for (size_t i = 0; i < p.plan.argumentOf.size(); i++)
      same &= run.lastInputs()[i] == arguments[p.plan.argumentOf[i]];
    for (size_t i = 0; i < results.size(); i++)
      same &= results[i]->tag == (run.lastTag() | p.plan.results[i]);
    if (same)
      r.confirmed = true;
  }
}

} // namespace torchc::jit
