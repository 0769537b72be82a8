// Maxima over 2x2 windows that don't overlap, forward and backward, as a fast way beside the general kernel of Pool.cpp.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/Window.h"
#include <array>

namespace torchc::lower {

/// The key, an integer of x's width, that orders values of type `t` by N7: all NaN alike above the rest.
Value orderKey(KernelBuilder &b, DType t, Value x);
/// The least key, as a scalar.
Value leastKey(KernelBuilder &b, DType t);

class PoolPairs {
public:
  struct Axis {
    Value in, out, kernel, stride, padding, dilation;
  };
  /// `cotangent`: null for the maxima themselves. `floor`: the gradient of a maximum whose key is no larger is +0.
  PoolPairs(KernelBuilder &b, DType type, const Axis (&axes)[3], Value out, Value in, Value cotangent, Value floor)
      : b(b), type(type), axes(axes), out(out), in(in), cotangent(cotangent), floor(floor) {}
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
  Value floor;
};

/// Whether rows of windows are shorter than a vector and fill it evenly: several rows then make one.
bool fitsNarrowPairs(const KernelBuilder &b, DType t, const PoolGeometry &g);
/// Adds the kernel of emitPool for planes of such a geometry: of maxima, or with `gradient` of theirs.
void emitNarrowPairs(KernelBuilder &b, llvm::StringRef name, DType t, bool gradient, const PoolGeometry &g);

} // namespace torchc::lower
