// The geometry of windows from shapes and attributes.
#pragma once
#include "dialects/rules/Attr.h"
#include "dialects/rules/Dims.h"
#include "dialects/rules/OpInfo.h"
#include "dialects/rules/Window.h"

namespace torchc::rules {

/// Values of the last dimensions behind `fill` for the missing ones.
inline void spatial(int64_t *to, const int64_t *from, int n, int64_t fill) {
  for (int i = 0; i < maxSpatial; i++)
    to[i] = i < maxSpatial - n ? fill : from[i - (maxSpatial - n)];
}

/// `attrs` = stride, padding, dilation, groups.
inline ConvGeometry convGeometry(const Dims &x, const Dims &w, const Dims &y, const Attr *attrs) {
  int n = x.size() - 2;
  ConvGeometry g;
  g.n = x[0], g.c = x[1], g.o = w[0], g.groups = attrs[3].i;
  spatial(g.in, x.data() + 2, n, 1);
  spatial(g.out, y.data() + 2, n, 1);
  spatial(g.kernel, w.data() + 2, n, 1);
  spatial(g.stride, attrs[0].list, n, 1);
  spatial(g.padding, attrs[1].list, n, 0);
  spatial(g.dilation, attrs[2].list, n, 1);
  return g;
}

/// Whether a pool or its gradient is of means, which divide; else of extremes, which have a dilation.
inline bool poolsMeans(const OpInfo &info) { return std::string_view(info.attrs[info.numAttrs - 1].name) == "divisor"; }

/// `x` and `y` are the pool's input and result; `attrs` those of the op in the record's order. Extremes have a dilation
/// where means have count_padding and divisor.
inline PoolGeometry poolGeometry(const Dims &x, const Dims &y, const Attr *attrs, bool isMean) {
  int n = int(attrs[0].size), rank = x.size();
  bool adaptive = attrs[1].size == 0;
  PoolGeometry g;
  spatial(g.in, x.data() + rank - n, n, 1);
  spatial(g.out, y.data() + rank - n, n, 1);
  spatial(g.kernel, attrs[1].list, adaptive ? 0 : n, adaptive ? 0 : 1);
  spatial(g.stride, attrs[2].list, adaptive ? 0 : n, 1);
  spatial(g.padding, attrs[3].list, adaptive ? 0 : n, 0);
  spatial(g.dilation, attrs[4].list, adaptive || isMean ? 0 : n, 1);
  g.countPadding = isMean ? attrs[4].i : 0;
  g.divisor = isMean ? attrs[5].i : 0;
  g.relu = 0;
  return g;
}

} // namespace torchc::rules
