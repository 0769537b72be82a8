#include "compiler/codegen/Target.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchc::codegen {

static const TargetInfo targets[] = {
    {Isa::V3, isaName(Isa::V3), "x86_64-unknown-linux-gnu", "x86-64-v3", "", 256, false},
    {Isa::V4, isaName(Isa::V4), "x86_64-unknown-linux-gnu", "x86-64-v4", "", 512, true},
    {Isa::A64, isaName(Isa::A64), "aarch64-unknown-linux-gnu", "generic", "+neon", 128, false},
};

const TargetInfo &targetInfo(Isa isa) { return targets[unsigned(isa) - 1]; }

std::optional<Isa> parseIsa(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<Isa>>(text)
      .Cases({"v3", "x86-64-v3"}, Isa::V3)
      .Cases({"v4", "x86-64-v4"}, Isa::V4)
      .Cases({"a64", "aarch64"}, Isa::A64)
      .Case("native", hostIsa())
      .Default(std::nullopt);
}

Isa hostIsa() {
  Isa isa = processorIsa();
  return isa == Isa::None ? Isa::V3 : isa;
}

} // namespace torchc::codegen
