// Python's view of the tape.
#pragma once
#include "frontends/autograd/Node.h"
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {

/// A grad_fn: an object whose class is named after the operation; retains the node. Equal for one node.
PyObject *nodeObject(Node *n);
/// torchc.strided, new reference.
PyObject *stridedLayout();

} // namespace torchc::py
