#include "compiler/codegen/Ptx.h"
#include "compiler/codegen/Emit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

namespace torchc::codegen {

const TargetInfo &ptxTarget() {
  static const TargetInfo info{Isa::None, "ptx", "nvptx64-nvidia-cuda", "sm_80", "+ptx80", 64, false};
  return info;
}

static TargetMachine *machine(Diag &diag) {
  static std::unique_ptr<TargetMachine> m;
  if (m)
    return m.get();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const TargetInfo &info = ptxTarget();
  Triple triple(info.triple);
  std::string error;
  const llvm::Target *t = TargetRegistry::lookupTarget(triple, error);
  if (!t) {
    diag.fail(ErrorKind::NotImplemented, "no code generator for PTX: " + error);
    return nullptr;
  }
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict; // N2: prints add.rn and mul.rn, which ptxas doesn't contract either
  m.reset(t->createTargetMachine(triple, info.cpu, info.features, options, std::nullopt, std::nullopt,
                                 CodeGenOptLevel::Default));
  return m.get();
}

bool emitPtx(mlir::ModuleOp module, SmallVectorImpl<char> &out, Diag &diag) {
  TargetMachine *tm = machine(diag);
  if (!tm || !lowerToLLVMDialect(module, /*verify=*/false, diag))
    return false;
  LLVMContext context;
  auto m = translate(module, context, EmitOptions(), diag);
  if (!m)
    return false;
  m->setDataLayout(tm->createDataLayout());
  m->setTargetTriple(tm->getTargetTriple());
  for (Function &f : *m)
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", ptxTarget().cpu);
      f.addFnAttr("no-builtins");
    }
  optimize(*m, *tm, /*hoist=*/false);
  raw_svector_ostream os(out);
  legacy::PassManager pm;
  if (tm->addPassesToEmitFile(pm, os, nullptr, CodeGenFileType::AssemblyFile))
    return diag.fail(ErrorKind::Internal, "the target cannot print PTX");
  pm.run(*m);
  return true;
}

} // namespace torchc::codegen
