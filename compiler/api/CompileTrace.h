// The seam between the C ABI (Compile.cpp: bytes, JSON, errors) and the pipeline.
#pragma once
#include "dialects/rules/Diag.h"
#include "llvm/ADT/StringRef.h"
#include <functional>

namespace torchc {

struct CompileOptions {
  std::string target = "native", emit = "object", mode = "exact";
  int grad = 0; // how many times to differentiate
  bool strides = false; // results laid out by the trace's strides
  std::string dump; // a folder that receives every stage as text; made when it is missing
};

struct CompileRequest {
  CompileOptions options;
  llvm::StringRef trace; // the bytes of a trace file (J1), borrowed
  const int *cancel = nullptr;
};

/// What went wrong and where. `node` is a node of the trace, or -1.
struct CompileError : Diag {
  int64_t node = -1;
  std::string source; // "file.py:12:8", or empty
};

using CompileSink = std::function<void(llvm::StringRef kind, llvm::StringRef bytes)>;

/// Compiles one trace, sending what is asked for to `sink`. False and a report on failure.
bool compileTrace(const CompileRequest &request, const CompileSink &sink, CompileError &error);

} // namespace torchc
