// Moving data into and out of the layouts of convolution strips.
#pragma once
#include "runtime/kernels/ConvPlan.h"
#include "runtime/kernels/Transpose4.h"
#include <cstring>

namespace torchc {

/// The channel block behind the block of N3 that starts at `first`: as many whole channel blocks as fit into 1024
/// positions, a short last one if it still fits.
inline int64_t convBlockEnd(const ConvPlan &plan, int64_t first) {
  int64_t last = first + 1, used = least(channelBlock, plan.channels - first * channelBlock) * plan.taps;
  while (last < plan.blocks) {
    used += least(channelBlock, plan.channels - last * channelBlock) * plan.taps;
    if (used > gemmBlock)
      break;
    ++last;
  }
  return last;
}

/// line[j] = from[j][at + i] for i < count, j < rows: rows of memory side by side. `next()` gives the lines in turn.
template <class T, class Next>
void interleaveTo(const T *const *from, int64_t rows, int64_t at, int64_t count, Next next) {
  int64_t i = at, end = at + count;
  for (; i + 4 <= end; i += 4) {
    T *line[4];
    for (int64_t q = 0; q < 4; ++q)
      line[q] = next();
    int64_t j = 0;
    for (; j + 4 <= rows; j += 4) {
      V4<T> r[4];
      for (int64_t q = 0; q < 4; ++q)
        r[q] = load4(from[j + q] + i);
      transpose4<T>(r);
      for (int64_t q = 0; q < 4; ++q)
        store4(line[q] + j, r[q]);
    }
    for (; j < rows; ++j)
      for (int64_t q = 0; q < 4; ++q)
        line[q][j] = from[j][i + q];
  }
  for (; i < end; ++i) {
    T *line = next();
    for (int64_t j = 0; j < rows; ++j)
      line[j] = from[j][i];
  }
}

/// Lines that are `toStep` apart.
template <class T>
void interleave(const T *const *from, int64_t rows, int64_t at, int64_t count, int64_t toStep, T *to) {
  interleaveTo(from, rows, at, count, [&] {
    T *line = to;
    to += toStep;
    return line;
  });
}

/// Columns [from, width) of `count` rows become zero.
template <class T> void clearColumns(T *to, int64_t count, int64_t from, int64_t width) {
  for (int64_t i = 0; from < width && i < count; ++i)
    std::memset(to + i * width + from, 0, size_t(width - from) * sizeof(T));
}

inline constexpr int64_t mostColumns = 128; // of a tile: bytes on the widest vectors

/// to[tap][width] = from[lane * stride + tap], zeros behind the last lane.
template <class T> void packLanes(const T *from, int64_t stride, int64_t lanes, int64_t width, int64_t taps, T *to) {
  const T *rows[mostColumns];
  for (int64_t j = 0; j < lanes; ++j)
    rows[j] = from + j * stride;
  clearColumns(to, taps, lanes, width);
  interleave(rows, lanes, 0, taps, width, to);
}

/// A panel of weights in N5's order of k: to[k][width] = from[column * columnStride + channel * channelStride + tap].
template <class T>
void packPanelOf(const T *from, int64_t columnStride, int64_t channelStride, const ConvPlan &plan, int64_t valid,
                 int64_t width, T *to) {
  const T *rows[mostColumns];
  clearColumns(to, plan.depth, valid, width);
  // Channels whose taps follow each other in memory are read as one run: a block of them, else one.
  bool together = channelStride == plan.taps;
  for (int64_t first = 0; first < plan.channels; first += channelBlock) {
    int64_t here = least(channelBlock, plan.channels - first);
    for (int64_t c = 0; c < here; c += together ? here : 1) {
      for (int64_t j = 0; j < valid; ++j)
        rows[j] = from + j * columnStride + (first + c) * channelStride;
      // The taps of a channel are `here` rows of the panel apart.
      int64_t channel = c, tap = 0;
      interleaveTo(rows, valid, 0, plan.taps * (together ? here : 1), [&] {
        T *line = to + (first * plan.taps + tap * here + channel) * width;
        if (++tap == plan.taps)
          tap = 0, ++channel;
        return line;
      });
    }
  }
}

/// Block `block` (over all groups) of one image's source: [padded positions][width], +0 where padding is.
template <class T>
void packSourceBlock(const ConvPlan &plan, const ConvCall &call, const T *source, int64_t image, int64_t block, T *to) {
  const T *planes[mostColumns];
  int64_t plane = volume(plan.source), width = plan.width, per = plan.lanes ? 0 : plan.channels;
  int64_t group = block / plan.blocks, first = block % plan.blocks * width;
  bool isInput = call.what == ConvWhat::Input;
  int64_t all = isInput ? call.g.o : call.g.c, have = plan.lanes ? plan.columns : plan.channels;
  int64_t channels = least(width, have - first), multiple = plan.lanes && !isInput ? call.g.o / call.g.c : 1;
  for (int64_t j = 0; j < channels; ++j)
    planes[j] = source + (image * all + group * per + (first + j) / multiple) * plane;
  const int64_t *s = plan.source, *p = plan.padded, *pad = plan.pad;
  auto clear = [&](T *at, int64_t positions) { std::memset(at, 0, size_t(positions * width) * sizeof(T)); };
  for (int64_t x = 0; x < p[0]; ++x)
    for (int64_t y = 0; y < p[1]; ++y, to += p[2] * width) {
      int64_t sx = x - pad[0], sy = y - pad[1];
      if (sx < 0 || sx >= s[0] || sy < 0 || sy >= s[1]) {
        clear(to, p[2]);
        continue;
      }
      clear(to, pad[2]);
      clearColumns(to + pad[2] * width, s[2], channels, width);
      interleave(planes, channels, (sx * s[1] + sy) * s[2], s[2], width, to + pad[2] * width);
      clear(to + (pad[2] + s[2]) * width, pad[2]);
    }
}

/// out[column][places[row]] = c[row][column]; four places in a row are stored together.
template <class T>
void storeColumns(const T *c, int64_t cRow, const int64_t *places, int64_t rows, int64_t columns, T *out,
                  int64_t plane) {
  for (int64_t r = 0; r < rows;) {
    bool four = r + 4 <= rows && places[r + 3] == places[r] + 3 && places[r + 1] == places[r] + 1 &&
                places[r + 2] == places[r] + 2;
    int64_t j = 0;
    for (; four && j + 4 <= columns; j += 4) {
      V4<T> v[4];
      for (int64_t q = 0; q < 4; ++q)
        v[q] = load4(c + (r + q) * cRow + j);
      transpose4<T>(v);
      for (int64_t q = 0; q < 4; ++q)
        store4(out + (j + q) * plane + places[r], v[q]);
    }
    int64_t count = four ? 4 : 1;
    for (; j < columns; ++j)
      for (int64_t q = 0; q < count; ++q)
        out[j * plane + places[r + q]] = c[(r + q) * cRow + j];
    r += count;
  }
}

} // namespace torchc
