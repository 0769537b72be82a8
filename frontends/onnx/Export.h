// A recorded program as an ONNX model.
#pragma once
#include "dialects/trace/SavedProgram.h"
#include <string>
#include <vector>

namespace torchc::onnx {

struct ExportOptions {
  int64_t opset = 21;
  std::string graphName = "main_graph";
  std::vector<std::string> inputNames, outputNames; // empty: those of the program, `outputN`
};

/// The model's bytes. Argument inputs become inputs, weights initializers by their names. Throws NotImplemented for what
/// ONNX can't say, naming the op and the program's line.
std::string exportModel(const SavedProgram &program, const ExportOptions &options);

} // namespace torchc::onnx
