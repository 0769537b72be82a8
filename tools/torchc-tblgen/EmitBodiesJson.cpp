// bodies.json: ops, their API and scalar bodies, for the test oracle and the documentation.
#include "Emitters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace torchc::tblgen {
namespace {

json::Array body(const std::vector<BodyNode> &nodes) {
  json::Array out;
  for (const BodyNode &n : nodes) {
    json::Object o{{"op", n.op}};
    const char *keys[3] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
      if (n.args[i] >= 0)
        o[keys[i]] = n.args[i];
    if (n.op == "Arg" || n.op == "Const" || n.op == "Bits" || n.op == "ConstI")
      o["bits"] = "0x" + utohexstr(n.bits);
    out.push_back(std::move(o));
  }
  return out;
}

json::Array api(const std::vector<ApiModel> &list) {
  json::Array out;
  for (const ApiModel &a : list) {
    json::Array params;
    for (const Param &p : a.params)
      params.push_back(json::Object{{"type", p.type},
                                    {"name", p.name},
                                    {"default", p.hasDefault ? json::Value(p.defaultValue) : json::Value(nullptr)},
                                    {"keyword", p.keywordOnly}});
    out.push_back(json::Object{
        {"name", a.name}, {"params", std::move(params)}, {"result", a.result}, {"kinds", json::Array(a.kinds)}});
  }
  return out;
}

} // namespace

void emitBodiesJson(const Table &table, raw_ostream &os) {
  json::Array ops;
  const char *kinds[NumBodies] = {"f32", "f64", "int", "bool"};
  for (auto [id, op] : enumerate(table.ops)) {
    json::Object bodies;
    for (int k = 0; k < NumBodies; k++)
      if (!op.bodies[k].empty())
        bodies[kinds[k]] = body(op.bodies[k]);
    json::Array attrs;
    for (const AttrModel &a : op.attrs)
      attrs.push_back(json::Object{{"name", a.name}, {"tag", a.tag}});
    ops.push_back(json::Object{{"name", op.name},
                               {"id", int64_t(id)},
                               {"summary", op.summary},
                               {"family", op.family},
                               {"promote", op.promote},
                               {"shape", op.shape},
                               {"operands", json::Array(op.operands)},
                               {"attrs", std::move(attrs)},
                               {"flags", json::Array(op.flags)},
                               {"onnx", json::Array(op.onnx)},
                               {"differentiable", int64_t(op.differentiable)},
                               {"decompose", op.decompose},
                               {"complex", op.complex},
                               {"api", api(op.api)},
                               {"bodies", std::move(bodies)}});
  }
  os << formatv("{0:2}\n", json::Value(json::Object{{"ops", std::move(ops)}, {"composites", api(table.composites)}}));
}

} // namespace torchc::tblgen
