// From a saved program and its compiled object to a file that ships.
#pragma once
#include "compiler/codegen/Target.h"
#include "dialects/trace/SavedProgram.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace torchc {

struct ShipOptions {
  std::string emit; // "exe", "so", "a" or "o"
  std::string output;
  std::string modelName; // a C identifier
  bool externalWeights = false; // written to OUTPUT.weights
  codegen::Isa isa = codegen::Isa::V3;
};

/// Links and writes. `object` is compiled for the target, `hostObject` for this machine (the same, or empty: then there
/// are no test vectors); both carry .torchc.meta.
bool shipProgram(const SavedProgram &program, llvm::StringRef object, llvm::StringRef hostObject,
                 const ShipOptions &options, Diag &diag);

} // namespace torchc
