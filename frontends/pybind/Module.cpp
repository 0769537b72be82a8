// torchc._C.
#include "frontends/pybind/PyTensor.h"

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torchc._C", "torchc's extension module: tensors, ops, the tape.", -1,
                          nullptr};

} // namespace

extern "C" __attribute__((visibility("default"))) PyObject *PyInit__C() {
  using namespace torchc::py;
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return nullptr;
  // State before ops: of two functions with one name the op table's counts.
  if (guarded([&] {
        return addTypes(module) && addTensor(module) && addState(module) && addAutograd(module) && addOps(module) &&
               addJit(module) && addExport(module);
      }))
    return module;
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_ImportError, "torchc._C could not be initialised");
  Py_DECREF(module);
  return nullptr;
}
