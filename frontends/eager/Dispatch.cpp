#include "frontends/eager/Dispatch.h"
#include "frontends/autograd/Tape.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/DispatchHooks.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"
#include "frontends/eager/View.h"
#include "frontends/eager/composite/Common.h"
#include "frontends/eager/cuda/Cuda.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Status.h"
#include "runtime/kernels/Pack.h"
#include "runtime/kernels/Strided.h"

namespace torchc {

FastKernels fastKernels[numOps][numComputeDTypes];

void fillFastKernels() {
  for (int op = 0; op < numOps; op++) {
    const OpInfo &info = opTable[op];
    bool keepsType =
        info.promote == Promote::Common || info.promote == Promote::Float || info.promote == Promote::Magnitude;
    if (info.family != Family::Elementwise || !keepsType || (info.flags & OpMayRaise))
      continue;
    for (int d = 0; d < numComputeDTypes; d++) {
      if (info.promote == Promote::Float && !isFloat(DType(d)))
        continue;
      FastKernels &f = fastKernels[op][d];
      if (info.numOperands == 1)
        f.unary = packElementwise(OpId(op), DType(d), 0);
      if (info.numOperands == 2) {
        f.binary = packElementwise(OpId(op), DType(d), 0);
        f.scalarRight = packElementwise(OpId(op), DType(d), 2);
        f.scalarLeft = packElementwise(OpId(op), DType(d), 1);
      }
    }
  }
}

void notImplementedFor(const char *op, DType t) {
  fail(ErrorKind::NotImplemented,
       "\"" + std::string(op) + "\" not implemented for '" + std::string(torchName(t)) + "'");
}

void checkStatus(const char *op) {
  int32_t code = std::exchange(threadState.status, 0);
  if (TORCHC_LIKELY(!code))
    return;
  auto s = KernelStatus(code);
  fail(statusKind(s), std::string(op) + "(): " + statusText(s));
}

void broadcastStrides(const TensorImpl *t, int rank, const int64_t *sizes, int64_t *strides) {
  int lead = rank - t->rank;
  for (int i = 0; i < rank; i++)
    strides[i] = i < lead || t->sizes()[i - lead] == 1 ? 0 : t->strides()[i - lead];
}

void copyInto(TensorImpl *dst, TensorImpl *src) {
  if (dst->device == cudaDevice || src->device == cudaDevice)
    return cuda::copyTensor(dst, src);
  if (dst->dtype != src->dtype && (isComplex(dst->dtype) || isComplex(src->dtype)))
    return copyComplex(dst, src);
  int64_t strides[maxRank];
  broadcastStrides(src, dst->rank, dst->sizes(), strides);
  copyStrided(dst->rank, dst->sizes(), dst->data, dst->strides(), dst->dtype, src->data, strides, src->dtype,
              &threadState.status);
  checkStatus("copy_");
}
TensorImpl *copyOf(TensorImpl *t, DType dtype) {
  Tensor out(newTensor(dtype, t->dims(), t->device));
  copyInto(out.impl(), t);
  return out.take();
}
TensorImpl *contiguousOf(TensorImpl *t) { return t->contiguous() ? retain(t) : copyOf(t, t->dtype); }
TensorImpl *contiguousAs(TensorImpl *t, DType dtype) {
  return t->contiguous() && t->dtype == dtype ? retain(t) : copyOf(t, dtype);
}

namespace {

using FamilyFn = TensorImpl *(*)(Resolved &);
// In the order of enum Family.
constexpr FamilyFn families[] = {runElementwise, runCast,   runReduction, runContraction, runView,   runIndexing,
                                 runCreation,    runRandom, runFused,     runLibrary,     runPooling};

constexpr auto metaDevice = uint8_t(DeviceKind::Meta);

std::string deviceName(const TensorImpl *t) {
  bool numbered = t->device == cudaDevice && t->storage;
  return deviceString(DeviceKind(t->device), numbered ? t->storage->deviceIndex : -1);
}

/// The device of the result; refuses what can't run.
uint8_t commonDevice(const OpCall &call) {
  const TensorImpl *first = nullptr;
  const OpInfo &info = opInfo(call.op);
  bool mixes = info.family == Family::Elementwise; // with numbers of the cpu
  auto meet = [&](const TensorImpl *t) {
    bool isNumber = mixes && !t->device && !t->rank && t != call.out.tensor;
    if (!first || (mixes && !first->device && !first->rank && t->device))
      first = t;
    else if (first->device != t->device ? !isNumber : t->device == cudaDevice && deviceName(first) != deviceName(t))
      fail("Expected all tensors to be on the same device, but found at least two devices, " + deviceName(first) +
           " and " + deviceName(t) + "!");
  };
  for (int i = 0; i < call.numOperands; i++)
    if (call.operands[i].tensor)
      meet(call.operands[i].tensor);
  if (call.out.tensor)
    meet(call.out.tensor);
  return first ? first->device : 0;
}

/// Operands as the rules see them; in place for all ops but wide joins.
class OperandTypes {
public:
  explicit OperandTypes(const OpCall &call) {
    if (call.numOperands > maxFixedOperands) {
      moreTypes.resize(size_t(call.numOperands));
      moreDims.resize(size_t(call.numOperands));
      types = moreTypes.data();
      dims = moreDims.data();
    }
    for (int i = 0; i < call.numOperands; i++) {
      const Operand &o = call.operands[i];
      types[i].isNumber = o.isNumber();
      types[i].dtype = o.tensor ? o.tensor->dtype : o.number.dtype();
      types[i].dims = nullptr;
      if (o.tensor) {
        dims[i] = o.tensor->dims();
        types[i].dims = &dims[i];
      }
    }
  }
  OperandTypes(const OperandTypes &) = delete;
  const OperandType *get() const { return types; }

private:
  OperandType fewTypes[maxFixedOperands];
  Dims fewDims[maxFixedOperands];
  std::vector<OperandType> moreTypes;
  std::vector<Dims> moreDims;
  OperandType *types = fewTypes;
  Dims *dims = fewDims;
};

/// Ops on complex numbers that are more than moves of elements.
bool computesComplex(const Resolved &r) {
  bool found = isComplex(r.type.dtype);
  for (int i = 0; i < r.call.numOperands; i++)
    found |= r.operand(i) && isComplex(r.operand(i)->dtype);
  bool moves = r.info.family == Family::View || r.info.family == Family::Cast ||
               (r.info.family == Family::Indexing && !(r.info.flags & OpAccumulates));
  return found && !moves;
}

/// Half precision that a complex number or 0-d tensor would make complex: no type has such parts.
void refuseHalfComplex(const OpCall &call) {
  bool half = false, other = false, dims = false, complexBelow = false;
  for (int i = 0; i < call.numOperands; i++)
    dims |= call.operands[i].tensor && call.operands[i].tensor->rank;
  for (int i = 0; i < call.numOperands; i++) {
    const Operand &o = call.operands[i];
    DType t = o.tensor ? o.tensor->dtype : o.number.dtype();
    bool decides = o.tensor && (o.tensor->rank || !dims);
    half |= decides && isReducedFloat(t);
    other |= decides && category(t) >= 2 && !isReducedFloat(t);
    complexBelow |= !decides && isComplex(t);
  }
  if (half && !other && complexBelow)
    fail(ErrorKind::NotImplemented,
         std::string(opInfo(call.op).name) + "(): complex numbers of half precision are not implemented");
}

void infer(const OpCall &call, Resolved &r) {
  OperandTypes types(call);
  Diag diag;
  if (!inferOp(call.op, types.get(), call.numOperands, call.attrs, call.numAttrs, defaultDType(), r.type, diag))
    fail(diag);
  if (r.info.promote != Promote::None)
    r.promoted = promote(r.info.promote, types.get(), call.numOperands, defaultDType());
  if (TORCHC_UNLIKELY(r.info.promote != Promote::None && isComplex(r.promoted.compute)))
    refuseHalfComplex(call);
}

//===-- in-place and out= ---------------------------------------------------------------------------------------===//

/// torch.can_cast.
bool canCast(DType from, DType to) {
  int f = category(from), t = category(to);
  return !(f > t && (f == 3 || f == 2 || t == 0));
}

void resizeOut(TensorImpl *out, const Dims &dims) {
  if (out->view)
    fail("cannot resize a view that is given as out=");
  bool fixed = out->storage && out->storage->exposed == exposedFixed;
  int64_t room = fixed ? out->storage->nbytes / itemSize(out->dtype) - out->storageOffset() : 0;
  if (fixed && dims.numel() > room)
    fail("Trying to resize storage that is not resizable: its memory is shared with NumPy, " +
         std::to_string(dims.numel()) + " elements are needed, there is room for " + std::to_string(room));
  if (out->device != metaDevice && !fixed) {
    Tensor fresh(newTensor(out->dtype, dims, out->device));
    release(std::exchange(out->storage, retain(fresh->storage)));
    out->data = out->storage->data;
  }
  setDims(out, dims.size(), dims.data(), nullptr);
  bumpEpoch();
}

void checkTarget(const OpCall &call, const TensorType &type) {
  TensorImpl *t = call.out.tensor;
  const OpInfo &info = opInfo(call.op);
  if (call.out.kind == Out::Inplace && info.promote == Promote::Magnitude && isComplex(t->dtype))
    fail("In-place " + std::string(info.name) + " is not supported for complex tensors.");
  if (!canCast(type.dtype, t->dtype))
    fail("result type " + std::string(torchName(type.dtype)) + " can't be cast to the desired output type " +
         std::string(torchName(t->dtype)));
  for (int i = 0; i < t->rank && t->numel; i++)
    if (t->strides()[i] == 0 && t->sizes()[i] > 1)
      fail("unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
           "Please clone() the tensor before performing the operation.");
  if (call.out.kind == Out::Inplace && !(t->dims() == type.dims))
    fail("output with shape " + t->dims().str() + " doesn't match the broadcast shape " + type.dims.str());
}

/// May the op write to its target while it reads its operands? Refuses overlaps that can't mean anything.
bool mayWriteThrough(const OpCall &call) {
  bool direct = true;
  for (int i = 0; i < call.numOperands; i++) {
    TensorImpl *a = call.operands[i].tensor;
    if (!a || a == call.out.tensor || !overlaps(a, call.out.tensor) || sameView(a, call.out.tensor))
      continue;
    refuseOverlap(a, call.out.tensor);
    direct = false;
  }
  return direct;
}

/// A traced program must see the copy, as a later gradient reads it.
TensorImpl *copyForTape(TensorImpl *a) {
  if (!(threadState.modes.flags & (FlagRecording | FlagRetracing)) && !(a->flags & FlagSubclass))
    return copyOf(a, a->dtype);
  NoGradGuard quiet;
  return callOp(OpId::Cast, {Tensor::borrow(a)}, {Attr::dtype(a->dtype)}).take();
}

/// Copies what the gradient reads and the op overwrites; the copy has the operand's history.
void saveOverwritten(const OpCall &call, TapePlan &plan) {
  if (opInfo(call.op).flags & OpVariadic)
    return;
  for (int i = 0; i < call.numOperands; i++) {
    TensorImpl *a = call.operands[i].tensor;
    if (!a || !(plan.saves >> i & 1) || !(a == call.out.tensor || overlaps(a, call.out.tensor)))
      continue;
    TensorImpl *c = copyForTape(a);
    plan.copies[i] = Tensor(c);
    if (a->requiresGrad()) {
      c->node = retain(leafNode(a));
      c->outputNumber = a->outputNumber;
      c->flags |= FlagRequiresGrad;
    }
  }
}

void checkTape(const OpCall &call, TapePlan &plan) {
  TensorImpl *t = call.out.tensor;
  if (!isGradEnabled())
    return;
  if (call.out.kind == Out::Given) {
    bool any = t->requiresGrad();
    for (int i = 0; i < call.numOperands; i++)
      any |= call.operands[i].tensor && call.operands[i].tensor->requiresGrad();
    if (any)
      fail(std::string(opInfo(call.op).name) +
           "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
           "requires grad.");
    return;
  }
  checkInplace(t, plan.wanted);
  if (plan.wanted && t->device != metaDevice)
    saveOverwritten(call, plan);
}

void recordInplace(const OpCall &call, const TapePlan &plan) {
  TensorImpl *t = call.out.tensor;
  bool tracked = t->requiresGrad() || (t->view && t->view->rootOf()->requiresGrad());
  if (isGradEnabled() && isDifferentiable(t->dtype) && (plan.wanted || tracked))
    rebaseHistory(t, recordNode(call, plan, t));
  else if (t->view && isGradEnabled())
    t->view->version = t->version();
}

TensorImpl *runFamily(Resolved &r, uint8_t device) {
  if (TORCHC_UNLIKELY(computesComplex(r)))
    return runComplex(r, device);
  if (TORCHC_UNLIKELY(r.info.family == Family::Elementwise && isStored(r.promoted.compute)))
    return runStored(r);
  return device == cudaDevice ? runOnCuda(r) : families[int(r.info.family)](r);
}

/// Under ThreadState::abstract: what the family would return, by layout; its content is undefined.
TensorImpl *abstractResult(Resolved &r) {
  switch (r.info.family) {
  case Family::Elementwise:
  case Family::Cast: return newLaidOut(r);
  case Family::Fused: return families[int(r.info.family)](r); // whose ops are abstract in turn
  case Family::View: {
    TensorImpl *x = r.operand(0), *v = families[int(r.info.family)](r);
    if (v->storage == x->storage)
      v->flags |= x->flags & (FlagPending | flagDeferredData);
    return v;
  }
  default: return newTensor(r.type.dtype, r.type.dims);
  }
}

TensorImpl *runInto(Resolved &r) {
  const OpCall &call = r.call;
  TensorImpl *t = call.out.tensor;
  checkChange(t);
  checkTarget(call, r.type);
  TapePlan plan = planInto(call); // may refuse: before the target changes
  if (!(t->dims() == r.type.dims))
    resizeOut(t, r.type.dims);
  if (t->device != metaDevice && !threadState.abstract) {
    if (mayWriteThrough(call))
      r.target = t;
    Tensor result(runFamily(r, t->device));
    checkStatus(r.info.name);
    if (result.impl() != t)
      copyInto(t, result.impl());
  }
  finishInto(call, plan);
  return retain(t);
}

TensorImpl *runFresh(Resolved &r, uint8_t device) {
  const OpCall &call = r.call;
  TapePlan plan = planTape(call);
  Tensor out;
  if (device == metaDevice && r.info.family != Family::View)
    out = Tensor(newTensor(r.type.dtype, r.type.dims, device));
  else if (TORCHC_UNLIKELY(threadState.abstract))
    out = Tensor(abstractResult(r));
  else
    out = Tensor(runFamily(r, device));
  checkStatus(r.info.name);
  if (TORCHC_UNLIKELY(threadState.modes.flags & FlagInference) && !(r.info.flags & OpIsView))
    out->flags |= FlagInferenceTensor;
  if (r.info.flags & OpIsView)
    trackView(call.op, call.attrs, call.numAttrs, call.operands[0].tensor, out.impl());
  if (plan.wanted && isDifferentiable(out->dtype))
    setNode(out.impl(), recordNode(call, plan, out.impl()));
  return out.take();
}

__attribute__((noinline)) TensorImpl *callEager(const OpCall &call) {
  static bool filled = (fillFastKernels(), true);
  (void)filled;
  auto settle = [](TensorImpl *t) {
    if (t && TORCHC_UNLIKELY(t->flags & FlagPending) && !threadState.abstract)
      jitHooks.materialize(t);
  };
  for (int i = 0; i < call.numOperands; i++)
    settle(call.operands[i].tensor);
  settle(call.out.tensor);
  uint8_t device = commonDevice(call);
  Resolved r{call, opInfo(call.op), {}, {DType::F32, DType::F32}, nullptr};
  infer(call, r);
  Tensor out(call.out.tensor ? runInto(r) : runFresh(r, device));
  if (threadState.modes.flags & FlagRecording)
    jitHooks.recordOp(call, out.impl());
  return out.take();
}

} // namespace

TapePlan planInto(const OpCall &call) {
  if (TORCHC_UNLIKELY(call.out.tensor->flags & FlagInferenceTensor) && !(threadState.modes.flags & FlagInference))
    fail(
        "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
        "tensor before doing inplace update.");
  TapePlan plan = planTape(call);
  checkTape(call, plan);
  return plan;
}

void finishInto(const OpCall &call, const TapePlan &plan) {
  ++call.out.tensor->version();
  recordInplace(call, plan);
}

/// No attribute, and so no tape and no trace, holds such a number as it is.
static bool needsTensor(const Operand &o) { return o.isNumber() && (o.number.isComplex() || o.number.isWide()); }

/// Those numbers become tensors of the type that operands meet in.
static TensorImpl *callWithoutNumbers(const OpCall &call) {
  OperandTypes types(call);
  DType t = resultType(types.get(), call.numOperands, defaultDType());
  refuseHalfComplex(call);
  Operand operands[maxFixedOperands];
  Tensor held[maxFixedOperands];
  for (int i = 0; i < call.numOperands; i++) {
    operands[i] = call.operands[i];
    if (needsTensor(operands[i]))
      operands[i] = held[i] = composite::fullTensor(Dims(), operands[i].number, t);
  }
  OpCall plain = call;
  plain.operands = operands;
  return callSlow(plain);
}

TensorImpl *callSlow(const OpCall &call) {
  for (int i = 0; i < call.numOperands; i++)
    if (TORCHC_UNLIKELY(needsTensor(call.operands[i])))
      return callWithoutNumbers(call);
  if (TORCHC_UNLIKELY(isDispatched(call)))
    return callDispatched(call);
  if (threadState.modes.flags & FlagRetracing)
    if (TensorImpl *t = jitHooks.lazyOp(call))
      return t;
  return callEager(call);
}

namespace detail {

TensorImpl *binarySlow(OpId op, TensorImpl *a, TensorImpl *b) {
  Operand operands[2] = {Operand(a), Operand(b)};
  return callSlow({op, operands, 2, nullptr, 0, {}});
}
TensorImpl *binaryScalarSlow(OpId op, TensorImpl *a, const Scalar &s, bool scalarLeft) {
  Operand operands[2] = {Operand(a), Operand(s)};
  if (scalarLeft)
    std::swap(operands[0], operands[1]);
  return callSlow({op, operands, 2, nullptr, 0, {}});
}
TensorImpl *unarySlow(OpId op, TensorImpl *a) {
  Operand operand(a);
  return callSlow({op, &operand, 1, nullptr, 0, {}});
}
void inplaceSlow(OpId op, TensorImpl *a, TensorImpl *b) {
  Operand operands[2] = {Operand(a), Operand(b)};
  release(callSlow({op, operands, 2, nullptr, 0, {Out::Inplace, a}}));
}

} // namespace detail
} // namespace torchc
