// Ops registered at run time, as torchc.library and torchc.ops use them.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/CustomOp.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"

namespace torchc::py {
namespace {

// ---- values

PyObject *objectOfValue(const CustomValue &v);
template <class T> PyObject *listOf(const std::vector<T> &items) {
  Ref list(check(PyList_New(Py_ssize_t(items.size()))));
  for (size_t i = 0; i < items.size(); i++)
    if constexpr (std::is_same_v<T, Scalar>)
      PyList_SET_ITEM(list.get(), Py_ssize_t(i), check(numberObject(items[i])));
    else
      PyList_SET_ITEM(list.get(), Py_ssize_t(i), check(objectOfValue(CustomValue(T(items[i])))));
  return list.take();
}
struct ToObject {
  PyObject *operator()(std::monostate) const { Py_RETURN_NONE; }
  PyObject *operator()(const Tensor &t) const { return wrapOptional(t); }
  PyObject *operator()(bool b) const { return PyBool_FromLong(b); }
  PyObject *operator()(int64_t i) const { return PyLong_FromLongLong(i); }
  PyObject *operator()(double d) const { return PyFloat_FromDouble(d); }
  PyObject *operator()(const std::string &s) const {
    return PyUnicode_DecodeUTF8(s.data(), Py_ssize_t(s.size()), "replace");
  }
  PyObject *operator()(DType t) const { return dtypeObject(t); }
  PyObject *operator()(DeviceId d) const { return deviceObject(d); }
  template <class T> PyObject *operator()(const std::vector<T> &list) const { return listOf(list); }
};
PyObject *objectOfValue(const CustomValue &v) { return std::visit(ToObject(), v); }

bool isSequence(PyObject *o) { return PyTuple_Check(o) || PyList_Check(o); }

/// One item of an argument's type, or false.
bool itemOf(PyObject *o, const CustomArgument &a, CustomValue &out) {
  Scalar s;
  switch (a.kind) {
  case CustomKind::Tensor:
    if (o == Py_None && a.optionalItems)
      out = Tensor();
    else if (isTensor(o))
      out = Tensor::borrow(implOf(o));
    else
      return false;
    return true;
  case CustomKind::Bool:
    if (!PyBool_Check(o) && !(isNumber(o) && scalarOf(o, s) && s.isBool()))
      return false;
    out = PyBool_Check(o) ? o == Py_True : s.toBool();
    return true;
  case CustomKind::Int:
    if ((!isNumber(o) && !isTensor(o)) || PyComplex_Check(o) || !scalarOf(o, s) || s.isFloat())
      return false;
    out = s.toInt();
    return true;
  case CustomKind::Float:
    if ((!isNumber(o) && !isTensor(o)) || PyComplex_Check(o) || !scalarOf(o, s) || s.isBool())
      return false;
    out = s.toDouble();
    return true;
  case CustomKind::Scalar:
    if ((!isNumber(o) && !isTensor(o)) || !scalarOf(o, s))
      return false;
    out = s.isFloat() ? CustomValue(s.toDouble()) : s.isBool() ? CustomValue(s.toBool()) : CustomValue(s.toInt());
    return true;
  case CustomKind::Str:
    if (!PyUnicode_Check(o))
      return false;
    out = std::string(strArg(o));
    return true;
  case CustomKind::DType:
    if (!isDType(o))
      return false;
    out = dtypeOfObject(o);
    return true;
  case CustomKind::Device:
    if (!isDevice(o) && !PyUnicode_Check(o))
      return false;
    out = deviceArg(o);
    return true;
  }
  return false;
}

template <class T> bool listOfItems(PyObject *o, const CustomArgument &a, CustomValue &out) {
  std::vector<T> items;
  bool sequence = isSequence(o);
  if (!sequence && a.size < 0)
    return false;
  bool ok = true;
  auto add = [&](PyObject *from) {
    CustomValue item;
    if (ok && (ok = itemOf(from, a, item)))
      items.push_back(std::get<T>(std::move(item)));
  };
  if (sequence)
    eachItem(o, add);
  for (int64_t i = 0; !sequence && i < a.size; i++)
    add(o);
  out = std::move(items);
  return ok;
}

bool valueOf(PyObject *o, const CustomArgument &a, CustomValue &out) {
  if (o == Py_None && a.optional) {
    out = CustomValue();
    return true;
  }
  if (!a.list)
    return itemOf(o, a, out);
  switch (a.kind) {
  case CustomKind::Tensor: return listOfItems<Tensor>(o, a, out);
  case CustomKind::Bool: return listOfItems<bool>(o, a, out);
  case CustomKind::Int: return listOfItems<int64_t>(o, a, out);
  case CustomKind::Float: return listOfItems<double>(o, a, out);
  case CustomKind::Str: return listOfItems<std::string>(o, a, out);
  case CustomKind::Scalar: {
    std::vector<Scalar> items;
    if (!isSequence(o))
      return false;
    bool ok = true;
    eachItem(o, [&](PyObject *item) { ok = ok && scalarOf(item, items.emplace_back()); });
    out = std::move(items);
    return ok;
  }
  default: return false;
  }
}

// ---- calls from Python

std::string reprOf(PyObject *o) {
  Ref r(PyObject_Repr(o));
  const char *s = r ? PyUnicode_AsUTF8(r.get()) : nullptr;
  if (!s)
    PyErr_Clear();
  return s ? s : typeName(o);
}

CustomValue argumentOf(const CustomSchema &s, size_t i, PyObject *o) {
  const CustomArgument &a = s.arguments[i];
  CustomValue v;
  if (!valueOf(o, a, v))
    fail(s.qualified() + "() Expected a value of type '" + a.type() + "' for argument '" + a.name +
         "' but instead found type '" + typeName(o) + "'.\nPosition: " + std::to_string(i) +
         "\nValue: " + reprOf(o).substr(0, 200) + "\nDeclaration: " + s.str());
  return v;
}

CustomValues argumentsOf(const CustomSchema &s, PyObject *args, PyObject *kwargs) {
  Py_ssize_t n = PyTuple_GET_SIZE(args), positional = 0, used = 0;
  for (const CustomArgument &a : s.arguments)
    positional += !a.keywordOnly;
  if (n > positional)
    fail(s.qualified() + "() expected at most " + std::to_string(positional) + " argument(s) but received " +
         std::to_string(n) + " argument(s). Declaration: " + s.str());
  CustomValues out;
  for (size_t i = 0; i < s.arguments.size(); i++) {
    const CustomArgument &a = s.arguments[i];
    PyObject *named = kwargs ? PyDict_GetItemString(kwargs, a.name.c_str()) : nullptr;
    used += named && Py_ssize_t(i) >= n;
    if (Py_ssize_t(i) < n)
      out.push_back(argumentOf(s, i, PyTuple_GET_ITEM(args, Py_ssize_t(i))));
    else if (named)
      out.push_back(argumentOf(s, i, named));
    else if (a.hasDefault)
      out.push_back(a.value);
    else
      fail(s.qualified() + "() is missing value for argument '" + a.name + "'. Declaration: " + s.str());
  }
  if (!kwargs || used == PyDict_GET_SIZE(kwargs))
    return out;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &key, &value);)
    for (size_t i = 0;; i++) {
      if (i == s.arguments.size())
        fail("Unknown keyword argument '" + std::string(strArg(key)) + "' for operator '" + s.qualified() +
             "'. Schema: " + s.str());
      if (s.arguments[i].name != strArg(key))
        continue;
      if (Py_ssize_t(i) < n)
        fail(s.qualified() + "() got multiple values for argument '" + s.arguments[i].name +
             "'. Declaration: " + s.str());
      break;
    }
  return out;
}

/// As PyTorch returns: None, the one value, or a tuple.
PyObject *resultOf(const CustomValues &results) {
  if (results.empty())
    Py_RETURN_NONE;
  if (results.size() == 1)
    return check(objectOfValue(results[0]));
  Ref out(check(PyTuple_New(Py_ssize_t(results.size()))));
  for (size_t i = 0; i < results.size(); i++)
    PyTuple_SET_ITEM(out.get(), Py_ssize_t(i), check(objectOfValue(results[i])));
  return out.take();
}

CustomOp &opOf(unsigned long id) {
  if (PyErr_Occurred())
    throw PythonError();
  CustomOp *op = id <= UINT32_MAX ? findCustomOp(uint32_t(id)) : nullptr;
  if (!op)
    fail("there is no custom op number " + std::to_string(id));
  return *op;
}

struct OpArgs {
  CustomOp *op;
  PyObject *args, *kwargs;
};
bool parse(PyObject *tuple, OpArgs &out) {
  unsigned long id;
  if (!PyArg_ParseTuple(tuple, "kO!O!", &id, &PyTuple_Type, &out.args, &PyDict_Type, &out.kwargs))
    return false;
  out.op = &opOf(id);
  return true;
}

/// _custom_call(id, args, kwargs)
PyObject *callOp(PyObject *, PyObject *tuple) {
  return guarded([&]() -> PyObject * {
    OpArgs a;
    if (!parse(tuple, a))
      return nullptr;
    return resultOf(callCustomOp(*a.op, argumentsOf(a.op->schema(), a.args, a.kwargs)));
  });
}
/// _custom_kernel(id, args, kwargs): the kernel alone, for autograd functions.
PyObject *callKernel(PyObject *, PyObject *tuple) {
  return guarded([&]() -> PyObject * {
    OpArgs a;
    if (!parse(tuple, a))
      return nullptr;
    return resultOf(callCustomKernel(*a.op, argumentsOf(a.op->schema(), a.args, a.kwargs)));
  });
}

// ---- kernels in Python

CustomValues resultsOf(const CustomSchema &s, PyObject *r) {
  size_t n = s.returns.size();
  if (n == 0) {
    if (r != Py_None)
      fail(s.qualified() + "(): its kernel returned " + typeName(r) + " where the schema has no result: " + s.str());
    return {};
  }
  if (n > 1 && (!isSequence(r) || size_t(PySequence_Fast_GET_SIZE(r)) != n))
    fail(s.qualified() + "(): its kernel returned " + typeName(r) + " where the schema has " + std::to_string(n) +
         " results: " + s.str());
  CustomValues out;
  auto add = [&](PyObject *o) {
    size_t i = out.size();
    if (!valueOf(o, s.returns[i], out.emplace_back()))
      fail(s.qualified() + "(): its kernel returned " + typeName(o) + " as result " + std::to_string(i) +
           " where the schema has '" + s.returns[i].type() + "': " + s.str());
  };
  if (n == 1)
    add(r);
  else
    eachItem(r, add);
  return out;
}

CustomKernel kernelOf(const CustomOp &op, PyObject *f) {
  return [f = callableOf(f), &s = op.schema()](const CustomValues &args) {
    GilHold gil;
    std::vector<Ref> positional;
    Ref named(check(PyDict_New()));
    for (size_t i = 0; i < args.size(); i++) {
      Ref o(check(objectOfValue(args[i])));
      if (s.arguments[i].keywordOnly) {
        if (PyDict_SetItemString(named.get(), s.arguments[i].name.c_str(), o.get()))
          throw PythonError();
      } else
        positional.push_back(std::move(o));
    }
    Ref tuple(check(PyTuple_New(Py_ssize_t(positional.size()))));
    for (size_t i = 0; i < positional.size(); i++)
      PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), positional[i].take());
    Ref r(check(PyObject_Call(f->f, tuple.get(), named.get())));
    return resultsOf(s, r.get());
  };
}

/// _custom_define(schema): the op's number.
PyObject *define(PyObject *, PyObject *text) {
  return guarded([&] { return PyLong_FromUnsignedLong(defineCustomOp(strArg(text)).id()); });
}
/// _custom_find("ns::name"): the op's number, or None.
PyObject *find(PyObject *, PyObject *text) {
  return guarded([&]() -> PyObject * {
    CustomOp *op = findCustomOp(strArg(text));
    return op ? PyLong_FromUnsignedLong(op->id()) : Py_NewRef(Py_None);
  });
}
/// _custom_names("ns")
PyObject *names(PyObject *, PyObject *text) {
  return guarded([&] { return listOf(customOpNames(strArg(text))); });
}
/// _custom_remove(id)
PyObject *remove(PyObject *, PyObject *id) {
  return guarded([&]() -> PyObject * {
    removeCustomOp(opOf(PyLong_AsUnsignedLong(id)));
    Py_RETURN_NONE;
  });
}

/// _custom_impl(id, key, function, check): a kernel by PyTorch's name of the dispatch key.
PyObject *impl(PyObject *, PyObject *tuple) {
  unsigned long id;
  const char *key;
  PyObject *f;
  int checked;
  if (!PyArg_ParseTuple(tuple, "ksOp", &id, &key, &f, &checked))
    return nullptr;
  return guarded([&]() -> PyObject * {
    CustomOp &op = opOf(id);
    std::string_view k = key;
    CustomKernel kernel = kernelOf(op, f);
    if (k == "CPU")
      op.kernel(std::move(kernel));
    else if (k == "CUDA")
      op.kernel(std::move(kernel), DeviceKind::Cuda);
    else if (k == "Meta")
      op.fake(std::move(kernel));
    else if (k == "CompositeExplicitAutograd") {
      for (int d = 0; d < numDeviceKinds; d++)
        if (!op.has(DeviceKind(d)))
          op.kernel(kernel, DeviceKind(d));
    } else if (k == "CompositeImplicitAutograd")
      op.composite(std::move(kernel));
    else if (k == "Autograd" || k == "AutogradWanted")
      op.autograd(std::move(kernel), k == "Autograd");
    else
      fail(ErrorKind::NotImplemented, "impl(): the dispatch key " + std::string(k) +
                                          "; there are CPU, CUDA, Meta, Autograd, CompositeExplicitAutograd and "
                                          "CompositeImplicitAutograd");
    if (checked)
      op.checkAliases();
    Py_RETURN_NONE;
  });
}
/// _custom_has(id, key): is there a kernel for the dispatch key?
PyObject *has(PyObject *, PyObject *tuple) {
  unsigned long id;
  const char *key;
  if (!PyArg_ParseTuple(tuple, "ks", &id, &key))
    return nullptr;
  return guarded([&] {
    CustomOp &op = opOf(id);
    std::string_view k = key;
    return PyBool_FromLong(k == "CPU"    ? op.has(DeviceKind::Cpu)
                           : k == "CUDA" ? op.has(DeviceKind::Cuda)
                           : k == "Meta" ? op.has(DeviceKind::Meta)
                                         : op.isComposite());
  });
}

PyObject *describe(const CustomArgument &a) {
  return check(Py_BuildValue("{ss ss sN sO sO sO sO}", "name", a.name.c_str(), "type", a.type().c_str(),
                             "default_value", check(objectOfValue(a.value)), "has_default",
                             a.hasDefault ? Py_True : Py_False, "kwarg_only", a.keywordOnly ? Py_True : Py_False,
                             "is_write", a.written ? Py_True : Py_False, "is_alias",
                             a.alias.empty() ? Py_False : Py_True));
}
/// _custom_schema(schema or id): name, overload, text, and dicts of arguments and results.
PyObject *schemaOf(PyObject *, PyObject *o) {
  return guarded([&] {
    CustomSchema parsed;
    Diag diag;
    if (PyUnicode_Check(o) && !parseSchema(strArg(o), parsed, diag))
      fail(diag);
    const CustomSchema &s = PyUnicode_Check(o) ? parsed : opOf(PyLong_AsUnsignedLong(o)).schema();
    Ref arguments(check(PyList_New(0))), returns(check(PyList_New(0)));
    for (auto [list, items] : {std::pair(arguments.get(), &s.arguments), {returns.get(), &s.returns}})
      for (const CustomArgument &a : *items) {
        Ref d(describe(a));
        if (PyList_Append(list, d.get()))
          throw PythonError();
      }
    return check(Py_BuildValue("(ssssOO)", s.space.c_str(), s.name.c_str(), s.overload.c_str(), s.str().c_str(),
                               arguments.get(), returns.get()));
  });
}

PyMethodDef functions[] = {
    {"_custom_call", callOp, METH_VARARGS, nullptr}, {"_custom_kernel", callKernel, METH_VARARGS, nullptr},
    {"_custom_define", define, METH_O, nullptr},     {"_custom_find", find, METH_O, nullptr},
    {"_custom_names", names, METH_O, nullptr},       {"_custom_remove", remove, METH_O, nullptr},
    {"_custom_impl", impl, METH_VARARGS, nullptr},   {"_custom_has", has, METH_VARARGS, nullptr},
    {"_custom_schema", schemaOf, METH_O, nullptr},   {}};

} // namespace

bool addLibrary(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
