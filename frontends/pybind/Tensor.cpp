// The type Tensor: the life of its objects, subclasses, and the type itself. The object's header is the head of the
// TensorImpl. While C++ still owns a tensor whose last Python reference goes, the object lies dormant and wakes at the
// same address; with attributes, weak references or a subclass the tensor owns the object (FlagPyOwned) instead.
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Operators.h"
#include "frontends/pybind/Overrides.h"
#include <structmember.h>
#include <unordered_set>

namespace torchc::py {

PyTypeObject *tensorType;

PyObject *wrapExisting(TensorImpl *t) {
  PyObject *o = objectOf(t);
  Py_INCREF(o);
  if (t->flags & FlagPyOwned) { // Python owns the tensor again: its reference goes to the object
    t->flags &= ~FlagPyOwned;
    Py_DECREF(o);
    return o;
  }
  release(t);
  return o;
}

PyObject *wrapAs(PyTypeObject *cls, Tensor t) {
  if (cls != tensorType && dispatches(cls))
    t->flags |= FlagSubclass;
  PyObject *o = wrap(t.take());
  if (cls != tensorType) {
    Py_SET_TYPE(o, cls);
    Py_INCREF(cls);
    Py_DECREF(tensorType);
  }
  return o;
}

namespace {

/// The last C++ reference to a tensor that owned its object is gone.
void dropObject(TensorImpl *t) {
  t->flags &= ~FlagPyOwned;
  t->refs.init();
  GilHold gil;
  Py_DECREF(objectOf(t));
}

/// False: the object lives on, owned by its tensor or revived by a finalizer.
bool dropAttributes(PyObject *o) {
  TensorImpl *t = implOf(o);
  PyTypeObject *type = Py_TYPE(o);
  if (t->refs.get() == 1 && keptByNode(t)) { // a graph leads to this leaf: the node has taken our reference
    Py_SET_REFCNT(o, 1);
    t->flags |= FlagPyOwned;
    return false;
  }
  if (t->refs.get() > 1) {
    Py_SET_REFCNT(o, 1);
    t->flags |= FlagPyOwned;
    if (t->refs.decrement())
      dropObject(t);
    return false;
  }
  if (type->tp_finalize && PyObject_CallFinalizerFromDealloc(o) < 0)
    return false;
  if (PyObject_GC_IsTracked(o))
    PyObject_GC_UnTrack(o);
  if (t->weakRefs)
    PyObject_ClearWeakRefs(o);
  Py_CLEAR(*reinterpret_cast<PyObject **>(&t->dict));
  return true;
}
void dealloc(PyObject *o) {
  TensorImpl *t = implOf(o);
  PyTypeObject *type = Py_TYPE(o);
  // gc[0], not the dict, says that it is tracked: tp_clear may have dropped the dict.
  if (TORCHC_UNLIKELY(t->gc[0] || t->dict || t->weakRefs || type != tensorType) && !dropAttributes(o))
    return;
  t->pyRefs = 0; // dormant if others own the tensor
  Py_DECREF(type);
  release(t);
}
int traverse(PyObject *o, visitproc visit, void *arg) {
  Py_VISIT(static_cast<PyObject *>(implOf(o)->dict));
  Py_VISIT(Py_TYPE(o));
  return 0;
}
int clear(PyObject *o) {
  Py_CLEAR(*reinterpret_cast<PyObject **>(&implOf(o)->dict));
  return 0;
}

/// Tracked only from the first attribute on: most tensors have none, and tracking costs 18 ns.
void track(PyObject *o) {
  if (implOf(o)->dict && !PyObject_GC_IsTracked(o))
    PyObject_GC_Track(o);
}
int setAttribute(PyObject *o, PyObject *name, PyObject *value) {
  int r = PyObject_GenericSetAttr(o, name, value);
  track(o);
  return r;
}
PyObject *getDict(PyObject *o, void *) {
  PyObject *d = PyObject_GenericGetDict(o, nullptr);
  track(o);
  return d;
}
int setDict(PyObject *o, PyObject *value, void *) {
  int r = PyObject_GenericSetDict(o, value, nullptr);
  track(o);
  return r;
}

void checkClass(PyObject *cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(cls), tensorType))
    typeError("cls must be a type derived from torchc.Tensor, got " +
              (PyType_Check(cls) ? std::string(reinterpret_cast<PyTypeObject *>(cls)->tp_name) : typeName(cls)));
  if (reinterpret_cast<PyTypeObject *>(cls)->tp_basicsize != tensorType->tp_basicsize)
    fail(ErrorKind::NotImplemented, std::string("class ") + reinterpret_cast<PyTypeObject *>(cls)->tp_name +
                                        ": subclasses of Tensor with __slots__ are not implemented");
}

/// _make_subclass(cls, data, requires_grad=False): a tensor of class `cls` that shares data's memory.
PyObject *makeSubclass(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"cls", "data", "require_grad", nullptr};
  PyObject *cls, *data;
  int grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p:_make_subclass", const_cast<char **>(names), &cls, &data, &grad))
    return nullptr;
  return guarded([&]() -> PyObject * {
    checkClass(cls);
    if (!isTensor(data))
      typeError("_make_subclass(): argument 'data' must be Tensor, not " + typeName(data));
    TensorImpl *d = implOf(data); // of whatever class: not detachTensor, which would keep it
    Tensor t(newAlias(d, d->rank, d->sizes(), d->strides(), 0));
    t->tag = d->tag;
    if (grad)
      setRequiresGrad(t.impl(), true);
    return wrapAs(reinterpret_cast<PyTypeObject *>(cls), std::move(t));
  });
}
PyObject *asSubclass(PyObject *self, PyObject *cls) {
  return guarded([&]() -> PyObject * {
    checkClass(cls);
    // A view that the tape follows: the object of self keeps its class.
    Tensor t = expand(Borrowed(self), Borrowed(self)->sizes());
    if (t.impl() == implOf(self))
      fail(ErrorKind::Internal, "as_subclass(): expected a new view");
    return wrapAs(reinterpret_cast<PyTypeObject *>(cls), std::move(t));
  });
}

/// Tensor(), Tensor(2, 3), Tensor([1, 2]): default dtype; sizes give uninitialised memory.
PyObject *tensorNew(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
  return guarded([&]() -> PyObject * {
    checkClass(reinterpret_cast<PyObject *>(cls));
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *first = n ? PyTuple_GET_ITEM(args, 0) : nullptr;
    if (n == 1 && isTensor(first))
      return wrapAs(cls, detachTensor(Borrowed(first)));
    if (n && PyIndex_Check(first)) {
      if (n > maxRank)
        fail("Tensor(): expected at most 64 dimensions, got " + std::to_string(n));
      Dims dims;
      for (Py_ssize_t i = 0; i < n; i++)
        dims.push(intArg(PyTuple_GET_ITEM(args, i)));
      return wrapAs(cls, empty(IntList(dims.data(), size_t(dims.size()))));
    }
    if (!n)
      return wrapAs(cls, empty(IntList({0})));
    if (Py_TYPE(first) == sizeType) {
      Values v = {{first}, nullptr, 0};
      return wrapAs(cls, empty(IntListArg(v, 0)));
    }
    if (n > 1)
      typeError("Tensor(): expected sizes or one sequence, got " + std::to_string(n) + " arguments");
    return wrapAs(cls, tensorFromData(first, defaultFloatType()));
  });
}

// Python gives subclasses its own tp_dealloc, which drops the attributes although C++ may still own the tensor: the
// metaclass puts ours back.
int metaInit(PyObject *cls, PyObject *args, PyObject *kwargs) {
  if (PyType_Type.tp_init(cls, args, kwargs) < 0)
    return -1;
  reinterpret_cast<PyTypeObject *>(cls)->tp_dealloc = dealloc;
  return 0;
}
PyTypeObject metaType = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool makeMeta() {
  metaType.tp_name = "torchc._C._TensorMeta";
  metaType.tp_base = &PyType_Type;
  metaType.tp_basicsize = PyType_Type.tp_basicsize;
  metaType.tp_itemsize = PyType_Type.tp_itemsize;
  metaType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  metaType.tp_init = metaInit;
  return PyType_Ready(&metaType) == 0;
}

PyMethodDef classMethods[] = {
    {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(makeSubclass)),
     METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False)\n--\n\nA tensor of class cls that shares data's memory."},
    {"as_subclass", asSubclass, METH_O, "as_subclass($self, cls, /)\n--\n\nThe same tensor as an object of class cls."},
    {"__torch_function__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(defaultTorchFunction)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "__torch_function__($cls, func, types, args=(), kwargs=None)\n--\n\nfunc's results as objects of class cls; "
     "NotImplemented where a type isn't a base of cls."},
    {}};
PyGetSetDef dictProperty[] = {{"__dict__", getDict, setDict}, {}};
PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, Py_ssize_t(offsetof(TensorImpl, dict) - offsetof(TensorImpl, pyRefs)), READONLY},
    {"__weaklistoffset__", T_PYSSIZET, Py_ssize_t(offsetof(TensorImpl, weakRefs) - offsetof(TensorImpl, pyRefs)),
     READONLY},
    {}};

/// All method tables as one; of equal names the first counts. Lives as long as the type.
PyMethodDef *joinMethods() {
  static std::vector<PyMethodDef> all;
  std::unordered_set<std::string_view> seen;
  const PyMethodDef *tables[] = {classMethods,       tensorMethods, tensorConversions, tensorAutogradMethods,
                                 tensorInplaceViews, tensorFormats, generatedMethods()};
  for (const PyMethodDef *table : tables)
    for (const PyMethodDef *m = table; m->ml_name; m++)
      if (seen.insert(m->ml_name).second) // what binds its arguments asks for overrides there
        all.push_back(table == classMethods || table == generatedMethods() ? *m : overridable(*m));
  all.push_back({});
  return all.data();
}
PyGetSetDef *joinProperties() {
  static std::vector<PyGetSetDef> all;
  all.push_back(dictProperty[0]);
  for (PyGetSetDef *p = tensorProperties; p->name; p++)
    all.push_back(overridable(*p));
  all.push_back({});
  return all.data();
}

} // namespace

bool addTensor(PyObject *module) {
  if (!makeMeta())
    return false;
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
                                    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void *>(clear)},
                                    {Py_tp_new, reinterpret_cast<void *>(tensorNew)},
                                    {Py_tp_methods, joinMethods()},
                                    {Py_tp_getset, joinProperties()},
                                    {Py_tp_members, members},
                                    {Py_tp_setattro, reinterpret_cast<void *>(setAttribute)},
                                    {Py_tp_getattro, reinterpret_cast<void *>(PyObject_GenericGetAttr)},
                                    {Py_tp_doc, const_cast<char *>("A multi-dimensional array of one element type.")}};
  addOperatorSlots(slots);
  slots.push_back({});
  PyType_Spec spec = {"torchc.Tensor", int(sizeof(TensorImpl) - offsetof(TensorImpl, pyRefs)), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots.data()};
  tensorType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  if (!tensorType)
    return false;
  Py_SET_TYPE(reinterpret_cast<PyObject *>(tensorType), &metaType);
  releasePyObject = dropObject;
  return PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject *>(tensorType)) == 0 &&
         PyModule_AddObjectRef(module, "_TensorMeta", reinterpret_cast<PyObject *>(&metaType)) == 0;
}

} // namespace torchc::py
