// torchc._C.
#include "frontends/pybind/PyTensor.h"
#include "runtime/core/knobs.h"
#include "runtime/kernels/Pack.h"

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torchc._C", "torchc's extension module: tensors, ops, the tape.", -1,
                          nullptr};

/// A setting that wasn't followed, and a processor without kernels, are said at once rather than at the first op.
bool warnOfSettings() {
  for (const char *problem : {torchc::knobs().problem, torchc::packProblem()})
    if (problem && PyErr_WarnEx(PyExc_RuntimeWarning, problem, 1) < 0)
      return false;
  return true;
}

} // namespace

extern "C" __attribute__((visibility("default"))) PyObject *PyInit__C() {
  using namespace torchc::py;
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return nullptr;
  // State before ops: of two functions with one name the op table's counts.
  if (guarded([&] {
        return warnOfSettings() && addTypes(module) && addTensor(module) && addState(module) && addAutograd(module) &&
               addOps(module) && addJit(module) && addExport(module) && addOnnx(module) && addStorage(module) &&
               addLapack(module) && addCuda(module) && addLibrary(module) && addControl(module) &&
               addOverrides(module) && addDispatch(module) && addAutocast(module) &&
               PyModule_AddObjectRef(module, "OutOfMemoryError", outOfMemoryClass()) == 0;
      }))
    return module;
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_ImportError, "torchc._C could not be initialised");
  Py_DECREF(module);
  return nullptr;
}
