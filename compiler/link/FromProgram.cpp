#include "compiler/link/FromProgram.h"

using namespace llvm;
namespace torchc::link {

bool parseObjectMeta(StringRef text, ObjectMeta &meta, Diag &diag) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return diag.fail(ErrorKind::Internal, "object metadata: " + toString(value.takeError()));
  const json::Object *o = value->getAsObject();
  const json::Array *results = o ? o->getArray("results") : nullptr;
  std::optional<int64_t> arena = o ? o->getInteger("arena_bytes") : std::nullopt;
  if (!results || !arena || *arena < 0)
    return diag.fail(ErrorKind::Internal, "object metadata: expected arena_bytes and results");
  meta.arenaBytes = uint64_t(*arena);
  for (const json::Value &v : *results) {
    const json::Object *r = v.getAsObject();
    std::optional<int64_t> storage = r ? r->getInteger("storage") : std::nullopt;
    if (!storage || *storage < 0)
      return diag.fail(ErrorKind::Internal, "object metadata: expected the storage of a result");
    meta.results.push_back({uint32_t(*storage), r->getInteger("input").value_or(-1)});
  }
  return true;
}

namespace {

class Importer {
public:
  Importer(const SavedProgram &p, Model &m, Diag &diag) : p(p), t(p.trace), m(m), diag(diag) {}

  bool run(const ObjectMeta &meta) {
    m.arenaBytes = meta.arenaBytes;
    for (const TraceSymbol &s : t.symbols)
      m.symbols.push_back(t.strings[s.name]);
    for (uint32_t i = 0; i < t.inputs.size(); ++i)
      if (!addInput(i))
        return false;
    for (const ObjectMeta::Result &r : meta.results)
      if (!addResult(r))
        return false;
    return true;
  }

private:
  std::string inputName(uint32_t i) const {
    uint32_t name = t.inputs[i].name;
    return name == traceNone || t.strings[name].empty() ? "input" + std::to_string(i) : t.strings[name];
  }

  bool describe(const TraceValue &v, std::string name, std::vector<TensorDesc> &to) {
    bool whole = v.flags & TraceValue::Contiguous && v.offset == TraceDim(0);
    if (!whole)
      return diag.fail(ErrorKind::NotImplemented,
                       "'" + name + "' is a view of other memory, which an artefact can't take or give yet");
    TensorDesc d{std::move(name), v.dtype, {}};
    for (TraceDim dim : t.sizesOf(v))
      d.dims.push_back(dim.raw);
    to.push_back(std::move(d));
    return true;
  }

  bool addInput(uint32_t i) {
    const TraceInput &in = t.inputs[i];
    if (const SafeTensor *w = p.weightOf(in)) {
      m.weights.push_back(StringRef(reinterpret_cast<const char *>(w->data.data()), w->data.size()));
      m.weightSlots.push_back(i);
      return true;
    }
    if (in.kind != InputKind::Argument)
      return diag.fail(ErrorKind::NotImplemented,
                       "input " + inputName(i) +
                           ": a number that changes from call to call can't be an input of an artefact yet");
    m.inputSlots.push_back(i);
    return describe(t.values[in.value], inputName(i), m.inputs);
  }

  /// The value that fills a storage: an output of the trace, or the input whose content is replaced.
  bool addResult(const ObjectMeta::Result &r) {
    if (r.input >= int64_t(t.inputs.size()))
      return diag.fail(ErrorKind::Internal, "object metadata: input " + std::to_string(r.input) + " doesn't exist");
    if (r.input >= 0)
      return describe(t.values[t.inputs[r.input].value], "updated_" + inputName(uint32_t(r.input)), m.outputs);
    for (uint32_t k = 0; k < t.outputs.size(); ++k) {
      const TraceValue &v = t.values[t.outputs[k].value];
      if (v.storage == r.storage)
        return describe(v, t.outputs.size() == 1 ? "output" : "output" + std::to_string(k), m.outputs);
    }
    return diag.fail(ErrorKind::Internal,
                     "object metadata: storage " + std::to_string(r.storage) + " belongs to no output");
  }

  const SavedProgram &p;
  const Trace &t;
  Model &m;
  Diag &diag;
};
} // namespace

bool modelFromProgram(const SavedProgram &program, const ObjectMeta &meta, Model &model, Diag &diag) {
  return Importer(program, model, diag).run(meta);
}

} // namespace torchc::link
