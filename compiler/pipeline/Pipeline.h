// From trace bytes to an object: the stages by name, in order.
#pragma once
#include "compiler/codegen/Emit.h"
#include "compiler/import/Import.h"
#include "compiler/schedule/GraphLowering.h"
#include <optional>
#include <string>

namespace torchc::compiler {

/// Stages that `emit` can stop at, in order.
enum class Stage : uint8_t { Trace, Torchc, Loops, LLVM, Assembly, Object };
std::optional<Stage> parseStage(llvm::StringRef name); // trace torchc loops llvm asm object

struct PipelineOptions {
  codegen::Isa isa = codegen::Isa::V3;
  Stage stop = Stage::Object;
  int grad = 0;        // append gradients of the floating-point inputs; 2: and those of the whole again
  bool keepStrides = false; // results in memory as the trace lays them out, rather than row-major
  bool verify = true;  // the verifier after every pass
  std::string dump;    // a folder that receives the text of every stage; made when it is missing
  const int *cancel = nullptr;
};

/// An argument or result of @main. `of`: the result whose cotangent, or the argument whose gradient it is, or -1.
struct Slot : TensorType {
  int64_t of = -1;
};

struct Compiled {
  std::string text;             // of a textual stage
  llvm::SmallVector<char, 0> object;
  std::string meta;             // JSON, also in the object's section .torchc.meta
  schedule::Plan plan;
  /// Types of @main: its arguments, and its results in the order of the entry's pointers.
  std::vector<Slot> arguments, results;
};

/// Runs the stages up to `options.stop`. False and a text naming node, op and reason on failure.
bool runPipeline(const Trace &trace, const PipelineOptions &options, Compiled &out, Diag &diag);

/// Symbols that compiled code may leave for the loader or linker to resolve: the pack's kernels and drivers.
llvm::ArrayRef<llvm::StringRef> allowedSymbols(const schedule::Plan &plan,
                                               llvm::SmallVectorImpl<llvm::StringRef> &storage);

} // namespace torchc::compiler
