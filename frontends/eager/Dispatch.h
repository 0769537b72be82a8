// The one door to ops: what API functions, the binding's number slots, gradients and replays call. The fast path serves
// two contiguous CPU tensors of one type and shape; everything else is callSlow's.
#pragma once
#include "dialects/rules/OpInfo.h"
#include "frontends/eager/JitHooks.h"
#include "frontends/eager/Tensor.h"
#include "runtime/kernels/Kernel.h"
#include "runtime/kernels/Launch.h"
#include <initializer_list>

namespace torchc {

/// Runs an op: promotion, broadcasting, kernels, tape, recording. Attributes in the record's order. The result is
/// owned; for in-place and `out=` it is the target. Throws Error.
TensorImpl *callSlow(const OpCall &call);

/// Kernels of ops whose result has the operands' type, [op][dtype]; null: not one of those, or not filled in yet.
struct FastKernels {
  Kernel unary, binary; // all tensors
  Kernel scalarRight, scalarLeft; // x op number, number op x
};
extern FastKernels fastKernels[numOps][numComputeDTypes];
/// Fills the table from the pack; callSlow does it on first use. Again after packUse().
void fillFastKernels();

/// Attach a tape node to `out` where an operand needs a gradient (also after refreshing views).
void attachUnary(OpId op, TensorImpl *out, TensorImpl *a);
void attachBinary(OpId op, TensorImpl *out, TensorImpl *a, TensorImpl *b);
void attachScalar(OpId op, TensorImpl *out, TensorImpl *a, const Scalar &s, bool scalarLeft);

namespace detail {
TensorImpl *binarySlow(OpId op, TensorImpl *a, TensorImpl *b);
TensorImpl *binaryScalarSlow(OpId op, TensorImpl *a, const Scalar &s, bool scalarLeft);
TensorImpl *unarySlow(OpId op, TensorImpl *a);
void inplaceSlow(OpId op, TensorImpl *a, TensorImpl *b);
inline bool tapeWanted(uint32_t flags) {
  return TORCHC_UNLIKELY((flags & (FlagRequiresGrad | FlagView)) && !(flags & FlagNoGrad));
}
} // namespace detail

/// a op b of an elementwise op; owned.
inline TensorImpl *binary(OpId op, TensorImpl *a, TensorImpl *b) {
  uint32_t f = a->flags | b->flags | threadState.modes.flags;
  Kernel k;
  if (TORCHC_UNLIKELY((f & dispatchSlow) || a->dtype != b->dtype || !sameInlineShape(a, b) || a->dtype >= DType::C64 ||
                      !(k = fastKernels[int(op)][int(a->dtype)].binary)))
    return detail::binarySlow(op, a, b);
  TensorImpl *o = newLike(a, a->numel * itemSize(a->dtype));
  void *p[4] = {o->data, a->data, b->data, &threadState.status};
  launch(k, p, nullptr, nullptr, 0, a->numel);
  if (detail::tapeWanted(f))
    attachBinary(op, o, a, b);
  return o;
}

/// The bits of a number in the type kernels read scalars in (f16/bf16 as f32).
inline uint64_t scalarBits(const Scalar &s, DType dtype) {
  union {
    uint64_t u;
    float f;
    double d;
    int64_t i;
  } v = {0};
  if (dtype == DType::F64)
    v.d = s.toDouble();
  else if (isFloat(dtype))
    v.f = float(s.toDouble());
  else if (TORCHC_UNLIKELY(dtype == DType::U64))
    v.u = s.toUnsigned();
  else
    v.i = s.toInt();
  return v.u;
}

/// a op s, or s op a.
inline TensorImpl *binaryScalar(OpId op, TensorImpl *a, const Scalar &s, bool scalarLeft = false) {
  uint32_t f = a->flags | threadState.modes.flags;
  Kernel k;
  // A float number and an int tensor, or an int and a bool one, promote.
  if (TORCHC_UNLIKELY((f & dispatchSlow) || a->dtype >= DType::C64 || category(s.dtype()) > category(a->dtype) ||
                      !(k = scalarLeft ? fastKernels[int(op)][int(a->dtype)].scalarLeft
                                       : fastKernels[int(op)][int(a->dtype)].scalarRight)))
    return detail::binaryScalarSlow(op, a, s, scalarLeft);
  TensorImpl *o = newLike(a, a->numel * itemSize(a->dtype));
  void *p[4] = {o->data, a->data, a->data, &threadState.status};
  uint64_t v[2];
  v[0] = v[1] = scalarBits(s, a->dtype);
  launch(k, p, nullptr, v, 0, a->numel);
  if (detail::tapeWanted(f))
    attachScalar(op, o, a, s, scalarLeft);
  return o;
}

inline TensorImpl *unary(OpId op, TensorImpl *a) {
  uint32_t f = a->flags | threadState.modes.flags;
  Kernel k;
  if (TORCHC_UNLIKELY((f & dispatchSlow) || a->dtype >= DType::C64 || !(k = fastKernels[int(op)][int(a->dtype)].unary)))
    return detail::unarySlow(op, a);
  TensorImpl *o = newLike(a, a->numel * itemSize(a->dtype));
  void *p[3] = {o->data, a->data, &threadState.status};
  launch(k, p, nullptr, nullptr, 0, a->numel);
  if (detail::tapeWanted(f))
    attachUnary(op, o, a);
  return o;
}

/// a op= b.
inline void inplace(OpId op, TensorImpl *a, TensorImpl *b) {
  uint32_t f = a->flags | b->flags | threadState.modes.flags;
  Kernel k;
  if (TORCHC_UNLIKELY((f & (dispatchSlow | flagOwnVersion)) || a->dtype != b->dtype || !sameInlineShape(a, b) ||
                      a->dtype >= DType::C64 || detail::tapeWanted(f) || a->data == b->data ||
                      a->storage == b->storage || !(k = fastKernels[int(op)][int(a->dtype)].binary)))
    return detail::inplaceSlow(op, a, b);
  void *p[4] = {a->data, a->data, b->data, &threadState.status};
  launch(k, p, nullptr, nullptr, 0, a->numel);
  a->storage->bumpVersion();
}

/// The call that generated API functions make.
inline Tensor callOpList(OpId op, List<Operand> operands, List<Attr> attrs, Out out = Out()) {
  return Tensor(callSlow({op, operands.data(), int(operands.size()), attrs.data(), int(attrs.size()), out}));
}
inline Tensor callOp(OpId op, std::initializer_list<Operand> operands, std::initializer_list<Attr> attrs = {},
                     Out out = Out()) {
  if (out.kind == Out::None && attrs.size() == 0) {
    const Operand *p = operands.begin();
    if (operands.size() == 2 && p[0].tensor)
      return Tensor(p[1].tensor ? binary(op, p[0].tensor, p[1].tensor) : binaryScalar(op, p[0].tensor, p[1].number));
    if (operands.size() == 1 && p[0].tensor)
      return Tensor(unary(op, p[0].tensor));
  }
  return callOpList(op, List<Operand>(operands.begin(), operands.size()), List<Attr>(attrs.begin(), attrs.size()), out);
}

} // namespace torchc
