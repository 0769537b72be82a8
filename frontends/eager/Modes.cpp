#include "frontends/eager/Modes.h"
#include "dialects/rules/Infer.h"
#include "frontends/eager/Tensor.h"

namespace torchc {

DType commonType(DType a, DType b) {
  if (!promotes(a, b))
    fail(TypeClash{a, b}.text());
  return promoteTypes(a, b);
}

void setDefaultDType(DType t) {
  if (!isFloat(t) || isFloat8(t))
    fail(ErrorKind::Type,
         "only floating-point types are supported as the default type, got " + std::string(torchName(t)));
  detail::defaultFloat.store(t, std::memory_order_relaxed);
  bumpEpoch();
}

void manualSeed(uint64_t seed) { manualSeed(defaultGenerator(), seed); }

} // namespace torchc
