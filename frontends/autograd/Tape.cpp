#include "frontends/autograd/Tape.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Modes.h"

namespace torchc {

__thread SavedHooks *savedHooks __attribute__((tls_model("initial-exec"))) = nullptr;
__thread OpId lostDerivative __attribute__((tls_model("initial-exec"))) = OpId::NumOps;
__thread int LinkedScope::depth = 0;

namespace {

bool differentiable(const OpInfo &info, int operand) {
  return info.differentiable >> (info.flags & OpVariadic ? 0 : operand) & 1;
}

inline void noteMeta(NodeInput &in, const TensorImpl *a, const TensorImpl *out) {
  if (TORCHC_UNLIKELY(a->dtype != out->dtype || !sameShape(a, out)))
    in.meta = newMeta(a->dtype, a->rank, a->sizes());
}

inline void setEdge(Node *n, int i, TensorImpl *a) { connect(n, n->inputs()[i], retain(leafNode(a)), a->outputNumber); }

Tensor shownToHooks(TensorImpl *a) {
  Tensor t = Tensor::borrow(a);
  return a->requiresGrad() && !isLeaf(a) ? detachTensor(t) : t;
}
Unpack &packedSlot(Node *n, int i) {
  n->more().packed.resize(size_t(n->numInputs) + 1);
  return n->extra->packed[size_t(i)];
}
__attribute__((noinline)) void packOperand(Node *n, int i, TensorImpl *a) {
  NoGradGuard quiet;
  packedSlot(n, i) = savedHooks->pack(shownToHooks(a));
  n->inputs()[i].state |= InputPacked;
}

inline void saveOperand(Node *n, int i, TensorImpl *a) {
  if (TORCHC_UNLIKELY(savedHooks))
    return packOperand(n, i, a);
  NodeInput &in = n->inputs()[i];
  in.saved = retain(a);
  in.version = a->version();
  in.state |= InputSaved;
}

inline void saveNumber(NodeInput &in, const Scalar &s) {
  in.bits = s.bits();
  in.numberType = uint8_t(s.dtype());
  in.state = InputNumber;
}

/// The result is kept without its node, which would hold it in turn.
inline void saveResult(Node *n, TensorImpl *out) {
  n->state |= NodeSavesResult;
  TensorImpl *alias = detachTensor(Tensor::borrow(out)).take();
  n->result = alias;
  n->resultVersion = out->version();
  if (TORCHC_UNLIKELY(savedHooks)) {
    NoGradGuard quiet;
    packedSlot(n, int(n->numInputs)) = savedHooks->pack(Tensor(std::exchange(n->result, nullptr)));
    n->state |= NodePacksResult;
  }
}

inline bool gradType(DType t) { return isDifferentiable(t); }

} // namespace

TapePlan planTape(const OpCall &call) {
  TapePlan plan;
  if (threadState.modes.flags & FlagNoGrad)
    return plan;
  const OpInfo &info = opInfo(call.op);
  for (int i = 0; i < call.numOperands; i++) {
    TensorImpl *a = call.operands[i].tensor;
    if (!a)
      continue;
    refreshView(a);
    if (!a->requiresGrad())
      continue;
    if (!differentiable(info, i)) {
      if (info.promote == Promote::Common || info.promote == Promote::Float)
        lostDerivative = call.op;
      continue;
    }
    plan.wanted = true;
    plan.saves |= info.saves[info.flags & OpVariadic ? 0 : i];
  }
  for (int i = 0; plan.saves && i < call.numOperands && i < maxFixedOperands; i++)
    if (TensorImpl *a = call.operands[i].tensor; a && (plan.saves >> i & 1) && (a->flags & FlagInferenceTensor))
      fail("Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor "
           "and use it in autograd.");
  return plan;
}

/// Does an in-place call leave nothing of its target's old value, whose gradient then is zeros rather than none?
static bool overwrites(const OpCall &call, const TensorImpl *target) {
  if (call.out.kind != Out::Inplace || !target->requiresGrad())
    return false;
  const OpInfo &info = opInfo(call.op);
  for (int i = 0; i < call.numOperands; i++)
    if (call.operands[i].tensor == target && differentiable(info, i))
      return false;
  return true;
}

Node *recordNode(const OpCall &call, const TapePlan &plan, TensorImpl *out) {
  const OpInfo &info = opInfo(call.op);
  bool extra = overwrites(call, out);
  Node *n = newNode(NodeKind::Op, call.op, size_t(call.numOperands) + extra);
  if (extra) {
    setEdge(n, call.numOperands, out);
    n->inputs()[call.numOperands].state = InputOverwritten;
  }
  for (int i = 0; i < call.numOperands; i++) {
    NodeInput &in = n->inputs()[i];
    TensorImpl *a = call.operands[i].tensor;
    if (!a) {
      saveNumber(in, call.operands[i].number);
      continue;
    }
    if (a->requiresGrad() && differentiable(info, i))
      setEdge(n, i, a);
    noteMeta(in, a, out);
    bool variadic = info.flags & OpVariadic;
    if (!variadic && plan.saves >> i & 1)
      saveOperand(n, i, plan.copies[i].defined() ? plan.copies[i].impl() : a);
  }
  if (plan.saves & savesResult)
    saveResult(n, out);
  setAttrs(n, call.attrs, call.numAttrs);
  if (LinkedScope::depth || call.op == OpId::AvgPool)
    n->state |= NodeLinked;
  return n;
}

void attachBinary(OpId op, TensorImpl *out, TensorImpl *a, TensorImpl *b) {
  refreshView(a);
  refreshView(b);
  const OpInfo &info = opInfo(op);
  bool needA = a->requiresGrad() && (info.differentiable & 1), needB = b->requiresGrad() && (info.differentiable & 2);
  if (!(needA || needB) || !gradType(out->dtype))
    return;
  uint32_t saves = (needA ? info.saves[0] : 0) | (needB ? info.saves[1] : 0);
  Node *n = newNode(NodeKind::Op, op, 2);
  if (needA)
    setEdge(n, 0, a);
  if (needB)
    setEdge(n, 1, b);
  if (saves) {
    if (saves & 1)
      saveOperand(n, 0, a);
    if (saves & 2)
      saveOperand(n, 1, b);
    if (saves & savesResult)
      saveResult(n, out);
  }
  setNode(out, n); // same shape and type: only the fast path comes here
}

void attachUnary(OpId op, TensorImpl *out, TensorImpl *a) {
  refreshView(a);
  const OpInfo &info = opInfo(op);
  if (a->requiresGrad() && !(info.differentiable & 1))
    lostDerivative = op; // only ops that keep their operand's type come here
  if (!a->requiresGrad() || !(info.differentiable & 1) || !gradType(out->dtype))
    return;
  Node *n = newNode(NodeKind::Op, op, 1);
  setEdge(n, 0, a);
  if (info.saves[0] & 1)
    saveOperand(n, 0, a);
  if (info.saves[0] & savesResult)
    saveResult(n, out);
  setNode(out, n);
}

void attachScalar(OpId op, TensorImpl *out, TensorImpl *a, const Scalar &s, bool scalarLeft) {
  refreshView(a);
  const OpInfo &info = opInfo(op);
  int slot = scalarLeft;
  if (!a->requiresGrad() || !(info.differentiable >> slot & 1) || !gradType(out->dtype))
    return;
  uint32_t saves = info.saves[slot];
  Node *n = newNode(NodeKind::Op, op, 2);
  setEdge(n, slot, a);
  saveNumber(n->inputs()[1 - slot], s);
  if (saves >> slot & 1)
    saveOperand(n, slot, a);
  if (saves & savesResult)
    saveResult(n, out);
  setNode(out, n);
}

} // namespace torchc
