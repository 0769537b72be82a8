#include "frontends/pybind/Operators.h"
#include "frontends/eager/Index.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"
#include "frontends/pybind/Overrides.h"

namespace torchc::py {
namespace {

using Function = Tensor (*)(const Tensor &, const Operand &);

/// Does the call work on so much that the GIL should go?
inline int64_t workOfPair(PyObject *a, PyObject *b) { return workOf(a) + workOf(b); }

/// x + array: the array as a tensor on its memory. slot(a, b) once arrays are tensors.
PyObject *withArrays(PyObject *a, PyObject *b, PyObject *(*slot)(PyObject *, PyObject *)) {
  return guarded([&] {
    auto converted = [](PyObject *o) { return isArray(o) ? Ref(wrap(tensorOfOperand(o))) : Ref::borrow(o); };
    Ref x = converted(a), y = converted(b);
    return check(slot(x.get(), y.get()));
  });
}
/// An operator under the name that overrides know it by: as its method, the reflected one where the tensor is on the right.
std::optional<PyObject *> overrideOperator(const char *name, const char *reflected, PyObject *a, PyObject *b) {
  bool left = isTensor(a);
  return overrideMethod(left ? name : reflected, {left ? a : b, left ? &b : &a, 1, nullptr});
}
struct OperatorNames {
  const char *name, *reflected;
};
template <PyObject *(*slot)(PyObject *, PyObject *), const OperatorNames &names>
PyObject *acceptingArrays(PyObject *a, PyObject *b) {
  if (TORCHC_UNLIKELY(!(isPlainArgument(a) && isPlainArgument(b)) || functionModeActive())) {
    if (auto r = overrideOperator(names.name, names.reflected, a, b))
      return *r;
    if (isArray(a) || isArray(b))
      return withArrays(a, b, slot);
  }
  return slot(a, b);
}
PyObject *nbPower(PyObject *a, PyObject *b, PyObject *);
PyObject *overridablePower(PyObject *a, PyObject *b, PyObject *modulus) {
  if (TORCHC_UNLIKELY(!isPlainArgument(a) || !isPlainArgument(b) || functionModeActive()))
    if (auto r = overrideOperator("__pow__", "__rpow__", a, b))
      return *r;
  return nbPower(a, b, modulus);
}

/// Any other slot, under the name of its method.
template <auto slot> struct Overridable;
template <class R, class... A, R (*slot)(PyObject *, A...)> struct Overridable<slot> {
  template <const char *const &name> static R call(PyObject *self, A... args) {
    if (TORCHC_UNLIKELY(mayOverride(self) || (... || !isPlainArgument(args)))) {
      PyObject *all[] = {args..., nullptr};
      if (auto r = overrideMethod(name, {self, all, Py_ssize_t(sizeof...(A)), nullptr}))
        return to(*r);
    }
    return slot(self, args...);
  }
  static R to(PyObject *result) {
    if constexpr (std::is_same_v<R, PyObject *>)
      return result;
    else if (!result)
      return R(-1);
    else {
      Ref held(result);
      if constexpr (std::is_same_v<R, int>)
        return PyObject_IsTrue(result);
      else
        return R(PyLong_AsSsize_t(result));
    }
  }
};

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
      Ref y(wrap(tensorOfOperand(b)));
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
    // Overrides get unbind, whose items they choose, not the iteration.
    Ref items(check(mayOverride(o) ? PyObject_CallMethod(o, "unbind", "i", 0) : tupleOf(unbind(Borrowed(o), 0))));
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

namespace {

PyObject *overridableCompare(PyObject *a, PyObject *b, int op) {
  static const char *const names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  if (TORCHC_UNLIKELY(mayOverride(a) || !isPlainArgument(b)))
    if (auto r = overrideMethod(names[op], {a, &b, 1, nullptr}))
      return *r;
  return compare(a, b, op);
}
int overridableAssign(PyObject *self, PyObject *key, PyObject *value) {
  PyObject *all[] = {key, value};
  if (TORCHC_UNLIKELY(mayOverride(self) || !isPlainArgument(key) || (value && !isPlainArgument(value))))
    if (auto r = overrideMethod(value ? "__setitem__" : "__delitem__", {self, all, value ? 2 : 1, nullptr})) {
      Py_XDECREF(*r);
      return *r ? 0 : -1;
    }
  return assignSubscript(self, key, value);
}

} // namespace

void addOperatorSlots(std::vector<PyType_Slot> &slots) {
  auto add = [&](int slot, auto function) { slots.push_back({slot, reinterpret_cast<void *>(function)}); };
  // Commutative operators are the same call from the right.
#define BINARY(slot, function, name, reflected)                                                                        \
  {                                                                                                                    \
    static constexpr OperatorNames names = {name, reflected};                                                          \
    add(slot, acceptingArrays<function, names>);                                                                       \
  }
  BINARY(Py_nb_add, nbAdd, "add", "add")
  BINARY(Py_nb_subtract, nbSub, "sub", "__rsub__")
  BINARY(Py_nb_multiply, nbMul, "mul", "mul")
  BINARY(Py_nb_true_divide, nbDiv, "div", "__rtruediv__")
  BINARY(Py_nb_floor_divide, plainBinary<OpId::FloorDivide>, "floor_divide", "__rfloordiv__")
  BINARY(Py_nb_remainder, plainBinary<OpId::Remainder>, "remainder", "__rmod__")
  BINARY(Py_nb_matrix_multiply, nbMatmul, "matmul", "__rmatmul__")
  BINARY(Py_nb_and, plainBinary<OpId::BitwiseAnd>, "__and__", "__rand__")
  BINARY(Py_nb_or, plainBinary<OpId::BitwiseOr>, "__or__", "__ror__")
  BINARY(Py_nb_xor, plainBinary<OpId::BitwiseXor>, "__xor__", "__rxor__")
  BINARY(Py_nb_lshift, plainBinary<OpId::BitwiseLeftShift>, "__lshift__", "__rlshift__")
  BINARY(Py_nb_rshift, plainBinary<OpId::BitwiseRightShift>, "__rshift__", "__rrshift__")
#undef BINARY
#define OTHER(slot, function, name)                                                                                    \
  {                                                                                                                    \
    static constexpr const char *text = name;                                                                          \
    add(slot, Overridable<function>::template call<text>);                                                             \
  }
  OTHER(Py_nb_negative, nbNegative, "neg")
  OTHER(Py_nb_positive, nbPositive, "positive")
  OTHER(Py_nb_absolute, nbAbsolute, "abs")
  OTHER(Py_nb_invert, nbInvert, "__invert__")
  OTHER(Py_nb_inplace_add, nbInplaceAdd, "add_")
  OTHER(Py_nb_inplace_subtract, nbInplaceSub, "sub_")
  OTHER(Py_nb_inplace_multiply, nbInplaceMul, "mul_")
  OTHER(Py_nb_inplace_true_divide, nbInplaceDiv, "div_")
  OTHER(Py_nb_inplace_floor_divide, plainInplace<OpId::FloorDivide>, "floor_divide_")
  OTHER(Py_nb_inplace_remainder, plainInplace<OpId::Remainder>, "remainder_")
  OTHER(Py_nb_inplace_and, plainInplace<OpId::BitwiseAnd>, "__iand__")
  OTHER(Py_nb_inplace_or, plainInplace<OpId::BitwiseOr>, "__ior__")
  OTHER(Py_nb_inplace_xor, plainInplace<OpId::BitwiseXor>, "__ixor__")
  OTHER(Py_nb_inplace_lshift, plainInplace<OpId::BitwiseLeftShift>, "__ilshift__")
  OTHER(Py_nb_inplace_rshift, plainInplace<OpId::BitwiseRightShift>, "__irshift__")
  OTHER(Py_nb_bool, truth, "__bool__")
  OTHER(Py_nb_float, toFloat, "__float__")
  OTHER(Py_nb_int, toInt, "__int__")
  OTHER(Py_nb_index, toIndex, "__index__")
  OTHER(Py_tp_repr, reprSlot, "__repr__")
  OTHER(Py_mp_length, length, "__len__")
  OTHER(Py_mp_subscript, subscript, "__getitem__")
  OTHER(Py_sq_contains, contains, "__contains__")
#undef OTHER
  add(Py_nb_power, overridablePower);
  add(Py_nb_inplace_power, nbInplacePower);
  add(Py_tp_richcompare, overridableCompare);
  add(Py_tp_iter, iterate);
  add(Py_tp_hash, hash);
  add(Py_mp_ass_subscript, overridableAssign);
  add(Py_sq_length, length);
}

} // namespace torchc::py
