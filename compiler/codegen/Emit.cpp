// LLVM side: the lean pass list, the target machine, object checks.
#include "compiler/codegen/Emit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <chrono>

using namespace llvm;

#define TORCHC_LLVM_TARGET(X)                                                                                          \
  extern "C" void LLVMInitialize##X##TargetInfo();                                                                     \
  extern "C" void LLVMInitialize##X##Target();                                                                         \
  extern "C" void LLVMInitialize##X##TargetMC();                                                                       \
  extern "C" void LLVMInitialize##X##AsmPrinter();                                                                     \
  static void initialize##X() {                                                                                        \
    LLVMInitialize##X##TargetInfo();                                                                                   \
    LLVMInitialize##X##Target();                                                                                       \
    LLVMInitialize##X##TargetMC();                                                                                     \
    LLVMInitialize##X##AsmPrinter();                                                                                   \
  }
TORCHC_LLVM_TARGET(X86)
TORCHC_LLVM_TARGET(AArch64)

namespace torchc::codegen {

static double nowMs() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

static TargetMachine *machine(const TargetInfo &info, Diag &diag) {
  static std::unique_ptr<TargetMachine> cache[unsigned(Isa::A64) + 1];
  auto &m = cache[unsigned(info.isa)];
  if (m)
    return m.get();
  info.isa == Isa::A64 ? initializeAArch64() : initializeX86();
  Triple triple(info.triple);
  std::string error;
  const llvm::Target *t = TargetRegistry::lookupTarget(triple, error);
  if (!t) {
    diag.fail(ErrorKind::NotImplemented, "no code generator for " + info.triple.str() + ": " + error);
    return nullptr;
  }
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict; // N2: only a named FMA is one
  m.reset(t->createTargetMachine(triple, info.cpu, info.features, options, Reloc::PIC_, CodeModel::Small,
                                 CodeGenOptLevel::Default));
  return m.get();
}

static void setAttributes(Module &module, const TargetInfo &info) {
  for (Function &f : module) {
    f.addFnAttr(Attribute::NoUnwind);
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", info.cpu);
    if (!info.features.empty())
      f.addFnAttr("target-features", info.features);
    // The scheduler's model of v4 prefers 256 bits; the rules' chains are laid out for 512.
    f.addFnAttr("prefer-vector-width", std::to_string(info.vectorBits));
    f.addFnAttr("no-builtins");
  }
}

void optimize(Module &module, TargetMachine &tm, bool hoist) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cam;
  ModuleAnalysisManager mam;
  PassBuilder pb(&tm);
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cam, mam);
  FunctionPassManager fpm;
  fpm.addPass(EarlyCSEPass());
  fpm.addPass(SimplifyCFGPass());
  if (hoist)
    fpm.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  fpm.addPass(InstCombinePass());
  fpm.addPass(SimplifyCFGPass());
  ModulePassManager mpm;
  mpm.addPass(createModuleToFunctionPassAdaptor(std::move(fpm)));
  mpm.run(module, mam);
}

bool checkUndefined(StringRef object, ArrayRef<StringRef> allow, Diag &diag) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "object"));
  if (!file)
    return diag.fail(ErrorKind::Internal, "unreadable object: " + toString(file.takeError()));
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name)
      return diag.fail(ErrorKind::Internal, "unreadable symbol table");
    if (!(*flags & object::SymbolRef::SF_Undefined) || name->empty() || is_contained(allow, *name))
      continue;
    return diag.fail(ErrorKind::Internal, "generated code asks for '" + name->str() + "', which no kernel may call");
  }
  return true;
}

bool emitModule(Module &module, const EmitOptions &options, SmallVectorImpl<char> &out, Diag &diag, EmitTimes *times) {
  TargetMachine *tm = machine(*options.target, diag);
  if (!tm)
    return false;
  module.setDataLayout(tm->createDataLayout());
  module.setTargetTriple(tm->getTargetTriple());
  setAttributes(module, *options.target);
  double start = nowMs();
  optimize(module, *tm, /*hoist=*/true);
  double optimized = nowMs();
  raw_svector_ostream os(out);
  if (options.kind == OutputKind::LLVMText) {
    module.print(os, nullptr);
    return true;
  }
  legacy::PassManager pm;
  auto fileType = options.kind == OutputKind::Assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
  if (tm->addPassesToEmitFile(pm, os, nullptr, fileType, !options.verify))
    return diag.fail(ErrorKind::Internal, "the target cannot emit this kind of file");
  pm.run(module);
  if (times) {
    times->optimize += optimized - start;
    times->codegen += nowMs() - optimized;
  }
  return options.kind != OutputKind::Object ||
         checkUndefined(StringRef(out.data(), out.size()), options.allowUndefined, diag);
}

bool emit(mlir::ModuleOp module, const EmitOptions &options, SmallVectorImpl<char> &out, Diag &diag, EmitTimes *times) {
  double start = nowMs();
  if (!lowerToLLVMDialect(module, options.verify, diag))
    return false;
  double lowered = nowMs();
  LLVMContext llvmContext;
  auto llvmModule = translate(module, llvmContext, options, diag);
  if (!llvmModule)
    return false;
  if (times) {
    times->lower += lowered - start;
    times->translate += nowMs() - lowered;
  }
  return emitModule(*llvmModule, options, out, diag, times);
}

} // namespace torchc::codegen
