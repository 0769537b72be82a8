// Rewrites that keep every bit: only data movement is touched, never arithmetic.
#include "compiler/passes/Passes.h"
#include "dialects/torchc/TorchcDialect.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace torchc::compiler {
namespace {

/// A movement op whose result has its operand's type and element order does nothing.
template <class Op> struct DropIdentity : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (op.getX().getType() != op.getResult().getType())
      return failure();
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

struct MergeReshapes : OpRewritePattern<ir::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ir::ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(inner.getX()); });
    return success();
  }
};

/// Transposing twice the same way; a transpose of one dimension with itself.
struct MergeTransposes : OpRewritePattern<ir::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  static std::pair<int64_t, int64_t> axes(ir::TransposeOp op) {
    int64_t rank = cast<RankedTensorType>(op.getX().getType()).getRank();
    auto wrap = [&](int64_t d) { return d < 0 ? d + rank : d; };
    return std::minmax({wrap(op.getDim0()), wrap(op.getDim1())});
  }
  LogicalResult matchAndRewrite(ir::TransposeOp op, PatternRewriter &rewriter) const override {
    auto mine = axes(op);
    if (mine.first == mine.second) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<ir::TransposeOp>();
    if (!inner || axes(inner) != mine)
      return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

/// (A B)^T is B^T A^T with the same chains, since an element's products are the same numbers in the same order (N3). The
/// result then lies in memory as its readers want it, and views of the operands cost nothing. Complex products take two
/// terms in turn, whose order would change.
struct TransposeOfProduct : OpRewritePattern<ir::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::TransposeOp op, PatternRewriter &rewriter) const override {
    auto product = op.getX().getDefiningOp<ir::MatmulOp>();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    int64_t rank = type.getRank();
    if (!product || !product->hasOneUse() || rank < 2 || isa<ComplexType>(type.getElementType()) ||
        MergeTransposes::axes(op) != std::pair(rank - 2, rank - 1))
      return failure();
    auto rankOf = [](Value v) { return cast<RankedTensorType>(v.getType()).getRank(); };
    if (rankOf(product->getOperand(0)) != rank || rankOf(product->getOperand(1)) != rank)
      return failure();
    SmallVector<Value> turned;
    for (Value operand : {product->getOperand(1), product->getOperand(0)}) {
      auto from = cast<RankedTensorType>(operand.getType());
      SmallVector<int64_t> shape(from.getShape());
      std::swap(shape[size_t(rank) - 1], shape[size_t(rank) - 2]);
      turned.push_back(ir::TransposeOp::create(rewriter, op.getLoc(), from.clone(shape), operand, rank - 2, rank - 1));
    }
    rewriter.replaceOpWithNewOp<ir::MatmulOp>(op, type, turned[0], turned[1]);
    return success();
  }
};

/// The whole of a tensor, replaced: slice_update(x, y) over all indices is y.
struct FullUpdate : OpRewritePattern<ir::SliceUpdateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::SliceUpdateOp op, PatternRewriter &rewriter) const override {
    if (op.getY().getType() != op.getResult().getType())
      return failure();
    rewriter.replaceOp(op, op.getY());
    return success();
  }
};

struct Simplify : PassWrapper<Simplify, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Simplify)
  StringRef getArgument() const override { return "torchc-simplify"; }
  StringRef getDescription() const override { return "remove data movement that changes nothing"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropIdentity<ir::CastOp>, DropIdentity<ir::ReshapeOp>, DropIdentity<ir::ExpandOp>,
                 DropIdentity<ir::SliceOp>, DropIdentity<ir::ContiguousOp>, MergeReshapes, MergeTransposes,
                 TransposeOfProduct, FullUpdate>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createSimplifyPass() { return std::make_unique<Simplify>(); }

void registerTorchcPasses() {
  registerPass([] { return createDifferentiatePass(); });
  registerPass([] { return createDecomposePass(); });
  registerPass([] { return createSimplifyPass(); });
  registerPass([] { return createFusePass(); });
}

} // namespace torchc::compiler
