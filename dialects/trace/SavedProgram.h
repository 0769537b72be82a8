// A saved program (`.tcz`, rule J1): a zip archive of program.tctrace, weights.safetensors and
// meta.json. Inputs of kind Parameter, Buffer and Captured find their tensor by the input's name.
#pragma once
#include "dialects/trace/Safetensors.h"
#include "dialects/trace/TraceFile.h"
#include "dialects/trace/Zip.h"

namespace torchc {

struct SavedProgram {
  Trace trace;
  std::vector<SafeTensor> weights; // data points into the bytes given to readProgram
  std::string meta; // JSON; this library carries it without looking inside
  // Of the trace's outputs, where the model has names of its own; not part of the archive.
  std::vector<std::string> outputNames;

  /// The tensor for an input of the trace, or null when the input is an argument or a number.
  const SafeTensor *weightOf(const TraceInput &input) const;
};

/// The archive's bytes. False with `diag` when the trace, the weights or their names don't fit
/// together.
bool writeProgram(const SavedProgram &program, std::vector<uint8_t> &out, Diag &diag);
/// Like writeProgram, to a file (whole or not at all).
bool writeProgramFile(const std::string &path, const SavedProgram &program, Diag &diag);

/// Reads and verifies. Every Parameter, Buffer and Captured input must have a tensor of its dtype
/// and sizes; `bytes` must outlive the program.
bool readProgram(std::span<const uint8_t> bytes, SavedProgram &out, Diag &diag, LookupOp lookup = nullptr);

} // namespace torchc
