#include "runtime/kernels/Index.h"
#include "runtime/core/Layout.h"
#include "runtime/device/ThreadPool.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace torchc {
namespace {

/// Calls body(I{}) with the C++ type of an index dtype.
template <class F> KernelStatus byIndexType(DType t, F body) {
  if (t == DType::I64)
    return body(int64_t{});
  if (t == DType::I32)
    return body(int32_t{});
  return KernelStatus::Unsupported;
}

/// Calls body(T{}) with a type of that many bytes.
template <class F> KernelStatus byItemSize(int size, F body) {
  struct Wide {
    uint64_t a, b;
  };
  switch (size) {
  case 1: return body(uint8_t{});
  case 2: return body(uint16_t{});
  case 4: return body(uint32_t{});
  case 8: return body(uint64_t{});
  case 16: return body(Wide{});
  default: return KernelStatus::Unsupported;
  }
}

/// A stored bool: foreign memory may hold other bytes than 0 and 1.
struct Bit {
  uint8_t v;
};

/// Calls body(T{}) with the arithmetic type of a dtype that accumulates in itself.
template <class F> KernelStatus byDType(DType t, F body) {
  switch (t) {
  case DType::Bool: return body(Bit{});
  case DType::U8: return body(uint8_t{});
  case DType::I8: return body(int8_t{});
  case DType::I16: return body(int16_t{});
  case DType::I32: return body(int32_t{});
  case DType::I64: return body(int64_t{});
  case DType::F32: return body(float{});
  case DType::F64: return body(double{});
  default: return KernelStatus::Unsupported;
  }
}

template <class T> T plus(T a, T b) {
  if constexpr (std::is_same_v<T, Bit>)
    return Bit{uint8_t((a.v | b.v) != 0)};
  else if constexpr (std::is_integral_v<T>) // wraps
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else
    return a + b;
}

template <class I> int64_t resolve(I raw, int64_t bound) { return raw < 0 ? int64_t(raw) + bound : int64_t(raw); }

/// Are all of n indices in [low, bound)? By sign bits only, as not every vector unit compares 64-bit integers: of the
/// distances to both ends one is negative, or wraps to be, where an index is outside.
template <class I, class S> bool allInside(const I *p, S stride, int64_t n, int64_t low, int64_t bound) {
  uint64_t seen = 0;
  for (int64_t i = 0; i < n; ++i) {
    auto v = uint64_t(int64_t(p[i * stride]));
    seen |= (v - uint64_t(low)) | (uint64_t(bound - 1) - v);
  }
  return int64_t(seen) >= 0;
}

/// Checks n indices; those before `position` have been seen already.
template <class I>
bool inRange(const I *p, int64_t stride, int64_t n, int64_t low, int64_t bound, int64_t position, IndexFault *fault) {
  // A block is looked through for its first fault only if it has one: most loops are free of branches.
  for (int64_t block = 0; block < n; block += 512) {
    int64_t end = std::min<int64_t>(block + 512, n);
    const I *from = p + block * stride;
    if (stride == 1 ? allInside(from, std::integral_constant<int64_t, 1>(), end - block, low, bound)
                    : allInside(from, stride, end - block, low, bound))
      continue;
    for (int64_t i = block; i < end; ++i)
      if (int64_t v = p[i * stride]; v < low || v >= bound) {
        if (fault)
          *fault = {v, position + i};
        return false;
      }
  }
  return true;
}

} // namespace

KernelStatus checkIndices(const IndexVector &index, int64_t bound, IndexFault *fault) {
  return byIndexType(index.dtype, [&](auto zero) {
    using I = decltype(zero);
    bool ok = inRange(static_cast<const I *>(index.data), index.stride, index.size, index.wrapNegative ? -bound : 0,
                      bound, 0, fault);
    return ok ? KernelStatus::Ok : KernelStatus::IndexOutOfRange;
  });
}

int64_t countTrue(const void *mask, int64_t n) {
  auto *m = static_cast<const uint8_t *>(mask);
  int64_t count = 0;
  for (int64_t block = 0; block < n; block += 128) { // so many fit into a byte's count
    uint8_t some = 0;
    for (int64_t i = block, end = std::min<int64_t>(block + 128, n); i < end; ++i)
      some = uint8_t(some + (m[i] != 0));
    count += some;
  }
  return count;
}

void truePlaces(const void *mask, int64_t count, int64_t *out) {
  auto *m = static_cast<const uint8_t *>(mask);
  int64_t found = 0, i = 0;
  // A place is stored before it is known whether it stays: no branch to guess. The last ones fit exactly, so that eight
  // at once would be too many for them.
  for (; found + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, m + i, 8); // there are eight: as many more are true
    if (!eight)
      continue;
    for (int64_t k = 0; k < 8; ++k) {
      out[found] = i + k;
      found += m[i + k] != 0;
    }
  }
  for (; found < count; ++i) {
    out[found] = i;
    found += m[i] != 0;
  }
}

KernelStatus indexSelect(void *out, const void *src, const IndexVector &index, int64_t outer, int64_t bound,
                         int64_t innerBytes, IndexFault *fault) {
  if (KernelStatus s = checkIndices(index, bound, fault); s != KernelStatus::Ok)
    return s;
  return byIndexType(index.dtype, [&](auto zero) {
    using I = decltype(zero);
    auto *ix = static_cast<const I *>(index.data);
    auto *from = static_cast<const char *>(src);
    auto *to = static_cast<char *>(out);
    // A constant size makes memcpy one move. All that a loop reads is its own: what it writes may be anything.
    auto pick = [](char *to, const char *base, const I *p, auto stride, int64_t n, int64_t wrap, auto bytes) {
      for (int64_t k = 0; k < n; ++k, to += bytes) {
        int64_t i = p[k * stride];
        std::memcpy(to, base + (i + (i >> 63 & wrap)) * bytes, size_t(bytes));
      }
    };
    auto rows = [&](int64_t b, int64_t e, auto bytes) {
      int64_t wrap = index.wrapNegative ? bound : 0;
      for (int64_t r = b; r < e;) {
        int64_t i = r % index.size, n = std::min(e - r, index.size - i);
        const I *p = ix + i * index.stride;
        const char *base = from + r / index.size * bound * bytes;
        if (index.stride == 1)
          pick(to + r * bytes, base, p, std::integral_constant<int64_t, 1>(), n, wrap, bytes);
        else
          pick(to + r * bytes, base, p, index.stride, n, wrap, bytes);
        r += n;
      }
    };
    if (innerBytes == 0 || index.size == 0)
      return KernelStatus::Ok;
    int64_t grain = std::max<int64_t>(1, elementwiseGrain * 4 / innerBytes);
    parallelFor(0, outer * index.size, grain, [&](int64_t b, int64_t e) {
      switch (innerBytes) {
      case 1: return rows(b, e, std::integral_constant<int64_t, 1>());
      case 2: return rows(b, e, std::integral_constant<int64_t, 2>());
      case 4: return rows(b, e, std::integral_constant<int64_t, 4>());
      case 8: return rows(b, e, std::integral_constant<int64_t, 8>());
      case 16: return rows(b, e, std::integral_constant<int64_t, 16>());
      default: return rows(b, e, innerBytes);
      }
    });
    return KernelStatus::Ok;
  });
}

KernelStatus indexAdd(DType dtype, void *target, const void *source, const IndexVector &index, int64_t outer,
                      int64_t bound, int64_t inner, IndexFault *fault) {
  if (KernelStatus s = checkIndices(index, bound, fault); s != KernelStatus::Ok)
    return s;
  return byDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    return byIndexType(index.dtype, [&](auto zero) {
      using I = decltype(zero);
      auto *ix = static_cast<const I *>(index.data);
      // Threads own target rows [low, high) of the flat [outer * bound], so each row adds in source order.
      auto own = [&](int64_t low, int64_t high) {
        for (int64_t o = low / std::max<int64_t>(bound, 1); o < outer && o * bound < high; ++o) {
          T *t = static_cast<T *>(target) + o * bound * inner;
          auto *s = static_cast<const T *>(source) + o * index.size * inner;
          int64_t first = low - o * bound, last = high - o * bound;
          for (int64_t i = 0; i < index.size; ++i) {
            int64_t v = resolve(ix[i * index.stride], bound);
            if (v < first || v >= last)
              continue;
            T *row = t + v * inner;
            const T *add = s + i * inner;
            for (int64_t j = 0; j < inner; ++j)
              row[j] = plus(row[j], add[j]);
          }
        }
      };
      int64_t work = outer * index.size * inner, rows = outer * bound;
      // Each thread reads all indices of its outer rows: few pieces, and only if there is much to add.
      int64_t pieces = std::min<int64_t>(work / elementwiseGrain, numThreads());
      parallelFor(0, rows, pieces > 1 ? (rows + pieces - 1) / pieces : std::max<int64_t>(rows, 1), own);
      return KernelStatus::Ok;
    });
  });
}

namespace {

/// The loop as the walk below wants it: dims in order, one of them (not `dim`) cut between threads.
struct Walk {
  int rank, dim, split; // split: -1 if there is only `dim`
  const int64_t *sizes;
  int64_t begin, end; // of the split dim
};

/// Visits rows (along the last dim) in row-major order: row(index offset, a offset, b offset, n).
template <class F> bool forEachRow(const Walk &w, const int64_t *ix, const int64_t *a, const int64_t *b, F row) {
  int64_t index[maxRank] = {};
  int64_t oi = 0, oa = 0, ob = 0;
  int last = w.rank - 1;
  auto low = [&](int d) { return d == w.split ? w.begin : 0; };
  auto high = [&](int d) { return d == w.split ? w.end : w.sizes[d]; };
  auto advance = [&](int d, int64_t n) {
    index[d] += n;
    oi += n * ix[d];
    oa += n * a[d];
    ob += n * b[d];
  };
  for (int d = 0; d < w.rank; ++d) {
    if (low(d) >= high(d))
      return true;
    advance(d, low(d));
  }
  for (;;) {
    if (!row(oi, oa, ob, high(last) - low(last)))
      return false;
    int d = last - 1;
    for (; d >= 0; --d) {
      advance(d, 1);
      if (index[d] < high(d))
        break;
      advance(d, low(d) - high(d));
    }
    if (d < 0)
      return true;
  }
}

KernelStatus checkLoop(const DimIndexLoop &loop, IndexFault *fault) {
  if (loop.rank < 1 || loop.rank > maxRank)
    return KernelStatus::Unsupported;
  return byIndexType(loop.indexType, [&](auto zero) {
    using I = decltype(zero);
    Walk w{loop.rank, loop.dim, -1, loop.sizes, 0, 0};
    int64_t position = 0;
    bool ok = forEachRow(w, loop.indexStrides, loop.indexStrides, loop.indexStrides,
                         [&](int64_t i, int64_t, int64_t, int64_t n) {
                           bool good = inRange(static_cast<const I *>(loop.index) + i, loop.indexStrides[loop.rank - 1],
                                               n, loop.wrapNegative ? -loop.bound : 0, loop.bound, position, fault);
                           position += n;
                           return good;
                         });
    return ok ? KernelStatus::Ok : KernelStatus::IndexOutOfRange;
  });
}

/// Runs op(indexed element, plain element) over the loop: `indexed` is the tensor whose `dim` is looked up.
template <class T, class I, class Op>
void dimLoop(const DimIndexLoop &loop, T *indexed, const int64_t *indexedStrides, T *plain, const int64_t *plainStrides,
             Op op) {
  int last = loop.rank - 1;
  int64_t dimStride = indexedStrides[loop.dim], wrap = loop.wrapNegative ? loop.bound : 0;
  int64_t walked[maxRank]; // the looked-up dim moves by its index only
  std::copy_n(indexedStrides, loop.rank, walked);
  walked[loop.dim] = 0;
  int split = -1;
  for (int d = 0; d < loop.rank; ++d)
    if (d != loop.dim && (split < 0 || loop.sizes[d] > loop.sizes[split]))
      split = d;
  auto part = [&](int64_t begin, int64_t end) {
    Walk w{loop.rank, loop.dim, split, loop.sizes, begin, end};
    forEachRow(w, loop.indexStrides, walked, plainStrides, [&](int64_t oi, int64_t oa, int64_t ob, int64_t n) {
      const I *ix = static_cast<const I *>(loop.index) + oi;
      T *a = indexed + oa, *b = plain + ob;
      auto run = [=](auto si, auto sa, auto sb, auto sd) { // strides known to the compiler cost no products
        for (int64_t i = 0; i < n; ++i) {
          int64_t v = ix[i * si];
          op(a[i * sa + (v + (v >> 63 & wrap)) * sd], b[i * sb]);
        }
      };
      int64_t si = loop.indexStrides[last], sa = walked[last], sb = plainStrides[last];
      std::integral_constant<int64_t, 0> none;
      std::integral_constant<int64_t, 1> one;
      if (si != 1 || sb != 1 || sa > 1 || sa < 0)
        run(si, sa, sb, dimStride);
      else if (sa)
        run(one, one, one, dimStride);
      else if (dimStride == 1)
        run(one, none, one, one);
      else
        run(one, none, one, dimStride);
      return true;
    });
  };
  if (split < 0)
    return part(0, 0);
  int64_t n = numElements(loop.rank, loop.sizes);
  int64_t perStep = n / std::max<int64_t>(loop.sizes[split], 1);
  parallelFor(0, loop.sizes[split], std::max<int64_t>(1, elementwiseGrain / std::max<int64_t>(perStep, 1)), part);
}

} // namespace

KernelStatus gatherDim(const DimIndexLoop &loop, void *out, const int64_t *outStrides, const void *src,
                       const int64_t *srcStrides, int itemSize, IndexFault *fault) {
  if (KernelStatus s = checkLoop(loop, fault); s != KernelStatus::Ok)
    return s;
  return byItemSize(itemSize, [&](auto tag) {
    using T = decltype(tag);
    return byIndexType(loop.indexType, [&](auto zero) {
      dimLoop<T, decltype(zero)>(loop, static_cast<T *>(const_cast<void *>(src)), srcStrides, static_cast<T *>(out),
                                 outStrides, [](T &from, T &to) { to = from; });
      return KernelStatus::Ok;
    });
  });
}

namespace {

/// op(target element, source element) over the loop, elements of type T.
template <class T, class Op>
KernelStatus intoTarget(const DimIndexLoop &loop, void *target, const int64_t *targetStrides, const void *src,
                        const int64_t *srcStrides, Op op) {
  return byIndexType(loop.indexType, [&](auto zero) {
    dimLoop<T, decltype(zero)>(loop, static_cast<T *>(target), targetStrides, static_cast<T *>(const_cast<void *>(src)),
                               srcStrides, op);
    return KernelStatus::Ok;
  });
}

/// Max and min by N7: NaN wins, -0 < +0. A Bit is 0 or 1.
template <class T> T combined(Combine how, T a, T b) {
  if constexpr (std::is_same_v<T, Bit>)
    return Bit{uint8_t(how == Combine::Max ? (a.v | b.v) != 0 : a.v && b.v)};
  else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (how == Combine::Product) // wraps; widened, as a product of short types would be a signed int
      return T(uint64_t(U(a)) * uint64_t(U(b)));
    return (how == Combine::Max) == (a < b) ? b : a;
  } else {
    if (how == Combine::Product)
      return a * b;
    if (a != a || b != b)
      return a != a ? a : b;
    bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
    return (how == Combine::Max) == less ? b : a;
  }
}

} // namespace

KernelStatus scatterDim(const DimIndexLoop &loop, void *target, const int64_t *targetStrides, const void *src,
                        const int64_t *srcStrides, int itemSize, IndexFault *fault) {
  if (KernelStatus s = checkLoop(loop, fault); s != KernelStatus::Ok)
    return s;
  return byItemSize(itemSize, [&](auto tag) {
    using T = decltype(tag);
    return intoTarget<T>(loop, target, targetStrides, src, srcStrides, [](T &to, T &from) { to = from; });
  });
}

KernelStatus scatterAddDim(const DimIndexLoop &loop, DType dtype, void *target, const int64_t *targetStrides,
                           const void *src, const int64_t *srcStrides, IndexFault *fault) {
  if (KernelStatus s = checkLoop(loop, fault); s != KernelStatus::Ok)
    return s;
  return byDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    return intoTarget<T>(loop, target, targetStrides, src, srcStrides, [](T &to, T &from) { to = plus(to, from); });
  });
}

KernelStatus scatterReduceDim(const DimIndexLoop &loop, Combine combine, DType dtype, void *target,
                              const int64_t *targetStrides, const void *src, const int64_t *srcStrides,
                              IndexFault *fault) {
  if (KernelStatus s = checkLoop(loop, fault); s != KernelStatus::Ok)
    return s;
  return byDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    return intoTarget<T>(loop, target, targetStrides, src, srcStrides,
                         [combine](T &to, T &from) { to = combined(combine, to, from); });
  });
}

} // namespace torchc
