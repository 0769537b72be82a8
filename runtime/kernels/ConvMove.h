// Moving data into and out of the layouts of convolution strips.
#pragma once
#include "runtime/kernels/ConvPlan.h"
#include "runtime/kernels/Move.h"

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

/// to[tap][width] = from[lane * stride + tap], zeros behind the last lane.
template <class T>
void packLanes(Kernel turn, const T *from, int64_t stride, int64_t lanes, int64_t width, int64_t taps, T *to) {
  clearColumns(to, taps, lanes, width);
  transpose(turn, from, stride, taps, lanes, to, width);
}

/// A panel of weights in N5's order of k: to[k][width] = from[column * columnStride + channel * channelStride + tap].
template <class T>
void packPanelOf(Kernel turn, const T *from, int64_t columnStride, int64_t channelStride, const ConvPlan &plan,
                 int64_t valid, int64_t width, T *to) {
  if (channelStride == 1) // one tap: k is in order
    return packLanes(turn, from, columnStride, valid, width, plan.depth, to);
  constexpr int64_t most = 144;      // rows of the panel at a time: a block of channels of 3x3
  T lines[most * (128 / sizeof(T))]; // a panel is 128 bytes wide at most
  clearColumns(lines, most, valid, width);
  // Channels whose taps follow each other in memory are read as one run: a block of them, else one.
  bool together = channelStride == plan.taps;
  for (int64_t first = 0; first < plan.channels; first += channelBlock) {
    int64_t here = least(channelBlock, plan.channels - first), runs = together ? 1 : here;
    for (int64_t c = 0; c < runs; ++c) {
      const T *run = from + (first + c) * channelStride;
      int64_t length = plan.taps * here / runs, channel = c, tap = 0;
      for (int64_t at = 0; at < length; at += most) {
        int64_t count = least(most, length - at);
        transpose(turn, run + at, columnStride, count, valid, lines, width);
        for (int64_t i = 0; i < count; ++i) { // the taps of a channel are `here` rows of the panel apart
          copyRow(to + (first * plan.taps + tap * here + channel) * width, lines + i * width, width);
          if (++tap == plan.taps)
            tap = 0, ++channel;
        }
      }
    }
  }
}

/// Block `block` (over all groups) of one image's source: [padded positions][width], +0 where padding is.
template <class T>
void packSourceBlock(Kernel turn, const ConvPlan &plan, const ConvCall &call, const T *source, int64_t image,
                     int64_t block, T *to) {
  int64_t plane = volume(plan.source), width = plan.width, per = plan.lanes ? 0 : plan.channels;
  int64_t group = block / plan.blocks, first = block % plan.blocks * width;
  bool isInput = call.what == ConvWhat::Input;
  int64_t all = isInput ? call.g.o : call.g.c, have = plan.lanes ? plan.columns : plan.channels;
  int64_t channels = least(width, have - first), multiple = plan.lanes && !isInput ? call.g.o / call.g.c : 1;
  const int64_t *s = plan.source, *p = plan.padded, *pad = plan.pad;
  const T *planes = source + (image * all + group * per) * plane;
  auto fill = [&](int64_t from, int64_t count) {
    clearColumns(to, count, channels, width);
    int64_t together = multiple == 1 ? channels : 1;
    for (int64_t j = 0; j < channels; j += together)
      transpose(turn, planes + (first + j) / multiple * plane + from, plane, count, together, to + j, width);
    to += count * width;
  };
  auto clear = [&](int64_t positions) {
    std::memset(to, 0, size_t(positions * width) * sizeof(T));
    to += positions * width;
  };
  if (volume(p) == plane)
    return fill(0, plane);
  for (int64_t x = 0; x < p[0]; ++x)
    for (int64_t y = 0; y < p[1]; ++y) {
      int64_t sx = x - pad[0], sy = y - pad[1];
      if (sx < 0 || sx >= s[0] || sy < 0 || sy >= s[1]) {
        clear(p[2]);
        continue;
      }
      clear(pad[2]);
      fill((sx * s[1] + sy) * s[2], s[2]);
      clear(pad[2]);
    }
}

/// out[column][places[row]] = c[row][column]; rows whose places follow each other are stored together.
template <class T>
void storeColumns(Kernel turn, const T *c, int64_t cRow, const int64_t *places, int64_t rows, int64_t columns, T *out,
                  int64_t plane) {
  for (int64_t r = 0, run = 1; r < rows; r += run, run = 1) {
    while (r + run < rows && places[r + run] == places[r] + run)
      ++run;
    transpose(turn, c + r * cRow, cRow, columns, run, out + places[r], plane);
  }
}

} // namespace torchc
