// The weight's gradient: k runs over (sample, position) in blocks of 1024. Positions of one output row are one entry of
// the strip kernel; what the samples that a block touches need packed is packed when the block begins.
//   shared:  rows are outputs (read where they lie), columns source channels, a strip for each tap
//   swapped: rows are (tap, source channel), columns outputs
//   lanes:   rows are taps, columns outputs with a source channel of their own each
#pragma once
#include "runtime/kernels/ConvMove.h"
#include "runtime/kernels/ConvTables.h"

namespace torchc {

template <class T> class ConvWeight {
public:
  ConvWeight(const ConvKernels &ks, const ConvCall &call) : ks(ks), call(call), plan(ks, call) {
    positions = volume(call.g.out);
    depth = call.g.n * positions;
    slots = positions ? least(call.g.n, gemmBlock / positions + 2) : 1;
    outputs = plan.lanes ? 1 : call.g.o / call.g.groups;
    byOutput = plan.lanes || plan.swapped;
    stripRows = plan.lanes ? plan.taps : plan.swapped ? plan.taps * plan.channels : outputs;
    // Per group: by output [panel][row][column], else [output][panel][tap][column].
    sumsPerGroup = plan.panels * stripRows * ks.columns * (byOutput ? 1 : plan.taps);
    ConvMemory measure(nullptr);
    layOut(measure);
    bytes = measure.bytes();
  }
  size_t sharedBytes() const { return bytes; }
  size_t scratchBytes() const { return 0; }

  template <class Pool> bool run(Pool &pool) {
    if (!volume(call.g.kernel) || !call.g.o || !call.g.c)
      return true;
    void *block = pool.shared(bytes);
    if (!block)
      return false;
    ConvMemory memory(block);
    layOut(memory);
    fillOffsets();
    if (!depth)
      std::memset(sums, 0, size_t(plan.groups * sumsPerGroup) * sizeof(T));
    bool ok = true;
    int64_t packed = 0; // samples
    for (int64_t k0 = 0; ok && k0 < depth; k0 += gemmBlock) {
      int64_t k = least(gemmBlock, depth - k0), last = (k0 + k - 1) / positions + 1;
      ok = pool.each((last - packed) * pieces(), (1 << 14) / most(1, plan.blockStride()) + 1, 0,
                     [&](int64_t b, int64_t e, void *) { pack(b, e, packed); });
      packed = most(packed, last);
      fillEntries(k0, k);
      int64_t units = plan.groups * plan.panels * (byOutput ? 1 : chunks() * plan.taps);
      int64_t work = k * least(outputsAtOnce, stripRows) * ks.columns;
      ok = ok && pool.each(units, (1 << 18) / work + 1, 0, [&](int64_t b, int64_t e, void *) {
        for (int64_t u = b; u < e; ++u)
          byOutput ? outputStrip(u, k0 > 0) : sharedStrip(u, k0 > 0);
      });
    }
    if (ok)
      store();
    return ok;
  }

private:
  static constexpr int64_t outputsAtOnce = 48; // times 1024 positions: their part of y stays in L2
  int64_t chunks() const { return blocksOf(outputs, outputsAtOnce); }
  int64_t panelsOfAll() const { return plan.groups * plan.panels; }
  int64_t otherImage() const { return panelsOfAll() * positions * ks.columns; } // of y, by output

  void layOut(ConvMemory &m) {
    rows = m.take<int64_t>(byOutput ? stripRows : call.g.o);
    taps = m.take<int64_t>(plan.taps);
    entries = m.take<int64_t>(3 * gemmBlock);
    source = m.take<T>(slots * plan.imageStride() + ks.columns);
    other = m.take<T>(byOutput ? slots * otherImage() + ks.columns : 0);
    sums = m.take<T>(plan.groups * sumsPerGroup);
  }

  void fillOffsets() {
    const int64_t *k = call.g.kernel, *d = call.g.dilation, *p = plan.padded;
    int64_t t = 0;
    for (int64_t x = 0; x < k[0]; ++x)
      for (int64_t y = 0; y < k[1]; ++y)
        for (int64_t z = 0; z < k[2]; ++z)
          taps[t++] = ((x * d[0] * p[1] + y * d[1]) * p[2] + z * d[2]) * plan.width;
    for (int64_t i = 0; i < (byOutput ? stripRows : call.g.o); ++i)
      rows[i] = plan.lanes ? taps[i] : plan.swapped ? taps[i / plan.channels] + i % plan.channels : i * positions;
  }

  /// Pieces of samples from `first` on: blocks of the source, then panels of y.
  void pack(int64_t begin, int64_t end, int64_t first) {
    for (int64_t p = begin; p < end; ++p) {
      int64_t n = first + p / pieces(), piece = p % pieces(), slot = n % slots;
      if (piece < plan.groups * plan.blocks) {
        packSourceBlock<T>(ks.turn, plan, call, static_cast<const T *>(call.a), n, piece,
                           source + slot * plan.imageStride() + piece * plan.blockStride());
        continue;
      }
      int64_t panel = piece - plan.groups * plan.blocks, column = panel % plan.panels * ks.columns;
      int64_t channel = panel / plan.panels * plan.columns + column;
      packLanes(ks.turn, static_cast<const T *>(call.b) + (n * call.g.o + channel) * positions, positions,
                least(ks.columns, plan.columns - column), ks.columns, positions,
                other + slot * otherImage() + panel * positions * ks.columns);
    }
  }
  int64_t pieces() const { return plan.groups * plan.blocks + (byOutput ? panelsOfAll() : 0); }

  /// Runs of positions within one output row.
  void fillEntries(int64_t k0, int64_t k) {
    const int64_t *o = call.g.out, *s = call.g.stride, *p = plan.padded;
    numEntries = 0;
    for (int64_t at = k0; at < k0 + k;) {
      int64_t n = at / positions, place = at % positions, z = place % o[2], y = place / o[2] % o[1],
              x = place / o[2] / o[1];
      int64_t count = least(o[2] - z, k0 + k - at), slot = n % slots;
      int64_t from = slot * plan.imageStride() + ((x * s[0] * p[1] + y * s[1]) * p[2] + z * s[2]) * plan.width;
      int64_t *e = entries + 3 * numEntries++;
      e[0] = byOutput ? from : n * call.g.o * positions + place;
      e[1] = byOutput ? slot * otherImage() + place * ks.columns : from;
      e[2] = count;
      at += count;
    }
  }

  void strip(Kernel kernel, const T *a, const T *b, T *c, const int64_t *rowOffsets, int64_t count, int64_t cRow,
             bool add) {
    int64_t step = call.g.stride[2] * plan.width;
    int64_t sizes[] = {numEntries, byOutput ? step : 1, byOutput ? ks.columns : step, cRow, add ? 2 : 0};
    void *ptrs[] = {c, const_cast<T *>(a), const_cast<T *>(b), const_cast<int64_t *>(rowOffsets), entries, nullptr};
    kernel(ptrs, sizes, nullptr, 0, count);
  }

  /// Unit: group, panel of outputs.
  void outputStrip(int64_t unit, bool add) {
    int64_t group = unit / plan.panels, panel = unit % plan.panels;
    int64_t block = group * plan.blocks + (plan.lanes ? panel : 0);
    strip(plan.lanes ? ks.lanes : ks.stepped, source + block * plan.blockStride(),
          other + unit * positions * ks.columns, sums + unit * stripRows * ks.columns, rows, stripRows, ks.columns,
          add);
  }

  /// Unit: group, chunk of outputs, panel of channels, tap.
  void sharedStrip(int64_t unit, bool add) {
    int64_t tap = unit % plan.taps, panel = unit / plan.taps % plan.panels, rest = unit / plan.taps / plan.panels;
    int64_t first = rest % chunks() * outputsAtOnce, group = rest / chunks();
    int64_t row = plan.panels * plan.taps * ks.columns;
    strip(ks.shared, static_cast<const T *>(call.b),
          source + (group * plan.blocks + panel) * plan.blockStride() + taps[tap],
          sums + group * sumsPerGroup + first * row + (panel * plan.taps + tap) * ks.columns,
          rows + group * outputs + first, least(outputsAtOnce, outputs - first), row, add);
  }

  /// From [tap][channel] to [channel][tap].
  void store() {
    T *out = static_cast<T *>(call.out);
    int64_t channels = call.g.c / call.g.groups, n = ks.columns, ofOutput = channels * plan.taps;
    for (int64_t s = 0; byOutput && s < panelsOfAll(); ++s) {
      int64_t column = s % plan.panels * n, output = s / plan.panels * plan.columns + column;
      for (int64_t c = 0; c < channels; ++c)
        transpose(ks.turn, sums + (s * stripRows + c) * n, channels * n, least(n, plan.columns - column), plan.taps,
                  out + output * ofOutput + c * plan.taps, ofOutput);
    }
    for (int64_t s = 0; !byOutput && s < call.g.o * plan.panels; ++s) {
      int64_t c = s % plan.panels * n;
      transpose(ks.turn, sums + s * plan.taps * n, n, least(n, channels - c), plan.taps,
                out + s / plan.panels * ofOutput + c * plan.taps, plan.taps);
    }
  }

  const ConvKernels &ks;
  const ConvCall &call;
  ConvPlan plan;
  int64_t positions, depth, slots, outputs, stripRows, sumsPerGroup, numEntries = 0;
  bool byOutput;
  size_t bytes;
  int64_t *rows = nullptr, *taps = nullptr, *entries = nullptr;
  T *source = nullptr, *other = nullptr, *sums = nullptr;
};

} // namespace torchc
