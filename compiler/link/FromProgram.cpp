#include "compiler/link/FromProgram.h"
#include "dialects/rules/DTypeName.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace llvm;
namespace torchc::link {

static bool parseType(const json::Object *o, DType &dtype, std::vector<int64_t> &dims, Diag &diag) {
  std::optional<DType> found = o ? parseDType(o->getString("dtype").value_or("")) : std::nullopt;
  const json::Array *list = o ? o->getArray("dims") : nullptr;
  if (!found || !list)
    return diag.fail(ErrorKind::Internal, "object metadata: expected dtype and dims");
  dtype = *found;
  for (const json::Value &d : *list)
    dims.push_back(d.getAsInteger().value_or(0));
  return true;
}

static bool parseResult(const json::Value &value, ObjectMeta &meta, Diag &diag) {
  ObjectMeta::Result r;
  const json::Object *o = value.getAsObject();
  if (!parseType(o, r.dtype, r.dims, diag))
    return false;
  r.storage = o->getInteger("storage").value_or(-1);
  r.gradient = o->getInteger("gradient").value_or(-1);
  meta.results.push_back(std::move(r));
  return true;
}

static bool parseInput(const json::Value &value, ObjectMeta &meta, Diag &diag) {
  const json::Object *o = value.getAsObject();
  std::optional<int64_t> of = o ? o->getInteger("cotangent") : std::nullopt;
  if (!of)
    return true;
  ObjectMeta::Cotangent c;
  c.of = *of;
  if (!parseType(o, c.dtype, c.dims, diag))
    return false;
  meta.cotangents.push_back(std::move(c));
  return true;
}

/// [dtype, m, n, k, A's row and k strides, B's k and column strides, C's row stride, whether chains start from C]
static bool parseProduct(const json::Value &value, ObjectMeta &meta, Diag &diag) {
  const json::Array *a = value.getAsArray();
  ObjectMeta::Product p;
  int64_t *fields[] = {&p.m, &p.n, &p.k, &p.aRow, &p.aK, &p.bK, &p.bColumn, &p.cRow, &p.start};
  std::optional<DType> dtype = a && a->size() == 10 ? parseDType((*a)[0].getAsString().value_or("")) : std::nullopt;
  if (!dtype)
    return diag.fail(ErrorKind::Internal, "object metadata: expected a product as ten values");
  p.dtype = *dtype;
  for (auto [i, field] : enumerate(fields))
    *field = (*a)[i + 1].getAsInteger().value_or(0);
  meta.products.push_back(p);
  return true;
}

/// [dtype, what is computed, the fields of ConvGeometry]
static bool parseConvolution(const json::Value &value, ObjectMeta &meta, Diag &diag) {
  const json::Array *a = value.getAsArray();
  std::optional<DType> dtype =
      a && a->size() == 2 + convGeometryFields ? parseDType((*a)[0].getAsString().value_or("")) : std::nullopt;
  int64_t what = dtype ? (*a)[1].getAsInteger().value_or(-1) : -1, fields[convGeometryFields];
  if (what < 0 || what > int64_t(ConvWhat::Weight))
    return diag.fail(ErrorKind::Internal, "object metadata: expected a convolution as a type and its geometry");
  for (int i = 0; i < convGeometryFields; ++i)
    fields[i] = (*a)[size_t(i) + 2].getAsInteger().value_or(0);
  ObjectMeta::Convolution c{*dtype, ConvWhat(what), {}};
  memcpy(&c.geometry, fields, sizeof fields);
  meta.convolutions.push_back(c);
  return true;
}

bool parseObjectMeta(StringRef text, ObjectMeta &meta, Diag &diag) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return diag.fail(ErrorKind::Internal, "object metadata: " + toString(value.takeError()));
  const json::Object *o = value->getAsObject();
  const json::Array *results = o ? o->getArray("results") : nullptr;
  const json::Array *writes = o ? o->getArray("writes") : nullptr;
  std::optional<int64_t> arena = o ? o->getInteger("arena") : std::nullopt;
  std::optional<StringRef> entry = o ? o->getString("entry") : std::nullopt;
  if (!results || !writes || !entry || !arena || *arena < 0)
    return diag.fail(ErrorKind::Internal, "object metadata: expected entry, arena, results and writes");
  meta.entry = entry->str();
  meta.arenaBytes = uint64_t(*arena);
  meta.loops = o->getBoolean("loops").value_or(false);
  for (const json::Value &v : *writes)
    meta.writtenInputs.push_back(v.getAsObject() ? v.getAsObject()->getInteger("input").value_or(-1) : -1);
  for (const json::Value &v : *results)
    if (!parseResult(v, meta, diag))
      return false;
  if (const json::Array *inputs = o->getArray("inputs"))
    for (const json::Value &v : *inputs)
      if (!parseInput(v, meta, diag))
        return false;
  if (const json::Array *contents = o->getArray("contents"))
    for (const json::Value &v : *contents)
      meta.contents.push_back(v.getAsInteger().value_or(-1));
  if (const json::Array *products = o->getArray("products"))
    for (const json::Value &v : *products)
      if (!parseProduct(v, meta, diag))
        return false;
  if (const json::Array *convolutions = o->getArray("convolutions"))
    for (const json::Value &v : *convolutions)
      if (!parseConvolution(v, meta, diag))
        return false;
  return true;
}

void makeOutputsWhole(Trace &t) {
  uint32_t cast = t.addOp("cast");
  for (TraceOutput &o : t.outputs) {
    const TraceValue v = t.values[o.value];
    auto sizes = t.sizesOf(v);
    const std::vector<TraceDim> dims(sizes.begin(), sizes.end());
    uint32_t whole = t.addTensor(v.dtype, dims);
    const Attr attrs[] = {Attr::dtype(v.dtype), Attr::boolean(true)}; // the second: a copy for the caller's sake
    t.addNode(cast, {&o.value, 1}, {&whole, 1}, attrs);
    o.value = whole;
  }
}

namespace {

class Importer {
public:
  Importer(const SavedProgram &p, Model &m, Diag &diag) : p(p), t(p.trace), m(m), diag(diag) {}

  bool run(const ObjectMeta &meta) {
    m.arenaBytes = meta.arenaBytes;
    m.entry = meta.entry;
    written.insert(meta.writtenInputs.begin(), meta.writtenInputs.end());
    for (const TraceSymbol &s : t.symbols)
      m.symbols.push_back(t.strings[s.name]);
    for (uint32_t i = 0; i < t.inputs.size(); ++i)
      if (!addInput(i))
        return false;
    if (!addGradients(meta))
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

  std::string outputName(uint32_t k) const {
    const TraceOutput &o = t.outputs[k];
    if (o.kind == OutputKind::Grad && o.index < t.inputs.size())
      return inputName(o.index) + ".grad";
    if (namesFit)
      return p.outputNames[k];
    return t.outputs.size() == 1 ? "output" : "output" + std::to_string(k);
  }

  /// Whether an artefact can call its outputs as the model does (`--output NAME=FILE`).
  static bool canBeNames(const std::vector<std::string> &names) {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size() &&
           all_of(names, [](const std::string &name) { return isTensorName(name); });
  }

  static bool isWhole(const TraceValue &v) { return v.flags & TraceValue::Contiguous && v.offset == TraceDim(0); }

  bool describe(const TraceValue &v, std::string name, std::vector<TensorDesc> &to) {
    if (!isWhole(v))
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
    bool isWritten = written.count(i);
    if (const SafeTensor *w = isWritten ? nullptr : p.weightOf(in)) {
      if (!isWhole(t.values[in.value]))
        return diag.fail(ErrorKind::NotImplemented,
                         "weight '" + inputName(i) + "' is not row-major, which an artefact can't hold yet");
      m.weights.push_back(StringRef(reinterpret_cast<const char *>(w->data.data()), w->data.size()));
      m.weightSlots.push_back(i);
      return true;
    }
    m.inputSlots.push_back(i);
    if (!describe(t.values[in.value], inputName(i), m.inputs))
      return false;
    m.inputs.back().written = isWritten;
    return true;
  }

  /// The output of the trace that is the whole storage, or -1.
  int64_t outputOf(int64_t storage) const {
    for (uint32_t k = 0; k < t.outputs.size(); ++k)
      if (int64_t(t.values[t.outputs[k].value].storage) == storage)
        return k;
    return -1;
  }

  /// What a result of @main is called: an output, or an input that is written.
  std::string contentName(int64_t storage) const {
    if (int64_t k = outputOf(storage); k >= 0)
      return outputName(uint32_t(k));
    for (uint32_t i = 0; i < t.inputs.size(); ++i)
      if (int64_t(t.values[t.inputs[i].value].storage) == storage)
        return inputName(i);
    return "output";
  }

  /// "x.grad"; "x.grad2" when the function is differentiated again.
  static std::string derived(const std::string &name, std::map<std::string, int> &used) {
    int n = ++used[name];
    return name + ".grad" + (n > 1 ? std::to_string(n) : "");
  }

  /// Names cotangents and gradients after what they belong to, and adds the cotangents as inputs.
  bool addGradients(const ObjectMeta &meta) {
    std::vector<std::string> arguments, results;
    for (uint32_t i = 0; i < t.inputs.size(); ++i)
      arguments.push_back(inputName(i));
    for (int64_t storage : meta.contents)
      results.push_back(contentName(storage));
    std::map<std::string, int> usedInputs, usedOutputs;
    auto cotangents = meta.cotangents.begin();
    auto gradients = meta.results.begin();
    auto more = [&] { return gradients != meta.results.end(); };
    while (more() && gradients->gradient < 0)
      ++gradients;
    // Each round of differentiation adds cotangents of all results so far, then gradients of arguments before these.
    while (cotangents != meta.cotangents.end() || more()) {
      int64_t known = int64_t(results.size()), last = -1;
      for (; cotangents != meta.cotangents.end() && cotangents->of > last && cotangents->of < known; ++cotangents) {
        last = cotangents->of;
        arguments.push_back(derived(results[size_t(last)], usedInputs));
        m.inputSlots.push_back(uint32_t(arguments.size()) - 1);
        m.inputs.push_back({arguments.back(), cotangents->dtype, cotangents->dims});
      }
      int64_t lastOf = -1;
      for (; more() && gradients->gradient > lastOf && gradients->gradient < int64_t(arguments.size()); ++gradients) {
        lastOf = gradients->gradient;
        results.push_back(derived(arguments[size_t(lastOf)], usedOutputs));
        gradientNames.push_back(results.back());
      }
      if (last < 0 && lastOf < 0)
        return diag.fail(ErrorKind::Internal, "object metadata: cotangents and gradients don't fit");
    }
    return true;
  }

  /// An output of the trace that is the whole storage, or a gradient.
  bool addResult(const ObjectMeta::Result &r) {
    if (r.storage < 0) {
      if (gradients == gradientNames.size())
        return diag.fail(ErrorKind::Internal, "object metadata: a result is neither a storage nor a gradient");
      m.outputs.push_back({gradientNames[gradients++], r.dtype, r.dims});
      return true;
    }
    int64_t k = outputOf(r.storage);
    if (k >= 0)
      return describe(t.values[t.outputs[size_t(k)].value], outputName(uint32_t(k)), m.outputs);
    return diag.fail(ErrorKind::Internal,
                     "object metadata: storage " + std::to_string(r.storage) + " belongs to no output");
  }

  const SavedProgram &p;
  const Trace &t;
  Model &m;
  Diag &diag;
  const bool namesFit = p.outputNames.size() == t.outputs.size() && canBeNames(p.outputNames);
  size_t gradients = 0; // that were added
  std::vector<std::string> gradientNames;
  std::set<int64_t> written; // inputs by number
};
} // namespace

bool modelFromProgram(const SavedProgram &program, const ObjectMeta &meta, Model &model, Diag &diag) {
  return Importer(program, model, diag).run(meta);
}

} // namespace torchc::link
