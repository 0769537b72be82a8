#include "frontends/jit/Program.h"
#include "frontends/jit/Function.h"

namespace torchc::jit {
namespace {

void declareArguments(Tracer &tracer, const std::vector<NamedTensor> &arguments) {
  for (size_t i = 0; i < arguments.size(); i++) {
    TensorImpl *t = arguments[i].tensor.impl();
    if (t->storage && t->storage->exposed)
      throw Unsupported("argument " + arguments[i].name +
                        " shares memory with another library (NumPy, DLPack); pass a " + "clone() of it");
    tracer.valueOf(t);
    if (tracer.inputTensors().size() != i + 1)
      throw Unsupported("argument " + arguments[i].name + " is the same tensor as an earlier one, or isn't on the CPU");
  }
}

/// Names the trace's inputs.
void nameInputs(RecordedProgram &out, const std::vector<NamedTensor> &arguments, const std::vector<NamedTensor> &state,
                const std::vector<Tensor> &tensors) {
  size_t captured = 0;
  for (size_t i = 0; i < out.trace.inputs.size(); i++) {
    TraceInput &in = out.trace.inputs[i];
    std::string name;
    in.kind = InputKind::Argument;
    if (i < arguments.size()) {
      name = arguments[i].name;
    } else if (!tensors[i]) { // seed and ordinal of the generator
      name = "generator";
    } else {
      const NamedTensor *known = nullptr;
      for (const NamedTensor &n : state)
        if (n.tensor.same(tensors[i]))
          known = &n;
      in.kind = known ? known->kind : InputKind::Captured;
      name = known ? known->name : "captured" + std::to_string(captured++);
      out.weights.push_back({name, tensors[i], in.kind});
    }
    in.name = out.trace.addString(name);
    if (in.kind == InputKind::Argument)
      out.inputs.push_back(name);
  }
}

} // namespace

RecordedProgram recordProgram(const std::function<std::vector<Tensor>()> &fn, const std::vector<NamedTensor> &arguments,
                              const std::vector<NamedTensor> &state) {
  installHooks();
  FunctionOptions options;
  options.name = "export";
  Function function(std::move(options));
  Call call(function);
  if (!call.tracer())
    throw Unsupported("it can't run inside a compiled function, or under inference_mode");
  Tracer &tracer = *call.tracer();
  tracer.wantOneGraph();
  declareArguments(tracer, arguments);
  std::vector<uint32_t> results;
  for (const Tensor &t : fn()) {
    uint32_t v = tracer.valueOf(t.impl());
    results.push_back(v == traceNone ? 0 : v); // then the recording is refused
  }
  std::vector<Tensor> tensors; // the tracer lets them go
  for (TensorImpl *t : tracer.inputTensors())
    tensors.push_back(Tensor::borrow(t));
  if (!tracer.opaqueOps().empty())
    throw Unsupported("the custom op " + tracer.opaqueOps()[0] +
                      " has no code outside of the program that registered it");
  tracer.finish();
  std::vector<std::unique_ptr<Recording>> path = call.takeRecorded();
  if (path.empty())
    throw Unsupported("the function computes nothing");
  if (std::string why = breakOf(path); !why.empty())
    throw Unsupported(why);
  RecordedProgram out;
  out.trace = std::move(path[0]->trace);
  nameInputs(out, arguments, state, tensors);
  out.trace.outputs.clear();
  for (uint32_t v : results)
    out.trace.addOutput(v);
  return out;
}

} // namespace torchc::jit
