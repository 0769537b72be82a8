// Adding records to a trace.
#include "dialects/trace/Trace.h"
#include <bit>
#include <cassert>

using namespace torchc;

namespace {

uint32_t lookUpOrAdd(std::unordered_map<std::string, uint32_t> &index, std::string key, size_t next) {
  return index.try_emplace(std::move(key), uint32_t(next)).first->second;
}

template <class T> uint32_t append(std::vector<T> &list, T record) {
  list.push_back(std::move(record));
  return uint32_t(list.size() - 1);
}

std::string sourceKey(std::string_view file, uint32_t line, std::string_view function) {
  std::string key(file);
  key += '\0';
  key += function;
  key += '\0';
  return key += std::to_string(line);
}

} // namespace

void Trace::buildIndex() {
  indexed = true;
  for (size_t i = 0; i < strings.size(); ++i)
    stringIndex.try_emplace(strings[i], uint32_t(i));
  for (size_t i = 0; i < ops.size(); ++i)
    opIndex.try_emplace(strings[ops[i].name], uint32_t(i));
  for (size_t i = 0; i < sources.size(); ++i)
    sourceIndex.try_emplace(sourceKey(sources[i].file, sources[i].line, sources[i].function), uint32_t(i));
}

uint32_t Trace::addString(std::string_view text) {
  if (!indexed)
    buildIndex();
  uint32_t i = lookUpOrAdd(stringIndex, std::string(text), strings.size());
  if (i == strings.size())
    strings.emplace_back(text);
  return i;
}

uint32_t Trace::addOp(std::string_view qualifiedName, uint32_t id) {
  if (!indexed)
    buildIndex();
  uint32_t i = lookUpOrAdd(opIndex, std::string(qualifiedName), ops.size());
  if (i == ops.size())
    ops.push_back({addString(qualifiedName), id});
  return i;
}

uint32_t Trace::addSource(std::string_view file, uint32_t line, std::string_view function) {
  if (!indexed)
    buildIndex();
  uint32_t i = lookUpOrAdd(sourceIndex, sourceKey(file, line, function), sources.size());
  if (i == sources.size())
    sources.push_back({std::string(file), std::string(function), line});
  return i;
}

uint32_t Trace::addSymbol(std::string_view name, int64_t hint, int64_t min, int64_t max) {
  return append(symbols, TraceSymbol{addString(name), hint, min, max});
}

uint32_t Trace::addStorage(int64_t nbytes, DType dtype, uint16_t device, uint8_t flags, uint32_t tag) {
  return append(storages, TraceStorage{nbytes, uint8_t(dtype), flags, device, tag});
}

uint32_t Trace::addValue(DType dtype, std::span<const TraceDim> sizes, uint32_t storage, TraceDim offset,
                         std::span<const TraceDim> strides, bool requiresGrad) {
  assert(sizes.size() <= traceMaxRank && (strides.empty() || strides.size() == sizes.size()));
  TraceValue v;
  v.dtype = dtype;
  v.rank = uint8_t(sizes.size());
  v.flags = uint16_t((requiresGrad ? TraceValue::RequiresGrad : 0) | (strides.empty() ? TraceValue::Contiguous : 0));
  v.storage = storage;
  v.firstDim = uint32_t(dims.size());
  v.offset = offset;
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  dims.insert(dims.end(), strides.begin(), strides.end());
  return append(values, v);
}

uint32_t Trace::addTensor(DType dtype, std::span<const TraceDim> sizes, bool requiresGrad) {
  int64_t nbytes = itemSize(dtype);
  for (TraceDim d : sizes)
    if (d.isSymbol() || __builtin_mul_overflow(nbytes, d.raw, &nbytes)) {
      nbytes = -1;
      break;
    }
  return addValue(dtype, sizes, addStorage(nbytes, dtype), 0, {}, requiresGrad);
}

uint32_t Trace::addNode(uint32_t op, std::span<const uint32_t> nodeInputs, std::span<const uint32_t> nodeOutputs,
                        std::span<const Attr> attributes, uint32_t source) {
  TraceNode n;
  n.op = op;
  n.source = source;
  n.firstRef = uint32_t(refs.size());
  n.firstAttr = uint32_t(attrs.size());
  n.numInputs = uint16_t(nodeInputs.size());
  n.numOutputs = uint16_t(nodeOutputs.size());
  n.numAttrs = uint16_t(attributes.size());
  refs.insert(refs.end(), nodeInputs.begin(), nodeInputs.end());
  refs.insert(refs.end(), nodeOutputs.begin(), nodeOutputs.end());
  for (const Attr &a : attributes)
    attrs.push_back(makeAttr(a));
  return append(nodes, n);
}

uint32_t Trace::addEffect(uint32_t node, EffectKind kind, uint32_t target, int64_t payload) {
  return append(effects, TraceEffect{node, kind, target, payload});
}

uint32_t Trace::addObservation(uint32_t position, uint32_t value, ObserveKind kind, Attr seen) {
  return append(observations, TraceObservation{position, value, kind, makeAttr(seen)});
}

uint32_t Trace::addInput(uint32_t value, InputKind kind, std::string_view name) {
  return append(inputs, TraceInput{value, kind, name.empty() ? traceNone : addString(name)});
}

uint32_t Trace::addNumberInput(DType dtype, std::string_view name) {
  return addInput(addValue(dtype, {}, traceNone), InputKind::Number, name);
}

uint32_t Trace::addOutput(uint32_t value, OutputKind kind, uint32_t index) {
  return append(outputs, TraceOutput{value, kind, index});
}

uint32_t Trace::addSubgraph(Trace graph) { return append(subgraphs, std::move(graph)); }

TraceAttr Trace::makeAttr(const Attr &a) {
  TraceAttr t;
  t.tag = a.tag;
  switch (a.tag) {
  case AttrTag::Str: t.bits = addString({a.str, a.size}); break;
  case AttrTag::IntList:
    t.bits = int64_t(ints.size());
    t.size = a.size;
    ints.insert(ints.end(), a.list, a.list + a.size);
    break;
  case AttrTag::Float: t.bits = std::bit_cast<int64_t>(a.f); break;
  case AttrTag::None: break;
  default: t.bits = a.i;
  }
  return t;
}

Attr Trace::attr(const TraceAttr &t) const {
  Attr a;
  switch (t.tag) {
  case AttrTag::Str: return Attr::string(strings[t.bits].data(), uint32_t(strings[t.bits].size()));
  case AttrTag::IntList: return Attr::ints(ints.data() + t.bits, t.size);
  case AttrTag::Float: return Attr::number(std::bit_cast<double>(t.bits));
  default:
    a.tag = t.tag;
    a.i = t.bits;
    return a;
  }
}

bool torchc::resolveOps(Trace &trace, LookupOp lookup, Diag &diag) {
  for (TraceOp &op : trace.ops) {
    std::string_view name = trace.strings[op.name];
    op.id = name == condName ? condOp : name == whileName ? whileOp : lookup(name);
    if (op.id == unresolvedOp)
      return diag.fail(ErrorKind::NotImplemented,
                       "the trace uses op '" + std::string(name) + "', which this build doesn't have");
  }
  for (Trace &sub : trace.subgraphs)
    if (!resolveOps(sub, lookup, diag))
      return false;
  return true;
}
