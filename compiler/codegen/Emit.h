// From a module of kernels (llvm.func with arith, vector, scf and llvm operations) to an object, assembly or LLVM text.
#pragma once
#include "compiler/codegen/Target.h"
#include "dialects/rules/Diag.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace torchc::codegen {

/// The one MLIR context of a compiler process, with the dialects code generation needs. Not thread safe.
mlir::MLIRContext &context();

enum class OutputKind : uint8_t { Object, Assembly, LLVMText };

struct EmitOptions {
  const TargetInfo *target = &targetInfo(Isa::V3);
  OutputKind kind = OutputKind::Object;
  bool verify = false; // run the MLIR and LLVM verifiers between the steps
  /// Undefined symbols an object may ask for; any other is refused (a library call would break exactness and A4).
  llvm::ArrayRef<llvm::StringRef> allowUndefined = {};
};

/// Wall-clock milliseconds of one compilation.
struct EmitTimes {
  double lower = 0, translate = 0, optimize = 0, codegen = 0;
};

/// Lowers scf, cf, arith and vector in `module` to the LLVM dialect, in place.
bool lowerToLLVMDialect(mlir::ModuleOp module, bool verify, Diag &diag);

/// Translates a module of the LLVM dialect; null and a text in `diag` on failure.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &llvmContext,
                                        const EmitOptions &options, Diag &diag);

/// The lean pass list: the kernels come nearly as they should be. `hoist`: with loads and address arithmetic moved out of
/// loops.
void optimize(llvm::Module &module, llvm::TargetMachine &tm, bool hoist);

/// Runs that list and writes `options.kind` to `out`.
bool emitModule(llvm::Module &module, const EmitOptions &options, llvm::SmallVectorImpl<char> &out, Diag &diag,
                EmitTimes *times = nullptr);

/// All of the above on a module of kernels, which is consumed (lowered in place).
bool emit(mlir::ModuleOp module, const EmitOptions &options, llvm::SmallVectorImpl<char> &out, Diag &diag,
          EmitTimes *times = nullptr);

/// Fails when the object has an undefined symbol outside `allow`, naming it.
bool checkUndefined(llvm::StringRef object, llvm::ArrayRef<llvm::StringRef> allow, Diag &diag);

} // namespace torchc::codegen
