// MLIR side: scf -> cf, then arith, vector and cf -> LLVM dialect, then LLVM IR.
#include "compiler/codegen/Emit.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace torchc::codegen {

MLIRContext &context() {
  // Never destroyed: compiler processes end by _exit, and threads may still hold uniqued types.
  static MLIRContext *ctx = [] {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, scf::SCFDialect, ub::UBDialect,
                    vector::VectorDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    auto *c = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    c->loadAllAvailableDialects();
    return c;
  }();
  return *ctx;
}

namespace {
/// Collects MLIR diagnostics into a Diag.
struct Collect : ScopedDiagnosticHandler {
  std::string text;
  Collect(MLIRContext *ctx) : ScopedDiagnosticHandler(ctx) {
    setHandler([this](Diagnostic &d) {
      text += text.empty() ? d.str() : "; " + d.str();
      return success();
    });
  }
};

/// Pattern sets are built once: populating them costs more than converting a small kernel.
struct Patterns {
  LLVMTypeConverter converter;
  FrozenRewritePatternSet scfToCf, toLLVM;

  static LowerToLLVMOptions options(MLIRContext *ctx) { return LowerToLLVMOptions(ctx); }
  Patterns(MLIRContext *ctx) : converter(ctx, options(ctx)) {
    RewritePatternSet loops(ctx), rest(ctx);
    populateSCFToControlFlowConversionPatterns(loops);
    scfToCf = FrozenRewritePatternSet(std::move(loops));
    arith::populateArithToLLVMConversionPatterns(converter, rest);
    cf::populateControlFlowToLLVMConversionPatterns(converter, rest);
    populateVectorToLLVMConversionPatterns(converter, rest);
    toLLVM = FrozenRewritePatternSet(std::move(rest));
  }
};
} // namespace

static const Patterns &patterns() {
  static Patterns *p = new Patterns(&context());
  return *p;
}

bool lowerToLLVMDialect(ModuleOp module, bool verifyEach, Diag &diag) {
  Collect collect(&context());
  auto failWith = [&](const char *step) {
    return diag.fail(ErrorKind::Internal, std::string(step) + " failed: " + collect.text);
  };
  if (verifyEach && failed(mlir::verify(module)))
    return failWith("verification of the loops stage");
  ConversionTarget loops(context());
  loops.addIllegalDialect<scf::SCFDialect>();
  loops.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, loops, patterns().scfToCf)))
    return failWith("conversion of scf to cf");
  LLVMConversionTarget target(context());
  target.addIllegalDialect<arith::ArithDialect, vector::VectorDialect, cf::ControlFlowDialect>();
  if (failed(applyPartialConversion(module, target, patterns().toLLVM)))
    return failWith("conversion to the LLVM dialect");
  if (verifyEach && failed(mlir::verify(module)))
    return failWith("verification of the llvm stage");
  return true;
}

std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::LLVMContext &llvmContext, const EmitOptions &options,
                                        Diag &diag) {
  Collect collect(&context());
  auto result = translateModuleToLLVMIR(module, llvmContext, "torchc", !options.verify);
  if (!result)
    diag.fail(ErrorKind::Internal, "translation to LLVM IR failed: " + collect.text);
  return result;
}

} // namespace torchc::codegen
