// The tables of the rows form: which source positions and taps each result position reads.
#pragma once
#include "runtime/kernels/ConvPlan.h"

namespace torchc {

/// Hands out pieces of one block of memory, 64-byte aligned; without a block it only counts.
class ConvMemory {
public:
  explicit ConvMemory(void *block) : at(static_cast<char *>(block)) {}
  template <class E> E *take(int64_t count) {
    char *p = at ? at + used : nullptr;
    used += (size_t(count) * sizeof(E) + 63) & ~size_t(63);
    return reinterpret_cast<E *>(p);
  }
  size_t bytes() const { return used; }

private:
  char *at;
  size_t used = 0;
};

/// Rows of one strip call: enough to use a panel of B often, few enough that their part of the source stays in L2.
inline constexpr int64_t convChunkRows = 168;

/// Rows are those of several images, so that rows of the same taps fill whole tiles where images are small.
struct ConvTables {
  ConvAxis axes[maxSpatial];
  int64_t *offsets, *places; // per row: where its taps start in the source, and its place in the result
  ConvChunk *chunks;
  int64_t numChunks = 0, images = 0;

  /// Lays out tables for at most `mostImages`.
  ConvTables(ConvMemory &memory, const ConvPlan &plan, const ConvCall &call, int64_t mostImages);
  void fill(const ConvPlan &plan, const ConvCall &call, int64_t images);

private:
  void fillAxis(const ConvCall &call, int d);
};

} // namespace torchc
