// __torch_function__: calls that a subclass of Tensor, another class or a mode takes. Functions ask in bind(), methods,
// properties and slots of Tensor before they run; plain tensors without a mode cost one test.
#pragma once
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {

/// What an override returned, on its way out of the function that was called.
struct Overridden {
  Ref result;
};

/// Does this thread have a mode that sees every call?
inline bool functionModeActive() {
  return TORCHC_UNLIKELY(threadState.modes.flags & FlagFunctionMode) && !(threadState.modes.flags & FlagNoFunctions);
}
/// Need calls of a method of `self` a closer look?
inline bool mayOverride(PyObject *self) { return !isExactTensor(self) || functionModeActive(); }
/// Of the classes that most arguments have, which override nothing?
inline bool isPlainArgument(PyObject *o) {
  return isExactTensor(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) || Py_TYPE(o) == &PySlice_Type;
}

/// A call as overrides get it: the positional arguments are self (null: none) and `args`, then one per name.
struct OverrideCall {
  PyObject *self, *const *args;
  Py_ssize_t n;
  PyObject *kwnames;
};
/// Collects the arguments whose class overrides functions, subclasses first. Lists and tuples are looked through.
class Overrides {
public:
  explicit Overrides(const OverrideCall &call);
  /// Does anybody take the call?
  explicit operator bool() const { return !found.empty() || functionModeActive(); }
  /// What they return for `function`; null with an exception set.
  PyObject *run(PyObject *function) const;

private:
  void add(PyObject *o);
  const OverrideCall &call;
  std::vector<PyObject *> found;
};

/// A call of Tensor's attribute `name`. Nothing: nobody takes it; null: an exception is set.
std::optional<PyObject *> overrideMethod(const char *name, const OverrideCall &call);
/// The same for `Tensor.name.__get__` or `__set__`.
std::optional<PyObject *> overrideProperty(const char *name, const char *part, const OverrideCall &call);
/// The same within bind(): throws Overridden. Functions are attributes of `owner`, a module or the type Tensor.
void overrideBound(PyObject *owner, const char *name, const OverrideCall &call);

/// Entries of hand-written tables, so that they ask first.
PyMethodDef overridable(const PyMethodDef &method);
PyGetSetDef overridable(PyGetSetDef &property);

/// Methods of the class for __torch_function__.
PyObject *defaultTorchFunction(PyObject *cls, PyObject *args, PyObject *kwargs);

} // namespace torchc::py
