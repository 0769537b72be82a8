// Links compiled models in process, with no tool chain: lld as a library, and the runtime, start
// files and import stubs that are embedded in the compiler. Output depends on the input bytes and
// the output's name alone. The output appears under its name only when it is whole; on failure
// nothing of it is left. Safe to call from several threads.
#pragma once
#include "compiler/link/Model.h"

namespace torchc::link {

class OutputFile;

/// A relocatable object or an archive in memory; `name` is for messages.
struct Object {
  std::string name;
  llvm::StringRef bytes;
};

/// A shared library that exports torchc_NAME_model and torchc_model and needs libc and libm alone
/// (A4).
bool linkShared(const Model &model, llvm::ArrayRef<Object> objects, llvm::StringRef path, Diag &diag);

/// A program with the command line of runtime/artefact/Program.c.
bool linkExecutable(const Model &model, llvm::ArrayRef<Object> objects, llvm::StringRef path, Diag &diag);

/// One relocatable object, all names local but torchc_NAME_model: several of them go into one
/// program.
bool linkRelocatable(const Model &model, llvm::ArrayRef<Object> objects, llvm::StringRef path, Diag &diag);

/// The same as an archive of one member.
bool linkArchive(const Model &model, llvm::ArrayRef<Object> objects, llvm::StringRef path, Diag &diag);

/// Fills the file that a model with external weights is given at run time.
bool writeWeights(const Model &model, OutputFile &file, Diag &diag);

/// Writes a whole file or nothing.
bool writeFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> pieces, Diag &diag);

/// A file of the artefact runtime, such as "x86_64/start.o"; empty when there is no such file.
llvm::StringRef embeddedFile(llvm::StringRef name);

} // namespace torchc::link
