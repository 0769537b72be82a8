// Module functions that no schema says: tensors from data, modes, seeds, threads, types.
#include "dialects/rules/Infer.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"
#include "frontends/pybind/Conversions.h"
#include "frontends/pybind/Operators.h"
#include "frontends/pybind/Overrides.h"
#include "runtime/device/ThreadPool.h"
#include <random>

namespace torchc::py {
namespace {

template <class F> PyCFunction fast(F f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(f)); }
constexpr int fastKeywords = METH_FASTCALL | METH_KEYWORDS;

// ---- tensors from data

/// The parameter that holds the data has no type of its own: it is taken out before the others are matched.
struct DataCall {
  PyObject *data;
  Values v;
};
const Param dataParams[] = {{"data", ArgType::Tensor, false, false},
                            {"dtype", ArgType::OptDType, true, false},
                            {"device", ArgType::OptDevice, true, false},
                            {"requires_grad", ArgType::Bool, true, false}};
const Signature tensorSignature = {
    "tensor", "(data, *, dtype? dtype=None, device? device=None, bool requires_grad=False)", dataParams, 4, 1, true,
    false};
const Signature asTensorSignature = {
    "as_tensor", "(data, dtype? dtype=None, device? device=None)", dataParams, 3, 3, true, false};

DataCall parseData(PyObject *module, const Signature &s, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  if (TORCHC_UNLIKELY(functionModeActive())) // data of a subclass is data
    overrideBound(module, s.name, {nullptr, args, n, kw});
  DataCall out;
  out.data = n ? args[0] : nullptr;
  std::vector<PyObject *> rest(args + (n ? 1 : 0), args + n + (kw ? PyTuple_GET_SIZE(kw) : 0));
  Ref names;
  if (!n && kw)
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kw); i++)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kw, i), "data") == 0) {
        out.data = args[i];
        rest.erase(rest.begin() + i);
        Ref list(check(PySequence_List(kw)));
        if (PySequence_DelItem(list.get(), i) < 0)
          throw PythonError();
        names = Ref(check(PyList_AsTuple(list.get())));
        kw = names.get();
        break;
      }
  if (!out.data)
    typeError(std::string(s.name) + "() missing 1 required positional argument: \"data\"");
  match(s, {out.data, rest.data(), n ? n - 1 : 0, kw}, out.v);
  return out;
}

Tensor moved(Tensor t, PyObject *device) {
  std::optional<DeviceId> d = newDeviceArg(device);
  return d && uint8_t(d->kind) != t->device ? torchc::to(t, std::nullopt, d, false, false) : t;
}

PyObject *tensorFunction(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    DataCall c = parseData(module, tensorSignature, args, n, kw);
    Tensor t = moved(tensorFromData(c.data, optional<dtypeArg>(c.v[1])), c.v[2]);
    if (c.v[3] && boolArg(c.v[3]))
      setRequiresGrad(t.impl(), true);
    return wrap(std::move(t));
  });
}
PyObject *asTensorFunction(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    DataCall c = parseData(module, asTensorSignature, args, n, kw);
    std::optional<DType> dtype = optional<dtypeArg>(c.v[1]);
    Tensor t;
    if (isTensor(c.data))
      t = Tensor::borrow(implOf(c.data));
    else if (hasBuffer(c.data) && PyObject_HasAttrString(c.data, "__array_interface__") && PySequence_Check(c.data))
      t = tensorOfBuffer(c.data, true);
    else
      t = tensorFromData(c.data, dtype);
    if (dtype && *dtype != t->dtype)
      t = torchc::to(t, dtype);
    return wrap(moved(std::move(t), c.v[2]));
  });
}
PyObject *fromNumpy(PyObject *, PyObject *array) {
  return guarded([&] {
    if (std::string_view(Py_TYPE(array)->tp_name) != "numpy.ndarray" &&
        !PyObject_HasAttrString(array, "__array_finalize__"))
      typeError("expected np.ndarray (got " + typeName(array) + ")");
    return wrap(tensorOfBuffer(array, true));
  });
}

/// The bytes of a contiguous tensor, for pickle.
PyObject *toBytes(PyObject *, PyObject *o) {
  return guarded([&] {
    TensorImpl *t = isTensor(o) ? implOf(o) : nullptr;
    if (!t || !t->contiguous() || t->device)
      typeError("_to_bytes(): expected a contiguous CPU tensor, got " + typeName(o));
    observe(t);
    return check(PyBytes_FromStringAndSize(t->data, t->nbytes()));
  });
}
/// _from_bytes(bytes, dtype): a new 1-d tensor.
PyObject *fromBytes(PyObject *, PyObject *const *args, Py_ssize_t n) {
  return guarded([&] {
    if (n != 2 || !PyBytes_Check(args[0]) || !isDType(args[1]))
      typeError("_from_bytes() takes bytes and a dtype");
    DType t = dtypeOfObject(args[1]);
    int64_t bytes = PyBytes_GET_SIZE(args[0]);
    if (bytes % itemSize(t))
      raise(PyExc_ValueError,
            "_from_bytes(): " + std::to_string(bytes) + " bytes are no whole number of " + std::string(torchName(t)));
    Tensor out(newTensor(t, Dims({bytes / itemSize(t)})));
    if (bytes)
      std::memcpy(out->data, PyBytes_AS_STRING(args[0]), size_t(bytes));
    return wrap(std::move(out));
  });
}

// ---- predicates and types

PyObject *isTensorFunction(PyObject *, PyObject *o) { return PyBool_FromLong(isTensor(o)); }
TensorImpl *tensorOrError(PyObject *o, const char *function) {
  if (!isTensor(o))
    typeError(std::string(function) + "(): argument 'input' (position 1) must be Tensor, not " + typeName(o));
  return implOf(o);
}
PyObject *isFloatingPoint(PyObject *, PyObject *o) {
  return guarded([&] { return PyBool_FromLong(isFloat(tensorOrError(o, "is_floating_point")->dtype)); });
}
PyObject *isComplexFunction(PyObject *, PyObject *o) {
  return guarded([&] { return PyBool_FromLong(isComplex(tensorOrError(o, "is_complex")->dtype)); });
}
PyObject *numelFunction(PyObject *, PyObject *o) {
  return guarded([&] { return PyLong_FromLongLong(tensorOrError(o, "numel")->numel); });
}
const Param twoTypes[] = {{"type1", ArgType::DType, false, false}, {"type2", ArgType::DType, false, false}};
const Signature promoteSignature = {"promote_types", "(dtype type1, dtype type2)", twoTypes, 2, 2, false, false};
const Param castTypes[] = {{"from_", ArgType::DType, false, false}, {"to", ArgType::DType, false, false}};
const Signature canCastSignature = {"can_cast", "(dtype from_, dtype to)", castTypes, 2, 2, false, false};

PyObject *promoteTypesFunction(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    Values v;
    bind(promoteSignature, {self, args, n, kw}, v);
    return dtypeObject(commonType(dtypeArg(v[0]), dtypeArg(v[1])));
  });
}
PyObject *canCast(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    Values v;
    bind(canCastSignature, {self, args, n, kw}, v);
    return PyBool_FromLong(category(dtypeArg(v[0])) <= category(dtypeArg(v[1])));
  });
}
/// PyTorch's rule: dimensioned tensors, 0-d tensors and numbers by category, a higher category winning.
PyObject *resultType(PyObject *, PyObject *const *args, Py_ssize_t n) {
  return guarded([&] {
    if (n != 2)
      typeError("result_type() takes 2 positional arguments but " + std::to_string(n) + " were given");
    std::optional<DType> level[3]; // with dimensions, 0-d, numbers
    for (int i = 0; i < 2; i++) {
      Scalar s;
      int at = isTensor(args[i]) ? implOf(args[i])->rank == 0 : 2;
      if (at == 2 && !scalarOf(args[i], s))
        typeError("result_type(): argument " + std::to_string(i + 1) + " must be Tensor or number, not " +
                  typeName(args[i]));
      DType t = at < 2 ? implOf(args[i])->dtype : typeOfNumber(s);
      level[at] = level[at] ? commonType(*level[at], t) : t;
    }
    std::optional<DType> result;
    for (auto &t : level)
      if (t)
        result = !result                                        ? *t
                 : category(*t) <= category(*result)            ? *result
                 : category(*result) == 2 && !isStored(*result) ? complexType(*result)
                                                                : commonType(*result, *t);
    return dtypeObject(*result);
  });
}
PyObject *getDefaultDType(PyObject *, PyObject *) { return dtypeObject(defaultDType()); }
PyObject *setDefaultDTypeFunction(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    if (!isDType(o))
      typeError("invalid dtype object: expected torchc.dtype, got " + typeName(o));
    setDefaultDType(dtypeOfObject(o));
    Py_RETURN_NONE;
  });
}

// ---- modes

bool flagArg(PyObject *o, const char *function) {
  if (!PyBool_Check(o))
    typeError(std::string(function) + "(): argument 'enabled' (position 1) must be bool, not " + typeName(o));
  return o == Py_True;
}
PyObject *isGradEnabledFunction(PyObject *, PyObject *) { return PyBool_FromLong(isGradEnabled()); }
PyObject *setGradEnabledFunction(PyObject *, PyObject *o) {
  return guarded([&] { return PyBool_FromLong(setGradEnabled(flagArg(o, "set_grad_enabled"))); });
}
PyObject *isInference(PyObject *, PyObject *) { return PyBool_FromLong(threadState.modes.flags & FlagInference); }
PyObject *setInference(PyObject *, PyObject *o) {
  return guarded([&] {
    bool on = flagArg(o, "inference_mode"), old = threadState.modes.flags & FlagInference;
    changeFlags(on ? uint32_t(FlagInference) : 0, on ? 0 : uint32_t(FlagInference));
    return PyBool_FromLong(old);
  });
}
PyObject *bumpEpochFunction(PyObject *, PyObject *) {
  bumpEpoch();
  Py_RETURN_NONE;
}
PyObject *epochFunction(PyObject *, PyObject *) { return PyLong_FromUnsignedLongLong(currentEpoch()); }

// ---- seeds and threads

PyObject *manualSeedFunction(PyObject *, PyObject *o) {
  return guarded([&] {
    manualSeed(seedArg(o));
    return generatorObject(defaultGenerator());
  });
}
PyObject *initialSeed(PyObject *, PyObject *) { return PyLong_FromUnsignedLongLong(defaultGenerator().state()->seed); }
PyObject *seedFunction(PyObject *, PyObject *) {
  return guarded([&] {
    std::random_device source;
    uint64_t seed = uint64_t(source()) << 32 | source();
    manualSeed(seed);
    return PyLong_FromUnsignedLongLong(seed);
  });
}
PyObject *getRngState(PyObject *, PyObject *) {
  return guarded([&] { return wrap(generatorState(defaultGenerator())); });
}
PyObject *setRngState(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    setGeneratorState(defaultGenerator(), o);
    Py_RETURN_NONE;
  });
}
PyObject *getNumThreads(PyObject *, PyObject *) { return PyLong_FromLong(numThreads()); }
PyObject *setNumThreadsFunction(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    if (!PyLong_Check(o))
      typeError("set_num_threads expects an int, but got " + typeName(o));
    int64_t n = intArg(o);
    if (n < 1 || n > 1024 || !setNumThreads(int(n)))
      fail("set_num_threads expects an int within 1 to 1024, got " + std::to_string(n));
    Py_RETURN_NONE;
  });
}
PyObject *memoryStatsFunction(PyObject *, PyObject *) {
  MemoryStats s = memoryStats();
  return Py_BuildValue("{s:L,s:L,s:L,s:L}", "allocated", (long long)s.allocated, "peak", (long long)s.peak, "reserved",
                       (long long)s.reserved, "allocations", (long long)s.allocations);
}

// ---- layout and memory_format: there is one of each that torchc has

PyTypeObject *layoutType, *formatType;
PyObject *strided;
struct NamedObject {
  PyObject_HEAD const char *name;
};
PyObject *namedRepr(PyObject *o) { return PyUnicode_FromFormat("torchc.%s", reinterpret_cast<NamedObject *>(o)->name); }
PyObject *namedReduce(PyObject *o, PyObject *) {
  return PyUnicode_FromString(reinterpret_cast<NamedObject *>(o)->name);
}
PyMethodDef namedMethods[] = {{"__reduce__", namedReduce, METH_NOARGS}, {}};
PyType_Slot namedSlots[] = {{Py_tp_repr, reinterpret_cast<void *>(namedRepr)}, {Py_tp_methods, namedMethods}, {}};
PyType_Spec layoutSpec = {"torchc.layout", sizeof(NamedObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, namedSlots};
PyType_Spec formatSpec = {"torchc.memory_format", sizeof(NamedObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, namedSlots};

PyObject *addNamed(PyObject *module, PyTypeObject *type, const char *name) {
  auto *o = reinterpret_cast<NamedObject *>(type->tp_alloc(type, 0));
  if (!o)
    return nullptr;
  o->name = name;
  auto *p = reinterpret_cast<PyObject *>(o);
  return PyModule_AddObjectRef(module, name, p) < 0 ? nullptr : p;
}
bool addLayouts(PyObject *module) {
  layoutType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&layoutSpec));
  formatType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&formatSpec));
  if (!layoutType || !formatType || PyModule_AddType(module, layoutType) < 0 ||
      PyModule_AddType(module, formatType) < 0)
    return false;
  strided = addNamed(module, layoutType, "strided");
  return strided && addNamed(module, formatType, "contiguous_format") &&
         addNamed(module, formatType, "preserve_format") && addNamed(module, formatType, "channels_last") &&
         addNamed(module, formatType, "channels_last_3d");
}

PyMethodDef functions[] = {
    {"tensor", fast(tensorFunction), fastKeywords,
     "tensor(data, *, dtype=None, device=None, requires_grad=False)\n--\n\n"
     "A new tensor of numbers, nested sequences, arrays or another tensor's values; always a copy."},
    {"as_tensor", fast(asTensorFunction), fastKeywords,
     "as_tensor(data, dtype=None, device=None)\n--\n\nLike tensor, but shares memory where it can."},
    {"from_numpy", fromNumpy, METH_O, "from_numpy(ndarray, /)\n--\n\nA tensor on the array's memory."},
    {"from_dlpack", fromDlpack, METH_O, "from_dlpack(ext_tensor, /)\n--\n\nA tensor on another library's memory."},
    {"_to_bytes", toBytes, METH_O, "The memory of a contiguous tensor."},
    {"_from_bytes", fast(fromBytes), METH_FASTCALL, "_from_bytes(data, dtype): a 1-d tensor of a copy of the bytes."},
    {"is_tensor", isTensorFunction, METH_O, "is_tensor(obj, /)\n--\n\nIs it a Tensor?"},
    {"is_floating_point", isFloatingPoint, METH_O, "is_floating_point(input, /)\n--\n\nIs the dtype a float type?"},
    {"is_complex", isComplexFunction, METH_O, "is_complex(input, /)\n--\n\nIs the dtype a complex type?"},
    {"numel", numelFunction, METH_O, "numel(input, /)\n--\n\nThe number of elements."},
    {"promote_types", fast(promoteTypesFunction), fastKeywords,
     "promote_types(type1, type2)\n--\n\nThe smallest type that both convert to."},
    {"can_cast", fast(canCast), fastKeywords, "can_cast(from_, to)\n--\n\nMay the type become the other by promotion?"},
    {"result_type", fast(resultType), METH_FASTCALL, "result_type(a, b, /)\n--\n\nThe dtype of an operation on both."},
    {"get_default_dtype", getDefaultDType, METH_NOARGS, "get_default_dtype()\n--\n\nThe type of float numbers."},
    {"set_default_dtype", setDefaultDTypeFunction, METH_O, "set_default_dtype(d, /)\n--\n\nA floating point type."},
    {"is_grad_enabled", isGradEnabledFunction, METH_NOARGS, "is_grad_enabled()\n--\n\nAre operations recorded?"},
    {"_set_grad_enabled", setGradEnabledFunction, METH_O, "Returns the former value."},
    {"is_inference_mode_enabled", isInference, METH_NOARGS, "is_inference_mode_enabled()\n--\n\nInference mode?"},
    {"_set_inference_mode", setInference, METH_O, "Returns the former value."},
    {"_bump_epoch", bumpEpochFunction, METH_NOARGS, "Tells compiled code that something guarded has changed."},
    {"_epoch", epochFunction, METH_NOARGS, "The count of such changes."},
    {"manual_seed", manualSeedFunction, METH_O,
     "manual_seed(seed, /)\n--\n\nThe default generator starts again from the seed; returns it."},
    {"initial_seed", initialSeed, METH_NOARGS, "initial_seed()\n--\n\nThe default generator's seed."},
    {"seed", seedFunction, METH_NOARGS, "seed()\n--\n\nSeeds the default generator from the system's randomness."},
    {"get_rng_state", getRngState, METH_NOARGS, "get_rng_state()\n--\n\nThe default generator's state, 16 bytes."},
    {"set_rng_state", setRngState, METH_O, "set_rng_state(new_state, /)\n--\n\nTakes what get_rng_state gave."},
    {"get_num_threads", getNumThreads, METH_NOARGS, "get_num_threads()\n--\n\nThreads that one operation uses."},
    {"set_num_threads", setNumThreadsFunction, METH_O, "set_num_threads(n, /)\n--\n\nThreads that one operation uses."},
    {"_memory_stats", memoryStatsFunction, METH_NOARGS, "Bytes of tensors: allocated, peak, reserved; allocations."},
    {}};

} // namespace

PyObject *stridedLayout() { return Py_NewRef(strided); }
MemoryFormat memoryFormatArg(PyObject *o) {
  if (Py_TYPE(o) != formatType)
    typeError("argument 'memory_format' must be torchc.memory_format, not " + typeName(o));
  std::string_view name = reinterpret_cast<NamedObject *>(o)->name;
  return name == "channels_last"      ? MemoryFormat::ChannelsLast
         : name == "channels_last_3d" ? MemoryFormat::ChannelsLast3d
         : name == "preserve_format"  ? MemoryFormat::Preserve
                                      : MemoryFormat::Contiguous;
}
bool isDefaultLayout(PyObject *o) {
  if (Py_TYPE(o) != formatType)
    return o == strided;
  if (memoryFormatArg(o) >= MemoryFormat::ChannelsLast)
    fail(ErrorKind::NotImplemented,
         std::string("memory_format ") + reinterpret_cast<NamedObject *>(o)->name + " is not implemented here");
  return true;
}

bool addState(PyObject *module) {
  Ref generator(generatorObject(defaultGenerator()));
  return addBufferType(module) && addDefaultDevice(module) && addLayouts(module) &&
         PyModule_AddFunctions(module, functions) == 0 && generator &&
         PyModule_AddObjectRef(module, "default_generator", generator.get()) == 0;
}

} // namespace torchc::py
