// From a saved program and its compiled graph to what the linker needs.
#pragma once
#include "compiler/link/Model.h"
#include "dialects/trace/SavedProgram.h"

namespace torchc::link {

/// The part of an object's .torchc.meta (JSON) that a model needs:
///   {"arena_bytes": 1024, "results": [{"storage": 7, "input": -1}, ...]}
/// results[i] is the whole content, row-major, of a storage of the trace, and output pointer i of the entry; input >= 0
/// says that it replaces the content of that input.
struct ObjectMeta {
  struct Result {
    uint32_t storage = 0;
    int64_t input = -1;
  };
  uint64_t arenaBytes = 0;
  std::vector<Result> results;
};
bool parseObjectMeta(llvm::StringRef json, ObjectMeta &meta, Diag &diag);

/// Fills inputs, outputs, symbols, weights (borrowed from `program`) and slots of `model`. Arguments become inputs;
/// parameters, buffers and captured tensors become weights. A result that replaces an input's content becomes an output
/// "updated_NAME". Refuses what an artefact can't express yet, naming it.
bool modelFromProgram(const SavedProgram &program, const ObjectMeta &meta, Model &model, Diag &diag);

} // namespace torchc::link
