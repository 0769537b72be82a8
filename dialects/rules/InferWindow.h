// Result types of convolutions and pools.
#pragma once
#include "dialects/rules/Infer.h"

namespace torchc {

/// Convolution, its gradients and pools: `in` are the operands, all tensors; attributes in the record's order. Names the
/// op and what was expected when it refuses.
bool inferWindow(const OpInfo &info, const OperandType *in, const Attr *attrs, TensorType &out, Diag &diag);

} // namespace torchc
