#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Tape.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/DispatchHooks.h"
#include "frontends/eager/Modes.h"

namespace torchc {

void setRequiresGrad(TensorImpl *t, bool on) {
  checkChange(t);
  refreshView(t);
  if (on && !isFloat(t->dtype) && !isComplex(t->dtype))
    fail("only Tensors of floating point and complex dtype can require gradients");
  if (!on && !isLeaf(t))
    fail("you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
         "subgraph "
         "that doesn't require differentiation use var_no_grad = var.detach().");
  if (on && (t->flags & FlagInferenceTensor) && !(threadState.modes.flags & FlagInference))
    fail("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (on == t->requiresGrad())
    return;
  if (on)
    leafNode(t);
  t->flags = on ? t->flags | FlagRequiresGrad : t->flags & ~FlagRequiresGrad;
  bumpEpoch();
}
bool requiresGrad(TensorImpl *t) {
  refreshView(t);
  return t->requiresGrad();
}
Node *gradFn(TensorImpl *t) {
  refreshView(t);
  return t->requiresGrad() && t->node && t->node->kind != NodeKind::Accumulate ? t->node : nullptr;
}
bool isLeaf(TensorImpl *t) { return !gradFn(t); }

Tensor gradOf(TensorImpl *t) {
  refreshView(t);
  if (!t->node)
    return {};
  if (t->node->kind == NodeKind::Accumulate)
    return gradOfLeaf(t->node->leaf());
  NodeExtra::Retained *kept = t->node->extra ? t->node->extra->findRetained(t->outputNumber) : nullptr;
  return kept ? kept->grad : Tensor();
}

void setGrad(TensorImpl *t, const Tensor &grad) {
  checkChange(t);
  if (grad.defined()) {
    if (!sameShape(grad.impl(), t))
      fail("assigned grad has data of a different size: expected " + t->dims().str() + ", got " + grad->dims().str());
    if (grad->dtype != t->dtype)
      fail("assigned grad has data of a different type: expected " + std::string(torchName(t->dtype)) + ", got " +
           std::string(torchName(grad->dtype)));
    if (grad->device != t->device)
      fail("assigned grad has data located on a different device");
    if (grad.impl() == t)
      fail("can't assign Variable as its own grad");
  }
  if (Node *n = gradFn(t)) {
    if (grad.defined() || n->extra)
      n->more().retainedOf(t->outputNumber).grad = grad;
  } else if (grad.defined() || t->node) {
    exchangeGrad(leafNode(t)->leaf(), grad);
  }
}

void retainGrad(TensorImpl *t) {
  if (!requiresGrad(t))
    fail("can't retain_grad on Tensor that has requires_grad=False");
  if (Node *n = gradFn(t))
    n->more().retainedOf(t->outputNumber).wanted = true;
}
bool retainsGrad(TensorImpl *t) {
  Node *n = gradFn(t);
  NodeExtra::Retained *kept = n && n->extra ? n->extra->findRetained(t->outputNumber) : nullptr;
  return kept && kept->wanted;
}

Tensor detachTensor(const Tensor &t) {
  TensorImpl *a = t.impl();
  if (TORCHC_UNLIKELY(a->flags & FlagSubclass))
    return dispatchHooks.alias(a);
  Tensor out(newAlias(a, a->rank, a->sizes(), a->strides(), 0));
  out->tag = a->tag; // the same value in a trace
  return out;
}

Tensor withHistory(const Tensor &t, Node *node, int output) {
  Tensor out = detachTensor(t);
  rebaseHistory(out.impl(), retain(node), output);
  return out;
}

void detachInplace(TensorImpl *t) {
  checkChange(t);
  if (t->view && !(t->view->base->flags & flagHiddenBase))
    fail("Can't detach views in-place. Use detach() instead.");
  if (ViewInfo *v = std::exchange(t->view, nullptr))
    release(v);
  dropNode(t);
  t->flags &= ~FlagRequiresGrad;
  t->outputNumber = 0;
}

Tensor dataOf(const Tensor &t) {
  Tensor out = detachTensor(t);
  out->ownVersion = t->version();
  out->flags |= flagOwnVersion;
  return out;
}

void setData(TensorImpl *t, const Tensor &other) {
  checkChange(t);
  materialize(t);
  materialize(other.impl());
  if (isDifferentiable(other->dtype) != isDifferentiable(t->dtype) && t->requiresGrad())
    fail("data set to a tensor that requires gradients must be floating point or complex dtype");
  Dims sizes = other->dims(), strides(other->strides(), other->rank);
  Storage *old = std::exchange(t->storage, other->storage ? retain(other->storage) : nullptr);
  t->data = other->data;
  t->dtype = other->dtype;
  t->device = other->device;
  t->flags = (t->flags & ~FlagNotCpu) | (other->flags & FlagNotCpu);
  setDims(t, sizes.size(), sizes.data(), strides.data());
  if (old)
    release(old);
  bumpEpoch();
  noteEffect(Effect::SetData, t);
}

static HookHandle registerHook(Node *n, HookBody body) {
  bumpEpoch();
  return addHook(n, std::move(body));
}

HookHandle registerHook(TensorImpl *t, TensorHook hook) {
  if (!requiresGrad(t))
    fail("cannot register a hook on a tensor that doesn't require gradient");
  HookBody body;
  body.onGrad = std::move(hook);
  body.output = t->outputNumber;
  return registerHook(leafNode(t), std::move(body));
}
HookHandle registerPostAccumulateHook(TensorImpl *t, LeafHook hook) {
  if (!requiresGrad(t))
    fail("cannot register a hook on a tensor that doesn't require gradient");
  if (!isLeaf(t))
    fail("post accumulate grad hooks cannot be registered on non-leaf tensors");
  HookBody body;
  body.onLeaf = std::move(hook);
  return registerHook(leafNode(t), std::move(body));
}
HookHandle registerNodeHook(Node *n, PreHook hook) {
  HookBody body;
  body.before = std::move(hook);
  return registerHook(n, std::move(body));
}
HookHandle registerNodeHook(Node *n, PostHook hook) {
  HookBody body;
  body.after = std::move(hook);
  return registerHook(n, std::move(body));
}
bool removeHook(const HookHandle &hook) {
  bumpEpoch();
  return dropHook(hook);
}

Node *recordFunction(std::unique_ptr<NodeFunction> fn, TensorList inputs, TensorList outputs) {
  bool wanted = false;
  for (const Tensor &t : inputs)
    wanted |= t.defined() && requiresGrad(t.impl());
  if (!wanted || !isGradEnabled())
    return nullptr;
  if (outputs.size() > mostOutputs)
    fail(fn->name() + ": expected at most " + std::to_string(mostOutputs) + " outputs, got " +
         std::to_string(outputs.size()));
  Node *n = newNode(NodeKind::Function, OpId::NumOps, inputs.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    TensorImpl *a = inputs[i].impl();
    if (!a)
      continue;
    NodeInput &in = n->inputs()[i];
    in.meta = newMeta(a->dtype, a->rank, a->sizes());
    if (!a->requiresGrad())
      continue;
    connect(n, in, retain(leafNode(a)), a->outputNumber);
  }
  n->more().function = std::move(fn);
  n->extra->numOutputs = int(outputs.size());
  bool used = false;
  for (size_t i = 0; i < outputs.size(); i++) {
    TensorImpl *o = outputs[i].impl();
    if (!o || !(isFloat(o->dtype) || isComplex(o->dtype)))
      continue;
    rebaseHistory(o, retain(n), int(i));
    used = true;
  }
  release(n);
  return used ? n : nullptr;
}

} // namespace torchc
