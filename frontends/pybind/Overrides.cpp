#include "frontends/pybind/Overrides.h"
#include "frontends/eager/Modes.h"
#include <structmember.h>

namespace torchc::py {
namespace {

PyObject *functionName; // "__torch_function__", interned
PyObject *disabled;     // the function that says: none

/// Classes that most arguments are of and that override nothing.
bool isBasic(PyTypeObject *t) {
  return t == tensorType || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == Py_TYPE(Py_None) ||
         t == &PyUnicode_Type || t == sizeType || t == dtypeType || t == &PySlice_Type || t == &PyComplex_Type ||
         t == &PyEllipsis_Type;
}

bool overrides(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  if (isBasic(type))
    return false;
  PyObject *f = _PyType_Lookup(type, functionName); // borrowed, from the type's cache
  return f && f != disabled;
}

} // namespace

void Overrides::add(PyObject *o) {
  if (!overrides(o))
    return;
  auto at = found.end();
  for (auto it = found.begin(); it != found.end(); ++it) {
    if (Py_TYPE(*it) == Py_TYPE(o))
      return;
    if (at == found.end() && PyType_IsSubtype(Py_TYPE(o), Py_TYPE(*it)))
      at = it;
  }
  found.insert(at, o);
}

Overrides::Overrides(const OverrideCall &call) : call(call) {
  if (threadState.modes.flags & (FlagNoSubclassFunctions | FlagNoFunctions))
    return;
  if (call.self)
    add(call.self);
  Py_ssize_t all = call.n + (call.kwnames ? PyTuple_GET_SIZE(call.kwnames) : 0);
  for (Py_ssize_t i = 0; i < all; i++) {
    PyObject *o = call.args[i];
    add(o);
    if (PyTuple_CheckExact(o) || PyList_CheckExact(o))
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); k++)
        add(PySequence_Fast_GET_ITEM(o, k));
  }
}

PyObject *Overrides::run(PyObject *function) const {
  bool self = call.self;
  Ref args(PyTuple_New(call.n + self)), types(PyTuple_New(Py_ssize_t(found.size()))), kwargs;
  if (!args || !types)
    return nullptr;
  if (self)
    PyTuple_SET_ITEM(args.get(), 0, Py_NewRef(call.self));
  for (Py_ssize_t i = 0; i < call.n; i++)
    PyTuple_SET_ITEM(args.get(), i + self, Py_NewRef(call.args[i]));
  Py_ssize_t named = call.kwnames ? PyTuple_GET_SIZE(call.kwnames) : 0;
  if (named && !(kwargs = Ref(PyDict_New())))
    return nullptr;
  for (Py_ssize_t i = 0; i < named; i++)
    if (PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(call.kwnames, i), call.args[call.n + i]) < 0)
      return nullptr;
  for (size_t i = 0; i < found.size(); i++)
    PyTuple_SET_ITEM(types.get(), Py_ssize_t(i), Py_NewRef(found[i]));
  PyObject *all[] = {function, types.get(), args.get(), kwargs ? kwargs.get() : Py_None};
  return callPackage("torchc.overrides", "_dispatch", all, 4);
}

std::optional<PyObject *> overrideMethod(const char *name, const OverrideCall &call) {
  Overrides o(call);
  if (TORCHC_LIKELY(!o))
    return std::nullopt;
  Ref function(PyObject_GetAttrString(reinterpret_cast<PyObject *>(tensorType), name));
  return function ? o.run(function.get()) : nullptr;
}
std::optional<PyObject *> overrideProperty(const char *name, const char *part, const OverrideCall &call) {
  Overrides o(call);
  if (TORCHC_LIKELY(!o))
    return std::nullopt;
  Ref property(PyObject_GetAttrString(reinterpret_cast<PyObject *>(tensorType), name));
  Ref function(property ? PyObject_GetAttrString(property.get(), part) : nullptr);
  return function ? o.run(function.get()) : nullptr;
}
void overrideBound(PyObject *owner, const char *name, const OverrideCall &call) {
  Overrides o(call);
  if (TORCHC_LIKELY(!o))
    return;
  Ref function(check(PyObject_GetAttrString(owner, name)));
  throw Overridden{Ref(check(o.run(function.get())))};
}

//===-- entries of tables ---------------------------------------------------------------------------------------===//

namespace {

// A method's entry has no room for data, so each gets a function of its own that knows its number.
constexpr size_t room = 64;
PyMethodDef plainMethods[room], keywordMethods[room];
size_t numPlain, numKeyword;

using Keywords = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
template <size_t i> PyObject *plainMethod(PyObject *self, PyObject *arg) {
  const PyMethodDef &m = plainMethods[i];
  if (TORCHC_UNLIKELY(mayOverride(self)))
    if (auto r = overrideMethod(m.ml_name, {self, &arg, arg ? 1 : 0, nullptr}))
      return *r;
  return m.ml_meth(self, arg);
}
template <size_t i> PyObject *keywordMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
  const PyMethodDef &m = keywordMethods[i];
  if (TORCHC_UNLIKELY(mayOverride(self)))
    if (auto r = overrideMethod(m.ml_name, {self, args, n, kwnames}))
      return *r;
  return reinterpret_cast<Keywords>(reinterpret_cast<void *>(m.ml_meth))(self, args, n, kwnames);
}
template <size_t... i> PyCFunction plainEntry(size_t k, std::index_sequence<i...>) {
  static constexpr PyCFunction all[] = {plainMethod<i>...};
  return all[k];
}
template <size_t... i> PyCFunction keywordEntry(size_t k, std::index_sequence<i...>) {
  static const Keywords all[] = {keywordMethod<i>...};
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(all[k]));
}

PyObject *getOverridable(PyObject *o, void *closure) {
  auto *p = static_cast<PyGetSetDef *>(closure);
  if (TORCHC_UNLIKELY(mayOverride(o)))
    if (auto r = overrideProperty(p->name, "__get__", {o, nullptr, 0, nullptr}))
      return *r;
  return p->get(o, p->closure);
}
int setOverridable(PyObject *o, PyObject *value, void *closure) {
  auto *p = static_cast<PyGetSetDef *>(closure);
  if (TORCHC_UNLIKELY(mayOverride(o)))
    if (auto r = overrideProperty(p->name, value ? "__set__" : "__delete__", {o, &value, value ? 1 : 0, nullptr})) {
      Py_XDECREF(*r);
      return *r ? 0 : -1;
    }
  return p->set(o, value, p->closure);
}

} // namespace

PyMethodDef overridable(const PyMethodDef &method) {
  PyMethodDef out = method;
  bool keywords = method.ml_flags == (METH_FASTCALL | METH_KEYWORDS);
  if (!keywords && method.ml_flags != METH_NOARGS && method.ml_flags != METH_O)
    return out; // static methods, and those of the class
  size_t &k = keywords ? numKeyword : numPlain;
  if (k == room)
    fail(ErrorKind::Internal, "Tensor has more methods than overrides have room for");
  (keywords ? keywordMethods : plainMethods)[k] = method;
  constexpr auto numbers = std::make_index_sequence<room>();
  out.ml_meth = keywords ? keywordEntry(k, numbers) : plainEntry(k, numbers);
  k++;
  return out;
}
PyGetSetDef overridable(PyGetSetDef &p) {
  return {p.name, getOverridable, p.set ? setOverridable : nullptr, p.doc, &p};
}

//===-- functions written in Python -----------------------------------------------------------------------------===//

namespace {

/// A function of the package that asks first: `torchc._C._overridable(function, module)`.
struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function, *module, *weakRefs;
};
PyTypeObject *functionType;
FunctionObject *functionOf(PyObject *o) { return reinterpret_cast<FunctionObject *>(o); }

/// The name of a Python function's argument at place i, or of keyword i - n.
Ref argumentName(PyObject *function, Py_ssize_t i, Py_ssize_t n, PyObject *kwnames) {
  if (i >= n)
    return Ref(Py_NewRef(PyTuple_GET_ITEM(kwnames, i - n)));
  Ref code(PyObject_GetAttrString(function, "__code__"));
  Ref names(code ? PyObject_GetAttrString(code.get(), "co_varnames") : nullptr);
  Ref name(names ? PySequence_GetItem(names.get(), i) : nullptr);
  PyErr_Clear();
  return name ? std::move(name) : Ref(PyUnicode_FromString("input"));
}
/// Where the AttributeError that is set says that an argument lacks something that tensors have: a TypeError instead.
void explainNoTensor(PyObject *function, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Ref object(value ? PyObject_GetAttrString(value, "obj") : nullptr);
  Ref missing(value ? PyObject_GetAttrString(value, "name") : nullptr);
  PyErr_Clear();
  bool tensors = object && missing && PyUnicode_Check(missing.get()) && !isTensor(object.get()) &&
                 PyObject_HasAttr(reinterpret_cast<PyObject *>(tensorType), missing.get());
  for (Py_ssize_t i = 0; tensors && i < n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0); i++) {
    if (args[i] != object.get())
      continue;
    Ref name(PyObject_GetAttrString(function, "__name__")), argument(argumentName(function, i, n, kwnames));
    PyErr_Clear();
    if (!name || !argument)
      break;
    PyErr_Format(PyExc_TypeError, "%U(): argument '%U' (position %zd) must be Tensor, not %s", name.get(),
                 argument.get(), i + 1, Py_TYPE(object.get())->tp_name);
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    return;
  }
  PyErr_Restore(type, value, trace);
}

PyObject *callFunction(PyObject *o, PyObject *const *args, size_t nargs, PyObject *kwnames) {
  OverrideCall call = {nullptr, args, Py_ssize_t(PyVectorcall_NARGS(nargs)), kwnames};
  Overrides overrides(call);
  if (TORCHC_UNLIKELY(bool(overrides)))
    return overrides.run(o);
  PyObject *result = PyObject_Vectorcall(functionOf(o)->function, args, nargs, kwnames);
  if (TORCHC_UNLIKELY(!result) && PyErr_ExceptionMatches(PyExc_AttributeError))
    explainNoTensor(functionOf(o)->function, args, PyVectorcall_NARGS(nargs), kwnames);
  return result;
}
PyObject *makeFunction(PyObject *, PyObject *args) {
  PyObject *function, *module;
  if (!PyArg_ParseTuple(args, "OO:_overridable", &function, &module))
    return nullptr;
  auto *o = reinterpret_cast<FunctionObject *>(functionType->tp_alloc(functionType, 0));
  if (o) {
    o->call = callFunction;
    o->function = Py_NewRef(function);
    o->module = Py_NewRef(module);
  }
  return reinterpret_cast<PyObject *>(o);
}
int traverseFunction(PyObject *o, visitproc visit, void *arg) {
  Py_VISIT(functionOf(o)->function);
  Py_VISIT(Py_TYPE(o));
  return 0;
}
int clearFunction(PyObject *o) {
  Py_CLEAR(functionOf(o)->function);
  Py_CLEAR(functionOf(o)->module);
  return 0;
}
void deallocFunction(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (functionOf(o)->weakRefs)
    PyObject_ClearWeakRefs(o);
  clearFunction(o);
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject *bindFunction(PyObject *o, PyObject *instance, PyObject *) {
  return instance ? PyMethod_New(o, instance) : Py_NewRef(o);
}
/// What the object itself hasn't is the function's.
PyObject *getFunctionAttribute(PyObject *o, PyObject *name) {
  PyObject *r = PyObject_GenericGetAttr(o, name);
  if (r || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return r;
  PyErr_Clear();
  return PyObject_GetAttr(functionOf(o)->function, name);
}
PyObject *ofFunction(PyObject *o, void *name) {
  return PyObject_GetAttrString(functionOf(o)->function, static_cast<const char *>(name));
}
PyObject *functionModule(PyObject *o, void *) { return Py_NewRef(functionOf(o)->module); }
PyObject *wrappedFunction(PyObject *o, void *) { return Py_NewRef(functionOf(o)->function); }
PyObject *reprFunction(PyObject *o) { return PyObject_Repr(functionOf(o)->function); }
/// Pickled by name, copied as itself.
PyObject *reduceFunction(PyObject *o, PyObject *) { return ofFunction(o, const_cast<char *>("__qualname__")); }

PyGetSetDef functionAttributes[] = {{"__doc__", ofFunction, nullptr, nullptr, const_cast<char *>("__doc__")},
                                    {"__name__", ofFunction, nullptr, nullptr, const_cast<char *>("__name__")},
                                    {"__qualname__", ofFunction, nullptr, nullptr, const_cast<char *>("__qualname__")},
                                    {"__module__", functionModule},
                                    {"__wrapped__", wrappedFunction},
                                    {}};
PyObject *copyFunction(PyObject *o, PyObject *) { return Py_NewRef(o); }
PyMethodDef functionMethods[] = {{"__reduce__", reduceFunction, METH_NOARGS, nullptr},
                                 {"__copy__", copyFunction, METH_NOARGS, nullptr},
                                 {"__deepcopy__", copyFunction, METH_O, nullptr},
                                 {}};
PyMemberDef functionMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY},
                                 {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakRefs), READONLY},
                                 {}};
PyType_Slot functionSlots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(deallocFunction)},
                               {Py_tp_traverse, reinterpret_cast<void *>(traverseFunction)},
                               {Py_tp_clear, reinterpret_cast<void *>(clearFunction)},
                               {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                               {Py_tp_descr_get, reinterpret_cast<void *>(bindFunction)},
                               {Py_tp_getattro, reinterpret_cast<void *>(getFunctionAttribute)},
                               {Py_tp_repr, reinterpret_cast<void *>(reprFunction)},
                               {Py_tp_getset, functionAttributes},
                               {Py_tp_methods, functionMethods},
                               {Py_tp_members, functionMembers},
                               {}};
PyType_Spec functionSpec = {"torchc._C._Overridable", sizeof(FunctionObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            functionSlots};

//===-- what a subclass does by default -------------------------------------------------------------------------===//

/// The results as objects of class `cls`, in tuples and lists too.
PyObject *asClass(PyObject *result, PyObject *cls) {
  if (PyTuple_Check(result) || PyList_Check(result)) {
    if (Py_TYPE(result) == sizeType)
      return Py_NewRef(result);
    Ref items(PyList_New(0));
    for (Py_ssize_t i = 0; items && i < PySequence_Fast_GET_SIZE(result); i++) {
      Ref item(asClass(PySequence_Fast_GET_ITEM(result, i), cls));
      if (!item || PyList_Append(items.get(), item.get()) < 0)
        return nullptr;
    }
    return items ? PyObject_CallOneArg(reinterpret_cast<PyObject *>(Py_TYPE(result)), items.get()) : nullptr;
  }
  if (!isTensor(result) || PyType_IsSubtype(Py_TYPE(result), reinterpret_cast<PyTypeObject *>(cls)))
    return Py_NewRef(result);
  return PyObject_CallMethod(result, "as_subclass", "O", cls);
}

/// .grad and ._base stay what they are.
int keepsClass(PyObject *function) {
  static PyObject *const kept = [] {
    PyObject *all = PyTuple_New(3);
    const char *names[] = {"grad", "_grad", "_base"};
    for (int i = 0; i < 3; i++) {
      Ref property(PyObject_GetAttrString(reinterpret_cast<PyObject *>(tensorType), names[i]));
      PyTuple_SET_ITEM(all, i, PyObject_GetAttrString(property.get(), "__get__"));
    }
    return all;
  }();
  return PySequence_Contains(kept, function);
}

PyObject *disabledFunction(PyObject *, PyObject *args, PyObject *kwargs) {
  PyObject *function, *types, *positional = nullptr, *keywords = nullptr;
  static const char *names[] = {"func", "types", "args", "kwargs", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:_disabled_torch_function_impl", const_cast<char **>(names),
                                   &function, &types, &positional, &keywords))
    return nullptr;
  Ref tuple(positional && positional != Py_None ? PySequence_Tuple(positional) : PyTuple_New(0));
  ModeGuard quiet(FlagNoSubclassFunctions, 0);
  return tuple ? PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords) : nullptr;
}

//===-- state ---------------------------------------------------------------------------------------------------===//

/// _function_flags(set, clear): changes this thread's flags, returns those it had.
PyObject *functionFlags(PyObject *, PyObject *args) {
  unsigned set, clear;
  if (!PyArg_ParseTuple(args, "II:_function_flags", &set, &clear))
    return nullptr;
  constexpr uint32_t all =
      FlagFunctionMode | FlagNoSubclassFunctions | FlagNoFunctions | FlagTorchMode | FlagNoDispatch;
  return PyLong_FromUnsignedLong(changeFlags(set & all, clear & all).flags & all);
}
PyObject *overridesFunction(PyObject *, PyObject *o) {
  return PyBool_FromLong(!(threadState.modes.flags & (FlagNoSubclassFunctions | FlagNoFunctions)) && overrides(o));
}

PyMethodDef functions[] = {
    {"_overridable", makeFunction, METH_VARARGS, "A function of module's that asks __torch_function__ first."},
    {"_function_flags", functionFlags, METH_VARARGS, "Changes which overrides this thread follows."},
    {"_overrides", overridesFunction, METH_O, "Does the object's class take calls of functions now?"},
    {"_disabled_torch_function_impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(disabledFunction)),
     METH_VARARGS | METH_KEYWORDS,
     "_disabled_torch_function_impl(func, types, args=(), kwargs=None)\n--\n\nAs a class's __torch_function__: none."},
    {}};

} // namespace

PyObject *defaultTorchFunction(PyObject *cls, PyObject *args, PyObject *kwargs) {
  PyObject *function, *types, *positional = nullptr, *keywords = nullptr;
  static const char *names[] = {"func", "types", "args", "kwargs", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:__torch_function__", const_cast<char **>(names), &function,
                                   &types, &positional, &keywords))
    return nullptr;
  Ref all(PySequence_Tuple(types));
  for (Py_ssize_t i = 0; all && i < PyTuple_GET_SIZE(all.get()); i++) {
    int is = PyObject_IsSubclass(cls, PyTuple_GET_ITEM(all.get(), i));
    if (is < 0)
      return nullptr;
    if (!is)
      Py_RETURN_NOTIMPLEMENTED;
  }
  Ref result(all ? disabledFunction(nullptr, args, kwargs) : nullptr);
  int kept = result ? keepsClass(function) : -1;
  if (kept < 0)
    return nullptr;
  ModeGuard quiet(FlagNoSubclassFunctions, 0);
  return kept ? result.take() : asClass(result.get(), cls);
}

bool addOverrides(PyObject *module) {
  functionName = PyUnicode_InternFromString("__torch_function__");
  functionType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&functionSpec));
  if (!functionName || !functionType || PyModule_AddFunctions(module, functions) < 0)
    return false;
  disabled = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
  return disabled && PyModule_AddIntConstant(module, "_FUNCTION_MODE", FlagFunctionMode) == 0 &&
         PyModule_AddIntConstant(module, "_NO_SUBCLASS_FUNCTIONS", FlagNoSubclassFunctions) == 0 &&
         PyModule_AddIntConstant(module, "_NO_FUNCTIONS", FlagNoFunctions) == 0;
}

} // namespace torchc::py
