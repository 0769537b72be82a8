#include "frontends/jit/Control.h"
#include "dialects/rules/Vjp.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Function.h"

namespace torchc::jit {

std::vector<int64_t> Control::map(int i) const {
  std::vector<int64_t> out;
  for (uint32_t slot : graph(i).slots)
    out.push_back(slot == traceNone ? 0 : int64_t(inputsOf[i][slot]) + draws());
  return out;
}

ControlRef Control::withoutTensors() const {
  auto bare = [](const SubgraphRef &s) {
    auto copy = std::make_shared<Subgraph>(*s);
    copy->captured.clear();
    return copy;
  };
  auto copy = std::make_shared<Control>(*this);
  copy->first = bare(first);
  copy->second = bare(second);
  return copy;
}

bool Control::operator==(const Control &o) const {
  auto same = [](const Subgraph &a, const Subgraph &b) {
    return a.digest == b.digest && a.advance == b.advance && a.draws == b.draws;
  };
  return loop == o.loop && same(*first, *o.first) && same(*second, *o.second) && inputsOf[0] == o.inputsOf[0] &&
         inputsOf[1] == o.inputsOf[1];
}

namespace {

Call *current() { return static_cast<Call *>(threadState.run); }

/// Not a look of the program: where that ends a segment, the caller says so.
void settled(const Tensor &t) {
  if (t->flags & FlagPending)
    materialize(t.impl());
}

bool truth(const Tensor &t) {
  settled(t);
  return *t->data != 0; // bool: checked before
}

Tensor stateOf(uint64_t seed, uint64_t ordinal) {
  Tensor t(newTensor(DType::I64, Dims({2})));
  auto *words = reinterpret_cast<uint64_t *>(t->data);
  words[0] = seed;
  words[1] = ordinal;
  return t;
}
const uint64_t *wordsOf(const Tensor &state) {
  if (!state.defined())
    return nullptr;
  settled(state);
  return reinterpret_cast<const uint64_t *>(state->data);
}

std::vector<Tensor> pick(const std::vector<Tensor> &inputs, const std::vector<uint32_t> &which) {
  std::vector<Tensor> out;
  for (uint32_t i : which)
    out.push_back(inputs[i]);
  return out;
}

bool isFloatResult(const Subgraph &s) {
  for (uint32_t v : s.results)
    if (isFloat(s.graph->values[v].dtype))
      return true;
  return false;
}

/// Results of the right layout, whose content is undefined.
std::vector<Tensor> undefinedResults(const Control &c) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < c.second->results.size(); i++) {
    const Value &v = c.second->result(i);
    out.emplace_back(newTensor(v.dtype, Dims(c.second->graph->sizesOf(v), v.rank)));
  }
  if (c.loop && c.draws())
    out.push_back(stateOf(0, 0));
  return out;
}

/// The results without a history.
std::vector<Tensor> compute(const ControlRef &c, const std::vector<Tensor> &inputs, const Tensor &state) {
  uint32_t flags = threadState.modes.flags;
  std::vector<Tensor> results;
  if (!threadState.abstract && (flags & FlagRetracing) && current() && current()->run()) {
    results = current()->run()->op(c, inputs, state.impl());
    if (!results.empty())
      return results;
    flags = threadState.modes.flags;
  }
  if (threadState.abstract)
    results = undefinedResults(*c);
  else
    results = evaluate(*c, inputs, state);
  if ((flags & FlagRecording) && current() && current()->tracer())
    current()->tracer()->record(c, inputs, state.impl(), results);
  if (flags & FlagInference)
    for (Tensor &t : results)
      t->flags |= FlagInferenceTensor;
  return results;
}

/// Derivatives by running a branch again: the gradient of a cond is a cond.
struct CondNode : NodeFunction {
  ControlRef control;
  std::vector<Tensor> inputs;
  std::vector<uint32_t> versions;
  Tensor state;
  bool freed = false;

  std::string name() const override { return "CondBackward0"; }
  void releaseSaved() override {
    inputs.clear();
    freed = true;
  }

  void check() const {
    if (freed)
      backwardTwice();
    for (size_t i = 0; i < inputs.size(); i++)
      if (inputs[i]->version() != versions[i])
        fail("one of the variables needed for gradient computation has been modified by an inplace operation: [" +
             std::string(torchName(inputs[i]->dtype)) + " " + inputs[i]->dims().str() +
             "], which a cond reads, is at "
             "version " +
             std::to_string(inputs[i]->version()) + "; expected version " + std::to_string(versions[i]) + " instead.");
  }

  /// The gradients of the wanted inputs through one branch.
  SubgraphRef derivative(int branch, const std::vector<uint32_t> &wanted, const std::vector<Tensor> &cotangents) const {
    const Subgraph &s = control->graph(branch);
    const std::vector<uint32_t> &mine = control->inputsOf[branch];
    std::vector<Tensor> operands = pick(inputs, mine), given;
    for (const Tensor &g : cotangents)
      if (g.defined())
        operands.push_back(g);
    auto run = [&](const std::vector<Tensor> &in) {
      EnableGradGuard on;
      std::vector<Tensor> x(in.begin(), in.begin() + ptrdiff_t(mine.size())), sources, outputs, seeds;
      std::vector<size_t> of; // wanted -> source
      for (uint32_t w : wanted) {
        size_t at = size_t(std::find(mine.begin(), mine.end(), w) - mine.begin());
        of.push_back(at);
        if (at == mine.size())
          continue;
        leafNode(x[at].impl());
        x[at]->flags |= FlagRequiresGrad;
        sources.push_back(x[at]);
      }
      std::vector<Tensor> y = runSubgraph(s, x, wordsOf(state));
      auto seed = in.begin() + ptrdiff_t(mine.size());
      for (size_t i = 0; i < y.size(); i++) {
        if (!cotangents[i].defined())
          continue;
        if (requiresGrad(y[i].impl())) {
          outputs.push_back(y[i]);
          seeds.push_back(*seed);
        }
        ++seed;
      }
      std::vector<Tensor> found(sources.size());
      if (!outputs.empty() && !sources.empty())
        found = grad(outputs, sources, seeds, false, false, true);
      std::vector<Tensor> out;
      size_t next = 0;
      for (size_t i = 0; i < wanted.size(); i++) {
        Tensor g = of[i] < mine.size() ? found[next++] : Tensor();
        if (!g.defined()) {
          EagerBuilder builder{0};
          g = rules::zeros(builder, inputs[wanted[i]]->dims(), inputs[wanted[i]]->dtype).tensor;
        }
        out.push_back(g);
      }
      return out;
    };
    return recordSubgraph(run, operands, "the derivative of torch.cond", wordsOf(state), s.draws);
  }

  std::vector<Tensor> apply(const std::vector<Tensor> &cotangents, const std::vector<bool> &needed) override {
    check();
    std::vector<uint32_t> wanted;
    for (uint32_t i = 1; i < inputs.size(); i++) // 0: the predicate
      if (needed[i] && isFloat(inputs[i]->dtype))
        wanted.push_back(i);
    std::vector<Tensor> all = inputs, out(inputs.size());
    auto back = std::make_shared<Control>();
    for (int b = 0; b < 2; b++)
      back->inputsOf[b] = control->inputsOf[b];
    for (const Tensor &g : cotangents)
      if (g.defined()) {
        for (int b = 0; b < 2; b++)
          back->inputsOf[b].push_back(uint32_t(all.size()));
        all.push_back(g);
      }
    if (wanted.empty() || all.size() == inputs.size())
      return out;
    back->first = derivative(0, wanted, cotangents);
    back->second = derivative(1, wanted, cotangents);
    std::vector<Tensor> grads = runControl(back, all, back->draws() ? state : Tensor());
    for (size_t i = 0; i < wanted.size(); i++)
      out[wanted[i]] = grads[i];
    return out;
  }
};

/// Of a loop in a whole graph, which can't be taken apart into rounds.
struct LoopNode : NodeFunction {
  std::string name() const override { return "WhileLoopBackward0"; }
  std::vector<Tensor> apply(const std::vector<Tensor> &, const std::vector<bool> &) override {
    fail(ErrorKind::NotImplemented, "the derivative of a while_loop in one graph: how often its body runs isn't known");
  }
};

/// A loop as the tape can follow it, round by round.
std::vector<Tensor> unroll(const Control &c, std::vector<Tensor> inputs, const Tensor &state) {
  size_t carried = c.second->results.size();
  uint64_t words[2] = {0, 0};
  if (state.defined())
    std::copy_n(wordsOf(state), 2, words);
  bool any = false;
  while (item(runSubgraph(*c.first, pick(inputs, c.inputsOf[0]), nullptr)[0]).toBool()) {
    std::vector<Tensor> next = runSubgraph(*c.second, pick(inputs, c.inputsOf[1]), words);
    std::copy(next.begin(), next.end(), inputs.begin());
    words[1] += c.second->draws;
    any = true;
  }
  inputs.resize(carried);
  for (Tensor &t : inputs)
    if (!any)
      t = callOp(OpId::Cast, {t}, {Attr::dtype(t->dtype)});
  if (c.draws())
    inputs.push_back(stateOf(words[0], words[1]));
  return inputs;
}

/// Ends the recorded segment: what comes next depends on values, or must not move ahead of an error.
void split() {
  Call *c = current();
  uint32_t flags = threadState.modes.flags;
  if (!c || threadState.abstract)
    return;
  if ((flags & FlagRecording) && c->tracer() && !c->tracer()->oneGraphWanted())
    c->tracer()->observe(nullptr);
  else if ((flags & FlagRetracing) && c->run())
    c->run()->observe();
}

/// The inputs behind the given ones: the tensors that the graphs have captured, each once.
void addCaptured(Control &c, size_t operandsFrom, size_t operands, std::vector<Tensor> &inputs) {
  size_t first = inputs.size();
  for (int b = 0; b < 2; b++) {
    for (size_t i = 0; i < operands; i++)
      c.inputsOf[b].push_back(uint32_t(operandsFrom + i));
    for (const Tensor &t : c.graph(b).captured) {
      auto known = std::find_if(inputs.begin() + ptrdiff_t(first), inputs.end(), [&](auto &o) { return o.same(t); });
      c.inputsOf[b].push_back(uint32_t(known - inputs.begin()));
      if (known == inputs.end())
        inputs.push_back(t);
    }
  }
}

void checkPredicate(const Subgraph &s, const char *what) {
  if (s.results.size() != 1 || s.result(0).dtype != DType::Bool || s.result(0).numel != 1)
    fail(std::string(what) + " must return a boolean scalar tensor, but got " +
         (s.results.size() == 1 ? s.resultType(0) : std::to_string(s.results.size()) + " results"));
}

/// The number of ordinals isn't known before the values are: reads them, or gives up on later random ops.
bool ordinalKnown() {
  if (threadState.abstract)
    fail(ErrorKind::NotImplemented, "a cond or while_loop inside another one that draws a number of random numbers "
                                    "which depends on data");
  Call *c = current();
  if (c && c->tracer() && (threadState.modes.flags & FlagRecording) && c->tracer()->oneGraphWanted())
    c->tracer()->forgetOrdinal();
  split();
  return true;
}

} // namespace

std::vector<Tensor> evaluate(const Control &c, const std::vector<Tensor> &given, const Tensor &state) {
  InternalGuard quiet;
  for (const Tensor &t : given)
    settled(t);
  const uint64_t *words = wordsOf(state);
  if (!c.loop) {
    int branch = truth(given[0]) ? 0 : 1;
    return runSubgraph(c.graph(branch), pick(given, c.inputsOf[branch]), words);
  }
  size_t carried = c.second->results.size();
  std::vector<Tensor> inputs = given;
  uint64_t at[2] = {words ? words[0] : 0, words ? words[1] : 0};
  while (truth(runSubgraph(*c.first, pick(inputs, c.inputsOf[0]), nullptr)[0])) {
    std::vector<Tensor> next = runSubgraph(*c.second, pick(inputs, c.inputsOf[1]), at);
    std::copy(next.begin(), next.end(), inputs.begin());
    at[1] += c.second->draws;
  }
  for (size_t i = 0; i < carried; i++)
    if (inputs[i].same(given[i]))
      inputs[i] = Tensor(copyOf(inputs[i].impl(), inputs[i]->dtype));
  inputs.resize(carried);
  if (c.draws())
    inputs.push_back(stateOf(at[0], at[1]));
  return inputs;
}

std::vector<Tensor> runControl(const ControlRef &c, const std::vector<Tensor> &inputs, const Tensor &state) {
  bool wanted = false;
  for (const Tensor &t : inputs)
    wanted |= isGradEnabled() && requiresGrad(t.impl());
  wanted = wanted && isFloatResult(*c->second);
  bool whole = current() && current()->tracer() && current()->tracer()->oneGraphWanted();
  if (wanted && c->loop && !whole)
    return unroll(*c, inputs, state);
  std::vector<Tensor> results = compute(c, inputs, state);
  if (!wanted)
    return results;
  if (c->loop) {
    recordFunction(std::make_unique<LoopNode>(), inputs, results);
    return results;
  }
  auto node = std::make_unique<CondNode>();
  node->control = c;
  node->inputs = inputs;
  for (const Tensor &t : inputs)
    node->versions.push_back(t->version());
  node->state = state;
  recordFunction(std::move(node), inputs, results);
  return results;
}

std::vector<Tensor> cond(const Tensor &predicate, const SubgraphRef &whenTrue, const SubgraphRef &whenFalse,
                         const std::vector<Tensor> &operands) {
  const Subgraph &a = *whenTrue, &b = *whenFalse;
  if (a.results.size() != b.results.size())
    fail("torch.cond: the branches must return as many tensors, but true_fn returns " +
         std::to_string(a.results.size()) + " and false_fn " + std::to_string(b.results.size()));
  for (size_t i = 0; i < a.results.size(); i++)
    if (a.resultType(i) != b.resultType(i))
      fail("torch.cond: the branches must return tensors of the same dtypes and shapes, but result " +
           std::to_string(i) + " of true_fn is " + a.resultType(i) + " and of false_fn " + b.resultType(i));
  auto c = std::make_shared<Control>();
  c->first = whenTrue;
  c->second = whenFalse;
  std::vector<Tensor> inputs = {predicate};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  addCaptured(*c, 1, operands.size(), inputs);
  GeneratorState &g = *defaultGenerator().state();
  std::vector<Tensor> results = runControl(c, inputs, c->draws() ? stateOf(g.seed, g.ordinal) : Tensor());
  if (a.draws == b.draws)
    g.ordinal += a.draws;
  else if (ordinalKnown())
    g.ordinal += truth(predicate) ? a.draws : b.draws;
  if (a.mayRaise || b.mayRaise)
    split();
  return results;
}

std::vector<Tensor> whileLoop(const SubgraphRef &goesOn, const SubgraphRef &body, const std::vector<Tensor> &carried,
                              const std::vector<Tensor> &more) {
  checkPredicate(*goesOn, "torch.while_loop: cond_fn");
  if (goesOn->draws)
    fail(ErrorKind::NotImplemented, "torch.while_loop: random numbers in cond_fn");
  if (body->results.size() != carried.size())
    fail("torch.while_loop: body_fn must return as many tensors as carried_inputs has, but returns " +
         std::to_string(body->results.size()) + " for " + std::to_string(carried.size()));
  for (size_t i = 0; i < carried.size(); i++) {
    std::string is = std::string(torchName(carried[i]->dtype)) + carried[i]->dims().str();
    if (is != body->resultType(i))
      fail("torch.while_loop: Expected carried_inputs and body outputs to have the same dtypes and shapes, but "
           "carried_inputs[" +
           std::to_string(i) + "] is " + is + " and body_fn returns " + body->resultType(i));
  }
  auto c = std::make_shared<Control>();
  c->loop = true;
  c->first = goesOn;
  c->second = body;
  std::vector<Tensor> inputs = carried;
  inputs.insert(inputs.end(), more.begin(), more.end());
  addCaptured(*c, 0, inputs.size(), inputs);
  GeneratorState &g = *defaultGenerator().state();
  std::vector<Tensor> results = runControl(c, inputs, c->draws() ? stateOf(g.seed, g.ordinal) : Tensor());
  if (c->draws()) {
    Tensor state = results.back();
    results.pop_back();
    if (ordinalKnown())
      g.ordinal = wordsOf(state)[1];
  } else if (goesOn->mayRaise || body->mayRaise)
    split();
  return results;
}

} // namespace torchc::jit
