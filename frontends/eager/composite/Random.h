// Streams of random numbers (N9): what functions of distributions are made of.
#pragma once
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {

/// One ordinal of a generator, and the draws made from it.
class Draw {
public:
  /// Takes the next ordinal, of the default generator if none is given.
  explicit Draw(const OptGenerator &generator);
  /// Numbers of [0, 1) in a float type; sub-draws are independent streams.
  Tensor uniform(const Dims &dims, DType t, uint8_t device, unsigned subDraw = 0) const;
  /// int64 of [low, low + range), range 0 meaning 2^64.
  Tensor integers(const Dims &dims, int64_t low, uint64_t range, uint8_t device) const;
  /// Standard normal numbers in a type that ops compute in (f32 for f16 and bf16).
  Tensor normal(const Dims &dims, DType t, uint8_t device) const;

private:
  Tensor state(std::initializer_list<uint64_t> more, unsigned subDraw) const;
  uint64_t seed, ordinal;
};

/// The sizes of a `size=` argument: not negative, countable.
Dims checkedSize(IntList size);
/// t with requires_grad set if asked.
Tensor withGrad(Tensor t, bool requiresGrad);

/// Complex numbers of the real ones that `f` draws for a shape.
template <class F> Tensor pairedUp(Dims dims, F f) {
  dims.push(2);
  return callOp(OpId::ViewAsComplex, {f(dims)});
}

} // namespace torchc::composite
