#include "runtime/kernels/ConvTables.h"

namespace torchc {
namespace {

int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/// Different tap sets that positions of a dimension can have: runs of the kernel's taps.
int64_t mostClasses(const ConvCall &call, int d) {
  if (call.what != ConvWhat::Input)
    return 1;
  int64_t k = call.g.kernel[d], positions = call.g.in[d];
  return k < 2048 ? least(positions, k * (k + 1) / 2 + 1) : positions;
}

/// The taps that reach position i of the input of a convolution, and the output that the first of them comes from.
struct Reach {
  int64_t tap = 0, taps = 0, output = 0;
};

Reach reachOf(const ConvGeometry &g, int d, int64_t i, int64_t tapStep) {
  Reach r;
  int64_t at = i + g.padding[d], stride = g.stride[d], dilation = g.dilation[d];
  // Taps below this one come from outputs that don't exist.
  int64_t lastStart = (g.out[d] - 1) * stride;
  int64_t tap = at > lastStart ? blocksOf(at - lastStart, dilation) : 0;
  for (int64_t n = 0; n < tapStep && (at - tap * dilation) % stride != 0; ++n)
    ++tap;
  int64_t start = at - tap * dilation;
  if (g.out[d] < 1 || start < 0 || start % stride != 0 || tap >= g.kernel[d])
    return r;
  r.tap = tap;
  r.output = start / stride;
  r.taps = least((g.kernel[d] - 1 - tap) / tapStep, start / (tapStep * dilation)) + 1;
  return r;
}

/// Ascending by (key, value).
void sortByKey(int64_t *keys, int64_t *values, int64_t n) {
  for (int64_t gap = n / 2; gap > 0; gap /= 2)
    for (int64_t i = gap; i < n; ++i) {
      int64_t key = keys[i], value = values[i], j = i;
      for (; j >= gap && (key < keys[j - gap] || (key == keys[j - gap] && value < values[j - gap])); j -= gap) {
        keys[j] = keys[j - gap];
        values[j] = values[j - gap];
      }
      keys[j] = key;
      values[j] = value;
    }
}

} // namespace

ConvTables::ConvTables(ConvMemory &memory, const ConvPlan &plan, const ConvCall &call, int64_t mostImages) {
  int64_t mostChunks = 1, rows = plan.rows * mostImages;
  for (int d = 0; d < maxSpatial; ++d) {
    ConvAxis &a = axes[d];
    a.positions = call.what == ConvWhat::Input ? call.g.in[d] : call.g.out[d];
    a.order = memory.take<int64_t>(a.positions);
    a.base = memory.take<int64_t>(a.positions);
    a.list = memory.take<ConvClass>(mostClasses(call, d));
    mostChunks *= mostClasses(call, d);
  }
  offsets = memory.take<int64_t>(rows);
  places = memory.take<int64_t>(rows);
  mostChunks = least(mostChunks, plan.rows) + blocksOf(rows, convChunkRows);
  chunks = memory.take<ConvChunk>(mostChunks);
}

void ConvTables::fillAxis(const ConvCall &call, int d) {
  const ConvGeometry &g = call.g;
  ConvAxis &a = axes[d];
  a.classes = 0;
  if (call.what != ConvWhat::Input) {
    a.tapStep = 1;
    a.sourceStep = g.dilation[d];
    a.list[a.classes++] = {0, a.positions, 0, g.kernel[d]};
    for (int64_t i = 0; i < a.positions; ++i) {
      a.order[i] = i;
      a.base[i] = i * g.stride[d];
    }
    return;
  }
  int64_t common = gcd(g.stride[d], g.dilation[d]);
  a.tapStep = g.stride[d] / common;
  a.sourceStep = -(g.dilation[d] / common);
  // Sorted by (first tap, taps, position): `base` holds the keys until the order stands.
  for (int64_t i = 0; i < a.positions; ++i) {
    Reach r = reachOf(g, d, i, a.tapStep);
    a.order[i] = i;
    a.base[i] = r.tap * (g.kernel[d] + 1) + r.taps;
  }
  sortByKey(a.base, a.order, a.positions);
  for (int64_t i = 0; i < a.positions; ++i) {
    Reach r = reachOf(g, d, a.order[i], a.tapStep);
    a.base[i] = r.output;
    ConvClass *last = a.classes ? a.list + a.classes - 1 : nullptr;
    if (last && last->tap == r.tap && last->taps == r.taps)
      ++last->positions;
    else
      a.list[a.classes++] = {i, 1, r.tap, r.taps};
  }
}

void ConvTables::fill(const ConvPlan &plan, const ConvCall &call, int64_t count) {
  images = count;
  for (int d = 0; d < maxSpatial; ++d)
    fillAxis(call, d);
  int64_t row = 0;
  numChunks = 0;
  const int64_t *p = plan.padded;
  for (int64_t i = 0; i < axes[0].classes; ++i)
    for (int64_t j = 0; j < axes[1].classes; ++j)
      for (int64_t k = 0; k < axes[2].classes; ++k) {
        const ConvClass &ci = axes[0].list[i], &cj = axes[1].list[j], &ck = axes[2].list[k];
        int64_t first = row;
        for (int64_t n = 0; n < images; ++n)
          for (int64_t x = ci.first; x < ci.first + ci.positions; ++x)
            for (int64_t y = cj.first; y < cj.first + cj.positions; ++y) {
              int64_t from = n * plan.imageStride() + (axes[0].base[x] * p[1] + axes[1].base[y]) * p[2] * plan.width;
              int64_t to = n * plan.groups * plan.columns * plan.rows +
                           (axes[0].order[x] * axes[1].positions + axes[1].order[y]) * axes[2].positions;
              for (int64_t z = ck.first; z < ck.first + ck.positions; ++z, ++row) {
                offsets[row] = from + axes[2].base[z] * plan.width;
                places[row] = to + axes[2].order[z];
              }
            }
        for (int64_t at = first; at < row; at += convChunkRows)
          chunks[numChunks++] = {at, least(convChunkRows, row - at), {i, j, k}};
      }
}

} // namespace torchc
