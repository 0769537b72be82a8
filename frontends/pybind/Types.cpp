// dtype, device, Size and Generator.
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"
#include <random>
#include <structmember.h>

namespace torchc::py {

PyTypeObject *dtypeType, *deviceType, *sizeType, *generatorType;

namespace {

// ---- dtype: one object per element type

struct DTypeObject {
  PyObject_HEAD DType dtype;
};
PyObject *dtypes[numDTypes];

PyObject *dtypeRepr(PyObject *o) { return PyUnicode_FromFormat("torchc.%s", torchName(dtypeOfObject(o)).data()); }
PyObject *dtypeReduce(PyObject *o, PyObject *) { return PyUnicode_FromString(torchName(dtypeOfObject(o)).data()); }
PyObject *dtypeIsFloat(PyObject *o, void *) { return PyBool_FromLong(isFloat(dtypeOfObject(o))); }
PyObject *dtypeIsComplex(PyObject *o, void *) { return PyBool_FromLong(isComplex(dtypeOfObject(o))); }
PyObject *dtypeIsSigned(PyObject *o, void *) {
  DType t = dtypeOfObject(o);
  return PyBool_FromLong(t != DType::Bool && !isUnsigned(t));
}
PyObject *dtypeItemSize(PyObject *o, void *) { return PyLong_FromLongLong(itemSize(dtypeOfObject(o))); }

PyObject *dtypeToComplex(PyObject *o, PyObject *) {
  return guarded([&] {
    if (DType t = dtypeOfObject(o); isStored(t))
      fail("to_complex(): there is no complex type for " + std::string(torchName(t)));
    return dtypeObject(complexType(dtypeOfObject(o)));
  });
}
template <DType (*other)(DType)> PyObject *dtypeOther(PyObject *o, PyObject *) {
  return dtypeObject(other(dtypeOfObject(o)));
}

PyMethodDef dtypeMethods[] = {
    {"__reduce__", dtypeReduce, METH_NOARGS},
    {"to_real", dtypeOther<realType>, METH_NOARGS, "to_real($self)\n--\n\nThe dtype of a complex dtype's parts."},
    {"to_complex", dtypeToComplex, METH_NOARGS,
     "to_complex($self)\n--\n\nThe complex dtype whose parts hold this dtype's numbers."},
    {}};
PyGetSetDef dtypeProperties[] = {{"is_floating_point", dtypeIsFloat},
                                 {"is_complex", dtypeIsComplex},
                                 {"is_signed", dtypeIsSigned},
                                 {"itemsize", dtypeItemSize},
                                 {}};
PyType_Slot dtypeSlots[] = {{Py_tp_repr, reinterpret_cast<void *>(dtypeRepr)},
                            {Py_tp_methods, dtypeMethods},
                            {Py_tp_getset, dtypeProperties},
                            {Py_tp_doc, const_cast<char *>("An element type.")},
                            {}};
PyType_Spec dtypeSpec = {"torchc.dtype", sizeof(DTypeObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, dtypeSlots};

constexpr struct {
  const char *name;
  DType dtype;
} aliases[] = {{"float", DType::F32}, {"double", DType::F64}, {"half", DType::F16},   {"int", DType::I32},
               {"long", DType::I64},  {"short", DType::I16},  {"cfloat", DType::C64}, {"cdouble", DType::C128}};

bool addDTypes(PyObject *module) {
  for (int i = 0; i < numDTypes; i++) {
    auto *o = reinterpret_cast<DTypeObject *>(dtypeType->tp_alloc(dtypeType, 0));
    if (!o)
      return false;
    o->dtype = DType(i);
    dtypes[i] = reinterpret_cast<PyObject *>(o);
    if (PyModule_AddObjectRef(module, torchName(DType(i)).data(), dtypes[i]) < 0)
      return false;
  }
  for (auto &a : aliases)
    if (PyModule_AddObjectRef(module, a.name, dtypes[int(a.dtype)]) < 0)
      return false;
  return true;
}

// ---- device

struct DeviceObject {
  PyObject_HEAD DeviceId id;
};

PyObject *deviceNew(PyTypeObject *, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"type", "index", nullptr};
  PyObject *type, *index = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char **>(names), &type, &index))
    return nullptr;
  return guarded([&]() -> PyObject * {
    if (!isDevice(type) && !PyUnicode_Check(type) && !PyLong_Check(type))
      typeError("device(): argument 'type' must be str, int or torchc.device, not " + typeName(type));
    DeviceId d = deviceArg(type);
    if (index != Py_None) {
      int64_t i = intArg(index);
      if (d.index >= 0)
        fail("type (string) must not include an index because index was passed explicitly: " +
             deviceString(d.kind, d.index));
      if (i < 0 || i >= maxDeviceIndex)
        fail("device index must be in [0, 64), got " + std::to_string(i));
      d.index = int8_t(i);
    }
    return deviceObject(d);
  });
}
PyObject *deviceRepr(PyObject *o) {
  DeviceId d = deviceOfObject(o);
  const char *kind = deviceKindName(d.kind).data();
  return d.index < 0 ? PyUnicode_FromFormat("device(type='%s')", kind)
                     : PyUnicode_FromFormat("device(type='%s', index=%d)", kind, int(d.index));
}
PyObject *deviceStr(PyObject *o) {
  DeviceId d = deviceOfObject(o);
  return PyUnicode_FromString(deviceString(d.kind, d.index).c_str());
}
PyObject *deviceCompare(PyObject *a, PyObject *b, int op) {
  if (!isDevice(b) || (op != Py_EQ && op != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((deviceOfObject(a) == deviceOfObject(b)) == (op == Py_EQ));
}
Py_hash_t deviceHash(PyObject *o) {
  DeviceId d = deviceOfObject(o);
  return (int(d.kind) << 8) + d.index + 2;
}
PyObject *deviceKind(PyObject *o, void *) {
  return PyUnicode_FromString(deviceKindName(deviceOfObject(o).kind).data());
}
PyObject *deviceIndex(PyObject *o, void *) {
  if (deviceOfObject(o).index < 0)
    Py_RETURN_NONE;
  return PyLong_FromLong(deviceOfObject(o).index);
}
PyObject *deviceReduce(PyObject *o, PyObject *) {
  return Py_BuildValue("O(N)", reinterpret_cast<PyObject *>(deviceType), deviceStr(o));
}
PyObject *deviceCall(PyObject *o, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"func", nullptr};
  PyObject *function;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:device", const_cast<char **>(names), &function))
    return nullptr;
  return guarded([&] {
    PyObject *both[] = {o, function};
    return check(callPackage("torchc._extras", "_with_device", both, 2));
  });
}
PyMethodDef deviceMethods[] = {{"__reduce__", deviceReduce, METH_NOARGS, nullptr},
                               {"__enter__", enterDevice, METH_NOARGS, nullptr},
                               {"__exit__", exitDevice, METH_VARARGS, nullptr},
                               {}};
PyGetSetDef deviceProperties[] = {{"type", deviceKind}, {"index", deviceIndex}, {}};
PyType_Slot deviceSlots[] = {{Py_tp_new, reinterpret_cast<void *>(deviceNew)},
                             {Py_tp_repr, reinterpret_cast<void *>(deviceRepr)},
                             {Py_tp_str, reinterpret_cast<void *>(deviceStr)},
                             {Py_tp_richcompare, reinterpret_cast<void *>(deviceCompare)},
                             {Py_tp_hash, reinterpret_cast<void *>(deviceHash)},
                             {Py_tp_call, reinterpret_cast<void *>(deviceCall)},
                             {Py_tp_methods, deviceMethods},
                             {Py_tp_getset, deviceProperties},
                             {Py_tp_doc, const_cast<char *>("device(type, index=None)\n--\n\n"
                                                            "Where a tensor lives. As a context or decorator: where "
                                                            "this thread's new tensors are made.")},
                             {}};
PyType_Spec deviceSpec = {"torchc.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                          deviceSlots};

// ---- Size: a tuple of ints

PyObject *sizeFromTuple(PyObject *tuple) {
  if (!tuple || Py_TYPE(tuple) == sizeType || !PyTuple_Check(tuple))
    return tuple;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject *s = sizeType->tp_alloc(sizeType, n);
  for (Py_ssize_t i = 0; s && i < n; i++)
    PyTuple_SET_ITEM(s, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  Py_DECREF(tuple);
  return s;
}
PyObject *sizeNew(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  Ref self(PyTuple_Type.tp_new(type, args, kwargs));
  for (Py_ssize_t i = 0; self && i < PyTuple_GET_SIZE(self.get()); i++) {
    PyObject *x = PyTuple_GET_ITEM(self.get(), i);
    if (PyLong_Check(x))
      continue;
    PyObject *index = PyIndex_Check(x) ? PyNumber_Index(x) : nullptr;
    if (!index) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "torchc.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                     Py_TYPE(x)->tp_name);
      return nullptr;
    }
    PyTuple_SET_ITEM(self.get(), i, index);
    Py_DECREF(x);
  }
  return self.take();
}
PyObject *sizeRepr(PyObject *o) {
  std::string s = "torchc.Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
    s += (i ? ", " : "") + std::to_string(PyLong_AsLongLong(PyTuple_GET_ITEM(o, i)));
  return PyUnicode_FromString((s + "])").c_str());
}
PyObject *sizeNumel(PyObject *o, PyObject *) {
  long long n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
    n *= PyLong_AsLongLong(PyTuple_GET_ITEM(o, i));
  return PyLong_FromLongLong(n);
}
PyObject *sizeConcat(PyObject *a, PyObject *b) { return sizeFromTuple(PyTuple_Type.tp_as_sequence->sq_concat(a, b)); }
PyObject *sizeRepeat(PyObject *a, Py_ssize_t n) { return sizeFromTuple(PyTuple_Type.tp_as_sequence->sq_repeat(a, n)); }
PyObject *sizeSubscript(PyObject *a, PyObject *key) {
  PyObject *r = PyTuple_Type.tp_as_mapping->mp_subscript(a, key);
  return PySlice_Check(key) ? sizeFromTuple(r) : r;
}
PyObject *sizeReduce(PyObject *o, PyObject *) {
  return Py_BuildValue("O(N)", reinterpret_cast<PyObject *>(sizeType), PySequence_List(o));
}
PyMethodDef sizeMethods[] = {
    {"numel", sizeNumel, METH_NOARGS, "numel($self)\n--\n\nThe number of elements of a tensor of this size."},
    {"__reduce__", sizeReduce, METH_NOARGS},
    {}};
PyType_Slot sizeSlots[] = {{Py_tp_new, reinterpret_cast<void *>(sizeNew)},
                           {Py_tp_repr, reinterpret_cast<void *>(sizeRepr)},
                           {Py_sq_concat, reinterpret_cast<void *>(sizeConcat)},
                           {Py_sq_repeat, reinterpret_cast<void *>(sizeRepeat)},
                           {Py_mp_subscript, reinterpret_cast<void *>(sizeSubscript)},
                           {Py_tp_methods, sizeMethods},
                           {Py_tp_doc, const_cast<char *>("The shape of a tensor: a tuple of ints.")},
                           {}};
PyType_Spec sizeSpec = {"torchc.Size", 0, 0, Py_TPFLAGS_DEFAULT, sizeSlots};

// ---- Generator

struct GeneratorObject {
  PyObject_HEAD Generator *generator;
};
PyObject *generatorNew(PyTypeObject *, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"device", nullptr};
  PyObject *device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char **>(names), &device))
    return nullptr;
  return guarded([&]() -> PyObject * {
    if (device && !isDevice(device) && !PyUnicode_Check(device))
      typeError("Generator(): argument 'device' must be str or torchc.device, not " + typeName(device));
    if (device && deviceArg(device).kind != DeviceKind::Cpu)
      fail(ErrorKind::NotImplemented, "Generator(): only the cpu device is implemented");
    return generatorObject(Generator::make());
  });
}
void generatorDealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  delete reinterpret_cast<GeneratorObject *>(o)->generator;
  type->tp_free(o);
  Py_DECREF(type);
}
Generator &mutableGenerator(PyObject *o) { return *reinterpret_cast<GeneratorObject *>(o)->generator; }

PyObject *generatorSeedWith(PyObject *o, PyObject *seed) {
  return guarded([&]() -> PyObject * {
    manualSeed(mutableGenerator(o), seedArg(seed));
    return Py_NewRef(o);
  });
}
PyObject *generatorSeed(PyObject *o, PyObject *) {
  return guarded([&] {
    std::random_device source;
    uint64_t seed = uint64_t(source()) << 32 | source();
    manualSeed(mutableGenerator(o), seed);
    return PyLong_FromUnsignedLongLong(seed);
  });
}
PyObject *generatorInitialSeed(PyObject *o, PyObject *) {
  return PyLong_FromUnsignedLongLong(mutableGenerator(o).state()->seed);
}
PyObject *generatorGetState(PyObject *o, PyObject *) {
  return guarded([&] { return wrap(generatorState(mutableGenerator(o))); });
}
PyObject *generatorSetState(PyObject *o, PyObject *state) {
  return guarded([&]() -> PyObject * {
    setGeneratorState(mutableGenerator(o), state);
    return Py_NewRef(o);
  });
}
PyObject *generatorDevice(PyObject *, void *) { return deviceObject({}); }

PyMethodDef generatorMethods[] = {
    {"manual_seed", generatorSeedWith, METH_O, "manual_seed($self, seed, /)\n--\n\nSeed modulo 2^64, ordinal 0."},
    {"seed", generatorSeed, METH_NOARGS, "seed($self)\n--\n\nSeeds from the system's randomness; returns the seed."},
    {"initial_seed", generatorInitialSeed, METH_NOARGS, "initial_seed($self)\n--\n\nThe seed."},
    {"get_state", generatorGetState, METH_NOARGS, "get_state($self)\n--\n\nSeed and ordinal as 16 bytes (uint8)."},
    {"set_state", generatorSetState, METH_O, "set_state($self, state, /)\n--\n\nTakes what get_state gave."},
    {}};
PyGetSetDef generatorProperties[] = {{"device", generatorDevice}, {}};
PyType_Slot generatorSlots[] = {
    {Py_tp_new, reinterpret_cast<void *>(generatorNew)},
    {Py_tp_dealloc, reinterpret_cast<void *>(generatorDealloc)},
    {Py_tp_methods, generatorMethods},
    {Py_tp_getset, generatorProperties},
    {Py_tp_doc, const_cast<char *>("Generator(device='cpu')\n--\n\nA stream of random numbers: seed and ordinal.")},
    {}};
PyType_Spec generatorSpec = {"torchc.Generator", sizeof(GeneratorObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, generatorSlots};

bool addType(PyObject *module, PyTypeObject *&out, PyType_Spec &spec, PyObject *base = nullptr) {
  out = reinterpret_cast<PyTypeObject *>(base ? PyType_FromSpecWithBases(&spec, base) : PyType_FromSpec(&spec));
  return out && PyModule_AddType(module, out) == 0;
}

} // namespace

DType dtypeOfObject(PyObject *o) { return reinterpret_cast<DTypeObject *>(o)->dtype; }
PyObject *dtypeObject(DType t) { return Py_NewRef(dtypes[int(t)]); }
DeviceId deviceOfObject(PyObject *o) { return reinterpret_cast<DeviceObject *>(o)->id; }
PyObject *deviceObject(DeviceId d) {
  auto *o = reinterpret_cast<DeviceObject *>(deviceType->tp_alloc(deviceType, 0));
  if (o)
    o->id = d;
  return reinterpret_cast<PyObject *>(o);
}
PyObject *sizeObject(int rank, const int64_t *sizes) {
  PyObject *s = sizeType->tp_alloc(sizeType, rank);
  for (int i = 0; s && i < rank; i++)
    PyTuple_SET_ITEM(s, i, PyLong_FromLongLong(sizes[i]));
  return s;
}
PyObject *generatorObject(const Generator &g) {
  auto *o = reinterpret_cast<GeneratorObject *>(generatorType->tp_alloc(generatorType, 0));
  if (o)
    o->generator = new Generator(g);
  return reinterpret_cast<PyObject *>(o);
}
const Generator &generatorOfObject(PyObject *o) { return mutableGenerator(o); }

uint64_t seedArg(PyObject *o) {
  Ref index(check(PyNumber_Index(o)));
  int overflow;
  long long v = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (!overflow)
    return uint64_t(v);
  uint64_t u = PyLong_AsUnsignedLongLong(index.get());
  if (!PyErr_Occurred())
    return u;
  PyErr_Clear();
  raise(PyExc_RuntimeError, "Overflow when unpacking long: a seed must be within [-2^63, 2^64)");
}
Tensor generatorState(const Generator &g) {
  Tensor t(newTensor(DType::U8, Dims({16})));
  uint64_t words[2] = {g.state()->seed, g.state()->ordinal};
  std::memcpy(t->data, words, sizeof words);
  return t;
}
void setGeneratorState(Generator &g, PyObject *state) {
  if (!isTensor(state) || implOf(state)->dtype != DType::U8)
    typeError("expected a state of dtype uint8, got " + typeName(state));
  TensorImpl *t = implOf(state);
  materialize(t);
  if (t->numel != 16 || !t->contiguous() || t->device)
    fail("expected a state of 16 contiguous bytes, got " + t->dims().str());
  uint64_t words[2];
  std::memcpy(words, t->data, sizeof words);
  g.state()->seed = words[0];
  g.state()->ordinal = words[1];
}

bool addTypes(PyObject *module) {
  return addType(module, dtypeType, dtypeSpec) && addType(module, deviceType, deviceSpec) &&
         addType(module, sizeType, sizeSpec, reinterpret_cast<PyObject *>(&PyTuple_Type)) &&
         addType(module, generatorType, generatorSpec) && addDTypes(module);
}

} // namespace torchc::py
