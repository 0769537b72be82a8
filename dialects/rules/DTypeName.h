// Element types by name. Not in DType.h, which shipped models use without libstdc++.
#pragma once
#include "dialects/rules/DType.h"
#include <optional>

namespace torchc {

/// The type that a name of either kind stands for, "f32" or "float32".
constexpr std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < numDTypes; ++i)
    if (name == shortName(DType(i)) || name == torchName(DType(i)))
      return DType(i);
  return std::nullopt;
}

} // namespace torchc
