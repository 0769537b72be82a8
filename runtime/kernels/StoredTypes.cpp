#include "runtime/kernels/StoredTypes.h"
#include "dialects/rules/Float8.h"
#include "runtime/core/Status.h"
#include "runtime/kernels/Pack.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace torchc {
namespace {

template <class From, class To, To (*convert)(From)>
void loop(void **ptrs, const int64_t *, const void *, int64_t begin, int64_t end) {
  auto *to = static_cast<To *>(ptrs[0]);
  auto *from = static_cast<const From *>(ptrs[1]);
  for (int64_t i = begin; i < end; ++i)
    to[i] = convert(from[i]);
}

template <DType t>
constexpr std::array<float, 256> numbers = [] {
  std::array<float, 256> all{};
  for (int code = 0; code < 256; ++code)
    all[size_t(code)] = float8ToFloat(t, uint8_t(code));
  return all;
}();
template <DType t> float decode(uint8_t code) { return numbers<t>[code]; }
template <DType t> uint8_t encode(float v) { return floatToFloat8(t, v); }

template <class From, class To> To plain(From v) { return To(v); }
template <class F> uint64_t saturated(F v) { return v >= F(0x1p64) ? ~uint64_t(0) : v > 0 ? uint64_t(v) : 0; }

/// The same bits.
template <int size> void copy(void **ptrs, const int64_t *, const void *, int64_t begin, int64_t end) {
  std::memcpy(static_cast<char *>(ptrs[0]) + begin * size, static_cast<const char *>(ptrs[1]) + begin * size,
              size_t(end - begin) * size);
}

/// The type on the way: float32 for float8 and what meets a float of 16 bits, else int64.
constexpr DType wayOf(DType from, DType to) {
  bool floats = isFloat8(from) || isFloat8(to) || from == DType::U64 || to == DType::U64;
  return floats ? DType::F32 : DType::I64;
}

void throughWay(DType from, DType to, void **ptrs, int64_t begin, int64_t end) {
  constexpr int64_t chunk = 512;
  alignas(64) char buffer[chunk * 8];
  DType way = wayOf(from, to);
  Kernel first = packCast(from, way), second = packCast(way, to);
  if (!first || !second)
    return raiseStatus(static_cast<int32_t *>(ptrs[2]), KernelStatus::MissingKernel);
  for (int64_t i = begin; i < end; i += chunk) {
    int64_t n = std::min(chunk, end - i);
    void *in[3] = {buffer, static_cast<char *>(ptrs[1]) + i * itemSize(from), ptrs[2]};
    first(in, nullptr, nullptr, 0, n);
    void *out[3] = {static_cast<char *>(ptrs[0]) + i * itemSize(to), buffer, ptrs[2]};
    second(out, nullptr, nullptr, 0, n);
  }
}

template <DType from, DType to> void through(void **ptrs, const int64_t *, const void *, int64_t begin, int64_t end) {
  throughWay(from, to, ptrs, begin, end);
}

using Casts = Kernel[numDTypes][numDTypes];

template <int pair> void fillThrough(Casts &cast) {
  constexpr auto from = DType(pair / numDTypes), to = DType(pair % numDTypes);
  if constexpr (from != to && (isStored(from) || isStored(to)) && !isComplex(from) && !isComplex(to))
    if (!cast[int(from)][int(to)])
      cast[int(from)][int(to)] = through<from, to>;
}
template <int... pairs> void fillThrough(Casts &cast, std::integer_sequence<int, pairs...>) {
  (fillThrough<pairs>(cast), ...);
}

template <DType t> void fillFloat8(Casts &cast) {
  cast[int(t)][int(DType::F32)] = loop<uint8_t, float, decode<t>>;
  cast[int(DType::F32)][int(t)] = loop<float, uint8_t, encode<t>>;
}

} // namespace

void storedCasts(Kernel (&cast)[numDTypes][numDTypes]) {
  auto pair = [&](DType from, DType to) -> Kernel & { return cast[int(from)][int(to)]; };
  fillFloat8<DType::F8E4M3FN>(cast);
  fillFloat8<DType::F8E5M2>(cast);
  fillFloat8<DType::F8E4M3FNUZ>(cast);
  fillFloat8<DType::F8E5M2FNUZ>(cast);
  for (DType wide : {DType::I64, DType::U64}) {
    pair(DType::U16, wide) = loop<uint16_t, uint64_t, plain>;
    pair(DType::U32, wide) = loop<uint32_t, uint64_t, plain>;
  }
  pair(DType::U64, DType::F32) = loop<uint64_t, float, plain>;
  pair(DType::U64, DType::F64) = loop<uint64_t, double, plain>;
  pair(DType::F32, DType::U64) = loop<float, uint64_t, saturated>;
  pair(DType::F64, DType::U64) = loop<double, uint64_t, saturated>;
  for (int d = 0; d < numComputeDTypes; ++d) { // the bits of the signed type's
    auto t = DType(d);
    pair(t, DType::U16) = t == DType::I16 ? copy<2> : pair(t, DType::I16);
    pair(t, DType::U32) = t == DType::I32 ? copy<4> : pair(t, DType::I32);
    if (isFloat(t))
      continue;
    pair(t, DType::U64) = t == DType::I64 ? copy<8> : pair(t, DType::I64);
    pair(DType::U64, t) = t == DType::I64 ? copy<8> : pair(DType::I64, t);
  }
  pair(DType::U64, DType::U16) = pair(DType::I64, DType::I16);
  pair(DType::U64, DType::U32) = pair(DType::I64, DType::I32);
  fillThrough(cast, std::make_integer_sequence<int, numDTypes * numDTypes>());
}

} // namespace torchc
