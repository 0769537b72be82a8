// How code is generated for each ISA.
#pragma once
#include "dialects/rules/Isa.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace torchc::codegen {

using torchc::Isa;

struct TargetInfo {
  Isa isa;
  llvm::StringRef name; // "v3": suffix of kernel symbols
  llvm::StringRef triple, cpu, features;
  unsigned vectorBits; // width of the vectors kernels are written in
  bool maskedTails;    // remainders by masked loads and stores (E5: AVX-512 only)

  /// Vector lanes for elements of `bits` bits.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }
};

/// `isa` isn't None.
const TargetInfo &targetInfo(Isa isa);

/// Accepts "v3", "x86-64-v3", "v4", "x86-64-v4", "a64", "aarch64" and "native"; nothing for other text.
std::optional<Isa> parseIsa(llvm::StringRef text);

/// The best ISA the running CPU has; V3 where it has none, so that code can be made anywhere.
Isa hostIsa();

} // namespace torchc::codegen
