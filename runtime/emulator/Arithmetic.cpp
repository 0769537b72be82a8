// What one lane computes. Every operation rounds by IEEE 754 to the nearest even, as the exact forms of PTX do; the file must be
// compiled without contraction.
#include "runtime/emulator/Warp.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace torchc::ptx {
namespace {

struct Lanes {
  const Instruction &i;
  uint64_t *registers;
  uint32_t mask;

  uint64_t *to(size_t k = 0) const { return registers + size_t(i.to[k]) * warpSize; }
  const uint64_t *in(size_t k) const { return registers + size_t(i.in[k]) * warpSize; }
  template <class F> bool each(F f) const {
    for (uint32_t m = mask; m; m &= m - 1)
      f(std::countr_zero(m));
    return true;
  }
  template <class R, class T, class F> bool one(F f) const {
    const uint64_t *a = in(0);
    uint64_t *d = to();
    return each([&](int l) { d[l] = toBits<R>(R(f(fromBits<T>(a[l])))); });
  }
  template <class R, class T, class F> bool two(F f) const {
    const uint64_t *a = in(0), *b = in(1);
    uint64_t *d = to();
    return each([&](int l) { d[l] = toBits<R>(R(f(fromBits<T>(a[l]), fromBits<T>(b[l])))); });
  }
};

template <class F> bool withInteger(Type t, F f) {
  switch (t) {
  case Type::U8:
  case Type::B8: return f(uint8_t());
  case Type::U16:
  case Type::B16: return f(uint16_t());
  case Type::U32:
  case Type::B32: return f(uint32_t());
  case Type::U64:
  case Type::B64: return f(uint64_t());
  case Type::S8: return f(int8_t());
  case Type::S16: return f(int16_t());
  case Type::S32: return f(int32_t());
  case Type::S64: return f(int64_t());
  default: return false;
  }
}
template <class F> bool withFloat(Type t, F f) {
  if (t == Type::F32)
    return f(float());
  return t == Type::F64 && f(double());
}
template <class F> bool withAny(Type t, F f) {
  return t == Type::F32 || t == Type::F64 ? withFloat(t, f) : withInteger(t, f);
}

/// Integer arithmetic wraps: by the unsigned type, at least as wide as int.
template <class T> using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

/// fmin of PTX: a number beats NaN, -0 is less than +0; .NaN gives the canonical one.
template <class T> T extreme(T x, T y, bool largest, bool keepsNan) {
  if (x != x || y != y) {
    if (keepsNan || (x != x && y != y))
      return std::numeric_limits<T>::quiet_NaN();
    return x != x ? y : x;
  }
  if (x == y)
    return std::signbit(x) == largest ? y : x;
  return (x < y) == largest ? y : x;
}

bool binary(const Lanes &v) {
  const Instruction &i = v.i;
  if (i.op == Op::Min || i.op == Op::Max)
    return withAny(i.type, [&](auto tag) {
      using T = decltype(tag);
      bool largest = i.op == Op::Max;
      if constexpr (std::is_floating_point_v<T>)
        return v.two<T, T>([&](T x, T y) { return extreme(x, y, largest, i.keepsNan); });
      else
        return v.two<T, T>([&](T x, T y) { return largest ? std::max(x, y) : std::min(x, y); });
    });
  return withAny(i.type, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_floating_point_v<T>) {
      switch (i.op) {
      case Op::Add: return v.two<T, T>([](T x, T y) { return x + y; });
      case Op::Sub: return v.two<T, T>([](T x, T y) { return x - y; });
      case Op::Mul: return v.two<T, T>([](T x, T y) { return x * y; });
      case Op::Div: return v.two<T, T>([](T x, T y) { return x / y; });
      default: return false;
      }
    } else {
      using W = Wrapping<T>;
      // A zero divisor gives all ones on the device; the least number by -1 wraps.
      auto quotient = [](T x, T y) {
        return !y ? T(-1) : std::is_signed_v<T> && y == T(-1) ? T(W(0) - W(x)) : T(x / y);
      };
      auto remainder = [](T x, T y) { return !y ? x : std::is_signed_v<T> && y == T(-1) ? T(0) : T(x % y); };
      switch (i.op) {
      case Op::Add: return v.two<T, T>([](T x, T y) { return T(W(x) + W(y)); });
      case Op::Sub: return v.two<T, T>([](T x, T y) { return T(W(x) - W(y)); });
      case Op::Mul: return v.two<T, T>([](T x, T y) { return T(W(x) * W(y)); });
      case Op::Div: return v.two<T, T>(quotient);
      case Op::Rem: return v.two<T, T>(remainder);
      case Op::MulHi:
        return v.two<T, T>([](T x, T y) {
          using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
          return T((Wide(x) * Wide(y)) >> (8 * sizeof(T)));
        });
      default: return false;
      }
    }
  });
}

bool wide(const Lanes &v) {
  return withInteger(v.i.type, [&](auto tag) {
    using T = decltype(tag);
    const uint64_t *a = v.in(0), *b = v.in(1), *c = v.i.op == Op::MadWide ? v.in(2) : nullptr;
    uint64_t *d = v.to();
    uint64_t keep = sizeof(T) >= 4 ? ~uint64_t(0) : 0xffffffff;
    if (sizeof(T) == 8)
      return false;
    return v.each([&](int l) {
      uint64_t product = uint64_t(int64_t(fromBits<T>(a[l]))) * uint64_t(int64_t(fromBits<T>(b[l])));
      d[l] = (product + (c ? c[l] : 0)) & keep;
    });
  });
}

bool multiplyAdd(const Lanes &v) {
  const uint64_t *a = v.in(0), *b = v.in(1), *c = v.in(2);
  uint64_t *d = v.to();
  return withAny(v.i.type, [&](auto tag) {
    using T = decltype(tag);
    return v.each([&](int l) {
      T x = fromBits<T>(a[l]), y = fromBits<T>(b[l]), z = fromBits<T>(c[l]);
      if constexpr (std::is_floating_point_v<T>)
        d[l] = toBits<T>(std::fma(x, y, z));
      else
        d[l] = toBits<T>(T(Wrapping<T>(x) * Wrapping<T>(y) + Wrapping<T>(z)));
    });
  });
}

bool logic(const Lanes &v) {
  const Instruction &i = v.i;
  uint64_t keep = i.type == Type::Pred ? 1 : ~uint64_t(0) >> (64 - 8 * bytesOf(i.type));
  if (i.op == Op::Not)
    return v.one<uint64_t, uint64_t>([&](uint64_t x) { return ~x & keep; });
  return v.two<uint64_t, uint64_t>([&](uint64_t x, uint64_t y) {
    return (i.op == Op::And ? x & y : i.op == Op::Or ? x | y : x ^ y) & keep;
  });
}

/// Counts are 32 bits, and clamp to the width.
bool shift(const Lanes &v) {
  const uint64_t *a = v.in(0), *b = v.in(1);
  uint64_t *d = v.to();
  return withInteger(v.i.type, [&](auto tag) {
    using T = decltype(tag);
    constexpr uint32_t bits = 8 * sizeof(T);
    return v.each([&](int l) {
      T x = fromBits<T>(a[l]);
      uint32_t n = uint32_t(b[l]);
      if (v.i.op == Op::Shl)
        d[l] = toBits<T>(n >= bits ? T(0) : T(Wrapping<T>(x) << n));
      else
        d[l] = toBits<T>(n < bits ? T(x >> n) : std::is_signed_v<T> && x < T(0) ? T(-1) : T(0));
    });
  });
}

bool funnel(const Lanes &v) {
  const uint64_t *low = v.in(0), *high = v.in(1), *count = v.in(2);
  uint64_t *d = v.to();
  return v.each([&](int l) {
    uint32_t n = uint32_t(count[l]);
    n = v.i.clamps ? std::min(n, 32u) : n & 31;
    uint64_t both = high[l] << 32 | uint32_t(low[l]);
    d[l] = v.i.mode == Mode::Left ? uint32_t(n ? both >> (32 - n) : high[l]) : uint32_t(n == 32 ? high[l] : both >> n);
  });
}

bool bits(const Lanes &v) {
  int width = 8 * bytesOf(v.i.type);
  switch (v.i.op) {
  case Op::Popc: return v.one<uint32_t, uint64_t>([](uint64_t x) { return uint32_t(std::popcount(x)); });
  case Op::Clz:
    return v.one<uint32_t, uint64_t>([&](uint64_t x) { return uint32_t(std::countl_zero(x) - (64 - width)); });
  case Op::Brev:
    return v.one<uint64_t, uint64_t>([&](uint64_t x) {
      uint64_t r = 0;
      for (int k = 0; k < width; ++k)
        r |= (x >> k & 1) << (width - 1 - k);
      return r;
    });
  default: break;
  }
  const uint64_t *a = v.in(0), *b = v.in(1), *c = v.in(2);
  uint64_t *d = v.to();
  if (v.i.op == Op::Prmt)
    return v.each([&](int l) {
      uint64_t bytes = uint32_t(a[l]) | b[l] << 32, r = 0;
      for (int k = 0; k < 4; ++k) {
        uint64_t pick = c[l] >> (4 * k) & 15, byte = bytes >> (8 * (pick & 7)) & 0xff;
        if (pick & 8)
          byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * k);
      }
      d[l] = r;
    });
  bool isSigned = v.i.type == Type::S32 || v.i.type == Type::S64;
  return v.each([&](int l) {
    int from = int(b[l] & 0xff), n = int(c[l] & 0xff);
    uint64_t x = from >= width ? 0 : a[l] >> from, keep = n >= 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1;
    int top = std::min(from + n - 1, width - 1);
    uint64_t r = x & keep;
    if (isSigned && n && (a[l] >> top & 1))
      r |= ~(uint64_t(0)) << std::min(n, 63);
    d[l] = width == 32 ? uint32_t(r) : r;
  });
}

bool sign(const Lanes &v) {
  const Instruction &i = v.i;
  if (i.op == Op::CopySign)
    return withFloat(i.type, [&](auto tag) {
      using T = decltype(tag);
      return v.two<T, T>([](T from, T magnitude) { return std::copysign(magnitude, from); });
    });
  return withAny(i.type, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_floating_point_v<T>) {
      // By the bits: NaN keeps its own.
      constexpr uint64_t top = uint64_t(1) << (8 * sizeof(T) - 1);
      return v.one<uint64_t, uint64_t>([&](uint64_t x) { return i.op == Op::Neg ? x ^ top : x & ~top; });
    } else {
      using W = Wrapping<T>;
      return v.one<T, T>([&](T x) { return i.op == Op::Neg || x < T(0) ? T(W(0) - W(x)) : x; });
    }
  });
}

template <class T> bool holds(Compare c, bool unordered, T x, T y) {
  bool nan = x != x || y != y;
  if (c == Compare::Num || c == Compare::Nan)
    return nan == (c == Compare::Nan);
  if (nan)
    return unordered;
  switch (c) {
  case Compare::Eq: return x == y;
  case Compare::Ne: return x != y;
  case Compare::Lt: return x < y;
  case Compare::Le: return x <= y;
  case Compare::Gt: return x > y;
  default: return x >= y;
  }
}

bool compare(const Lanes &v) {
  return withAny(v.i.type, [&](auto tag) {
    using T = decltype(tag);
    return v.two<uint64_t, T>([&](T x, T y) { return uint64_t(holds(v.i.compare, v.i.unordered, x, y)); });
  });
}

bool select(const Lanes &v) {
  const uint64_t *a = v.in(0), *b = v.in(1), *p = v.in(2);
  uint64_t *d = v.to();
  return v.each([&](int l) { d[l] = p[l] & 1 ? a[l] : b[l]; });
}

template <class T> T rounded(T x, Rounding r) {
  switch (r) {
  case Rounding::Zero: return std::trunc(x);
  case Rounding::Down: return std::floor(x);
  case Rounding::Up: return std::ceil(x);
  default: return std::nearbyint(x);
  }
}

/// Out of range saturates; NaN is 0, for 64 bits the least number.
template <class R, class T> R toInteger(T x, Rounding r) {
  if (x != x)
    return sizeof(R) == 8 ? R(uint64_t(1) << 63) : R(0);
  x = rounded(x, r);
  using Limits = std::numeric_limits<R>;
  if (x < T(Limits::min()))
    return Limits::min();
  if (x >= T(std::ldexp(T(1), Limits::digits)))
    return Limits::max();
  return R(x);
}

bool convert(const Lanes &v) {
  const Instruction &i = v.i;
  return withAny(i.type, [&](auto result) {
    using R = decltype(result);
    return withAny(i.from, [&](auto source) {
      using T = decltype(source);
      if constexpr (std::is_floating_point_v<T> && std::is_integral_v<R>)
        return v.one<R, T>([&](T x) { return toInteger<R>(x, i.rounding); });
      else if constexpr (std::is_floating_point_v<T> && std::is_floating_point_v<R>)
        return v.one<R, T>([&](T x) { return R(i.toInteger ? rounded(x, i.rounding) : x); });
      else if constexpr (std::is_integral_v<R> && std::is_signed_v<R>)
        return v.one<int64_t, T>([](T x) { return int64_t(R(x)); }); // fills the register, which may be wider
      else
        return v.one<R, T>([](T x) { return R(x); });
    });
  });
}

bool move(const Lanes &v) {
  const Instruction &i = v.i;
  if (i.op == Op::Mov)
    return v.one<uint64_t, uint64_t>([](uint64_t x) { return x; });
  size_t parts = i.op == Op::Pack ? i.in.size() : i.to.size();
  int width = 8 * bytesOf(i.type) / int(parts);
  uint64_t keep = ~uint64_t(0) >> (64 - width);
  return v.each([&](int l) {
    uint64_t whole = i.op == Op::Pack ? 0 : v.in(0)[l];
    for (size_t k = 0; k < parts; ++k)
      if (i.op == Op::Pack)
        whole |= (v.in(k)[l] & keep) << (width * int(k));
      else
        v.to(k)[l] = whole >> (width * int(k)) & keep;
    if (i.op == Op::Pack)
      v.to()[l] = whole;
  });
}

} // namespace

bool arithmetic(const Instruction &i, uint64_t *registers, uint32_t mask) {
  Lanes v{i, registers, mask};
  switch (i.op) {
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::MulHi:
  case Op::Div:
  case Op::Rem:
  case Op::Min:
  case Op::Max: return binary(v);
  case Op::MulWide:
  case Op::MadWide: return wide(v);
  case Op::Mad:
  case Op::Fma: return multiplyAdd(v);
  case Op::And:
  case Op::Or:
  case Op::Xor:
  case Op::Not: return logic(v);
  case Op::Shl:
  case Op::Shr: return shift(v);
  case Op::Shf: return funnel(v);
  case Op::Bfe:
  case Op::Brev:
  case Op::Clz:
  case Op::Popc:
  case Op::Prmt: return bits(v);
  case Op::Abs:
  case Op::Neg:
  case Op::CopySign: return sign(v);
  case Op::Sqrt:
  case Op::Rcp:
    return withFloat(i.type, [&](auto tag) {
      using T = decltype(tag);
      return v.one<T, T>([&](T x) { return i.op == Op::Sqrt ? std::sqrt(x) : T(1) / x; });
    });
  case Op::Setp: return compare(v);
  case Op::Selp: return select(v);
  case Op::Cvt: return convert(v);
  case Op::Mov:
  case Op::Pack:
  case Op::Unpack: return move(v);
  default: return false;
  }
}

} // namespace torchc::ptx
