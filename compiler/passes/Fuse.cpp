// Which ops run in one kernel. The decision is an attribute, `torchc.kernel`, so that a dump shows it; lowering builds one
// function per number. Views get none: they are access patterns of whoever reads them.
#include "compiler/passes/Passes.h"
#include "dialects/torchc/TorchcDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace torchc::compiler {
namespace {

bool isPointwise(const OpInfo &info) { return info.family == Family::Elementwise || info.family == Family::Cast; }

/// Reductions over a group of leading or trailing axes run as a column or row kernel and can take a producer.
bool takesProducer(Operation *op, const OpInfo &info) {
  if (info.family != Family::Reduction || info.shape == ShapeRule::Scan)
    return false;
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dims").asArrayRef();
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (dims.empty() || rank == 0)
    return false;
  bool adjacent = dims.back() - dims.front() + 1 == int64_t(dims.size());
  return adjacent && (dims.back() == rank - 1 || dims.front() == 0);
}

class Grouping {
public:
  explicit Grouping(func::FuncOp f) {
    for (Operation &op : f.front().without_terminator()) {
      number[&op] = unsigned(ops.size());
      ops.push_back(&op);
    }
    group.assign(ops.size(), -1);
    reach.resize(ops.size());
    for (unsigned i = 0; i < ops.size(); i++) {
      reach[i].resize(unsigned(ops.size()));
      for (Value v : ops[i]->getOperands())
        if (Operation *d = v.getDefiningOp()) {
          reach[i] |= reach[number[d]];
          reach[i].set(number[d]);
        }
    }
  }

  void run() {
    for (unsigned i = 0; i < ops.size(); i++)
      place(i);
    annotate();
  }

private:
  struct Group {
    SmallVector<unsigned> members;
    llvm::BitVector needs; // ops that some member depends on
    bool open = false; // still takes members
    ArrayRef<int64_t> space;
  };

  const OpInfo *infoOf(unsigned i) {
    std::optional<OpId> id = ir::opIdOf(ops[i]);
    return id ? &opInfo(*id) : nullptr;
  }
  static ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

  void place(unsigned i) {
    const OpInfo *info = infoOf(i);
    if (!info || (info->flags & OpIsView) || info->family == Family::Creation)
      return; // constants are rematerialised where they are read
    int g = -1;
    if (isPointwise(*info))
      g = joinable(i, shapeOf(ops[i]->getResult(0)));
    else if (takesProducer(ops[i], *info) && onlyUse(ops[i]->getOperand(0)))
      g = joinable(i, shapeOf(ops[i]->getOperand(0)), /*consume=*/true);
    if (g < 0) {
      g = int(groups.size());
      groups.emplace_back();
      groups.back().needs.resize(unsigned(ops.size()));
      groups.back().space = shapeOf(ops[i]->getResult(0));
      groups.back().open = isPointwise(*info);
    }
    Group &to = groups[size_t(g)];
    to.members.push_back(i);
    to.needs |= reach[i];
    group[i] = g;
    if (!isPointwise(*info))
      to.open = false;
  }

  static bool onlyUse(Value v) { return v.hasOneUse(); }

  /// A group over the same iteration space that feeds op i and that i can join without making a cycle: nothing outside the
  /// group may lie between them. A consuming reduction must be the only reader of every member.
  int joinable(unsigned i, ArrayRef<int64_t> space, bool consume = false) {
    for (Value v : ops[i]->getOperands()) {
      Operation *d = v.getDefiningOp();
      if (!d || group[number[d]] < 0)
        continue;
      int g = group[number[d]];
      if (groups[size_t(g)].open && groups[size_t(g)].space == space && acyclic(g, i) && (!consume || closedFor(g, i)))
        return g;
    }
    return -1;
  }
  bool acyclic(int g, unsigned i) {
    for (Value v : ops[i]->getOperands())
      if (Operation *d = v.getDefiningOp(); d && group[number[d]] != g && dependsOn(number[d], g))
        return false;
    return true;
  }
  /// Groups run whole: depending on any member of a group means depending on all that its members need.
  bool dependsOn(unsigned op, int g) {
    llvm::BitVector seen(unsigned(ops.size())), todo(unsigned(ops.size()));
    todo.set(op);
    while (todo.any()) {
      unsigned x = unsigned(todo.find_first());
      todo.reset(x);
      if (seen.test(x))
        continue;
      seen.set(x);
      if (group[x] == g)
        return true;
      todo |= reach[x];
      if (group[x] >= 0)
        todo |= groups[size_t(group[x])].needs;
      todo.reset(seen);
    }
    return false;
  }
  bool closedFor(int g, unsigned consumer) {
    for (unsigned m : groups[size_t(g)].members)
      for (Operation *user : ops[m]->getResult(0).getUsers()) {
        auto it = number.find(user);
        if (it == number.end() || (group[it->second] != g && it->second != consumer))
          return false;
      }
    return true;
  }

  void annotate() {
    for (unsigned i = 0; i < ops.size(); i++)
      if (group[i] >= 0)
        ops[i]->setAttr("torchc.kernel", IntegerAttr::get(IntegerType::get(ops[i]->getContext(), 64), group[i]));
  }

  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> number;
  std::vector<int> group;
  std::vector<llvm::BitVector> reach;
  std::vector<Group> groups;
};

struct Fuse : PassWrapper<Fuse, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Fuse)
  StringRef getArgument() const override { return "torchc-fuse"; }
  StringRef getDescription() const override { return "number the kernel that each op runs in"; }
  void runOnOperation() override {
    if (auto f = getOperation().lookupSymbol<func::FuncOp>("main"))
      Grouping(f).run();
  }
};

} // namespace

std::unique_ptr<Pass> createFusePass() { return std::make_unique<Fuse>(); }

} // namespace torchc::compiler
