// The CPUs code is generated for. All have FMA, so that one set of numeric rules holds on each (N1).
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace torchc::codegen {

enum class Isa : uint8_t { V3, V4, A64 };

struct TargetInfo {
  Isa isa;
  llvm::StringRef name; // "v3": suffix of kernel symbols
  llvm::StringRef triple, cpu, features;
  unsigned vectorBits; // width of the vectors kernels are written in
  bool maskedTails;    // remainders by masked loads and stores (E5: AVX-512 only)

  /// Vector lanes for elements of `bits` bits.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }
};

const TargetInfo &targetInfo(Isa isa);

/// Accepts "v3", "x86-64-v3", "v4", "x86-64-v4", "a64", "aarch64" and "native"; nothing for other text.
std::optional<Isa> parseIsa(llvm::StringRef text);

/// The best ISA the running CPU has; V3 when an x86 CPU lacks AVX-512.
Isa hostIsa();

} // namespace torchc::codegen
