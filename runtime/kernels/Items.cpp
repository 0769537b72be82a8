// moveItems: one loop for each kind of stride.
#include "runtime/kernels/Items.h"
#include "runtime/kernels/Strided.h"
#include <cstring>
#include <type_traits>
#include <utility>

namespace torchc {
namespace {

constexpr int blockBytes = 16; // a vector of every x86-64

template <class T> constexpr int laneCount = blockBytes / int(sizeof(T));
template <class T> using Block [[gnu::vector_size(blockBytes)]] = T;

template <class T, int... i> Block<T> reversedLanes(Block<T> v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, laneCount<T> - 1 - i...);
}
template <class T, int... i> Block<T> evenLanes(Block<T> a, Block<T> b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, 2 * i...);
}

/// to[i] = last[-i].
template <class T> void moveReversed(Item<T> *to, const Item<T> *last, int64_t n) {
  int64_t i = 0;
  if constexpr (sizeof(T) < blockBytes) {
    constexpr int lanes = laneCount<T>;
    for (; i + lanes <= n; i += lanes) {
      Block<T> v;
      std::memcpy(&v, last - i - (lanes - 1), sizeof v);
      v = reversedLanes<T>(v, std::make_integer_sequence<int, lanes>());
      std::memcpy(to + i, &v, sizeof v);
    }
  }
  for (; i < n; ++i)
    to[i] = last[-i];
}

/// to[i] = from[2 * i]. What lies behind the last item isn't read.
template <class T> void moveEven(Item<T> *to, const Item<T> *from, int64_t n) {
  int64_t i = 0;
  if constexpr (sizeof(T) < blockBytes) {
    constexpr int lanes = laneCount<T>;
    for (; i + lanes < n; i += lanes) {
      Block<T> v[2];
      std::memcpy(v, from + 2 * i, sizeof v);
      v[0] = evenLanes<T>(v[0], v[1], std::make_integer_sequence<int, lanes>());
      std::memcpy(to + i, v, sizeof v[0]);
    }
  }
  for (; i < n; ++i)
    to[i] = from[2 * i];
}

/// to[i] = from[i * stride].
template <class T> void gather(Item<T> *to, const Item<T> *from, int64_t stride, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, from += 4 * stride) {
    Item<T> a = from[0], b = from[stride], c = from[2 * stride], d = from[3 * stride];
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
  for (; i < n; ++i, from += stride)
    to[i] = *from;
}

template <class T> void move(void *dst, int64_t ds, const void *src, int64_t ss, int64_t n) {
  auto *d = static_cast<Item<T> *>(dst);
  auto *s = static_cast<const Item<T> *>(src);
  if (ds != 1) {
    if (ss == 0)
      for (Item<T> v = *s; n > 0; --n, d += ds)
        *d = v;
    else
      for (; n > 0; --n, d += ds, s += ss)
        *d = *s;
  } else if (ss == 1)
    std::memcpy(dst, src, size_t(n) * sizeof(T));
  else if (ss == 0) {
    Item<T> v = *s;
    for (int64_t i = 0; i < n; ++i)
      d[i] = v;
  } else if (ss == -1)
    moveReversed(d, s, n);
  else if (ss == 2)
    moveEven(d, s, n);
  else
    gather(d, s, ss, n);
}

} // namespace

void moveItems(void *dst, int64_t ds, const void *src, int64_t ss, int64_t n, int itemSize) {
  switch (itemSize) {
  case 1: return move<uint8_t>(dst, ds, src, ss, n);
  case 2: return move<uint16_t>(dst, ds, src, ss, n);
  case 4: return move<uint32_t>(dst, ds, src, ss, n);
  case 8: return move<uint64_t>(dst, ds, src, ss, n);
  default: return move<Wide>(dst, ds, src, ss, n);
  }
}

} // namespace torchc
