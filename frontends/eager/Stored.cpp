// Elementwise ops in stored types. Unsigned integers are computed as the signed ones of their size, whose sums, products
// and logic have the same bits; float8 in float32, rounded once (N6). No kernel has a stored type.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"

namespace torchc {
namespace {

Tensor castTo(const Tensor &x, DType t) { return x->dtype == t ? x : callOp(OpId::Cast, {x}, {Attr::dtype(t)}); }

/// The same bits as elements of a type of that size.
Tensor seenAs(const Tensor &x, DType t) {
  Tensor v(newAlias(x.impl(), x->rank, x->sizes(), x->strides(), 0));
  v->dtype = t;
  return v;
}

/// Does the op look at the order of its operands?
bool compares(const OpInfo &info) {
  const Body &body = info.bodies[int(BodyClass::Int)];
  for (int i = 0; i < body.numNodes; i++)
    if (body.nodes[i].op == BodyOp::Min || body.nodes[i].op == BodyOp::Max)
      return true;
  return false;
}

/// With the sign bit flipped, signed numbers are ordered as the unsigned ones were.
Tensor flipped(const Tensor &x) {
  uint64_t bit = uint64_t(1) << (8 * itemSize(x->dtype) - 1);
  Tensor sign(newTensor(x->dtype, Dims()));
  std::memcpy(sign->data, &bit, size_t(itemSize(x->dtype)));
  return callOp(OpId::BitwiseXor, {x, sign});
}

} // namespace

TensorImpl *runStored(Resolved &r) {
  InternalGuard guard;
  DType t = r.promoted.compute;
  if (r.info.flags & OpRowMajor) {
    Tensor out(newLaidOut(r));
    copyInto(out.impl(), r.operand(0));
    return out.take();
  }
  bool branch = r.info.promote == Promote::Branch;
  bool bits = !isFloat8(t) || branch, ordered = bits && !branch && compares(r.info);
  Tensor held[maxFixedOperands];
  Operand operands[maxFixedOperands];
  for (int i = 0; i < r.call.numOperands; i++) {
    Tensor &x = held[i];
    if (TensorImpl *given = r.operand(i))
      x = Tensor::borrow(given);
    else {
      x = Tensor(newTensor(t, Dims()));
      uint64_t element = elementBits(r.call.operands[i].number, t);
      std::memcpy(x->data, &element, size_t(itemSize(t)));
    }
    if (!(branch && i == 0)) {
      x = castTo(x, t);
      x = bits ? seenAs(x, signedType(t)) : castTo(x, DType::F32);
      x = ordered ? flipped(x) : x;
    }
    operands[i] = x;
  }
  Tensor y = callOpList(r.call.op, List<Operand>(operands, size_t(r.call.numOperands)),
                        List<Attr>(r.call.attrs, size_t(r.call.numAttrs)));
  if (r.promoted.result != t) // a comparison's truth values
    return y.take();
  y = ordered ? flipped(y) : y;
  return (bits ? seenAs(y, t) : castTo(y, t)).take();
}

} // namespace torchc
