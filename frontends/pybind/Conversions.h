// Tensors from and to foreign memory and Python data.
#pragma once
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {

/// What a Python buffer holds.
struct BufferType {
  DType dtype;
  bool known = false;
};
/// Reads a struct-module format such as "<f"; `known` is false for types that torchc has not.
BufferType bufferType(const char *format, Py_ssize_t itemSize);
/// Has `o` a buffer of elements (an array, a NumPy scalar), rather than of text?
bool hasBuffer(PyObject *o);

/// The values of a tensor are about to leave: computes a pending tensor and notes the observation (J3).
void observe(TensorImpl *t);
/// Before memory is handed to another library: what reads it is computed, and it is marked as shared.
void expose(TensorImpl *t);
/// A tensor on foreign memory that `owner` keeps alive; strides in elements.
Tensor foreignTensor(void *data, DType dtype, const Dims &sizes, const Dims &strides, PyObject *owner);
/// Shares the memory of an object with a buffer; strides must not be negative.
Tensor tensorOfBuffer(PyObject *array, bool warnReadOnly);
/// An array beside a tensor: on its memory, or a copy where no tensor has the layout.
Tensor tensorOfOperand(PyObject *array);

/// memory_format=.
enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
/// Type error unless a torchc.memory_format.
MemoryFormat memoryFormatArg(PyObject *o);
/// Tensor.to without memory_format.
PyObject *toMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw);

PyObject *dlpackMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw);
PyObject *dlpackDevice(PyObject *self, PyObject *);
PyObject *fromDlpack(PyObject *, PyObject *o);
/// Numbers of a tensor as nested lists.
PyObject *toList(const Tensor &t);

/// `with device:` of this thread.
PyObject *enterDevice(PyObject *device, PyObject *);
PyObject *exitDevice(PyObject *device, PyObject *);
bool addDefaultDevice(PyObject *module);

bool addBufferType(PyObject *module);
PyObject *numpyMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw);
PyObject *arrayMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw);

} // namespace torchc::py
