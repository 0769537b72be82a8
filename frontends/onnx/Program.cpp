#include "frontends/onnx/Program.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/onnx/Builder.h"
#include <optional>

namespace torchc::onnx {

std::unique_ptr<Program> Program::load(MappedFile bytes, const std::string &folder) {
  std::unique_ptr<Program> p(new Program);
  p->bytes = std::move(bytes);
  p->folder = folder;
  std::string_view all = p->bytes.bytes();
  p->file = readModel(Bytes(all.data(), all.size()));
  int64_t newest = newestOpset(), opset = p->opset();
  bool named = opset || p->file.opsets.empty(); // a model of another domain's operators needs none
  if (opset < 0 || opset > newest || (named && opset < 1))
    fail(ErrorKind::Value, "ONNX: opset " + std::to_string(opset) + ", expected 1 to " + std::to_string(newest));
  InternalGuard quiet; // constants are no part of a program that is being recorded
  p->main = Builder(*p).build(p->file.graph, nullptr, p->file.opsets);
  for (const ValueInfo &v : p->file.graph.inputs) {
    bool initial = false;
    for (const Initializer &i : p->file.graph.initializers)
      initial |= i.name == v.name;
    if (!initial)
      p->inputInfo.push_back(v);
  }
  return p;
}

std::unique_ptr<Program> Program::loadFile(const std::string &path) {
  MappedFile file = MappedFile::open(path);
  size_t slash = path.rfind('/');
  try {
    return load(std::move(file), slash == std::string::npos ? "." : path.substr(0, slash));
  } catch (const Error &e) {
    fail(e.kind(), path + ": " + e.what());
  }
}

int64_t Program::opsetOf(std::string_view domain) const {
  int64_t found = file.opsets.empty() ? 1 : 0;
  for (const OpsetId &o : file.opsets)
    if (o.domain == domain)
      found = o.version;
  return found;
}

std::vector<std::pair<std::string, Tensor>> Program::weights() const {
  std::vector<std::pair<std::string, Tensor>> out;
  for (size_t i = 0; i < main->constants.size(); i++)
    out.emplace_back(std::string(file.graph.initializers[i].name), main->constants[i].second.tensor);
  return out;
}

static std::string shapeText(const ValueInfo &info) {
  std::string text = "[";
  for (size_t i = 0; i < info.dims.size(); i++)
    text += (i ? ", " : "") + (info.dims[i].value >= 0      ? std::to_string(info.dims[i].value)
                               : info.dims[i].param.empty() ? "?"
                                                            : std::string(info.dims[i].param));
  return text + "]";
}

static std::string shapeText(const Tensor &t) {
  std::string text = "[";
  for (int i = 0; i < t.dim(); i++)
    text += (i ? ", " : "") + std::to_string(t.sizes()[size_t(i)]);
  return text + "]";
}

void Program::check(const ValueInfo &info, const Value &v, std::unordered_map<std::string_view, int64_t> &sizes) const {
  std::string title = "ONNX input '" + std::string(info.name) + "'";
  if (!v.present())
    fail(ErrorKind::Value, title + " is missing");
  if (!info.isTensor || !v.tensor.defined())
    return;
  if (info.elemType) {
    DType want = dtypeOfOnnx(info.elemType, title);
    if (want != v.tensor.dtype())
      fail(ErrorKind::Type,
           title + ": expected " + std::string(torchName(want)) + ", got " + std::string(torchName(v.tensor.dtype())));
  }
  bool ok = !info.hasShape || int64_t(info.dims.size()) == v.tensor.dim();
  for (size_t i = 0; ok && info.hasShape && i < info.dims.size(); i++) {
    int64_t size = v.tensor.sizes()[i];
    const Dim &d = info.dims[i];
    ok = d.value < 0 || d.value == size;
    if (ok && d.value < 0 && !d.param.empty() && d.param != "?" && d.param[0] != '-')
      ok = sizes.emplace(d.param, size).first->second == size;
  }
  if (!ok)
    fail(ErrorKind::Value, title + ": expected shape " + shapeText(info) + ", got " + shapeText(v.tensor));
}

std::vector<Value> Program::run(const std::vector<Value> &inputs) {
  if (inputs.size() != inputInfo.size())
    fail(ErrorKind::Value,
         "ONNX: the model takes " + std::to_string(inputInfo.size()) + " inputs, got " + std::to_string(inputs.size()));
  std::unordered_map<std::string_view, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); i++)
    check(inputInfo[i], inputs[i], sizes);
  if (uint64_t now = stateOfConstants(); now != state) {
    forget(*main);
    kept.clear();
    state = now;
  }
  std::vector<Value> out = runBlock(*main, inputs, nullptr);
  for (Value &v : out)
    ownMemory(v);
  return out;
}

/// What is computed once stays as it is, whatever the caller does to the results.
void Program::ownMemory(Value &v) const {
  if (v.sequence) {
    v.sequence = std::make_shared<std::vector<Value>>(*v.sequence);
    for (Value &item : *v.sequence)
      ownMemory(item);
  }
  if (v.tensor.defined() && kept.count(v.tensor->storage))
    v.tensor = clone(v.tensor);
}

/// Another number once a weight was written to, replaced, or asked for gradients.
uint64_t Program::stateOfConstants() const {
  uint64_t h = 1;
  auto add = [&](uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15; };
  std::function<void(const Block &)> visit = [&](const Block &b) {
    for (auto &[slot, value] : b.constants)
      if (TensorImpl *t = value.tensor.impl()) {
        add(reinterpret_cast<uintptr_t>(t->data));
        add(t->version() * 2 + t->requiresGrad());
      }
    for (const Step &s : b.steps)
      for (auto &g : s.graphs)
        visit(*g);
  };
  visit(*main);
  return h;
}

/// Drops what was computed once.
void Program::forget(Block &b) {
  for (Step &s : b.steps) {
    s.once.clear();
    if (s.function)
      forget(*s.function);
    for (auto &g : s.graphs)
      if (g)
        forget(*g);
  }
}

/// Remembers the memory of what is computed once.
void Program::keep(const std::vector<Value> &results) {
  for (const Value &v : results) {
    if (v.tensor.defined())
      kept.insert(v.tensor->storage);
    if (v.sequence)
      keep(*v.sequence);
  }
}

std::vector<Value> Program::runBlock(Block &b, std::vector<Value> inputs, Frame *up) {
  Frame frame;
  frame.up = up;
  frame.slots.resize(size_t(b.numSlots));
  if (inputs.size() > b.inputs.size())
    fail(ErrorKind::Value, "ONNX graph '" + b.name + "': " + std::to_string(inputs.size()) + " inputs, expected " +
                               std::to_string(b.inputs.size()));
  for (size_t i = 0; i < inputs.size(); i++)
    frame.slots[size_t(b.inputs[i])] = std::move(inputs[i]);
  for (auto &[slot, value] : b.constants)
    frame.slots[size_t(slot)] = value;
  if (training)
    for (auto &[slot, value] : b.constants)
      frame.slots[size_t(slot)].trained = value.tensor.defined() && isFloat(value.tensor.dtype());
  for (Step &s : b.steps) {
    runStep(s, frame);
    for (int32_t slot : s.dead)
      frame.slots[size_t(slot)] = Value();
  }
  std::vector<Value> out;
  for (const Place &p : b.outputs)
    out.push_back(frame.at(p));
  return out;
}

/// Errors name the node.
static void runNamed(const HandlerRow &handler, NodeRun &run) {
  try {
    handler.run(run);
  } catch (const Error &e) {
    std::string_view text = e.what();
    if (text.find("ONNX node") != text.npos)
      throw;
    fail(e.kind(), run.title() + ": " + std::string(text));
  }
}

void Program::runStep(Step &s, Frame &frame) {
  auto put = [&](std::vector<Value> results) {
    for (size_t i = 0; i < s.outputs.size() && i < results.size(); i++)
      if (s.outputs[i].slot >= 0)
        frame.slots[size_t(s.outputs[i].slot)] = std::move(results[i]);
  };
  if (!s.once.empty())
    return put(s.once);
  std::vector<Value> in;
  Known known = Known::Always;
  bool wantsGrad = false, isTrained = false;
  for (const Place &p : s.inputs) {
    in.push_back(p.slot < 0 ? Value() : frame.at(p));
    known = std::min(known, in.back().known);
    const Value &v = in.back();
    isTrained |= v.tensor.defined() && v.tensor.requiresGrad();
    wantsGrad |= v.trained || (v.tensor.defined() && v.tensor.requiresGrad() && isGradEnabled());
  }
  if (s.function)
    return put(runBlock(*s.function, std::move(in), nullptr));
  bool sizesOnly = s.handler->flags & SizesOnly;
  if (sizesOnly)
    known = std::max(known, Known::Shape);
  if ((s.handler->flags & Random) || !s.graphs.empty())
    known = Known::No;
  NodeRun run(*this, s, frame, std::move(in));
  std::optional<InternalGuard> quiet; // what doesn't depend on the inputs' numbers is no part of a recorded program
  if (known != Known::No && (!wantsGrad || sizesOnly))
    quiet.emplace();
  runNamed(*s.handler, run);
  quiet.reset();
  std::vector<Value> results = run.takeResults();
  for (Value &v : results) {
    if (s.graphs.empty())
      v.known = known;
    v.trained = training && wantsGrad && !sizesOnly && v.tensor.defined() && isFloat(v.tensor.dtype());
    if (v.known != Known::No && !wantsGrad && v.tensor.defined()) { // what a recording captures has memory of its own
      InternalGuard quiet;
      v.tensor = contiguous(v.tensor);
    }
  }
  if (s.fixed && known == Known::Always && !wantsGrad && !isTrained) // under no_grad it has no history
    keep(s.once = results);
  put(std::move(results));
}

} // namespace torchc::onnx
