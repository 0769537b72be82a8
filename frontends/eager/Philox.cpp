#include "frontends/eager/Philox.h"
#include "runtime/device/ThreadPool.h"
#include <cmath>

namespace torchc {
namespace {

struct Words {
  uint32_t w[4];
};

/// Philox4x32-10 (Salmon et al. 2011).
Words philox(uint64_t block, uint64_t seed, uint64_t ordinal) {
  uint32_t c[4] = {uint32_t(block), uint32_t(block >> 32), uint32_t(ordinal), uint32_t(ordinal >> 32)};
  uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
    uint32_t n0 = uint32_t(b >> 32) ^ c[1] ^ k0, n2 = uint32_t(a >> 32) ^ c[3] ^ k1;
    c[1] = uint32_t(b);
    c[3] = uint32_t(a);
    c[0] = n0;
    c[2] = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

/// 11 and 8 bits are exact in f16 and bf16: their bits are those of the f32 value, cut.
uint16_t halfBits(uint32_t word) {
  int v = int(word >> 21);
  if (!v)
    return 0;
  int e = 31 - __builtin_clz(unsigned(v)); // v = 2^e * 1.m, value = v * 2^-11
  int exponent = e - 11 + 15;
  uint32_t m = uint32_t(v) << (10 - e);
  return uint16_t((exponent << 10) | (int(m) & 0x3ff));
}
uint16_t bfloatBits(uint32_t word) {
  float f = float(word >> 24) * 0x1p-8f;
  return uint16_t(__builtin_bit_cast(uint32_t, f) >> 16);
}

template <class T, class F> void narrow(T *out, uint64_t seed, uint64_t ordinal, int64_t n, F value) {
  parallelFor(0, (n + 3) / 4, 2048, [=](int64_t b, int64_t e) {
    for (int64_t block = b; block < e; block++) {
      Words w = philox(uint64_t(block), seed, ordinal);
      for (int64_t i = 4 * block; i < 4 * block + 4 && i < n; i++)
        out[i] = value(w.w[i & 3]);
    }
  });
}

} // namespace

bool philoxUniform(DType dtype, void *out, uint64_t seed, uint64_t ordinal, int64_t n) {
  switch (dtype) {
  case DType::F32:
    narrow(static_cast<float *>(out), seed, ordinal, n, [](uint32_t w) { return float(w >> 8) * 0x1p-24f; });
    return true;
  case DType::F16: narrow(static_cast<uint16_t *>(out), seed, ordinal, n, halfBits); return true;
  case DType::BF16: narrow(static_cast<uint16_t *>(out), seed, ordinal, n, bfloatBits); return true;
  case DType::F64:
    for (int64_t i = 0; i < n; i++) {
      Words w = philox(uint64_t(i / 2), seed, ordinal);
      uint32_t w0 = w.w[2 * (i & 1)], w1 = w.w[2 * (i & 1) + 1];
      static_cast<double *>(out)[i] = double((uint64_t(w0 >> 5) << 26) + (w1 >> 6)) * 0x1p-53;
    }
    return true;
  default: return false;
  }
}

} // namespace torchc
