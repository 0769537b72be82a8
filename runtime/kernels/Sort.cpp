#include "runtime/kernels/Sort.h"
#include "runtime/core/Storage.h"
#include "runtime/device/ThreadPool.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

namespace torchc {
namespace {

//===-- keys: unsigned integers in the order of the values ------------------------------------------------------===//

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

/// Sign and magnitude as an ascending unsigned number; -0 becomes +0, every NaN the largest number.
template <class U> U floatKey(U bits, U infinity) {
  constexpr U sign = U(1) << (sizeof(U) * 8 - 1);
  U magnitude = bits & U(~sign);
  if (magnitude > infinity)
    return U(~U(0));
  if (!magnitude)
    return sign;
  return bits & sign ? U(~bits) : U(bits | sign);
}
inline uint8_t keyOf(bool v) { return v; }
inline uint8_t keyOf(uint8_t v) { return v; }
inline uint8_t keyOf(int8_t v) { return uint8_t(v) ^ 0x80; }
inline uint16_t keyOf(int16_t v) { return uint16_t(v) ^ 0x8000; }
inline uint32_t keyOf(int32_t v) { return uint32_t(v) ^ 0x80000000u; }
inline uint64_t keyOf(int64_t v) { return uint64_t(v) ^ (uint64_t(1) << 63); }
inline uint16_t keyOf(Half v) { return floatKey<uint16_t>(v.bits, 0x7C00); }
inline uint16_t keyOf(Brain v) { return floatKey<uint16_t>(v.bits, 0x7F80); }
inline uint32_t keyOf(float v) { return floatKey<uint32_t>(std::bit_cast<uint32_t>(v), 0x7F800000u); }
inline uint64_t keyOf(double v) { return floatKey<uint64_t>(std::bit_cast<uint64_t>(v), uint64_t(0x7FF) << 52); }

/// Calls body(T{}) with the type whose key orders the dtype.
template <class F> KernelStatus byDType(DType t, F body) {
  switch (t) {
  case DType::Bool: return body(bool{});
  case DType::U8: return body(uint8_t{});
  case DType::I8: return body(int8_t{});
  case DType::I16: return body(int16_t{});
  case DType::I32: return body(int32_t{});
  case DType::I64: return body(int64_t{});
  case DType::F16: return body(Half{});
  case DType::BF16: return body(Brain{});
  case DType::F32: return body(float{});
  case DType::F64: return body(double{});
  default: return KernelStatus::Unsupported;
  }
}

/// A key with its place. Keys of up to 32 bits share a word with the place, so that comparing words is a stable order.
struct Wide {
  uint64_t key, place;
  bool operator<(const Wide &o) const { return key != o.key ? key < o.key : place < o.place; }
};
inline int64_t placeOf(uint64_t w) { return int64_t(w & 0xFFFFFFFFu); }
inline int64_t placeOf(const Wide &w) { return int64_t(w.place); }
inline uint64_t keyBits(uint64_t w) { return w >> 32; }
inline uint64_t keyBits(const Wide &w) { return w.key; }
inline uint64_t entry(uint64_t *, uint64_t key, int64_t place) { return key << 32 | uint64_t(place); }
inline Wide entry(Wide *, uint64_t key, int64_t place) { return {key, uint64_t(place)}; }

//===-- sorting -------------------------------------------------------------------------------------------------===//

constexpr int64_t radixFrom = 192;    // below, comparing is faster
constexpr int64_t longDigits = 16384; // from here on the counts of long digits are worth their memory

/// Least significant digit first, all digits counted at once; one that all keys share needs no pass.
template <int digitBits, class E> void radixSort(E *data, E *scratch, int64_t n, int keyWidth) {
  constexpr int buckets = 1 << digitBits, maxDigits = (int(sizeof(keyBits(E{}))) * 8 + digitBits - 1) / digitBits;
  int64_t counts[maxDigits][buckets];
  int digits = (keyWidth + digitBits - 1) / digitBits;
  auto digit = [](const E &e, int d) { return keyBits(e) >> (d * digitBits) & (buckets - 1); };
  for (int d = 0; d < digits; d++)
    std::fill_n(counts[d], buckets, 0);
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < digits; d++)
      counts[d][digit(data[i], d)]++;
  E *from = data, *to = scratch;
  for (int d = 0; d < digits; d++) {
    if (counts[d][digit(from[0], d)] == n)
      continue;
    int64_t at = 0;
    for (int64_t &c : counts[d])
      at += std::exchange(c, at);
    for (int64_t i = 0; i < n; i++)
      to[counts[d][digit(from[i], d)]++] = from[i];
    std::swap(from, to);
  }
  if (from != data)
    std::memcpy(data, from, size_t(n) * sizeof(E));
}

/// The first `count` entries in order.
template <class E> void order(E *data, E *scratch, int64_t n, int64_t count, int keyWidth) {
  if (count < n) {
    if (count > 0)
      std::nth_element(data, data + count - 1, data + n);
    std::sort(data, data + count);
  } else if (n < radixFrom)
    std::sort(data, data + n);
  else if (n < longDigits)
    radixSort<8>(data, scratch, n, keyWidth);
  else
    radixSort<11>(data, scratch, n, keyWidth);
}

template <class T> using EntryOf = std::conditional_t<sizeof(keyOf(T{})) == 8, Wide, uint64_t>;

/// Entries of one row; `flip` reverses the order of the keys.
template <class T, class E> void load(const T *x, int64_t n, int64_t stride, bool flip, E *out) {
  using K = decltype(keyOf(T{}));
  for (int64_t i = 0; i < n; i++) {
    K key = keyOf(x[i * stride]);
    out[i] = entry(static_cast<E *>(nullptr), flip ? K(~key) : key, i);
  }
}

constexpr int64_t selectBlock = 256;

/// Is it worth looking through a row for its first few? `kept` entries are needed for that: selectRoom(count).
inline bool selects(int64_t n, int64_t count) { return n >= 2 * selectBlock && count <= n / 4; }
inline int64_t selectRoom(int64_t count) { return 2 * count + selectBlock; }

/// The first `count` > 0 entries of one row in order. Once that many are held, a block of which no key is below the last of
/// them is passed over; an equal key further back in the row doesn't displace one.
template <class T, class E> void select(const T *x, int64_t n, int64_t stride, bool flip, int64_t count, E *kept) {
  using K = decltype(keyOf(T{}));
  int64_t held = 0;
  bool full = false;
  K limit = 0;
  auto cut = [&] {
    std::nth_element(kept, kept + count - 1, kept + held);
    held = count;
  };
  auto readKeys = [flip](K *keys, const T *from, int64_t m, auto step) {
    K turn = flip ? K(~K(0)) : K(0), least = K(~K(0));
    for (int64_t i = 0; i < m; i++) {
      keys[i] = K(keyOf(from[i * step]) ^ turn);
      least = std::min(least, keys[i]);
    }
    return least;
  };
  for (int64_t at = 0; at < n; at += selectBlock) {
    K keys[selectBlock];
    int64_t m = std::min(selectBlock, n - at);
    K least = stride == 1 ? readKeys(keys, x + at, m, std::integral_constant<int64_t, 1>())
                          : readKeys(keys, x + at * stride, m, stride);
    if (full && least >= limit)
      continue;
    for (int64_t i = 0; i < m; i++)
      if (!full || keys[i] < limit)
        kept[held++] = entry(static_cast<E *>(nullptr), keys[i], at + i);
    if (held < 2 * count)
      continue;
    cut();
    full = true;
    limit = K(keyBits(kept[count - 1]));
  }
  if (held > count)
    cut();
  std::sort(kept, kept + count);
}

/// Calls row(entries, their second half, first element, outer, inner) for every row, on several threads; there are `room`
/// entries.
template <class T, class F> KernelStatus forRows(const void *x, SortShape s, int64_t room, F row) {
  using E = EntryOf<T>;
  if (s.size >> 32 && sizeof(E) == 8)
    return KernelStatus::Unsupported;
  int32_t status = 0;
  int64_t grain = std::max<int64_t>(1, elementwiseGrain / (16 * std::max<int64_t>(s.size, 1)));
  parallelFor(0, s.outer * s.inner, grain, [&](int64_t b, int64_t e) {
    std::unique_ptr<E[]> memory(new (std::nothrow) E[size_t(room)]);
    if (!memory)
      return raiseStatus(&status, KernelStatus::NoMemory);
    for (int64_t r = b; r < e; r++) {
      int64_t outer = r / s.inner, inner = r % s.inner;
      row(memory.get(), memory.get() + room / 2, static_cast<const T *>(x) + outer * s.size * s.inner + inner, outer,
          inner);
    }
  });
  return KernelStatus(status);
}

//===-- searching -----------------------------------------------------------------------------------------------===//

template <class T> int64_t lowerBound(const T *p, int64_t n, T v, bool right) {
  int64_t from = 0, to = n;
  while (from < to) {
    int64_t mid = from + (to - from) / 2;
    if (right ? !(p[mid] > v) : !(p[mid] >= v))
      from = mid + 1;
    else
      to = mid;
  }
  return from;
}

template <class T>
void search(const void *boundaries, int64_t n, bool shared, const void *values, int64_t rows, int64_t perRow,
            bool right, int64_t *out) {
  parallelFor(0, rows * perRow, 2048, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      const T *p = static_cast<const T *>(boundaries) + (shared ? 0 : i / perRow * n);
      out[i] = lowerBound(p, n, static_cast<const T *>(values)[i], right);
    }
  });
}

} // namespace

namespace {

/// What the 64-bit keys of a row have in common: their distances from the least of them reach `most` and are multiples of
/// 2^zeros.
struct KeyRange {
  uint64_t least = ~uint64_t(0), most = 0;
  int zeros = 0;
  int width() const { return std::bit_width(most) - zeros; }
};

template <class T> KeyRange rangeOf(const T *x, int64_t n, int64_t stride) {
  KeyRange r;
  uint64_t bits = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = keyOf(x[i * stride]);
    r.least = std::min(r.least, key);
    r.most = std::max(r.most, key);
    bits |= key ^ uint64_t(keyOf(x[0]));
  }
  r.most -= r.least;
  r.zeros = bits ? std::countr_zero(bits) : 0; // where all agree, distances are zero as well
  return r;
}

/// Puts entries in order of which only the first 32 digits of their keys have been sorted. False: too many share those.
template <class T> bool orderRuns(const T *x, int64_t n, int64_t stride, bool flip, uint64_t *words, Wide *room) {
  for (int64_t from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && keyBits(words[to]) == keyBits(words[from]);)
      to++;
    int64_t length = to - from;
    if (length == 1)
      continue;
    if (length > n / 2)
      return false;
    for (int64_t i = 0; i < length; i++) {
      int64_t place = placeOf(words[from + i]);
      uint64_t key = keyOf(x[place * stride]);
      room[i] = {flip ? ~key : key, uint64_t(place)};
    }
    if (std::is_sorted(room, room + length)) // equal ones: they stand by place
      continue;
    order(room, room + length, length, length, 64);
    for (int64_t i = 0; i < length; i++)
      words[from + i] = keyBits(words[from]) << 32 | room[i].place;
  }
  return true;
}

/// argsort of a row of 64-bit values by words of 32 digits of the key and the place, half as long as the others; where
/// there are more digits, runs with the same ones follow. `memory`: 2 n entries. False: that isn't the way for this row.
template <class T>
bool orderWords(const T *x, int64_t n, int64_t stride, bool flip, int64_t count, Wide *memory, int64_t *out,
                int64_t step) {
  if (n >> 32 || n < 2)
    return false;
  KeyRange range = rangeOf(x, n, stride);
  bool exact = range.width() <= 32;
  if (!exact && (count < n || n < radixFrom))
    return false;
  int shift = exact ? range.zeros : std::bit_width(range.most) - 32;
  uint64_t *words = &memory->key;
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = keyOf(x[i * stride]) - range.least;
    words[i] = entry(static_cast<uint64_t *>(nullptr), (flip ? range.most - key : key) >> shift, i);
  }
  order(words, words + n, n, count, exact ? range.width() : 32);
  if (!exact && !orderRuns(x, n, stride, flip, words, memory + n))
    return false;
  for (int64_t i = 0; i < count; i++)
    out[i * step] = placeOf(words[i]);
  return true;
}

} // namespace

KernelStatus argsort(DType dtype, const void *x, SortShape s, bool descending, int64_t count, int64_t *out) {
  return byDType(dtype, [&](auto t) {
    using T = decltype(t);
    constexpr int width = int(sizeof(keyOf(T{}))) * 8;
    bool few = count && selects(s.size, count);
    int64_t room = few ? selectRoom(count) : 2 * s.size;
    return forRows<T>(x, s, room, [&](auto *data, auto *scratch, const T *row, int64_t outer, int64_t inner) {
      int64_t *to = out + outer * count * s.inner + inner;
      if constexpr (width == 64)
        if (!few && orderWords(row, s.size, s.inner, descending, count, data, to, s.inner))
          return;
      if (few)
        select(row, s.size, s.inner, descending, count, data);
      else {
        load(row, s.size, s.inner, descending, data);
        order(data, scratch, s.size, count, width);
      }
      for (int64_t i = 0; i < count; i++)
        to[i * s.inner] = placeOf(data[i]);
    });
  });
}

KernelStatus argmode(DType dtype, const void *x, SortShape s, int64_t *out) {
  return byDType(dtype, [&](auto t) {
    using T = decltype(t);
    constexpr int width = int(sizeof(keyOf(T{}))) * 8;
    return forRows<T>(x, s, 2 * s.size, [&](auto *data, auto *scratch, const T *row, int64_t outer, int64_t inner) {
      load(row, s.size, s.inner, false, data);
      order(data, scratch, s.size, s.size, width);
      int64_t best = 0, run = 0, place = 0;
      for (int64_t i = 0; i < s.size; i++) {
        run++;
        if (i + 1 < s.size && keyBits(data[i]) == keyBits(data[i + 1]))
          continue;
        if (run > best) {
          best = run;
          place = placeOf(data[i]);
        }
        run = 0;
      }
      out[outer * s.inner + inner] = place;
    });
  });
}

KernelStatus searchSorted(DType dtype, const void *boundaries, int64_t n, bool shared, const void *values, int64_t rows,
                          int64_t perRow, bool right, int64_t *out) {
  auto run = dtype == DType::I64   ? search<int64_t>
             : dtype == DType::F32 ? search<float>
             : dtype == DType::F64 ? search<double>
                                   : nullptr;
  if (!run)
    return KernelStatus::Unsupported;
  run(boundaries, n, shared, values, rows, perRow, right, out);
  return KernelStatus::Ok;
}

KernelStatus argsortRows(DType dtype, const void *x, int64_t rows, int64_t columns, int64_t *out) {
  for (int64_t i = 0; i < rows; i++)
    out[i] = i;
  return byDType(dtype, [&](auto t) {
    using T = decltype(t);
    auto *p = static_cast<const T *>(x);
    std::stable_sort(out, out + rows, [&](int64_t a, int64_t b) {
      for (int64_t c = 0; c < columns; c++) {
        auto ka = keyOf(p[a * columns + c]), kb = keyOf(p[b * columns + c]);
        if (ka != kb)
          return ka < kb;
      }
      return false;
    });
    return KernelStatus::Ok;
  });
}

} // namespace torchc
