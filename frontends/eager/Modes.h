// Process-wide and per-thread settings: gradient mode, default dtype, seeds.
#pragma once
#include "frontends/eager/Types.h"
#include "runtime/core/ThreadState.h"
#include <atomic>
#include <cstdint>

namespace torchc {

inline bool isGradEnabled() { return !(threadState.modes.flags & FlagNoGrad); }
/// Returns the former value.
inline bool setGradEnabled(bool on) {
  bool old = isGradEnabled();
  if (on != old)
    changeFlags(on ? 0 : uint32_t(FlagNoGrad), on ? uint32_t(FlagNoGrad) : 0);
  return old;
}

/// Sets and clears mode flags until the end of the scope.
class ModeGuard {
public:
  ModeGuard(uint32_t set, uint32_t clear) : old(changeFlags(set, clear)) {}
  ~ModeGuard() { setModes(old); }
  ModeGuard(const ModeGuard &) = delete;

private:
  ThreadModes old;
};
struct NoGradGuard : ModeGuard {
  NoGradGuard() : ModeGuard(FlagNoGrad, 0) {}
};
struct EnableGradGuard : ModeGuard {
  EnableGradGuard() : ModeGuard(0, FlagNoGrad) {}
};
/// For work inside an op: neither tape nor tracer see it.
struct InternalGuard : ModeGuard {
  InternalGuard() : ModeGuard(FlagNoGrad, FlagRecording | FlagRetracing) {}
};

namespace detail {
inline std::atomic<DType> defaultFloat{DType::F32};
}
/// torch.get_default_dtype(): what float numbers and integer operands of float functions become.
inline DType defaultDType() { return detail::defaultFloat.load(std::memory_order_relaxed); }
/// torch.promote_types; Runtime error for two types without a common one.
DType commonType(DType a, DType b);
/// The type of a tensor made of a Python number.
inline DType typeOfNumber(const Scalar &s) {
  return s.isComplex() ? complexType(defaultDType()) : s.isFloat() ? defaultDType() : s.dtype();
}
/// Type error unless floating point. Bumps the epoch (E2).
void setDefaultDType(DType t);

/// torch.manual_seed: the default generator becomes (seed, ordinal 0).
void manualSeed(uint64_t seed);

} // namespace torchc
