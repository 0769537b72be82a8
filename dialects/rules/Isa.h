// The instruction sets code is made for. All have FMA, so that one set of numeric rules holds on each (N1).
#pragma once
#include <cstdint>

namespace torchc {

/// Numbers are part of the pack's table and of an artefact's description: append only. None is the architecture's
/// baseline, which no kernel is made for.
enum class Isa : uint32_t { None = 0, V3 = 1, V4 = 2, A64 = 3 };

/// "v3", "v4", "a64": the suffix of kernel symbols; "none".
constexpr const char *isaName(Isa isa) {
  constexpr const char *names[] = {"none", "v3", "v4", "a64"};
  return names[unsigned(isa)];
}

/// "x86-64-v3", "x86-64-v4", "aarch64": what a target is called where users see it.
constexpr const char *isaTarget(Isa isa) {
  constexpr const char *names[] = {"x86-64", "x86-64-v3", "x86-64-v4", "aarch64"};
  return names[unsigned(isa)];
}

/// The register tile of matrix products, which the generator of its kernels and their callers agree on: rows, and bytes of
/// a row (two vectors where there are 16 registers, four where there are 32).
inline constexpr int gemmTileRows = 6;
constexpr int gemmTileBytes(Isa isa) { return isa == Isa::V4 ? 256 : 64; }

/// The register tile of convolutions: narrower than that of products, because few networks have a multiple of 64 channels.
constexpr int convTileRows(Isa isa) { return isa == Isa::V4 ? 8 : 6; }
constexpr int convTileBytes(Isa isa) { return isa == Isa::V4 ? 128 : 64; }

/// The best ISA that the running processor (and its system) can run; None where x86 lacks a part of x86-64-v3.
inline Isa processorIsa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4") ? Isa::V4 : __builtin_cpu_supports("x86-64-v3") ? Isa::V3 : Isa::None;
#elif defined(__aarch64__)
  return Isa::A64;
#else
  return Isa::None;
#endif
}

} // namespace torchc
