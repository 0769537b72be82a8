// What composites share.
#pragma once
#include "dialects/rules/Infer.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/Modes.h"

namespace torchc::composite {

/// Wraps a dimension of a tensor of `rank`; throws Index.
int64_t wrap(int64_t dim, int rank);
/// Throws Runtime for a shape of more than 64 dimensions, also one that is only on the way to the result.
void checkRank(int64_t rank, const char *op);
/// Throws Runtime for a number that PyTorch refuses to store as a `t`: one whose whole part `t` can't hold (unsigned
/// types take negative numbers of their magnitude), or that rounds a finite number to infinity.
void checkFits(const Scalar &s, DType t);
/// 0 .. rank-1.
Dims allAxes(int rank);
/// Ascending axes of a `dim=` argument; none means all. Throws for repeated ones.
Dims axesOf(const Tensor &t, std::optional<IntList> dim);
inline Attr attr(const Dims &d) { return Attr::ints(d.data(), uint32_t(d.size())); }
/// resultType; Runtime error for operands without a common type.
DType resultTypeOf(const OperandType *operands, int n);
/// torch.result_type of an operation on two operands.
DType typeOf(const Operand &a, const Operand &b);
/// x in `t`; x itself if it is.
Tensor as(const Tensor &x, DType t);
/// Puts a computed value where it is wanted.
Tensor deliver(const Tensor &value, Out out);
/// The same; the target must have the dtype.
Tensor deliverSame(const Tensor &value, Out out);
Tensor reshaped(const Tensor &x, const Dims &shape);
/// A view that adds or drops dimensions of size 1, with the strides that PyTorch gives it.
Tensor viewWithStrides(const Tensor &x, const Dims &shape, const Dims &strides);
/// start + i * step on cuda, converted to `t`.
Tensor rangeOnCuda(int64_t size, const Scalar &start, const Scalar &step, DType t);
Tensor fullTensor(const Dims &shape, const Scalar &value, DType t, uint8_t device = 0);
/// x[start:stop:step] of one dimension, a view. 0 <= start <= stop <= size, step >= 1.
Tensor sliceDim(const Tensor &x, int64_t dim, int64_t start, int64_t stop, int64_t step = 1);
/// A view in another shape that any layout has: sizes of 1 come and go.
Tensor viewShape(const Tensor &x, const Dims &shape);
Tensor expanded(const Tensor &x, const Dims &shape);
/// One of the places that share an element, of an expanded tensor: what it is filled through; else x.
Tensor distinctPlaces(const Tensor &x);
/// 0, 1, ... n-1 in int64 on x's device.
Tensor rangeLike(const Tensor &x, int64_t n);
/// A 1-D int64 tensor of these numbers on x's device.
Tensor indexLike(const Tensor &x, const std::vector<int64_t> &values);
/// Computed, contiguous and readable, because the program's course depends on the values: an observation (J). Throws
/// NotImplemented for a meta tensor.
Tensor observed(const Tensor &x, const char *op);
/// The product of sizes [from, to).
int64_t product(const Dims &d, int from, int to);
/// The shape of x with the sizes from `dim` on, `count` of them, replaced.
Dims replaced(const Dims &d, int dim, int count, const Dims &with);
/// The device of a `device=` argument: cpu or meta; NotImplemented for others.
uint8_t deviceKind(std::optional<DeviceId> device, uint8_t otherwise = 0);
/// x in its op-math type: f16 and bf16 as f32 (N6).
inline Tensor wide(const Tensor &x) { return as(x, computeType(x->dtype)); }
/// The type a function of real numbers computes a tensor of `t` in: integers and bool in the default type.
inline DType floatTypeOf(DType t) { return category(t) < 2 ? defaultDType() : t; }
/// f(x) of a function of real numbers: in the op-math type, rounded once, put where it is wanted.
template <class F> Tensor realFunction(const Tensor &x, Out out, F f) {
  DType t = floatTypeOf(x->dtype);
  return deliver(as(f(wide(as(x, t))), t), out);
}
/// f(); where its gather or scatter finds an index out of range, an Index error instead of their Runtime error.
template <class F> auto withIndexErrors(F f) {
  try {
    return f();
  } catch (const Error &e) {
    if (std::string_view(e.what()).find("out of bounds") == std::string_view::npos)
      throw;
    fail(ErrorKind::Index, e.what());
  }
}
/// Does a tracer or mode see by which ops functions are computed?
bool isWatched();
/// Does nobody, no tape or subclass either, see by which ops a function of x is computed, and is x's memory there to be
/// read?
bool isPlain(const Tensor &x);
/// Throws Memory for a list of more tensors than there can be.
void checkPieces(int64_t n);
/// NotImplemented error for results of a stored type, where PyTorch has no kernel and ours would go through others.
void refuseStored(const char *op, DType t);
/// NotImplemented error.
[[noreturn]] void unsupported(std::string what);

} // namespace torchc::composite
