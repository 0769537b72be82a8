#include "dialects/trace/Sha256.h"
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

using namespace torchc;

namespace {

constexpr uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t bigEndian(const uint8_t *p) {
  return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3];
}

void compressPortable(uint32_t *state, const uint8_t *p, size_t blocks) {
  for (; blocks; --blocks, p += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = bigEndian(p + 4 * i);
    for (int i = 16; i < 64; ++i) {
      uint32_t x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[i - 7] +
             (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
    }
    uint32_t s[8];
    std::memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; ++i) {
      uint32_t e = s[4], a = s[0];
      uint32_t t1 = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                    roundConstants[i] + w[i];
      uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      std::memmove(s + 1, s, 7 * sizeof(uint32_t));
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i)
      state[i] += s[i];
  }
}

#if defined(__x86_64__)
// The instructions keep the state as {A,B,E,F} and {C,D,G,H} and do two rounds each.
__attribute__((target("sha,sse4.1,ssse3"))) void compressShaNi(uint32_t *state, const uint8_t *p, size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(int(state[0]), int(state[1]), int(state[4]), int(state[5]));
  __m128i cdgh = _mm_set_epi32(int(state[2]), int(state[3]), int(state[6]), int(state[7]));
  for (; blocks; --blocks, p += 64) {
    __m128i abef0 = abef, cdgh0 = cdgh, w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p) + i), swap);
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; ++i) {
      __m128i cur = w[i & 3];
      __m128i k = _mm_loadu_si128(reinterpret_cast<const __m128i *>(roundConstants) + i);
      __m128i sum = _mm_add_epi32(cur, k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      // Words 16 + 4i ..: w[t-16] + s0(w[t-15]) + w[t-7] + s1(w[t-2]).
      __m128i next = _mm_sha256msg1_epu32(cur, w[(i + 1) & 3]);
      next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
      w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
    }
    abef = _mm_add_epi32(abef, abef0);
    cdgh = _mm_add_epi32(cdgh, cdgh0);
  }
  alignas(16) uint32_t x[4], y[4];
  _mm_store_si128(reinterpret_cast<__m128i *>(x), abef);
  _mm_store_si128(reinterpret_cast<__m128i *>(y), cdgh);
  uint32_t out[8] = {x[3], x[2], y[3], y[2], x[1], x[0], y[1], y[0]};
  std::memcpy(state, out, sizeof(out));
}

bool haveShaNi() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}
#endif

void compress(uint32_t *state, const uint8_t *p, size_t blocks) {
#if defined(__x86_64__)
  static const bool fast = haveShaNi();
  if (fast)
    return compressShaNi(state, p, blocks);
#endif
  compressPortable(state, p, blocks);
}

} // namespace

Sha256::Sha256() {
  constexpr uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::memcpy(state, initial, sizeof(state));
}

void Sha256::update(std::span<const uint8_t> bytes) {
  const uint8_t *p = bytes.data();
  size_t n = bytes.size(), used = total % 64;
  if (!n)
    return;
  total += n;
  if (used) {
    size_t take = n < 64 - used ? n : 64 - used;
    std::memcpy(block + used, p, take);
    p += take;
    n -= take;
    if (used + take < 64)
      return;
    compress(state, block, 1);
  }
  compress(state, p, n / 64);
  if (n % 64)
    std::memcpy(block, p + n / 64 * 64, n % 64);
}

Sha256Digest Sha256::finish() {
  uint64_t bits = total * 8;
  uint8_t tail[72] = {0x80};
  size_t pad = 1 + (119 - total % 64) % 64;
  for (int i = 0; i < 8; ++i)
    tail[pad + i] = uint8_t(bits >> (56 - 8 * i));
  update({tail, pad + 8});
  Sha256Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256Digest torchc::sha256(std::span<const uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string torchc::toHex(const Sha256Digest &digest) {
  std::string text;
  for (uint8_t b : digest) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}
