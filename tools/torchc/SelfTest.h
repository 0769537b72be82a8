// Test vectors for an artefact.
#pragma once
#include "compiler/link/Model.h"

namespace torchc {

/// Runs the compiled graph in this process, on seeded inputs and the weights of `model`, and adds inputs and results as
/// a test vector. Products run on this process's own kernels, so that the artefact's are checked against them. Adds
/// nothing when this machine can't run the code, sizes aren't constant, the data would be large, or every tried input
/// traps. False: the object doesn't load.
bool addSelfTest(llvm::StringRef object, link::Model &model, Diag &diag);

} // namespace torchc
