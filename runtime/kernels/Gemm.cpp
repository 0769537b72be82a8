#include "runtime/kernels/Gemm.h"
#include "runtime/kernels/Move.h"
#include "runtime/kernels/Transpose4.h"
#include <cstring>

namespace torchc {

namespace {

// Of A in a pass over B: a power of two and what fills its last tile. With 1024 k that is two megabytes; reading them from L3
// for each panel of B costs less (measured) than the passes over B that a part of A in L2 would need.
constexpr int64_t blockRows = 516;
constexpr int64_t fewRows = 48; // up to here a panel's part is used so rarely that it has to be in L1
constexpr int64_t partBytes = 16 << 10;
constexpr int64_t mostStrided = 512; // k from which strips of A are worth packing
constexpr int64_t widePanels = 4; // of B in one call of a wide kernel

inline int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
inline int64_t roundUp(int64_t x, int64_t m) { return (x + m - 1) / m * m; }

/// Rows of a pass over B: whole tiles, passes of about equal size.
inline int64_t rowBlock(int64_t m, int64_t tileRows) {
  int64_t passes = (m + blockRows - 1) / blockRows;
  return roundUp((m + passes - 1) / passes, tileRows);
}

/// One panel of B, columns [n, n + width) of `valid` real ones: [k][width], zeros behind the edge.
template <class T>
void packPanel(Kernel turn, const T *b, int64_t bK, int64_t bColumn, int64_t k, int64_t width, int64_t valid, T *out) {
  if (valid == width && bColumn == 1) {
    for (int64_t i = 0; i < k; ++i)
      copyRow(out + i * width, b + i * bK, width);
    return;
  }
  clearColumns(out, k, valid, width);
  if (bK == 1 && bColumn != 1)
    return transpose(turn, b, bColumn, k, valid, out, width);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < valid; ++j)
      out[i * width + j] = b[i * bK + j * bColumn];
}

/// One strip of six rows of A, k contiguous: 4x4 transposes and two interleaved rows.
template <class T> int64_t packSix(const T *a, int64_t aRow, int64_t k, T *out) {
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    V4<T> r[4];
    for (int64_t t = 0; t < 4; ++t)
      r[t] = load4(a + t * aRow + i);
    transpose4<T>(r);
    V4<T> e = load4(a + 4 * aRow + i), f = load4(a + 5 * aRow + i);
    V4<T> lo = __builtin_shufflevector(e, f, 0, 4, 1, 5), hi = __builtin_shufflevector(e, f, 2, 6, 3, 7);
    for (int64_t t = 0; t < 4; ++t) {
      store4(out + 6 * (i + t), r[t]);
      std::memcpy(out + 6 * (i + t) + 4, reinterpret_cast<const char *>(t < 2 ? &lo : &hi) + (t & 1) * 2 * sizeof(T),
                  2 * sizeof(T));
    }
  }
  return i;
}

/// Rows of A in strips of `rows`; a short last strip keeps its place's stride.
template <class T> void packA(const T *a, int64_t aRow, int64_t aK, int64_t m, int64_t k, int64_t rows, T *out) {
  for (int64_t r = 0; r < m; r += rows, out += rows * k) {
    const T *p = a + r * aRow;
    int64_t w = least(rows, m - r), i = 0;
    if (aK == 1 && w == 6 && rows == 6)
      i = packSix(p, aRow, k, out);
    if (aRow == 1 && w == rows)
      for (; i < k; ++i)
        std::memcpy(out + rows * i, p + i * aK, size_t(rows) * sizeof(T));
    for (; i < k; ++i)
      for (int64_t t = 0; t < w; ++t)
        out[rows * i + t] = p[t * aRow + i * aK];
  }
}

/// How one call runs: decided by sizes and strides alone; the bits are the same every way.
struct Plan {
  bool few; // in parts of k of which a panel fits into L1
  bool packA; // in strips, whose kernels start every block from +0; else by its strides
  bool inPlace; // B isn't packed: its rows are contiguous, and no second tile would read a copy
  bool copies; // the first tile of a pass packs B's panel while it multiplies
  int64_t depth; // of a packed part of B
};

Plan planFor(const GemmKernels &ks, const GemmCall &g) {
  Plan p;
  p.few = g.m <= fewRows;
  p.inPlace = g.bColumn == 1 && g.m <= ks.rows;
  p.copies = g.bColumn == 1 && !p.inPlace;
  int64_t k = least(g.k, gemmBlock);
  p.packA = !p.few && !g.start && (g.aK != 1 || k > mostStrided);
  p.depth = p.few && !p.inPlace && g.m > 1 ? least(k, partBytes / (ks.columns * itemSize(g.dtype))) : k;
  return p;
}

template <class T> struct Gemm {
  const GemmKernels &ks;
  const GemmCall &g;
  Plan plan;
  T *panels, *strips, *edge; // packed B and A, a tile of C for the last panel
  T *chains; // of unfinished chains tiles, or for each panel all rows one behind the other, NR chains each

  /// Rows of A, in place or in strips, in tiles of `step` rows.
  struct Rows {
    const T *a;
    int64_t count, step, row, k, tile;
  };
  /// A part of a panel of B: k rows of NR columns.
  struct Panel {
    const T *b;
    int64_t k, stride;
  };
  struct Out {
    T *c;
    int64_t row, flags;
  };
  /// What will be read soon: `lines` one after the other, or for a copying kernel a row of NR every `step`.
  struct Soon {
    const T *at;
    int64_t lines, step;
  };

  const T *bAt(int64_t k, int64_t n) const { return static_cast<const T *>(g.b) + k * g.bK + n * g.bColumn; }
  T *cAt(int64_t m, int64_t n) const { return static_cast<T *>(g.c) + m * g.cRow + n; }
  int64_t validAt(int64_t n) const { return least(ks.columns, g.n - n); }

  Rows rowsAt(int64_t m, int64_t count, int64_t k) const {
    int64_t tiles = (count + ks.rows - 1) / ks.rows; // even ones: 8 rows as 4 + 4
    return {
        static_cast<const T *>(g.a) + m * g.aRow + k * g.aK, count, (count + tiles - 1) / tiles, g.aRow, g.aK, g.aRow};
  }

  void call(Kernel kernel, const Rows &a, int64_t begin, int64_t end, Panel b, Out out, const T *chain, Soon soon = {},
            T *copy = nullptr, int64_t bPanel = 0) const {
    int64_t tiles = (end - begin + a.step - 1) / a.step;
    int64_t sizes[] = {b.k,       a.row,  a.k,    b.stride, out.row,
                       out.flags, a.step, a.tile, bPanel,   (soon.lines + tiles - 1) / tiles,
                       soon.step};
    void *ptrs[] = {out.c, const_cast<T *>(a.a),  const_cast<T *>(b.b), const_cast<T *>(soon.at),
                    copy,  const_cast<T *>(chain)};
    kernel(ptrs, sizes, nullptr, begin, end);
  }

  /// More than a tile's rows are cut into tiles of four to six, which is what the copying kernel takes.
  bool canCopy(const Rows &a, int64_t valid) const { return plan.copies && valid == ks.columns && a.count > ks.rows; }

  /// The first tile multiplies rows of B where they are and leaves them in `packed`. Rows done.
  int64_t copyTile(const Rows &a, Panel packed, int64_t k, int64_t n, Out out, const T *chain) const {
    call(ks.copy, a, 0, a.step, {bAt(k, n), packed.k, g.bK}, out, chain, {bAt(k, n + ks.columns), 0, g.bK},
         const_cast<T *>(packed.b));
    return a.step;
  }

  /// A panel of fewer than NR columns, through a small tile of C.
  void edgeRows(Kernel kernel, const Rows &a, Panel b, Out out, int64_t valid, const T *chain) const {
    int64_t width = ks.columns, chunk = fewRows / a.step * a.step;
    for (int64_t r = 0; r < a.count; r += chunk) {
      int64_t m = least(chunk, a.count - r);
      if (out.flags & 2)
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < width; ++j)
            edge[i * width + j] = j < valid ? out.c[(r + i) * out.row + j] : T(0);
      Rows some = a;
      some.a += r * a.tile;
      call(kernel, some, 0, m, b, {edge, width, out.flags}, chain + r * width);
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(out.c + (r + i) * out.row, edge + i * width, size_t(valid) * sizeof(T));
    }
  }

  /// C where the first block's chains start from it.
  void startFromC(int64_t begin, int64_t end) const {
    int64_t width = ks.columns, rows = end - begin;
    for (int64_t n = 0; n < g.n; n += width) {
      T *chain = chains + n * rows;
      int64_t valid = validAt(n);
      for (int64_t i = 0; i < rows; ++i) {
        std::memcpy(chain + i * width, cAt(begin + i, n), size_t(valid) * sizeof(T));
        for (int64_t j = valid; j < width; ++j)
          chain[i * width + j] = T(0);
      }
    }
  }
  bool starts(int64_t k0) const { return g.start && !k0; }

  /// A block of k for many rows: passes of blockRows over B. The first packs B.
  void many(int64_t begin, int64_t end, int64_t k0, int64_t k) const {
    int64_t rows = rowBlock(end - begin, ks.rows);
    bool keep = rows < end - begin;
    for (int64_t r = begin; r < end; r += rows) {
      Rows a = rowsAt(r, least(rows, end - r), k0);
      if (plan.packA) {
        packA(a.a, a.row, a.k, a.count, k, ks.rows, strips);
        a = {strips, a.count, ks.rows, 1, ks.rows, k};
      }
      for (int64_t n = 0; n < g.n; n += ks.columns)
        panelTimes(a, r, n, k0, k, r == begin, keep,
                   chains + (g.start ? n * (end - begin) + (r - begin) * ks.columns : 0));
    }
  }

  void panelTimes(const Rows &a, int64_t m, int64_t n, int64_t k0, int64_t k, bool first, bool keep,
                  const T *chain) const {
    Kernel kernel = plan.packA ? ks.packed : ks.strided;
    int64_t valid = validAt(n), from = 0, width = ks.columns;
    T *at = keep ? panels + n * k : panels;
    Panel packed{at, k, width};
    Out out{cAt(m, n), g.cRow, k0 ? 2 : starts(k0)};
    if (first && canCopy(a, valid))
      from = copyTile(a, packed, k0, n, out, chain);
    else if (first)
      packPanel(ks.turn, bAt(k0, n), g.bK, g.bColumn, k, width, valid, at);
    if (valid < width)
      return edgeRows(kernel, a, packed, out, valid, chain);
    int64_t lines = first ? 0 : width * k * int64_t(sizeof(T)) / 64;
    call(kernel, a, from, a.count, packed, out, chain, {at + width * k, lines, 0});
  }

  /// A block of k for few rows: all panels, in parts of k that fit into L1. Chains wait in `chains`, tile by tile.
  void few(int64_t begin, int64_t end, int64_t k0, int64_t k) const {
    for (int64_t done = 0; done < k; done += plan.depth) {
      int64_t depth = least(plan.depth, k - done);
      Rows a = rowsAt(begin, end - begin, k0 + done);
      for (int64_t n = 0; n < g.n; n += ks.columns) {
        T *chain = chains + n * a.count;
        Out out{cAt(begin, n), g.cRow, k0 ? 2 : 0};
        bool ends = done + depth >= k; // not by addresses: without chains theirs may be what follows the scratch memory
        if (!ends)
          out = {chain, ks.columns, 0};
        out.flags |= done || starts(k0) ? 1 : 0;
        part(a, n, k0 + done, depth, out, ends ? validAt(n) : ks.columns, chain);
      }
    }
  }

  /// One part of k of one panel: packed unless it is read once and in place.
  void part(const Rows &a, int64_t n, int64_t k, int64_t depth, Out out, int64_t outColumns, T *chain) const {
    int64_t valid = validAt(n), from = 0, width = ks.columns;
    Panel b{panels, depth, width};
    if (valid == width && plan.inPlace)
      b = {bAt(k, n), depth, g.bK};
    else if (canCopy(a, valid))
      from = copyTile(a, b, k, n, out, chain);
    else
      packPanel(ks.turn, bAt(k, n), g.bK, g.bColumn, depth, width, valid, panels);
    if (outColumns < width)
      edgeRows(ks.strided, a, b, out, outColumns, chain);
    else if (from < a.count)
      call(ks.strided, a, from, a.count, b, out, chain);
  }

  /// One row: several panels at once, in place or packed.
  void oneRow(int64_t m, int64_t k0, int64_t k) const {
    int64_t n = 0, group = widePanels * ks.columns;
    Rows a = rowsAt(m, 1, k0);
    for (; n + group <= g.n && !g.start; n += group) {
      Out out{cAt(m, n), g.cRow, k0 ? 2 : 0};
      if (plan.inPlace) {
        call(ks.wide, a, 0, 1, {bAt(k0, n), k, g.bK}, out, chains, {}, nullptr, ks.columns);
        continue;
      }
      for (int64_t p = 0; p < group; p += ks.columns)
        packPanel(ks.turn, bAt(k0, n + p), g.bK, g.bColumn, k, ks.columns, ks.columns, panels + p * k);
      call(ks.wide, a, 0, 1, {panels, k, ks.columns}, out, chains, {}, nullptr, ks.columns * k);
    }
    for (; n < g.n; n += ks.columns)
      part(a, n, k0, k, {cAt(m, n), g.cRow, k0 ? 2 : starts(k0)}, validAt(n), chains + (g.start ? n : 0));
  }
};

/// Element counts of the scratch areas, each a multiple of a cache line.
struct Areas {
  int64_t panels, strips, edge, chains;
  Areas(const GemmKernels &ks, const GemmCall &g, const Plan &p) {
    int64_t k = least(g.k, gemmBlock), all = roundUp(g.n, ks.columns), columns = ks.columns;
    if (g.m == 1 && !p.inPlace)
      columns *= widePanels;
    else if (!p.few && g.m > blockRows)
      columns = all;
    panels = roundUp(columns * p.depth, 64);
    strips = p.packA ? roundUp(least(blockRows, roundUp(g.m, ks.rows)) * k + 16, 64) : 0;
    edge = fewRows * ks.columns;
    chains = g.start || (p.few && p.depth < k) ? g.m * all : 0;
  }
  int64_t total() const { return panels + strips + edge + chains; }
};

template <class T> void zeroRows(const GemmCall &g, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    std::memset(static_cast<T *>(g.c) + i * g.cRow, 0, size_t(g.n) * sizeof(T));
}

template <class T> void rowsOf(const GemmKernels &ks, const GemmCall &g, int64_t begin, int64_t end, void *scratch) {
  if (begin >= end || g.n == 0)
    return;
  if (g.k == 0)
    return g.start ? void() : zeroRows<T>(g, begin, end);
  Plan plan = planFor(ks, g);
  Areas areas(ks, g, plan);
  T *panels = static_cast<T *>(scratch), *strips = panels + areas.panels, *edge = strips + areas.strips;
  Gemm<T> run{ks, g, plan, panels, strips, edge, edge + areas.edge};
  if (g.start)
    run.startFromC(begin, end);
  for (int64_t k0 = 0; k0 < g.k; k0 += gemmBlock) {
    int64_t k = least(gemmBlock, g.k - k0);
    if (g.m == 1)
      run.oneRow(begin, k0, k);
    else if (plan.few)
      run.few(begin, end, k0, k);
    else
      run.many(begin, end, k0, k);
  }
}

} // namespace

#ifndef TORCHC_GEMM_TYPE // artefacts take rowsOf of the types they need (runtime/artefact/GemmRows.cpp)
unsigned gemmKernelsOf(const GemmKernels &ks, const GemmCall &g) {
  Plan p = planFor(ks, g);
  int64_t group = widePanels * ks.columns;
  bool wide = g.m == 1 && g.n >= group && !g.start;
  return (p.packA                    ? 2u
          : wide && g.n % group == 0 ? 0u
                                     : 1u) |
         (wide ? 4u : 0u) | (p.copies && g.m > ks.rows && g.n >= ks.columns ? 8u : 0u) |
         (g.bColumn != 1 && g.bK == 1 ? 16u : 0u);
}

size_t gemmScratchBytes(const GemmKernels &kernels, const GemmCall &call) {
  Areas areas(kernels, call, planFor(kernels, call));
  return size_t(areas.total() * itemSize(call.dtype)) + 64;
}

void gemmRows(const GemmKernels &ks, const GemmCall &g, int64_t begin, int64_t end, void *scratch) {
  switch (itemSize(g.dtype)) {
  case 1: return rowsOf<uint8_t>(ks, g, begin, end, scratch);
  case 2: return rowsOf<uint16_t>(ks, g, begin, end, scratch);
  case 4: return rowsOf<uint32_t>(ks, g, begin, end, scratch);
  default: return rowsOf<uint64_t>(ks, g, begin, end, scratch);
  }
}
#endif

} // namespace torchc
