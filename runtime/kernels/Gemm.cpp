#include "runtime/kernels/Gemm.h"
#include <cstring>

namespace torchc {

namespace {

constexpr int64_t mostRows = 576; // of A packed at once: with 1024 k about 2 MB, streamed once per panel from L2/L3

constexpr int64_t panelsAtOnce = 32;

inline int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
inline int64_t roundUp(int64_t x, int64_t m) { return (x + m - 1) / m * m; }

/// Rows of a pass over B: whole tiles, passes of about equal size.
inline int64_t rowBlock(int64_t m, int64_t tileRows) {
  int64_t passes = (m + mostRows - 1) / mostRows;
  return roundUp((m + passes - 1) / passes, tileRows);
}

template <class T> struct Four {
  typedef T type __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T))));
};
template <class T> using V4 = typename Four<T>::type;
template <class T> inline V4<T> load4(const T *p) { return *reinterpret_cast<const V4<T> *>(p); }
template <class T> inline void store4(T *p, V4<T> v) { *reinterpret_cast<V4<T> *>(p) = v; }

template <class T> inline void transpose4(V4<T> r[4]) {
  V4<T> a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  V4<T> c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5), r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Panels are whole cache lines wide: a copy of known size needs no call.
template <class T> inline void copyRow(T *to, const T *from, int64_t count) {
  constexpr int64_t line = 64 / int64_t(sizeof(T));
  for (int64_t i = 0; i < count; i += line)
    std::memcpy(to + i, from + i, 64);
}

/// Sixteen rows of k at a time keep whole cache lines of every column in use.
template <class T> int64_t packColumns4(const T *b, int64_t bColumn, int64_t k, int64_t width, T *out) {
  int64_t done = k / 16 * 16;
  for (int64_t i = 0; i < done; i += 16)
    for (int64_t j = 0; j < width; j += 4) {
      const T *p = b + j * bColumn + i;
      for (int64_t c = 0; c < 4; ++c)
        __builtin_prefetch(p + c * bColumn + 128, 0, 2);
      for (int64_t s = 0; s < 16; s += 4) {
        V4<T> r[4];
        for (int64_t c = 0; c < 4; ++c)
          r[c] = load4(p + c * bColumn + s);
        transpose4<T>(r);
        for (int64_t c = 0; c < 4; ++c)
          store4(out + (i + s + c) * width + j, r[c]);
      }
    }
  return done;
}

/// One panel of B, columns [n, n + width) of `valid` real ones: [k][width], zeros behind the edge.
template <class T>
void packPanel(const T *b, int64_t bK, int64_t bColumn, int64_t k, int64_t width, int64_t valid, T *out) {
  int64_t i = 0;
  if (valid == width && bColumn == 1) {
    for (; i < k; ++i)
      copyRow(out + i * width, b + i * bK, width);
    return;
  }
  if (valid == width && bK == 1)
    i = packColumns4(b, bColumn, k, width, out);
  for (; i < k; ++i)
    for (int64_t j = 0; j < width; ++j)
      out[i * width + j] = j < valid ? b[i * bK + j * bColumn] : T(0);
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
  bool packA, packB;
};

Plan planFor(const GemmKernels &ks, const GemmCall &g) {
  Plan p;
  // Rows of B that are contiguous are read in place when too few tiles would use a packed panel.
  p.packB = g.bColumn != 1 || g.m > 4 * ks.rows;
  p.packA = g.m > 16 && (g.aK != 1 || (g.n >= 16 * ks.columns && g.m * g.n * g.k > 96l * 96 * 96));
  return p;
}

template <class T> struct Gemm {
  const GemmKernels &ks;
  const GemmCall &g;
  Plan plan;
  T *aScratch, *edge;

  void strip(Kernel kernel, const T *a, int64_t aRow, int64_t aK, int64_t aTile, const T *b, int64_t bK, int64_t bPanel,
             T *c, int64_t cRow, int64_t m, int64_t k, bool add, const T *next, int64_t lines) const {
    int64_t tiles = (m + ks.rows - 1) / ks.rows;
    // Even tiles (8 rows as 4 + 4) when strips of A don't fix them.
    int64_t step = kernel == ks.packed ? ks.rows : kernel == ks.wide ? 1 : (m + tiles - 1) / tiles;
    int64_t sizes[] = {k, aRow, aK, bK, cRow, add ? 2 : 0, step, aTile, bPanel, (lines + tiles - 1) / tiles};
    void *ptrs[] = {c, const_cast<T *>(a), const_cast<T *>(b), const_cast<T *>(next)};
    kernel(ptrs, sizes, nullptr, 0, m);
  }

  /// The last panel, of fewer than NR columns: through a small tile of C.
  void edgePanel(Kernel kernel, const T *a, int64_t aRow, int64_t aK, int64_t aTile, const T *b, T *c, int64_t m,
                 int64_t k, int64_t valid, bool add) const {
    int64_t width = ks.columns, chunk = 8 * ks.rows;
    for (int64_t r = 0; r < m; r += chunk) {
      int64_t mm = least(chunk, m - r);
      if (add)
        for (int64_t i = 0; i < mm; ++i)
          for (int64_t j = 0; j < width; ++j)
            edge[i * width + j] = j < valid ? c[(r + i) * g.cRow + j] : T(0);
      strip(kernel, a + r * aTile, aRow, aK, aTile, b, width, 0, edge, width, mm, k, add, b, 0);
      for (int64_t i = 0; i < mm; ++i)
        std::memcpy(c + (r + i) * g.cRow, edge + i * width, size_t(valid) * sizeof(T));
    }
  }

  /// Rows [begin, end) times one k block, whose packed panels are in `packed` (null: B is read in place).
  void block(int64_t begin, int64_t end, int64_t k0, int64_t k, const T *packed, T *lastPanel) const {
    const T *b = static_cast<const T *>(g.b) + k0 * g.bK;
    T *c = static_cast<T *>(g.c);
    bool add = k0 > 0;
    int64_t rows = rowBlock(end - begin, ks.rows);
    for (int64_t r = begin; r < end; r += rows) {
      int64_t m = least(rows, end - r);
      const T *a = static_cast<const T *>(g.a) + r * g.aRow + k0 * g.aK;
      int64_t aRow = g.aRow, aK = g.aK, aTile = g.aRow;
      Kernel kernel = ks.strided;
      if (plan.packA) {
        packA(a, g.aRow, g.aK, m, k, ks.rows, aScratch);
        a = aScratch, aRow = 1, aK = ks.rows, aTile = k, kernel = ks.packed;
      }
      for (int64_t n = 0; n < g.n;) {
        int64_t valid = least(ks.columns, g.n - n);
        const T *panel = packed ? packed + n * k : b + n;
        T *out = c + r * g.cRow + n;
        if (valid < ks.columns) {
          if (!packed) {
            packPanel(b + n, g.bK, g.bColumn, k, ks.columns, valid, lastPanel);
            panel = lastPanel;
          }
          edgePanel(kernel, a, aRow, aK, aTile, panel, out, m, k, valid, add);
        } else if (m == 1 && n + 4 * ks.columns <= g.n) {
          strip(ks.wide, a, aRow, aK, aTile, panel, packed ? ks.columns : g.bK, packed ? ks.columns * k : ks.columns,
                out, g.cRow, 1, k, add, panel, 0);
          n += 3 * ks.columns;
        } else {
          const T *next = packed + (n + ks.columns < g.n ? (n + ks.columns) * k : 0);
          int64_t lines = packed ? k * ks.columns * int64_t(sizeof(T)) / 64 : 0;
          strip(kernel, a, aRow, aK, aTile, panel, packed ? ks.columns : g.bK, 0, out, g.cRow, m, k, add,
                packed ? next : panel, lines);
        }
        n += ks.columns;
      }
    }
  }
};

/// Element counts of the scratch areas, each a multiple of a cache line.
struct Areas {
  size_t a, b, edge;
  Areas(const GemmKernels &ks, const GemmCall &g) {
    Plan p = planFor(ks, g);
    int64_t k = least(g.k, gemmBlock);
    a = p.packA ? size_t(roundUp(roundUp(least(g.m, mostRows), ks.rows) * k + 16, 64)) : 0;
    b = size_t(roundUp((p.packB ? roundUp(g.n, ks.columns) : ks.columns) * k, 64));
    edge = size_t(8 * ks.rows * ks.columns);
  }
};

template <class T> void zeroRows(const GemmCall &g, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    std::memset(static_cast<T *>(g.c) + i * g.cRow, 0, size_t(g.n) * sizeof(T));
}

/// Rows [0, k) of B's block into panels.
template <class T> void packBlock(const GemmKernels &ks, const GemmCall &g, int64_t k0, int64_t k, T *out) {
  const T *b = static_cast<const T *>(g.b) + k0 * g.bK;
  int64_t width = ks.columns, whole = g.n / width, p = 0;
  // Several panels at a time: long pieces of each row keep the hardware's prefetcher and the TLB useful.
  for (; g.bColumn == 1 && p < whole; p += least(panelsAtOnce, whole - p)) {
    int64_t count = least(panelsAtOnce, whole - p);
    for (int64_t i = 0; i < k; ++i)
      for (int64_t q = p; q < p + count; ++q)
        copyRow(out + (q * k + i) * width, b + i * g.bK + q * width, width);
  }
  for (; p * width < g.n; ++p)
    packPanel(b + p * width * g.bColumn, g.bK, g.bColumn, k, width, least(width, g.n - p * width), out + p * width * k);
}

template <class T> void rowsOf(const GemmKernels &ks, const GemmCall &g, int64_t begin, int64_t end, void *scratch) {
  if (begin >= end || g.n == 0)
    return;
  if (g.k == 0)
    return zeroRows<T>(g, begin, end);
  Areas areas(ks, g);
  T *b = static_cast<T *>(scratch), *a = b + areas.b;
  Gemm<T> run{ks, g, planFor(ks, g), a, a + areas.a};
  for (int64_t k0 = 0; k0 < g.k; k0 += gemmBlock) {
    int64_t k = least(gemmBlock, g.k - k0);
    if (run.plan.packB)
      packBlock<T>(ks, g, k0, k, b);
    run.block(begin, end, k0, k, run.plan.packB ? b : nullptr, b);
  }
}

} // namespace

#ifndef TORCHC_GEMM_TYPE // artefacts take rowsOf of the types they need (runtime/artefact/GemmRows.cpp)
size_t gemmScratchBytes(const GemmKernels &kernels, const GemmCall &call) {
  Areas areas(kernels, call);
  return (areas.a + areas.b + areas.edge) * size_t(itemSize(call.dtype)) + 64;
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
