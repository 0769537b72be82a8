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
DType parentType(const ViewInfo *v) { return v->parent ? v->parent->shape->dtype : v->rootOf()->dtype; }
Dims parentDims(const ViewInfo *v) { return v->parent ? v->parent->dims() : v->rootOf()->dims(); }

void setShapeAttr(Node *n, const Dims &dims) {
  Attr a = rules::ints(dims);
  setAttrs(n, &a, 1);
}

/// The attributes of a view's step, for the step itself and for the op that writes through it.
void setStepAttrs(Node *n, const ViewInfo *v) {
  Dims shape = v->dims(), strides;
  Attr attrs[4];
  int count = 0;
  if (v->strides) {
    strides = v->strides->dims();
    attrs[count++] = rules::ints(shape);
    attrs[count++] = rules::ints(strides);
  }
  for (int i = 0; i < v->numAttrs; i++)
    attrs[count++] = Attr::integer(v->attrs[i]);
  if (count)
    setAttrs(n, attrs, count);
  else
    setShapeAttr(n, shape);
}

void setInput(Node *n, int i, Node *next, int outputNumber, DType dtype, const Dims &dims) {
  NodeInput &in = n->inputs()[i];
  if (next)
    connect(n, in, next, outputNumber);
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
  setStepAttrs(n, v);
  setInput(n, 0, parent.node, parent.output, parentType(v), parentDims(v));
  return {n, 0};
}

/// The node of the parent's new value once `child` (taken) was written through step v over `old` (taken).
Edge writeNode(const ViewInfo *v, Edge old, Edge child) {
  DType dtype = parentType(v);
  Dims to = parentDims(v);
  bool whole = v->op != OpId::Slice && v->op != OpId::AsStrided;
  if (whole && old.node)
    release(std::exchange(old.node, nullptr));
  if (!old.node && !child.node)
    return {};
  OpId op = v->op == OpId::Slice           ? OpId::SliceUpdate
            : v->op == OpId::AsStrided     ? OpId::AsStridedUpdate
            : v->op == OpId::Transpose     ? OpId::Transpose
            : v->op == OpId::ViewAsReal    ? OpId::ViewAsComplex
            : v->op == OpId::ViewAsComplex ? OpId::ViewAsReal
                                           : OpId::Reshape;
  Node *n = newNode(NodeKind::Op, op, whole ? 1 : 2);
  if (op == OpId::Reshape)
    setShapeAttr(n, to);
  else
    setStepAttrs(n, v);
  if (!whole)
    setInput(n, 0, old.node, old.output, dtype, to);
  setInput(n, whole ? 0 : 1, child.node, child.output, v->shape->dtype, v->dims());
  return {n, 0};
}

Edge edgeOf(TensorImpl *t) {
  if (!t->requiresGrad())
    return {};
  return {retain(leafNode(t)), t->outputNumber};
}

void setHistory(TensorImpl *t, Edge e) {
  if (Node *old = t->node; old && old->extra && e.node && old != e.node)
    if (NodeExtra::Retained *r = old->extra->findRetained(t->outputNumber); r && r->wanted) {
      r->wanted = false; // retain_grad() is about the tensor, whatever its value
      e.node->more().retainedOf(e.output).wanted = true;
    }
  dropNode(t);
  t->node = e.node;
  t->outputNumber = uint8_t(e.output);
  t->flags = e.node ? t->flags | FlagRequiresGrad : t->flags & ~FlagRequiresGrad;
}

} // namespace

void releaseSlow(ViewInfo *v) {
  while (v) {
    ViewInfo *parent = v->parent;
    release(v->base);
    freeMeta(v->shape);
    if (v->strides)
      freeMeta(v->strides);
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
  v->strides = nullptr;
  return v;
}

/// False: the view stays untracked and is marked so.
bool tracks(TensorImpl *in, TensorImpl *out) {
  if (!(threadState.modes.flags & FlagNoGrad) && !(in->flags & flagUntrackedView))
    return true;
  out->flags |= flagUntrackedView | (in->flags & flagLostHistory) | (in->requiresGrad() ? flagLostHistory : 0);
  return false;
}

void setView(TensorImpl *out, ViewInfo *v) {
  v->version = out->version();
  out->view = v;
  out->flags |= FlagView;
}

TensorImpl *baseOf(TensorImpl *t) { return t->view ? t->view->rootOf() : t; }

ViewInfo *stepOf(OpId op, const Attr *attrs, int numAttrs, TensorImpl *base, ViewInfo *parent, TensorImpl *out) {
  ViewInfo *v = newStep(op, base, parent, newMeta(out->dtype, out->rank, out->sizes()));
  for (int i = 0; i < numAttrs; i++)
    if (attrs[i].tag != AttrTag::IntList)
      v->attrs[v->numAttrs++] = attrs[i].i;
  if (op == OpId::AsStrided)
    v->strides = newMeta(out->dtype, int(attrs[1].size), attrs[1].list);
  return v;
}

} // namespace

void trackView(OpId op, const Attr *attrs, int numAttrs, TensorImpl *in, TensorImpl *out) {
  out->flags |= in->flags & flagFixedView;
  if (tracks(in, out))
    setView(out, stepOf(op, attrs, numAttrs, baseOf(in), in->view, out));
}

void becomeView(TensorImpl *t, TensorImpl *v) {
  ++t->version();
  bumpEpoch();
  bool alone = !t->view && !t->node && t->storage && t->storage->refs.get() <= 2; // t's and v's
  ViewInfo *steps = alone ? nullptr : v->view;
  if (steps && !t->view) { // what t was stays behind as the base of all its views
    Tensor base(newAlias(t, t->rank, t->sizes(), t->strides(), 0));
    base->flags |= flagHiddenBase;
    setHistory(base.impl(), edgeOf(t));
    for (ViewInfo *s = steps; s; s = s->parent)
      release(std::exchange(s->base, retain(base.impl())));
  }
  Dims sizes = v->dims(), strides(v->strides(), v->rank);
  setDims(t, sizes.size(), sizes.data(), strides.data());
  t->data = v->data;
  if (!steps)
    return;
  steps->refs.increment();
  if (ViewInfo *old = std::exchange(t->view, nullptr))
    release(old);
  setView(t, steps);
  refreshViewSlow(t);
}

void trackSelect(TensorImpl *in, TensorImpl *out, int64_t dim, int64_t start) {
  out->flags |= in->flags & flagFixedView;
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
  Edge e = edgeOf(t->view->rootOf());
  for (ViewInfo *v : steps(t->view))
    e = stepNode(v, e);
  setHistory(t, e);
  t->view->version = t->version();
}

void rebaseHistory(TensorImpl *t, Node *n, int output) {
  if (output > UINT8_MAX) { // a tensor counts to 255, an edge further
    Node *own = newNode(NodeKind::Op, OpId::Reshape, 1);
    setShapeAttr(own, t->dims());
    setInput(own, 0, n, output, t->dtype, t->dims());
    n = own;
    output = 0;
  }
  if (t->view) {
    TensorImpl *base = t->view->rootOf();
    std::vector<ViewInfo *> path = steps(t->view);
    std::vector<Edge> olds{edgeOf(base)};
    for (size_t i = 0; i + 1 < path.size(); i++) {
      Edge parent = olds.back();
      if (parent.node)
        retain(parent.node);
      olds.push_back(stepNode(path[i], parent));
    }
    Edge child{n ? retain(n) : nullptr, output};
    for (size_t i = path.size(); i-- > 0;)
      child = writeNode(path[i], olds[i], child);
    setHistory(base, child);
    t->view->version = t->version();
  }
  setHistory(t, {n, output});
}

void checkInplace(TensorImpl *t, bool needsGrad) {
  refreshView(t);
  bool tracked =
      needsGrad || t->requiresGrad() || (t->flags & flagLostHistory) || (t->view && t->view->rootOf()->requiresGrad());
  if (!tracked)
    return;
  auto isLeaf = [](TensorImpl *x) { return x->requiresGrad() && (!x->node || x->node->kind == NodeKind::Accumulate); };
  if (t->view && isLeaf(t->view->rootOf()))
    fail("a view of a leaf Variable that requires grad is being used in an in-place operation.");
  if (isLeaf(t))
    fail("a leaf Variable that requires grad is being used in an in-place operation.");
  if (t->flags & flagFixedView)
    fail("This tensor is a view and is being modified inplace. This view is the output of a function that returns "
         "multiple views, or was created inside a custom Function; such outputs can't be modified inplace. Use an "
         "out-of-place operation, or clone() the view first.");
  if (t->flags & flagUntrackedView)
    fail("A view was created in no_grad mode and is being modified inplace with grad mode enabled. This view was "
         "created "
         "inside a no_grad block, so its history isn't known; create it outside, or modify it inside the block");
}

} // namespace torchc
