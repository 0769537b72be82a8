// Models in Python files: FILE.py:FUNCTION, recorded by python3 -m torchc._capture.
#pragma once
#include "frontends/onnx/Record.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
}

namespace torchc {

/// Whether `model` names a function of a Python file.
bool isPythonModel(llvm::StringRef model);

/// "model" of "folder/net.py:model".
llvm::StringRef functionOf(llvm::StringRef model);

/// Reads "NAME=DTYPE[SIZE,...]".
bool parseInputSpec(llvm::StringRef spec, onnx::InputSpec &out, Diag &diag);

/// Runs Python (the one beside `command`, which is this program's argv[0], else that of the path) on the model with example inputs as described; the bytes of a .tcz, or null when Python has printed what
/// is wrong (`diag` is then empty) or couldn't be started.
std::unique_ptr<llvm::MemoryBuffer> capture(llvm::StringRef command, llvm::StringRef model,
                                            llvm::ArrayRef<std::string> inputs, Diag &diag);

} // namespace torchc
