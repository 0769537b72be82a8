// Complex numbers and their parts. real() and imag() are views of the memory; conj() computes.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/composite/Arith.h"
#include <numbers>

namespace torchc::composite {
using namespace arith;

namespace {

std::string nameOf(const Tensor &t) { return std::string(torchName(t->dtype)); }

Tensor partOf(const Tensor &x, int64_t part) {
  return viewShape(sliceDim(callOp(OpId::ViewAsReal, {x}), x->rank, part, part + 1), x->dims());
}

void needParts(const char *op, const Tensor &x, const Tensor &y) {
  if (!isFloat(x->dtype) || !isFloat(y->dtype) || isReducedFloat(x->dtype) || isReducedFloat(y->dtype))
    fail(ErrorKind::NotImplemented, "Expected both inputs to be Half, Float or Double tensors but got " + nameOf(x) +
                                        " and " + nameOf(y) + " (" + op + "() is implemented for float32 and float64)");
  if (x->dtype != y->dtype)
    fail("Expected object of scalar type " + nameOf(x) + " but got scalar type " + nameOf(y) + " for second argument");
}

void checkOut(const Tensor &part, Out out) {
  DType want = complexType(part->dtype);
  if (out.kind == Out::Given && out.tensor->dtype != want)
    fail("Expected object of scalar type " + std::string(torchName(want)) + " but got scalar type " +
         std::string(torchName(out.tensor->dtype)) + " for argument 'out'");
}

/// x as [..., 1].
Tensor asColumn(const Tensor &x, Dims shape) {
  Tensor e = expanded(x, shape);
  shape.push(1);
  return reshaped(e, shape);
}

} // namespace

Tensor complexOf(const Tensor &real, const Tensor &imag, Out out) {
  needParts("complex", real, imag);
  checkOut(real, out);
  Dims shape;
  Diag diag;
  if (!broadcastShapes(real->dims(), imag->dims(), shape, diag))
    fail(diag);
  Tensor parts[2] = {asColumn(real, shape), asColumn(imag, shape)};
  Operand operands[2] = {parts[0], parts[1]};
  Attr last = Attr::integer(shape.size());
  Tensor pairs = callOpList(OpId::Cat, List<Operand>(operands, 2), List<Attr>(&last, 1));
  return deliver(callOp(OpId::ViewAsComplex, {pairs}), out);
}
Tensor polarOf(const Tensor &abs, const Tensor &angle, Out out) {
  needParts("polar", abs, angle);
  checkOut(abs, out);
  return complexOf(mul(abs, callOp(OpId::Cos, {angle})), mul(abs, callOp(OpId::Sin, {angle})), out);
}

Tensor realOf(const Tensor &input) { return isComplex(input->dtype) ? partOf(input, 0) : input; }
Tensor imagOf(const Tensor &input) {
  if (!isComplex(input->dtype))
    fail(ErrorKind::Type, "imag is not implemented for tensors with non-complex dtypes.");
  return partOf(input, 1);
}

/// The derivative at 0 is 0, as in PyTorch.
Tensor angleOf(const Tensor &input, Out out) {
  if (isComplex(input->dtype)) {
    Tensor re = realOf(input), im = imagOf(input);
    Tensor zero = callOp(OpId::LogicalAnd, {callOp(OpId::Eq, {re, 0}), callOp(OpId::Eq, {im, 0})});
    Tensor at0 = callOp(OpId::Atan2, {im, re});
    Tensor away = callOp(OpId::Atan2, {where(zero, 0.0, im), where(zero, 1.0, re)});
    return callOp(OpId::Where, {zero, detachTensor(at0), away}, {}, out);
  }
  DType t = floatTypeOf(input->dtype);
  Tensor x = as(input, t);
  Tensor half = fullTensor(Dims(), std::numbers::pi, t, x->device); // two numbers would be of the default type
  Tensor side = callOp(OpId::Where, {callOp(OpId::Lt, {x, 0}), half, 0.0});
  // NaN's, too.
  return deliver(as(where(callOp(OpId::Ne, {x, x}), sub(x, x), side), t), out);
}

Tensor conjOf(const Tensor &input) { return isComplex(input->dtype) ? callOp(OpId::Conj, {input}) : input; }
Tensor conjPhysical(const Tensor &input, Out out) {
  if (isComplex(input->dtype))
    return callOp(OpId::Conj, {input}, {}, out);
  if (out.kind == Out::Inplace) {
    Tensor view = distinctPlaces(input);
    callOp(OpId::Cast, {view}, {Attr::dtype(input->dtype)}, Out::inplace(view));
    return input;
  }
  return callOp(OpId::Cast, {input}, {Attr::dtype(input->dtype)}, out);
}
Tensor resolved(const Tensor &input) { return input; }
bool isDeferred(const Tensor &) { return false; }

} // namespace torchc::composite
