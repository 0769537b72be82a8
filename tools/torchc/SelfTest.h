// Test vectors for an artefact.
#pragma once
#include "compiler/codegen/Target.h"
#include "compiler/link/Model.h"

namespace torchc {

/// Whether this process can run code that is compiled for `isa`.
bool runsHere(codegen::Isa isa);

/// Runs the graph in this process, on seeded inputs and the weights of `model`, and adds inputs and results as a test
/// vector. `object` is the graph compiled for this machine, whatever the model's target: bits are the same on all (N1).
/// Products run on this process's own kernels, so that the artefact's are checked against them. Adds nothing when sizes
/// aren't constant, the data would be large, or every tried input traps. False: the object doesn't load.
bool addSelfTest(llvm::StringRef object, uint64_t arenaBytes, link::Model &model, Diag &diag);

} // namespace torchc
