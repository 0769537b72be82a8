// Elementwise ops and casts: the contiguous kernel where operands allow it, else the strided driver.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/View.h"
#include "runtime/kernels/Pack.h"
#include "runtime/kernels/Strided.h"

namespace torchc {
namespace {

/// One value of `from` at p as kernels read a scalar of type `compute`'s op-math type.
uint64_t loadScalar(const void *p, DType from) {
  uint64_t bits = 0;
  if (!isReducedFloat(from)) {
    std::memcpy(&bits, p, size_t(itemSize(from)));
    return bits;
  }
  void *ptrs[3] = {&bits, const_cast<void *>(p), &threadState.status};
  Kernel k = packCast(from, DType::F32);
  if (!k)
    notImplementedFor("cast", from);
  k(ptrs, nullptr, nullptr, 0, 1);
  return bits;
}

class Elementwise {
public:
  explicit Elementwise(Resolved &r) : r(r), n(r.call.numOperands) {}
  TensorImpl *run();

private:
  DType operandType(int i) const {
    return r.info.promote == Promote::Branch && i == 0 ? DType::Bool : r.promoted.compute;
  }
  /// Equal numbers of elements in one order of memory: broadcasting added nothing but sizes of 1.
  bool dense(const TensorImpl *t, DType want) const {
    return t->dtype == want && t->numel == out->numel && sameOrder(t, out.impl());
  }
  bool classify();
  Kernel kernel() const;
  void runDense(Kernel k);
  void runAny(Kernel k);

  Resolved &r;
  int n;
  Tensor out;
  unsigned mask = 0;
  uint64_t scalars[maxFixedOperands] = {};
};

/// Fills `scalars` and `mask`; true if the contiguous kernel serves as it is.
bool Elementwise::classify() {
  bool direct = dense(out.impl(), r.promoted.result);
  for (int i = 0; i < n; i++) {
    const Operand &o = r.call.operands[i];
    DType want = operandType(i);
    bool rounds = numberType(r.info.promote, want) != computeType(want);
    if (o.isNumber()) {
      mask |= 1u << i;
      scalars[i] = numberBits(o.number, want, rounds);
    } else if (o.tensor->numel == 1 && out->numel > 1 && o.tensor->dtype == want) {
      mask |= 1u << i;
      scalars[i] = loadScalar(o.tensor->data, want);
    } else
      direct &= dense(o.tensor, want);
  }
  return direct;
}

Kernel Elementwise::kernel() const {
  Kernel k = packElementwise(r.call.op, r.promoted.compute, mask);
  if (!k)
    notImplementedFor(r.info.name, r.promoted.compute);
  return k;
}

void Elementwise::runDense(Kernel k) {
  void *p[maxFixedOperands + 2] = {out->data};
  for (int i = 0; i < n; i++)
    p[1 + i] = mask >> i & 1 ? nullptr : r.operand(i)->data;
  p[1 + n] = &threadState.status;
  launch(k, p, nullptr, scalars, 0, out->numel);
}

void Elementwise::runAny(Kernel k) {
  StridedOperand ops[maxFixedOperands + 1];
  int64_t strides[maxFixedOperands][maxRank];
  ops[0] = {out->data, out->strides(), out->dtype, r.promoted.result};
  for (int i = 0; i < n; i++) {
    TensorImpl *t = r.operand(i);
    if (mask >> i & 1) {
      ops[1 + i] = {nullptr, nullptr, operandType(i), operandType(i)};
      continue;
    }
    broadcastStrides(t, out->rank, out->sizes(), strides[i]);
    ops[1 + i] = {t->data, strides[i], t->dtype, operandType(i)};
  }
  StridedLoop loop{k, 1, n + 1, out->rank, out->sizes(), ops, scalars};
  loop.op = uint32_t(r.call.op);
  loop.mask = mask;
  loop.otherKernel = [](const StridedLoop &l, unsigned inputs) {
    return packElementwise(l.op, l.operands[l.numOperands - 1].compute, l.mask | inputs); // the first may be a mask
  };
  runStrided(loop, &threadState.status);
}

TensorImpl *Elementwise::run() {
  out = r.target ? Tensor::borrow(r.target) : Tensor(newLaidOut(r));
  bool direct = classify();
  Kernel k = kernel(); // refuses the type, also where there is nothing to compute
  if (!out->numel)
    return out.take();
  if (direct)
    runDense(k);
  else
    runAny(k);
  return out.take();
}

} // namespace

uint64_t numberBits(const Scalar &s, DType common, bool through) {
  if (!isReducedFloat(common) || !through)
    return scalarBits(s, common);
  uint64_t wide = scalarBits(s, DType::F32), narrow = 0;
  void *down[3] = {&narrow, &wide, &threadState.status};
  Kernel k = packCast(DType::F32, common);
  if (!k)
    notImplementedFor("cast", common);
  k(down, nullptr, nullptr, 0, 1);
  return loadScalar(&narrow, common);
}

TensorImpl *newLaidOut(const Resolved &r) {
  TensorImpl *operands[maxFixedOperands];
  int n = r.call.numOperands;
  uint8_t device = 0;
  for (int i = 0; i < n; i++) {
    operands[i] = r.operand(i);
    device |= operands[i] ? operands[i]->device : 0; // the cpu is 0: a number may lie there
  }
  TensorImpl *t = newTensor(r.type.dtype, r.type.dims, device);
  if (Dims strides; !(r.info.flags & OpRowMajor) && resultStrides(operands, n, r.type.dims, strides))
    setDims(t, r.type.dims.size(), r.type.dims.data(), strides.data());
  return t;
}

TensorImpl *runElementwise(Resolved &r) {
  if (!(r.info.flags & OpRowMajor) || r.target)
    return Elementwise(r).run();
  Tensor out(newLaidOut(r)); // a copy in the order of memory, not by the kernel
  copyInto(out.impl(), r.operand(0));
  return out.take();
}

TensorImpl *runCast(Resolved &r) {
  TensorImpl *x = r.operand(0);
  if (r.target && sameShape(x, r.target)) {
    Tensor held;
    if (x->storage == r.target->storage) { // the same elements, perhaps under other strides
      held = Tensor(copyOf(x, x->dtype));
      x = held.impl();
    }
    Tensor via; // `copy_` converts by the op's type first
    if (r.type.dtype != r.target->dtype && r.type.dtype != x->dtype) {
      via = Tensor(copyOf(x, r.type.dtype));
      x = via.impl();
    }
    copyInto(r.target, x);
    return retain(r.target);
  }
  Tensor out(newLaidOut(r));
  Kernel k = packCast(x->dtype, r.type.dtype);
  if (sameOrder(x, out.impl()) && k && x->dtype != r.type.dtype) {
    void *p[3] = {out->data, x->data, &threadState.status};
    launch(k, p, nullptr, nullptr, 0, x->numel);
  } else
    copyInto(out.impl(), x);
  return out.take();
}

} // namespace torchc
