// Ops on complex tensors, and their conversions: views of the parts do everything.
#include "dialects/rules/Complex.h"
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"
#include "frontends/eager/View.h"
#include "runtime/core/Layout.h"

namespace torchc {
namespace {

/// A view of the real (0) or imaginary (1) parts of a complex tensor.
Tensor partOf(TensorImpl *t, int part) {
  Dims strides(t->strides(), t->rank);
  for (int i = 0; i < t->rank; i++)
    strides[i] *= 2;
  Tensor v(newAlias(t, t->rank, t->sizes(), strides.data(), 0));
  v->dtype = realType(t->dtype);
  v->data += part * itemSize(v->dtype);
  return v;
}

/// x != 0: of a number that stands where a truth value is wanted.
Tensor truthOf(TensorImpl *x) {
  Tensor zero(newTensor(x->dtype, Dims()));
  std::memset(zero->data, 0, size_t(itemSize(x->dtype)));
  return callOp(OpId::Ne, {Tensor::borrow(x), zero});
}

} // namespace

void copyComplex(TensorImpl *dst, TensorImpl *src) {
  InternalGuard guard;
  if (dst->dtype == DType::Bool)
    return copyInto(dst, truthOf(src).impl());
  if (!isComplex(dst->dtype))
    return copyInto(dst, partOf(src, 0).impl());
  Tensor re = partOf(dst, 0), im = partOf(dst, 1);
  copyInto(re.impl(), isComplex(src->dtype) ? partOf(src, 0).impl() : src);
  if (isComplex(src->dtype))
    return copyInto(im.impl(), partOf(src, 1).impl());
  Tensor zero(newTensor(im->dtype, Dims()));
  std::memset(zero->data, 0, size_t(itemSize(im->dtype)));
  copyInto(im.impl(), zero.impl());
}

TensorImpl *runComplex(Resolved &r, uint8_t device) {
  DType type = r.info.promote != Promote::None ? r.promoted.compute : r.type.dtype;
  if (*r.info.decompose)
    return runFused(r);
  if (device)
    notImplementedFor(r.info.name, complexType(type));
  InternalGuard guard;
  EagerBuilder builder;
  EagerValue operands[maxFixedOperands], v;
  if (!(r.info.flags & OpVariadic)) {
    for (int i = 0; i < r.call.numOperands; i++)
      operands[i] = r.operand(i) ? EagerValue(Tensor::borrow(r.operand(i))) : EagerValue(r.call.operands[i].number);
    v = complexMeaning(r.call.op, builder, operands, r.call.numOperands, r.call.attrs, complexType(type));
  }
  if (!v.tensor.defined())
    notImplementedFor(r.info.name, complexType(type));
  // A tensor of its own: what was viewed on the way has no history.
  Dims made(v.tensor->strides(), v.tensor->rank);
  v.tensor = Tensor(newAlias(v.tensor.impl(), v.tensor->rank, v.tensor->sizes(), made.data(), 0));
  // Laid out as elementwise results are; never an operand's memory.
  bool shared = false;
  for (int i = 0; i < r.call.numOperands; i++)
    shared |= r.operand(i) && r.operand(i)->storage == v.tensor->storage;
  Dims have(v.tensor->strides(), v.tensor->rank);
  if (r.info.family == Family::Elementwise && !r.target) {
    Tensor out(newLaidOut(r));
    if (shared || !(Dims(out->strides(), out->rank) == have)) {
      copyInto(out.impl(), v.tensor.impl());
      return out.take();
    }
  }
  return shared ? copyOf(v.tensor.impl(), v.tensor->dtype) : v.tensor.take();
}

} // namespace torchc
