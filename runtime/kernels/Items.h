// Elements as items of 1, 2, 4, 8 or 16 bytes, for code that moves them whole.
#pragma once
#include <cstdint>

namespace torchc {

struct Wide {
  uint64_t a, b;
};
/// Foreign memory may be aligned less than its items are long.
template <class T> struct __attribute__((packed, may_alias)) Item {
  T v;
};

} // namespace torchc
