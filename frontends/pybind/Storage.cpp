// A tensor's storage as a whole, for checkpoints, and views by sizes and strides into it; memory of Python buffers.
#include "frontends/pybind/Conversions.h"
#include "runtime/core/Layout.h"
#include <limits>

namespace torchc::py {
namespace {

TensorImpl *cpuTensor(PyObject *o, const char *function) {
  TensorImpl *t = isTensor(o) ? implOf(o) : nullptr;
  if (!t || !t->storage || t->device)
    typeError(std::string(function) + "(): expected a CPU tensor, got " + typeName(o));
  observe(t);
  return t;
}

/// _storage_info(tensor): (a number that equal storages share while they live, its bytes).
PyObject *storageInfo(PyObject *, PyObject *o) {
  return guarded([&] {
    TensorImpl *t = cpuTensor(o, "_storage_info");
    return check(Py_BuildValue("(KL)", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(t->storage)),
                               static_cast<long long>(t->storage->nbytes)));
  });
}

/// _storage_bytes(tensor): a copy of the whole storage.
PyObject *storageBytes(PyObject *, PyObject *o) {
  return guarded([&] {
    Storage *s = cpuTensor(o, "_storage_bytes")->storage;
    return check(PyBytes_FromStringAndSize(s->data, s->nbytes));
  });
}

Dims dimsOf(PyObject *tuple) {
  if (PyTuple_GET_SIZE(tuple) > maxRank)
    raise(PyExc_ValueError, "_storage_view(): more than " + std::to_string(maxRank) + " dimensions");
  Dims dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    long long n = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    if (n == -1 && PyErr_Occurred())
      throw PythonError();
    if (n < 0)
      raise(PyExc_ValueError, "_storage_view(): a size or stride is negative: " + std::to_string(n));
    dims.push(n);
  }
  return dims;
}

/// Elements from the first to the last one of the view, both included; 0 for an empty one, -1 when it overflows.
int64_t extentOf(const Dims &sizes, const Dims &strides) {
  int64_t low, high;
  if (!offsetRange(sizes.size(), sizes.data(), strides.data(), low, high))
    return -1;
  return high == std::numeric_limits<int64_t>::max() ? -1 : high + 1;
}

/// _storage_view(tensor, dtype, offset, sizes, strides): another tensor on the same storage, offset in elements of the
/// dtype from the storage's begin. No autograd. Raises RuntimeError for what lies outside of the storage.
PyObject *storageView(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *base, *type, *sizeTuple, *strideTuple;
    long long offset;
    if (!PyArg_ParseTuple(args, "OOLO!O!", &base, &type, &offset, &PyTuple_Type, &sizeTuple, &PyTuple_Type,
                          &strideTuple))
      throw PythonError();
    if (!isDType(type))
      typeError("_storage_view(): expected a dtype, got " + typeName(type));
    Storage *s = cpuTensor(base, "_storage_view")->storage;
    DType dtype = dtypeOfObject(type);
    Dims sizes = dimsOf(sizeTuple), strides = dimsOf(strideTuple);
    if (sizes.size() != strides.size())
      raise(PyExc_ValueError, "_storage_view(): " + std::to_string(sizes.size()) + " sizes and " +
                                  std::to_string(strides.size()) + " strides");
    int64_t extent = extentOf(sizes, strides), item = itemSize(dtype);
    if (extent < 0 || offset < 0 || extent > s->nbytes / item || offset > s->nbytes / item - extent)
      raise(PyExc_RuntimeError, "a view of " + std::to_string(extent) + " elements of " +
                                    std::string(torchName(dtype)) + " at offset " + std::to_string(offset) +
                                    " is out of bounds for storage of size " + std::to_string(s->nbytes));
    if (reinterpret_cast<uintptr_t>(s->data) % size_t(item))
      raise(PyExc_RuntimeError, "_storage_view(): the storage isn't aligned for " + std::string(torchName(dtype)));
    Tensor t(newShell(dtype, sizes.size(), sizes.data(), strides.data()));
    s->refs.increment();
    t->storage = s;
    t->data = s->data + offset * item;
    return wrap(std::move(t));
  });
}

/// _from_buffer(buffer, dtype, offset, count): a 1-d tensor on the buffer's memory, offset in bytes; keeps it alive.
PyObject *fromBuffer(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *object, *type;
    long long offset, count;
    if (!PyArg_ParseTuple(args, "OOLL", &object, &type, &offset, &count))
      throw PythonError();
    if (!isDType(type))
      typeError("_from_buffer(): expected a dtype, got " + typeName(type));
    Ref owner(check(PyMemoryView_FromObject(object)));
    Py_buffer *view = PyMemoryView_GET_BUFFER(owner.get());
    DType dtype = dtypeOfObject(type);
    int64_t item = itemSize(dtype);
    if (!PyBuffer_IsContiguous(view, 'C') || offset < 0 || count < 0 || offset > view->len ||
        count > (view->len - offset) / item)
      raise(PyExc_ValueError, std::to_string(count) + " elements of " + std::string(torchName(dtype)) + " at byte " +
                                  std::to_string(offset) + " don't lie in a buffer of " + std::to_string(view->len) +
                                  " bytes");
    char *data = static_cast<char *>(view->buf) + offset;
    if (reinterpret_cast<uintptr_t>(data) % size_t(item)) { // kernels expect aligned elements
      Tensor copy(newTensor(dtype, Dims({count})));
      if (count)
        std::memcpy(copy->data, data, size_t(count * item));
      return wrap(std::move(copy));
    }
    return wrap(foreignTensor(data, dtype, Dims({count}), Dims({1}), owner.get()));
  });
}

PyMethodDef functions[] = {
    {"_storage_info", storageInfo, METH_O, "(identity, bytes) of a CPU tensor's storage."},
    {"_storage_bytes", storageBytes, METH_O, "A copy of a CPU tensor's whole storage."},
    {"_storage_view", storageView, METH_VARARGS, "(tensor, dtype, offset, sizes, strides): a view into its storage."},
    {"_from_buffer", fromBuffer, METH_VARARGS, "(buffer, dtype, offset, count): a 1-d tensor on its memory."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

bool addStorage(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
