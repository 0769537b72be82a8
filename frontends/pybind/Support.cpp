// Errors, numbers and calls into the package's Python side.
#include "frontends/eager/Index.h"
#include "frontends/pybind/Overrides.h"
#include <unistd.h>

namespace torchc::py {

[[noreturn]] static void sleepForever() {
  for (;;)
    pause();
}
void takeGil(PyThreadState *state) {
  try {
    PyEval_RestoreThread(state);
  } catch (...) { // pthread_exit's unwinding
    sleepForever();
  }
}
PyGILState_STATE ensureGil() {
  try {
    return PyGILState_Ensure();
  } catch (...) {
    sleepForever();
  }
}

PythonError::PythonError() { PyErr_Fetch(&type, &value, &traceback); }
PythonError::PythonError(const PythonError &o)
    : std::exception(o), type(o.type), value(o.value), traceback(o.traceback) {
  GilHold gil;
  Py_XINCREF(type);
  Py_XINCREF(value);
  Py_XINCREF(traceback);
}
PythonError::~PythonError() {
  if (!type)
    return;
  GilHold gil;
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}
void PythonError::restore() {
  PyErr_Restore(type, value, traceback);
  type = value = traceback = nullptr;
}

/// Messages may quote bytes of files that aren't UTF-8.
static void setError(PyObject *type, std::string_view text) {
  if (Ref message(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace")); message)
    PyErr_SetObject(type, message.get());
}

void raise(PyObject *type, const std::string &text) {
  setError(type, text);
  throw PythonError();
}

std::string typeName(PyObject *o) {
  std::string_view name = Py_TYPE(o)->tp_name;
  if (isExactTensor(o))
    return "Tensor";
  return std::string(name);
}

/// PyTorch raises RuntimeError where memory runs out; Python's programs expect MemoryError.
PyObject *outOfMemoryClass() {
  static PyObject *made = [] {
    Ref bases(PyTuple_Pack(2, PyExc_RuntimeError, PyExc_MemoryError));
    return PyErr_NewExceptionWithDoc("torchc.OutOfMemoryError", "Memory for a tensor could not be had.", bases.get(),
                                     nullptr);
  }();
  return made;
}

static PyObject *classOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Type: return PyExc_TypeError;
  case ErrorKind::Value: return PyExc_ValueError;
  case ErrorKind::Index: return PyExc_IndexError;
  case ErrorKind::NotImplemented: return PyExc_NotImplementedError;
  case ErrorKind::Memory: return outOfMemoryClass();
  case ErrorKind::OS: return PyExc_OSError;
  default: return PyExc_RuntimeError;
  }
}

PyObject *translate() {
  try {
    throw;
  } catch (Overridden &o) {
    return o.result.take();
  } catch (PythonError &e) {
    e.restore();
  } catch (const Error &e) {
    setError(classOf(e.kind()), e.what());
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &e) {
    setError(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

bool isArray(PyObject *o) {
  for (PyTypeObject *t = Py_TYPE(o); t; t = t->tp_base)
    if (std::string_view(t->tp_name) == "numpy.ndarray")
      return true;
  return false;
}

static Scalar intScalar(PyObject *o) {
  int overflow;
  long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (v == -1 && !overflow && PyErr_Occurred())
    throw PythonError();
  if (!overflow)
    return Scalar(int64_t(v));
  unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
  if (overflow < 0 || (wide == ULLONG_MAX && PyErr_Occurred())) {
    PyErr_Clear();
    fail("value cannot be converted to type int64_t without overflow");
  }
  return Scalar::wideInteger(wide);
}

static Scalar complexScalar(PyObject *o) {
  Py_complex c = PyComplex_AsCComplex(o);
  if (c.real == -1 && PyErr_Occurred())
    throw PythonError();
  return Scalar::complex(c.real, c.imag);
}

bool scalarOf(PyObject *o, Scalar &out) {
  if (PyFloat_Check(o))
    out = Scalar(PyFloat_AS_DOUBLE(o));
  else if (PyBool_Check(o))
    out = Scalar(o == Py_True);
  else if (PyLong_Check(o))
    out = intScalar(o);
  else if (isTensor(o)) {
    if (implOf(o)->numel != 1)
      return false;
    out = item(Borrowed(o));
  } else if (PyComplex_Check(o))
    out = complexScalar(o);
  else if (PyIndex_Check(o)) {
    Ref index(check(PyNumber_Index(o)));
    out = PyBool_Check(index.get()) ? Scalar(index.get() == Py_True) : intScalar(index.get());
  } else if (std::string_view(Py_TYPE(o)->tp_name).starts_with("numpy.complex"))
    out = complexScalar(o);
  else if (Py_TYPE(o)->tp_as_number && Py_TYPE(o)->tp_as_number->nb_float) {
    double v = PyFloat_AsDouble(o);
    if (v == -1 && PyErr_Occurred())
      throw PythonError();
    std::string_view name = Py_TYPE(o)->tp_name;
    out = name == "numpy.bool_" || name == "numpy.bool" ? Scalar(v != 0) : Scalar(v);
  } else
    return false;
  return true;
}

PyObject *numberObject(const Scalar &s) {
  if (s.isComplex())
    return PyComplex_FromDoubles(s.real(), s.imag());
  if (s.isFloat())
    return PyFloat_FromDouble(s.toDouble());
  return s.isBool()   ? PyBool_FromLong(s.toInt())
         : s.isWide() ? PyLong_FromUnsignedLongLong(s.bits())
                      : PyLong_FromLongLong(s.toInt());
}

PyObject *tupleOf(const std::vector<Tensor> &tensors) {
  Ref t(check(PyTuple_New(Py_ssize_t(tensors.size()))));
  for (size_t i = 0; i < tensors.size(); i++)
    PyTuple_SET_ITEM(t.get(), Py_ssize_t(i), wrapOptional(tensors[i]));
  return t.take();
}

PyObject *callPackage(const char *module, const char *name, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
  Ref m(PyImport_ImportModule(module));
  if (!m)
    return nullptr;
  Ref f(PyObject_GetAttrString(m.get(), name));
  return f ? PyObject_Vectorcall(f.get(), args, size_t(n), kwnames) : nullptr;
}

} // namespace torchc::py
