// Tensor's operators as type slots.
#pragma once
#include "frontends/eager/Modes.h"
#include "frontends/pybind/PyTensor.h"
#include <vector>

namespace torchc::py {

void addOperatorSlots(std::vector<PyType_Slot> &slots);

/// What torchc.tensor(data, dtype) gives: a new leaf from numbers, nested sequences, buffers or tensors.
Tensor tensorFromData(PyObject *data, std::optional<DType> dtype);
inline std::optional<DType> defaultFloatType() { return defaultDType(); }

} // namespace torchc::py
