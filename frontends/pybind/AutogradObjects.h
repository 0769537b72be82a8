// Python's view of the tape.
#pragma once
#include "frontends/autograd/Node.h"
#include "frontends/pybind/PyTensor.h"
#include <memory>

namespace torchc::py {

/// A grad_fn: an object whose class is named after the operation; retains the node. Equal for one node.
PyObject *nodeObject(Node *n);
/// grad_fn.metadata, made when first asked for; borrowed.
PyObject *metadataOf(Node *n);
/// The `ctx` of a custom function's node, else null; borrowed.
PyObject *functionContext(Node *n);

/// A Python callable that C++ may copy and drop without the GIL.
struct Callable {
  explicit Callable(PyObject *f) : f(Py_NewRef(f)) {}
  Callable(const Callable &) = delete;
  ~Callable();
  PyObject *f;
};
/// Type error unless callable.
std::shared_ptr<Callable> callableOf(PyObject *f);
/// The object with remove(); new reference.
PyObject *handleObject(HookHandle hook);

bool addGradFn(PyObject *module);
bool addFunction(PyObject *module);

/// torchc.strided, new reference.
PyObject *stridedLayout();

} // namespace torchc::py
