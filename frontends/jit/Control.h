// cond and while_loop: functions of tensors as graphs, run by what a predicate says. A call is one node for the tape, for
// recordings and for compiled code, so that all of them add gradients up in one order (N10).
#pragma once
#include "frontends/jit/Recording.h"
#include <functional>

namespace torchc::jit {

/// A function of tensors as a graph. Its results are row-major and have memory of their own.
struct Subgraph {
  std::shared_ptr<Recording> graph; // its trace has the results as outputs
  std::vector<Tensor> captured; // tensors from outside that it reads, in the order of its inputs behind the operands
  std::vector<uint32_t> slots; // by input of the trace: number among operands and captured; traceNone: generator
  std::vector<uint32_t> results; // values
  std::vector<uint64_t> advance; // by input: what is added to the state's ordinal for a generator's, else 0
  uint32_t draws = 0; // ordinals that a run takes
  bool mayRaise = false; // on its data
  Sha256Digest digest = {}; // of the program without source positions

  const Value &result(size_t i) const { return graph->values[results[i]]; }
  /// "float32[2, 3]": the type of a result.
  std::string resultType(size_t i) const;
};
using SubgraphRef = std::shared_ptr<const Subgraph>;
struct Control;
using ControlRef = std::shared_ptr<const Control>;
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

/// Calls `fn` on stand-ins for the operands, whose content is undefined, and records it. `what` names it in messages.
/// Not-implemented error for what one graph can't hold: values that are looked at, custom ops, several generators;
/// Runtime error for writes to operands or captured tensors.
/// `state`: the function draws from there, `draws` ordinals, instead of from the default generator.
SubgraphRef recordSubgraph(const TensorFunction &fn, const std::vector<Tensor> &operands, const std::string &what,
                           const uint64_t *state = nullptr, uint32_t draws = 0);

/// Runs it op by op under the thread's modes: on the tape, in recordings. `state` as words seed and ordinal, may be null.
std::vector<Tensor> runSubgraph(const Subgraph &s, const std::vector<Tensor> &inputs, const uint64_t *state);

/// What a cond (`first`: where the predicate is true, `second`: else) or a while_loop (`first`: go on?, `second`: the
/// body) consists of. Inputs: of a cond the predicate, then the tensors of both graphs; of a loop the carried tensors,
/// then others.
struct Control {
  bool loop = false;
  SubgraphRef first, second;
  std::vector<uint32_t> inputsOf[2]; // by operand and captured tensor of a graph: its number among the inputs

  std::string_view name() const { return loop ? whileName : condName; }
  bool draws() const { return first->draws || second->draws; }
  const Subgraph &graph(int i) const { return i ? *second : *first; }
  /// By input of a graph's trace: the node's input, the state (input 0 where there is one) included.
  std::vector<int64_t> map(int graph) const;
  bool operator==(const Control &o) const;
  /// For a recording, which lives longer than what the functions closed over.
  std::shared_ptr<const Control> withoutTensors() const;
};

/// The values, computed now by eager ops outside of any recording. `state` may be undefined.
std::vector<Tensor> evaluate(const Control &c, const std::vector<Tensor> &inputs, const Tensor &state);

/// A call as a node of the tape and of recordings. Takes no ordinals of a generator.
std::vector<Tensor> runControl(const ControlRef &c, const std::vector<Tensor> &inputs, const Tensor &state);

/// torch.cond of recorded branches: the results of the chosen one. Runtime error naming both where their numbers of
/// results, types or shapes differ. Random ops take ordinals of the default generator.
std::vector<Tensor> cond(const Tensor &predicate, const SubgraphRef &whenTrue, const SubgraphRef &whenFalse,
                         const std::vector<Tensor> &operands);

/// torch.while_loop of recorded functions. Runtime error where the body doesn't keep the carried types. Where gradients
/// are wanted it is unrolled: each round is recorded by itself.
std::vector<Tensor> whileLoop(const SubgraphRef &goesOn, const SubgraphRef &body, const std::vector<Tensor> &carried,
                              const std::vector<Tensor> &more);

} // namespace torchc::jit
