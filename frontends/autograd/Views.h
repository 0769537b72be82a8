// Views that autograd tracks: how each was made from its base, so that a write through one reaches the history of all.
#pragma once
#include "frontends/autograd/Node.h"

namespace torchc {

/// One step from the base (or the parent view) to a view; shared by the views made from it.
struct ViewInfo {
  RefCount refs;
  OpId op;
  TensorImpl *base; // owned; not a view itself, unless its own shape was changed in place since (rootOf)
  ViewInfo *parent; // owned; null: made from the base
  uint32_t version; // of the storage when the tensor's node was current
  uint8_t numAttrs;
  int64_t attrs[4]; // integers in the record's order; lists are `shape` and `strides`
  OperandMeta *shape; // of the view; owned
  OperandMeta *strides; // of as_strided; owned, else null
  Dims dims() const { return shape->dims(); }
  /// The tensor whose shape the first step starts from.
  TensorImpl *rootOf() const { return base->view ? base->view->base : base; }
};

void releaseSlow(ViewInfo *v);
inline void release(ViewInfo *v) {
  if (v->refs.decrement())
    releaseSlow(v);
}

/// The view was made while gradients were off: in-place writes through it that need gradients are refused.
inline constexpr uint32_t flagUntrackedView = 1u << 12;
/// Such a view of a tensor that required gradients.
inline constexpr uint32_t flagLostHistory = 1u << 15;
/// One of several views that one function returned, or a view from a custom function: in-place writes that need gradients
/// are refused, as PyTorch's function nodes can't be rebased.
inline constexpr uint32_t flagFixedView = 1u << 9;
/// What a tensor was before its shape was changed in place: no program sees it.
inline constexpr uint32_t flagHiddenBase = 1u << 14;

/// `out` is the result of view op `op` on `in`. Makes it a tracked view; nodes are attached separately.
void trackView(OpId op, const Attr *attrs, int numAttrs, TensorImpl *in, TensorImpl *out);

/// The same for x[.., i, ..] made in one go: a slice [start, start + 1) of `dim`, then the reshape that drops it.
void trackSelect(TensorImpl *in, TensorImpl *out, int64_t dim, int64_t start);

/// t.transpose_() and the like: t takes over sizes, strides and history of `v`, a view made of it that nobody else has.
void becomeView(TensorImpl *t, TensorImpl *v);

void refreshViewSlow(TensorImpl *t);
/// Renews node and requires_grad of a view whose base was written to since.
inline void refreshView(TensorImpl *t) {
  if (TORCHC_UNLIKELY(t->view) && t->view->version != t->version())
    refreshViewSlow(t);
}

/// After an in-place write to `t` that gave it the history `n` (owned; null: none): updates t and, if it is a view, its
/// base.
void rebaseHistory(TensorImpl *t, Node *n, int output = 0);
/// Refuses writes that autograd can't follow: leaves that require gradients, views of them, untracked views.
/// `needsGrad`: the written values have a history.
void checkInplace(TensorImpl *t, bool needsGrad);

} // namespace torchc
