// Reductions over leading or trailing axes, with the pointwise producer of their group; over both, by rows in runs; other
// axes go through a copy.
#include "compiler/lower/Reduce.h"
#include "compiler/lower/Scan.h"
#include "compiler/schedule/GraphLowering.h"

using namespace mlir;

namespace torchc::schedule {

namespace {
/// The axes of one reduction and the two-dimensional form it runs in.
struct Axes {
  bool columns = false; // reduced axes lead
  int64_t outer = 1, inner = 1; // rows form: kept x reduced; columns form: reduced x kept
  bool direct = true; // the axes are one leading or trailing run
  int64_t split = 0; // first dimension of the inner part
};
} // namespace

static Axes axesOf(const Dims &x, ArrayRef<int64_t> dims) {
  Axes a;
  int rank = x.size();
  if (rank == 0 || dims.empty()) {
    (dims.empty() ? a.outer : a.inner) = x.numel();
    return a;
  }
  bool run = dims.back() - dims.front() + 1 == int64_t(dims.size());
  bool trailing = run && dims.back() == rank - 1, leading = run && dims.front() == 0;
  a.columns = !trailing && leading;
  a.direct = trailing || leading;
  a.split = trailing ? dims.front() : dims.back() + 1;
  for (int i = 0; i < rank; i++) {
    bool inner = a.direct ? i >= a.split : llvm::is_contained(dims, int64_t(i));
    (inner ? a.inner : a.outer) *= x[i];
  }
  return a;
}

/// The one stride, in elements, that dimensions [from, to) of an access step through evenly; 0 where nothing steps.
static std::optional<int64_t> evenStride(const Dims &strides, const Dims &space, int64_t from, int64_t to) {
  std::optional<int64_t> step;
  int64_t next = 0;
  for (int i = int(to); i-- > int(from);) {
    if (space[i] == 1)
      continue;
    if (step && strides[i] != next)
      return std::nullopt;
    if (!step)
      step = strides[i];
    next = strides[i] * space[i];
  }
  return step.value_or(0);
}

/// Strides {outer, inner} of an access over the split space, if each part steps evenly and the inner one by 0 or 1.
static std::optional<std::pair<int64_t, int64_t>> splitStrides(const Dims &strides, const Dims &space, int64_t split) {
  auto outer = evenStride(strides, space, 0, split), inner = evenStride(strides, space, split, space.size());
  if (!outer || !inner || (*inner != 0 && *inner != 1))
    return std::nullopt;
  return std::pair(*outer, *inner);
}

/// Reduced axes on both sides of the kept ones, as of a channel's sum over samples and positions: rows in runs, where runs
/// hold whole vectors. False without failing: the axes or the access are otherwise.
bool GraphLowering::reducesRuns(Value x, ArrayRef<int64_t> dims, lower::ReduceSpec &spec, std::vector<Pointer> &reads) {
  Dims space = dimsOf(x);
  int64_t rank = space.size(), first = 0, last = rank; // the kept axes
  auto reduced = [&](int64_t d) { return llvm::is_contained(dims, d); };
  while (first < rank && reduced(first))
    first++;
  while (last > first && reduced(last - 1))
    last--;
  if (first == 0 || last == rank || int64_t(dims.size()) != first + rank - last)
    return false;
  int64_t run = 1;
  for (int64_t d = last; d < rank; d++)
    run *= space[int(d)];
  std::optional<Access> a = access(x);
  if (!a || !lower::fitsRuns(b, spec.kind, dtypeOf(x), run))
    return false;
  auto outer = evenStride(a->strides, space, 0, first), row = evenStride(a->strides, space, first, last),
       inner = evenStride(a->strides, space, last, rank);
  if (!outer || !row || !inner || (*inner != 0 && *inner != 1))
    return false;
  lower::ExprInput in{dtypeOf(x)};
  in.slot = 1;
  in.access = lower::ExprInput::Strided;
  in.strides = {*row, *inner, *outer};
  spec.node = spec.expr.addInput(in);
  spec.run = run;
  reads.push_back(pointer(*a));
  return true;
}

/// Axes in the middle: a copy with the kept axes first, the reduced ones after them in ascending order (N4's logical
/// order), is reduced by rows.
bool GraphLowering::gatherReduced(Value x, ArrayRef<int64_t> dims, lower::ReduceSpec &spec,
                                  std::vector<Pointer> &reads) {
  std::optional<Access> a = access(x);
  if (!a)
    return false;
  Dims space = dimsOf(x), permuted, strides;
  auto reduced = [&](int d) { return llvm::is_contained(dims, int64_t(d)); };
  for (bool want : {false, true})
    for (int d = 0; d < space.size(); d++)
      if (reduced(d) == want) {
        permuted.push(space[d]);
        strides.push(a->strides[d]);
      }
  unsigned copy = newBuffer(dtypeOf(x), space.numel());
  if (!emitCopy(pointer(*a), permuted, strides, dtypeOf(x), {copy, 0}, rowMajor(permuted)))
    return false;
  lower::ExprInput in{dtypeOf(x)};
  in.slot = 1;
  spec.node = spec.expr.addInput(in);
  reads.push_back({copy, 0});
  return true;
}

/// The reduced value is computed as it is read. An input that steps in a way the two-dimensional kernel can't reads a
/// copy.
bool GraphLowering::fuseProducer(Value x, const Group &group, int64_t split, lower::ReduceSpec &spec,
                                 std::vector<Pointer> &reads) {
  Dims space = dimsOf(x);
  llvm::DenseMap<Value, int> nodes;
  for (Operation *op : group) // in order: a long chain of members needs no deep recursion
    if (op != group.back() && exprNode(spec.expr, op->getResult(0), space, group, nodes, reads) < 0)
      return false;
  spec.node = exprNode(spec.expr, x, space, group, nodes, reads);
  if (spec.node < 0)
    return false;
  for (auto [i, in] : llvm::enumerate(spec.expr.inputs)) {
    in.slot += 1;
    if (in.access != lower::ExprInput::Strided)
      continue;
    Dims strides(in.strides.data(), int(in.strides.size()));
    if (auto two = splitStrides(strides, space, split)) {
      in.strides = {two->first, two->second};
      continue;
    }
    unsigned copy = newBuffer(in.dtype, space.numel());
    if (!emitCopy(reads[i], space, strides, in.dtype, {copy, 0}, rowMajor(space)))
      return false;
    reads[i] = {copy, 0};
    in.access = lower::ExprInput::Contiguous;
    in.strides.clear();
  }
  return true;
}

/// A scan reads its operand contiguously, as [outer, n, inner].
bool GraphLowering::lowerScan(Operation *op) {
  Value v = op->getOperand(0);
  std::optional<Access> x = contiguous(v);
  if (!x)
    return false;
  Dims dims = dimsOf(v);
  if (dims.numel() == 0)
    return true;
  std::string name = kernelName(op->getName().stripDialect());
  lower::emitScan(b, name, *lower::scanKind(opInfo(*ir::opIdOf(op))), dtypeOf(v));
  int64_t dim = op->getAttrOfType<IntegerAttr>("dim").getInt(), n = dims.size() ? dims[int(dim)] : 1, inner = 1;
  for (int i = int(dim) + 1; i < dims.size(); i++)
    inner *= dims[i];
  bool reverse = op->getAttrOfType<BoolAttr>("reverse").getValue();
  Step &step = addStep(name);
  step.writes = {{bufferOf(op->getResult(0)), 0}};
  step.reads = {pointer(*x)};
  step.sizes = {n, inner, reverse ? (n - 1) * inner : 0, reverse ? -inner : inner};
  step.elements = dims.numel();
  step.end = dims.numel() / (n * inner);
  return true;
}

bool GraphLowering::lowerReduction(const Group &group, unsigned g) {
  Operation *op = group.back();
  if (opInfo(*ir::opIdOf(op)).shape == ShapeRule::Scan)
    return lowerScan(op);
  std::optional<lower::ReduceKind> kind = lower::reduceKind(opInfo(*ir::opIdOf(op)));
  if (!kind)
    return fail(op, "is a reduction without a scalar body");
  Value x = op->getOperand(0);
  SmallVector<int64_t> dims(op->getAttrOfType<DenseI64ArrayAttr>("dims").asArrayRef());
  Axes axes = axesOf(dimsOf(x), dims);
  lower::ReduceSpec spec;
  spec.kind = *kind;
  spec.columns = axes.columns;
  spec.out = dtypeOf(op->getResult(0));
  std::vector<Pointer> reads;
  if (axes.direct ? !fuseProducer(x, group, axes.split, spec, reads)
                  : !reducesRuns(x, dims, spec, reads) && !gatherReduced(x, dims, spec, reads))
    return false;
  spec.expr.statusSlot = 1 + int(reads.size());
  std::string name = kernelName(op->getName().stripDialect());
  if (!lower::emitReduce(b, name, spec, diag))
    return false;
  Step &step = addStep(name);
  step.writes = {{bufferOf(op->getResult(0)), 0}};
  step.reads = reads;
  step.mayTrap = spec.expr.mayTrap();
  if (axes.columns) {
    step.sizes = {axes.outer, axes.inner};
    step.end = axes.inner;
  } else {
    step.sizes = {axes.inner};
    step.end = axes.outer;
  }
  return true;
}

} // namespace torchc::schedule
