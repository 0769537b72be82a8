// What must hold in every trace, whoever made it. The reader runs this on files, the tracer in
// development builds.
#include "dialects/trace/Trace.h"

using namespace torchc;

namespace {

class Verifier {
public:
  Verifier(const Trace &trace, Diag &diag) : t(trace), diag(diag) {}

  bool run() {
    return limits() && opsAndSymbols() && storages() && values() && inputs() && nodes() && effects() &&
           observations() && outputs() && subgraphs();
  }

private:
  const Trace &t;
  Diag &diag;
  std::vector<bool> defined;

  /// "node 5: input 1 is value 9, but ..."
  bool fail(const char *what, size_t index, std::string problem) {
    return diag.fail(ErrorKind::Runtime, "trace: " + std::string(what) + " " + std::to_string(index) + ": " + problem);
  }
  static std::string refers(const char *what, uint64_t index, size_t count) {
    return std::string("refers to ") + what + " " + std::to_string(index) + ", but there are " + std::to_string(count);
  }
  bool dimOk(TraceDim d) const { return !d.isSymbol() || ~d.raw < int64_t(t.symbols.size()); }

  // Indices are 32 bits and traceNone is taken; a trace made in memory could be larger.
  bool limits() {
    for (size_t n :
         {t.strings.size(), t.ops.size(), t.sources.size(), t.symbols.size(), t.storages.size(), t.values.size(),
          t.nodes.size(), t.dims.size(), t.refs.size(), t.attrs.size(), t.inputs.size(), t.outputs.size()})
      if (n >= traceNone)
        return diag.fail(ErrorKind::Runtime, "trace: more than 2^32 - 2 records of one kind");
    return true;
  }

  bool opsAndSymbols() {
    for (size_t i = 0; i < t.ops.size(); ++i) {
      if (t.ops[i].name >= t.strings.size())
        return fail("op", i, refers("string", t.ops[i].name, t.strings.size()));
      if (!nameOk(t.strings[t.ops[i].name]))
        return fail("op", i, "name expected (letters, digits, '_', '.', ':'), got something else");
    }
    for (size_t i = 0; i < t.symbols.size(); ++i) {
      const TraceSymbol &s = t.symbols[i];
      if (s.name >= t.strings.size())
        return fail("symbol", i, refers("string", s.name, t.strings.size()));
      if (s.min < 0 || s.min > s.hint || s.hint > s.max)
        return fail("symbol", i,
                    "0 <= min <= hint <= max expected, got " + std::to_string(s.min) + ", " + std::to_string(s.hint) +
                        ", " + std::to_string(s.max));
    }
    return true;
  }

  static bool nameOk(std::string_view name) {
    for (char c : name)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
            c == ':'))
        return false;
    return !name.empty();
  }

  bool storages() {
    for (size_t i = 0; i < t.storages.size(); ++i) {
      const TraceStorage &s = t.storages[i];
      if (s.nbytes < -1)
        return fail("storage", i, "size >= 0 expected, got " + std::to_string(s.nbytes));
      if (s.dtype >= numDTypes && s.dtype != TraceStorage::noDType)
        return fail("storage", i, "unknown dtype number " + std::to_string(s.dtype));
      if (s.flags & ~TraceStorage::knownFlags)
        return fail("storage", i, "unknown flags " + std::to_string(s.flags));
    }
    return true;
  }

  bool values() {
    for (size_t i = 0; i < t.values.size(); ++i) {
      const TraceValue &v = t.values[i];
      if (unsigned(v.dtype) >= unsigned(numDTypes))
        return fail("value", i, "unknown dtype number " + std::to_string(unsigned(v.dtype)));
      if (v.rank > traceMaxRank)
        return fail("value", i, "rank of at most 64 expected, got " + std::to_string(v.rank));
      if (v.flags & ~TraceValue::knownFlags)
        return fail("value", i, "unknown flags " + std::to_string(v.flags));
      if (v.storage != traceNone && v.storage >= t.storages.size())
        return fail("value", i, refers("storage", v.storage, t.storages.size()));
      size_t dims = v.flags & TraceValue::Contiguous ? v.rank : 2 * v.rank;
      if (v.firstDim > t.dims.size() || t.dims.size() - v.firstDim < dims)
        return fail("value", i, "sizes lie outside the pool");
      if (!dimOk(v.offset))
        return fail("value", i, refers("symbol", uint64_t(~v.offset.raw), t.symbols.size()));
      for (size_t k = 0; k < dims; ++k)
        if (!dimOk(t.dims[v.firstDim + k]))
          return fail("value", i, refers("symbol", uint64_t(~t.dims[v.firstDim + k].raw), t.symbols.size()));
      if (!extentOk(v))
        return fail("value", i, "it reaches beyond its storage, or its size overflows");
    }
    return true;
  }

  /// With constant sizes, the last element must lie in the storage; with symbols that is checked at
  /// run time.
  bool extentOk(const TraceValue &v) const {
    auto sizes = t.sizesOf(v), strides = t.stridesOf(v);
    int64_t numel = 1, last = 0, step = 1;
    bool empty = false;
    for (TraceDim d : sizes) {
      if (d.isSymbol())
        return true;
      empty |= d.raw == 0;
    }
    for (TraceDim s : strides)
      if (s.isSymbol())
        return true;
    if (empty || v.offset.isSymbol())
      return true;
    for (size_t k = sizes.size(); k-- > 0;) {
      int64_t stride = strides.empty() ? step : strides[k].raw, reach = 0;
      if (__builtin_mul_overflow(numel, sizes[k].raw, &numel) ||
          __builtin_mul_overflow(sizes[k].raw - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last))
        return false;
      step = numel;
    }
    int64_t end = 0;
    if (__builtin_add_overflow(last, v.offset.raw, &end) || __builtin_add_overflow(end, 1, &end) ||
        __builtin_mul_overflow(end, itemSize(v.dtype), &end) ||
        __builtin_mul_overflow(numel, itemSize(v.dtype), &numel))
      return false;
    return v.storage == traceNone || t.storages[v.storage].nbytes < 0 || end <= t.storages[v.storage].nbytes;
  }

  bool define(const char *what, size_t index, uint32_t value) {
    if (value >= t.values.size())
      return fail(what, index, refers("value", value, t.values.size()));
    if (defined[value])
      return fail(what, index, "value %" + std::to_string(value) + " already has a definition");
    defined[value] = true;
    return true;
  }
  bool use(const char *what, size_t index, uint32_t value) {
    if (value >= t.values.size())
      return fail(what, index, refers("value", value, t.values.size()));
    return defined[value] || fail(what, index, "value %" + std::to_string(value) + " is used before its definition");
  }

  bool inputs() {
    defined.assign(t.values.size(), false);
    for (size_t i = 0; i < t.inputs.size(); ++i) {
      const TraceInput &in = t.inputs[i];
      if (!define("input", i, in.value))
        return false;
      if (in.kind >= InputKind::NumKinds)
        return fail("input", i, "unknown kind " + std::to_string(uint32_t(in.kind)));
      if (in.name != traceNone && in.name >= t.strings.size())
        return fail("input", i, refers("string", in.name, t.strings.size()));
      const TraceValue &v = t.values[in.value];
      if (in.kind == InputKind::Number &&
          (v.rank || v.storage != traceNone || (v.dtype != DType::I64 && v.dtype != DType::F64)))
        return fail("input", i, "a number must be a 0-d i64 or f64 value without storage");
    }
    return true;
  }

  bool attr(const char *what, size_t index, const TraceAttr &a) {
    uint64_t ref = uint64_t(a.bits);
    switch (a.tag) {
    case AttrTag::None:
    case AttrTag::Int:
    case AttrTag::Float:
    case AttrTag::Device: return true;
    case AttrTag::Bool: return ref <= 1 || fail(what, index, "bool attribute of 0 or 1 expected");
    case AttrTag::DType: return ref < uint64_t(numDTypes) || fail(what, index, "unknown dtype number in an attribute");
    case AttrTag::Str: return ref < t.strings.size() || fail(what, index, refers("string", ref, t.strings.size()));
    case AttrTag::IntList:
      return (ref <= t.ints.size() && t.ints.size() - ref >= a.size) ||
             fail(what, index, "a list lies outside the pool");
    case AttrTag::Hole:
      if (ref >= t.inputs.size())
        return fail(what, index, refers("input", ref, t.inputs.size()));
      return t.inputs[ref].kind == InputKind::Number || fail(what, index, "a hole must refer to a number input");
    case AttrTag::Graph:
      return ref < t.subgraphs.size() || fail(what, index, refers("subgraph", ref, t.subgraphs.size()));
    }
    return fail(what, index, "unknown attribute tag " + std::to_string(unsigned(a.tag)));
  }

  bool nodes() {
    for (size_t i = 0; i < t.nodes.size(); ++i) {
      const TraceNode &n = t.nodes[i];
      if (n.op >= t.ops.size())
        return fail("node", i, refers("op", n.op, t.ops.size()));
      if (n.source != traceNone && n.source >= t.sources.size())
        return fail("node", i, refers("source", n.source, t.sources.size()));
      size_t refs = size_t(n.numInputs) + n.numOutputs;
      if (n.firstRef > t.refs.size() || t.refs.size() - n.firstRef < refs || n.firstAttr > t.attrs.size() ||
          t.attrs.size() - n.firstAttr < n.numAttrs)
        return fail("node", i, "operands or attributes lie outside the pool");
      for (uint32_t v : t.inputsOf(n))
        if (v != traceNone && !use("node", i, v))
          return false;
      for (uint32_t v : t.outputsOf(n))
        if (v != traceNone && !define("node", i, v))
          return false;
      for (const TraceAttr &a : t.attrsOf(n))
        if (!attr("node", i, a))
          return false;
    }
    return true;
  }

  bool effects() {
    uint32_t before = 0;
    for (size_t i = 0; i < t.effects.size(); ++i) {
      const TraceEffect &e = t.effects[i];
      if (e.node >= t.nodes.size())
        return fail("effect", i, refers("node", e.node, t.nodes.size()));
      if (e.node < before)
        return fail("effect", i, "effects must be in node order");
      before = e.node;
      if (e.kind >= EffectKind::NumKinds)
        return fail("effect", i, "unknown kind " + std::to_string(uint32_t(e.kind)));
      if (e.kind == EffectKind::Write ? e.target >= t.storages.size() : e.target != traceNone)
        return fail("effect", i,
                    e.kind == EffectKind::Write ? refers("storage", e.target, t.storages.size())
                                                : std::string("only a write has a target"));
      if (e.kind == EffectKind::Random && e.payload < 0)
        return fail("effect", i, "ordinal >= 0 expected, got " + std::to_string(e.payload));
    }
    return true;
  }

  bool observations() {
    uint32_t before = 0;
    for (size_t i = 0; i < t.observations.size(); ++i) {
      const TraceObservation &o = t.observations[i];
      if (o.position > t.nodes.size())
        return fail("observation", i, refers("node", o.position, t.nodes.size()));
      if (o.position < before)
        return fail("observation", i, "observations must be in node order");
      before = o.position;
      if (o.kind >= ObserveKind::NumKinds)
        return fail("observation", i, "unknown kind " + std::to_string(uint32_t(o.kind)));
      if (!use("observation", i, o.value) || !attr("observation", i, o.seen))
        return false;
    }
    return observedInTime();
  }

  /// A value must have been defined by the nodes before the observation.
  bool observedInTime() {
    if (t.observations.empty())
      return true;
    std::vector<uint32_t> definedAfter(t.values.size(), 0);
    for (size_t i = 0; i < t.nodes.size(); ++i)
      for (uint32_t v : t.outputsOf(t.nodes[i]))
        if (v != traceNone)
          definedAfter[v] = uint32_t(i + 1);
    for (size_t i = 0; i < t.observations.size(); ++i)
      if (definedAfter[t.observations[i].value] > t.observations[i].position)
        return fail("observation", i, "the value is computed only later");
    return true;
  }

  bool outputs() {
    for (size_t i = 0; i < t.outputs.size(); ++i) {
      const TraceOutput &o = t.outputs[i];
      if (!use("output", i, o.value))
        return false;
      if (o.kind >= OutputKind::NumKinds)
        return fail("output", i, "unknown kind " + std::to_string(uint32_t(o.kind)));
      if (o.kind == OutputKind::Grad && o.index >= t.inputs.size())
        return fail("output", i, refers("input", o.index, t.inputs.size()));
    }
    return true;
  }

  bool subgraphs() {
    for (size_t i = 0; i < t.subgraphs.size(); ++i)
      if (!verifyTrace(t.subgraphs[i], diag)) {
        diag.text += " (in subgraph " + std::to_string(i) + ")";
        return false;
      }
    return true;
  }
};

} // namespace

bool torchc::verifyTrace(const Trace &trace, Diag &diag) { return Verifier(trace, diag).run(); }
