#include "frontends/jit/Retrace.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Control.h"
#include "frontends/jit/Function.h"
#include "frontends/jit/Interpret.h"
#include "frontends/jit/Tracer.h"
#include <algorithm>

namespace torchc::jit {
namespace {

// While other runs are active they may replace the tags that this one left on shared storages.
std::atomic<uint32_t> activeRuns{0}, startedRuns{0};

// Deferred tensors have a null base, so that their pointers are offsets: no pointer arithmetic.
char *at(char *base, int64_t offset) { return reinterpret_cast<char *>(reinterpret_cast<intptr_t>(base) + offset); }
int64_t offsetFrom(const char *p, const char *base) {
  return reinterpret_cast<intptr_t>(p) - reinterpret_cast<intptr_t>(base);
}

} // namespace

void settle(TensorImpl *t) {
  if (t->storage && t->storage->deferred == storageLost)
    fail("this tensor was never computed: an earlier operation of the compiled function failed");
  if (t->flags & flagDeferredData) {
    t->data = at(t->storage->data, reinterpret_cast<intptr_t>(t->data));
    t->flags &= ~flagDeferredData;
  }
  t->flags &= ~uint32_t(FlagPending);
}

Run::Run(Function &f, Segments roots) : function(f) {
  start(std::move(roots));
  ActiveRuns::add(gate); // may throw
  alone = activeRuns.fetch_add(1) == 0;
  started = ++startedRuns;
}

Run::~Run() {
  InsideGate inside(*gate);
  endSegment();
  ActiveRuns::remove(this);
  gate->run = nullptr;
  activeRuns--;
}

void Run::computeElsewhere(Storage *s) {
  std::shared_ptr<RunGate> gate = ActiveRuns::find(reinterpret_cast<const Run *>(s->deferred));
  if (!gate)
    return;
  InsideGate inside(*gate); // its thread is between two ops now, or at the end
  if (gate->run && s->deferred == runWord(gate->run))
    gate->run->leave("another thread looked at a value that was being deferred");
}

/// For the run's own thread: others keep their flags.
void Run::stopDeferring() {
  gone = true;
  if (home == &threadState)
    changeFlags(0, FlagRetracing);
}

void Run::start(Segments s) {
  endSegment();
  segments = std::move(s);
  segmentsSeen++;
  graph.reset();
  tag = uint64_t(nextRunId()) << 32;
}

/// Drops what a segment holds; deferred storages must have been computed, or are lost.
void Run::endSegment() {
  for (Slot &s : slots)
    if (s.storage && s.storage->deferred == runWord(this))
      s.storage->deferred = s.pending ? storageLost : 0;
  for (TensorImpl *t : std::exchange(written, {})) {
    if (!t->storage || !t->storage->deferred)
      t->flags &= ~uint32_t(FlagPending);
    release(t);
  }
  for (TensorImpl *t : std::exchange(inputs, {}))
    if (t)
      release(t);
  for (Slot &s : std::exchange(slots, {}))
    if (s.storage)
      release(s.storage);
  for (const Snapshot &s : std::exchange(snapshots, {}))
    release(s.copy);
  foreign = false;
  generators.clear();
  numbers.clear();
  bound.clear();
  boundNumbers.clear();
  checked.clear();
  position = 0;
}

bool Run::usable(const Recording &r) const {
  return r.refused.empty() && (r.state() == CompileState::Ready || function.options().interpret);
}

void Run::choose(std::shared_ptr<Recording> r) {
  graph = std::move(r);
  if (!graph)
    return;
  slots.resize(graph->storages.size());
  inputs.resize(graph->inputs.size());
  generators.resize(graph->inputs.size());
  numbers.resize(graph->inputs.size());
}

//===-- matching ------------------------------------------------------------------------------------------------===//

bool Run::match(const OpCall &call) {
  if (graph && matches(call))
    return true;
  std::shared_ptr<Recording> before = graph;
  std::vector<Attr> numbersBefore = numbers;
  std::vector<uint32_t> boundBefore = boundNumbers;
  for (const std::shared_ptr<Recording> &listed : segments) {
    if (listed == before || !usable(*listed))
      continue;
    std::shared_ptr<Recording> other = listed->dynamic() ? instanceOf(listed, &call) : listed;
    if (!other || other == before)
      continue;
    if (before && (!before->samePrefix(*other, position) || !adopt(other)))
      continue;
    if (!before)
      choose(other);
    if (matches(call))
      return true;
    numbers = numbersBefore;
    boundNumbers = boundBefore;
    choose(before);
  }
  return false;
}

bool Run::matches(const OpCall &call) {
  if (position >= graph->steps.size() || graph->defaultType != defaultDType())
    return false;
  size_t mark = bound.size(), numberMark = boundNumbers.size();
  if (matchesStep(call, graph->steps[position]))
    return true;
  unbind(mark, numberMark);
  return false;
}

bool Run::matchesStep(const OpCall &call, const Step &s) {
  if (s.op != call.op || s.out != call.out.kind || s.numOperands != call.numOperands || s.numAttrs != call.numAttrs)
    return false;
  if ((s.control != traceNone) != (incoming != nullptr) || (incoming && !(*incoming == *graph->controls[s.control])))
    return false;
  const Attr *attrs = graph->attrs.data() + s.firstAttr;
  for (int i = 0; i < call.numAttrs; i++)
    if (!(attrs[i] == call.attrs[i]))
      return false;
  const Attr *number = attrs + s.numAttrs;
  for (int i = 0; i < call.numOperands; i++) {
    uint32_t want = graph->ins[s.firstIn + uint32_t(i)];
    const Operand &o = call.operands[i];
    if (o.isNumber()) {
      if (want != traceNone || !acceptsNumber(*number++, o.number.attr()))
        return false;
    } else if (i == 0 && s.random != traceNone) {
      if (!bindRandom(o.tensor, s))
        return false;
    } else if (!resolves(o.tensor, want))
      return false;
  }
  return call.out.kind == Out::None || resolves(call.out.tensor, s.result);
}

/// Equal to the recorded number, or to what its input got at the first use in this run.
bool Run::acceptsNumber(const Attr &recorded, const Attr &now) {
  if (TORCHC_LIKELY(recorded.tag != AttrTag::Hole))
    return recorded == now;
  auto input = uint32_t(recorded.i);
  Attr &met = numbers[input];
  if (!met.isNone())
    return met == now;
  DType type = graph->values[graph->inputs[input].value].dtype;
  if (now.tag != (type == DType::I64 ? AttrTag::Int : AttrTag::Float))
    return false;
  met = now;
  boundNumbers.push_back(input);
  return true;
}

/// May what is bound already be an input of another recording that has the same steps so far? bind() has asked this one;
/// what follows the common steps may write what is only read here, and inputs that share memory here may have had their
/// own there.
bool Run::admits(const Recording &other) const {
  for (uint32_t input : bound) {
    if (other.inputs[input].generator)
      continue;
    uint32_t n = other.values[other.inputs[input].value].storage;
    const StorageInfo &s = other.storages[n];
    if (slots[n].storage->exposed && s.written)
      return false;
    if (uint32_t first = numberOf(slots[n].storage); first != traceNone && other.storages[first].memory != s.memory)
      return false;
  }
  return true;
}

/// Goes on with another recording that has the same steps so far, if its inputs and numbers may be those of this run.
bool Run::adopt(const std::shared_ptr<Recording> &other) {
  if (!admits(*other))
    return false;
  std::shared_ptr<Recording> before = graph;
  std::vector<Attr> had = numbers;
  std::vector<uint32_t> hadBound = boundNumbers;
  numbers.assign(other->inputs.size(), Attr());
  boundNumbers.clear();
  choose(other);
  bool fits = true;
  for (uint32_t i = 0; i < position && fits; i++)
    for (uint32_t k = 0, n = before->numbersOf(before->steps[i]); k < n && fits; k++) {
      const Attr &old = before->numberOf(before->steps[i], k);
      fits = acceptsNumber(other->numberOf(other->steps[i], k), old.tag == AttrTag::Hole ? had[size_t(old.i)] : old);
    }
  if (fits)
    return true;
  numbers = std::move(had);
  boundNumbers = std::move(hadBound);
  choose(before);
  return false;
}

bool Run::resolves(TensorImpl *t, uint32_t want) {
  if (TORCHC_LIKELY(t->tag == (tag | want)))
    return true;
  if (want == traceNone || !t->storage)
    return false;
  if ((t->flags & FlagPending) && t->storage->deferred != runWord(this)) {
    if (t->storage->deferred > storageLost)
      return false; // another thread's; the eager path says so
    settle(t);
  }
  const Value &v = graph->values[want];
  Slot &slot = slots[v.storage];
  if (!slot.storage)
    return v.input != traceNone && !graph->inputs[v.input].generator && bind(t, want);
  if (slot.storage != t->storage || offsetFrom(t->data, slot.base) != v.offset || !sameLayout(*graph, v, t))
    return false;
  t->tag = tag | want;
  return true;
}

/// Number of a storage that this segment has met, or traceNone.
uint32_t Run::numberOf(Storage *s) const {
  if (s->tag >> 32 == tag >> 32)
    return uint32_t(s->tag);
  if (alone && startedRuns.load() == started)
    return traceNone;
  for (uint32_t n = 0; n < slots.size(); n++)
    if (slots[n].storage == s)
      return n;
  return traceNone;
}

/// First touch of an input.
bool Run::bind(TensorImpl *t, uint32_t want) {
  const Value &v = graph->values[want];
  bool writable = graph->storages[v.storage].written;
  if (t->device || t->storage->deferred || (t->storage->exposed && writable) || !sameLayout(*graph, v, t))
    return false;
  uint32_t other = numberOf(t->storage);
  if (other != traceNone && graph->storages[other].memory != graph->storages[v.storage].memory)
    return false;
  if (other == traceNone)
    t->storage->tag = tag | v.storage;
  slots[v.storage] = {retain(t->storage), t->data, false, false, t->storage->exposed != 0};
  foreign |= t->storage->exposed != 0;
  inputs[v.input] = retain(t);
  bound.push_back(v.input);
  t->tag = tag | want;
  return true;
}

bool Run::bindRandom(TensorImpl *state, const Step &s) {
  uint32_t input = graph->values[graph->ins[s.firstIn]].input;
  if (!state || !state->storage || state->dtype != DType::I64 || state->numel != 2 || !state->contiguous())
    return false;
  auto *words = reinterpret_cast<const uint64_t *>(state->data);
  for (uint32_t b : bound)
    if (b == input)
      return words[0] == generators[input].first && words[1] == generators[input].second + s.random;
  if (s.random)
    return false;
  generators[input] = {words[0], words[1]};
  bound.push_back(input);
  return true;
}

/// Forgets inputs that a failed match has met.
void Run::unbind(size_t mark, size_t numberMark) {
  for (; boundNumbers.size() > numberMark; boundNumbers.pop_back())
    numbers[boundNumbers.back()] = Attr();
  for (; bound.size() > mark; bound.pop_back()) {
    uint32_t input = bound.back();
    TensorImpl *t = std::exchange(inputs[input], nullptr);
    if (!t)
      continue;
    uint32_t storage = graph->values[graph->inputs[input].value].storage;
    release(std::exchange(slots[storage], {}).storage);
    if (t->storage && t->storage->tag == (tag | storage))
      t->storage->tag = 0;
    t->tag = 0;
    release(t);
  }
}

//===-- deferring -----------------------------------------------------------------------------------------------===//

void Run::leaveAt(const OpCall &call) {
  // At the start of a segment that has recordings which aren't compiled (yet), leaving is no news.
  bool known = !graph && !segments.empty() &&
               std::none_of(segments.begin(), segments.end(), [&](auto &r) { return usable(*r); });
  if (known)
    leave(nullptr);
  else
    leave("the program goes on differently from every recording",
          graph && position < graph->steps.size() ? describe(*graph, position) : "", describe(call));
}

std::vector<Tensor> Run::op(const std::shared_ptr<const Control> &control, const std::vector<Tensor> &inputs,
                            TensorImpl *state) {
  InsideGate inside(*gate);
  std::vector<Operand> operands;
  if (state)
    operands.push_back(Operand(state));
  for (const Tensor &t : inputs)
    operands.push_back(Operand(t));
  OpCall call{OpId::NumOps, operands.data(), int(operands.size()), nullptr, 0, {}};
  struct Incoming {
    const Control *&slot;
    ~Incoming() { slot = nullptr; }
  } reset{incoming};
  incoming = control.get();
  if (gone || !match(call)) {
    leaveAt(call);
    return {};
  }
  const Step &s = graph->steps[position];
  if (foreign && !readForeign(call, s)) {
    leave("memory shared with another library changed, or too much of it is read");
    return {};
  }
  position++;
  std::vector<Tensor> results;
  for (uint32_t v = s.result; v < s.result + s.numResults; v++) {
    results.emplace_back(fresh(v));
    results.back()->tag = tag | v;
  }
  return results;
}

TensorImpl *Run::op(const OpCall &call) {
  InsideGate inside(*gate);
  TapePlan plan =
      call.out.kind == Out::None ? planTape(call) : planInto(call); // the latter may copy, as an op of its own
  if (gone || !match(call)) {
    leaveAt(call);
    return nullptr;
  }
  const Step &s = graph->steps[position];
  const OpInfo &info = opInfo(call.op);
  if (foreign && !readForeign(call, s)) {
    leave("memory shared with another library changed, or too much of it is read");
    return nullptr;
  }
  if ((info.flags & OpMayRaise) && !indexInRange(call, s)) {
    leave("an index that can't be checked before its op runs, or is out of range");
    return nullptr;
  }
  position++;
  if (s.out != Out::None) {
    write(call.out.tensor, s);
    finishInto(call, plan);
    return retain(call.out.tensor);
  }
  Tensor out(s.isView ? view(call, s) : fresh(s.result));
  out->tag = tag | s.result;
  if (info.flags & OpIsView)
    trackView(call.op, call.attrs, call.numAttrs, call.operands[0].tensor, out.impl());
  if (plan.wanted && isDifferentiable(out->dtype))
    setNode(out.impl(), recordNode(call, plan, out.impl()));
  return out.take();
}

TensorImpl *Run::fresh(uint32_t value) {
  const Value &v = graph->values[value];
  Storage *st = newForeignStorage(nullptr, graph->storages[v.storage].nbytes, nullptr, nullptr);
  if (TORCHC_UNLIKELY(!st))
    outOfMemory(sizeof(Storage));
  st->tag = tag | v.storage;
  st->deferred = runWord(this);
  slots[v.storage] = {retain(st), nullptr, true};
  TensorImpl *t = graph->shell(value);
  t->storage = st;
  t->flags |= FlagPending | flagDeferredData;
  return t;
}

TensorImpl *Run::view(const OpCall &call, const Step &s) {
  const Value &v = graph->values[s.result];
  const Slot &slot = slots[v.storage];
  TensorImpl *a = call.operands[0].tensor;
  TensorImpl *t = graph->shell(s.result);
  t->flags |= a->flags & (FlagInferenceTensor | flagOwnVersion);
  t->ownVersion = a->ownVersion;
  t->storage = retain(a->storage);
  t->data = at(slot.base, v.offset);
  if (slot.pending)
    t->flags |= FlagPending | flagDeferredData;
  else if (slot.dirty)
    t->flags |= FlagPending;
  return t;
}

void Run::write(TensorImpl *target, const Step &s) {
  checked.clear(); // an index may have been written
  Slot &slot = slots[graph->values[s.result].storage];
  if (!slot.pending && !slot.dirty) {
    slot.dirty = true;
    slot.storage->deferred = runWord(this);
  }
  if (!(target->flags & FlagPending)) {
    target->flags |= FlagPending;
    written.push_back(retain(target));
  }
}

//===-- computing -----------------------------------------------------------------------------------------------===//

/// Does a recording end where the program stands? Chooses it.
bool Run::endsHere() {
  if (position == graph->steps.size())
    return true;
  for (const std::shared_ptr<Recording> &listed : segments) {
    if (listed->steps.size() != position || !usable(*listed))
      continue;
    // Only what the steps so far have met can be bound: the shorter recording has all of it.
    std::shared_ptr<Recording> other = listed->dynamic() ? instanceOf(listed, nullptr) : listed;
    if (other && graph->samePrefix(*other, position) && adopt(other))
      return true;
  }
  return false;
}

void Run::observe() {
  InsideGate inside(*gate);
  if (gone || !graph || !position)
    return;
  bool ends = endsHere();
  flush();
  if (!ends) {
    leave("a value was looked at where no recording saw that");
    return;
  }
  start(function.after(graph->root()));
}

void Run::leave(const char *reason, std::string expected, std::string came) {
  InsideGate inside(*gate);
  if (gone)
    return;
  Site site = reason && sourceCallback ? sourceCallback() : Site();
  struct Clear {
    Run &r;
    ~Clear() {
      r.stopDeferring();
      r.endSegment();
    }
  } clear{*this};
  if (reason)
    function.noteLeave(site, reason, std::move(expected), std::move(came));
  leaving = true;
  flush();
}

void Run::finish() {
  InsideGate inside(*gate);
  if (gone)
    return;
  if (graph && position) {
    bool ends = endsHere();
    if (ends && segmentsSeen == 1 && graph->family && !graph->confirmed) {
      followed = graph;
      met = inputs;
      metTag = tag;
    }
    flush();
    if (!ends)
      function.noteLeave({}, "the function returned where no recording did");
  }
  gone = true;
  endSegment();
}

void Run::flush() {
  if (!position || !graph)
    return;
  try {
    compute();
  } catch (...) { // what came after the failing op is lost, as eager would never have reached it
    stopDeferring();
    endSegment();
    throw;
  }
}

} // namespace torchc::jit
