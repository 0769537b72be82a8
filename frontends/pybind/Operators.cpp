#include "frontends/pybind/Operators.h"
#include "frontends/eager/Index.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"

namespace torchc::py {
namespace {

using Function = Tensor (*)(const Tensor &, const Operand &);

/// Does the call work on so much that the GIL should go?
inline int64_t workOfPair(PyObject *a, PyObject *b) { return workOf(a) + workOf(b); }

/// x + array: the array as a tensor on its memory. slot(a, b) once arrays are tensors.
PyObject *withArrays(PyObject *a, PyObject *b, PyObject *(*slot)(PyObject *, PyObject *)) {
  return guarded([&] {
    auto converted = [](PyObject *o) { return isArray(o) ? Ref(wrap(tensorOfBuffer(o, false))) : Ref::borrow(o); };
    Ref x = converted(a), y = converted(b);
    return check(slot(x.get(), y.get()));
  });
}
template <PyObject *(*slot)(PyObject *, PyObject *)> PyObject *acceptingArrays(PyObject *a, PyObject *b) {
  auto plain = [](PyObject *o) { return isExactTensor(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o); };
  if (TORCHC_UNLIKELY(!(plain(a) && plain(b))) && (isArray(a) || isArray(b)))
    return withArrays(a, b, slot);
  return slot(a, b);
}

/// An op with a primitive: two tensors of one kind go straight to the dispatcher's fast path.
template <OpId op, bool refusesBool = false> PyObject *arithmetic(PyObject *a, PyObject *b, Function general) {
  return guarded([&]() __attribute__((always_inline)) -> PyObject * {
    if (TORCHC_LIKELY(isExactTensor(a) || isTensor(a))) {
      TensorImpl *x = implOf(a);
      if (refusesBool && TORCHC_UNLIKELY(x->dtype == DType::Bool))
        goto slow;
      if (TORCHC_LIKELY(isExactTensor(b) || isTensor(b))) {
        TensorImpl *y = implOf(b);
        if (refusesBool && TORCHC_UNLIKELY(y->dtype == DType::Bool))
          goto slow;
        if (TORCHC_UNLIKELY(x->numel + y->numel >= gilThreshold)) {
          GilRelease release;
          x = binary(op, x, y);
        } else
          x = binary(op, x, y);
        return wrap(x);
      }
      Scalar s;
      if (isNumber(b) && scalarOf(b, s))
        return wrap(withWork(x->numel, [&] { return binaryScalar(op, x, s); }));
      Py_RETURN_NOTIMPLEMENTED;
    }
    {
      Scalar s;
      if (isNumber(a) && scalarOf(a, s) && !(refusesBool && implOf(b)->dtype == DType::Bool))
        return wrap(withWork(implOf(b)->numel, [&] { return binaryScalar(op, implOf(b), s, true); }));
    }
  slow:
    if ((!isTensor(a) && !isNumber(a)) || (!isTensor(b) && !isNumber(b)))
      Py_RETURN_NOTIMPLEMENTED;
    if (isTensor(a))
      return wrap(general(Borrowed(a), operandArg(b)));
    return wrap(general(full(IntList(), scalarArg(a)), operandArg(b)));
  });
}

Tensor addAny(const Tensor &a, const Operand &b) { return add(a, b); }
Tensor subAny(const Tensor &a, const Operand &b) { return sub(a, b); }
Tensor mulAny(const Tensor &a, const Operand &b) { return mul(a, b); }
Tensor divAny(const Tensor &a, const Operand &b) { return div(a, b); }
PyObject *nbAdd(PyObject *a, PyObject *b) { return arithmetic<OpId::Add>(a, b, addAny); }
PyObject *nbSub(PyObject *a, PyObject *b) { return arithmetic<OpId::Sub, true>(a, b, subAny); }
PyObject *nbMul(PyObject *a, PyObject *b) { return arithmetic<OpId::Mul>(a, b, mulAny); }
PyObject *nbDiv(PyObject *a, PyObject *b) { return arithmetic<OpId::Div>(a, b, divAny); }

bool isOperand(PyObject *o) { return isTensor(o) || isNumber(o); }
/// An op of two operands, one of them a tensor.
template <OpId op> PyObject *plainBinary(PyObject *a, PyObject *b) {
  if (!isOperand(a) || !isOperand(b))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    Operand x = operandArg(a), y = operandArg(b);
    return wrap(withWork(workOfPair(a, b), [&] { return callOp(op, {x, y}); }));
  });
}

PyObject *nbPower(PyObject *a, PyObject *b, PyObject *) {
  if (!isOperand(a) || !isOperand(b))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    Operand x = operandArg(a), y = operandArg(b); // Python's code: before the GIL goes
    return wrap(
        withWork(workOfPair(a, b), [&] { return isTensor(a) ? pow(Borrowed(a), y) : pow(x.number, Borrowed(b)); }));
  });
}
PyObject *nbMatmul(PyObject *a, PyObject *b) {
  if (!isTensor(a) || !isTensor(b))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded(
      [&] { return wrap(withWork(workOfPair(a, b) * 8, [&] { return matmul(Borrowed(a), Borrowed(b)); })); });
}

PyObject *nbNegative(PyObject *a) {
  return guarded([&] { return wrap(withWork(workOf(a), [&] { return neg(Borrowed(a)); })); });
}
PyObject *nbPositive(PyObject *a) { return Py_NewRef(a); }
PyObject *nbAbsolute(PyObject *a) {
  return guarded([&] { return wrap(withWork(workOf(a), [&] { return torchc::abs(Borrowed(a)); })); });
}
PyObject *nbInvert(PyObject *a) {
  return guarded([&] {
    Borrowed x(a);
    if (implOf(a)->dtype == DType::Bool)
      return wrap(logical_not(x));
    if (!isIntegral(implOf(a)->dtype))
      typeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return wrap(bitwise_not(x));
  });
}

// In place. What isn't a plain case goes through the API, which knows alpha, promotion and the tape's rules.
template <class F> PyObject *inplaceAny(PyObject *a, PyObject *b, F f) {
  if (!isOperand(b))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    Operand y = operandArg(b);
    withWork(workOfPair(a, b), [&] { return f(Borrowed(a), y); });
    return Py_NewRef(a);
  });
}
template <OpId op, class F> PyObject *inplaceFast(PyObject *a, PyObject *b, F f) {
  if (TORCHC_LIKELY(isExactTensor(b)) && implOf(a)->numel < gilThreshold && implOf(a)->dtype >= DType::F16)
    return guarded([&]() -> PyObject * {
      inplace(op, implOf(a), implOf(b));
      return Py_NewRef(a);
    });
  return inplaceAny(a, b, f);
}
PyObject *nbInplaceAdd(PyObject *a, PyObject *b) {
  return inplaceFast<OpId::Add>(a, b, [](const Tensor &x, const Operand &y) { return add_(x, y); });
}
PyObject *nbInplaceSub(PyObject *a, PyObject *b) {
  return inplaceFast<OpId::Sub>(a, b, [](const Tensor &x, const Operand &y) { return sub_(x, y); });
}
PyObject *nbInplaceMul(PyObject *a, PyObject *b) {
  return inplaceFast<OpId::Mul>(a, b, [](const Tensor &x, const Operand &y) { return mul_(x, y); });
}
PyObject *nbInplaceDiv(PyObject *a, PyObject *b) {
  return inplaceFast<OpId::Div>(a, b, [](const Tensor &x, const Operand &y) { return div_(x, y); });
}
template <OpId op> PyObject *plainInplace(PyObject *a, PyObject *b) {
  return inplaceAny(a, b, [](const Tensor &x, const Operand &y) { return callOp(op, {x, y}, {}, Out::inplace(x)); });
}
PyObject *nbInplacePower(PyObject *a, PyObject *b, PyObject *) {
  return inplaceAny(a, b, [](const Tensor &x, const Operand &y) { return pow_(x, y); });
}

// ---- comparison, truth, numbers

template <OpId op, class F> PyObject *compareWith(PyObject *a, PyObject *b, F f) {
  if (!isOperand(b))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    Operand y = operandArg(b);
    return wrap(withWork(workOfPair(a, b), [&] { return f(Borrowed(a), y); }));
  });
}
PyObject *compare(PyObject *a, PyObject *b, int op) {
  if (TORCHC_UNLIKELY(isArray(b)))
    return guarded([&] {
      Ref y(wrap(tensorOfBuffer(b, false)));
      return check(compare(a, y.get(), op));
    });
  switch (op) {
  case Py_EQ: return compareWith<OpId::Eq>(a, b, [](const Tensor &x, const Operand &y) { return eq(x, y); });
  case Py_NE: return compareWith<OpId::Ne>(a, b, [](const Tensor &x, const Operand &y) { return ne(x, y); });
  case Py_LT: return compareWith<OpId::Lt>(a, b, [](const Tensor &x, const Operand &y) { return lt(x, y); });
  case Py_LE: return compareWith<OpId::Le>(a, b, [](const Tensor &x, const Operand &y) { return le(x, y); });
  case Py_GT: return compareWith<OpId::Gt>(a, b, [](const Tensor &x, const Operand &y) { return gt(x, y); });
  default: return compareWith<OpId::Ge>(a, b, [](const Tensor &x, const Operand &y) { return ge(x, y); });
  }
}
Py_hash_t hash(PyObject *o) { return _Py_HashPointer(o); }

int truth(PyObject *o) {
  return guarded(
      [&] {
        int64_t n = implOf(o)->numel;
        if (n != 1)
          fail(std::string("Boolean value of Tensor with ") + (n ? "more than one value" : "no values") +
               " is ambiguous");
        return int(item(Borrowed(o)).toBool());
      },
      -1);
}
/// float() and int() raise another class than item().
Scalar onlyElement(PyObject *o) {
  if (implOf(o)->numel != 1)
    fail(ErrorKind::Value, "only one element tensors can be converted to Python scalars");
  return item(Borrowed(o));
}
PyObject *toFloat(PyObject *o) {
  return guarded([&] { return PyFloat_FromDouble(onlyElement(o).toDouble()); });
}
PyObject *toInt(PyObject *o) {
  return guarded([&]() -> PyObject * {
    Scalar s = onlyElement(o);
    return s.isFloat() ? PyLong_FromDouble(s.toDouble()) : PyLong_FromLongLong(s.toInt());
  });
}
PyObject *toIndex(PyObject *o) {
  return guarded([&]() -> PyObject * {
    TensorImpl *t = implOf(o);
    if (t->numel != 1 || !(isIntegral(t->dtype) || t->dtype == DType::Bool))
      typeError("only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(item(Borrowed(o)).toInt());
  });
}
Py_ssize_t length(PyObject *o) {
  return guarded(
      [&]() -> Py_ssize_t {
        if (!implOf(o)->rank)
          typeError("len() of a 0-d tensor");
        return implOf(o)->sizes()[0];
      },
      -1);
}
PyObject *iterate(PyObject *o) {
  return guarded([&]() -> PyObject * {
    if (!implOf(o)->rank)
      typeError("iteration over a 0-d tensor");
    Ref items(check(tupleOf(unbind(Borrowed(o), 0))));
    return PyObject_GetIter(items.get());
  });
}
int contains(PyObject *o, PyObject *value) {
  return guarded(
      [&] {
        if (!isOperand(value))
          fail("Tensor.__contains__ only supports Tensor or scalar, but you passed in a " + typeName(value) + ".");
        return int(item(torchc::any(eq(Borrowed(o), operandArg(value)))).toBool());
      },
      -1);
}
} // namespace

void addOperatorSlots(std::vector<PyType_Slot> &slots) {
  auto add = [&](int slot, auto function) { slots.push_back({slot, reinterpret_cast<void *>(function)}); };
  add(Py_nb_add, acceptingArrays<nbAdd>);
  add(Py_nb_subtract, acceptingArrays<nbSub>);
  add(Py_nb_multiply, acceptingArrays<nbMul>);
  add(Py_nb_true_divide, acceptingArrays<nbDiv>);
  add(Py_nb_floor_divide, acceptingArrays<plainBinary<OpId::FloorDivide>>);
  add(Py_nb_remainder, acceptingArrays<plainBinary<OpId::Remainder>>);
  add(Py_nb_power, nbPower);
  add(Py_nb_matrix_multiply, acceptingArrays<nbMatmul>);
  add(Py_nb_and, acceptingArrays<plainBinary<OpId::BitwiseAnd>>);
  add(Py_nb_or, acceptingArrays<plainBinary<OpId::BitwiseOr>>);
  add(Py_nb_xor, acceptingArrays<plainBinary<OpId::BitwiseXor>>);
  add(Py_nb_lshift, acceptingArrays<plainBinary<OpId::BitwiseLeftShift>>);
  add(Py_nb_rshift, acceptingArrays<plainBinary<OpId::BitwiseRightShift>>);
  add(Py_nb_negative, nbNegative);
  add(Py_nb_positive, nbPositive);
  add(Py_nb_absolute, nbAbsolute);
  add(Py_nb_invert, nbInvert);
  add(Py_nb_inplace_add, nbInplaceAdd);
  add(Py_nb_inplace_subtract, nbInplaceSub);
  add(Py_nb_inplace_multiply, nbInplaceMul);
  add(Py_nb_inplace_true_divide, nbInplaceDiv);
  add(Py_nb_inplace_floor_divide, plainInplace<OpId::FloorDivide>);
  add(Py_nb_inplace_remainder, plainInplace<OpId::Remainder>);
  add(Py_nb_inplace_power, nbInplacePower);
  add(Py_nb_inplace_and, plainInplace<OpId::BitwiseAnd>);
  add(Py_nb_inplace_or, plainInplace<OpId::BitwiseOr>);
  add(Py_nb_inplace_xor, plainInplace<OpId::BitwiseXor>);
  add(Py_nb_inplace_lshift, plainInplace<OpId::BitwiseLeftShift>);
  add(Py_nb_inplace_rshift, plainInplace<OpId::BitwiseRightShift>);
  add(Py_nb_bool, truth);
  add(Py_nb_float, toFloat);
  add(Py_nb_int, toInt);
  add(Py_nb_index, toIndex);
  add(Py_tp_richcompare, compare);
  add(Py_tp_repr, reprSlot);
  add(Py_tp_hash, hash);
  add(Py_tp_iter, iterate);
  add(Py_mp_length, length);
  add(Py_mp_subscript, subscript);
  add(Py_mp_ass_subscript, assignSubscript);
  add(Py_sq_length, length);
  add(Py_sq_contains, contains);
}

} // namespace torchc::py
