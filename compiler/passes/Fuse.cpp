// Which ops run in one kernel. The decision is an attribute, `torchc.kernel`, so that a dump shows it; lowering builds one
// function per number. Views get none: they are access patterns of whoever reads them.
#include "compiler/passes/Passes.h"
#include "dialects/torchc/TorchcDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

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

/// An acyclic graph with a topological order that is kept while edges come: a search visits only what lies between the two
/// ends of an edge in the order (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs").
class Dag {
public:
  /// A node behind all others.
  unsigned add() {
    nodes.push_back({unsigned(nodes.size()), {}, {}});
    mark.push_back(0);
    return unsigned(nodes.size()) - 1;
  }
  /// Whether a path leads from `from` to one of `to`.
  bool reaches(unsigned from, ArrayRef<unsigned> to) {
    unsigned last = 0;
    for (unsigned t : to)
      last = std::max(last, nodes[t].place);
    for (unsigned x : collect(from, &Node::after, [&](unsigned n) { return nodes[n].place <= last; }))
      if (x != from && llvm::is_contained(to, x))
        return true;
    return false;
  }
  /// `to` depends on `from`; it must not be reached from it the other way round.
  void connect(unsigned from, unsigned to) {
    nodes[from].after.push_back(to);
    nodes[to].before.push_back(from);
    unsigned low = nodes[to].place, high = nodes[from].place;
    if (high < low)
      return;
    SmallVector<unsigned> moved = collect(from, &Node::before, [&](unsigned n) { return nodes[n].place >= low; });
    SmallVector<unsigned> later = collect(to, &Node::after, [&](unsigned n) { return nodes[n].place <= high; });
    auto byPlace = [&](unsigned x, unsigned y) { return nodes[x].place < nodes[y].place; };
    llvm::sort(moved, byPlace);
    llvm::sort(later, byPlace);
    moved.append(later);
    SmallVector<unsigned> places;
    for (unsigned n : moved)
      places.push_back(nodes[n].place);
    llvm::sort(places);
    for (auto [n, place] : llvm::zip(moved, places))
      nodes[n].place = place;
  }

private:
  using Edges = SmallVector<unsigned, 2>;
  struct Node {
    unsigned place;
    Edges before, after;
  };

  /// `from` and the nodes behind it, as far as they are `near`.
  SmallVector<unsigned> collect(unsigned from, Edges Node::*next, llvm::function_ref<bool(unsigned)> near) {
    SmallVector<unsigned> found{from};
    mark[from] = ++round;
    for (size_t i = 0; i < found.size(); i++)
      for (unsigned n : nodes[found[i]].*next)
        if (mark[n] != round && near(n)) {
          mark[n] = round;
          found.push_back(n);
        }
    return found;
  }

  std::vector<Node> nodes;
  std::vector<unsigned> mark; // the last search that found the node
  unsigned round = 0;
};

class Grouping {
public:
  explicit Grouping(Block &block) {
    for (Operation &op : block.without_terminator()) {
      number[&op] = unsigned(ops.size());
      ops.push_back(&op);
    }
    group.assign(ops.size(), -1);
    waits.assign(ops.size(), 0);
  }

  void run() {
    for (unsigned i = 0; i < ops.size(); i++)
      place(i);
    annotate();
  }

private:
  struct Group {
    SmallVector<unsigned> members;
    unsigned node; // groups run whole: one node of the graph
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
    int g = -1;
    waits[i] = info && isPointwise(*info) && waitsForReader(i);
    if (waits[i]) {
      node.push_back(0); // unused: who reads it depends on what it reads
      return;
    }
    // Views and constants have no group: they are rematerialised where they are read.
    if (ops[i]->getNumRegions())
      g = groupAlone(i);
    else if (info && !(info->flags & OpIsView) && info->family != Family::Creation)
      g = groupFor(i, *info);
    node.push_back(g < 0 ? graph.add() : groups[size_t(g)].node);
    for (unsigned n : needs(i))
      if (n != node[i])
        graph.connect(n, node[i]);
  }

  int groupFor(unsigned i, const OpInfo &info) {
    int g = -1;
    if (isPointwise(info))
      g = joinable(i, shapeOf(ops[i]->getResult(0)));
    else if (takesProducer(ops[i], info) && onlyUse(ops[i]->getOperand(0)))
      g = joinable(i, shapeOf(ops[i]->getOperand(0)), /*consume=*/true);
    if (g < 0) {
      g = int(groups.size());
      groups.emplace_back();
      groups.back().node = graph.add();
      groups.back().space = shapeOf(ops[i]->getResult(0));
      groups.back().open = isPointwise(info);
    }
    Group &to = groups[size_t(g)];
    for (unsigned m : withWaiting(i)) {
      to.members.push_back(m);
      group[m] = g;
    }
    if (!isPointwise(info))
      to.open = false;
    return g;
  }

  /// Of an op with regions, whose own blocks have groups of their own.
  int groupAlone(unsigned i) {
    group[i] = int(groups.size());
    groups.emplace_back();
    groups.back().node = graph.add();
    groups.back().members.push_back(i);
    return group[i];
  }

  static bool onlyUse(Value v) { return v.hasOneUse(); }

  /// What a pointwise op computes from one value that is in memory anyway, for one pointwise reader, is computed where it is
  /// read: the kernel before stores it not, and ends with the value that others read too.
  bool waitsForReader(unsigned i) {
    Value result = ops[i]->getResult(0), read;
    if (!onlyUse(result))
      return false;
    auto user = number.find(*result.getUsers().begin());
    const OpInfo *info = user == number.end() ? nullptr : infoOf(user->second);
    if (!info || !isPointwise(*info) || shapeOf(user->first->getResult(0)) != shapeOf(result))
      return false;
    for (Value v : ops[i]->getOperands()) {
      if (shapeOf(v).empty())
        continue;
      if (read || shapeOf(v) != shapeOf(result))
        return false;
      read = v;
    }
    Operation *d = read ? read.getDefiningOp() : nullptr;
    return d && (waits[number[d]] || !onlyUse(read));
  }

  /// Op i behind the waiting ops that it reads.
  SmallVector<unsigned> withWaiting(unsigned i) {
    SmallVector<unsigned> out{i};
    for (size_t k = 0; k < out.size(); k++)
      for (Value v : ops[out[k]]->getOperands())
        if (Operation *d = v.getDefiningOp(); d && waits[number[d]])
          out.push_back(number[d]); // once: i is its only reader
    llvm::sort(out);
    return out;
  }

  /// The ops, none of them waiting, that op i and what waits for it read.
  SmallVector<unsigned> sources(unsigned i) {
    SmallVector<unsigned> out;
    for (unsigned m : withWaiting(i))
      for (Value v : ops[m]->getOperands())
        if (Operation *d = v.getDefiningOp(); d && !waits[number[d]])
          out.push_back(number[d]);
    return out;
  }

  /// The nodes of what op i reads.
  SmallVector<unsigned> needs(unsigned i) {
    SmallVector<unsigned> out;
    for (unsigned s : sources(i))
      if (!llvm::is_contained(out, node[s]))
        out.push_back(node[s]);
    return out;
  }

  /// A group over the same iteration space that feeds op i and that i can join without making a cycle: nothing outside the
  /// group may lie between them. A consuming reduction must be the only reader of every member.
  int joinable(unsigned i, ArrayRef<int64_t> space, bool consume = false) {
    SmallVector<unsigned> needed = needs(i);
    for (unsigned s : sources(i)) {
      int g = group[s];
      if (g < 0)
        continue;
      const Group &to = groups[size_t(g)];
      if (to.open && to.space == space && !graph.reaches(to.node, needed) && (!consume || closedFor(g, i)))
        return g;
    }
    return -1;
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
  std::vector<uint8_t> waits; // to be computed by their reader
  std::vector<unsigned> node; // of each op that is placed
  std::vector<Group> groups;
  Dag graph;
};

struct Fuse : PassWrapper<Fuse, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Fuse)
  StringRef getArgument() const override { return "torchc-fuse"; }
  StringRef getDescription() const override { return "number the kernel that each op runs in"; }
  void runOnOperation() override {
    auto f = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!f)
      return;
    Grouping(f.front()).run();
    f.walk([](Operation *op) {
      if (isa<ir::CondOp, ir::WhileLoopOp>(op))
        for (Region &r : op->getRegions())
          Grouping(r.front()).run();
    });
  }
};

} // namespace

std::unique_ptr<Pass> createFusePass() { return std::make_unique<Fuse>(); }

} // namespace torchc::compiler
