// From @main of the torchc stage (kernel numbers assigned) to kernels in the loops stage and a plan that calls them.
#pragma once
#include "compiler/lower/Elementwise.h"
#include "compiler/lower/Reduce.h"
#include "compiler/schedule/Access.h"
#include "compiler/schedule/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>

namespace torchc::schedule {

/// What becomes of one result of @main.
struct ResultUse {
  int32_t argument = -1; // >= 0: written back to this argument's memory; else memory of its own
};

/// Strides of one argument's memory in elements; empty: row-major.
using ArgumentStrides = llvm::SmallVector<int64_t, 6>;

class GraphLowering {
public:
  /// `main`: the block of a function or of a region; what its terminator takes are the results. `prefix` begins the names
  /// of its kernels.
  GraphLowering(mlir::Block &main, lower::KernelBuilder &builder, llvm::ArrayRef<ResultUse> results,
                llvm::ArrayRef<ArgumentStrides> strides, Diag &diag, std::string prefix = "torchc_g")
      : main(main), b(builder), results(results), strides(strides), diag(diag), prefix(std::move(prefix)) {}

  /// Emits all kernels into the builder's module and fills the plan (buffers not yet placed).
  bool run(Plan &plan);

private:
  using Operation = mlir::Operation;
  using Value = mlir::Value;
  using Group = llvm::SmallVector<Operation *, 8>;

  // GraphLowering.cpp: order, accesses, buffers
  void collectGroups();
  void orderGroups();
  void visitGroup(unsigned g);
  bool lowerGroup(unsigned g);
  bool bindResults();
  bool bindFresh(Value v);
  bool writesInPlace(Value v, unsigned argument);
  bool writeBack();
  std::optional<Access> access(Value v);
  std::optional<Access> accessOf(Value v); // that of a view's operand is known
  unsigned bufferOf(Value base);
  unsigned newBuffer(DType dtype, int64_t elements);
  bool usedOutside(Value v, unsigned g);
  std::string kernelName(llvm::StringRef what);
  Step &addStep(std::string callee);
  Pointer pointer(const Access &a) { return {a.buffer < 0 ? bufferOf(a.base) : unsigned(a.buffer), a.offset}; }
  /// An access that is row-major: the value's own, or that of a copy made now.
  std::optional<Access> contiguous(Value v);
  bool fail(Operation *op, std::string text);

  // LowerPointwise.cpp
  bool lowerPointwise(const Group &group, unsigned g);
  int exprNode(lower::Expr &expr, Value v, const Dims &space, const Group &group, llvm::DenseMap<Value, int> &nodes,
               std::vector<Pointer> &reads);
  int constantNode(lower::Expr &expr, Operation *full);
  int opNode(lower::Expr &expr, Operation *op, const Dims &space, const Group &group, llvm::DenseMap<Value, int> &nodes,
             std::vector<Pointer> &reads);
  bool emitCopy(Pointer from, const Dims &dims, const Dims &strides, DType dtype, Pointer to, const Dims &toStrides);
  bool fillConstant(Value v, unsigned buffer);
  Body keepBody(std::vector<BodyNode> nodes);

  // LowerReduction.cpp
  bool lowerReduction(const Group &group, unsigned g);
  bool lowerScan(Operation *op);
  bool reducesRuns(Value x, llvm::ArrayRef<int64_t> dims, lower::ReduceSpec &spec, std::vector<Pointer> &reads);
  bool gatherReduced(Value x, llvm::ArrayRef<int64_t> dims, lower::ReduceSpec &spec, std::vector<Pointer> &reads);
  bool fuseProducer(Value x, const Group &group, int64_t split, lower::ReduceSpec &spec, std::vector<Pointer> &reads);
  // LowerContraction.cpp
  bool lowerMatmul(Operation *op);
  bool lowerDot(Operation *op);
  // LowerWindow.cpp
  bool lowerConv(Operation *op);
  bool lowerPool(Operation *op);
  bool absorbs(llvm::ArrayRef<Operation *> ops, Value bias);
  // LowerControl.cpp
  bool lowerControl(Operation *op);
  bool lowerRegion(mlir::Region &region, llvm::ArrayRef<ResultUse> uses, const std::string &name);
  // LowerIndexing.cpp
  bool lowerIndexing(Operation *op);
  bool copyTo(Value x, Value out);
  bool readLater(Value v, Operation *except);
  bool takesMemory(Operation *op, Value x, Value other);
  bool lowerCat(Operation *op);
  bool lowerSliceUpdate(Operation *op);
  bool lowerRandom(Operation *op);

  mlir::Block &main;
  lower::KernelBuilder &b;
  llvm::ArrayRef<ResultUse> results;
  llvm::ArrayRef<ArgumentStrides> strides; // by argument; may be shorter than the arguments
  Diag &diag;
  std::string prefix;
  Plan *plan = nullptr;
  std::vector<Group> groups;
  std::vector<unsigned> order;
  std::vector<uint8_t> state; // while ordering
  llvm::DenseSet<unsigned> absorbed; // groups that an earlier group's step computes
  llvm::DenseSet<unsigned> lowered; // the others that have their steps
  llvm::DenseMap<Operation *, unsigned> groupOf;
  llvm::DenseMap<Value, unsigned> buffers;
  llvm::DenseMap<Value, Access> accesses, copies;
  std::deque<std::vector<BodyNode>> bodies; // constants' bodies: kernels refer to them while they are emitted
  unsigned counter = 0;
};

/// Type helpers shared by the lowering files.
inline Dims dimsOf(mlir::Value v) { return ir::dimsOf(mlir::cast<mlir::RankedTensorType>(v.getType())); }
inline DType dtypeOf(mlir::Value v) {
  return *ir::dtypeOf(mlir::cast<mlir::RankedTensorType>(v.getType()).getElementType());
}

} // namespace torchc::schedule
