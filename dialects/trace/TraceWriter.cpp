// Records as they lie in a section (little-endian, packed; a section starts 8-aligned and says its
// count in the table):
//   strings       u32 length per string, then all bytes         ops        u32 string
//   sources       u32 n strings as above {file and function names}, then per source u32 file, u32
//   function, u32 line, then
//                 u32 source per node (none: ffffffff). Self-contained, so that the key can leave
//                 it out whole.
//   symbols       u32 name string, u32 0, i64 hint, min, max     storages   i64 nbytes, u8
//   dtype|ff, u8 flags, u16 device, u32 tag values        u8 dtype, u8 rank, u16 flags, u32
//   storage, i64 offset, i64 sizes, i64 strides (unless contiguous);
//                 a negative size, stride or offset is the symbol ~x
//   nodes         u32 op, u16 inputs, u16 outputs, u16 attributes, u16 0, u32 values, attributes
//   attribute     u8 tag, then: none -; bool u8; int i64; float 8 bytes; str u32 string; dtype u8;
//   device i64;
//                 list u32 n, i64s; hole u32 input; graph u32 subgraph
//   effects       u32 node, u32 kind, u32 target, u32 0, i64 payload
//   observations  u32 position, u32 value, u32 kind, attribute   inputs     u32 value, u32 kind,
//   u32 name string|none outputs       u32 value, u32 kind, u32 index                 subgraphs u64
//   bytes, a whole trace, padding to 8
#include "dialects/trace/Sha256.h"
#include "dialects/trace/TraceFile.h"
#include <bit>
#include <cstring>

using namespace torchc;

static_assert(std::endian::native == std::endian::little, "trace files are little-endian");

namespace {

struct Writer {
  const Trace &t;
  bool withSources;
  std::vector<uint8_t> out;
  struct Section {
    uint32_t kind, count;
    uint64_t offset, bytes;
  };
  std::vector<Section> table;

  template <class T> void put(T v) {
    auto *p = reinterpret_cast<const uint8_t *>(&v);
    out.insert(out.end(), p, p + sizeof(T));
  }
  template <class T> void putAll(std::span<const T> v) {
    auto *p = reinterpret_cast<const uint8_t *>(v.data());
    out.insert(out.end(), p, p + v.size_bytes());
  }
  void align() { out.resize((out.size() + 7) & ~size_t(7)); }

  template <class Body> void section(TraceSection kind, size_t count, Body body) {
    if (!count)
      return;
    align();
    size_t start = out.size();
    body();
    table.push_back({uint32_t(kind), uint32_t(count), start, out.size() - start});
  }

  template <class Strings> void putStrings(const Strings &list) {
    for (const std::string &s : list)
      put(uint32_t(s.size()));
    for (const std::string &s : list)
      out.insert(out.end(), s.begin(), s.end());
  }

  void putAttr(const TraceAttr &a) {
    put(uint8_t(a.tag));
    switch (a.tag) {
    case AttrTag::None: return;
    case AttrTag::Bool:
    case AttrTag::DType: return put(uint8_t(a.bits));
    case AttrTag::Int:
    case AttrTag::Float:
    case AttrTag::Device: return put(a.bits);
    case AttrTag::Str:
    case AttrTag::Hole:
    case AttrTag::Graph: return put(uint32_t(a.bits));
    case AttrTag::IntList: put(a.size); return putAll(std::span<const int64_t>(t.ints.data() + a.bits, a.size));
    }
  }

  void putSources() {
    std::vector<std::string> names;
    std::unordered_map<std::string, uint32_t> index;
    auto nameOf = [&](const std::string &s) {
      auto [at, fresh] = index.try_emplace(s, uint32_t(names.size()));
      if (fresh)
        names.push_back(s);
      return at->second;
    };
    std::vector<uint32_t> records;
    for (const TraceSource &s : t.sources)
      records.insert(records.end(), {nameOf(s.file), nameOf(s.function), s.line});
    put(uint32_t(names.size()));
    putStrings(names);
    putAll(std::span<const uint32_t>(records));
    for (const TraceNode &n : t.nodes)
      put(n.source);
  }

  void putValue(const TraceValue &v) {
    put(uint8_t(v.dtype));
    put(v.rank);
    put(v.flags);
    put(v.storage);
    put(v.offset);
    putAll(t.sizesOf(v));
    putAll(t.stridesOf(v));
  }

  void putNode(const TraceNode &n) {
    put(n.op);
    put(n.numInputs);
    put(n.numOutputs);
    put(n.numAttrs);
    put(uint16_t(0));
    putAll(t.inputsOf(n));
    putAll(t.outputsOf(n));
    for (const TraceAttr &a : t.attrsOf(n))
      putAttr(a);
  }

  template <class T, class Put> void each(TraceSection kind, const std::vector<T> &list, Put one) {
    section(kind, list.size(), [&] {
      for (const T &r : list)
        one(r);
    });
  }

  void sections() {
    section(TraceSection::Strings, t.strings.size(), [&] { putStrings(t.strings); });
    each(TraceSection::Ops, t.ops, [&](const TraceOp &o) { put(o.name); });
    if (withSources)
      section(TraceSection::Sources, t.sources.size(), [&] { putSources(); });
    each(TraceSection::Symbols, t.symbols,
         [&](const TraceSymbol &s) { put(s.name), put(uint32_t(0)), put(s.hint), put(s.min), put(s.max); });
    each(TraceSection::Storages, t.storages,
         [&](const TraceStorage &s) { put(s.nbytes), put(s.dtype), put(s.flags), put(s.device), put(s.tag); });
    each(TraceSection::Values, t.values, [&](const TraceValue &v) { putValue(v); });
    each(TraceSection::Nodes, t.nodes, [&](const TraceNode &n) { putNode(n); });
    each(TraceSection::Effects, t.effects,
         [&](const TraceEffect &e) { put(e.node), put(e.kind), put(e.target), put(uint32_t(0)), put(e.payload); });
    each(TraceSection::Observations, t.observations,
         [&](const TraceObservation &o) { put(o.position), put(o.value), put(o.kind), putAttr(o.seen); });
    each(TraceSection::Inputs, t.inputs, [&](const TraceInput &i) { put(i.value), put(i.kind), put(i.name); });
    each(TraceSection::Outputs, t.outputs, [&](const TraceOutput &o) { put(o.value), put(o.kind), put(o.index); });
    each(TraceSection::Subgraphs, t.subgraphs, [&](const Trace &sub) {
      std::vector<uint8_t> bytes = writeTrace(sub, withSources);
      put(uint64_t(bytes.size()));
      putAll(std::span<const uint8_t>(bytes));
      align();
    });
  }

  /// Section offsets depend on the table's length, so the body is made first and moved behind
  /// header and table.
  std::vector<uint8_t> file() {
    sections();
    align();
    std::vector<uint8_t> body = std::move(out);
    out.clear();
    out.reserve(traceHeaderBytes + table.size() * sizeof(Section) + body.size());
    putAll(std::span<const char>("TCTRACE", 8));
    put(traceVersion);
    put(uint32_t(table.size()));
    out.resize(traceHeaderBytes);
    for (Section s : table) {
      s.offset += traceHeaderBytes + table.size() * sizeof(Section);
      put(s);
    }
    putAll(std::span<const uint8_t>(body));
    sealTrace(out);
    return std::move(out);
  }
};

} // namespace

std::vector<uint8_t> torchc::writeTrace(const Trace &trace, bool sources) {
  return Writer{trace, sources, {}, {}}.file();
}

void torchc::sealTrace(std::span<uint8_t> bytes) {
  if (bytes.size() < traceHeaderBytes)
    return;
  Sha256Digest digest = sha256(bytes.subspan(traceHeaderBytes));
  std::memcpy(bytes.data() + 16, digest.data(), digest.size());
}
