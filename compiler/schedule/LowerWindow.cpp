// Convolutions: one call of the runtime's driver each. Pools: the pack's kernel over all planes.
#include "compiler/lower/PoolPairs.h"
#include "compiler/schedule/GraphLowering.h"
#include "dialects/rules/WindowAttrs.h"
#include <cstring>

using namespace mlir;

namespace torchc::schedule {

/// A geometry as the sizes of a step.
template <class G> static std::vector<int64_t> sizesOf(const G &g) {
  std::vector<int64_t> sizes(sizeof(G) / sizeof(int64_t));
  std::memcpy(sizes.data(), &g, sizeof g);
  return sizes;
}

namespace {

/// What may be computed where a convolution stores its result: a bias per channel, then relu. Each is the only reader of
/// what comes before, so that the bits are those of ops on their own.
struct Epilogue {
  Operation *last; // its result is what is stored
  Value bias; // of one element per channel, or null
  bool relu = false;
  SmallVector<Operation *, 2> ops;
};

Operation *onlyUser(Value v) { return v.hasOneUse() ? *v.getUsers().begin() : nullptr; }

/// The 1-d value behind `v` if v is it as [channels, 1, ..] next to an output of rank `rank`.
Value channelVector(Value v, int rank, int64_t channels) {
  Dims dims = dimsOf(v);
  int lead = rank - dims.size();
  for (int i = 0; i < dims.size(); i++)
    if (dims[i] != (i + lead == 1 ? channels : 1))
      return Value();
  while (Operation *d = v.getDefiningOp()) {
    std::optional<OpId> id = ir::opIdOf(d);
    if (!id || opInfo(*id).shape != ShapeRule::Reshape)
      break;
    v = d->getOperand(0);
  }
  return dimsOf(v).numel() == channels ? v : Value();
}

Epilogue epilogueOf(Operation *conv) {
  Epilogue e{conv, Value(), false, {}};
  Value y = conv->getResult(0);
  Dims dims = dimsOf(y);
  Operation *user = onlyUser(y);
  if (user && isa<ir::AddOp>(user) && dimsOf(user->getResult(0)) == dims) {
    Value other = user->getOperand(user->getOperand(0) == y ? 1 : 0);
    if (Value bias = channelVector(other, dims.size(), dims[1]); bias && dtypeOf(bias) == dtypeOf(y)) {
      e.bias = bias;
      e.last = user;
      e.ops.push_back(user);
      user = onlyUser(user->getResult(0));
    }
  }
  if (user && isa<ir::ReluOp>(user)) {
    e.relu = true;
    e.last = user;
    e.ops.push_back(user);
  }
  return e;
}

bool isZero(Value v) {
  while (Operation *d = v.getDefiningOp()) {
    if (auto full = dyn_cast<ir::FullOp>(d)) {
      auto number = dyn_cast<FloatAttr>(full.getValue());
      return number && number.getValue().isPosZero();
    }
    std::optional<OpId> id = ir::opIdOf(d);
    if (!id || !(opInfo(*id).flags & OpIsView))
      break;
    v = d->getOperand(0);
  }
  return false;
}

/// relu's derivative behind a maximum's gradient, where(x <= 0, 0, gradient) of the pool's own operand x: the comparison
/// and the choice, if nothing else reads the values between.
SmallVector<Operation *, 2> reluBehind(Operation *pool) {
  Value gradient = pool->getResult(0), x = pool->getOperand(1);
  auto choice = dyn_cast_or_null<ir::WhereOp>(onlyUser(gradient));
  if (!choice || choice->getOperand(2) != gradient || !isZero(choice->getOperand(1)))
    return {};
  auto comparison = choice->getOperand(0).getDefiningOp<ir::LeOp>();
  if (!comparison || !comparison->hasOneUse() || comparison->getOperand(0) != x || !isZero(comparison->getOperand(1)) ||
      choice->getResult(0).getType() != gradient.getType()) // both broadcast
    return {};
  return {comparison, choice};
}

} // namespace

/// Whether the epilogue's groups hold nothing else and its bias lies in memory already; then they need no kernels.
bool GraphLowering::absorbs(ArrayRef<Operation *> ops, Value bias) {
  for (Operation *op : ops)
    for (Operation *member : groups[groupOf.lookup(op)])
      if (!llvm::is_contained(ops, member))
        return false;
  return !bias || isa<BlockArgument>(bias);
}

bool GraphLowering::lowerConv(Operation *op) {
  const OpInfo &info = opInfo(*ir::opIdOf(op));
  Value out = op->getResult(0);
  DType t = dtypeOf(out);
  if (isReducedFloat(t) || t == DType::Bool)
    return fail(op, "is not lowered in " + std::string(torchName(t)));
  SmallVector<Attr> attrs;
  if (!ir::readAttrs(op, info, attrs))
    return fail(op, "has unreadable attributes");
  if (dimsOf(out).numel() == 0)
    return true;
  std::optional<Access> x = contiguous(op->getOperand(0)), y = contiguous(op->getOperand(1)), bias;
  if (!x || !y)
    return false;
  Dims a = x->dims, b = y->dims, c = dimsOf(out);
  ConvWhat what = info.shape == ShapeRule::Conv        ? ConvWhat::Output
                  : info.shape == ShapeRule::ConvInput ? ConvWhat::Input
                                                       : ConvWhat::Weight;
  ConvGeometry g = what == ConvWhat::Output  ? rules::convGeometry(a, b, c, attrs.data())
                   : what == ConvWhat::Input ? rules::convGeometry(c, b, a, attrs.data() + 1)
                                             : rules::convGeometry(a, c, b, attrs.data() + 1);
  Epilogue e{op, Value(), false, {}};
  if (what == ConvWhat::Output)
    e = epilogueOf(op);
  if (!absorbs(e.ops, e.bias))
    e = Epilogue{op, Value(), false, {}};
  if (e.bias && !(bias = contiguous(e.bias)))
    return false;
  for (Operation *done : e.ops)
    absorbed.insert(groupOf.lookup(done));
  Step &step = addStep("torchc_conv");
  step.external = true;
  step.writes = {{bufferOf(e.last->getResult(0)), 0}};
  step.reads = {pointer(*x), pointer(*y)};
  if (bias)
    step.reads.push_back(pointer(*bias));
  step.sizes = sizesOf(g);
  step.scalars = {uint64_t(t), uint64_t(what), uint64_t(bias ? 1 : 0) | uint64_t(e.relu ? 2 : 0)};
  step.elements = c.numel();
  step.end = 1;
  step.mayTrap = true; // its scratch memory may be missing
  return true;
}

bool GraphLowering::lowerPool(Operation *op) {
  const OpInfo &info = opInfo(*ir::opIdOf(op));
  Value out = op->getResult(0);
  Dims dims = dimsOf(out);
  bool isMean = rules::poolsMeans(info);
  DType t = dtypeOf(op->getOperand(0));
  if (t == DType::Bool || ((info.flags & OpAccumulates) && isReducedFloat(t)) ||
      (isMean && !isFloat(t) && t != DType::I64))
    return fail(op, "is not lowered in " + std::string(torchName(t)));
  SmallVector<Attr> attrs;
  if (!ir::readAttrs(op, info, attrs))
    return fail(op, "has unreadable attributes");
  if (dims.numel() == 0)
    return true;
  std::vector<Pointer> reads;
  for (Value v : op->getOperands()) {
    std::optional<Access> a = contiguous(v);
    if (!a)
      return false;
    reads.push_back(pointer(*a));
  }
  Dims x = dimsOf(op->getOperand(0));
  bool isGradient = info.shape == ShapeRule::PoolInput || info.shape == ShapeRule::PoolScatter;
  PoolGeometry g = isGradient ? rules::poolGeometry(dims, x, attrs.data(), isMean)
                              : rules::poolGeometry(x, dims, attrs.data(), isMean);
  if (info.shape == ShapeRule::PoolScatter)
    if (auto behind = reluBehind(op); !behind.empty() && absorbs(behind, Value())) {
      g.relu = 1;
      out = behind.back()->getResult(0);
      for (Operation *done : behind)
        absorbed.insert(groupOf.lookup(done));
    }
  int64_t each = 1;
  for (uint32_t i = 0; i < attrs[0].size; i++)
    each *= dims[dims.size() - 1 - int(i)];
  // The pack's kernel, or where the sizes are worth it one of its own.
  bool gradient = info.shape == ShapeRule::PoolScatter;
  bool narrow = (gradient || (info.shape == ShapeRule::Pool && !isMean)) && lower::fitsNarrowPairs(b, t, g);
  std::string name =
      "torchc_k_" + std::string(info.name) + "_" + std::string(shortName(t)) + "_" + b.target().name.str();
  if (narrow)
    lower::emitNarrowPairs(b, name = kernelName(info.name), t, gradient, g);
  Step &step = addStep(name);
  step.external = !narrow;
  step.writes = {{bufferOf(out), 0}};
  step.reads = reads;
  step.sizes = sizesOf(g);
  step.elements = dims.numel();
  step.end = dims.numel() / each;
  return true;
}

} // namespace torchc::schedule
