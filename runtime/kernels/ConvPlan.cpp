#include "runtime/kernels/ConvPlan.h"

namespace torchc {

ConvPlan::ConvPlan(const ConvKernels &ks, const ConvCall &call) {
  const ConvGeometry &g = call.g;
  bool input = call.what == ConvWhat::Input, weight = call.what == ConvWhat::Weight;
  int64_t c = g.c / g.groups, o = g.o / g.groups;
  lanes = g.groups > 1 && c == 1 && (!input || o == 1);
  groups = lanes ? 1 : g.groups;
  taps = volume(g.kernel);
  for (int d = 0; d < maxSpatial; ++d) {
    source[d] = input ? g.out[d] : g.in[d];
    pad[d] = input ? 0 : g.padding[d];
    this->padded[d] = source[d] + 2 * pad[d];
  }
  channels = input ? o : c;
  auto padded = [&](int64_t n) { return blocksOf(n, ks.columns) * ks.columns; };
  swapped = weight && !lanes && c < ks.columns && padded(o) * c < padded(c) * o;
  columns = lanes ? (input ? g.c : g.o) : weight ? (swapped ? o : c) : input ? c : o;
  panels = blocksOf(columns, ks.columns);
  // Lanes and a weight's columns are loaded as vectors, so that whole panels lie together.
  bool vectors = lanes || (weight && !swapped);
  width = vectors ? ks.columns : swapped ? most(c, 1) : least(channelBlock, channels);
  blocks = vectors ? panels : swapped ? 1 : blocksOf(channels, channelBlock);
  rows = volume(input ? g.in : g.out);
  depth = lanes ? taps : channels * taps;
}

} // namespace torchc
