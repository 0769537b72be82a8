// From a module of device kernels to PTX text: NVPTX with a lean pass list. Alone in its file, so that programs that emit no
// PTX don't carry the code generator.
#pragma once
#include "compiler/codegen/Target.h"
#include "dialects/rules/Diag.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace torchc::codegen {

/// sm_80, the oldest architecture that has every instruction asked for (max.NaN); later ones run the same text.
const TargetInfo &ptxTarget();

/// Lowers `module` in place and writes its PTX to `out`. False, with a text in `diag`, on failure.
bool emitPtx(mlir::ModuleOp module, llvm::SmallVectorImpl<char> &out, Diag &diag);

} // namespace torchc::codegen
