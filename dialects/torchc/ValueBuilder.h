// The builder of dialects/rules/Builder.h with V = mlir::Value: infers, promotes and creates torchc ops.
#pragma once
#include "dialects/rules/Builder.h"
#include "dialects/torchc/TorchcDialect.h"
#include "mlir/IR/Builders.h"

namespace torchc::ir {

/// Attributes that say how an op came about, so that a derivative treats operands as the tape does, which knows the call
/// and no casts or constants around it. The decompose pass, which always runs, removes them.
/// promotedMark: a cast to an op's common type; the tape's operand is what was cast.
/// numberMark: a number's constant; where it is used again it promotes as a number, not as a 0-d tensor.
/// copyMark: a copy of a result that the caller of the compiler added; its cotangent is the original's.
inline constexpr llvm::StringLiteral promotedMark = "torchc.promoted", numberMark = "torchc.number",
                                     copyMark = "torchc.copy";

/// `v`, or what was cast or copied to it if its op has the mark.
mlir::Value behind(mlir::Value v, llvm::StringRef mark);

class ValueBuilder {
public:
  using V = mlir::Value;
  ValueBuilder(mlir::OpBuilder &builder, mlir::Location loc, DType defaultDType = DType::F32)
      : builder(builder), loc(loc), defaultDType(defaultDType) {}

  V op(OpId id, std::initializer_list<OpArg<V>> operands, std::initializer_list<Attr> attrs = {}) {
    return create(id, llvm::ArrayRef(operands.begin(), operands.size()), llvm::ArrayRef(attrs.begin(), attrs.size()));
  }
  V op(OpId id, const V *operands, int n, std::initializer_list<Attr> attrs);

  /// Creates an op from operands as a user gave them: numbers become 0-d constants, tensors are cast to the common
  /// type. Returns null and fills `diag` when the rules refuse the call.
  V create(OpId id, llvm::ArrayRef<OpArg<V>> operands, llvm::ArrayRef<Attr> attrs);

  Dims dims(const V &v) { return dimsOf(mlir::cast<mlir::RankedTensorType>(v.getType())); }
  DType dtype(const V &v) { return *dtypeOf(mlir::cast<mlir::RankedTensorType>(v.getType()).getElementType()); }
  bool differentiable() const { return true; }
  /// A 0-d constant; `number` is an Int, Float or Bool attribute.
  V number(const Attr &number, DType type);
  V cast(V v, DType type);

  Diag diag;

private:
  V promoted(V v, DType type);
  OpArg<V> asNumber(const OpArg<V> &operand);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  DType defaultDType;
};

} // namespace torchc::ir
