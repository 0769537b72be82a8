#include "frontends/onnx/Record.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Program.h"
#include "frontends/onnx/Program.h"

namespace torchc::onnx {
namespace {

Tensor exampleOf(const ValueInfo &info, const std::vector<InputSpec> &specs) {
  std::string title = "input '" + std::string(info.name) + "'";
  for (const InputSpec &s : specs)
    if (s.name == info.name)
      return zeros(s.shape, s.dtype);
  std::vector<int64_t> shape;
  bool fixed = info.isTensor && info.hasShape && info.elemType;
  for (const Dim &d : info.dims) {
    fixed = fixed && d.value >= 0;
    shape.push_back(d.value);
  }
  if (!fixed)
    fail(ErrorKind::Value,
         title + " has no fixed sizes in the model; give them: --input " + std::string(info.name) + "=f32[SIZE,...]");
  return zeros(shape, dtypeOfOnnx(info.elemType, title));
}

void record(const std::string &path, const std::vector<InputSpec> &specs, bool trainWeights, ModelProgram &out) {
  std::unique_ptr<Program> model = Program::loadFile(path);
  if (trainWeights)
    model->trainWeights();
  for (const InputSpec &s : specs) {
    bool known = false;
    for (const ValueInfo &info : model->inputs())
      known |= info.name == s.name;
    if (!known)
      fail(ErrorKind::Value, "--input: " + path + " has no input named '" + s.name + "'");
  }
  std::vector<jit::NamedTensor> arguments, state;
  for (const ValueInfo &info : model->inputs())
    arguments.push_back({std::string(info.name), exampleOf(info, specs)});
  for (auto &[name, tensor] : model->weights())
    state.push_back({name, tensor, InputKind::Parameter});
  NoGradGuard noGrad;
  jit::RecordedProgram recorded = jit::recordProgram(
      [&] {
        std::vector<Value> in;
        for (const jit::NamedTensor &a : arguments)
          in.emplace_back().tensor = a.tensor;
        std::vector<Tensor> results;
        for (const Value &v : model->run(in)) {
          if (!v.tensor.defined())
            throw jit::Unsupported("an output that is a sequence");
          results.push_back(v.tensor);
        }
        return results;
      },
      arguments, state);
  auto kept = std::make_shared<std::vector<Tensor>>();
  out.program.trace = std::move(recorded.trace);
  for (const ValueInfo &info : model->outputs())
    out.program.outputNames.emplace_back(info.name);
  for (const jit::NamedTensor &w : recorded.weights) {
    Tensor t = contiguous(w.tensor);
    kept->push_back(t);
    out.program.weights.push_back(
        {w.name,
         t.dtype(),
         {t.sizes().begin(), t.sizes().end()},
         {static_cast<const uint8_t *>(t.numel() ? t.data() : nullptr), size_t(t.numel() * itemSize(t.dtype()))}});
  }
  out.weights = kept;
}

} // namespace

bool recordModelFile(const std::string &path, const std::vector<InputSpec> &inputs, bool trainWeights,
                     ModelProgram &out, Diag &diag) {
  try {
    record(path, inputs, trainWeights, out);
    return true;
  } catch (const Error &e) {
    return diag.fail(e.kind(), e.what());
  } catch (const std::bad_alloc &) {
    return diag.fail(ErrorKind::Memory, path + ": not enough memory");
  } catch (const std::exception &e) {
    return diag.fail(ErrorKind::Internal, path + ": " + e.what());
  }
}

} // namespace torchc::onnx
