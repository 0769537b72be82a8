#include "compiler/codegen/Target.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchc::codegen {

static const TargetInfo targets[] = {
    {Isa::V3, "v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "", 256, false},
    {Isa::V4, "v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "", 512, true},
    {Isa::A64, "a64", "aarch64-unknown-linux-gnu", "generic", "+neon", 128, false},
};

const TargetInfo &targetInfo(Isa isa) { return targets[unsigned(isa)]; }

std::optional<Isa> parseIsa(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<Isa>>(text)
      .Cases({"v3", "x86-64-v3"}, Isa::V3)
      .Cases({"v4", "x86-64-v4"}, Isa::V4)
      .Cases({"a64", "aarch64"}, Isa::A64)
      .Case("native", hostIsa())
      .Default(std::nullopt);
}

Isa hostIsa() {
#if defined(__x86_64__)
  bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::V4 : Isa::V3;
#else
  return Isa::A64;
#endif
}

} // namespace torchc::codegen
