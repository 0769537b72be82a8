// Reductions by rule N4 over rows (the reduced axis is contiguous) or columns (it is outermost), with an optional fused
// elementwise producer.
#pragma once
#include "compiler/lower/Expr.h"
#include "dialects/rules/OpInfo.h"
#include <optional>

namespace torchc::lower {

/// Dot: the sum of products of two values, acc = fma(x, y, acc) in chains that start at +0 (N3). Rows only.
enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, ArgMax, ArgMin, Dot };

/// What a reduction op's body does: it combines two elements, that of an arg reduction says when the second displaces the
/// first. None: no reduction with a body.
std::optional<ReduceKind> reduceKind(const OpInfo &info);

/// Type a reduction accumulates in: f32 for reduced floats, i64 for sums and products of integers and bool; Dot wraps in
/// the integer's own type.
DType accumulatorType(ReduceKind kind, DType in);
/// Type of the result: i64 for arg reductions, the input's for max and min, else the accumulator's.
DType reduceResultType(ReduceKind kind, DType in);

struct ReduceSpec {
  ReduceKind kind;
  bool columns = false;
  /// The reduced value is `node` of `expr`, over a space of two dims. Rows form: {row, element}; Contiguous inputs
  /// have row stride n, Strided ones {row stride, 0 or 1}. Columns form: {row, column}; Contiguous inputs have the
  /// row stride of sizesStrides, Strided ones {row stride, 0 or 1}.
  Expr expr;
  int node = 0;
  int factor = -1; // Dot: the second value, of the type of `node`
  /// Rows whose elements lie in runs of this many, which lie apart: strides are {row, 0 or 1, run}, all inputs Strided.
  /// A multiple of the vectors' length (fitsRuns). 0: rows in one piece.
  int64_t run = 0;
  unsigned outSlot = 0;
  /// Type stored; differs from reduceResultType only to round f16/bf16 results in place.
  DType out;
};

/// A spec reducing the plain contiguous input behind ptrs[1] to ptrs[0].
ReduceSpec plainReduce(ReduceKind kind, DType in, bool columns);

/// The inner product of the contiguous inputs behind ptrs[1] and ptrs[2], rounded to `in` once.
ReduceSpec plainDot(DType in);

/// Whether rows in runs of `run` elements of type `in` can be reduced: a vector lies within a run.
bool fitsRuns(const KernelBuilder &b, ReduceKind kind, DType in, int64_t run);

/// Adds a kernel (E5). Rows: sizesStrides = {n}, [begin, end) over rows, result r at out + r. Columns: sizesStrides =
/// {rows, row stride}, [begin, end) over columns, result c at out + c. An empty sum is +0, an empty product 1, an
/// empty max the identity; arg reductions of nothing give 0 (frontends refuse both).
bool emitReduce(KernelBuilder &b, llvm::StringRef name, const ReduceSpec &spec, Diag &diag);

} // namespace torchc::lower
