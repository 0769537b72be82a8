// One convolution, start to end. `Pool` gives memory and threads: the process's pool, or a model's scratch memory.
//   struct Pool {
//     void *shared(size_t bytes);                    // null: no memory
//     // f(begin, end, scratch) over pieces of [0, n); false: no memory
//     template <class F> bool each(int64_t n, int64_t grain, size_t scratchBytes, F f);
//   };
#pragma once
#include "runtime/kernels/ConvMove.h"
#include "runtime/kernels/ConvTables.h"

namespace torchc {

/// The packed source of this many bytes is made at once: few enough to stay in cache until it is read.
inline constexpr int64_t convBatchBytes = 1 << 20;

/// Output and Input: rows are positions of the result, columns its channels.
template <class T> class ConvRows {
public:
  ConvRows(const ConvKernels &ks, const ConvCall &call)
      : ks(ks), call(call), plan(ks, call),
        batch(most(1, least(call.g.n, convBatchBytes / most(1, plan.imageStride() * int64_t(sizeof(T)))))),
        together(least(batch, most(1, (isInput() ? 6 : 1) * convChunkRows / most(1, plan.rows)))), measure(nullptr),
        tables(measure, plan, call, together) {
    batch -= batch % together;
    ahead = call.g.n > batch || call.g.n % together;
    panel = plan.depth * ks.columns;
    measure.take<T>(weightElements());
    measure.take<T>(batch * plan.imageStride() + ks.columns);
    measure.take<T>(call.bias ? plan.groups * plan.panels * ks.columns : 0);
  }
  size_t sharedBytes() const { return measure.bytes(); }
  size_t scratchBytes() const {
    return size_t(convChunkRows * ks.columns + (ahead ? 0 : panel + ks.columns)) * sizeof(T) +
           size_t((plan.blocks * plan.taps + 1) * 3 + plan.blocks) * 8;
  }

  template <class Pool> bool run(Pool &pool) {
    if (!call.g.n || !plan.rows || !plan.columns)
      return true;
    void *block = pool.shared(sharedBytes());
    if (!block)
      return false;
    ConvMemory memory(block);
    tables = ConvTables(memory, plan, call, together);
    weights = memory.template take<T>(weightElements());
    source = memory.template take<T>(batch * plan.imageStride() + ks.columns);
    biases = memory.template take<T>(call.bias ? plan.groups * plan.panels * ks.columns : 0);
    packBias();
    int64_t strips = plan.groups * plan.panels, pieces = plan.groups * plan.blocks;
    bool ok = !ahead || pool.each(strips, grainOf(panel), 0, [&](int64_t b, int64_t e, void *) {
      for (int64_t s = b; s < e; ++s)
        packWeights(s, weights + s * panel);
    });
    int64_t images = 0;
    for (int64_t n = 0; ok && n < call.g.n; n += images) {
      images = least(batch, call.g.n - n);
      int64_t inTables = least(together, images);
      images -= images % inTables;
      if (tables.images != inTables)
        tables.fill(plan, call, inTables);
      ok = pool.each(images * pieces, grainOf(plan.blockStride()), 0,
                     [&](int64_t b, int64_t e, void *) { packSource(n, b, e); });
      int64_t work = convChunkRows * ks.columns * plan.depth / 8, units = images / inTables * tables.numChunks;
      ok = ok && pool.each(strips * units, grainOf(work), scratchBytes(), [&](int64_t b, int64_t e, void *s) {
        computeUnits(n, units, b, e, static_cast<char *>(s));
      });
    }
    return ok;
  }

private:
  static int64_t grainOf(int64_t elements) { return (1 << 15) / most(1, elements) + 1; }
  bool isInput() const { return call.what == ConvWhat::Input; }

  int64_t weightElements() const { return ahead ? plan.groups * plan.panels * panel + ks.columns : 0; }

  void packWeights(int64_t s, T *to) {
    int64_t group = s / plan.panels, column = s % plan.panels * ks.columns;
    int64_t valid = least(ks.columns, plan.columns - column);
    const T *w = static_cast<const T *>(call.b);
    int64_t c = call.g.c / call.g.groups, o = call.g.o / call.g.groups, taps = plan.taps;
    if (plan.lanes)
      packLanes(ks.turn, w + column * taps, taps, valid, ks.columns, taps, to);
    else if (isInput())
      packPanelOf(ks.turn, w + (group * o * c + column) * taps, taps, c * taps, plan, valid, ks.columns, to);
    else
      packPanelOf(ks.turn, w + (group * o + column) * c * taps, c * taps, taps, plan, valid, ks.columns, to);
  }

  /// In panels, zeros behind the last column.
  void packBias() {
    for (int64_t s = 0; call.bias && s < plan.groups * plan.panels; ++s)
      for (int64_t j = 0; j < ks.columns; ++j) {
        int64_t column = s % plan.panels * ks.columns + j, at = s / plan.panels * plan.columns + column;
        biases[s * ks.columns + j] = column < plan.columns ? static_cast<const T *>(call.bias)[at] : T(0);
      }
  }

  void packSource(int64_t image, int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      int64_t pieces = plan.groups * plan.blocks, n = image + p / pieces, block = p % pieces;
      packSourceBlock<T>(ks.turn, plan, call, static_cast<const T *>(call.a), n, block,
                         source + p * plan.blockStride());
    }
  }

  /// Unit u: strip (group and panel), images of the tables, chunk of their rows.
  void computeUnits(int64_t image, int64_t unitsOfStrip, int64_t begin, int64_t end, char *scratch) {
    T *c = reinterpret_cast<T *>(scratch), *own = c + convChunkRows * ks.columns;
    int64_t *counts = reinterpret_cast<int64_t *>(own + (ahead ? 0 : panel + ks.columns));
    int64_t *entries = counts + plan.blocks, packed = -1;
    const ConvChunk *made = nullptr; // the chunk that the entries were made for
    for (int64_t u = begin; u < end; ++u) {
      int64_t s = u / unitsOfStrip, chunk = u % unitsOfStrip % tables.numChunks;
      int64_t slot = u % unitsOfStrip / tables.numChunks * tables.images, group = s / plan.panels, p = s % plan.panels;
      const ConvChunk &rows = tables.chunks[chunk];
      const T *a = source + slot * plan.imageStride() + (group * plan.blocks) * plan.blockStride();
      // A panel that is used in one step alone is packed when it is needed: so it is in L2 when it is read.
      if (!ahead && packed != s)
        packWeights(packed = s, own);
      const T *b = ahead ? weights + s * panel : own;
      int64_t column = group * plan.columns + p * ks.columns, all = plan.groups * plan.columns;
      const T *added = call.bias ? biases + s * ks.columns : nullptr;
      T *out = static_cast<T *>(call.out) + ((image + slot) * all + column) * plan.rows;
      if (plan.lanes) {
        laneStrip(rows, a + p * plan.blockStride(), b, c, added, entries);
      } else {
        if (!made || !sameTaps(*made, rows))
          fillBlocks(rows, counts, entries);
        made = &rows;
        sharedStrip(rows, a, b, c, added, counts, entries);
      }
      storeColumns(ks.turn, c, ks.columns, tables.places + rows.first, rows.count,
                   least(ks.columns, plan.columns - p * ks.columns), out, plan.rows);
    }
  }

  enum Flags : int64_t { LooksAhead = 1, AddsToC = 2, AddsBias = 4, IsRelu = 8 };

  void strip(Kernel k, const ConvChunk &rows, const T *a, const T *b, T *c, const T *bias, int64_t *entries,
             int64_t count, int64_t aStep, int64_t bStep, int64_t flags) {
    int64_t sizes[] = {count, aStep, bStep, ks.columns, flags};
    void *ptrs[] = {c,       const_cast<T *>(a),   const_cast<T *>(b), tables.offsets + rows.first,
                    entries, const_cast<T *>(bias)};
    k(ptrs, sizes, nullptr, 0, rows.count);
  }
  /// What the last block of k does besides.
  int64_t lastFlags() const { return (call.bias ? AddsBias : 0) | (call.relu ? IsRelu : 0); }

  /// f(source offset, tap number) for the taps of a chunk, ascending.
  template <class F> void eachTap(const ConvChunk &rows, F f) {
    const int64_t *p = plan.padded, *k = call.g.kernel;
    const ConvClass *c[maxSpatial];
    for (int d = 0; d < maxSpatial; ++d)
      c[d] = &tables.axes[d].list[rows.classes[d]];
    const ConvAxis *ax = tables.axes;
    for (int64_t x = 0; x < c[0]->taps; ++x)
      for (int64_t y = 0; y < c[1]->taps; ++y)
        for (int64_t z = 0; z < c[2]->taps; ++z) {
          int64_t at = (x * ax[0].sourceStep * p[1] + y * ax[1].sourceStep) * p[2] + z * ax[2].sourceStep;
          int64_t tap = ((c[0]->tap + x * ax[0].tapStep) * k[1] + c[1]->tap + y * ax[1].tapStep) * k[2] + c[2]->tap +
                        z * ax[2].tapStep;
          f(at * plan.width, tap);
        }
  }

  /// The taps of a row lie evenly in source and panel.
  void laneStrip(const ConvChunk &rows, const T *a, const T *b, T *c, const T *bias, int64_t *entries) {
    int64_t count = 0, run = tables.axes[2].list[rows.classes[2]].taps, seen = 0;
    eachTap(rows, [&](int64_t at, int64_t tap) {
      if (seen++ % run)
        return;
      int64_t *e = entries + 3 * count++;
      e[0] = at, e[1] = tap * ks.columns, e[2] = run;
    });
    strip(ks.lanes, rows, a, b, c, bias, entries, count, tables.axes[2].sourceStep * plan.width,
          tables.axes[2].tapStep * ks.columns, lastFlags());
  }

  void sharedStrip(const ConvChunk &rows, const T *a, const T *b, T *c, const T *bias, const int64_t *counts,
                   int64_t *entries) {
    if (!plan.blocks)
      strip(ks.shared, rows, a, b, c, bias, entries, 0, 1, ks.columns, lastFlags());
    for (int64_t first = 0; first < plan.blocks;) {
      int64_t last = convBlockEnd(plan, first);
      strip(ks.shared, rows, a, b, c, bias, entries, *counts, 1, ks.columns,
            LooksAhead | (first > 0 ? AddsToC : 0) | (last == plan.blocks ? lastFlags() : 0));
      entries += 3 * *counts++;
      first = last;
    }
  }

  static bool sameTaps(const ConvChunk &x, const ConvChunk &y) {
    for (int d = 0; d < maxSpatial; ++d)
      if (x.classes[d] != y.classes[d])
        return false;
    return true;
  }

  /// The entries of all blocks of N3 one after another, and how many each has. Behind them begins the next tile.
  void fillBlocks(const ConvChunk &rows, int64_t *counts, int64_t *entries) {
    for (int64_t first = 0; first < plan.blocks;) {
      int64_t last = convBlockEnd(plan, first);
      *counts = fillEntries(rows, first, last, entries);
      entries += 3 * *counts++;
      first = last;
    }
    entries[0] = 0;
  }

  /// The taps of channel blocks [first, last); neighbours in source and panel become one entry.
  int64_t fillEntries(const ConvChunk &rows, int64_t first, int64_t last, int64_t *entries) {
    int64_t count = 0;
    for (int64_t block = first; block < last; ++block) {
      int64_t here = least(channelBlock, plan.channels - block * channelBlock);
      eachTap(rows, [&](int64_t at, int64_t tap) {
        int64_t a = block * plan.blockStride() + at, b = (block * channelBlock * plan.taps + tap * here) * ks.columns;
        int64_t *e = entries + 3 * count;
        if (count && e[-3] + e[-1] == a && e[-2] + e[-1] * ks.columns == b) {
          e[-1] += here;
          return;
        }
        e[0] = a, e[1] = b, e[2] = here;
        ++count;
      });
    }
    return count;
  }

  const ConvKernels &ks;
  const ConvCall &call;
  ConvPlan plan;
  int64_t batch, together, panel; // images packed in a step, images in the tables, elements of a panel of weights
  bool ahead; // weights are packed before the first of several steps
  ConvMemory measure;
  ConvTables tables;
  T *weights = nullptr, *source = nullptr, *biases = nullptr;
};

} // namespace torchc
