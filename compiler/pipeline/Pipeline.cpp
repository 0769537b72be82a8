// Reads top to bottom: each function is a stage.
#include "compiler/pipeline/Pipeline.h"
#include "compiler/passes/Passes.h"
#include "compiler/pipeline/Meta.h"
#include "compiler/schedule/Entry.h"
#include "compiler/schedule/Unite.h"
#include "dialects/trace/TraceFile.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace torchc::compiler {

std::optional<Stage> parseStage(StringRef name) {
  return llvm::StringSwitch<std::optional<Stage>>(name)
      .Case("trace", Stage::Trace)
      .Case("torchc", Stage::Torchc)
      .Case("loops", Stage::Loops)
      .Case("llvm", Stage::LLVM)
      .Case("asm", Stage::Assembly)
      .Case("object", Stage::Object)
      .Default(std::nullopt);
}

namespace {

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  os << "\n";
  return text;
}

std::string print(const llvm::Module *module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, nullptr);
  return text;
}

/// Lines that a parser of MLIR skips.
std::string commented(StringRef text) {
  std::string out;
  for (StringRef rest = text.rtrim('\n'); !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    out += "// " + line.str() + "\n";
    rest = tail;
  }
  return out;
}

/// "node 3: " of the trace's node that an operation came from (compiler/import), or nothing.
std::string nodeOf(Location at) {
  if (auto named = dyn_cast<NameLoc>(at); named && named.getName().strref().starts_with("node "))
    return named.getName().str() + ": ";
  if (auto fused = dyn_cast<FusedLoc>(at); fused && !fused.getLocations().empty())
    return nodeOf(fused.getLocations().front());
  return "";
}

/// MLIR's diagnostics become the text of `diag`.
class DiagnosticsTo {
public:
  DiagnosticsTo(MLIRContext *context, Diag &diag)
      : handler(context, [&diag](Diagnostic &d) {
          diag.fail(ErrorKind::Internal, nodeOf(d.getLocation()) + d.str());
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};

class Pipeline {
public:
  Pipeline(const Trace &trace, const PipelineOptions &options, Compiled &out, Diag &diag)
      : trace(trace), options(options), out(out), diag(diag), context(&codegen::context()) {
    context->getOrLoadDialect<ir::TorchcDialect>();
    context->getOrLoadDialect<func::FuncDialect>();
  }

  bool run() {
    DiagnosticsTo capture(context, diag);
    if (!dump("1-trace.txt", [&] { return printTrace(trace); }))
      return false;
    if (options.stop == Stage::Trace) {
      out.text = printTrace(trace);
      return true;
    }
    if (!torchcStage() || cancelled() || !dump("2-torchc.mlir", [&] { return print(*imported->module); }))
      return false;
    if (options.stop == Stage::Torchc) {
      out.text = print(*imported->module);
      return true;
    }
    if (!loopsStage() || cancelled() || !dump("3-loops.mlir", [&] { return loopsText(); }))
      return false;
    if (options.stop == Stage::Loops) {
      out.text = loopsText();
      return true;
    }
    return objectStage();
  }

private:
  bool cancelled() {
    return options.cancel && __atomic_load_n(options.cancel, __ATOMIC_RELAXED) &&
           !diag.fail(ErrorKind::Runtime, "cancelled");
  }

  std::string loopsText() { return print(*kernels) + commented(out.plan.str()); }

  /// Numbered names: a folder lists the stages in order.
  bool dump(StringRef name, llvm::function_ref<std::string()> text) {
    if (options.dump.empty())
      return true;
    SmallString<128> path(options.dump);
    std::error_code error = llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, name);
    if (!error) {
      llvm::raw_fd_ostream os(path, error);
      if (!error)
        os << text();
      os.close();
      error = error ? error : os.error();
      os.clear_error();
    }
    return !error || diag.fail(ErrorKind::OS, "dump: cannot write '" + path.str().str() + "': " + error.message());
  }

  /// trace -> torchc: values, derivatives, primitives, kernel numbers.
  bool torchcStage() {
    imported = importTrace(trace, context, diag, options.keepStrides);
    if (!imported)
      return false;
    PassManager passes(context);
    passes.enableVerifier(options.verify);
    for (int order = 0; order < options.grad; order++)
      passes.addPass(createDifferentiatePass());
    passes.addPass(createDecomposePass());
    passes.addPass(createSimplifyPass());
    passes.addPass(createCSEPass());
    passes.addPass(createFusePass());
    if (failed(passes.run(*imported->module)))
      return diag.fail(ErrorKind::Internal, "a pass failed without saying why");
    describeSignature();
    return true;
  }

  /// torchc -> loops: one function per kernel, the plan, the entry.
  bool loopsStage() {
    kernels = ModuleOp::create(UnknownLoc::get(context));
    lower::KernelBuilder builder(*kernels, codegen::targetInfo(options.isa));
    auto main = imported->module->lookupSymbol<func::FuncOp>("main");
    SmallVector<schedule::ResultUse> uses;
    for (const ImportedResult &r : imported->results)
      uses.push_back({r.input});
    uses.resize(main.getNumResults()); // gradients have memory of their own
    SmallVector<schedule::ArgumentStrides> strides;
    for (const TraceInput &in : trace.inputs) {
      strides.emplace_back();
      for (TraceDim s : trace.stridesOf(trace.values[in.value]))
        strides.back().push_back(s.raw);
    }
    std::vector<int64_t> point;
    for (const TraceSymbol &s : trace.symbols)
      point.push_back(s.hint);
    if (point.size() > maxSymbols)
      return diag.fail(ErrorKind::NotImplemented,
                       "at most " + std::to_string(maxSymbols) + " symbols, got " + std::to_string(point.size()));
    if (!Symbols::isPoint(point))
      return diag.fail(ErrorKind::Value, "symbols whose values in the trace can't be told from other sizes");
    out.plan.symbols = builder.symbols = Symbols(point);
    if (!sizesAreRead(main, builder.symbols))
      return false;
    schedule::GraphLowering lowering(main.front(), builder, uses, strides, diag);
    if (!lowering.run(out.plan))
      return false;
    schedule::uniteKernels(*kernels, out.plan);
    schedule::placeBuffers(out.plan);
    schedule::emitEntry(builder, "torchc_entry", out.plan);
    if (builder.unreadable)
      return diag.fail(ErrorKind::NotImplemented, "a size that is no polynomial of the dynamic sizes");
    out.meta = metaJson(trace, *imported, out);
    return true;
  }

  /// Is each size of each tensor a polynomial of the symbols, and their product, too? Products of others might look like
  /// one: 2 * (n / 2), or 3 * n * n where m is the second symbol.
  bool sizesAreRead(func::FuncOp main, const Symbols &symbols) {
    auto fits = [&](Value v) {
      std::optional<SizeTerms> product = symbols.read(1);
      int64_t elements = 1;
      for (int64_t d : cast<RankedTensorType>(v.getType()).getShape()) {
        std::optional<SizeTerms> size = symbols.read(d);
        product = product && size ? symbols.times(*product, *size) : std::nullopt;
        if (!product || __builtin_mul_overflow(elements, d, &elements))
          return false;
      }
      return symbols.read(elements) == product;
    };
    for (Value a : main.getArguments())
      if (!symbols.empty() && !fits(a))
        return diag.fail(ErrorKind::NotImplemented, "an input has a size that is no polynomial of the dynamic sizes");
    for (Operation &op : main.front().without_terminator())
      if (!symbols.empty() && !llvm::all_of(op.getResults(), fits))
        return diag.fail(ErrorKind::NotImplemented,
                         nodeOf(op.getLoc()) + "a size that is no polynomial of the dynamic sizes");
    return true;
  }

  /// loops -> llvm -> object, with the description in a section of its own.
  bool objectStage() {
    SmallVector<StringRef> names;
    codegen::EmitOptions emit;
    emit.target = &codegen::targetInfo(options.isa);
    emit.verify = options.verify;
    emit.kind = options.stop == Stage::LLVM       ? codegen::OutputKind::LLVMText
                : options.stop == Stage::Assembly ? codegen::OutputKind::Assembly
                                                  : codegen::OutputKind::Object;
    emit.allowUndefined = allowedSymbols(out.plan, names);
    if (!codegen::lowerToLLVMDialect(*kernels, options.verify, diag))
      return false;
    llvm::LLVMContext llvmContext;
    std::unique_ptr<llvm::Module> module = codegen::translate(*kernels, llvmContext, emit, diag);
    if (!module)
      return false;
    addMetaSection(*module, out.meta);
    if (!dump("4-llvm.ll", [&] { return print(module.get()); }))
      return false;
    SmallVector<char, 0> bytes;
    if (!codegen::emitModule(*module, emit, bytes, diag))
      return false;
    if (emit.kind == codegen::OutputKind::Object)
      out.object = std::move(bytes);
    else
      out.text.assign(bytes.begin(), bytes.end());
    return true;
  }

  void describeSignature() {
    auto main = imported->module->lookupSymbol<func::FuncOp>("main");
    auto slot = [](Type t, Attribute of) {
      auto r = cast<RankedTensorType>(t);
      auto number = dyn_cast_or_null<IntegerAttr>(of);
      return Slot{{*ir::dtypeOf(r.getElementType()), ir::dimsOf(r)}, number ? number.getInt() : -1};
    };
    for (unsigned i = 0; i < main.getNumArguments(); i++)
      out.arguments.push_back(slot(main.getArgument(i).getType(), main.getArgAttr(i, "torchc.cotangent")));
    for (unsigned i = 0; i < main.getNumResults(); i++)
      if (i >= imported->results.size() || imported->results[i].input < 0)
        out.results.push_back(slot(main.getResultTypes()[i], main.getResultAttr(i, "torchc.gradient")));
  }

  const Trace &trace;
  const PipelineOptions &options;
  Compiled &out;
  Diag &diag;
  MLIRContext *context;
  std::optional<Imported> imported;
  OwningOpRef<ModuleOp> kernels;
};

} // namespace

llvm::ArrayRef<StringRef> allowedSymbols(const schedule::Plan &plan, SmallVectorImpl<StringRef> &storage) {
  plan.eachStep([&](const schedule::Step &s) {
    if (s.external && !llvm::is_contained(storage, StringRef(s.callee)))
      storage.push_back(s.callee);
  });
  return storage;
}

bool runPipeline(const Trace &trace, const PipelineOptions &options, Compiled &out, Diag &diag) {
  return Pipeline(trace, options, out, diag).run();
}

} // namespace torchc::compiler
