// Result types of ops: promotion and shape rules as pure functions, used by eager, the dialect's verifier and importers.
#pragma once
#include "dialects/rules/Diag.h"
#include "dialects/rules/Dims.h"
#include "dialects/rules/OpInfo.h"

namespace torchc {

struct TensorType {
  DType dtype = DType::F32;
  Dims dims;
};

/// An operand as promotion sees it: a tensor, or a Python number (bool, int, float) that only has a category.
struct OperandType {
  DType dtype = DType::F32; // of a number: Bool, I64 or F64
  bool isNumber = false;
  const Dims *dims = nullptr; // null for a number
  int rank() const { return dims ? dims->size() : 0; }
};

/// Two types without a common one.
struct TypeClash {
  DType a = DType::F32, b = DType::F32;
  bool found() const { return a != b; }
  /// "uint16 and int32 have no common type ...".
  std::string text() const;
};

/// torch.result_type over any number of operands: tensors with dimensions decide within their category, then 0-d
/// tensors, then numbers; a number or 0-d tensor of a higher category raises the result to that category's default.
/// Where two types have no common one, the first two go to `clash`, and the result means nothing.
DType resultType(const OperandType *operands, int n, DType defaultDType, TypeClash *clash = nullptr);

/// The type the op computes in and the type of its result.
struct Promoted {
  DType compute, result;
};
Promoted promote(Promote rule, const OperandType *operands, int n, DType defaultDType);

/// The type a Python number enters in (N2): the op-math type; comparisons first round it to the common type, as PyTorch
/// does (RATIONALE.md).
constexpr DType numberType(Promote rule, DType common) {
  return rule == Promote::Compare || rule == Promote::Branch ? common : computeType(common);
}

/// Of operands or a result of stored types: Runtime error where they have no common type, NotImplemented where the op only
/// computes in others, as PyTorch's.
bool checkStored(const OpInfo &info, const OperandType *operands, int n, DType defaultDType, DType result, Diag &diag);

/// Broadcasts two shapes; message names the sizes and the dimension.
bool broadcastShapes(const Dims &a, const Dims &b, Dims &out, Diag &diag);

/// Wraps a possibly negative dimension; Index error naming the valid range. Rank 0 accepts -1 and 0.
bool wrapDim(int64_t dim, int rank, int64_t &out, Diag &diag);

/// Product of sizes, Runtime error on negative sizes or overflow.
bool checkedNumel(const Dims &dims, int64_t &out, Diag &diag);

/// Fills one -1 in `shape` from the number of elements.
bool inferReshape(const Dims &from, const int64_t *shape, int n, Dims &out, Diag &diag);

/// expand()'s target with -1 for "keep".
bool inferExpand(const Dims &from, const int64_t *shape, int n, Dims &out, Diag &diag);

/// Checks attributes against the op's record, as whoever takes them from a file must: how many, of which type (Type error),
/// lists of at most maxRank numbers.
bool checkAttrs(const OpInfo &info, const Attr *attrs, int n, Diag &diag);

/// Whether as_strided (attrs: size, stride, offset) stays within `numel` row-major elements.
bool stridedWithin(int64_t numel, const Attr *attrs);

/// Elements of [start, stop) by a step of at least 1.
constexpr int64_t sliceCount(int64_t start, int64_t stop, int64_t step) {
  return stop > start ? (stop - start - 1) / step + 1 : 0;
}

/// The stride of a dimension of which every step-th element is taken. Where the product overflows, there is one at most and
/// its stride doesn't matter.
inline int64_t steppedStride(int64_t stride, int64_t step) {
  int64_t out;
  return __builtin_mul_overflow(stride, step, &out) ? stride : out;
}

/// Result type of an op. Operands are as the user gave them (promotion applies); attributes as the record orders them.
bool inferOp(OpId id, const OperandType *operands, int n, const Attr *attrs, int numAttrs, DType defaultDType,
             TensorType &out, Diag &diag);

} // namespace torchc
