// torchc-opt: runs passes of the compiler on textual IR, for tests and for reading a compile.
#include "compiler/passes/Passes.h"
#include "dialects/torchc/TorchcDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<torchc::ir::TorchcDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect, mlir::memref::MemRefDialect, mlir::LLVM::LLVMDialect,
                  mlir::cf::ControlFlowDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  torchc::compiler::registerTorchcPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "torchc optimizer driver\n", registry));
}
