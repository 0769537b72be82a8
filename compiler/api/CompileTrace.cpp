#include "compiler/api/CompileTrace.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/trace/TraceFile.h"

using namespace torchc;

static uint32_t builtinOp(std::string_view name) {
  std::optional<OpId> id = lookupOp(opBaseName(name));
  return id ? uint32_t(*id) : unresolvedOp;
}

/// Stages name a node of the trace as "node N: " or "node N (op): " at the start of a report; from it, the user's line.
static void locate(const Trace &trace, CompileError &error) {
  llvm::StringRef text = error.text;
  uint64_t node;
  if (!text.consume_front("node ") || text.consumeInteger(10, node) ||
      !(text.starts_with(" (") || text.starts_with(":")) || node >= trace.nodes.size())
    return;
  error.node = int64_t(node);
  if (uint32_t s = trace.nodes[node].source; s != traceNone)
    error.source = trace.sources[s].file + ":" + std::to_string(trace.sources[s].line);
}

bool torchc::compileTrace(const CompileRequest &request, const CompileSink &sink, CompileError &error) {
  compiler::PipelineOptions options;
  std::optional<codegen::Isa> isa = codegen::parseIsa(request.options.target);
  std::optional<compiler::Stage> stage = compiler::parseStage(request.options.emit);
  if (!isa)
    return error.fail(ErrorKind::Value,
                      "target: expected native, x86-64-v3, x86-64-v4 or aarch64, got '" + request.options.target + "'");
  if (!stage)
    return error.fail(ErrorKind::Value,
                      "emit: expected trace, torchc, loops, llvm, asm or object, got '" + request.options.emit + "'");
  if (request.options.mode != "exact")
    return error.fail(ErrorKind::Value, "mode: expected exact, got '" + request.options.mode + "'");
  options.isa = *isa;
  options.dump = request.options.dump;
  options.stop = *stage;
  options.grad = request.options.grad;
  options.keepStrides = request.options.strides;
  options.cancel = request.cancel;
  Trace trace;
  auto bytes = reinterpret_cast<const uint8_t *>(request.trace.data());
  if (!readTrace({bytes, request.trace.size()}, trace, error, builtinOp))
    return false;
  compiler::Compiled compiled;
  if (!compiler::runPipeline(trace, options, compiled, error)) {
    locate(trace, error);
    return false;
  }
  if (options.stop == compiler::Stage::Object)
    sink("object", {compiled.object.data(), compiled.object.size()});
  else
    sink("text", compiled.text);
  return true;
}
