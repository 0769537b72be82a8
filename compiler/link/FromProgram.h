// From a saved program and its compiled graph to what the linker needs.
#pragma once
#include "compiler/link/Model.h"
#include "dialects/trace/SavedProgram.h"

namespace torchc::link {

/// The part of an object's .torchc.meta (compiler/pipeline/Meta.h) that a model needs. results[i] is the whole content,
/// row-major, of a storage of the trace (-1: a gradient), and output pointer i of the entry.
struct ObjectMeta {
  struct Result {
    int64_t storage = -1;
    DType dtype = DType::F32;
    std::vector<int64_t> dims;
  };
  std::string entry;
  uint64_t arenaBytes = 0;
  std::vector<Result> results;
  std::vector<int64_t> writtenInputs; // whose memory the entry overwrites
};
bool parseObjectMeta(llvm::StringRef json, ObjectMeta &meta, Diag &diag);

/// Fills inputs, outputs, symbols, weights (borrowed from `program`) and slots of `model`. Arguments become inputs;
/// parameters, buffers and captured tensors become weights. Refuses what an artefact can't express yet, naming it.
bool modelFromProgram(const SavedProgram &program, const ObjectMeta &meta, Model &model, Diag &diag);

} // namespace torchc::link
