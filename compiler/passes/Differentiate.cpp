// Reverse mode over one function. The order in which cotangents meet is the tape's (N10): ops in descending program order,
// operands of one op by ascending slot. Attributes of the new arguments and results say what they belong to:
// torchc.cotangent (the number of a result) and torchc.gradient (the number of an argument). What the tape doesn't see
// (casts to a common type, copies of results) is looked through: see the marks in ValueBuilder.h.
#include "compiler/passes/Passes.h"
#include "dialects/rules/Vjp.h"
#include "dialects/torchc/ValueBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace torchc::compiler {
namespace {

/// One application of an op, as rules/Vjp.h sees it.
class Application {
public:
  Application(Operation *op, const OpInfo &info) {
    valid = ir::readAttrs(op, info, attrs);
    for (Value v : op->getOperands())
      operands.push_back(ir::behind(v, ir::promotedMark));
    value = op->getResult(0);
  }
  const Value &operand(int i) const { return operands[size_t(i)]; }
  const Value &result() const { return value; }
  Dims operandDims(int i) const { return dims(operands[size_t(i)]); }
  DType operandDType(int i) const { return dtype(operands[size_t(i)]); }
  Dims resultDims() const { return dims(value); }
  int numOperands() const { return int(operands.size()); }
  const Attr &attr(int k) const { return attrs[size_t(k)]; }
  bool valid;

private:
  static Dims dims(Value v) { return ir::dimsOf(cast<RankedTensorType>(v.getType())); }
  static DType dtype(Value v) { return *ir::dtypeOf(cast<RankedTensorType>(v.getType()).getElementType()); }
  Value value;
  SmallVector<Value> operands;
  SmallVector<Attr> attrs;
};

bool isFloatTensor(Type t) {
  auto r = dyn_cast<RankedTensorType>(t);
  return r && isa<FloatType>(r.getElementType());
}

struct Differentiate : PassWrapper<Differentiate, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Differentiate)
  Differentiate() = default;
  Differentiate(const Differentiate &o) : PassWrapper(o) {}
  explicit Differentiate(std::string list) { wrt = std::move(list); }
  StringRef getArgument() const override { return "torchc-differentiate"; }
  StringRef getDescription() const override { return "append the gradients of a function's arguments"; }
  void getDependentDialects(DialectRegistry &r) const override { r.insert<ir::TorchcDialect>(); }
  Option<std::string> wrt{*this, "wrt", llvm::cl::desc("arguments to differentiate, comma separated"),
                          llvm::cl::init("")};

  void runOnOperation() override {
    auto f = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!f || !llvm::hasSingleElement(f.getBody())) {
      getOperation().emitError("expected a function @main of one block to differentiate");
      return signalPassFailure();
    }
    SmallVector<unsigned> args;
    if (failed(chosenArguments(f, args)) || failed(run(f, args)))
      signalPassFailure();
  }

  LogicalResult chosenArguments(func::FuncOp f, SmallVectorImpl<unsigned> &out) {
    if (wrt.empty()) {
      for (BlockArgument a : f.getArguments())
        if (isFloatTensor(a.getType()))
          out.push_back(a.getArgNumber());
      return success();
    }
    for (StringRef part : llvm::split(StringRef(wrt), ',')) {
      unsigned i;
      if (part.getAsInteger(10, i) || i >= f.getNumArguments() || !isFloatTensor(f.getArgument(i).getType()))
        return f.emitError("wrt: expected numbers of floating-point arguments, got '") << part << "'";
      out.push_back(i);
    }
    return success();
  }

  /// Values that a chosen argument reaches through differentiable operands.
  static llvm::DenseSet<Value> reached(Block &block, ArrayRef<unsigned> args) {
    llvm::DenseSet<Value> active;
    for (unsigned a : args)
      active.insert(block.getArgument(a));
    for (Operation &op : block.without_terminator()) {
      if (op.getNumRegions()) {
        bool any = llvm::any_of(op.getOperands(), [&](Value v) { return active.contains(v); });
        for (Value v : op.getResults())
          if (any && isFloatTensor(v.getType()))
            active.insert(v);
        continue;
      }
      std::optional<OpId> id = ir::opIdOf(&op);
      if (!id || !isFloatTensor(op.getResult(0).getType()))
        continue;
      for (auto [i, v] : llvm::enumerate(op.getOperands()))
        if (active.contains(v) && differentiable(opInfo(*id), unsigned(i)))
          active.insert(op.getResult(0));
    }
    return active;
  }
  static bool differentiable(const OpInfo &info, unsigned operand) {
    return info.differentiable >> (info.flags & OpVariadic ? 0 : operand) & 1;
  }

  LogicalResult run(func::FuncOp f, ArrayRef<unsigned> args) {
    auto ret = cast<func::ReturnOp>(f.front().getTerminator());
    OpBuilder builder(ret);
    llvm::DenseSet<Value> active = reached(f.front(), args);
    llvm::DenseMap<Value, Value> cotangent;
    SmallVector<Value> results(ret.getOperands());
    for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
      if (!isFloatTensor(v.getType()))
        continue;
      unsigned at = f.getNumArguments();
      if (failed(f.insertArgument(at, v.getType(), number(builder, "torchc.cotangent", i), v.getLoc())))
        return failure();
      Value g = f.getArgument(at);
      ir::ValueBuilder b(builder, v.getLoc());
      Value &have = cotangent[ir::behind(v, ir::copyMark)];
      have = have ? b.op(OpId::Add, {have, g}) : g;
    }
    if (failed(backward(f.front(), builder, active, cotangent)))
      return failure();
    for (unsigned a : args) {
      Value g = cotangent.lookup(f.getArgument(a));
      ir::ValueBuilder b(builder, f.getLoc());
      results.push_back(g ? g : zeros(b, f.getArgument(a)));
      if (failed(f.insertResult(f.getNumResults(), results.back().getType(), number(builder, "torchc.gradient", a))))
        return failure();
    }
    ret.getOperandsMutable().assign(results);
    return success();
  }

  using Cotangents = llvm::DenseMap<Value, Value>;

  /// From the cotangents of what a block gives to those of what reaches it.
  static LogicalResult backward(Block &block, OpBuilder &builder, const llvm::DenseSet<Value> &active,
                                Cotangents &cotangent) {
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      if (llvm::any_of(op.getResults(), [&](Value v) { return active.contains(v); }))
        ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops)) {
      if (isa<ir::WhileLoopOp>(op))
        return op->emitOpError("has no derivative: how often its body runs isn't known before");
      if (failed(isa<ir::CondOp>(op) ? propagateCond(cast<ir::CondOp>(op), builder, active, cotangent)
                                     : propagate(op, builder, active, cotangent)))
        return failure();
    }
    return success();
  }

  /// The gradient of a slice joins what its value has gathered; elsewhere that keeps its bits (N10).
  static Value addToSlice(ir::ValueBuilder &b, Value sum, const Application &c, Value g) {
    std::initializer_list<Attr> at = {c.attr(0), c.attr(1), c.attr(2), c.attr(3)};
    Value part = b.op(OpId::Add, {b.op(OpId::Slice, {sum}, at), g});
    return b.op(OpId::SliceUpdate, {sum, part}, at);
  }

  static void addTo(Value &have, Value d, ir::ValueBuilder &b) { have = have ? b.op(OpId::Add, {have, d}) : d; }

  /// The gradient of a cond is a cond, whose regions run the branches again.
  static LogicalResult propagateCond(ir::CondOp op, OpBuilder &builder, const llvm::DenseSet<Value> &active,
                                     Cotangents &cotangent) {
    SmallVector<unsigned> given, wanted; // results with a cotangent, inputs that reach a chosen argument
    SmallVector<Value> operands(op->getOperands());
    SmallVector<Type> types;
    for (auto [i, r] : llvm::enumerate(op.getResults()))
      if (Value g = cotangent.lookup(r)) {
        given.push_back(unsigned(i));
        operands.push_back(g);
      }
    for (auto [i, v] : llvm::enumerate(op.getInputs()))
      if (active.contains(v)) {
        wanted.push_back(unsigned(i));
        types.push_back(v.getType());
      }
    if (given.empty())
      return success();
    OperationState state(op.getLoc(), ir::CondOp::getOperationName());
    state.addOperands(operands);
    state.addTypes(types);
    state.addRegion();
    state.addRegion();
    Operation *back = builder.create(state);
    for (Region &branch : op->getRegions())
      if (failed(
              differentiateBranch(branch.front(), back->getRegion(branch.getRegionNumber()), given, wanted, operands)))
        return failure();
    ir::ValueBuilder b(builder, op.getLoc());
    for (auto [k, i] : llvm::enumerate(wanted))
      addTo(cotangent[op.getInputs()[i]], back->getResult(unsigned(k)), b);
    return success();
  }

  static LogicalResult differentiateBranch(Block &branch, Region &to, ArrayRef<unsigned> given,
                                           ArrayRef<unsigned> wanted, ArrayRef<Value> operands) {
    Location loc = branch.getParentOp()->getLoc();
    OpBuilder builder(loc.getContext());
    Block *block = builder.createBlock(&to);
    for (Value v : operands.drop_front())
      block->addArgument(v.getType(), loc);
    IRMapping map;
    map.map(branch.getArguments(), block->getArguments().take_front(branch.getNumArguments()));
    for (Operation &op : branch.without_terminator())
      builder.clone(op, map);
    llvm::DenseSet<Value> active = reached(*block, wanted);
    Cotangents cotangent;
    ir::ValueBuilder b(builder, loc);
    for (auto [k, i] : llvm::enumerate(given)) {
      Value result = map.lookup(branch.getTerminator()->getOperand(i));
      addTo(cotangent[ir::behind(result, ir::copyMark)], block->getArgument(branch.getNumArguments() + unsigned(k)), b);
    }
    Operation *end = ir::YieldOp::create(builder, loc, ValueRange());
    builder.setInsertionPoint(end);
    if (failed(backward(*block, builder, active, cotangent)))
      return failure();
    SmallVector<Value> results;
    for (unsigned i : wanted) {
      Value g = cotangent.lookup(block->getArgument(i));
      results.push_back(g ? g : zeros(b, block->getArgument(i)));
    }
    end->setOperands(results);
    return success();
  }

  static DictionaryAttr number(OpBuilder &b, StringRef name, size_t value) {
    return b.getDictionaryAttr(b.getNamedAttr(name, b.getI64IntegerAttr(int64_t(value))));
  }

  static Value zeros(ir::ValueBuilder &b, Value like) { return rules::zeros(b, b.dims(like), b.dtype(like)); }

  static LogicalResult propagate(Operation *op, OpBuilder &builder, const llvm::DenseSet<Value> &active,
                                 llvm::DenseMap<Value, Value> &cotangent) {
    Value g = cotangent.lookup(op->getResult(0));
    if (!g)
      return success();
    OpId id = *ir::opIdOf(op);
    const OpInfo &info = opInfo(id);
    Application c(op, info);
    ir::ValueBuilder b(builder, op->getLoc());
    if (id == OpId::Slice)
      if (Value &sum = cotangent[c.operand(0)]) {
        sum = addToSlice(b, sum, c, g);
        return success();
      }
    for (unsigned i = 0; i < op->getNumOperands(); i++) {
      if (!active.contains(op->getOperand(i)) || !differentiable(info, i))
        continue;
      Value operand = ir::behind(op->getOperand(i), ir::promotedMark);
      Value d = vjp(id, b, c, g, int(i));
      if (d)
        d = rules::sumTo(b, d, b.dims(operand));
      if (d)
        d = b.cast(d, b.dtype(operand));
      if (!d)
        return op->emitOpError("has no derivative for operand ") << i << (b.diag.ok() ? "" : ": ") << b.diag.text;
      addTo(cotangent[operand], d, b);
    }
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createDifferentiatePass(std::string wrt) {
  return std::make_unique<Differentiate>(std::move(wrt));
}

} // namespace torchc::compiler
