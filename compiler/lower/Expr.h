// An expression over tensors: op bodies at a compute type, casts, inputs. What elementwise kernels evaluate and what
// reductions may take as a fused producer.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/Body.h"
#include "dialects/rules/Diag.h"

namespace torchc::lower {

/// A stride that the kernel reads from sizesStrides at run time.
inline constexpr int64_t dynamicStride = INT64_MIN;

struct ExprInput {
  enum Access : uint8_t {
    Contiguous,    // element i of the iteration order
    Strided,       // `strides`, in elements, one per dim of the iteration space
    ScalarSlot,    // one value at scalars + 8 * slot
    PointerScalar, // one element behind the pointer
  };
  DType dtype; // of the memory; a ScalarSlot holds the compute type, f16/bf16 as f32
  Access access = Contiguous;
  unsigned slot = 0;    // pointer number in ptrs, or scalar slot
  llvm::SmallVector<int64_t, 4> strides;
};

struct ExprNode {
  enum Kind : uint8_t { Input, Op, Cast };
  Kind kind;
  DType dtype;   // of the value
  DType compute; // Op: the type its body computes in; operands have it
  int input = 0; // Input: number in Expr::inputs
  Body body;
  llvm::SmallVector<int, 3> operands;
};

/// Nodes are in evaluation order.
struct Expr {
  llvm::SmallVector<ExprInput, 4> inputs;
  llvm::SmallVector<ExprNode, 8> nodes;
  int statusSlot = -1; // pointer number of the status word; a body that traps needs it

  int addInput(ExprInput in);
  /// No node when the type is the same.
  int addCast(int node, DType to);
  /// A node computing `body` in `compute`; operands are cast to it. The result has the compute type, or Bool for
  /// `predicate` bodies (comparisons).
  int addOp(Body body, DType compute, llvm::ArrayRef<int> operands, bool predicate = false);
  bool usesIndex() const;
  /// Does a body divide integers?
  bool mayTrap() const;
  /// Bits of the widest element any node or input has: what decides the lane count.
  unsigned widestBits() const;
};

/// Evaluates an expression at places of its iteration space. `prepare` loads pointers and scalars once, at the current
/// insertion point, which must dominate every evaluation.
class ExprEmitter {
public:
  ExprEmitter(KernelBuilder &b, const Expr &expr, Diag &diag) : b(b), expr(expr), diag(diag) {}

  void prepare();
  /// Moves the base of input `i` to `base`, as an outer loop of a strided kernel does.
  void setBase(unsigned i, Value base) { bases[i] = base; }
  Value base(unsigned i) const { return bases[i]; }
  /// Stride of the inner dim, known or dynamicStride, and as a value; 0 broadcasts one element. 1 at first.
  void setInnerStride(unsigned i, int64_t known, Value stride) {
    innerStride[i] = known;
    innerStrideValue[i] = stride;
  }

  struct Place {
    Value index;       // element of the inner dim, i64 scalar
    Value linear;      // row-major linear index of element `index`, for Index bodies; may be null without them
    unsigned lanes = 1, vectors = 1;
    Value mask;        // lanes to load (vectors == 1), or null
  };
  /// The values of node `node` (register form), one per vector; empty on an error in `diag`.
  Values evaluate(int node, const Place &place) { return evaluateAll(node, place); }
  /// Evaluates several nodes together, sharing common parts.
  llvm::SmallVector<Values, 2> evaluate(llvm::ArrayRef<int> wanted, const Place &place);

private:
  Values evaluateAll(int node, const Place &place) {
    auto r = evaluate(llvm::ArrayRef<int>(node), place);
    return r.empty() ? Values() : r[0];
  }
  Values loadInput(unsigned i, const Place &place);
  Values indices(const Place &place);
  void trapWhere(ValueRange failed, const Place &place);

  KernelBuilder &b;
  const Expr &expr;
  Diag &diag;
  llvm::SmallVector<Value, 4> bases, uniform, innerStrideValue;
  llvm::SmallVector<int64_t, 4> innerStride;
  Value status;
};

} // namespace torchc::lower
