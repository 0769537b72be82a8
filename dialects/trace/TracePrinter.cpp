// Text for people: `--emit=trace`, error reports and tests.
#include "dialects/trace/TraceFile.h"
#include <bit>
#include <charconv>

using namespace torchc;

namespace {

class Printer {
public:
  Printer(const Trace &t, std::string &out, std::string indent) : t(t), out(out), indent(std::move(indent)) {}

  void run() {
    line("trace {");
    for (const TraceSymbol &s : t.symbols)
      line("  symbol " + t.strings[s.name] + " = " + num(s.hint) + " in [" + num(s.min) + ", " +
           (s.max == std::numeric_limits<int64_t>::max() ? "..." : num(s.max)) + "]");
    for (const TraceInput &i : t.inputs)
      input(i);
    size_t effect = 0, seen = 0;
    for (size_t i = 0; i <= t.nodes.size(); ++i) {
      for (; seen < t.observations.size() && t.observations[seen].position == i; ++seen)
        observation(t.observations[seen]);
      if (i < t.nodes.size())
        node(t.nodes[i], i, effect);
    }
    for (const TraceOutput &o : t.outputs)
      output(o);
    for (size_t i = 0; i < t.subgraphs.size(); ++i) {
      line("  graph @" + num(i) + " =");
      Printer(t.subgraphs[i], out, indent + "    ").run();
    }
    line("}");
  }

private:
  const Trace &t;
  std::string &out;
  std::string indent;

  template <class T> static std::string num(T v) { return std::to_string(v); }
  void line(const std::string &text) { out += indent + text + '\n'; }
  static std::string ref(uint32_t v) { return v == traceNone ? "none" : "%" + num(v); }

  std::string dim(TraceDim d) const { return d.isSymbol() ? t.strings[t.symbols[d.symbolIndex()].name] : num(d.raw); }
  std::string list(std::span<const TraceDim> dims) const {
    std::string s = "[";
    for (size_t i = 0; i < dims.size(); ++i)
      s += (i ? "," : "") + dim(dims[i]);
    return s + "]";
  }

  /// `f32[64,10]`, and for a view the storage and where in it: `f32[10] @s2+64 strides[1]`.
  std::string type(uint32_t value) const {
    if (value == traceNone)
      return "none";
    const TraceValue &v = t.values[value];
    std::string s(shortName(v.dtype));
    s += list(t.sizesOf(v));
    if (v.storage == traceNone)
      return s + " number";
    s += " @s" + num(v.storage);
    if (t.storages[v.storage].flags & TraceStorage::External)
      s += "!";
    if (v.offset != TraceDim(0))
      s += "+" + dim(v.offset);
    if (!(v.flags & TraceValue::Contiguous))
      s += " strides" + list(t.stridesOf(v));
    if (v.flags & TraceValue::RequiresGrad)
      s += " grad";
    return s;
  }

  static std::string quoted(std::string_view text) {
    std::string s = "\"";
    for (char c : text) {
      if (c == '"' || c == '\\')
        s += '\\';
      if (uint8_t(c) < 0x20 || c == 0x7f)
        s += "\\x" + std::string(1, "0123456789abcdef"[uint8_t(c) >> 4]) + "0123456789abcdef"[c & 15];
      else
        s += c;
    }
    return s + '"';
  }

  /// The shortest text that reads back as the same double, always with a mark of a float.
  static std::string floatText(double v) {
    char buffer[40];
    auto end = std::to_chars(buffer, buffer + sizeof(buffer), v).ptr;
    std::string s(buffer, end);
    return s.find_first_of(".enai") == std::string::npos ? s + ".0" : s;
  }

  std::string attr(const TraceAttr &a) const {
    switch (a.tag) {
    case AttrTag::None: return "none";
    case AttrTag::Bool: return a.bits ? "true" : "false";
    case AttrTag::Int: return num(a.bits);
    case AttrTag::Float: return floatText(std::bit_cast<double>(a.bits));
    case AttrTag::Str: return quoted(t.strings[a.bits]);
    case AttrTag::DType: return std::string(shortName(DType(a.bits)));
    case AttrTag::Device: return "device " + num(a.bits);
    case AttrTag::Hole: return ref(t.inputs[a.bits].value);
    case AttrTag::Graph: return "@" + num(a.bits);
    case AttrTag::IntList: {
      std::string s = "[";
      for (uint32_t i = 0; i < a.size; ++i)
        s += (i ? "," : "") + num(t.ints[a.bits + i]);
      return s + "]";
    }
    }
    return "?";
  }

  void input(const TraceInput &i) {
    static const char *const kinds[] = {"argument", "captured", "parameter", "buffer", "number"};
    std::string s = "  " + ref(i.value) + " = input " + kinds[int(i.kind)];
    if (i.name != traceNone)
      s += " " + quoted(t.strings[i.name]);
    line(s + " : " + type(i.value));
  }

  void output(const TraceOutput &o) {
    std::string s = "  output " + ref(o.value);
    if (o.kind == OutputKind::Grad)
      s += " grad of input " + num(o.index);
    if (o.kind == OutputKind::Saved)
      s += " saved " + num(o.index);
    line(s);
  }

  void observation(const TraceObservation &o) {
    static const char *const kinds[] = {"item", "bool", "shape", "print", "export"};
    std::string s = "  observe " + std::string(kinds[int(o.kind)]) + " " + ref(o.value);
    line(o.seen.tag == AttrTag::None ? s : s + " = " + attr(o.seen));
  }

  void node(const TraceNode &n, size_t index, size_t &effect) {
    std::string s = "  ", types;
    bool first = true;
    for (uint32_t v : t.outputsOf(n)) {
      s += (first ? "" : ", ") + ref(v);
      types += (first ? "" : ", ") + type(v);
      first = false;
    }
    s += (first ? "" : " = ") + std::string(t.opName(n.op)) + "(";
    first = true;
    for (uint32_t v : t.inputsOf(n)) {
      s += (first ? "" : ", ") + ref(v);
      first = false;
    }
    s += ")";
    if (n.numAttrs) {
      s += " {";
      for (const TraceAttr &a : t.attrsOf(n))
        s += (&a == t.attrsOf(n).data() ? "" : ", ") + attr(a);
      s += "}";
    }
    for (; effect < t.effects.size() && t.effects[effect].node == index; ++effect)
      s += effectText(t.effects[effect]);
    if (!types.empty())
      s += " : " + types;
    if (n.source != traceNone)
      s += "  // " + t.sources[n.source].file + ":" + num(t.sources[n.source].line);
    line(s);
  }

  static std::string effectText(const TraceEffect &e) {
    switch (e.kind) {
    case EffectKind::Write: return " writes s" + num(e.target);
    case EffectKind::Random: return " random " + num(e.payload);
    case EffectKind::SetSeed: return " seed " + num(e.payload);
    default: return " barrier";
    }
  }
};

} // namespace

std::string torchc::printTrace(const Trace &trace) {
  std::string out;
  Printer(trace, out, "").run();
  return out;
}
