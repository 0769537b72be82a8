#include "frontends/eager/Modes.h"
#include "frontends/eager/Tensor.h"

namespace torchc {

void setDefaultDType(DType t) {
  if (!isFloat(t))
    fail(ErrorKind::Type,
         "only floating-point types are supported as the default type, got " + std::string(torchName(t)));
  detail::defaultFloat.store(t, std::memory_order_relaxed);
  bumpEpoch();
}

void manualSeed(uint64_t seed) { manualSeed(defaultGenerator(), seed); }

} // namespace torchc
