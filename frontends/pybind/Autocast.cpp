// What python/torchc/amp.py needs of autocast: the thread's state, and functions written in Python that have a policy.
#include "frontends/eager/Autocast.h"
#include "frontends/pybind/Args.h"
#include <structmember.h>

namespace torchc::py {
namespace {

// ---- a function with a policy

struct CastingFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *fn, *dict, *weakRefs;
  Autocast policy;
};
CastingFunction *self(PyObject *o) { return reinterpret_cast<CastingFunction *>(o); }

/// A tensor cast, or a list or tuple of those; anything else itself.
Ref castArgument(const AutocastCall &cast, PyObject *o) {
  if (isTensor(o)) {
    Tensor t = cast(*Borrowed(o));
    return t.impl() == implOf(o) ? Ref::borrow(o) : Ref(wrap(std::move(t)));
  }
  if (!PyList_CheckExact(o) && !PyTuple_CheckExact(o))
    return Ref::borrow(o);
  Ref items(check(PySequence_List(o)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); i++)
    if (PyList_SetItem(items.get(), i, castArgument(cast, PyList_GET_ITEM(items.get(), i)).take()) < 0)
      throw PythonError();
  return PyTuple_CheckExact(o) ? Ref(check(PyList_AsTuple(items.get()))) : items;
}

/// `out=` is written as it is, and its function doesn't cast.
bool givesOut(PyObject *const *keywords, PyObject *names) {
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "out") == 0)
      return keywords[i] != Py_None;
  return false;
}

PyObject *callCasting(PyObject *o, PyObject *const *args, size_t n, PyObject *names) {
  if (TORCHC_LIKELY(!isAutocast()) || givesOut(args + PyVectorcall_NARGS(n), names))
    return PyObject_Vectorcall(self(o)->fn, args, n, names);
  return guarded([&] {
    AutocastCall cast(self(o)->policy);
    Py_ssize_t positional = PyVectorcall_NARGS(n), all = positional + (names ? PyTuple_GET_SIZE(names) : 0);
    std::vector<Ref> held;
    std::vector<PyObject *> given;
    for (Py_ssize_t i = 0; i < all; i++) {
      held.push_back(castArgument(cast, args[i]));
      given.push_back(held.back().get());
    }
    return check(PyObject_Vectorcall(self(o)->fn, given.data(), size_t(positional), names));
  });
}

PyObject *newCasting(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *fn;
  int policy;
  if (!PyArg_ParseTuple(args, "Oi:_CastingFunction", &fn, &policy))
    return nullptr;
  PyObject *made = type->tp_alloc(type, 0);
  if (!made)
    return nullptr;
  self(made)->vectorcall = callCasting;
  self(made)->fn = Py_NewRef(fn);
  self(made)->policy = Autocast(policy);
  return made;
}
int traverse(PyObject *o, visitproc visit, void *arg) {
  Py_VISIT(self(o)->fn);
  Py_VISIT(self(o)->dict);
  Py_VISIT(Py_TYPE(o));
  return 0;
}
int clear(PyObject *o) {
  Py_CLEAR(self(o)->fn);
  Py_CLEAR(self(o)->dict);
  return 0;
}
void dealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (self(o)->weakRefs)
    PyObject_ClearWeakRefs(o);
  clear(o);
  type->tp_free(o);
  Py_DECREF(type);
}
/// As a function found in a class: a bound method.
PyObject *descrGet(PyObject *o, PyObject *instance, PyObject *) {
  return !instance || instance == Py_None ? Py_NewRef(o) : PyMethod_New(o, instance);
}
PyObject *repr(PyObject *o) { return PyObject_Repr(self(o)->fn); }
PyObject *reduce(PyObject *o, PyObject *) { return PyObject_GetAttrString(o, "__qualname__"); }
PyObject *copy(PyObject *o, PyObject *) { return Py_NewRef(o); }

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {"__copy__", copy, METH_NOARGS, nullptr},
                         {"__deepcopy__", copy, METH_O, nullptr},
                         {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(CastingFunction, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(CastingFunction, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(CastingFunction, weakRefs), READONLY, nullptr},
                         {}};
PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(newCasting)},
                       {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void *>(clear)},
                       {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void *>(descrGet)},
                       {Py_tp_repr, reinterpret_cast<void *>(repr)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, getset},
                       {}};
PyType_Spec spec = {"torchc._C._CastingFunction", sizeof(CastingFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

// ---- the thread's state

PyObject *castsFunction(PyObject *, PyObject *) { return PyBool_FromLong(isAutocast()); }
PyObject *setCasts(PyObject *, PyObject *o) {
  return guarded([&] {
    bool on = boolArg(o), old = isAutocast();
    changeFlags(on ? uint32_t(FlagAutocast) : 0, on ? 0 : uint32_t(FlagAutocast));
    return PyBool_FromLong(old);
  });
}
PyObject *castType(PyObject *, PyObject *kind) {
  return guarded([&] { return dtypeObject(autocastDType(DeviceKind(intArg(kind)))); });
}
PyObject *setCastType(PyObject *, PyObject *args) {
  int kind;
  PyObject *dtype;
  if (!PyArg_ParseTuple(args, "iO!:_set_autocast_dtype", &kind, dtypeType, &dtype))
    return nullptr;
  setAutocastDType(DeviceKind(kind), dtypeOfObject(dtype));
  Py_RETURN_NONE;
}
PyObject *isCacheEnabled(PyObject *, PyObject *) {
  return PyBool_FromLong(!(threadState.modes.flags & FlagNoCastCache));
}
PyObject *setCacheEnabled(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    bool on = boolArg(o);
    changeFlags(on ? 0 : uint32_t(FlagNoCastCache), on ? uint32_t(FlagNoCastCache) : 0);
    Py_RETURN_NONE;
  });
}
PyObject *incrementNesting(PyObject *, PyObject *) {
  return guarded([&] {
    enterAutocast();
    return PyLong_FromLong(autocastDepth());
  });
}
PyObject *decrementNesting(PyObject *, PyObject *) {
  return guarded([&] { return PyLong_FromLong(leaveAutocast()); });
}
PyObject *clearCache(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    clearAutocastCache();
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"_is_autocast_enabled", castsFunction, METH_NOARGS, "Does autocast choose types on the CPU?"},
    {"_set_autocast_enabled", setCasts, METH_O, "Returns the former value."},
    {"_get_autocast_dtype", castType, METH_O, "_get_autocast_dtype(kind): the lower type on a kind of device."},
    {"_set_autocast_dtype", setCastType, METH_VARARGS, "_set_autocast_dtype(kind, dtype)"},
    {"is_autocast_cache_enabled", isCacheEnabled, METH_NOARGS,
     "is_autocast_cache_enabled()\n--\n\nDoes autocast keep its casts of parameters until its last context ends?"},
    {"set_autocast_cache_enabled", setCacheEnabled, METH_O,
     "set_autocast_cache_enabled(enabled, /)\n--\n\nWhether autocast keeps its casts of parameters."},
    {"autocast_increment_nesting", incrementNesting, METH_NOARGS,
     "autocast_increment_nesting()\n--\n\nOne more context of autocast is open in this thread; returns how many are."},
    {"autocast_decrement_nesting", decrementNesting, METH_NOARGS,
     "autocast_decrement_nesting()\n--\n\nOne context of autocast less; with the last one kept casts go. Returns the "
     "rest."},
    {"clear_autocast_cache", clearCache, METH_NOARGS,
     "clear_autocast_cache()\n--\n\nDrops the casts of parameters that autocast keeps."},
    {}};

} // namespace

bool addAutocast(PyObject *module) {
  PyObject *type = PyType_FromSpec(&spec);
  return type && PyModule_AddObject(module, "_CastingFunction", type) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

} // namespace torchc::py
