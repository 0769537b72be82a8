// Model -> blocks: checks operators, arity and attributes against the schemas before anything runs.
#include "frontends/onnx/Builder.h"
#include "frontends/eager/Error.h"

namespace torchc::onnx {

constexpr int64_t maxExpanded = 1 << 18;

std::string titleOf(const Node &n) {
  std::string text = "ONNX node ";
  if (!n.name.empty())
    text += "'" + std::string(n.name) + "' ";
  text += "(";
  if (!n.domain.empty())
    text += std::string(n.domain) + ".";
  text += std::string(n.op) + ")";
  if (n.name.empty())
    for (std::string_view o : n.outputs)
      if (!o.empty())
        return text + " of '" + std::string(o) + "'";
  return text;
}

const FunctionDef *Builder::functionOf(const Node &n) const {
  for (const FunctionDef &f : program.file.functions)
    if (f.name == n.op && f.domain == n.domain)
      return &f;
  return nullptr;
}

void Builder::checkAttributes(const Node &n, const SchemaRow &s) const {
  for (const Attribute &a : n.attributes) {
    const SchemaAttr *known = s.find(a.name);
    if (!known)
      fail(ErrorKind::Value, titleOf(n) + ": attribute '" + std::string(a.name) + "' doesn't exist in version " +
                                 std::to_string(s.since) + " of " + std::string(n.op));
    if (a.type != known->type)
      fail(ErrorKind::Value, titleOf(n) + ": attribute '" + std::string(a.name) + "' has type " +
                                 std::to_string(a.type) + ", expected " + std::to_string(known->type));
  }
  for (const SchemaAttr &a : s)
    if (a.required && !n.find(a.name()))
      fail(ErrorKind::Value, titleOf(n) + ": attribute '" + std::string(a.name()) + "' is missing");
}

static void checkCount(const Node &n, const char *what, size_t count, uint16_t least, uint16_t most) {
  if (count >= least && (most == 65535 || count <= most))
    return;
  std::string range = least == most   ? std::to_string(least)
                      : most == 65535 ? "at least " + std::to_string(least)
                                      : std::to_string(least) + " to " + std::to_string(most);
  fail(ErrorKind::Value, titleOf(n) + ": " + std::to_string(count) + " " + what + ", expected " + range);
}

void Builder::addStep(const Node &n, Scope &scope) {
  // Functions that call each other twice double with each level: a short file could ask for any amount of memory.
  if (depth && ++expanded > maxExpanded)
    fail(ErrorKind::Value, titleOf(n) + ": functions expand to more than " + std::to_string(maxExpanded) + " nodes");
  for (const Attribute &a : n.attributes)
    if (!a.refName.empty())
      fail(ErrorKind::Value, titleOf(n) + ": attribute '" + std::string(a.name) + "' refers to '" +
                                 std::string(a.refName) + "' of a function, the node is in none");
  Step s;
  s.node = &n;
  const FunctionDef *function = functionOf(n);
  int64_t opset = scope.opsetOf(n.domain);
  s.schema = function ? nullptr : findSchema(n.domain, n.op, opset);
  s.handler = function ? nullptr : findHandler(n.domain, n.op);
  bool exists = s.schema || !(n.domain.empty() || n.domain == "ai.onnx"); // other domains have no schemas here
  if (!function && (!s.handler || !exists))
    fail(exists ? ErrorKind::NotImplemented : ErrorKind::Value,
         titleOf(n) + ": " +
             (exists ? "torchc doesn't have this operator" : "no such operator in opset " + std::to_string(opset)) +
             " (byte " + std::to_string(n.offset) + " of the file)");
  if (s.schema) {
    checkCount(n, "inputs", n.inputs.size(), s.schema->minInputs, s.schema->maxInputs);
    checkCount(n, "outputs", n.outputs.size(), s.schema->minOutputs, s.schema->maxOutputs);
    checkAttributes(n, *s.schema);
  }
  bool fixed = !function;
  for (std::string_view name : n.inputs) {
    Place p = name.empty() ? Place() : scope.find(name);
    if (!name.empty() && p.slot < 0)
      fail(ErrorKind::Value, titleOf(n) + ": input '" + std::string(name) + "' isn't computed before it");
    fixed = fixed && (name.empty() || (p.up == 0 && scope.fixed[size_t(p.slot)]));
    s.inputs.push_back(p);
  }
  for (const Attribute &a : n.attributes)
    if (a.g) {
      fixed = false;
      s.graphs.push_back(build(*a.g, &scope, scope.opsets));
    }
  if (function)
    s.function = buildFunction(*function, n);
  s.fixed = fixed && !(s.handler->flags & Random);
  for (std::string_view name : n.outputs)
    s.outputs.push_back(name.empty() ? Place() : Place{scope.add(name, s.fixed, titleOf(n)), 0});
  scope.block->steps.push_back(std::move(s));
}

/// Slots are emptied after their last reader in the block (a reader in an inner graph counts as its node).
void Builder::markDead(Scope &scope) {
  std::vector<int32_t> last(size_t(scope.block->numSlots), -1);
  auto use = [&](const Place &p, int up, int32_t step) {
    if (p.slot >= 0 && p.up == up)
      last[size_t(p.slot)] = step;
  };
  std::function<void(const Block &, int, int32_t)> inner = [&](const Block &b, int up, int32_t step) {
    for (const Step &s : b.steps) {
      for (const Place &p : s.inputs)
        use(p, up, step);
      for (const auto &g : s.graphs)
        inner(*g, up + 1, step);
    }
    for (const Place &p : b.outputs)
      use(p, up, step);
  };
  Block &b = *scope.block;
  for (size_t i = 0; i < b.steps.size(); i++) {
    for (const Place &p : b.steps[i].inputs)
      use(p, 0, int32_t(i));
    for (const Place &p : b.steps[i].outputs) // unread results
      use(p, 0, int32_t(i));
    for (const auto &g : b.steps[i].graphs)
      inner(*g, 1, int32_t(i));
  }
  for (const Place &p : b.outputs)
    use(p, 0, INT32_MAX);
  for (size_t slot = 0; slot < last.size(); slot++)
    if (last[slot] >= 0 && last[slot] != INT32_MAX && !scope.fixed[slot])
      b.steps[size_t(last[slot])].dead.push_back(int32_t(slot));
}

std::shared_ptr<Block> Builder::build(const Graph &g, Scope *up, const std::vector<OpsetId> &opsets) {
  auto block = std::make_shared<Block>();
  block->graph = &g;
  block->name = std::string(g.name);
  Scope scope(*block, up, opsets);
  std::unordered_map<std::string_view, const Initializer *> initial;
  for (const Initializer &i : g.initializers)
    if (!initial.emplace(i.name, &i).second)
      fail(ErrorKind::Value, "ONNX: two initializers named '" + std::string(i.name) + "'");
  for (const ValueInfo &v : g.inputs) // before IR 4 every initializer is an input, too
    if (!initial.count(v.name))
      block->inputs.push_back(scope.add(v.name, false, "graph input"));
  for (const Initializer &i : g.initializers) {
    Value v;
    v.tensor = readTensor(i.tensor, program.folder);
    v.known = Known::Always;
    block->constants.emplace_back(scope.add(i.name, true, "initializer"), std::move(v));
  }
  for (const Node &n : g.nodes)
    addStep(n, scope);
  for (const ValueInfo &v : g.outputs) {
    Place p = scope.find(v.name);
    if (p.slot < 0)
      fail(ErrorKind::Value, "ONNX: output '" + std::string(v.name) + "' isn't computed");
    block->outputs.push_back(p);
  }
  markDead(scope);
  return block;
}

/// A function's node with the call's attributes in the places that refer to them, in its graphs too.
static Node boundNode(const Node &n, const Node &call, const FunctionDef &f) {
  Node bound = n;
  bound.attributes.clear();
  for (const Attribute &a : n.attributes) {
    const Attribute *value = &a;
    if (!a.refName.empty()) {
      value = call.find(a.refName);
      for (const Attribute &d : f.defaults)
        if (!value && d.name == a.refName)
          value = &d;
      if (!value)
        continue;
    }
    bound.attributes.push_back(*value);
    bound.attributes.back().name = a.name;
    if (a.g && a.refName.empty()) {
      auto graph = std::make_shared<Graph>(*a.g);
      for (Node &inner : graph->nodes)
        inner = boundNode(inner, call, f);
      bound.attributes.back().g = graph;
    }
  }
  return bound;
}

std::shared_ptr<Block> Builder::buildFunction(const FunctionDef &f, const Node &call) {
  if (++depth > 32)
    fail(ErrorKind::Value, titleOf(call) + ": functions call each other more than 32 deep");
  auto block = std::make_shared<Block>();
  block->name = std::string(f.name);
  Scope scope(*block, nullptr, f.opsets);
  for (std::string_view name : f.inputs)
    block->inputs.push_back(scope.add(name, false, "function input"));
  for (const Node &n : f.nodes) {
    auto bound = std::make_shared<Node>(boundNode(n, call, f));
    program.boundNodes.push_back(bound);
    addStep(*bound, scope);
  }
  for (std::string_view name : f.outputs) {
    Place p = scope.find(name);
    if (p.slot < 0)
      fail(ErrorKind::Value, titleOf(call) + ": the function doesn't compute its output '" + std::string(name) + "'");
    block->outputs.push_back(p);
  }
  markDead(scope);
  depth--;
  return block;
}

} // namespace torchc::onnx
