// Where a tensor value lies: a buffer seen through offset and strides. Views of the dialect cost nothing: they only change
// how their buffer is read.
#pragma once
#include "dialects/torchc/TorchcDialect.h"
#include <optional>

namespace torchc::schedule {

struct Access {
  mlir::Value base; // the value whose buffer is read
  int64_t offset = 0; // elements
  Dims dims, strides;
  int buffer = -1; // number of a buffer that holds a copy of the value; -1: the value's own

  bool contiguous() const;
};

/// Row-major strides of a shape.
Dims rowMajor(const Dims &dims);

/// How a view op reads its operand's access; none when only a copy can give the result (a reshape across strides).
std::optional<Access> viewAccess(mlir::Operation *view, const Access &operand);

/// The access of a view in an iteration space: missing leading and size-1 dimensions get stride 0.
Dims stridesIn(const Access &access, const Dims &space);

} // namespace torchc::schedule
