#include "compiler/schedule/GraphLowering.h"
#include <map>

using namespace mlir;

namespace torchc::schedule {

bool GraphLowering::fail(Operation *op, std::string text) {
  std::string where;
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    where = name.getName().str() + ": ";
  return diag.fail(ErrorKind::NotImplemented, where + op->getName().stripDialect().str() + "(): " + std::move(text));
}

unsigned GraphLowering::newBuffer(DType dtype, int64_t elements) {
  // What a process can address, so that sums of sizes stay within 64 bits. At the symbols' point all is far larger.
  int64_t most = int64_t(1) << (b.symbols.empty() ? 47 : 61);
  if (elements < 0 || elements > most / itemSize(dtype)) {
    diag.fail(ErrorKind::Memory, "a value of " + std::to_string(elements) + " elements doesn't fit into memory");
    elements = 0;
  }
  plan->buffers.push_back({dtype, elements});
  return unsigned(plan->buffers.size()) - 1;
}

unsigned GraphLowering::bufferOf(Value base) {
  auto [it, fresh] = buffers.try_emplace(base, 0);
  if (fresh)
    it->second = newBuffer(dtypeOf(base), dimsOf(base).numel());
  return it->second;
}

std::string GraphLowering::kernelName(StringRef what) { return (prefix + Twine(counter++) + "_" + what).str(); }

Step &GraphLowering::addStep(std::string callee) {
  plan->steps.emplace_back();
  plan->steps.back().callee = std::move(callee);
  return plan->steps.back();
}

void GraphLowering::collectGroups() {
  for (Operation &op : main.without_terminator()) {
    auto number = op.getAttrOfType<IntegerAttr>("torchc.kernel");
    if (!number)
      continue;
    size_t g = size_t(number.getInt());
    if (groups.size() <= g)
      groups.resize(g + 1);
    groups[g].push_back(&op);
    groupOf[&op] = unsigned(g);
  }
}

/// The groups that `v` needs, through views and constants.
static void sources(Value v, const llvm::DenseMap<Operation *, unsigned> &groupOf, SmallVectorImpl<unsigned> &out) {
  SmallVector<Value> todo{v};
  while (!todo.empty()) {
    Operation *d = todo.pop_back_val().getDefiningOp();
    if (!d)
      continue;
    if (auto it = groupOf.find(d); it != groupOf.end())
      out.push_back(it->second);
    else
      todo.append(d->operand_begin(), d->operand_end());
  }
}

void GraphLowering::visitGroup(unsigned g) {
  if (state[g])
    return;
  state[g] = 1;
  SmallVector<unsigned> needed;
  for (Operation *op : groups[g])
    for (Value v : op->getOperands())
      sources(v, groupOf, needed);
  for (unsigned n : needed)
    if (n != g)
      visitGroup(n);
  order.push_back(g);
}

/// Program order of the last member, moved later only where another group is needed first.
void GraphLowering::orderGroups() {
  state.assign(groups.size(), 0);
  std::vector<std::pair<Operation *, unsigned>> byLast;
  for (unsigned g = 0; g < groups.size(); g++)
    if (!groups[g].empty())
      byLast.push_back({groups[g].back(), g});
  llvm::sort(byLast, [](auto &x, auto &y) { return x.first->isBeforeInBlock(y.first); });
  for (auto [op, g] : byLast)
    visitGroup(g);
}

/// The view op that makes `v`, or null.
static Operation *viewOf(Value v) {
  Operation *d = v.getDefiningOp();
  return d && ir::opIdOf(d) && (opInfo(*ir::opIdOf(d)).flags & OpIsView) ? d : nullptr;
}

std::optional<Access> GraphLowering::access(Value v) {
  // From the first view whose operand's access is known: a chain may be longer than the stack is deep.
  SmallVector<Value> chain{v};
  for (Operation *d; !accesses.contains(chain.back()) && (d = viewOf(chain.back()));)
    chain.push_back(d->getOperand(0));
  while (chain.size() > 1)
    if (!accessOf(chain.pop_back_val()))
      return std::nullopt;
  return accessOf(v);
}

std::optional<Access> GraphLowering::accessOf(Value v) {
  if (auto it = accesses.find(v); it != accesses.end())
    return it->second;
  Operation *d = v.getDefiningOp();
  std::optional<Access> a;
  if (viewOf(v)) {
    std::optional<Access> operand = access(d->getOperand(0));
    if (!operand)
      return std::nullopt;
    a = viewAccess(d, *operand);
    if (!a) { // a reshape across strides: its operand is copied
      operand = contiguous(d->getOperand(0));
      a = operand ? viewAccess(d, *operand) : std::nullopt;
    }
  } else {
    if (d && !groupOf.count(d) && !fillConstant(v, bufferOf(v)))
      return std::nullopt;
    Dims dims = dimsOf(v);
    a = Access{v, 0, dims, rowMajor(dims)};
  }
  if (a)
    accesses[v] = *a;
  return a;
}

std::optional<Access> GraphLowering::contiguous(Value v) {
  std::optional<Access> a = access(v);
  if (!a || a->contiguous())
    return a;
  if (auto it = copies.find(v); it != copies.end())
    return it->second;
  Access copy{v, 0, a->dims, rowMajor(a->dims), int(newBuffer(dtypeOf(v), dimsOf(v).numel()))};
  if (!emitCopy(pointer(*a), a->dims, a->strides, dtypeOf(v), pointer(copy), copy.strides))
    return std::nullopt;
  copies[v] = copy;
  return copy;
}

/// Whether the value is read by another kernel, through a view or by the return.
bool GraphLowering::usedOutside(Value v, unsigned g) {
  for (Operation *user : v.getUsers()) {
    auto it = groupOf.find(user);
    if (it == groupOf.end() || it->second != g)
      return true;
  }
  return false;
}

bool GraphLowering::lowerGroup(unsigned g) {
  const Group &group = groups[g];
  Operation *last = group.back();
  if (last->getNumRegions())
    return lowerControl(last);
  const OpInfo &info = opInfo(*ir::opIdOf(last));
  switch (info.family) {
  case Family::Elementwise:
  case Family::Cast: return lowerPointwise(group, g);
  case Family::Reduction: return lowerReduction(group, g);
  case Family::Contraction:
    return info.shape == ShapeRule::Dot      ? lowerDot(last)
           : info.shape == ShapeRule::Matmul ? lowerMatmul(last)
                                             : lowerConv(last);
  case Family::Pooling: return lowerPool(last);
  case Family::Indexing:
    return info.shape == ShapeRule::Cat           ? lowerCat(last)
           : info.shape == ShapeRule::SliceUpdate ? lowerSliceUpdate(last)
                                                  : lowerIndexing(last);
  case Family::Random: return lowerRandom(last);
  default: return fail(last, "has no kernel");
  }
}

/// A result may be computed straight into the argument it is written back to when nothing reads the old content after
/// the step that writes, that step itself only reads it at the same index, and neither it nor a later step may trap (a trap
/// leaves the arguments as they were).
bool GraphLowering::writesInPlace(Value v, unsigned argument) {
  Operation *d = v.getDefiningOp();
  if (!d || !groupOf.count(d) || d->getNumRegions() || plan->buffers[bufferOf(v)].place != Buffer::Arena)
    return false;
  unsigned mine = bufferOf(v), old = bufferOf(main.getArgument(argument));
  int writer = -1, lastReader = -1, lastTrap = -1;
  for (int s = 0; s < int(plan->steps.size()); s++) {
    const Step &step = plan->steps[size_t(s)];
    for (const Pointer &p : step.writes)
      if (p.buffer == mine) {
        if (writer >= 0)
          return false; // filled in pieces
        writer = s;
      }
    for (const Pointer &p : step.reads)
      if (p.buffer == old)
        lastReader = s;
    if (step.scalarBuffer == int(old))
      lastReader = s;
    if (step.mayTrap)
      lastTrap = s;
  }
  std::optional<Access> target = access(main.getArgument(argument));
  if (writer < 0 || lastReader > writer || lastTrap >= writer || !target || !target->contiguous())
    return false;
  if (lastReader < writer)
    return true;
  const OpInfo &info = opInfo(*ir::opIdOf(d));
  bool pointwise = info.family == Family::Elementwise || info.family == Family::Cast;
  // A contiguous pointwise step has no sizes: it reads element i of every input to write element i.
  return pointwise && plan->steps[size_t(writer)].sizes.empty() && dtypeOf(v) == plan->buffers[old].dtype;
}

/// A result with memory of its own: the buffer that holds it becomes the result, or a copy is made.
bool GraphLowering::bindFresh(Value v) {
  std::optional<Access> a = access(v);
  if (!a)
    return false;
  unsigned number = plan->numResults++;
  unsigned buffer = pointer(*a).buffer;
  const Buffer &own = plan->buffers[buffer];
  bool whole = a->contiguous() && a->offset == 0 && own.elements == a->dims.numel();
  if (!whole || own.place != Buffer::Arena) {
    buffer = newBuffer(dtypeOf(v), a->dims.numel());
    if (!emitCopy(pointer(*a), a->dims, a->strides, dtypeOf(v), {buffer, 0}, rowMajor(a->dims)))
      return false;
  }
  plan->buffers[buffer].place = Buffer::Result;
  plan->buffers[buffer].index = number;
  return true;
}

/// Results with memory of their own first, since their copies may read arguments; then what is written back. Arguments
/// change only after every step that may trap, so that a trap leaves them as they were.
bool GraphLowering::bindResults() {
  Operation *ret = main.getTerminator();
  for (auto [i, v] : llvm::enumerate(ret->getOperands()))
    if (results[i].argument < 0 && !bindFresh(v))
      return false;
  return writeBack();
}

namespace {
/// A copy into an argument, made when nothing reads the old content any more.
struct LateCopy {
  Pointer from;
  Dims dims, strides;
  DType dtype;
};
} // namespace

bool GraphLowering::writeBack() {
  Operation *ret = main.getTerminator();
  std::map<unsigned, LateCopy> late; // by argument
  for (auto [i, v] : llvm::enumerate(ret->getOperands())) {
    int32_t argument = results[i].argument;
    if (argument < 0 || v == main.getArgument(unsigned(argument)))
      continue;
    std::optional<Access> a = access(v);
    if (!a)
      return false;
    LateCopy copy{pointer(*a), a->dims, a->strides, dtypeOf(v)};
    if (plan->buffers[copy.from.buffer].place == Buffer::Argument) { // another write-back may come first
      unsigned stage = newBuffer(copy.dtype, copy.dims.numel());
      Dims flat = rowMajor(copy.dims);
      if (!emitCopy(copy.from, copy.dims, copy.strides, copy.dtype, {stage, 0}, flat))
        return false;
      copy.from = {stage, 0};
      copy.strides = flat;
    }
    late.emplace(unsigned(argument), copy);
  }
  for (auto [i, v] : llvm::enumerate(ret->getOperands())) {
    unsigned argument = unsigned(results[i].argument);
    if (results[i].argument < 0 || !late.count(argument) || access(v)->base != v || !writesInPlace(v, argument))
      continue;
    late.erase(argument);
    Buffer &buffer = plan->buffers[bufferOf(v)];
    buffer.place = Buffer::Argument;
    buffer.index = argument;
  }
  for (auto &[argument, copy] : late) {
    std::optional<Access> to = access(main.getArgument(argument));
    if (!emitCopy(copy.from, copy.dims, copy.strides, copy.dtype, {bufferOf(to->base), 0}, to->strides))
      return false;
  }
  return true;
}

bool GraphLowering::run(Plan &out) {
  plan = &out;
  plan->numArguments = main.getNumArguments();
  for (BlockArgument a : main.getArguments()) {
    Buffer &buffer = plan->buffers[bufferOf(a)];
    buffer.place = Buffer::Argument;
    buffer.index = a.getArgNumber();
    if (a.getArgNumber() < strides.size() && !strides[a.getArgNumber()].empty()) {
      const ArgumentStrides &s = strides[a.getArgNumber()];
      accesses[a] = Access{a, 0, dimsOf(a), Dims(s.data(), int(s.size()))};
    }
  }
  collectGroups();
  orderGroups();
  for (unsigned g : order) {
    if (!absorbed.contains(g) && !lowerGroup(g))
      return diag.fail(ErrorKind::Internal, "a kernel could not be lowered"), false;
    lowered.insert(g);
  }
  return bindResults() && diag.ok();
}

} // namespace torchc::schedule
