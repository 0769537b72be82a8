// A model file as a saved program, which the compiler takes. Throws nothing: for programs built without exceptions.
#pragma once
#include "dialects/trace/SavedProgram.h"
#include <memory>
#include <string>
#include <vector>

namespace torchc::onnx {

/// An input's element type and sizes, as `--input NAME=DTYPE[SIZE,...]` gives them.
struct InputSpec {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
};

/// Keeps the memory of a program's weights.
struct ModelProgram {
  SavedProgram program;
  std::shared_ptr<void> weights;
};

/// Loads the model and records it once on inputs of zeros. Inputs without a spec must have fixed sizes in the model.
/// `trainWeights`: what the model computes of its weights alone stays in the program, which will be differentiated.
bool recordModelFile(const std::string &path, const std::vector<InputSpec> &inputs, bool trainWeights,
                     ModelProgram &out, Diag &diag);

} // namespace torchc::onnx
