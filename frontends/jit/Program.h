// A function recorded once, as one trace with its weights: what export() and importers of other formats make.
#pragma once
#include "dialects/trace/Trace.h"
#include "frontends/eager/Tensor.h"
#include <functional>
#include <string>
#include <vector>

namespace torchc::jit {

struct NamedTensor {
  std::string name;
  Tensor tensor;
  InputKind kind = InputKind::Argument;
};

struct RecordedProgram {
  Trace trace;
  std::vector<std::string> inputs; // names of the arguments
  std::vector<NamedTensor> weights; // in the order of the trace's other inputs
};

/// What one graph can't hold.
struct Unsupported : Error {
  explicit Unsupported(std::string text) : Error(ErrorKind::NotImplemented, std::move(text)) {}
};

/// Runs `fn` on the calling thread while recording it. Tensors of `state` that it uses become inputs of their kind and
/// name, others that it uses are captured under `capturedN`; the generator's state is an argument `generator`. Throws
/// Unsupported, and what `fn` throws.
RecordedProgram recordProgram(const std::function<std::vector<Tensor>()> &fn, const std::vector<NamedTensor> &arguments,
                              const std::vector<NamedTensor> &state);

} // namespace torchc::jit
