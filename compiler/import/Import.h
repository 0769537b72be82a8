// From a trace (views and writes) to the torchc dialect (values). The only place that turns one into the other.
#pragma once
#include "dialects/torchc/ValueBuilder.h"
#include "dialects/trace/Trace.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>

namespace torchc::compiler {

/// One result of the imported function: the whole content of a storage, row-major.
struct ImportedResult {
  uint32_t storage; // of the trace
  int32_t input;    // >= 0: the storage belongs to this input and its new content is written back; else new memory
};

struct Imported {
  /// Holds `func.func @main`: argument i is trace input i, result i is results[i].
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ImportedResult> results;
};

/// Imports a resolved, verified trace. `keepStrides`: new memory is laid out by the strides that the trace gives it, as the
/// JIT's tensors are; else row-major, as an artefact's. Node numbers and source lines become locations. Refuses with `diag` what has no
/// value semantics yet (writes through aliasing inputs, symbols), naming the node and its op.
std::optional<Imported> importTrace(const Trace &trace, mlir::MLIRContext *context, Diag &diag,
                                    bool keepStrides = false);

} // namespace torchc::compiler
