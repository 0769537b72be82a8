// torchc-kernels: writes the kernel pack (runtime/kernels/Pack.h).
//   torchc-kernels --isa=v3 -o pack_v3.o          kernels of one ISA and their table, torchc_pack_table_v3
//   torchc-kernels --tables=v3,v4 -o tables.o     torchc_pack_tables, which names the tables of those ISAs
//   torchc-kernels --isa=v3 --members -o v3.a     the kernels that compiled graphs call, each a member of its own, so
//                                                 that an artefact carries those it needs
//   torchc-kernels --ptx -o ptx.o                 kernels of the cuda device as texts, torchc_device_pack
#include "DevicePlan.h"
#include "PackPlan.h"
#include "compiler/codegen/Emit.h"
#include "compiler/codegen/Ptx.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/cuda/DevicePack.h"
#include "runtime/kernels/Pack.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace torchc;

static cl::opt<std::string> isaOption("isa", cl::desc("ISA to generate for: v3, v4 or a64"));
static cl::list<std::string> tables("tables", cl::CommaSeparated, cl::desc("ISAs to list"));
static cl::opt<std::string> output("o", cl::desc("output file"), cl::Required);
static cl::opt<std::string> only("only", cl::desc("emit kernels whose name has this text"));
static cl::opt<std::string> emitAs("emit", cl::desc("obj, asm, llvm or loops"), cl::init("obj"));
static cl::opt<bool> ptx("ptx", cl::desc("kernels of the cuda device; --emit=asm: all in one text"));
static cl::opt<bool> members("members", cl::desc("write an archive with one member per kernel"));
static cl::opt<bool> verify("verify", cl::desc("run the verifiers"));
static cl::opt<bool> timing("time", cl::desc("print where time goes"));

static int fail(const Twine &message) {
  errs() << "torchc-kernels: " << message << "\n";
  return 1;
}

static int writeFile(StringRef data) {
  std::error_code error;
  raw_fd_ostream os(output, error);
  if (error)
    return fail("cannot write " + output + ": " + error.message());
  os << data;
  os.close();
  return os.has_error() ? fail("cannot write " + output) : 0;
}

static std::string tableSymbol(StringRef isa) { return ("torchc_pack_table_" + isa).str(); }

static GlobalVariable *addGlobal(Module &m, Constant *value, const Twine &name, bool isPrivate) {
  auto *g = new GlobalVariable(m, value->getType(), /*isConstant=*/true,
                               isPrivate ? GlobalValue::PrivateLinkage : GlobalValue::ExternalLinkage, value, name);
  if (!isPrivate)
    g->setVisibility(GlobalValue::HiddenVisibility);
  return g;
}

/// PackEntry[] and the PackTable that points to it, as in Pack.h.
static void addTable(Module &m, ArrayRef<pack::PlannedKernel> kernels, const codegen::TargetInfo &target) {
  LLVMContext &c = m.getContext();
  auto *ptr = PointerType::get(c, 0);
  auto *i32 = Type::getInt32Ty(c), *i64 = Type::getInt64Ty(c);
  auto *entryType = StructType::get(c, {i64, ptr, ptr});
  std::vector<Constant *> entries;
  for (const auto &k : kernels) {
    auto *text = addGlobal(m, ConstantDataArray::getString(c, k.name), "name", true);
    text->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    text->setAlignment(Align(1));
    entries.push_back(ConstantStruct::get(entryType, ConstantInt::get(i64, k.key), m.getFunction(k.name), text));
  }
  auto *array = addGlobal(m, ConstantArray::get(ArrayType::get(entryType, entries.size()), entries), "entries", true);
  addGlobal(m,
            ConstantStruct::getAnon({ConstantInt::get(i32, packAbi), ConstantInt::get(i32, uint32_t(target.isa)),
                                     ConstantInt::get(i64, entries.size()), array}),
            tableSymbol(target.name), false);
}

static int emitTables() {
  Diag diag;
  LLVMContext c;
  Module m("torchc", c);
  std::vector<Constant *> pointers;
  auto *ptr = PointerType::get(c, 0);
  for (const std::string &name : tables) {
    if (!codegen::parseIsa(name))
      return fail("unknown ISA '" + name + "': expected v3, v4 or a64");
    auto *g = new GlobalVariable(m, ptr, true, GlobalValue::ExternalLinkage, nullptr, tableSymbol(name));
    g->setVisibility(GlobalValue::HiddenVisibility);
    pointers.push_back(g);
  }
  pointers.push_back(ConstantPointerNull::get(ptr));
  addGlobal(m, ConstantArray::get(ArrayType::get(ptr, pointers.size()), pointers), "torchc_pack_tables", false);
  codegen::EmitOptions options;
  options.target = &codegen::targetInfo(*codegen::parseIsa(tables[0]));
  std::vector<std::string> names;
  std::vector<StringRef> allow;
  for (const std::string &name : tables)
    names.push_back(tableSymbol(name));
  allow.assign(names.begin(), names.end());
  options.allowUndefined = allow;
  SmallVector<char, 0> object;
  if (!codegen::emitModule(m, options, object, diag))
    return fail(diag.text);
  return writeFile(StringRef(object.data(), object.size()));
}

/// Matrix products, convolutions, pools and random numbers are calls in compiled graphs; everything else is compiled into them.
static bool isCalled(const pack::PlannedKernel &k) {
  PackForm form = PackForm(k.key >> 56);
  return form == PackForm::Gemm || form == PackForm::Conv || form == PackForm::Pool || form == PackForm::Random;
}

static int emitMembers(const codegen::TargetInfo &target) {
  auto kernels = pack::planPack(target);
  erase_if(kernels, [](const auto &k) { return !isCalled(k); });
  std::vector<SmallVector<char, 0>> objects(kernels.size());
  std::vector<NewArchiveMember> entries;
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    Diag diag;
    auto &ctx = codegen::context();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&ctx));
    lower::KernelBuilder b(*module, target);
    codegen::EmitOptions options;
    options.target = &target;
    if (!kernels[i].emit(b, kernels[i].name, diag) || !codegen::emit(*module, options, objects[i], diag))
      return fail(kernels[i].name + ": " + diag.text);
    names.push_back(kernels[i].name + ".o");
    entries.emplace_back(MemoryBufferRef(StringRef(objects[i].data(), objects[i].size()), names.back()));
  }
  auto archive = writeArchiveToBuffer(entries, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                                      /*Deterministic=*/true, /*Thin=*/false);
  return archive ? writeFile((*archive)->getBuffer()) : fail(toString(archive.takeError()));
}

static int emitPack(const codegen::TargetInfo &target) {
  auto kernels = pack::planPack(target);
  if (!only.empty())
    erase_if(kernels, [](const auto &k) { return !StringRef(k.name).contains(only); });
  for (size_t i = 1; i < kernels.size(); ++i)
    if (kernels[i].key == kernels[i - 1].key)
      return fail("one key for " + kernels[i - 1].name + " and " + kernels[i].name);
  Diag diag;
  auto &ctx = codegen::context();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&ctx));
  lower::KernelBuilder b(*module, target);
  for (const auto &k : kernels)
    if (!k.emit(b, k.name, diag))
      return fail(k.name + ": " + diag.text);
  if (emitAs == "loops") {
    std::string text;
    raw_string_ostream(text) << *module;
    return writeFile(text);
  }
  codegen::EmitOptions options;
  options.target = &target;
  options.verify = verify;
  options.kind = emitAs == "asm"    ? codegen::OutputKind::Assembly
                 : emitAs == "llvm" ? codegen::OutputKind::LLVMText
                                    : codegen::OutputKind::Object;
  // Freestanding code may still copy and fill memory.
  StringRef allow[] = {"memcpy", "memset", "memmove"};
  options.allowUndefined = allow;
  codegen::EmitTimes times;
  LLVMContext c;
  if (!codegen::lowerToLLVMDialect(*module, verify, diag))
    return fail(diag.text);
  auto m = codegen::translate(*module, c, options, diag);
  if (!m)
    return fail(diag.text);
  addTable(*m, kernels, target);
  SmallVector<char, 0> object;
  if (!codegen::emitModule(*m, options, object, diag, &times))
    return fail(diag.text);
  if (timing)
    errs() << kernels.size() << " kernels, " << object.size() << " bytes; optimize " << int(times.optimize)
           << " ms, codegen " << int(times.codegen) << " ms\n";
  return writeFile(StringRef(object.data(), object.size()));
}

/// `text` with short names of parameters and labels and without comments: a third less.
static std::string compact(StringRef text, StringRef name) {
  std::string out;
  std::string parameter = (name + "_param_").str();
  StringRef label = "$L__BB0_";
  for (StringRef line : split(text, '\n')) {
    if (line.ltrim().starts_with("//") || line.empty())
      continue;
    while (!line.empty()) {
      if (line.consume_front(parameter))
        out += "a";
      else if (line.consume_front(label))
        out += "$";
      else {
        out += line.front();
        line = line.drop_front();
      }
    }
    out += '\n';
  }
  return out;
}

/// The texts and their table, as in runtime/cuda/DevicePack.h, in an object of the host.
static int emitTexts(ArrayRef<pack::DeviceKernel> kernels, ArrayRef<SmallVector<char, 0>> texts) {
  LLVMContext c;
  Module m("torchc", c);
  auto *ptr = PointerType::get(c, 0);
  auto *i64 = Type::getInt64Ty(c);
  auto *entryType = StructType::get(c, {i64, ptr, ptr});
  auto text = [&](StringRef s) {
    auto *g = addGlobal(m, ConstantDataArray::getString(c, s), "text", true);
    g->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    g->setAlignment(Align(1));
    return g;
  };
  std::vector<Constant *> entries;
  for (size_t i = 0; i < kernels.size(); ++i)
    entries.push_back(ConstantStruct::get(entryType, ConstantInt::get(i64, kernels[i].key), text(kernels[i].name),
                                          text(compact(StringRef(texts[i].data(), texts[i].size()), kernels[i].name))));
  auto *array = addGlobal(m, ConstantArray::get(ArrayType::get(entryType, entries.size()), entries), "entries", true);
  addGlobal(m, ConstantStruct::getAnon({ConstantInt::get(i64, entries.size()), array}), "torchc_device_pack", false);
  Diag diag;
  codegen::EmitOptions options;
  options.target = &codegen::targetInfo(codegen::hostIsa());
  SmallVector<char, 0> object;
  if (!codegen::emitModule(m, options, object, diag))
    return fail(diag.text);
  return writeFile(StringRef(object.data(), object.size()));
}

static int emitDevicePack() {
  auto kernels = pack::planDevice();
  if (!only.empty())
    erase_if(kernels, [](const auto &k) { return !StringRef(k.name).contains(only); });
  for (size_t i = 1; i < kernels.size(); ++i)
    if (kernels[i].key == kernels[i - 1].key)
      return fail("one key for " + kernels[i - 1].name + " and " + kernels[i].name);
  // A module for each, which the driver assembles when it is first used; or one for a person or an assembler to read.
  bool together = emitAs == "asm";
  std::vector<SmallVector<char, 0>> texts;
  auto &ctx = codegen::context();
  auto newModule = [&] { return mlir::ModuleOp::create(mlir::UnknownLoc::get(&ctx)); };
  mlir::OwningOpRef<mlir::ModuleOp> module = newModule();
  Diag diag;
  for (size_t i = 0; i < kernels.size(); ++i) {
    lower::DeviceBuilder b(*module, codegen::ptxTarget());
    if (!kernels[i].emit(b, kernels[i].name, diag))
      return fail(kernels[i].name + ": " + diag.text);
    if (together && i + 1 < kernels.size())
      continue;
    if (!codegen::emitPtx(*module, texts.emplace_back(), diag))
      return fail(kernels[i].name + ": " + diag.text);
    module = newModule();
  }
  if (together)
    return texts.empty() ? fail("no such kernel") : writeFile(StringRef(texts[0].data(), texts[0].size()));
  return emitTexts(kernels, texts);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "torchc kernel pack generator\n");
  if (!tables.empty())
    return emitTables();
  if (ptx)
    return emitDevicePack();
  auto isa = codegen::parseIsa(isaOption);
  if (!isa)
    return fail("unknown ISA '" + isaOption + "': expected v3, v4 or a64");
  return members ? emitMembers(codegen::targetInfo(*isa)) : emitPack(codegen::targetInfo(*isa));
}
