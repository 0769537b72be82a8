#include "frontends/jit/Tracer.h"
#include "dialects/trace/TraceFile.h"
#include "frontends/eager/Modes.h"
#include "frontends/eager/View.h"
#include "frontends/jit/Control.h"
#include <algorithm>

namespace torchc::jit {

SourceCallback sourceCallback = nullptr;

uint32_t nextRunId() {
  static std::atomic<uint32_t> next{1};
  uint32_t id = next.fetch_add(1, std::memory_order_relaxed);
  return id ? id : nextRunId(); // 0 is "no tag"
}

/// A fresh storage of the segment. Any thread may free it, also while the tracer ends: whoever takes the hook out of the
/// storage owns this.
struct Tracer::Watched {
  Storage *storage;
  uint32_t number;
  std::shared_ptr<Deaths> deaths;
  Watched *next;
};
struct Tracer::Deaths {
  std::atomic<Watched *> first{nullptr};
  ~Deaths() {
    for (Watched *w = first.load(); w;)
      delete std::exchange(w, w->next);
  }
};

Tracer::Tracer(std::function<void(std::unique_ptr<Recording>)> sink) : sink(std::move(sink)) { begin(); }

Tracer::~Tracer() {
  for (Watched *w : alive)
    if (w)
      unwatch(w);
  for (TensorImpl *t : held)
    release(t);
}

void Tracer::begin() {
  r = std::make_unique<Recording>();
  r->defaultType = defaultDType();
  tag = uint64_t(nextRunId()) << 32;
  numbers.clear();
  deaths = std::make_shared<Deaths>();
  bases.clear();
  alive.clear();
  layouts.clear();
  generators.clear();
}

void Tracer::watch(Storage *s) {
  uint32_t number = known().at(s);
  alive[number] = new Watched{s, number, deaths, nullptr};
  onRelease(s, storageDied, alive[number]);
}

void Tracer::unwatch(Watched *w) {
  if (removeReleaseHook(w->storage, storageDied, w))
    delete w;
}

void Tracer::storageDied(Storage *, void *watched) {
  auto *w = static_cast<Watched *>(watched);
  std::shared_ptr<Deaths> to = std::move(w->deaths);
  w->next = to->first.load(std::memory_order_relaxed);
  while (!to->first.compare_exchange_weak(w->next, w, std::memory_order_release, std::memory_order_relaxed))
    ;
}

std::unordered_map<Storage *, uint32_t> &Tracer::known() {
  for (Watched *w = deaths->first.exchange(nullptr, std::memory_order_acquire); w;) {
    alive[w->number] = nullptr;
    numbers.erase(w->storage);
    delete std::exchange(w, w->next);
  }
  return numbers;
}

void Tracer::refuse(std::string why) {
  if (r->refused.empty())
    r->refused = std::move(why);
}

uint32_t Tracer::addStorage(Storage *s, char *base, int64_t nbytes, bool isInput, DType dtype) {
  auto number = uint32_t(r->storages.size());
  auto [it, fresh] = known().emplace(s, number);
  uint32_t memory = fresh ? number : r->storages[it->second].memory;
  r->storages.push_back({nbytes, uint32_t(r->values.size()), memory, isInput});
  if (!fresh) // another input over the same memory: the trace says so by equal tags
    r->trace.storages[memory].tag = memory + 1;
  r->trace.addStorage(nbytes, dtype, 0, 0, fresh ? 0 : memory + 1);
  bases.push_back(base);
  alive.push_back(nullptr);
  layouts.emplace_back();
  r->wanted.push_back(false);
  return number;
}

/// A new value with t's layout in `storage`; its canonical number if the layout is known there.
uint32_t Tracer::addValue(TensorImpl *t, uint32_t storage) {
  auto number = uint32_t(r->values.size());
  uint32_t known = find(storage, t);
  Value v{};
  v.storage = storage;
  v.canonical = known == traceNone ? number : known;
  v.firstDim = uint32_t(r->dims.size());
  v.offset = t->data - bases[storage];
  v.numel = t->numel;
  v.dtype = t->dtype;
  v.rank = t->rank;
  v.contiguous = t->contiguous();
  r->dims.insert(r->dims.end(), t->sizes(), t->sizes() + t->rank);
  r->dims.insert(r->dims.end(), t->strides(), t->strides() + t->rank);
  r->values.push_back(v);
  std::vector<TraceDim> sizes(t->sizes(), t->sizes() + t->rank), strides;
  if (!v.contiguous)
    strides.assign(t->strides(), t->strides() + t->rank);
  int64_t offset = v.offset / itemSize(v.dtype);
  if (offset < 0 || v.offset % itemSize(v.dtype) || t->rank > int(traceMaxRank)) {
    refuse("a view that a trace can't describe");
    offset = 0;
  }
  r->trace.addValue(v.dtype, sizes, storage, offset, strides);
  if (known == traceNone)
    layouts[storage].push_back(number);
  return number;
}

uint32_t Tracer::find(uint32_t storage, TensorImpl *t) {
  for (uint32_t v : layouts[storage])
    if (r->values[v].offset == t->data - bases[storage] && sameLayout(*r, r->values[v], t))
      return v;
  return traceNone;
}

uint32_t Tracer::addInput(TensorImpl *t) {
  uint32_t storage = addStorage(t->storage, t->data, spanOf(t), true, t->dtype);
  uint32_t v = addValue(t, storage);
  r->values[v].input = uint32_t(r->inputs.size());
  r->inputs.push_back({v, false});
  r->trace.addInput(v, InputKind::Captured);
  held.push_back(retain(t));
  t->tag = tag | v;
  return v;
}

uint32_t Tracer::addGenerator(uint64_t seed, uint64_t ordinal) {
  TraceDim two[1] = {2};
  auto storage = uint32_t(r->storages.size());
  r->storages.push_back({16, uint32_t(r->values.size()), storage, true});
  bases.push_back(nullptr);
  alive.push_back(nullptr);
  layouts.emplace_back();
  r->wanted.push_back(false);
  uint32_t number = r->trace.addTensor(DType::I64, two);
  Value v{};
  v.storage = storage;
  v.canonical = number;
  v.input = uint32_t(r->inputs.size());
  v.firstDim = uint32_t(r->dims.size());
  v.numel = 2;
  v.dtype = DType::I64;
  v.rank = 1;
  v.contiguous = true;
  r->dims.insert(r->dims.end(), {2, 1});
  r->values.push_back(v);
  r->inputs.push_back({number, true});
  r->trace.addInput(number, InputKind::Buffer, "generator");
  generators.push_back({number, seed, ordinal});
  return number;
}

/// Canonical number of what an op reads or writes; unknown tensors become inputs.
uint32_t Tracer::valueOf(TensorImpl *t) {
  if (t->tag >> 32 == tag >> 32) {
    const Value &v = r->values[uint32_t(t->tag)];
    if (t->data - bases[v.storage] == v.offset && sameLayout(*r, v, t))
      return uint32_t(t->tag);
  }
  if (!t->storage || t->device) {
    refuse("a tensor without CPU memory");
    return traceNone;
  }
  auto it = known().find(t->storage);
  if (it != numbers.end()) {
    uint32_t memory = r->storages[it->second].memory;
    for (uint32_t s = memory; s < r->storages.size(); s++) // aliasing inputs are few
      if (r->storages[s].memory == memory)
        if (uint32_t v = find(s, t); v != traceNone) {
          t->tag = tag | v;
          return v;
        }
    if (!r->storages[memory].isInput) {
      refuse("a view that no op made");
      return traceNone;
    }
  }
  return addInput(t);
}

bool Tracer::randomState(TensorImpl *state, Step &step) {
  if (!state || state->dtype != DType::I64 || state->numel != 2 || !state->contiguous())
    return false;
  if (unknownOrdinal) {
    refuse("random numbers behind a cond or while_loop that draws a number of them which depends on data");
    return false;
  }
  auto *words = reinterpret_cast<const uint64_t *>(state->data);
  for (const Generator &g : generators)
    if (g.seed == words[0] && words[1] >= g.ordinal && words[1] - g.ordinal < (1u << 30)) {
      step.random = uint32_t(words[1] - g.ordinal);
      r->ins.push_back(g.value);
      return true;
    }
  step.random = 0;
  r->ins.push_back(addGenerator(words[0], words[1]));
  return true;
}

bool Tracer::operands(const OpCall &call, Step &step) {
  bool random = opInfo(call.op).flags & OpIsRandom;
  for (int i = 0; i < call.numOperands; i++) {
    TensorImpl *a = call.operands[i].tensor;
    if (random && i == 0) {
      if (!randomState(a, step))
        return refuse("a random op without a generator's state"), false;
      continue;
    }
    uint32_t v = a ? valueOf(a) : traceNone;
    if (a && v == traceNone)
      return false;
    if (a && a->storage->exposed && !(opInfo(call.op).flags & OpIsView) && !mayCopyForeign(call.op, spanOf(a)))
      return refuse(std::string(opInfo(call.op).name) + "() reads much memory shared with another library; clone() it "
                                                        "first"),
             false;
    r->ins.push_back(v);
  }
  return true;
}

/// Where the result lies; fills step.result (canonical) and `output` (the node's value).
bool Tracer::place(const OpCall &call, TensorImpl *result, Step &step, uint32_t &output) {
  if (call.out.kind != Out::None) {
    uint32_t target = valueOf(call.out.tensor);
    if (target == traceNone)
      return false;
    if (call.out.tensor->storage->exposed)
      return refuse(std::string(opInfo(call.op).name) + "() writes memory shared with another library"), false;
    uint32_t storage = r->values[target].storage;
    r->storages[storage].written = true;
    step.result = target;
    output = addValue(call.out.tensor, storage);
    return true;
  }
  bool sameMemory = call.numOperands && call.operands[0].tensor && result->storage == call.operands[0].tensor->storage;
  step.isView = (opInfo(call.op).flags & OpIsView) && sameMemory;
  if (step.isView) {
    output = addValue(result, r->values[r->ins[step.firstIn]].storage);
    step.result = r->values[output].canonical;
    return true;
  }
  if (!result->storage || result->device || !isDense(result) || known().count(result->storage))
    return refuse(std::string(opInfo(call.op).name) + "() gave memory that is not its own"), false;
  uint32_t storage = addStorage(result->storage, result->data, result->nbytes(), false, result->dtype);
  watch(result->storage);
  step.result = output = addValue(result, storage);
  return true;
}

void Tracer::addNode(const OpCall &call, const Step &step, uint32_t output) {
  std::vector<Attr> attrs(call.attrs, call.attrs + call.numAttrs);
  bool number = false;
  for (int i = 0; i < call.numOperands; i++)
    if (call.operands[i].isNumber()) {
      attrs.push_back(call.operands[i].number.attr());
      number = true;
    }
  std::string name = std::string(opInfo(call.op).name) + (number ? ".Scalar" : ".Tensor");
  uint32_t source = traceNone;
  if (sourceCallback)
    if (Site s = sourceCallback(); s.line)
      source = r->trace.addSource(s.file, s.line, s.function);
  uint32_t node = r->trace.addNode(r->trace.addOp(name, uint32_t(call.op)),
                                   std::span<const uint32_t>(r->ins.data() + step.firstIn, step.numOperands),
                                   {&output, 1}, attrs, source);
  if (call.out.kind != Out::None)
    r->trace.addEffect(node, EffectKind::Write, r->values[output].storage);
  if (step.random != traceNone)
    r->trace.addEffect(node, EffectKind::Random, traceNone, step.random);
}

/// A trace doesn't carry the default dtype; its importer reads it off results. Does an op compute in it whose result
/// doesn't tell: a comparison, or a write into another type?
static bool hidesDefault(const OpCall &call, const TensorImpl *result) {
  Promote rule = opInfo(call.op).promote;
  bool decides = rule == Promote::Float;
  for (int i = 0; i < call.numOperands; i++) {
    const Operand &o = call.operands[i];
    if (o.tensor && isFloat(o.tensor->dtype))
      return false;
    decides |= o.isNumber() && o.number.attr().tag == AttrTag::Float;
  }
  return decides && rule != Promote::None && (call.out.kind != Out::None || !isFloat(result->dtype));
}

void Tracer::record(const OpCall &call, TensorImpl *result) {
  if (defaultDType() != r->defaultType)
    refuse("the default dtype changes inside the function");
  if (r->defaultType != DType::F32 && hidesDefault(call, result))
    refuse(std::string(opInfo(call.op).name) + "() of integers in a default dtype that isn't float32");
  if (!r->refused.empty())
    return;
  Step step{};
  step.op = call.op;
  step.out = call.out.kind;
  step.numOperands = uint16_t(call.numOperands);
  step.numAttrs = uint16_t(call.numAttrs);
  step.firstIn = uint32_t(r->ins.size());
  step.random = traceNone;
  uint32_t output;
  if (!operands(call, step) || !place(call, result, step, output))
    return;
  addNode(call, step, output);
  step.output = output;
  result->tag = tag | step.result;
  r->steps.push_back(step);
}

void Tracer::record(const std::shared_ptr<const Control> &control, const std::vector<Tensor> &inputs, TensorImpl *state,
                    const std::vector<Tensor> &results) {
  if (!r->refused.empty())
    return;
  Step step{};
  step.op = OpId::NumOps;
  step.numOperands = uint16_t(inputs.size() + (state != nullptr));
  step.firstIn = uint32_t(r->ins.size());
  step.random = traceNone;
  step.control = uint32_t(r->controls.size());
  step.numResults = uint16_t(results.size());
  if (state && !randomState(state, step))
    return refuse(std::string(control->name()) + "() without a generator's state");
  for (const Tensor &t : inputs) {
    uint32_t v = valueOf(t.impl());
    if (v == traceNone)
      return;
    if (t->storage->exposed && !mayCopyForeign(OpId::NumOps, spanOf(t.impl())))
      return refuse(std::string(control->name()) +
                    "() reads much memory shared with another library; clone() it first");
    r->ins.push_back(v);
  }
  std::vector<uint32_t> outputs;
  for (const Tensor &t : results) {
    uint32_t storage = addStorage(t->storage, t->data, t->nbytes(), false, t->dtype);
    watch(t->storage);
    outputs.push_back(addValue(t.impl(), storage));
    t->tag = tag | outputs.back();
  }
  step.result = outputs[0];
  r->controls.push_back(control->withoutTensors());
  auto graph = [&](const SubgraphRef &s) {
    Attr a;
    a.tag = AttrTag::Graph;
    a.i = r->trace.addSubgraph(s->graph->trace);
    return a;
  };
  uint32_t source = traceNone;
  if (sourceCallback)
    if (Site s = sourceCallback(); s.line)
      source = r->trace.addSource(s.file, s.line, s.function);
  std::vector<int64_t> lists[4];
  std::vector<Attr> attrs = {graph(control->first), graph(control->second)};
  for (int i = 0; i < 2; i++) {
    lists[i] = control->map(i);
    lists[2 + i].assign(control->graph(i).advance.begin(), control->graph(i).advance.end());
  }
  for (const std::vector<int64_t> &list : lists)
    attrs.push_back(toAttr(IntList(list)));
  attrs.push_back(toAttr(int64_t(control->second->draws)));
  uint32_t op = r->trace.addOp(control->name(), control->loop ? whileOp : condOp);
  uint32_t node = r->trace.addNode(op, {r->ins.data() + step.firstIn, step.numOperands}, outputs, attrs, source);
  if (step.random != traceNone)
    r->trace.addEffect(node, EffectKind::Random, traceNone, step.random);
  r->steps.push_back(step);
}

void Tracer::checkWrite(TensorImpl *t) {
  auto it = t->storage ? known().find(t->storage) : numbers.end();
  if (it == numbers.end() || r->storages[it->second].isInput)
    fail(whole + " might be modifying the input! It must not write to its operands or to tensors from outside.");
}

void Tracer::observe(TensorImpl *t) {
  if (isWhole() && (!t || known().count(t->storage)))
    fail(ErrorKind::NotImplemented, whole +
                                        " looks at the numbers of a tensor (item(), bool(), printing, NumPy), which "
                                        "a graph can't hold");
  if (r->steps.empty() && r->refused.empty())
    return;
  if (t && r->refused.empty()) { // what this segment neither made nor wrote is known already
    auto it = t->storage ? known().find(t->storage) : numbers.end();
    if (it == numbers.end())
      return;
    const StorageInfo &s = r->storages[it->second];
    if (s.isInput && !s.written)
      return;
  }
  end();
  begin();
}

void Tracer::opaque(const std::string &op) {
  if (isWhole())
    fail(ErrorKind::NotImplemented, whole + " calls the custom op " + op + ", which a graph can't hold");
  Site at = sourceCallback ? sourceCallback() : Site();
  unseen.push_back(at.line ? op + " at " + at.file + ":" + std::to_string(at.line) : op);
  if (!r->steps.empty() || !r->refused.empty())
    r->boundary = op;
  observe(nullptr);
}

void Tracer::end() {
  // Views into the trace's pools, which don't grow any more.
  for (uint32_t i = 0; i < r->steps.size(); i++) {
    r->steps[i].firstAttr = uint32_t(r->attrs.size());
    for (const TraceAttr &a : r->trace.attrsOf(r->trace.nodes[i]))
      r->attrs.push_back(r->trace.attr(a));
  }
  std::vector<uint32_t> outputs;
  known();
  for (uint32_t s = 0; s < alive.size(); s++)
    if (alive[s]) {
      outputs.push_back(s);
      unwatch(alive[s]);
    }
  alive.clear();
  met = held;
  metTag = tag;
  for (TensorImpl *t : std::exchange(held, {}))
    release(t);
  for (const StorageInfo &s : r->storages)
    if (s.written && s.isInput)
      for (const StorageInfo &o : r->storages)
        if (&o != &s && o.memory == s.memory)
          refuse("two inputs share memory that the function writes");
  if (r->refused.empty()) {
    r->identify();
    r->makeTemplates();
    r->want(outputs);
  }
  sink(std::move(r));
}

std::vector<TensorImpl *> Tracer::inputTensors() const {
  std::vector<TensorImpl *> out;
  size_t next = 0;
  for (const RecordedInput &in : r->inputs)
    out.push_back(in.generator ? nullptr : held[next++]);
  return out;
}

std::vector<Tracer::InputState> Tracer::inputsWithStates() const {
  std::vector<InputState> out;
  size_t next = 0, generator = 0;
  for (const RecordedInput &in : r->inputs)
    if (in.generator) {
      const Generator &g = generators[generator++];
      out.push_back({nullptr, {g.seed, g.ordinal}});
    } else
      out.push_back({held[next++], {0, 0}});
  return out;
}

void Tracer::finish() {
  if (!r->steps.empty() || !r->refused.empty())
    end();
}

} // namespace torchc::jit
