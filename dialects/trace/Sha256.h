// SHA-256 (FIPS 180-4), with the processor's instructions where it has them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace torchc {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
public:
  Sha256();
  void update(std::span<const uint8_t> bytes);
  /// The digest of everything so far; the object is used up.
  Sha256Digest finish();

private:
  uint32_t state[8];
  uint8_t block[64];
  uint64_t total = 0;
};

Sha256Digest sha256(std::span<const uint8_t> bytes);
/// 64 lower-case hexadecimal digits.
std::string toHex(const Sha256Digest &digest);

} // namespace torchc
