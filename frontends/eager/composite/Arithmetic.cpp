// API of elementwise ops with more arguments than their primitive.
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {
namespace {

void checkAlpha(DType result, const Scalar &alpha) {
  if (alpha.isBool() && result != DType::Bool)
    fail("Boolean alpha only supported for Boolean results.");
  if (alpha.isComplex() && !isComplex(result))
    fail("For non-complex input tensors, argument alpha must not be a complex number.");
  if (alpha.isFloat() && !isFloat(result) && !isComplex(result))
    fail("For integral input tensors, argument alpha must not be a floating point number.");
}

/// An operand as the op's arithmetic sees it: of the common type, in its op-math type.
Tensor entered(const Operand &o, DType common) {
  DType compute = computeType(common);
  return o.tensor ? as(as(Tensor::borrow(o.tensor), common), compute) : fullTensor(Dims(), o.number, compute);
}

/// x op other * alpha: the product is rounded in the op-math type, the result once (N6).
Tensor combine(OpId op, const Operand &x, const Operand &y, const Scalar &alpha, Out out) {
  if (alpha.isInt() && alpha.equals(1))
    return callOp(op, {x, y}, {}, out);
  DType result = typeOf(x, y);
  checkAlpha(result, alpha);
  if (alpha.equals(1))
    return callOp(op, {x, y}, {}, out);
  checkFits(alpha, computeType(result));
  Scalar factor = result == DType::Bool ? Scalar(alpha.toBool()) : alpha;
  Tensor product = callOp(OpId::Mul, {entered(y, result), factor});
  if (!isReducedFloat(result))
    return callOp(op, {x, product}, {}, out);
  return deliver(as(callOp(op, {entered(x, result), product}), result), out);
}

void refuseBool(const Operand &x, const Operand &y) {
  auto isBool = [](const Operand &o) { return o.tensor ? o.tensor->dtype == DType::Bool : o.number.isBool(); };
  if (isBool(x) && isBool(y))
    fail(ErrorKind::NotImplemented,
         "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
         "operator "
         "instead.");
  if (isBool(x) || isBool(y))
    fail(ErrorKind::NotImplemented,
         "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
         "the "
         "`~` or `logical_not()` operator instead.");
}

} // namespace

Tensor addScaled(const Tensor &input, const Operand &other, const Scalar &alpha, Out out) {
  return combine(OpId::Add, input, other, alpha, out);
}
Tensor subScaled(const Tensor &input, const Operand &other, const Scalar &alpha, Out out) {
  refuseBool(input, other);
  return combine(OpId::Sub, input, other, alpha, out);
}
Tensor rsubScaled(const Tensor &input, const Operand &other, const Scalar &alpha) {
  refuseBool(input, other);
  return combine(OpId::Sub, other, input, alpha, Out());
}

Tensor divRounded(const Tensor &input, const Operand &other, std::optional<std::string_view> rounding, Out out) {
  if (!rounding)
    return callOp(OpId::Div, {input, other}, {}, out);
  if (*rounding != "trunc" && *rounding != "floor")
    fail("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + std::string(*rounding) +
         "'");
  return callOp(*rounding == "trunc" ? OpId::DivTrunc : OpId::FloorDivide, {input, other}, {}, out);
}

Tensor negChecked(const Tensor &input, Out out) {
  if (input->dtype == DType::Bool)
    fail(ErrorKind::NotImplemented,
         "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
         "`~` or "
         "`logical_not()` operator instead.");
  return callOp(OpId::Neg, {input}, {}, out);
}

Tensor whereBranches(const Tensor &condition, const Operand &input, const Operand &other) {
  if (condition->dtype == DType::U8) // masks of old programs
    return whereBranches(callOp(OpId::Ne, {condition, 0}), input, other);
  if (condition->dtype != DType::Bool)
    fail("where expected condition to be a boolean tensor, but got a tensor with dtype " +
         std::string(torchName(condition->dtype)));
  for (const Operand *o : {&input, &other})
    if (o->isNumber() && !(input.isNumber() && other.isNumber()))
      checkFits(o->number, computeType(typeOf(input, other)));
  return callOp(OpId::Where, {condition, input, other});
}

Tensor squareOf(const Tensor &input, Out out) {
  refuseStored("square", input->dtype);
  Tensor x = input->dtype == DType::Bool ? as(input, DType::I64) : input; // as x**2 promotes
  return callOp(OpId::Mul, {x, x}, {}, out);
}

Tensor isNanOf(const Tensor &input) { return callOp(OpId::Ne, {input, input}); }

Tensor maskedFill(const Tensor &input, const Tensor &mask, const Operand &value, Out out) {
  if (mask->dtype != DType::Bool)
    fail("masked_fill_ only supports boolean masks, but got mask with dtype " + std::string(torchName(mask->dtype)));
  if (value.tensor && value.tensor->rank)
    fail("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with " +
         std::to_string(value.tensor->rank) + " dimension(s).");
  if (Tensor view = distinctPlaces(input);
      out.kind == Out::Inplace && !view.same(input)) { // written if any mask is set
    Dims axes;
    for (int i = 0; i < input->rank; i++)
      if (view->sizes()[i] != input->sizes()[i])
        axes.push(i);
    Tensor any = anyDims(expanded(mask, input->dims()), IntList(axes.data(), size_t(axes.size())), true);
    maskedFill(view, any, value, Out::inplace(view));
    return input;
  }
  DType given = value.tensor ? value.tensor->dtype : value.number.dtype();
  if (isComplex(given) && !isComplex(input->dtype) && (value.tensor || value.number.imag() != 0))
    fail("value cannot be converted to type " + std::string(torchName(input->dtype)) +
         " without overflow: it is a complex number");
  Tensor held;
  Operand v = value;
  if (!value.tensor)
    checkFits(value.number, input->dtype);
  if (value.tensor && value.tensor->dtype != input->dtype)
    v = held = as(Tensor::borrow(value.tensor), input->dtype);
  if (!value.tensor && category(value.number.dtype()) > category(input->dtype)) // the result keeps input's type
    v = input->dtype == DType::Bool ? Scalar(value.number.toBool())
        : isFloat(input->dtype)     ? Scalar(value.number.toDouble())
                                    : Scalar(value.number.toInt());
  return callOp(OpId::Where, {mask, v, input}, {}, out);
}

} // namespace torchc::composite
