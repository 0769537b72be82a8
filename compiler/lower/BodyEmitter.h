// Scalar bodies of the op table (dialects/rules/Body.h) as operations on scalars or vectors.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/Body.h"
#include "dialects/rules/Diag.h"

namespace torchc::lower {

/// Emits `body` for several vectors of `lanes` lanes in step (node by node, so that dependent chains of one vector overlap with the
/// others'). `args[k][u]` is operand k of vector u, of type `compute`; `index[u]` the linear index (i64), empty when
/// the body has no Index node. Returns one value per vector: of type `compute`, or i1 for comparisons. Empty, with a
/// text in `diag`, when the body is malformed or uses what `compute` lacks. Division of integers needs `traps`, which
/// receives where it divided by zero, one i1 value per division and vector.
Values emitBody(KernelBuilder &b, const Body &body, DType compute, llvm::ArrayRef<Values> args, ValueRange index,
                unsigned lanes, unsigned vectors, Diag &diag, Values *traps = nullptr);

/// max and min by N7 for floats and integers of type `t`.
Value emitMax(KernelBuilder &b, Value x, Value y, DType t);
Value emitMin(KernelBuilder &b, Value x, Value y, DType t);

} // namespace torchc::lower
