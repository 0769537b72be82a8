// torchc-tblgen: reads the op table, writes one generated file per run.
#include "llvm/TableGen/Main.h"
#include "Emitters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include <memory>

using namespace llvm;
using namespace torchc::tblgen;

using Emitter = void (*)(const Table &, raw_ostream &);

static const struct {
  const char *flag, *help;
  Emitter emit;
} emitters[] = {
    {"gen-op-ids", "the list of ops as an X-macro", emitOpIds},
    {"gen-op-info", "the op table with scalar bodies", emitOpInfo},
    {"gen-bodies-json", "ops and bodies as JSON", emitBodiesJson},
    {"gen-vjp", "derivatives as templates over a builder", emitVjp},
    {"gen-decompose", "decompositions of Fused ops over a builder", emitDecompose},
    {"gen-complex", "meanings for complex operands over a builder", emitComplex},
    {"gen-api-decls", "declarations of the C++ API", emitApiDecls},
    {"gen-api-defs", "definitions of API functions that call one op", emitApiDefs},
    {"gen-bindings", "Python functions of the API", emitBindings},
    {"gen-stubs", "types of the API for Python's type checkers", emitStubs},
    {"gen-support", "the support matrix, as Markdown", emitSupport},
    {"gen-onnx-names", "the names that ONNX has for ops", emitOnnxNames},
};

static Emitter chosen;

int main(int argc, char **argv) {
  std::vector<std::unique_ptr<cl::opt<bool>>> flags;
  for (const auto &e : emitters)
    flags.push_back(std::make_unique<cl::opt<bool>>(StringRef(e.flag), cl::desc(e.help)));
  cl::ParseCommandLineOptions(argc, argv, "torchc op table generator\n");
  for (auto [flag, e] : zip(flags, emitters))
    if (*flag)
      chosen = e.emit;
  if (!chosen) {
    errs() << "torchc-tblgen: expected one of the --gen- options\n";
    return 1;
  }
  return TableGenMain(argv[0], [](raw_ostream &os, const RecordKeeper &records) {
    chosen(readTable(records), os);
    return false;
  });
}
