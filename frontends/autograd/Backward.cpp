// The engine: pops nodes by descending sequence number, so consumers always come first and no counting pass over the
// graph is needed; adds up cotangents in the order of rule N10.
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Derivative.h"
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/autograd/FanIn.h"
#include "frontends/autograd/Tape.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/DispatchHooks.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/Modes.h"
#include "frontends/eager/View.h"
#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace torchc {

void backwardTwice() {
  fail("Trying to backward through the graph a second time (or directly access saved tensors after they have already "
       "been "
       "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
       "retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
       "tensors "
       "after calling backward.");
}

namespace {

std::atomic<uint32_t> nextPass{1};

/// Un-broadcasts (N4) and returns to the operand's type: the one place where that happens.
Tensor toOperand(Tensor d, const OperandMeta *meta, const TensorImpl *g) {
  const int64_t *sizes = meta ? meta->sizes : g->sizes();
  int rank = meta ? meta->rank : g->rank;
  DType dtype = meta ? meta->dtype : g->dtype;
  if (d->rank != rank || std::memcmp(d->sizes(), sizes, size_t(rank) * sizeof(int64_t))) {
    EagerBuilder builder{d->device};
    d = rules::sumTo(builder, EagerValue(std::move(d)), Dims(sizes, rank)).tensor;
  }
  return d->dtype == dtype ? d : callOp(OpId::Cast, {d}, {Attr::dtype(dtype)});
}

/// A hook may replace a gradient by one of the same shape and type.
Tensor checkedHookResult(Tensor r, const Tensor &g) {
  if (!sameShape(r.impl(), g.impl()))
    fail("hook has changed the size of value");
  if (r->dtype != g->dtype)
    fail("hook has changed the type of value (was " + std::string(torchName(g->dtype)) + " got " +
         std::string(torchName(r->dtype)) + ")");
  return r;
}

/// A function's gradient must broadcast from its input's shape, and be on its device.
void checkGradient(Node *n, int i, const Tensor &g) {
  const OperandMeta *meta = n->inputs()[i].meta;
  int lead = g->rank - meta->rank;
  bool fits = lead >= 0;
  for (int k = 0; fits && k < meta->rank; k++)
    fits = meta->sizes[k] == g->sizes()[lead + k] || meta->sizes[k] == 1;
  if (!fits)
    fail("Function " + nodeName(n) + " returned an invalid gradient at index " + std::to_string(i) + " - got " +
         g->dims().str() + " but expected shape compatible with " + meta->dims().str());
  if (!isDifferentiable(g->dtype))
    fail("Function " + nodeName(n) + " returned an invalid gradient at index " + std::to_string(i) +
         " - expected type of floating point, got " + std::string(torchName(g->dtype)));
}

class Pass {
public:
  Pass(BackwardOptions options) : options(options), id(nextPass.fetch_add(2) | 1) {}
  ~Pass();
  void root(const Tensor &output, const Tensor &cotangent);
  void targets(TensorList inputs);
  void run();
  std::vector<Tensor> results(TensorList inputs);
  void keepNonLeaves();

private:
  struct Target {
    Node *node;
    int output;
    Tensor grad;
  };
  void give(Node *n, int output, Tensor g);
  bool giveSlice(Node *n, const Tensor &g);
  void takeAll(Node *n, std::vector<Tensor> &out);
  void accumulate(Node *n, std::vector<Tensor> &grads);
  void tensorHooks(Node *n, std::vector<Tensor> &grads);
  void nodePreHooks(Node *n, std::vector<Tensor> &grads);
  void nodePostHooks(Node *n, std::vector<Tensor> &gradients, const std::vector<Tensor> &cotangents);
  void runNode(Node *n, const std::vector<Tensor> &grads);
  void runObserved(Node *n, const std::vector<Tensor> &grads, bool watched);
  template <class F> void runOp(Node *n, const Tensor &g, F deliver);
  void runFunction(Node *n, const std::vector<Tensor> &grads, std::vector<Tensor> &gradients);
  void capture(Node *n, const std::vector<Tensor> &grads);
  bool needed(Node *n);
  bool leadsOn(Node *n);
  void findNeeded();
  static bool later(Node *a, Node *b) { return a->sequence < b->sequence; }

  BackwardOptions options;
  uint32_t id;
  std::vector<Node *> heap; // retained
  // Cotangents of nodes with several outputs, and of nodes whose slot another pass owns.
  std::unordered_map<Node *, std::vector<Tensor>> side;
  std::vector<Target> wanted;
  std::unordered_set<Node *> reach; // filled if there are targets
  std::vector<Node *> roots;
};

Pass::~Pass() { // what is left after an error
  for (Node *n : heap) {
    if (n->slotOwner.load(std::memory_order_relaxed) == id) {
      Tensor drop(std::exchange(n->grad, nullptr));
      n->slotOwner.store(0, std::memory_order_release);
    }
    release(n);
  }
  for (Node *n : roots)
    release(n);
}

void Pass::give(Node *n, int output, Tensor g) {
  if (n->numOutputs() == 1) {
    uint32_t free = 0;
    if (n->slotOwner.compare_exchange_strong(free, id, std::memory_order_acquire)) {
      auto it = side.find(n); // another pass held the slot when the first cotangent came
      if (it == side.end()) {
        n->grad = g.take();
        heap.push_back(retain(n));
        std::push_heap(heap.begin(), heap.end(), later);
        return;
      }
      n->slotOwner.store(0, std::memory_order_release);
    } else if (free == id) {
      Tensor sum = addCotangents(Tensor(std::exchange(n->grad, nullptr)), g);
      n->grad = sum.take();
      return;
    }
  }
  auto [it, fresh] = side.try_emplace(n);
  if (fresh) {
    it->second.resize(size_t(n->numOutputs()));
    heap.push_back(retain(n));
    std::push_heap(heap.begin(), heap.end(), later);
  }
  Tensor &slot = it->second[size_t(output)];
  slot = slot.defined() ? addCotangents(std::move(slot), g) : std::move(g);
}

/// The gradient of a slice joins what its value has gathered so far, without one of the value's size. False: nothing yet.
bool Pass::giveSlice(Node *n, const Tensor &g) {
  NodeInput &in = n->inputs()[0];
  if (n->op != OpId::Slice || !in.next || !needed(in.next) || in.state & InputOverwritten)
    return false;
  if (in.next->numOutputs() == 1 && in.next->slotOwner.load(std::memory_order_relaxed) == id) {
    in.next->grad = addToSlice(Tensor(std::exchange(in.next->grad, nullptr)), n->attrs, g).take();
    return true;
  }
  auto it = side.find(in.next);
  if (it == side.end() || !it->second[size_t(in.outputNumber)].defined())
    return false;
  Tensor &sum = it->second[size_t(in.outputNumber)];
  sum = addToSlice(std::move(sum), n->attrs, g);
  return true;
}

void Pass::takeAll(Node *n, std::vector<Tensor> &out) {
  if (n->slotOwner.load(std::memory_order_relaxed) == id) {
    out.assign(1, Tensor(std::exchange(n->grad, nullptr)));
    n->slotOwner.store(0, std::memory_order_release);
    return;
  }
  auto it = side.find(n);
  out = std::move(it->second);
  side.erase(it);
}

void Pass::root(const Tensor &output, const Tensor &cotangent) {
  Node *n = leafNode(output.impl());
  roots.push_back(retain(n));
  give(n, output->outputNumber, cotangent);
}

void Pass::targets(TensorList inputs) {
  for (const Tensor &t : inputs)
    wanted.push_back({leafNode(t.impl()), t->outputNumber, {}});
  if (!wanted.empty())
    findNeeded();
}

/// Marks the nodes from which a target can be reached, targets included; others needn't run. Iterative: graphs are deep.
void Pass::findNeeded() {
  struct Frame {
    Node *n;
    int next;
  };
  std::unordered_set<Node *> visited;
  for (const Target &t : wanted)
    reach.insert(t.node);
  for (Node *root : roots) {
    if (!visited.insert(root).second)
      continue;
    std::vector<Frame> stack{{root, 0}};
    while (!stack.empty()) {
      Frame &f = stack.back();
      if (f.n->kind == NodeKind::Accumulate || f.next == int(f.n->numInputs)) {
        bool hit = reach.count(f.n);
        stack.pop_back();
        if (hit && !stack.empty())
          reach.insert(stack.back().n);
        continue;
      }
      Node *x = f.n->inputs()[f.next++].next;
      if (x && visited.insert(x).second)
        stack.push_back({x, 0});
      else if (x && reach.count(x))
        reach.insert(f.n);
    }
  }
}

bool Pass::needed(Node *n) {
  if (wanted.empty())
    return true;
  return reach.count(n);
}

/// Does anything below `n` need a gradient?
bool Pass::leadsOn(Node *n) {
  for (int i = 0; i < int(n->numInputs); i++)
    if (Node *x = n->inputs()[i].next; x && needed(x))
      return true;
  return false;
}

/// Hooks of tensors first, in order of registration, then what retain_grad() keeps.
void Pass::tensorHooks(Node *n, std::vector<Tensor> &grads) {
  for (const std::shared_ptr<HookBody> &h : hooksOf(n))
    if (h->onGrad)
      if (Tensor &g = grads[size_t(h->output)]; g.defined())
        if (Tensor r = h->onGrad(g); r.defined())
          g = checkedHookResult(std::move(r), g);
  for (NodeExtra::Retained &r : n->extra->retained)
    if (r.wanted && grads[size_t(r.output)].defined())
      r.grad = grads[size_t(r.output)];
}

/// Calls a hook that may replace gradients.
template <class F> static void callReplacing(std::vector<Tensor> &grads, F hook) {
  std::vector<Tensor> was = grads;
  hook();
  if (grads.size() != was.size())
    fail("hook has changed the number of values");
  for (size_t i = 0; i < was.size(); i++)
    if (was[i].defined() && grads[i].defined() && !was[i].same(grads[i]))
      checkedHookResult(grads[i], was[i]);
}

void Pass::nodePreHooks(Node *n, std::vector<Tensor> &grads) {
  for (const std::shared_ptr<HookBody> &h : hooksOf(n))
    if (h->before)
      callReplacing(grads, [&] { h->before(grads); });
}
void Pass::nodePostHooks(Node *n, std::vector<Tensor> &gradients, const std::vector<Tensor> &cotangents) {
  for (const std::shared_ptr<HookBody> &h : hooksOf(n))
    if (h->after)
      callReplacing(gradients, [&] { h->after(gradients, cotangents); });
}

void Pass::run() {
  std::vector<Tensor> grads;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Node *n = heap.back();
    heap.pop_back();
    struct Hold {
      Node *n;
      ~Hold() { release(n); }
    } hold{n};
    takeAll(n, grads);
    if (n->extra)
      tensorHooks(n, grads);
    capture(n, grads);
    if (n->kind == NodeKind::Accumulate) {
      if (grads[0].defined() && options.accumulate && needed(n))
        accumulate(n, grads);
      continue;
    }
    if (!wanted.empty() && !leadsOn(n))
      continue;
    if (n->extra)
      nodePreHooks(n, grads);
    runNode(n, grads);
    if (!options.retainGraph)
      freeSaved(n);
  }
}

static void refuseNan(Node *n, const std::vector<Tensor> &gradients) {
  InternalGuard guard;
  for (size_t i = 0; i < gradients.size(); i++) {
    const Tensor &g = gradients[i];
    if (g.defined() && g->device == 0 && item(any(ne(g, g))).toBool())
      fail("Function '" + nodeName(n) + "' returned nan values in its " + std::to_string(i) + "th output.");
  }
}

void Pass::runNode(Node *n, const std::vector<Tensor> &grads) {
  bool anomaly = anomalyMode.enabled.load(std::memory_order_relaxed);
  bool watched = false;
  for (const std::shared_ptr<HookBody> &h : hooksOf(n))
    watched |= bool(h->after);
  if (TORCHC_LIKELY(!anomaly && !watched && n->kind == NodeKind::Op)) {
    if (grads[0].defined() && !giveSlice(n, grads[0]))
      runOp(n, grads[0], [&](NodeInput &in, Tensor d) { give(in.next, in.outputNumber, std::move(d)); });
    return;
  }
  try {
    runObserved(n, grads, watched);
  } catch (...) {
    if (anomaly && anomalyMode.failed)
      anomalyMode.failed(n);
    throw;
  }
}

/// Runs an op's derivatives or a function's backward, and hands the gradients on once hooks have seen all of them.
void Pass::runObserved(Node *n, const std::vector<Tensor> &grads, bool watched) {
  std::vector<Tensor> gradients(n->numInputs);
  if (n->kind == NodeKind::Op && !watched && grads[0].defined() && giveSlice(n, grads[0]))
    return;
  if (n->kind == NodeKind::Function)
    runFunction(n, grads, gradients);
  else if (grads[0].defined())
    runOp(n, grads[0], [&](NodeInput &in, Tensor d) { gradients[size_t(&in - n->inputs())] = std::move(d); });
  if (anomalyMode.enabled && anomalyMode.checkNan)
    refuseNan(n, gradients);
  if (watched)
    nodePostHooks(n, gradients, grads);
  for (int i = 0; i < int(n->numInputs); i++)
    if (NodeInput &in = n->inputs()[i]; in.next && needed(in.next) && gradients[size_t(i)].defined())
      give(in.next, in.outputNumber, std::move(gradients[size_t(i)]));
}

void Pass::capture(Node *n, const std::vector<Tensor> &grads) {
  for (Target &t : wanted)
    if (t.node == n)
      t.grad = grads[size_t(t.output)];
}

/// .grad + g. PyTorch adds in place without create_graph: whoever holds .grad sees the sum.
static Tensor gradPlus(const Tensor &old, const Tensor &g) {
  return isGradEnabled() ? callOp(OpId::Add, {old, g}) : add_(old, g);
}

/// Adds `sum` to what the slot holds, whatever other passes put there meanwhile.
static void putSum(Leaf &leaf, Tensor sum) {
  for (Tensor old; (old = exchangeGrad(leaf, sum)).defined();) {
    Tensor mine = exchangeGrad(leaf, {});
    sum = mine.defined() ? gradPlus(old, mine) : old;
  }
}

/// The slot is emptied for the sum, so that passes of several threads lose nothing of each other's.
static void addToLeaf(Leaf &leaf, const Tensor &g) {
  Tensor old = exchangeGrad(leaf, {}), sum;
  try {
    if (old.defined()) {
      sum = gradPlus(old, g);
    } else {
      bool keep = !isGradEnabled() && ownedAlone(g) && !(threadState.modes.flags & (FlagRecording | FlagRetracing));
      sum = keep ? g : callOp(OpId::Cast, {g}, {Attr::dtype(g->dtype)});
    }
  } catch (...) {
    if (old.defined())
      putSum(leaf, std::move(old)); // beside what another pass put there meanwhile
    throw;
  }
  putSum(leaf, std::move(sum));
}

/// As PyTorch lays a new gradient out: like its variable where that is dense, else row-major.
static Tensor inLayoutOf(const Tensor &variable, const Tensor &g) {
  if (variable->contiguous() || !isDense(variable.impl()))
    return composite::contiguousTensor(g);
  if (sameOrder(g.impl(), variable.impl()))
    return g;
  std::vector<int64_t> order(variable->rank), back(variable->rank);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return variable->strides()[a] > variable->strides()[b]; });
  for (size_t i = 0; i < order.size(); i++)
    back[size_t(order[i])] = int64_t(i);
  return composite::permuteDims(composite::contiguousTensor(composite::permuteDims(g, order)), back);
}

void Pass::accumulate(Node *n, std::vector<Tensor> &grads) {
  Leaf &leaf = n->leaf();
  if (!leaf.variable)
    return;
  if (n->extra)
    nodePreHooks(n, grads);
  Tensor variable = Tensor::borrow(leaf.variable), g = n->extra ? grads[0] : std::move(grads[0]);
  g = inLayoutOf(variable, g);
  addToLeaf(leaf, g);
  if (!n->extra)
    return;
  for (const std::shared_ptr<HookBody> &h : hooksOf(n))
    if (h->onLeaf)
      h->onLeaf(variable);
  std::vector<Tensor> none;
  nodePostHooks(n, none, grads);
}

template <class F> void Pass::runOp(Node *n, const Tensor &g, F deliver) {
  NodeContext context(n, g);
  CommonParts common;
  bool shares = *opInfo(n->op).decompose && !isGradEnabled();
  EagerBuilder builder{g->device, shares ? &common : nullptr};
  EagerValue cotangent(g);
  for (int i = 0; i < int(n->numInputs); i++) {
    NodeInput &in = n->inputs()[i];
    if (!in.next || !needed(in.next))
      continue;
    lostDerivative = OpId::NumOps;
    EagerValue d = in.state & InputOverwritten ? rules::zeros(builder, context.operandDims(i), context.operandDType(i))
                                               : derivative(n, i, builder, context, cotangent);
    if (!d.defined())
      continue;
    if (d.isNumber)
      fail(ErrorKind::Internal, nodeName(n) + ": the derivative is a number");
    if (isGradEnabled() && !d.tensor->requiresGrad() && !(in.state & InputOverwritten))
      linkZeros(d.tensor, n, i, context);
    deliver(in, toOperand(std::move(d.tensor), in.meta, g.impl()));
  }
}

void Pass::runFunction(Node *n, const std::vector<Tensor> &grads, std::vector<Tensor> &gradients) {
  std::vector<bool> need(n->numInputs);
  for (int i = 0; i < int(n->numInputs); i++)
    need[size_t(i)] = n->inputs()[i].next && needed(n->inputs()[i].next);
  std::vector<Tensor> out = n->extra->function->apply(grads, need);
  if (out.size() < n->numInputs)
    fail("function " + nodeName(n) + " returned an incorrect number of gradients (expected " +
         std::to_string(n->numInputs) + ", got " + std::to_string(out.size()) + ")");
  for (int i = 0; i < int(n->numInputs); i++)
    if (need[size_t(i)] && out[size_t(i)].defined()) {
      checkGradient(n, i, out[size_t(i)]);
      gradients[size_t(i)] = toOperand(std::move(out[size_t(i)]), n->inputs()[i].meta, nullptr);
    }
}

/// backward(inputs=...) of non-leaves: their `.grad` grows too.
void Pass::keepNonLeaves() {
  for (Target &t : wanted)
    if (t.node->kind != NodeKind::Accumulate && t.grad.defined()) {
      Tensor &kept = t.node->more().retainedOf(t.output).grad;
      kept = kept.defined() ? callOp(OpId::Add, {kept, t.grad}) : t.grad;
    }
}

std::vector<Tensor> Pass::results(TensorList inputs) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!wanted[i].grad.defined() && !options.allowUnused)
      fail("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
           "this is "
           "the desired behavior.");
    out.push_back(std::move(wanted[i].grad));
  }
  return out;
}

Tensor rootCotangent(const Tensor &output, const Tensor &given, size_t index) {
  if (!requiresGrad(output.impl()))
    fail("element " + std::to_string(index) + " of tensors does not require grad and does not have a grad_fn");
  if (given.defined()) {
    if (!sameShape(output.impl(), given.impl()))
      fail("Mismatch in shape: grad_output[" + std::to_string(index) + "] has a shape of " + given->dims().str() +
           " and output[" + std::to_string(index) + "] has a shape of " + output->dims().str() + ".");
    if (given->device != output->device)
      fail("grad_output[" + std::to_string(index) + "]: expected device " +
           deviceString(DeviceKind(output->device), -1) + " but got " + deviceString(DeviceKind(given->device), -1));
    return given->dtype == output->dtype ? given : callOp(OpId::Cast, {given}, {Attr::dtype(output->dtype)});
  }
  if (output->numel != 1)
    fail("grad can be implicitly created only for scalar outputs");
  if (!isFloat(output->dtype))
    fail("grad can be implicitly created only for real scalar outputs but got " +
         std::string(torchName(output->dtype)));
  if (TORCHC_UNLIKELY(output->flags & FlagSubclass))
    return dispatchHooks.ones(output.impl());
  Dims dims = output->dims();
  EagerBuilder builder{output->device};
  return builder.op(OpId::Full, {}, {rules::ints(dims), Attr::number(1), Attr::dtype(output->dtype)}).tensor;
}

} // namespace

std::vector<Tensor> runBackward(TensorList outputs, TensorList gradOutputs, TensorList inputs,
                                BackwardOptions options) {
  ModeGuard mode(options.createGraph ? 0 : uint32_t(FlagNoGrad), options.createGraph ? uint32_t(FlagNoGrad) : 0);
  Pass pass(options);
  for (const Tensor &t : inputs)
    if (!t.defined() || !requiresGrad(t.impl()))
      fail("One of the differentiated Tensors does not require grad");
  for (size_t i = 0; i < outputs.size(); i++)
    pass.root(outputs[i], rootCotangent(outputs[i], i < gradOutputs.size() ? gradOutputs[i] : Tensor(), i));
  pass.targets(inputs);
  pass.run();
  if (!options.accumulate)
    return pass.results(inputs);
  pass.keepNonLeaves();
  return {};
}

void backward(const Tensor &t, const Tensor &gradient, bool retainGraph, bool createGraph) {
  BackwardOptions o;
  o.retainGraph = retainGraph || createGraph;
  o.createGraph = createGraph;
  o.accumulate = true;
  runBackward(TensorList(&t, 1), TensorList(&gradient, 1), {}, o);
}

std::vector<Tensor> grad(TensorList outputs, TensorList inputs, TensorList gradOutputs, bool retainGraph,
                         bool createGraph, bool allowUnused) {
  BackwardOptions o;
  o.retainGraph = retainGraph || createGraph;
  o.createGraph = createGraph;
  o.allowUnused = allowUnused;
  return runBackward(outputs, gradOutputs, inputs, o);
}

} // namespace torchc
