// A call without its program (J4): for functions that a frontend has proved to depend on their tensor arguments alone.
#pragma once
#include "frontends/jit/Compiled.h"

namespace torchc::jit {

/// How a one-segment recording maps arguments to inputs and results to values.
struct ReplayPlan {
  std::shared_ptr<Recording> graph;
  std::vector<uint32_t> argumentOf; // by input: argument number
  std::vector<uint32_t> results;    // values, each the whole of a fresh storage, all different
  uint32_t numArguments = 0;
  uint64_t launches = 0;
};

/// Makes a plan of what was just recorded; false if the recording does more than compute fresh results from its
/// arguments (writes, random numbers, captured tensors, views among the results, ops that may raise on their data).
/// `inputs` are the tensors that the recording met, `tag` the high half of the tags it left.
bool planReplay(std::shared_ptr<Recording> graph, const std::vector<TensorImpl *> &inputs, uint64_t tag,
                const std::vector<TensorImpl *> &arguments, const std::vector<TensorImpl *> &results, ReplayPlan &plan);

/// Launches the compiled code on these arguments; `r` is the plan's recording or an instance of it. False: not compiled
/// (yet), or a guard fails, or the code trapped; nothing has happened then. `results` are owned.
bool replay(ReplayPlan &plan, const Recording &r, TensorImpl *const *arguments, TensorImpl **results);

} // namespace torchc::jit
