// The torchc dialect: ops of the table on ranked tensors, in value semantics. Element types are MLIR's: bool is i1, uint8
// is ui8, the other integers are signless.
#pragma once
#include "dialects/rules/Infer.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace torchc::ir {

/// The element type of a tensor value, none for a type the table doesn't have.
std::optional<DType> dtypeOf(mlir::Type element);
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
mlir::RankedTensorType tensorType(mlir::MLIRContext *context, const TensorType &type);
Dims dimsOf(mlir::RankedTensorType type);

/// The table's id of an op of this dialect; none for `torchc` ops that aren't in the table.
std::optional<OpId> opIdOf(mlir::Operation *op);

/// An op's attributes in the order of its record; lists point into the op's own storage.
bool readAttrs(mlir::Operation *op, const OpInfo &info, llvm::SmallVectorImpl<Attr> &out);
mlir::Attribute toMlir(mlir::MLIRContext *context, const AttrInfo &info, const Attr &attr);

/// Checks shapes and types against dialects/rules/Infer.
mlir::LogicalResult verifyTorchcOp(mlir::Operation *op);

template <typename ConcreteType> class TorchcOp : public mlir::OpTrait::TraitBase<ConcreteType, TorchcOp> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyTorchcOp(op); }
};

} // namespace torchc::ir

#include "torchc-gen/TorchcDialect.h.inc"
#define GET_OP_CLASSES
#include "torchc-gen/TorchcOps.h.inc"
#define GET_OP_CLASSES
#include "torchc-gen/ControlOps.h.inc"
