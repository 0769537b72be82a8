// Layout arithmetic of views and results.
#pragma once
#include "dialects/rules/Dims.h"

namespace torchc {

struct TensorImpl;

/// The strides that let a tensor of `sizes` and `strides` be seen as `shape` (equal numbers of elements) without copying;
/// false if there are none.
bool viewStrides(const Dims &sizes, const Dims &strides, const Dims &shape, Dims &out);

/// Does every element have a place of its own, with none left between them?
bool isDense(const TensorImpl *t);

/// The same elements in the same order.
bool sameView(const TensorImpl *a, const TensorImpl *b);
/// Do they share bytes between their first and last elements?
bool overlaps(const TensorImpl *a, const TensorImpl *b);
/// Throws where `written` would change elements of `read` that aren't its own one by one. As PyTorch: of tensors with
/// gaps it can't tell.
void refuseOverlap(const TensorImpl *read, const TensorImpl *written);

/// Of equal numbers of elements: does memory, walked from end to end, give both in the same order?
bool sameOrder(const TensorImpl *a, const TensorImpl *b);

/// PyTorch's layout of an elementwise result of shape `sizes`: its dimensions lie in memory in the order of the
/// operands' (null: a number), of which the first that tells two dimensions apart decides. False: row-major.
bool resultStrides(TensorImpl *const *operands, int n, const Dims &sizes, Dims &out);

} // namespace torchc
