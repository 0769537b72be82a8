// Gradients: what users and the binding call.
#pragma once
#include "frontends/autograd/Node.h"

namespace torchc {

/// t.requires_grad_(): Runtime error for non-floating types, and for turning it off on a non-leaf. Bumps the epoch (E2).
void setRequiresGrad(TensorImpl *t, bool on);
bool requiresGrad(TensorImpl *t);
/// No history: made by the user, or not requiring gradients.
bool isLeaf(TensorImpl *t);
/// `.grad`, undefined if there is none.
Tensor gradOf(TensorImpl *t);
/// Sets or (undefined) clears `.grad`; Runtime error if shape, type or device differ from t's.
void setGrad(TensorImpl *t, const Tensor &grad);
/// Keeps `.grad` of a non-leaf when backward runs.
void retainGrad(TensorImpl *t);
bool retainsGrad(TensorImpl *t);
/// A view of the data that autograd doesn't follow; shares storage and version.
Tensor detachTensor(const Tensor &t);
/// The same values as output `output` of `node`, which is borrowed.
Tensor withHistory(const Tensor &t, Node *node, int output);
/// Cuts the history of t itself; Runtime error for a view.
void detachInplace(TensorImpl *t);
/// `.data`: as detach, with a version counter of its own.
Tensor dataOf(const Tensor &t);
/// t.data = other: takes over other's storage, shape and type.
void setData(TensorImpl *t, const Tensor &other);
/// grad_fn; null for leaves. Borrowed.
Node *gradFn(TensorImpl *t);

/// Calls hook with the gradient of t each time it is computed; a defined result replaces it. Belongs to the value that t
/// has now: an in-place write leaves it behind.
HookHandle registerHook(TensorImpl *t, TensorHook hook);
/// Called with a leaf after its `.grad` was accumulated.
HookHandle registerPostAccumulateHook(TensorImpl *t, LeafHook hook);
/// grad_fn.register_prehook and register_hook.
HookHandle registerNodeHook(Node *n, PreHook hook);
HookHandle registerNodeHook(Node *n, PostHook hook);
/// False if there is no such hook any more.
bool removeHook(const HookHandle &hook);

struct BackwardOptions {
  bool retainGraph = false;
  bool createGraph = false;
  bool allowUnused = false;
  bool accumulate = false; // into `.grad` of leaves (of `inputs`, if there are any), else return the gradients
};
/// The one entry of the engine. `gradOutputs` may be shorter than `outputs` and hold undefined tensors: ones, for
/// outputs of one element. Returns the gradients of `inputs` unless they are accumulated.
std::vector<Tensor> runBackward(TensorList outputs, TensorList gradOutputs, TensorList inputs, BackwardOptions options);
/// t.backward(gradient).
void backward(const Tensor &t, const Tensor &gradient = {}, bool retainGraph = false, bool createGraph = false);
/// torch.autograd.grad.
std::vector<Tensor> grad(TensorList outputs, TensorList inputs, TensorList gradOutputs = {}, bool retainGraph = false,
                         bool createGraph = false, bool allowUnused = false);

/// For NodeFunctions whose saved values are gone.
[[noreturn]] void backwardTwice();

/// Makes `outputs` (in order) the results of a Function node with the given inputs; only floating outputs require
/// gradients. Nothing is recorded if no input requires one or gradients are off (returns null). Borrowed.
Node *recordFunction(std::unique_ptr<NodeFunction> fn, TensorList inputs, TensorList outputs);

} // namespace torchc
