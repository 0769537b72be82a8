#include "frontends/autograd/Views.h"
#include "dialects/rules/Builder.h"
#include <algorithm>
#include <vector>

namespace torchc {
namespace {

constexpr int viewClass = (sizeof(ViewInfo) + 63) / 64;

/// Steps from the base to the view, first to last.
std::vector<ViewInfo *> steps(ViewInfo *v) {
  std::vector<ViewInfo *> out;
  for (; v; v = v->parent)
    out.push_back(v);
  std::reverse(out.begin(), out.end());
  return out;
}
Dims parentDims(const ViewInfo *v) { return v->parent ? v->parent->dims() : v->base->dims(); }

void setStepAttrs(Node *n, OpId op, const int64_t *values, int count, const Dims &dims) {
  Attr attrs[4];
  if (!count) {
    attrs[0] = rules::ints(dims);
    setAttrs(n, attrs, 1);
    return;
  }
  for (int i = 0; i < count; i++)
    attrs[i] = Attr::integer(values[i]);
  setAttrs(n, attrs, count);
}

void setInput(Node *n, int i, Node *next, int outputNumber, DType dtype, const Dims &dims) {
  NodeInput &in = n->inputs()[i];
  in.next = next; // takes the reference
  in.outputNumber = uint8_t(outputNumber);
  in.meta = newMeta(dtype, dims.size(), dims.data());
}

struct Edge {
  Node *node = nullptr; // owned
  int output = 0;
};

/// The node of a view step applied to `parent` (taken).
Edge stepNode(const ViewInfo *v, Edge parent) {
  if (!parent.node)
    return {};
  Node *n = newNode(NodeKind::Op, v->op, 1);
  setStepAttrs(n, v->op, v->attrs, v->numAttrs, v->dims());
  setInput(n, 0, parent.node, parent.output, v->base->dtype, parentDims(v));
  return {n, 0};
}

/// The node of the parent's new value once `child` (taken) was written through step v over `old` (taken).
Edge writeNode(const ViewInfo *v, Edge old, Edge child) {
  DType dtype = v->base->dtype;
  Dims to = parentDims(v);
  bool whole = v->op != OpId::Slice;
  if (whole && old.node)
    release(std::exchange(old.node, nullptr));
  if (!old.node && !child.node)
    return {};
  OpId op = v->op == OpId::Slice ? OpId::SliceUpdate : v->op == OpId::Transpose ? OpId::Transpose : OpId::Reshape;
  Node *n = newNode(NodeKind::Op, op, whole ? 1 : 2);
  if (op == OpId::Reshape)
    setStepAttrs(n, op, nullptr, 0, to);
  else
    setStepAttrs(n, op, v->attrs, v->numAttrs, to);
  if (!whole)
    setInput(n, 0, old.node, old.output, dtype, to);
  setInput(n, whole ? 0 : 1, child.node, child.output, dtype, v->dims());
  return {n, 0};
}

Edge edgeOf(TensorImpl *t) {
  if (!t->requiresGrad())
    return {};
  return {retain(leafNode(t)), t->outputNumber};
}

void setHistory(TensorImpl *t, Edge e) {
  Node *old = std::exchange(t->node, e.node);
  t->outputNumber = uint8_t(e.output);
  t->flags = e.node ? t->flags | FlagRequiresGrad : t->flags & ~FlagRequiresGrad;
  if (!old)
    return;
  if (old->kind == NodeKind::Accumulate && old->leaf().variable == t)
    old->leaf().variable = nullptr;
  release(old);
}

} // namespace

void releaseSlow(ViewInfo *v) {
  while (v) {
    ViewInfo *parent = v->parent;
    release(v->base);
    freeMeta(v->shape);
    freeSmall(v, viewClass);
    v = parent && parent->refs.decrement() ? parent : nullptr;
  }
}

namespace {

/// A step after `parent` (retained), or from `base` (retained) if that is null. `shape` is taken.
ViewInfo *newStep(OpId op, TensorImpl *base, ViewInfo *parent, OperandMeta *shape) {
  auto *v = static_cast<ViewInfo *>(allocSmall(viewClass));
  if (TORCHC_UNLIKELY(!v))
    outOfMemory(sizeof(ViewInfo));
  v->refs.init();
  v->op = op;
  v->parent = parent;
  if (parent)
    parent->refs.increment();
  v->base = retain(base);
  v->numAttrs = 0;
  v->shape = shape;
  return v;
}

/// False: the view stays untracked and is marked so.
bool tracks(TensorImpl *in, TensorImpl *out) {
  if (!(threadState.modes.flags & FlagNoGrad) && !(in->flags & flagUntrackedView))
    return true;
  out->flags |= flagUntrackedView;
  return false;
}

void setView(TensorImpl *out, ViewInfo *v) {
  v->version = out->version();
  out->view = v;
  out->flags |= FlagView;
}

TensorImpl *baseOf(TensorImpl *t) { return t->view ? t->view->base : t; }

} // namespace

void trackView(OpId op, const Attr *attrs, int numAttrs, TensorImpl *in, TensorImpl *out) {
  if (!tracks(in, out))
    return;
  ViewInfo *v = newStep(op, baseOf(in), in->view, newMeta(out->dtype, out->rank, out->sizes()));
  for (int i = 0; i < numAttrs && attrs[i].tag != AttrTag::IntList; i++)
    v->attrs[v->numAttrs++] = attrs[i].i;
  setView(out, v);
}

void trackSelect(TensorImpl *in, TensorImpl *out, int64_t dim, int64_t start) {
  if (!tracks(in, out))
    return;
  OperandMeta *sliced = newMeta(in->dtype, in->rank, in->sizes());
  sliced->sizes[dim] = 1;
  ViewInfo *slice = newStep(OpId::Slice, baseOf(in), in->view, sliced);
  int64_t attrs[4] = {dim, start, start + 1, 1};
  std::copy_n(attrs, 4, slice->attrs);
  slice->numAttrs = 4;
  slice->version = 0; // of no tensor
  setView(out, newStep(OpId::Reshape, baseOf(in), slice, newMeta(out->dtype, out->rank, out->sizes())));
  release(slice);
}

void refreshViewSlow(TensorImpl *t) {
  Edge e = edgeOf(t->view->base);
  for (ViewInfo *v : steps(t->view))
    e = stepNode(v, e);
  setHistory(t, e);
  t->view->version = t->version();
}

void rebaseHistory(TensorImpl *t, Node *n) {
  if (t->view) {
    TensorImpl *base = t->view->base;
    std::vector<ViewInfo *> path = steps(t->view);
    std::vector<Edge> olds{edgeOf(base)};
    for (size_t i = 0; i + 1 < path.size(); i++) {
      Edge parent = olds.back();
      if (parent.node)
        retain(parent.node);
      olds.push_back(stepNode(path[i], parent));
    }
    Edge child{n ? retain(n) : nullptr, 0};
    for (size_t i = path.size(); i-- > 0;)
      child = writeNode(path[i], olds[i], child);
    setHistory(base, child);
    t->view->version = t->version();
  }
  setHistory(t, {n, 0});
}

void checkInplace(TensorImpl *t, bool needsGrad) {
  refreshView(t);
  bool tracked = needsGrad || t->requiresGrad() || (t->view && t->view->base->requiresGrad());
  if (!tracked)
    return;
  auto isLeaf = [](TensorImpl *x) { return x->requiresGrad() && (!x->node || x->node->kind == NodeKind::Accumulate); };
  if (t->view && isLeaf(t->view->base))
    fail("a view of a leaf Variable that requires grad is being used in an in-place operation.");
  if (isLeaf(t))
    fail("a leaf Variable that requires grad is being used in an in-place operation.");
  if (t->flags & flagUntrackedView)
    fail("A view was created in no_grad mode and is being modified inplace with grad mode enabled. This view was "
         "created "
         "inside a no_grad block, so its history isn't known; create it outside, or modify it inside the block");
}

} // namespace torchc
