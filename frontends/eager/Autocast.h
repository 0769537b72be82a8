// torch.autocast on the CPU: which operands an API function casts while the mode is on. The policy of a function is a
// kind of its `Api` (castLow, castSingle, castWidest); the generated definitions apply it (tools/torchc-tblgen/EmitApi.cpp),
// once, before anything else: what a function with a policy calls sees no autocast.
#pragma once
#include "frontends/eager/Modes.h"
#include "frontends/eager/Tensor.h"
#include "runtime/device/Device.h"
#include <vector>

namespace torchc {

/// Operands that a policy casts are floating tensors on the CPU of another type than float64.
enum class Autocast : uint8_t {
  Low, // to the type of the context: products
  Single, // to float32: what loses too much in half precision
  Widest, // to float32 if one of them is
  None // no casts, nor in what it calls
};

inline bool isAutocast() { return threadState.modes.flags & FlagAutocast; }
/// What Low casts to; also outside of a context.
inline DType autocastDType(DeviceKind kind = DeviceKind::Cpu) {
  return DType(threadState.modes.autocastDType[int(kind)]);
}
void setAutocastDType(DeviceKind kind, DType dtype);

/// Counts open contexts of this thread; the casts that they keep go with the last one.
void enterAutocast();
/// Returns how many are left.
int leaveAutocast();
int autocastDepth();
void clearAutocastCache();

/// One call of a function with a policy: its operands are cast, and it runs without autocast.
class AutocastCall {
public:
  template <class... T> explicit AutocastCall(Autocast policy, const T &...operands) : policy(policy) {
    if (policy == Autocast::Widest)
      (meet(operands), ...);
  }
  Tensor operator()(const Tensor &t) const;
  std::vector<Tensor> operator()(const TensorList &list) const;
  template <class T> const T &operator()(const T &other) const { return other; }

private:
  void meet(const Tensor &t) { wide |= t.defined() && t->dtype == DType::F32 && !t->device; }
  void meet(const TensorList &list) {
    for (const Tensor &t : list)
      meet(t);
  }
  template <class T> void meet(const T &) {}

  Autocast policy;
  bool wide = false; // Widest: an operand is float32
  ModeGuard outside{0, FlagAutocast};
};

} // namespace torchc
