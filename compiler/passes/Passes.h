// Passes over the torchc dialect, in pipeline order.
#pragma once
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace torchc::compiler {

/// Appends to @main the gradients of its floating-point arguments: for every floating-point result an argument of its
/// type (the cotangent), for every argument in `wrt` (comma separated; empty: all floating-point ones) a result. Order of
/// accumulation is that of the tape (N10). Runs before decomposition, on what import made.
std::unique_ptr<mlir::Pass> createDifferentiatePass(std::string wrt = "");

/// Replaces Fused ops by their decomposition (rules/Decompose.h), and removes the marks of ValueBuilder.h.
std::unique_ptr<mlir::Pass> createDecomposePass();

/// Removes casts, reshapes, expands, transposes and slices that change nothing and merges neighbours, with equal bits.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// Gives every op that computes something the number of its kernel, `torchc.kernel`: chains over one iteration space share
/// one, a reduction over leading or trailing axes takes its only producer chain along.
std::unique_ptr<mlir::Pass> createFusePass();

/// Makes the passes available to torchc-opt.
void registerTorchcPasses();

} // namespace torchc::compiler
