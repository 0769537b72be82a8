#include "runtime/kernels/Strided.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Items.h"
#include "runtime/kernels/Pack.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace torchc {
namespace {

/// Copies elements [at, at + n) of the nest's order between a strided operand and a contiguous buffer.
template <class T, bool Scatter>
void walk(char *buffer, char *base, const LoopNest &nest, int k, int64_t at, int64_t n) {
  int64_t index[maxRank];
  const int64_t *sizes = nest.sizes, *strides = nest.strides[k];
  auto *p = reinterpret_cast<Item<T> *>(base);
  auto *b = reinterpret_cast<Item<T> *>(buffer);
  int inner = nest.rank - 1;
  for (int d = inner; d >= 0; --d) {
    index[d] = at % sizes[d];
    at /= sizes[d];
    p += index[d] * strides[d];
  }
  int64_t stride = strides[inner], left = sizes[inner] - index[inner];
  for (;;) {
    int64_t run = std::min(left, n);
    if (!Scatter && stride == 0) {
      std::fill_n(b, run, *p);
    } else {
#pragma clang loop vectorize(disable) unroll(disable) // runs are short
      for (int64_t i = 0; i < run; ++i)
        if (Scatter)
          p[i * stride] = b[i];
        else
          b[i] = p[i * stride];
    }
    if (!(n -= run))
      return;
    b += run;
    p -= (sizes[inner] - left) * stride; // back to the start of this run's row
    left = sizes[inner];
    for (int d = inner - 1; d >= 0; --d) {
      p += strides[d];
      if (++index[d] < sizes[d])
        break;
      p -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

template <bool Scatter>
void walkItems(char *buffer, char *base, const LoopNest &nest, int k, int64_t at, int64_t n, int itemSize) {
  switch (itemSize) {
  case 1: return walk<uint8_t, Scatter>(buffer, base, nest, k, at, n);
  case 2: return walk<uint16_t, Scatter>(buffer, base, nest, k, at, n);
  case 4: return walk<uint32_t, Scatter>(buffer, base, nest, k, at, n);
  case 8: return walk<uint64_t, Scatter>(buffer, base, nest, k, at, n);
  default: return walk<Wide, Scatter>(buffer, base, nest, k, at, n);
  }
}

constexpr int64_t chunkElements = 512;
constexpr int64_t directChunk = elementwiseGrain;
constexpr int64_t shortRow = 32; // inner sizes below go through walk()
constexpr int64_t shortFill = 256; // the same where what isn't dense repeats one element along a row, as a bias does
// Transposed inputs are gathered in tiles, so that each cache line is read once, whole: as many rows as a line has
// items, chunkElements columns. Rows of a tile are a line further apart than their length, else they would share sets.
constexpr int64_t lineBytes = 64;
constexpr int maxTiled = 2; // further transposed inputs are gathered row by row
constexpr int64_t tilePitch(int itemSize) { return chunkElements * itemSize + lineBytes; }
constexpr int64_t tileBytes = chunkElements * lineBytes + lineBytes * lineBytes;

/// tile[i][j] = src[j * columnStride + i * rowStride] for i < rows, j < n.
template <class T>
void gatherTile(char *tile, const char *src, int64_t columnStride, int64_t rowStride, int64_t n, int64_t rows) {
  constexpr int64_t pitch = tilePitch(sizeof(T));
  auto *s = reinterpret_cast<const Item<T> *>(src);
  int64_t j = 0;
  if constexpr (sizeof(T) == 4) {
    using V = uint32_t __attribute__((vector_size(16)));
    auto load = [&](int64_t row, int64_t column) {
      V v; // through memcpy: the source is aligned to its items only
      std::memcpy(&v, s + column * columnStride + row, sizeof v);
      return v;
    };
    for (; rowStride == 1 && rows % 4 == 0 && j + 4 <= n; j += 4)
      for (int64_t i = 0; i < rows; i += 4) {
        V a = load(i, j), b = load(i, j + 1), c = load(i, j + 2), d = load(i, j + 3);
        V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        V ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        V out[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                    __builtin_shufflevector(ef, gh, 0, 1, 4, 5), __builtin_shufflevector(ef, gh, 2, 3, 6, 7)};
        for (int64_t k = 0; k < 4; ++k)
          std::memcpy(tile + (i + k) * pitch + j * 4, &out[k], sizeof out[k]);
      }
  }
  for (; j < n; ++j) {
    const Item<T> *column = s + j * columnStride;
    char *to = tile + j * int64_t(sizeof(T));
    for (int64_t i = 0; i < rows; ++i)
      *reinterpret_cast<Item<T> *>(to + i * pitch) = column[i * rowStride];
  }
}

/// What doesn't change over a loop.
struct Plan {
  LoopNest nest;
  Kernel kernel; // null: move operand 1 to operand 0
  const void *scalars;
  int32_t *status;
  int numOutputs, numOperands;
  char *base[maxOperands];
  int itemSize[maxOperands], computeSize[maxOperands];
  Kernel cast[maxOperands];  // null: none needed
  bool direct[maxOperands];  // the kernel takes the memory as it lies
  bool dense[maxOperands];   // contiguous over the whole nest (linear mode)
  int tile[maxOperands];     // number of the operand's tile; -1: it has none
  bool linear, allDirect;
  bool repeats[maxOperands]; // along a row: read as a scalar of the row
  bool anyRepeats;
  int64_t inner, rows;
  int64_t chunk, chunksPerRow, group, groups; // an item is a chunk of columns by a group of rows

  int64_t stride(int k, int dim) const { return nest.strides[k][dim]; }
};

/// One thread's buffers, and what the input buffers hold.
struct Scratch {
  alignas(64) char buffer[maxOperands][chunkElements * 16];
  alignas(64) char raw[chunkElements * 16];
  alignas(64) char tiles[maxTiled][tileBytes];
  const char *held[maxOperands];
  int64_t heldCount[maxOperands];
};

void applyCast(const Plan &p, int k, void *out, const void *in, int64_t n) {
  void *ptrs[3] = {out, const_cast<void *>(in), p.status};
  p.cast[k](ptrs, nullptr, nullptr, 0, n);
}

/// Where the kernel finds n elements of input k that start at `from` with `stride`.
void *fetch(const Plan &p, Scratch &s, int k, char *from, int64_t stride, int64_t n) {
  if (p.direct[k])
    return from;
  // A broadcast row needn't be gathered again; a tile's memory is used again and again.
  bool mayHold = p.tile[k] < 0;
  if (mayHold && s.held[k] == from && s.heldCount[k] >= n)
    return s.buffer[k];
  const char *in = from;
  if (stride != 1 && n > 1) {
    char *to = p.cast[k] ? s.raw : s.buffer[k];
    gatherItems(to, from, stride, n, p.itemSize[k]);
    in = to;
  }
  if (p.cast[k])
    applyCast(p, k, s.buffer[k], in, n);
  else if (in == from)
    return from;
  s.held[k] = mayHold ? from : nullptr;
  s.heldCount[k] = n;
  return s.buffer[k];
}

/// Brings n results of output k from its buffer to memory.
void store(const Plan &p, Scratch &s, int k, char *to, int64_t stride, int64_t n) {
  const char *from = s.buffer[k];
  if (p.cast[k]) {
    char *out = stride == 1 || n == 1 ? to : s.raw;
    applyCast(p, k, out, from, n);
    if (out == to)
      return;
    from = s.raw;
  }
  scatterItems(to, stride, from, n, p.itemSize[k]);
}

/// One chunk of one row: n elements from at[k] on, `stride[k]` apart.
void runRow(const Plan &p, Scratch &s, char *const *at, const int64_t *stride, int64_t n) {
  if (!p.kernel)
    return moveItems(at[0], stride[0], at[1], stride[1], n, p.itemSize[0]);
  void *ptrs[maxOperands + 1];
  const void *scalars = p.scalars;
  uint64_t own[maxOperands];
  if (p.anyRepeats) {
    int numInputs = p.numOperands - p.numOutputs;
    std::memcpy(own, p.scalars, size_t(numInputs) * sizeof own[0]);
    for (int k = p.numOutputs; k < p.numOperands; ++k)
      if (p.repeats[k]) {
        own[k - p.numOutputs] = 0;
        std::memcpy(&own[k - p.numOutputs], at[k], size_t(p.itemSize[k]));
      }
    scalars = own;
  }
  for (int k = 0; k < p.numOperands; ++k)
    ptrs[k] = k < p.numOutputs ? (p.direct[k] ? at[k] : s.buffer[k]) : fetch(p, s, k, at[k], stride[k], n);
  ptrs[p.numOperands] = p.status;
  p.kernel(ptrs, nullptr, scalars, 0, n);
  for (int k = 0; k < p.numOutputs; ++k)
    if (!p.direct[k])
      store(p, s, k, at[k], stride[k], n);
}

/// One item: `rows` rows by n columns whose first elements are at[k]; moves at[k] to the next group.
void runGroup(const Plan &p, Scratch &s, char **at, int64_t rows, int64_t n) {
  int in = p.nest.rank - 1;
  char *row[maxOperands];
  int64_t step[maxOperands], stride[maxOperands];
  for (int k = 0; k < p.numOperands; ++k) {
    int64_t size = p.itemSize[k];
    row[k] = at[k];
    stride[k] = p.stride(k, in);
    step[k] = in ? p.stride(k, in - 1) * size : 0;
    if (p.tile[k] < 0)
      continue;
    char *tile = s.tiles[p.tile[k]];
    int64_t rowStride = p.stride(k, in - 1);
    switch (size) {
    case 1: gatherTile<uint8_t>(tile, at[k], stride[k], rowStride, n, rows); break;
    case 2: gatherTile<uint16_t>(tile, at[k], stride[k], rowStride, n, rows); break;
    case 4: gatherTile<uint32_t>(tile, at[k], stride[k], rowStride, n, rows); break;
    case 8: gatherTile<uint64_t>(tile, at[k], stride[k], rowStride, n, rows); break;
    default: gatherTile<Wide>(tile, at[k], stride[k], rowStride, n, rows); break;
    }
    row[k] = tile;
    step[k] = tilePitch(int(size));
    stride[k] = 1;
  }
  for (int64_t r = 0; r < rows; ++r) {
    runRow(p, s, row, stride, n);
    for (int k = 0; k < p.numOperands; ++k)
      row[k] += step[k];
  }
}

/// Elements [at, at + n) of the nest's order, n <= chunkElements, where rows are too short to be worth a call each.
void runLinear(const Plan &p, Scratch &s, int64_t at, int64_t n) {
  void *ptrs[maxOperands + 1];
  char *from[maxOperands];
  for (int k = 0; k < p.numOperands; ++k) {
    from[k] = p.base[k] + (p.dense[k] ? at * p.itemSize[k] : 0);
    if (p.direct[k])
      ptrs[k] = from[k];
    else if (k < p.numOutputs)
      ptrs[k] = s.buffer[k];
    else {
      char *to = p.cast[k] ? s.raw : s.buffer[k];
      if (!p.dense[k]) {
        walkItems<false>(to, p.base[k], p.nest, k, at, n, p.itemSize[k]);
        from[k] = to;
      }
      if (p.cast[k])
        applyCast(p, k, s.buffer[k], from[k], n);
      ptrs[k] = s.buffer[k];
    }
  }
  ptrs[p.numOperands] = p.status;
  if (p.kernel)
    p.kernel(ptrs, nullptr, p.scalars, 0, n);
  else
    std::memcpy(ptrs[0], ptrs[1], size_t(n) * size_t(p.itemSize[0]));
  for (int k = 0; k < p.numOutputs; ++k) {
    if (p.direct[k])
      continue;
    char *out = s.buffer[k];
    if (p.cast[k]) {
      out = p.dense[k] ? from[k] : s.raw;
      applyCast(p, k, out, s.buffer[k], n);
    }
    if (!p.dense[k])
      walkItems<true>(out, p.base[k], p.nest, k, at, n, p.itemSize[k]);
  }
}

/// Items [begin, end): chunks vary fastest, then groups of rows, then the outer dims.
void runItems(const Plan &p, int64_t begin, int64_t end) {
  Scratch s;
  std::fill_n(s.held, maxOperands, nullptr);
  if (p.linear) {
    int64_t total = p.inner * p.rows; // rows counts all of them here
    for (int64_t i = begin; i < end; ++i)
      runLinear(p, s, i * chunkElements, std::min(chunkElements, total - i * chunkElements));
    return;
  }
  int inner = p.nest.rank - 1, rowDim = inner - 1;
  int64_t c = begin % p.chunksPerRow, t = begin / p.chunksPerRow;
  int64_t g = t % p.groups, o = t / p.groups;
  int64_t index[maxRank];
  char *outer[maxOperands];
  std::copy_n(p.base, p.numOperands, outer);
  for (int d = rowDim - 1; d >= 0; --d) {
    index[d] = o % p.nest.sizes[d];
    o /= p.nest.sizes[d];
    for (int k = 0; k < p.numOperands; ++k)
      outer[k] += index[d] * p.stride(k, d) * p.itemSize[k];
  }
  for (;;) {
    char *at[maxOperands];
    for (int k = 0; k < p.numOperands; ++k) {
      int64_t offset = c * p.chunk * p.stride(k, inner);
      if (rowDim >= 0)
        offset += g * p.group * p.stride(k, rowDim);
      at[k] = outer[k] + offset * p.itemSize[k];
    }
    runGroup(p, s, at, std::min(p.group, p.rows - g * p.group), std::min(p.chunk, p.inner - c * p.chunk));
    if (++begin == end)
      return;
    if (++c < p.chunksPerRow)
      continue;
    c = 0;
    if (++g < p.groups)
      continue;
    g = 0;
    for (int d = rowDim - 1; d >= 0; --d) {
      for (int k = 0; k < p.numOperands; ++k)
        outer[k] += p.stride(k, d) * p.itemSize[k];
      if (++index[d] < p.nest.sizes[d])
        break;
      for (int k = 0; k < p.numOperands; ++k)
        outer[k] -= p.stride(k, d) * p.itemSize[k] * p.nest.sizes[d];
      index[d] = 0;
    }
  }
}

bool planOperands(Plan &p, const StridedLoop &loop) {
  for (int k = 0; k < p.numOperands; ++k) {
    const StridedOperand &o = loop.operands[k];
    p.base[k] = static_cast<char *>(o.data);
    p.itemSize[k] = o.data ? int(itemSize(o.dtype)) : 0; // no pointer moves for a scalar
    p.computeSize[k] = int(itemSize(o.compute));
    p.cast[k] = nullptr;
    if (o.data && o.dtype != o.compute) {
      bool out = k < p.numOutputs;
      p.cast[k] = packCast(out ? o.compute : o.dtype, out ? o.dtype : o.compute);
      if (!p.cast[k])
        return false;
    }
    for (int d = 0; d < loop.rank; ++d)
      p.nest.strides[k][d] = o.data ? o.strides[d] : 0;
  }
  return true;
}

bool denseInNest(const LoopNest &nest, int k) {
  int64_t n = 1;
  for (int d = nest.rank; d-- > 0; n *= nest.sizes[d])
    if (nest.strides[k][d] != n)
      return false;
  return true;
}

/// Inputs that lie column by column where the loop goes row by row are gathered in tiles.
void planTiles(Plan &p) {
  int in = p.nest.rank - 1, tiles = 0;
  p.group = 1;
  for (int k = 0; k < p.numOperands; ++k) {
    p.tile[k] = -1;
    if (p.linear || k < p.numOutputs || in < 1 || p.direct[k] || tiles == maxTiled ||
        std::abs(p.stride(k, in - 1)) != 1 || std::abs(p.stride(k, in)) < 2 || p.nest.sizes[in - 1] < 4)
      continue;
    int64_t rows = lineBytes / p.itemSize[k];
    p.group = tiles ? std::min(p.group, rows) : rows;
    p.tile[k] = tiles++;
  }
}

/// Whether rows are too short for a call each.
bool hasShortRows(const Plan &p) {
  int in = p.nest.rank - 1;
  if (in == 0 || p.inner >= shortFill)
    return false;
  bool fills = true;
  for (int k = 0; k < p.numOperands; ++k)
    fills &= !p.base[k] || denseInNest(p.nest, k) || (k >= p.numOutputs && p.stride(k, in) == 0);
  return fills || p.inner < shortRow;
}

/// Inputs that repeat one element along every row become scalars of the row, if there is such a kernel.
void planRepeats(Plan &p, const StridedLoop &loop) {
  p.anyRepeats = false;
  std::fill_n(p.repeats, maxOperands, false);
  if (p.linear || !loop.otherKernel || p.nest.rank < 2)
    return;
  unsigned inputs = 0;
  for (int k = p.numOutputs; k < p.numOperands; ++k) {
    // Reduced floats would have to be widened first.
    p.repeats[k] =
        p.base[k] && !p.cast[k] && !isReducedFloat(loop.operands[k].dtype) && p.stride(k, p.nest.rank - 1) == 0;
    inputs |= unsigned(p.repeats[k]) << (k - p.numOutputs);
  }
  Kernel other = inputs ? loop.otherKernel(loop, inputs) : nullptr;
  p.anyRepeats = other;
  if (other)
    p.kernel = other;
  else
    std::fill_n(p.repeats, maxOperands, false);
}

void run(Plan &p, const StridedLoop &loop) {
  LoopNest &nest = p.nest;
  simplify(nest);
  if (nest.rank == 0) { // one element
    nest.rank = 1;
    nest.sizes[0] = 1;
    for (int k = 0; k < p.numOperands; ++k)
      nest.strides[k][0] = 1;
  }
  int in = nest.rank - 1;
  p.inner = nest.sizes[in];
  if (p.inner == 0)
    return;
  int64_t rowsAll = 1;
  for (int d = 0; d < in; ++d)
    rowsAll *= nest.sizes[d];
  p.linear = hasShortRows(p);
  planRepeats(p, loop);
  p.allDirect = true;
  for (int k = 0; k < p.numOperands; ++k) {
    bool scalar = !p.base[k];
    p.dense[k] = scalar || (p.linear && denseInNest(nest, k));
    p.direct[k] = scalar || p.repeats[k] || (!p.cast[k] && (p.linear ? p.dense[k] : nest.strides[k][in] == 1));
    p.allDirect &= p.direct[k];
  }
  planTiles(p);
  int64_t items;
  if (p.linear) {
    p.rows = rowsAll;
    p.chunk = chunkElements;
    items = (p.inner * rowsAll + chunkElements - 1) / chunkElements;
  } else {
    p.rows = in > 0 ? nest.sizes[in - 1] : 1;
    p.chunk = p.allDirect ? directChunk : chunkElements;
    p.chunksPerRow = (p.inner + p.chunk - 1) / p.chunk;
    p.groups = (p.rows + p.group - 1) / p.group;
    items = rowsAll / p.rows * p.groups * p.chunksPerRow;
  }
  int64_t perItem = p.linear ? chunkElements : std::min(p.chunk, p.inner) * p.group;
  int64_t grain = std::max<int64_t>(1, elementwiseGrain / perItem);
  parallelFor(0, items, grain, [&p](int64_t b, int64_t e) { runItems(p, b, e); });
}

} // namespace

void runStrided(const StridedLoop &loop, int32_t *status) {
  if (!loop.kernel || loop.numOperands > maxOperands || loop.rank > maxRank)
    return raiseStatus(status, loop.kernel ? KernelStatus::Unsupported : KernelStatus::MissingKernel);
  Plan p;
  p.kernel = loop.kernel;
  p.scalars = loop.scalars;
  p.status = status;
  p.numOutputs = loop.numOutputs;
  p.numOperands = p.nest.numOperands = loop.numOperands;
  p.nest.rank = loop.rank;
  std::copy_n(loop.sizes, loop.rank, p.nest.sizes);
  if (!planOperands(p, loop))
    return raiseStatus(status, KernelStatus::MissingKernel);
  run(p, loop);
}

void copyStrided(int rank, const int64_t *sizes, void *dst, const int64_t *dstStrides, DType dstType, const void *src,
                 const int64_t *srcStrides, DType srcType, int32_t *status) {
  StridedOperand o[2] = {{dst, dstStrides, dstType, dstType}, {const_cast<void *>(src), srcStrides, srcType, srcType}};
  StridedLoop loop{nullptr, 1, 2, rank, sizes, o};
  if (srcType != dstType) {
    loop.kernel = packCast(srcType, dstType);
    return runStrided(loop, status);
  }
  if (rank > maxRank)
    return raiseStatus(status, KernelStatus::Unsupported);
  Plan p;
  p.kernel = nullptr;
  p.scalars = nullptr;
  p.status = status;
  p.numOutputs = 1;
  p.numOperands = p.nest.numOperands = 2;
  p.nest.rank = rank;
  std::copy_n(sizes, rank, p.nest.sizes);
  planOperands(p, loop);
  run(p, loop);
}

} // namespace torchc
