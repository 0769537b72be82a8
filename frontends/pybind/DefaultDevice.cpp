// Where functions that make tensors make them: torch.set_default_device and `with torch.device(...)`, for each thread.
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"

namespace torchc::py {
namespace {

/// The thread's own default, below the contexts that are open.
struct Defaults {
  DeviceId own;
  std::vector<DeviceId> open;
};
thread_local Defaults defaults;

DeviceId current() { return defaults.open.empty() ? defaults.own : defaults.open.back(); }
/// Makes the current one known to newDeviceArg.
void apply() {
  ThreadModes m = threadState.modes;
  m.deviceKind = uint8_t(current().kind);
  m.deviceIndex = current().index;
  setModes(m);
}

PyObject *getDefault(PyObject *, PyObject *) { return deviceObject(current()); }
PyObject *setDefault(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    if (o != Py_None && !isDevice(o) && !PyUnicode_Check(o) && !PyLong_Check(o))
      typeError("set_default_device(): argument 'device' must be torchc.device, str, int or None, not " + typeName(o));
    defaults.own = o == Py_None ? DeviceId{} : deviceArg(o);
    apply();
    Py_RETURN_NONE;
  });
}
PyObject *chosen(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    std::optional<DeviceId> d = newDeviceArg(nullptr);
    if (!d)
      Py_RETURN_NONE;
    return deviceObject(*d);
  });
}

PyMethodDef functions[] = {
    {"get_default_device", getDefault, METH_NOARGS,
     "get_default_device()\n--\n\nWhere this thread's new tensors are made unless device= says otherwise."},
    {"set_default_device", setDefault, METH_O,
     "set_default_device(device, /)\n--\n\nWhere this thread's new tensors are made unless device= says otherwise; "
     "None: "
     "the CPU."},
    {"_new_device", chosen, METH_NOARGS, "The default device; None: the CPU."},
    {}};

} // namespace

PyObject *enterDevice(PyObject *device, PyObject *) {
  return guarded([&] {
    defaults.open.push_back(deviceOfObject(device));
    apply();
    return Py_NewRef(device);
  });
}
PyObject *exitDevice(PyObject *, PyObject *) {
  if (!defaults.open.empty())
    defaults.open.pop_back();
  apply();
  Py_RETURN_FALSE;
}
bool addDefaultDevice(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
