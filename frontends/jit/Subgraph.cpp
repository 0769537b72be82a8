#include "dialects/trace/TraceFile.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Control.h"
#include "frontends/jit/Function.h"

namespace torchc::jit {
namespace {

/// For a recording inside of whatever the thread does: no kernel runs, the generator's ordinal comes back.
class AbstractScope {
public:
  AbstractScope()
      : run(std::exchange(threadState.run, nullptr)), abstract(std::exchange(threadState.abstract, uint8_t(1))),
        modes(changeFlags(FlagNoGrad, FlagRecording | FlagRetracing | FlagInference | FlagSavedHooks | FlagProfiling)),
        seed(defaultGenerator().state()->seed), ordinal(defaultGenerator().state()->ordinal) {}
  ~AbstractScope() {
    defaultGenerator().state()->seed = seed;
    defaultGenerator().state()->ordinal = ordinal;
    setModes(modes);
    threadState.abstract = abstract;
    threadState.run = run;
  }
  AbstractScope(const AbstractScope &) = delete;
  uint64_t start() const { return ordinal; }
  bool reseeded() const { return defaultGenerator().state()->seed != seed; }
  uint32_t drawn() const { return uint32_t(defaultGenerator().state()->ordinal - ordinal); }

private:
  void *run;
  uint8_t abstract;
  ThreadModes modes;
  uint64_t seed, ordinal;
};

/// A tensor of t's layout, with zeros.
Tensor standIn(const Tensor &t) {
  Tensor out(newShell(t->dtype, t->rank, t->sizes(), t->contiguous() ? nullptr : t->strides()));
  int64_t bytes = spanOf(t.impl());
  out->storage = newStorage(bytes);
  if (!out->storage)
    outOfMemory(bytes);
  std::memset(out->storage->data, 0, size_t(bytes));
  out->data = out->storage->data;
  return out;
}

bool raises(const Recording &r) {
  for (const Step &s : r.steps)
    if (s.control != traceNone ? r.controls[s.control]->first->mayRaise || r.controls[s.control]->second->mayRaise
                               : (opInfo(s.op).flags & OpMayRaise) &&
                                     !(opInfo(s.op).family == Family::Elementwise && isFloat(r.values[s.result].dtype)))
      return true;
  return false;
}

} // namespace

std::string Subgraph::resultType(size_t i) const {
  const Value &v = result(i);
  return std::string(torchName(v.dtype)) + Dims(graph->sizesOf(v), v.rank).str();
}

SubgraphRef recordSubgraph(const TensorFunction &fn, const std::vector<Tensor> &operands, const std::string &what,
                           const uint64_t *state, uint32_t draws) {
  for (const Tensor &t : operands)
    if (t->device || !t->storage)
      fail(ErrorKind::NotImplemented, what + ": operands must be on the CPU");
  installHooks();
  AbstractScope scope;
  FunctionOptions options;
  options.name = what;
  Function function(std::move(options));
  Call call(function);
  if (!call.tracer())
    fail(ErrorKind::NotImplemented, what + ": under a functional transform or a mode");
  Tracer &tracer = *call.tracer();
  tracer.mustBeWhole(what);
  auto s = std::make_shared<Subgraph>();
  std::vector<Tensor> standIns;
  for (const Tensor &t : operands) {
    standIns.push_back(standIn(t));
    tracer.valueOf(standIns.back().impl());
  }
  std::vector<Tensor> results = fn(standIns);
  if (scope.reseeded())
    fail(ErrorKind::NotImplemented, what + ": it seeds the generator, which a graph can't hold");
  for (Tensor &t : results) {
    if (t->device || !t->storage)
      fail(ErrorKind::NotImplemented, what + ": results must be on the CPU");
    t = callOp(OpId::Cast, {composite::contiguousTensor(t)}, {Attr::dtype(t->dtype)});
    s->results.push_back(tracer.valueOf(t.impl()));
  }
  const uint64_t own[2] = {defaultGenerator().state()->seed, scope.start()};
  state = state ? state : own;
  s->draws = scope.drawn() + draws;
  uint32_t next = 0;
  bool foreign = false;
  for (auto &[tensor, words] : tracer.inputsWithStates()) {
    s->slots.push_back(tensor ? next++ : traceNone);
    s->advance.push_back(tensor ? 0 : words[1] - state[1]);
    foreign |= !tensor && (words[0] != state[0] || !s->draws);
    if (tensor && next > operands.size())
      s->captured.push_back(Tensor::borrow(tensor));
  }
  tracer.finish();
  std::vector<std::unique_ptr<Recording>> path = call.takeRecorded();
  if (path.size() != 1 || !path[0]->refused.empty())
    fail(ErrorKind::NotImplemented, what + ": " +
                                        (path.empty()      ? "it has no result"
                                         : path.size() > 1 ? "more than one graph"
                                                           : path[0]->refused));
  if (foreign)
    fail(ErrorKind::NotImplemented, what + ": random numbers of another generator than the default one");
  s->graph = std::move(path[0]);
  s->graph->trace.outputs.clear();
  for (uint32_t v : s->results)
    s->graph->trace.addOutput(v);
  std::vector<uint8_t> key = traceKey(s->graph->trace);
  key.push_back(uint8_t(s->graph->defaultType));
  s->digest = sha256(key);
  s->mayRaise = raises(*s->graph);
  return s;
}

std::vector<Tensor> runSubgraph(const Subgraph &s, const std::vector<Tensor> &inputs, const uint64_t *state) {
  const Recording &r = *s.graph;
  std::vector<Tensor> known(r.values.size());
  for (size_t i = 0; i < r.inputs.size(); i++)
    if (s.slots[i] != traceNone)
      known[r.inputs[i].value] = inputs[s.slots[i]];
  auto stateOf = [&](const Step &step) {
    Tensor t(newTensor(DType::I64, Dims({2})));
    auto *words = reinterpret_cast<uint64_t *>(t->data);
    words[0] = state[0];
    words[1] = state[1] + s.advance[r.values[r.ins[step.firstIn]].input] + step.random;
    return t;
  };
  for (const Step &step : r.steps) {
    std::vector<Tensor> tensors;
    std::vector<Operand> operands;
    tensors.reserve(step.numOperands);
    uint32_t number = step.firstAttr + step.numAttrs;
    for (uint32_t i = 0; i < step.numOperands; i++) {
      uint32_t in = r.ins[step.firstIn + i];
      if (in == traceNone) {
        operands.push_back(Scalar::fromAttr(r.attrs[number++]));
        continue;
      }
      tensors.push_back(i == 0 && step.random != traceNone ? stateOf(step) : known[in]);
      operands.push_back(tensors.back());
    }
    if (step.control != traceNone) {
      Tensor at = step.random == traceNone ? Tensor() : tensors[0];
      std::vector<Tensor> results =
          runControl(r.controls[step.control], {tensors.begin() + (at.defined() ? 1 : 0), tensors.end()}, at);
      for (uint32_t k = 0; k < step.numResults; k++)
        known[step.result + k] = results[k];
      continue;
    }
    OpCall call{step.op, operands.data(), int(operands.size()), r.attrs.data() + step.firstAttr, step.numAttrs, {}};
    if (step.out != Out::None)
      call.out = {step.out, known[step.result].impl()};
    known[step.result] = Tensor(callSlow(call));
  }
  std::vector<Tensor> out;
  for (uint32_t v : s.results)
    out.push_back(known[v]);
  return out;
}

} // namespace torchc::jit
