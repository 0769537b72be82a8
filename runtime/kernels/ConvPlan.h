// How one convolution runs: the positions and taps of each dimension, the blocks of k, the layout of scratch memory.
#pragma once
#include "runtime/kernels/Conv.h"
#include "runtime/kernels/Gemm.h"

namespace torchc {

inline constexpr int64_t channelBlock = 16; // N5

/// Positions of one dimension that read the same taps, in ascending order.
struct ConvClass {
  int64_t first, positions; // in ConvAxis::order
  int64_t tap, taps;        // the first tap and how many; they are ConvAxis::tapStep apart
};

/// One dimension of the rows form: position order[i] reads the source at base[i] + n * sourceStep for its class's n-th tap.
struct ConvAxis {
  int64_t positions, tapStep, sourceStep, classes;
  int64_t *order, *base;
  ConvClass *list;
};

/// Rows [first, first + count) of the row tables, which share their taps: those of one class per dimension.
struct ConvChunk {
  int64_t first, count, classes[maxSpatial];
};

inline int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
inline int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }
inline int64_t volume(const int64_t *v) { return v[0] * v[1] * v[2]; }
inline int64_t blocksOf(int64_t n, int64_t block) { return (n + block - 1) / block; }

/// Sizes that follow from a call and the kernels' tile alone.
struct ConvPlan {
  bool lanes; // depthwise: a lane per channel instead of a sum over channels
  bool swapped; // Weight: columns are outputs, because there are few source channels
  int64_t groups; // of the strips: 1 in the lanes form
  int64_t taps;
  int64_t source[maxSpatial], pad[maxSpatial], padded[maxSpatial]; // what A is read from
  int64_t channels; // source channels of a group
  int64_t width; // channels that lie together in the packed source
  int64_t blocks; // of `width` source channels, over all that one strip group reads
  int64_t columns; // of the strips within a group: the result's channels; Weight: source channels, or outputs
  int64_t panels; // of NR columns
  int64_t rows; // Output, Input: positions of the result; Weight: see ConvWeight
  int64_t depth; // k of a panel of B

  ConvPlan(const ConvKernels &ks, const ConvCall &call);
  int64_t blockStride() const { return volume(padded) * width; }
  int64_t imageStride() const { return groups * blocks * blockStride(); }
};

} // namespace torchc
