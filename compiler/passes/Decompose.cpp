#include "dialects/rules/Decompose.h"
#include "compiler/passes/Passes.h"
#include "dialects/torchc/ValueBuilder.h"

using namespace mlir;

namespace torchc::compiler {
namespace {

struct Decompose : PassWrapper<Decompose, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Decompose)
  StringRef getArgument() const override { return "torchc-decompose"; }
  StringRef getDescription() const override { return "replace Fused ops by primitives"; }
  void getDependentDialects(DialectRegistry &r) const override { r.insert<ir::TorchcDialect>(); }

  void runOnOperation() override {
    SmallVector<Operation *> fused;
    getOperation()->walk([&](Operation *op) {
      auto id = ir::opIdOf(op);
      if (id && (*opInfo(*id).decompose || accumulatesInHalf(op, opInfo(*id))))
        fused.push_back(op);
    });
    for (Operation *op : fused)
      if (!*opInfo(*ir::opIdOf(op)).decompose)
        widen(op);
      else if (failed(expand(op)))
        return signalPassFailure();
    getOperation()->walk([](Operation *op) {
      for (StringRef mark : {ir::promotedMark, ir::numberMark, ir::copyMark})
        op->removeAttr(mark);
    });
  }

  static bool accumulatesInHalf(Operation *op, const OpInfo &info) {
    auto t = cast<RankedTensorType>(op->getResult(0).getType());
    return (info.flags & OpAccumulates) && isReducedFloat(*ir::dtypeOf(t.getElementType()));
  }

  /// The op in f32, its half-precision operands cast up and the result down.
  static void widen(Operation *op) {
    OpBuilder builder(op);
    ir::ValueBuilder b(builder, op->getLoc());
    DType half = b.dtype(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands())
      if (b.dtype(operand.get()) == half)
        operand.set(b.cast(operand.get(), DType::F32));
    auto t = cast<RankedTensorType>(op->getResult(0).getType());
    op->getResult(0).setType(t.clone(Float32Type::get(op->getContext())));
    builder.setInsertionPointAfter(op);
    Value down = b.cast(op->getResult(0), half);
    op->getResult(0).replaceAllUsesExcept(down, down.getDefiningOp());
  }

  static LogicalResult expand(Operation *op) {
    OpBuilder builder(op);
    ir::ValueBuilder b(builder, op->getLoc());
    OpId id = *ir::opIdOf(op);
    SmallVector<Attr> attrs;
    if (!ir::readAttrs(op, opInfo(id), attrs))
      return op->emitOpError("has unreadable attributes");
    SmallVector<Value> operands(op->getOperands());
    Value v = decompose(id, b, operands.data(), attrs.data(), b.dtype(op->getResult(0)));
    if (!v || v.getType() != op->getResult(0).getType())
      return op->emitOpError("its decomposition gives another type: ") << b.diag.text;
    op->getResult(0).replaceAllUsesWith(v);
    op->erase();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createDecomposePass() { return std::make_unique<Decompose>(); }

} // namespace torchc::compiler
