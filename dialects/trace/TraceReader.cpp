// Reads `.tctrace` bytes that may be damaged or hostile: every record is parsed in sequence from a
// cursor that knows its end, nothing is allocated beyond what the remaining bytes can hold, and
// verifyTrace checks the indices afterwards.
#include "dialects/trace/Sha256.h"
#include "dialects/trace/TraceFile.h"
#include <cstring>

using namespace torchc;

namespace {

constexpr int maxSubgraphDepth = 16;
constexpr size_t tableEntryBytes = 24;

/// Reads forward inside one section. After a read beyond the end everything is zero and `failed`
/// stays set.
struct Cursor {
  const uint8_t *at, *end;
  bool failed = false;

  size_t left() const { return size_t(end - at); }
  template <class T> T get() {
    T v{};
    if (left() < sizeof(T)) {
      failed = true;
      at = end;
      return v;
    }
    std::memcpy(&v, at, sizeof(T));
    at += sizeof(T);
    return v;
  }
  const uint8_t *take(uint64_t n) {
    if (left() < n) {
      failed = true;
      at = end;
      return nullptr;
    }
    const uint8_t *p = at;
    at += n;
    return p;
  }
  /// Are there at least `count` records of `bytes` each? Asked before memory is reserved.
  bool holds(uint64_t count, size_t bytes) {
    failed |= count > left() / bytes;
    return !failed;
  }
};

struct Section {
  uint32_t kind = 0, count = 0;
  uint64_t offset = 0, bytes = 0;
};

class Reader {
public:
  Reader(std::span<const uint8_t> bytes, Trace &out, Diag &diag, int depth)
      : bytes(bytes), t(out), diag(diag), depth(depth) {}

  bool run() {
    uint32_t count = 0;
    return header(count) && table(count) && eachSection() && nodeSources() && verifyTrace(t, diag);
  }

private:
  std::span<const uint8_t> bytes;
  Trace &t;
  Diag &diag;
  int depth;
  std::vector<Section> sections;
  std::vector<uint32_t> sourceOfNode;

  bool fail(const std::string &problem) { return diag.fail(ErrorKind::Runtime, "trace file: " + problem); }

  bool header(uint32_t &count) {
    if (bytes.size() < traceHeaderBytes)
      return fail("a header of 48 bytes expected, got " + std::to_string(bytes.size()) + " bytes");
    if (std::memcmp(bytes.data(), "TCTRACE", 8) != 0)
      return fail("it doesn't start with 'TCTRACE', so it is no trace");
    Cursor c{bytes.data() + 8, bytes.data() + 16};
    uint32_t version = c.get<uint32_t>();
    if (version != traceVersion)
      return fail("version 1 expected, got " + std::to_string(version));
    count = c.get<uint32_t>();
    Sha256Digest digest = sha256(bytes.subspan(traceHeaderBytes));
    if (std::memcmp(digest.data(), bytes.data() + 16, digest.size()) != 0)
      return fail("the SHA-256 digest doesn't match: truncated or damaged");
    return true;
  }

  /// Sections lie in table order without overlap and fill the file, so that no byte can be read
  /// twice.
  bool table(uint32_t count) {
    Cursor c{bytes.data() + traceHeaderBytes, bytes.data() + bytes.size()};
    if (!c.holds(count, tableEntryBytes))
      return fail("a table of " + std::to_string(count) + " sections doesn't fit into the file");
    uint64_t next = traceHeaderBytes + uint64_t(count) * tableEntryBytes;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; ++i) {
      Section s{c.get<uint32_t>(), c.get<uint32_t>(), c.get<uint64_t>(), c.get<uint64_t>()};
      std::string name = "section " + std::to_string(s.kind);
      if (s.offset != next || s.bytes > bytes.size() - next)
        return fail(name + " at offset " + std::to_string(next) + " within the file expected, got offset " +
                    std::to_string(s.offset) + ", " + std::to_string(s.bytes) + " bytes");
      next = (s.offset + s.bytes + 7) & ~uint64_t(7);
      if (next > bytes.size())
        return fail(name + " isn't padded to 8 bytes");
      if (s.kind >= traceOptionalSection)
        continue;
      if (s.kind == 0 || s.kind > uint32_t(TraceSection::Subgraphs))
        return fail(name + " is of no known kind");
      if (seen >> s.kind & 1)
        return fail(name + " appears twice");
      seen |= 1u << s.kind;
      sections.push_back(s);
    }
    if (next != bytes.size())
      return fail("end of file expected at byte " + std::to_string(next) + ", got " + std::to_string(bytes.size()) +
                  " bytes");
    return true;
  }

  bool eachSection() {
    for (const Section &s : sections) {
      Cursor c{bytes.data() + s.offset, bytes.data() + s.offset + s.bytes};
      bool ok = body(s, c);
      if (!diag.ok())
        return false;
      std::string name = "section " + std::to_string(s.kind);
      if (!ok || c.failed)
        return fail(name + " ends before its " + std::to_string(s.count) + " records");
      if (c.left())
        return fail(name + " has " + std::to_string(c.left()) + " bytes too many");
    }
    return true;
  }

  bool body(const Section &s, Cursor &c) {
    switch (TraceSection(s.kind)) {
    case TraceSection::Strings: return strings(c, s.count, t.strings);
    case TraceSection::Ops: return records(c, s.count, 4, t.ops, [&] { return TraceOp{c.get<uint32_t>()}; });
    case TraceSection::Sources: return sources(c, s.count);
    case TraceSection::Symbols: return records(c, s.count, 32, t.symbols, [&] { return symbol(c); });
    case TraceSection::Storages: return records(c, s.count, 16, t.storages, [&] { return storage(c); });
    case TraceSection::Values: return records(c, s.count, 16, t.values, [&] { return value(c); });
    case TraceSection::Nodes: return records(c, s.count, 12, t.nodes, [&] { return node(c); });
    case TraceSection::Effects: return records(c, s.count, 24, t.effects, [&] { return effect(c); });
    case TraceSection::Observations: return records(c, s.count, 13, t.observations, [&] { return observation(c); });
    case TraceSection::Inputs:
      return records(c, s.count, 12, t.inputs,
                     [&] { return TraceInput{c.get<uint32_t>(), InputKind(c.get<uint32_t>()), c.get<uint32_t>()}; });
    case TraceSection::Outputs:
      return records(c, s.count, 12, t.outputs,
                     [&] { return TraceOutput{c.get<uint32_t>(), OutputKind(c.get<uint32_t>()), c.get<uint32_t>()}; });
    case TraceSection::Subgraphs: return subgraphs(c, s.count);
    }
    return false;
  }

  /// `count` records of at least `minBytes` each.
  template <class T, class One>
  bool records(Cursor &c, uint32_t count, size_t minBytes, std::vector<T> &list, One one) {
    if (!c.holds(count, minBytes))
      return false;
    list.reserve(count);
    for (uint32_t i = 0; i < count && !c.failed && diag.ok(); ++i)
      list.push_back(one());
    return !c.failed;
  }

  static bool strings(Cursor &c, uint32_t count, std::vector<std::string> &list) {
    if (!c.holds(count, 4))
      return false;
    Cursor lengths = c;
    c.take(uint64_t(count) * 4);
    list.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t n = lengths.get<uint32_t>();
      const uint8_t *p = c.take(n);
      if (c.failed)
        return false;
      list.emplace_back(reinterpret_cast<const char *>(p), n);
    }
    return true;
  }

  bool sources(Cursor &c, uint32_t count) {
    std::vector<std::string> names;
    if (!strings(c, c.get<uint32_t>(), names) || !c.holds(count, 12))
      return false;
    // Names are copied per record, so a long one used often would cost more memory than the file
    // has bytes.
    uint64_t budget = 64 * uint64_t(bytes.size());
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t file = c.get<uint32_t>(), function = c.get<uint32_t>(), line = c.get<uint32_t>();
      if (file >= names.size() || function >= names.size())
        return fail("source " + std::to_string(i) + " refers to a name beyond the " + std::to_string(names.size()) +
                    " in its section");
      uint64_t size = names[file].size() + names[function].size();
      if (size > budget)
        return fail("source names are too long");
      budget -= size;
      t.sources.push_back({names[file], names[function], line});
    }
    sourceOfNode.resize(c.left() / 4);
    for (uint32_t &s : sourceOfNode)
      s = c.get<uint32_t>();
    return true;
  }

  bool nodeSources() {
    if (sourceOfNode.empty())
      return true;
    if (sourceOfNode.size() != t.nodes.size())
      return fail("a source for each of " + std::to_string(t.nodes.size()) + " nodes expected, got " +
                  std::to_string(sourceOfNode.size()));
    for (size_t i = 0; i < t.nodes.size(); ++i)
      t.nodes[i].source = sourceOfNode[i];
    return true;
  }

  TraceSymbol symbol(Cursor &c) {
    TraceSymbol s;
    s.name = c.get<uint32_t>();
    reserved(c.get<uint32_t>());
    s.hint = c.get<int64_t>();
    s.min = c.get<int64_t>();
    s.max = c.get<int64_t>();
    return s;
  }

  static TraceStorage storage(Cursor &c) {
    TraceStorage s;
    s.nbytes = c.get<int64_t>();
    s.dtype = c.get<uint8_t>();
    s.flags = c.get<uint8_t>();
    s.device = c.get<uint16_t>();
    s.tag = c.get<uint32_t>();
    return s;
  }

  TraceValue value(Cursor &c) {
    TraceValue v;
    v.dtype = DType(c.get<uint8_t>());
    v.rank = c.get<uint8_t>();
    v.flags = c.get<uint16_t>();
    v.storage = c.get<uint32_t>();
    v.offset = TraceDim(c.get<int64_t>());
    v.firstDim = uint32_t(t.dims.size());
    size_t dims = v.flags & TraceValue::Contiguous ? v.rank : 2 * size_t(v.rank);
    if (c.holds(dims, 8))
      for (size_t i = 0; i < dims; ++i)
        t.dims.push_back(TraceDim(c.get<int64_t>()));
    return v;
  }

  TraceNode node(Cursor &c) {
    TraceNode n;
    n.op = c.get<uint32_t>();
    n.numInputs = c.get<uint16_t>();
    n.numOutputs = c.get<uint16_t>();
    n.numAttrs = c.get<uint16_t>();
    reserved(c.get<uint16_t>());
    n.firstRef = uint32_t(t.refs.size());
    n.firstAttr = uint32_t(t.attrs.size());
    size_t refs = size_t(n.numInputs) + n.numOutputs;
    if (c.holds(refs, 4))
      for (size_t i = 0; i < refs; ++i)
        t.refs.push_back(c.get<uint32_t>());
    for (int i = 0; i < n.numAttrs && !c.failed; ++i)
      t.attrs.push_back(attr(c));
    return n;
  }

  TraceAttr attr(Cursor &c) {
    TraceAttr a;
    uint8_t tag = c.get<uint8_t>();
    a.tag = AttrTag(tag);
    switch (a.tag) {
    case AttrTag::None: return a;
    case AttrTag::Bool:
    case AttrTag::DType: a.bits = c.get<uint8_t>(); return a;
    case AttrTag::Int:
    case AttrTag::Float:
    case AttrTag::Device: a.bits = c.get<int64_t>(); return a;
    case AttrTag::Str:
    case AttrTag::Hole:
    case AttrTag::Graph: a.bits = c.get<uint32_t>(); return a;
    case AttrTag::IntList: {
      a.size = c.get<uint32_t>();
      a.bits = int64_t(t.ints.size());
      if (!c.holds(a.size, 8))
        return a;
      for (uint32_t i = 0; i < a.size; ++i)
        t.ints.push_back(c.get<int64_t>());
      return a;
    }
    }
    fail("unknown attribute tag " + std::to_string(tag));
    return TraceAttr();
  }

  TraceEffect effect(Cursor &c) {
    TraceEffect e;
    e.node = c.get<uint32_t>();
    e.kind = EffectKind(c.get<uint32_t>());
    e.target = c.get<uint32_t>();
    reserved(c.get<uint32_t>());
    e.payload = c.get<int64_t>();
    return e;
  }

  TraceObservation observation(Cursor &c) {
    TraceObservation o;
    o.position = c.get<uint32_t>();
    o.value = c.get<uint32_t>();
    o.kind = ObserveKind(c.get<uint32_t>());
    o.seen = attr(c);
    return o;
  }

  bool subgraphs(Cursor &c, uint32_t count) {
    if (!c.holds(count, 8 + traceHeaderBytes))
      return false;
    if (depth >= maxSubgraphDepth)
      return fail("subgraphs are nested deeper than 16");
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t size = c.get<uint64_t>();
      const uint8_t *p = c.take(size);
      if (c.failed)
        return false;
      t.subgraphs.emplace_back();
      if (!Reader({p, size}, t.subgraphs.back(), diag, depth + 1).run()) {
        diag.text += " (in subgraph " + std::to_string(i) + ")";
        return false;
      }
      if (size % 8)
        c.take(8 - size % 8);
    }
    return !c.failed;
  }

  void reserved(uint32_t field) {
    if (field)
      fail("a reserved field is " + std::to_string(field) + ", 0 expected");
  }
};

} // namespace

bool torchc::readTrace(std::span<const uint8_t> bytes, Trace &out, Diag &diag, LookupOp lookup) {
  out = Trace();
  return Reader(bytes, out, diag, 0).run() && (!lookup || resolveOps(out, lookup, diag));
}
