// torchc compile.
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace torchc {

/// `args` are the words after the verb. Returns the exit code.
int compileVerb(llvm::StringRef command, llvm::ArrayRef<char *> args);

} // namespace torchc
