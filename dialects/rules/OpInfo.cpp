#include "dialects/rules/OpInfo.h"
#include <algorithm>
#include <array>

namespace torchc {

#include "torchc-gen/OpInfo.inc"

std::optional<OpId> lookupOp(std::string_view name) {
  static const auto sorted = [] {
    std::array<uint16_t, numOps> order;
    for (int i = 0; i < numOps; i++)
      order[i] = uint16_t(i);
    std::sort(order.begin(), order.end(),
              [](uint16_t a, uint16_t b) { return std::string_view(opTable[a].name) < opTable[b].name; });
    return order;
  }();
  auto it = std::lower_bound(sorted.begin(), sorted.end(), name,
                             [](uint16_t i, std::string_view n) { return std::string_view(opTable[i].name) < n; });
  if (it == sorted.end() || name != opTable[*it].name)
    return std::nullopt;
  return OpId(*it);
}

} // namespace torchc
