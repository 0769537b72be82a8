// Random but valid traces, and damage of bytes, for the trace tests.
#pragma once
#include "dialects/trace/TraceFile.h"
#include <random>

namespace torchc::test {

using Rng = std::mt19937_64;

inline uint64_t below(Rng &rng, uint64_t n) { return rng() % n; }

/// A trace with every kind of record in it; `depth` levels of subgraphs at most.
inline Trace randomTrace(Rng &rng, int depth = 2) {
  static const char *const names[] = {"add.Tensor", "mul.Scalar", "relu.default", "copy_.default", "custom::soft.x"};
  Trace t;
  std::vector<uint32_t> live;
  for (uint64_t i = below(rng, 3); i-- > 0;)
    t.addSymbol("s" + std::to_string(i), int64_t(2 + below(rng, 60)), 0, 1 << 20);
  auto tensor = [&] {
    std::vector<TraceDim> sizes(below(rng, 5));
    for (TraceDim &d : sizes)
      d = !t.symbols.empty() && below(rng, 4) == 0 ? TraceDim::symbol(uint32_t(below(rng, t.symbols.size())))
                                                   : TraceDim(int64_t(below(rng, 9)));
    uint32_t v = t.addTensor(DType(below(rng, numDTypes)), sizes, below(rng, 2));
    if (below(rng, 3))
      return v;
    // A view with all strides 0 lies in any storage that isn't empty.
    std::vector<TraceDim> strides(sizes.size());
    TraceValue base = t.values[v];
    if (t.storages[base.storage].nbytes == 0)
      return v;
    return t.addValue(base.dtype, sizes, base.storage, 0, strides);
  };
  for (uint64_t i = 1 + below(rng, 4); i-- > 0;) {
    live.push_back(tensor());
    t.addInput(live.back(), InputKind(below(rng, 4)), below(rng, 2) ? "x" + std::to_string(i) : "");
  }
  uint32_t hole = t.addNumberInput(below(rng, 2) ? DType::I64 : DType::F64, "n");
  if (depth > 0 && below(rng, 3) == 0)
    t.addSubgraph(randomTrace(rng, depth - 1));
  for (uint64_t i = below(rng, 12); i-- > 0;) {
    std::vector<uint32_t> in(below(rng, 4)), out(1 + below(rng, 2));
    for (uint32_t &v : in)
      v = below(rng, 8) ? live[below(rng, live.size())] : traceNone;
    for (uint32_t &v : out)
      v = tensor();
    std::vector<int64_t> list(below(rng, 5));
    for (int64_t &x : list)
      x = int64_t(rng());
    Attr holeAttr = Attr::integer(hole), graph = Attr::integer(0);
    holeAttr.tag = AttrTag::Hole;
    graph.tag = t.subgraphs.empty() ? AttrTag::None : AttrTag::Graph;
    if (t.subgraphs.empty())
      graph = Attr();
    const Attr all[] = {Attr(),
                        Attr::boolean(rng() & 1),
                        Attr::integer(int64_t(rng())),
                        Attr::number(-0.5 * double(rng() % 100)),
                        Attr::string("mean", 4),
                        Attr::dtype(DType::BF16),
                        Attr::device(0x100),
                        Attr::ints(list.data(), uint32_t(list.size())),
                        holeAttr,
                        graph};
    std::vector<Attr> attrs;
    for (uint64_t k = below(rng, 4); k-- > 0;)
      attrs.push_back(all[below(rng, std::size(all))]);
    uint32_t node = t.addNode(t.addOp(names[below(rng, std::size(names))]), in, out, attrs,
                              below(rng, 4) ? t.addSource("model.py", uint32_t(below(rng, 9)), "forward") : traceNone);
    live.insert(live.end(), out.begin(), out.end());
    if (below(rng, 3) == 0)
      t.addEffect(node, EffectKind::Write, t.values[out[0]].storage);
    if (below(rng, 3) == 0)
      t.addEffect(node, EffectKind::Random, traceNone, int64_t(below(rng, 100)));
    if (below(rng, 4) == 0)
      t.addObservation(node + 1, out[0], ObserveKind::Item, Attr::integer(3));
  }
  for (uint64_t i = below(rng, 4); i-- > 0;)
    t.addOutput(live[below(rng, live.size())]);
  if (below(rng, 2))
    t.addOutput(live[0], OutputKind::Grad, 0);
  return t;
}

/// Changes one to four places: a bit, a byte, or an 8-byte word near a boundary value.
inline void damage(Rng &rng, std::vector<uint8_t> &bytes) {
  for (uint64_t i = 1 + below(rng, 4); i-- > 0 && !bytes.empty();) {
    size_t at = below(rng, bytes.size());
    switch (below(rng, 4)) {
    case 0: bytes[at] ^= uint8_t(1 << below(rng, 8)); break;
    case 1: bytes[at] = uint8_t(rng()); break;
    case 2: {
      static const uint64_t words[] = {~0ull, 1ull << 63, (1ull << 63) - 1, 0xffffffffull, 0x80000000ull, 0};
      uint64_t w = words[below(rng, 6)];
      for (size_t k = 0; k < (below(rng, 2) ? 8 : 4) && at + k < bytes.size(); ++k)
        bytes[at + k] = uint8_t(w >> 8 * k);
      break;
    }
    default:
      if (below(rng, 16) == 0)
        bytes.resize(below(rng, bytes.size() + 1));
      else
        bytes[at] = uint8_t(below(rng, 4));
    }
  }
}

} // namespace torchc::test
