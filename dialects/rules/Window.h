// The geometry of convolutions and pools: one, two or three spatial dimensions as three, missing ones in front as a
// window of one element. Plain data without libstdc++: shipped models use it too.
#pragma once
#include <cstdint>

namespace torchc {

inline constexpr int maxSpatial = 3;
/// The largest kernel, stride, padding or dilation: products of two of them can be computed with.
inline constexpr int64_t windowLimit = int64_t(1) << 30;

/// A convolution y[n][o][out] = x[n][c][in] * w[o][c / groups][kernel]; its two gradients have the same geometry.
struct ConvGeometry {
  int64_t n, c, o, groups;
  int64_t in[maxSpatial], out[maxSpatial], kernel[maxSpatial];
  int64_t stride[maxSpatial], padding[maxSpatial], dilation[maxSpatial];
};
inline constexpr int convGeometryFields = 4 + 6 * maxSpatial;
static_assert(sizeof(ConvGeometry) == convGeometryFields * sizeof(int64_t));

/// Which of y, x and w is computed from the other two; numbers are arguments of torchc_conv.
enum class ConvWhat : uint64_t { Output = 0, Input = 1, Weight = 2 };

/// Windows over planes. An adaptive pool has kernel 0 in each dimension.
struct PoolGeometry {
  int64_t in[maxSpatial], out[maxSpatial], kernel[maxSpatial];
  int64_t stride[maxSpatial], padding[maxSpatial], dilation[maxSpatial];
  int64_t countPadding, divisor; // of means
  int64_t relu; // of a maximum's gradient: +0 where the operand is 0 or less, as relu's derivative makes it
};
inline constexpr int poolGeometryFields = 6 * maxSpatial + 3;
static_assert(sizeof(PoolGeometry) == poolGeometryFields * sizeof(int64_t));

namespace rules {

/// Outputs of a convolution along one dimension; negative or 0 where the kernel doesn't fit.
constexpr int64_t convExtent(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  if (kernel > windowLimit)
    return 0;
  int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

} // namespace rules
} // namespace torchc
