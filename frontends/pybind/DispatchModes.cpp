// __torch_dispatch__: an op's call as Python values, and back. torchc.utils._python_dispatch chooses who takes it.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/DispatchHooks.h"
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include <deque>

namespace torchc::py {
namespace {

PyObject *methodName; // "__torch_dispatch__", interned
PyObject *disabled;   // the function that says: none

constexpr const char *package = "torchc.utils._python_dispatch";

PyObject *operandObject(const Operand &o) { return o.tensor ? wrap(Tensor::borrow(o.tensor)) : numberObject(o.number); }
PyObject *attrObject(const Attr &a) {
  switch (a.tag) {
  case AttrTag::Bool: return PyBool_FromLong(a.i != 0);
  case AttrTag::Int: return PyLong_FromLongLong(a.i);
  case AttrTag::Float: return PyFloat_FromDouble(a.f);
  case AttrTag::Str: return PyUnicode_FromStringAndSize(a.str, a.size);
  case AttrTag::DType: return dtypeObject(a.asDType());
  case AttrTag::IntList: {
    PyObject *list = PyList_New(a.size);
    for (uint32_t i = 0; list && i < a.size; i++)
      PyList_SET_ITEM(list, i, PyLong_FromLongLong(a.list[i]));
    return list;
  }
  default: Py_RETURN_NONE;
  }
}

/// The operands, in a list those of an op that takes any number, then the attributes.
Ref argumentsOf(const OpCall &call) {
  Ref all(check(PyList_New(0)));
  auto append = [](const Ref &list, PyObject *item) {
    Ref held(check(item));
    if (PyList_Append(list.get(), held.get()) < 0)
      throw PythonError();
  };
  bool variadic = opInfo(call.op).flags & OpVariadic;
  Ref operands = variadic ? Ref(check(PyList_New(0))) : all;
  for (int i = 0; i < call.numOperands; i++)
    append(operands, operandObject(call.operands[i]));
  if (variadic)
    append(all, Py_NewRef(operands.get()));
  for (int i = 0; i < call.numAttrs; i++)
    append(all, attrObject(call.attrs[i]));
  return Ref(check(PyList_AsTuple(all.get())));
}

/// The operands of classes that dispatch, one of each class, subclasses first.
Ref dispatching(const OpCall &call) {
  std::vector<PyObject *> found;
  for (int i = 0; i < call.numOperands; i++) {
    TensorImpl *t = call.operands[i].tensor;
    if (!t || !(t->flags & FlagSubclass))
      continue;
    PyObject *o = objectOf(t);
    auto same = [&](PyObject *f) { return Py_TYPE(f) == Py_TYPE(o); };
    if (std::any_of(found.begin(), found.end(), same))
      continue;
    auto below = [&](PyObject *f) { return PyType_IsSubtype(Py_TYPE(o), Py_TYPE(f)); };
    found.insert(std::find_if(found.begin(), found.end(), below), o);
  }
  Ref out(check(PyTuple_New(Py_ssize_t(found.size()))));
  for (size_t i = 0; i < found.size(); i++)
    PyTuple_SET_ITEM(out.get(), Py_ssize_t(i), wrap(Tensor::borrow(implOf(found[i]))));
  return out;
}

TensorImpl *runInPython(const OpCall &call) {
  GilHold gil;
  Ref objects = dispatching(call), args = argumentsOf(call);
  Ref name(check(PyUnicode_FromString(opInfo(call.op).name))), kind(check(PyLong_FromLong(call.out.kind)));
  Ref target(call.out.tensor ? check(wrap(Tensor::borrow(call.out.tensor))) : Py_NewRef(Py_None));
  PyObject *all[] = {name.get(), objects.get(), args.get(), kind.get(), target.get()};
  Ref result(check(callPackage(package, "_dispatch", all, 5)));
  return retain(implOf(result.get()));
}

Tensor onesOfClass(TensorImpl *t) {
  GilHold gil;
  Ref like(check(wrap(Tensor::borrow(t))));
  PyObject *all[] = {like.get()};
  Ref result(check(callPackage(package, "_ones_like", all, 1)));
  return Tensor::borrow(implOf(result.get()));
}
Tensor aliasOfClass(TensorImpl *t) {
  GilHold gil;
  PyObject *o = objectOf(t);
  Tensor alias(newAlias(t, t->rank, t->sizes(), t->strides(), 0));
  alias->tag = t->tag;
  Ref made(check(wrapAs(Py_TYPE(o), alias)));
  if (t->dict) {
    Ref attributes(check(PyDict_Copy(static_cast<PyObject *>(t->dict))));
    if (PyObject_SetAttrString(made.get(), "__dict__", attributes.get()) < 0)
      throw PythonError();
  }
  return alias;
}

/// Python values as an op's call; what they borrow lives as long as this.
class ParsedCall {
public:
  ParsedCall(OpId op, PyObject *args) : info(opInfo(op)) {
    Py_ssize_t n = PyTuple_GET_SIZE(args), numOperands = info.flags & OpVariadic ? 1 : info.numOperands;
    if (n != numOperands + info.numAttrs)
      typeError(std::string(info.name) + "() takes " + std::to_string(numOperands + info.numAttrs) + " arguments but " +
                std::to_string(n) + " were given");
    if (info.flags & OpVariadic) {
      list = Ref(check(PySequence_Tuple(PyTuple_GET_ITEM(args, 0))));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); i++)
        addOperand(PyTuple_GET_ITEM(list.get(), i));
    } else
      for (Py_ssize_t i = 0; i < numOperands; i++)
        addOperand(PyTuple_GET_ITEM(args, i));
    for (int i = 0; i < info.numAttrs; i++)
      attrs.push_back(attrOf(info.attrs[i], PyTuple_GET_ITEM(args, numOperands + i)));
    call = {op, operands.data(), int(operands.size()), attrs.data(), int(attrs.size()), {}};
  }
  ParsedCall(const ParsedCall &) = delete;
  OpCall call;

private:
  void addOperand(PyObject *o) {
    if (!isTensor(o) && !isNumber(o))
      typeError(std::string(info.name) + "(): expected Tensor or number, got " + typeName(o));
    operands.push_back(operandArg(o));
  }
  Attr attrOf(const AttrInfo &a, PyObject *o) {
    if (o == Py_None)
      return Attr::none();
    switch (a.tag) {
    case AttrTag::Bool: return Attr::boolean(boolArg(o));
    case AttrTag::Int: return Attr::integer(intArg(o));
    case AttrTag::Float: return Attr::number(floatArg(o));
    case AttrTag::Str: return Attr::string(strArg(o).data(), uint32_t(strArg(o).size()));
    case AttrTag::DType:
      if (!isDType(o))
        typeError(std::string(info.name) + "(): " + a.name + " must be torchc.dtype, not " + typeName(o));
      return Attr::dtype(dtypeOfObject(o));
    case AttrTag::IntList: {
      Ref items(check(PySequence_Tuple(o)));
      std::vector<int64_t> &v = lists.emplace_back();
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); i++)
        v.push_back(intArg(PyTuple_GET_ITEM(items.get(), i)));
      return Attr::ints(v.data(), uint32_t(v.size()));
    }
    default: return scalarArg(o).attr();
    }
  }
  const OpInfo &info;
  Ref list;
  std::vector<Operand> operands;
  std::vector<Attr> attrs;
  std::deque<std::vector<int64_t>> lists;
};

/// _call_op(name, args, kind, target): the op itself on operands and attributes; kind 1 writes to target, 2 is out=.
PyObject *callOpFunction(PyObject *, PyObject *args) {
  const char *name;
  PyObject *values, *target;
  int kind;
  if (!PyArg_ParseTuple(args, "sO!iO:_call_op", &name, &PyTuple_Type, &values, &kind, &target))
    return nullptr;
  return guarded([&]() -> PyObject * {
    std::optional<OpId> op = lookupOp(name);
    if (!op || kind < 0 || kind > 2 || (kind && !isTensor(target)))
      raise(PyExc_ValueError, std::string("_call_op(): no such op or target: ") + name);
    ParsedCall parsed(*op, values);
    if (kind)
      parsed.call.out = {Out::Kind(kind), implOf(target)};
    return wrap(Tensor(callSlow(parsed.call)));
  });
}
/// _op_arguments(name): how many arguments _call_op takes; None: no such op.
PyObject *opArguments(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    std::optional<OpId> op = lookupOp(strArg(o));
    if (!op)
      Py_RETURN_NONE;
    const OpInfo &info = opInfo(*op);
    return PyLong_FromLong((info.flags & OpVariadic ? 1 : info.numOperands) + info.numAttrs);
  });
}
PyObject *disabledDispatch(PyObject *, PyObject *args, PyObject *kwargs) {
  PyObject *function, *types, *positional = nullptr, *keywords = nullptr;
  static const char *names[] = {"func", "types", "args", "kwargs", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:_disabled_torch_dispatch_impl", const_cast<char **>(names),
                                   &function, &types, &positional, &keywords))
    return nullptr;
  Ref tuple(positional && positional != Py_None ? PySequence_Tuple(positional) : PyTuple_New(0));
  ModeGuard quiet(FlagNoDispatch, 0);
  return tuple ? PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords) : nullptr;
}

PyMethodDef functions[] = {
    {"_call_op", callOpFunction, METH_VARARGS, "An op of the table on operands and attributes."},
    {"_op_arguments", opArguments, METH_O, "How many arguments _call_op takes for an op."},
    {"_disabled_torch_dispatch_impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(disabledDispatch)),
     METH_VARARGS | METH_KEYWORDS,
     "_disabled_torch_dispatch_impl(func, types, args=(), kwargs=None)\n--\n\nAs a class's __torch_dispatch__: none."},
    {}};

} // namespace

bool dispatches(PyTypeObject *cls) {
  PyObject *f = _PyType_Lookup(cls, methodName); // borrowed
  return f && f != disabled;
}

bool addDispatch(PyObject *module) {
  methodName = PyUnicode_InternFromString("__torch_dispatch__");
  if (!methodName || PyModule_AddFunctions(module, functions) < 0)
    return false;
  disabled = PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl");
  dispatchHooks = {runInPython, aliasOfClass, onesOfClass};
  return disabled &&
         PyObject_SetAttrString(reinterpret_cast<PyObject *>(tensorType), "__torch_dispatch__", disabled) == 0 &&
         PyModule_AddIntConstant(module, "_DISPATCH_MODE", FlagTorchMode) == 0 &&
         PyModule_AddIntConstant(module, "_NO_DISPATCH", FlagNoDispatch) == 0;
}

} // namespace torchc::py
