// Between Python objects and torchc's: a tensor's Python object lies at the head of its TensorImpl, so that wrapping
// writes a few words and identity is the address.
#pragma once
#define PY_SSIZE_T_CLEAN
#include "frontends/eager/Api.h"
#include "frontends/eager/JitHooks.h"
#include <Python.h>

namespace torchc::py {

extern PyTypeObject *tensorType, *dtypeType, *deviceType, *sizeType, *generatorType;

inline PyObject *objectOf(TensorImpl *t) { return reinterpret_cast<PyObject *>(&t->pyRefs); }
inline TensorImpl *implOf(PyObject *o) {
  return reinterpret_cast<TensorImpl *>(reinterpret_cast<char *>(o) - offsetof(TensorImpl, pyRefs));
}
static_assert(offsetof(TensorImpl, pyRefs) == 16, "PyGC_Head must fit in front");

inline bool isExactTensor(PyObject *o) { return Py_TYPE(o) == tensorType; }
inline bool isTensor(PyObject *o) { return isExactTensor(o) || PyType_IsSubtype(Py_TYPE(o), tensorType); }

/// The object of a tensor that already has one; takes the reference.
PyObject *wrapExisting(TensorImpl *t);
/// The tensor's Python object; takes the reference to `t`, returns a new one to the object.
inline PyObject *wrap(TensorImpl *t) {
  if (TORCHC_UNLIKELY(t->pyRefs > 0))
    return wrapExisting(t);
  PyObject *o = objectOf(t);
  t->gc[0] = t->gc[1] = 0; // untracked; tracked once it has a dict
  Py_SET_REFCNT(o, 1);
  Py_SET_TYPE(o, tensorType);
  Py_INCREF(tensorType);
  return o;
}
inline PyObject *wrap(Tensor t) { return wrap(t.take()); }
/// Makes a tensor without an object yet (owned) an object of class `cls`.
PyObject *wrapAs(PyTypeObject *cls, Tensor t);
/// None for an undefined tensor.
inline PyObject *wrapOptional(Tensor t) {
  if (!t.defined())
    Py_RETURN_NONE;
  return wrap(t.take());
}

/// A handle on a tensor that the caller keeps alive, without counting.
class Borrowed {
public:
  explicit Borrowed(TensorImpl *t) : tensor(t) {}
  explicit Borrowed(PyObject *o) : tensor(o ? implOf(o) : nullptr) {}
  Borrowed(const Borrowed &o) : tensor(o.tensor.impl()) {}
  ~Borrowed() {}
  operator const Tensor &() const { return tensor; }
  const Tensor &operator*() const { return tensor; }
  const Tensor *operator->() const { return &tensor; }

private:
  union {
    Tensor tensor; // never destroyed
  };
};

/// An owned reference to a Python object.
class Ref {
public:
  Ref() = default;
  explicit Ref(PyObject *o) : p(o) {}
  static Ref borrow(PyObject *o) {
    Py_XINCREF(o);
    return Ref(o);
  }
  Ref(const Ref &o) : p(o.p) { Py_XINCREF(p); }
  Ref(Ref &&o) noexcept : p(std::exchange(o.p, nullptr)) {}
  Ref &operator=(Ref o) noexcept {
    std::swap(p, o.p);
    return *this;
  }
  ~Ref() { Py_XDECREF(p); }
  PyObject *get() const { return p; }
  PyObject *take() { return std::exchange(p, nullptr); }
  explicit operator bool() const { return p; }

private:
  PyObject *p = nullptr;
};

/// A Python exception on its way through C++; holds it, so that it survives letting the GIL go.
class PythonError : public std::exception {
public:
  /// Takes the exception that is set. Needs the GIL.
  PythonError();
  PythonError(const PythonError &o);
  ~PythonError() override;
  void restore();
  const char *what() const noexcept override { return "a Python exception"; }

private:
  PyObject *type, *value, *traceback;
};
/// Throws the Python exception that is set if `o` is null.
inline PyObject *check(PyObject *o) {
  if (TORCHC_UNLIKELY(!o))
    throw PythonError();
  return o;
}
/// Sets `type(text)` and throws it.
[[noreturn]] void raise(PyObject *type, const std::string &text);
[[noreturn]] inline void typeError(const std::string &text) { raise(PyExc_TypeError, text); }
/// "int", "numpy.ndarray": what an object is, as messages show it.
std::string typeName(PyObject *o);

/// torchc.OutOfMemoryError; borrowed.
PyObject *outOfMemoryClass();
/// Turns the C++ exception in flight into Python's; the result of an override (Overrides.h) is returned instead.
PyObject *translate();
/// Runs f; an exception becomes Python's and the result `bad`.
template <class F> inline auto guarded(F &&f, decltype(f()) bad = {}) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    PyObject *result = translate();
    if constexpr (std::is_same_v<decltype(f()), PyObject *>)
      return result;
    Py_XDECREF(result);
    return bad;
  }
}

/// Ops on fewer elements keep the GIL (E5): letting it go costs 40 ns, and they don't start threads.
inline constexpr int64_t gilThreshold = 32768;
/// PyEval_RestoreThread and PyGILState_Ensure. Where Python is finalizing they end the thread by unwinding its stack,
/// which destructors must not see: such a thread sleeps instead until the process is gone, as in Python 3.14.
void takeGil(PyThreadState *state);
PyGILState_STATE ensureGil();
struct GilRelease {
  PyThreadState *state;
  GilRelease() : state(PyEval_SaveThread()) {}
  ~GilRelease() { takeGil(state); }
  GilRelease(const GilRelease &) = delete;
};
struct GilHold {
  PyGILState_STATE state;
  GilHold() : state(ensureGil()) {}
  ~GilHold() { PyGILState_Release(state); }
  GilHold(const GilHold &) = delete;
};
template <class F> inline auto withWork(int64_t elements, F &&f) -> decltype(f()) {
  if (TORCHC_LIKELY(elements < gilThreshold))
    return f();
  GilRelease release;
  return f();
}

PyObject *dtypeObject(DType t); // new reference
inline bool isDType(PyObject *o) { return Py_TYPE(o) == dtypeType; }
DType dtypeOfObject(PyObject *o);
PyObject *deviceObject(DeviceId d);
inline bool isDevice(PyObject *o) { return Py_TYPE(o) == deviceType; }
DeviceId deviceOfObject(PyObject *o);
PyObject *sizeObject(int rank, const int64_t *sizes);
PyObject *generatorObject(const Generator &g);
const Generator &generatorOfObject(PyObject *o);
/// An int of [-2^63, 2^64), modulo 2^64.
uint64_t seedArg(PyObject *o);
/// Seed and ordinal as 16 bytes (N9).
Tensor generatorState(const Generator &g);
void setGeneratorState(Generator &g, PyObject *state);

/// torchc.strided, contiguous_format and preserve_format: what every tensor has.
bool isDefaultLayout(PyObject *o);

/// A Python number as a Scalar: bool, int, float, complex, what has __index__ or __float__ (NumPy's), a 0-d tensor.
/// False: none of those. Throws for an int outside int64.
bool scalarOf(PyObject *o, Scalar &out);
/// A NumPy array: not a number, though it may convert to one.
bool isArray(PyObject *o);
inline bool isNumber(PyObject *o) {
  return PyFloat_Check(o) || PyLong_Check(o) ||
         (!isTensor(o) && Py_TYPE(o)->tp_as_number && !isArray(o) &&
          (Py_TYPE(o)->tp_as_number->nb_index || Py_TYPE(o)->tp_as_number->nb_float || PyComplex_Check(o)));
}
PyObject *numberObject(const Scalar &s);
/// A new tuple of tensors.
PyObject *tupleOf(const std::vector<Tensor> &tensors);

/// Calls `module.name(args...)` of the package, importing it when first used.
PyObject *callPackage(const char *module, const char *name, PyObject *const *args, Py_ssize_t n,
                      PyObject *kwnames = nullptr);

// Where each file adds its names to the module; false with an exception set.
bool addTypes(PyObject *module);
bool addTensor(PyObject *module);
bool addOps(PyObject *module);
bool addAutograd(PyObject *module);
bool addState(PyObject *module);
bool addJit(PyObject *module);
bool addExport(PyObject *module);
bool addOnnx(PyObject *module);
bool addStorage(PyObject *module);
bool addLapack(PyObject *module);
bool addCuda(PyObject *module);
bool addLibrary(PyObject *module);
bool addControl(PyObject *module);
bool addOverrides(PyObject *module);
bool addDispatch(PyObject *module);
/// Has the class a __torch_dispatch__ of its own?
bool dispatches(PyTypeObject *cls);
bool addAutocast(PyObject *module);

/// Method tables that Tensor is made of; of two entries with one name the earlier table's counts.
extern PyMethodDef tensorMethods[], tensorConversions[], tensorAutogradMethods[], tensorInplaceViews[], tensorFormats[];
extern const PyMethodDef *generatedMethods();
extern PyGetSetDef tensorProperties[];

/// repr() by the package's Python.
PyObject *reprSlot(PyObject *self);
PyObject *subscript(PyObject *self, PyObject *key);
int assignSubscript(PyObject *self, PyObject *key, PyObject *value);

} // namespace torchc::py
