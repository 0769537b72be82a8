#pragma once
#include "frontends/onnx/Program.h"

namespace torchc::onnx {

/// Names of a block while it is built.
struct Scope {
  Block *block;
  Scope *up;
  const std::vector<OpsetId> &opsets;
  std::unordered_map<std::string_view, int32_t> slots;
  std::vector<bool> fixed;

  Scope(Block &b, Scope *up, const std::vector<OpsetId> &opsets) : block(&b), up(up), opsets(opsets) {}
  int64_t opsetOf(std::string_view domain) const {
    for (const OpsetId &o : opsets)
      if (o.domain == domain || (domain == "ai.onnx" && o.domain.empty()))
        return o.version;
    return domain.empty() && opsets.empty() ? 1 : 0; // the first files name none
  }
  Place find(std::string_view name) const {
    Place p;
    for (const Scope *s = this; s; s = s->up, p.up++) {
      auto it = s->slots.find(name);
      if (it != s->slots.end()) {
        p.slot = it->second;
        return p;
      }
    }
    return Place();
  }
  int32_t add(std::string_view name, bool isFixed, const std::string &by) {
    if (!slots.emplace(name, block->numSlots).second)
      fail(ErrorKind::Value, by + ": there are two values named '" + std::string(name) + "'");
    fixed.push_back(isFixed);
    return block->numSlots++;
  }
};

class Builder {
public:
  explicit Builder(Program &p) : program(p) {}
  std::shared_ptr<Block> build(const Graph &g, Scope *up, const std::vector<OpsetId> &opsets);

private:
  std::shared_ptr<Block> buildFunction(const FunctionDef &f, const Node &call);
  void addStep(const Node &n, Scope &scope);
  void checkAttributes(const Node &n, const SchemaRow &s) const;
  const FunctionDef *functionOf(const Node &n) const;
  static void markDead(Scope &scope);
  Program &program;
  int depth = 0;
  int64_t expanded = 0; // nodes of functions, counted at each call
};

} // namespace torchc::onnx
