// Maxima over 2x2 windows that don't overlap, forward and backward, as a fast way beside the general kernel of Pool.cpp.
#pragma once
#include "compiler/lower/KernelBuilder.h"

namespace torchc::lower {

class PoolPairs {
public:
  struct Axis {
    Value in, out, kernel, stride, padding, dilation;
  };
  /// `cotangent`: null for the maxima themselves. `orderOf` gives the key that orders values by N7.
  PoolPairs(KernelBuilder &b, DType type, const Axis (&axes)[3], Value out, Value in, Value cotangent,
            llvm::function_ref<Value(Value)> orderOf)
      : b(b), type(type), axes(axes), out(out), in(in), cotangent(cotangent), orderOf(orderOf) {}
  /// Whether the windows are such, at run time.
  Value applies();
  /// All of planes [begin, end).
  void emit();

private:
  std::pair<Value, Value> load(Value at, Value step, unsigned lanes);
  void store(Value left, Value right, Value at, Value step, unsigned lanes);
  void windows(Value from, Value to, Value step, unsigned lanes);
  void row(Value from, Value to);
  void narrowRows(unsigned lanes);
  void planes();

  KernelBuilder &b;
  DType type;
  const Axis (&axes)[3];
  Value out, in, cotangent;
  llvm::function_ref<Value(Value)> orderOf;
};

} // namespace torchc::lower
