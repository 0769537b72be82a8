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
      if (auto id = ir::opIdOf(op); id && *opInfo(*id).decompose)
        fused.push_back(op);
    });
    for (Operation *op : fused)
      if (failed(expand(op)))
        return signalPassFailure();
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
