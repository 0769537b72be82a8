// NumPy without NumPy's headers: tensors show their memory by the buffer protocol and read others' the same way. NumPy
// itself is imported only when numpy() is called.
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"
#include <bit>

namespace torchc::py {
namespace {

// int64 is 'l', which NumPy takes for its int64; 'q' would be a type of another number.
constexpr const char *formats[numDTypes] = {"?",  "B",  "b", "h", "i", "l",     "e",     nullptr, "f",    "d",
                                            "Zf", "Zd", "H", "I", "L", nullptr, nullptr, nullptr, nullptr};

struct BufferObject {
  PyObject_HEAD TensorImpl *tensor;
  Py_ssize_t dims[2 * maxRank]; // sizes, then strides in bytes
};
PyTypeObject *bufferObjectType;

void bufferDealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  release(reinterpret_cast<BufferObject *>(o)->tensor);
  type->tp_free(o);
  Py_DECREF(type);
}
int bufferGet(PyObject *o, Py_buffer *view, int) {
  static char nothing[16];
  auto *b = reinterpret_cast<BufferObject *>(o);
  TensorImpl *t = b->tensor;
  view->obj = Py_NewRef(o);
  view->buf = t->data ? t->data : nothing;
  view->len = t->nbytes();
  view->readonly = 0;
  view->itemsize = itemSize(t->dtype);
  view->format = const_cast<char *>(formats[int(t->dtype)]);
  view->ndim = t->rank;
  view->shape = b->dims;
  view->strides = b->dims + t->rank;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}
PyType_Slot bufferSlots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(bufferDealloc)},
                             {Py_bf_getbuffer, reinterpret_cast<void *>(bufferGet)},
                             {}};
PyType_Spec bufferSpec = {"torchc._C._Buffer", sizeof(BufferObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bufferSlots};

PyObject *bufferOf(TensorImpl *t) {
  auto *b = reinterpret_cast<BufferObject *>(check(bufferObjectType->tp_alloc(bufferObjectType, 0)));
  // Holds the storage: the tensor itself may get another one (`.data =`, out=).
  b->tensor = newAlias(t, t->rank, t->sizes(), t->strides(), 0);
  for (int i = 0; i < t->rank; i++) {
    b->dims[i] = t->sizes()[i];
    b->dims[t->rank + i] = t->strides()[i] * itemSize(t->dtype);
  }
  return reinterpret_cast<PyObject *>(b);
}

/// An ndarray on the tensor's memory.
PyObject *arrayOf(TensorImpl *t) {
  if (t->device == uint8_t(DeviceKind::Cuda))
    typeError("can't convert " + deviceString(DeviceKind::Cuda, t->storage->deviceIndex) +
              " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
  if (t->device)
    typeError("can't convert a tensor on device " + deviceString(DeviceKind(t->device), -1) +
              " to numpy: it has no memory here");
  if (!formats[int(t->dtype)])
    typeError("Got unsupported ScalarType " +
              (t->dtype == DType::BF16 ? "BFloat16" : "F" + std::string(torchName(t->dtype).substr(1))));
  expose(t);
  if (t->storage)
    t->storage->exposed = exposedFixed;
  Ref buffer(bufferOf(t)), numpy(check(PyImport_ImportModule("numpy")));
  return check(PyObject_CallMethod(numpy.get(), "asarray", "O", buffer.get()));
}

struct View {
  Py_buffer b;
  bool held = false;
  ~View() {
    if (held)
      PyBuffer_Release(&b);
  }
};

void releaseOwner(Storage *s) {
  GilHold gil;
  Py_DECREF(static_cast<PyObject *>(s->context));
}

} // namespace

BufferType bufferType(const char *format, Py_ssize_t itemSize) {
  if (!format)
    return {DType::U8, true};
  if (*format == '>' || *format == '!')
    return {};
  if (*format == '<' || *format == '=' || *format == '@' || *format == '|')
    format++;
  std::string_view f = format;
  for (int t = 0; t < numDTypes; t++)
    if (formats[t] && f == formats[t] && itemSize == torchc::itemSize(DType(t)))
      return {DType(t), true};
  if (f == "q" || f == "l" || f == "i")
    return {itemSize == 8 ? DType::I64 : DType::I32, true};
  if (f == "Q" || f == "L" || f == "I")
    return {itemSize == 8 ? DType::U64 : DType::U32, true};
  return {};
}

bool hasBuffer(PyObject *o) {
  return PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o) && !PyMemoryView_Check(o);
}

void observe(TensorImpl *t) {
  materialize(t);
  noteEffect(Effect::ReadValue, t);
}

void expose(TensorImpl *t) {
  observe(t);
  Storage *s = t->storage;
  if (!s || s->exposed)
    return;
  if (threadState.modes.flags & (FlagRecording | FlagRetracing))
    jitHooks.flush(); // deferred ops may read this memory
  s->exposed = 1;
}

Tensor foreignTensor(void *data, DType dtype, const Dims &sizes, const Dims &strides, PyObject *owner) {
  int64_t extent = 1;
  for (int i = 0; i < sizes.size(); i++)
    extent = sizes[i] && extent ? extent + (sizes[i] - 1) * strides[i] : 0;
  Tensor t(newShell(dtype, sizes.size(), sizes.data(), strides.data()));
  Storage *s = newForeignStorage(data, extent * itemSize(dtype), releaseOwner, owner);
  if (!s)
    outOfMemory(int64_t(sizeof(Storage)));
  Py_INCREF(owner);
  s->exposed = exposedFixed;
  t->storage = s;
  t->data = static_cast<char *>(data);
  return t;
}

Tensor tensorOfBuffer(PyObject *array, bool warnReadOnly) {
  View view;
  if (PyObject_GetBuffer(array, &view.b, PyBUF_RECORDS_RO) < 0) {
    PyErr_Clear();
    typeError("can't convert " + typeName(array) + " to a tensor: its elements have no fixed numeric type");
  }
  view.held = true;
  BufferType type = bufferType(view.b.format, view.b.itemsize);
  if (!type.known && (view.b.format[0] == '>' || view.b.format[0] == '!'))
    raise(PyExc_ValueError, "given numpy array has byte order different from the native byte order: element format '" +
                                std::string(view.b.format) + "'. (array.astype() converts it.)");
  if (!type.known)
    typeError("can't convert " + typeName(array) + " of element format '" + view.b.format +
              "'. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, "
              "int8, uint64, uint32, uint16, uint8, and bool.");
  if (view.b.ndim > maxRank)
    fail("expected at most 64 dimensions, got " + std::to_string(view.b.ndim));
  if (warnReadOnly && view.b.readonly &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "The given NumPy array is not writable: writing to the tensor will write to it all the same; copy "
                   "the array to protect it.",
                   1) < 0)
    throw PythonError();
  Dims sizes, strides;
  for (int i = 0; i < view.b.ndim; i++) {
    Py_ssize_t stride = view.b.strides[i];
    if (stride < 0)
      raise(PyExc_ValueError, "At least one stride in the given numpy array is negative, and tensors with negative "
                              "strides are not supported. (array.copy() makes an array without.)");
    if (stride % view.b.itemsize)
      raise(PyExc_ValueError, "given numpy array strides not a multiple of the element byte size. Copy the array.");
    sizes.push(view.b.shape[i]);
    strides.push(stride / view.b.itemsize);
  }
  if (reinterpret_cast<uintptr_t>(view.b.buf) % std::bit_floor(uint64_t(view.b.itemsize)))
    raise(PyExc_ValueError, "the given array is not aligned to its element size. Copy the array.");
  return foreignTensor(view.b.buf, type.dtype, sizes, strides, array);
}

Tensor tensorOfOperand(PyObject *array) {
  try {
    return tensorOfBuffer(array, false);
  } catch (PythonError &e) { // a layout that no tensor has
    e.restore();
    if (!PyErr_ExceptionMatches(PyExc_ValueError))
      throw PythonError();
    PyErr_Clear();
  }
  Ref type(check(PyObject_GetAttrString(array, "dtype")));
  Ref native(check(PyObject_CallMethod(type.get(), "newbyteorder", "s", "=")));
  Ref copy(check(PyObject_CallMethod(array, "astype", "Os", native.get(), "C")));
  return tensorOfBuffer(copy.get(), false);
}

static const Param numpyParams[] = {{"self", ArgType::Tensor, false, false}, {"force", ArgType::Bool, true, false}};
static const Signature numpySignature = {"numpy", "(*, bool force=False)", numpyParams, 2, 1, true, false};

PyObject *numpyMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    Values v;
    bind(numpySignature, {self, args, n, kw}, v);
    if (v[1] != Py_True && isGradEnabled() && Borrowed(self)->requiresGrad())
      fail("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
    return arrayOf(implOf(self));
  });
}

/// The array itself if it has the dtype.
static Ref asType(PyObject *array, PyObject *dtype) {
  Ref call(check(PyObject_GetAttrString(array, "astype"))), args(check(PyTuple_Pack(1, dtype)));
  Ref names(check(Py_BuildValue("{sO}", "copy", Py_False)));
  return Ref(check(PyObject_Call(call.get(), args.get(), names.get())));
}

PyObject *arrayMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    PyObject *dtype = n ? args[0] : nullptr, *copy = nullptr;
    for (Py_ssize_t i = 0; kw && i < PyTuple_GET_SIZE(kw); i++) {
      PyObject *key = PyTuple_GET_ITEM(kw, i);
      if (PyUnicode_CompareWithASCIIString(key, "dtype") == 0)
        dtype = args[n + i];
      else if (PyUnicode_CompareWithASCIIString(key, "copy") == 0)
        copy = args[n + i];
      else
        typeError("__array__() got an unexpected keyword argument '" + std::string(strArg(key)) + "'");
    }
    if (isGradEnabled() && Borrowed(self)->requiresGrad())
      fail("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
    Ref array(arrayOf(implOf(self)));
    if (dtype && dtype != Py_None)
      if (Ref own = array; (array = asType(own.get(), dtype)).get() != own.get() && copy == Py_False)
        raise(PyExc_ValueError, "__array__(): a tensor of another dtype can't be shown without a copy");
    if (copy == Py_True)
      array = Ref(check(PyObject_CallMethod(array.get(), "copy", nullptr)));
    return array.take();
  });
}

bool addBufferType(PyObject *) {
  bufferObjectType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&bufferSpec));
  return bufferObjectType;
}

} // namespace torchc::py
