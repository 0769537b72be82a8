// Reads and writes through index tensors, joins, strided updates and random numbers.
#include "compiler/lower/Indexing.h"
#include "compiler/schedule/GraphLowering.h"

using namespace mlir;

namespace torchc::schedule {
namespace {

int wrap(int64_t dim, int rank) { return int(dim < 0 ? dim + std::max(rank, 1) : dim); }

/// A 0-d tensor behaves as one of one element.
Dims atLeast1(const Dims &d) { return d.size() ? d : Dims{1}; }

/// [outer, n, inner] around one dimension.
Dims around(const Dims &d, int dim, int64_t n) {
  Dims out{1, n, 1};
  for (int i = 0; i < d.size(); i++)
    if (i != dim)
      out[i < dim ? 0 : 2] *= d[i];
  return out;
}

} // namespace

/// The elements of `x` become those of `out`, which has memory of its own. A constant is written there at once.
bool GraphLowering::copyTo(Value x, Value out) {
  if (x.getDefiningOp<ir::FullOp>())
    return fillConstant(x, bufferOf(out));
  std::optional<Access> from = access(x);
  return from &&
         emitCopy(pointer(*from), from->dims, from->strides, dtypeOf(x), {bufferOf(out), 0}, rowMajor(from->dims));
}

/// Does anything but `except` read `v`, or a view of it, in a step that is still to come?
bool GraphLowering::readLater(Value v, Operation *except) {
  SmallVector<Value> todo{v};
  while (!todo.empty())
    for (Operation *user : todo.pop_back_val().getUsers()) {
      if (user == except)
        continue;
      if (auto g = groupOf.find(user); g != groupOf.end()) {
        if (!lowered.contains(g->second) && !absorbed.contains(g->second))
          return true;
        continue;
      }
      std::optional<OpId> id = ir::opIdOf(user);
      if (!id || !(opInfo(*id).flags & OpIsView))
        return true;
      todo.push_back(user->getResult(0));
    }
  return false;
}

/// The result of `op` takes the memory of its operand `x`, which nothing needs any more, and starts as what x was. `other`
/// is written into it and must lie elsewhere.
bool GraphLowering::takesMemory(Operation *op, Value x, Value other) {
  Operation *d = x.getDefiningOp();
  Value out = op->getResult(0);
  if (!d || !groupOf.count(d) || d->getNumRegions() || d->getBlock() != op->getBlock() || buffers.count(out))
    return false;
  std::optional<Access> from = access(x), with = access(other);
  if (!from || !with || from->base != x || with->base == x || plan->buffers[bufferOf(x)].place != Buffer::Arena ||
      readLater(x, op))
    return false;
  buffers[out] = bufferOf(x);
  return true;
}

/// index_select and index_add loop over [outer, i, inner]; gather and scatter over the index tensor's own shape.
bool GraphLowering::lowerIndexing(Operation *op) {
  const OpInfo &info = opInfo(*ir::opIdOf(op));
  bool reads = info.shape == ShapeRule::IndexSelect || info.shape == ShapeRule::Gather;
  bool vectors = info.shape == ShapeRule::IndexSelect || info.shape == ShapeRule::IndexUpdate;
  Value x = op->getOperand(0), index = op->getOperand(1), source = reads ? x : op->getOperand(2),
        out = op->getResult(0);
  std::optional<Access> from = contiguous(source), at = contiguous(index);
  if (!from || !at)
    return false;
  Dims whole = atLeast1(dimsOf(x));
  int dim = wrap(op->getAttrOfType<IntegerAttr>("dim").getInt(), dimsOf(x).size());
  lower::IndexLoop loop;
  loop.mode = reads                           ? lower::IndexMode::Read
              : !(info.flags & OpAccumulates) ? lower::IndexMode::Write
                                              : lower::IndexMode::Accumulate;
  loop.dtype = dtypeOf(out);
  loop.indexType = dtypeOf(index);
  loop.bound = whole[dim];
  Dims wholeStrides, otherStrides;
  if (vectors) {
    int64_t count = dimsOf(index).numel();
    loop.sizes = around(whole, dim, count);
    loop.dim = 1;
    wholeStrides = rowMajor(around(whole, dim, whole[dim]));
    otherStrides = rowMajor(loop.sizes);
    loop.indexStrides = Dims{0, 1, 0};
  } else {
    loop.sizes = atLeast1(dimsOf(index));
    loop.dim = dim;
    wholeStrides = rowMajor(whole);
    otherStrides = rowMajor(reads ? loop.sizes : atLeast1(dimsOf(source)));
    loop.indexStrides = rowMajor(loop.sizes);
  }
  loop.inStrides = reads ? wholeStrides : otherStrides;
  loop.outStrides = reads ? otherStrides : wholeStrides;
  if (!reads && !copyTo(x, out))
    return false;
  std::string name = kernelName(op->getName().stripDialect());
  if (!lower::emitIndexLoop(b, name, loop, diag))
    return false;
  Step &step = addStep(name);
  step.writes = {{bufferOf(out), 0}};
  step.reads = {pointer(*from), pointer(*at)};
  step.mayTrap = true;
  return true;
}

bool GraphLowering::lowerCat(Operation *op) {
  Value out = op->getResult(0);
  Dims whole = dimsOf(out), strides = rowMajor(whole);
  int dim = wrap(op->getAttrOfType<IntegerAttr>("dim").getInt(), whole.size());
  int64_t start = 0;
  for (Value v : op->getOperands()) {
    Dims dims = dimsOf(v);
    if (dims.size() != whole.size()) // a skipped tensor without elements
      continue;
    std::optional<Access> a = access(v);
    if (!a || !emitCopy(pointer(*a), dims, a->strides, dtypeOf(v), {bufferOf(out), start * strides[dim]}, strides))
      return false;
    start += dims[dim];
  }
  return true;
}

bool GraphLowering::lowerSliceUpdate(Operation *op) {
  auto update = cast<ir::SliceUpdateOp>(op);
  Value x = update.getX(), y = update.getY(), out = update.getResult();
  std::optional<Access> fresh = access(y);
  if (!fresh || (!takesMemory(op, x, y) && !copyTo(x, out)))
    return false;
  Dims strides = rowMajor(dimsOf(out));
  int dim = wrap(update.getDim(), strides.size());
  Pointer to{bufferOf(out), int64_t(update.getStart()) * strides[dim]};
  Dims stepped = strides;
  stepped[dim] = steppedStride(stepped[dim], update.getStep());
  return emitCopy(pointer(*fresh), fresh->dims, fresh->strides, dtypeOf(y), to, stepped);
}

/// The pack's kernel reads seed and ordinal where E5 has the scalars: the state tensor itself.
bool GraphLowering::lowerRandom(Operation *op) {
  std::optional<Access> state = contiguous(op->getOperand(0));
  if (!state)
    return false;
  int64_t elements = dimsOf(op->getResult(0)).numel();
  if (elements == 0)
    return true;
  Pointer p = pointer(*state);
  if (p.offset) {
    unsigned copy = newBuffer(DType::I64, 2);
    if (!emitCopy(p, state->dims, state->strides, DType::I64, {copy, 0}, rowMajor(state->dims)))
      return false;
    p = {copy, 0};
  }
  const OpInfo &info = opInfo(*ir::opIdOf(op));
  std::string type(shortName(dtypeOf(op->getResult(0))));
  Step &step = addStep("torchc_k_" + std::string(info.name) + "_" + type + "_" + b.target().name.str());
  step.external = true;
  step.writes = {{bufferOf(op->getResult(0)), 0}};
  step.scalarBuffer = int(p.buffer);
  step.elements = elements;
  step.end = elements;
  return true;
}

} // namespace torchc::schedule
