// Groups of pointwise ops, copies and constants.
#include "compiler/schedule/GraphLowering.h"
#include <bit>
#include <cmath>

using namespace mlir;

namespace torchc::schedule {

Body GraphLowering::keepBody(std::vector<BodyNode> nodes) {
  bodies.push_back(std::move(nodes));
  return {bodies.back().data(), int(bodies.back().size())};
}

/// A number of a `full` op as a body of its type: rounded once, from an int or a double (N2).
static BodyNode constantBody(Attribute value, DType compute) {
  if (auto f = dyn_cast<FloatAttr>(value))
    return {BodyOp::Const, -1, -1, -1, std::bit_cast<uint64_t>(f.getValueAsDouble())};
  int64_t i = isa<BoolAttr>(value) ? int64_t(cast<BoolAttr>(value).getValue()) : cast<IntegerAttr>(value).getInt();
  if (isFloat(compute))
    return {BodyOp::Const, -1, -1, -1, std::bit_cast<uint64_t>(double(i))};
  return {BodyOp::Bits, -1, -1, -1, uint64_t(i)};
}

/// A number that decompositions make of a size: kernels have constants only.
static bool madeOfSizes(const Symbols &symbols, Attribute value) {
  int64_t i = 0;
  if (auto f = dyn_cast<FloatAttr>(value)) {
    double v = f.getValueAsDouble();
    if (!(std::abs(v) < 0x1p62) || v != std::trunc(v))
      return false;
    i = int64_t(v);
  } else if (auto number = dyn_cast<IntegerAttr>(value)) {
    i = number.getValue().getSExtValue();
  }
  std::optional<SizeTerms> terms = symbols.read(i);
  return terms && !terms->constant();
}

int GraphLowering::constantNode(lower::Expr &expr, Operation *op) {
  auto full = cast<ir::FullOp>(op);
  DType t = dtypeOf(full.getResult());
  if (madeOfSizes(b.symbols, full.getValue()))
    return fail(op, "a number made of a dynamic size"), -1;
  DType compute = isWideUnsigned(t) ? DType::I64 : readType(t); // stored types by a cast, as eager fills them
  bool isFloatNumber = isa<FloatAttr>(full.getValue());
  // A float number in an integer type is cast as a tensor would be (N8).
  if (isFloatNumber && !isFloat(t))
    compute = DType::F64;
  BodyNode node = constantBody(full.getValue(), t == DType::Bool ? DType::I64 : compute);
  if (t == DType::Bool && !isFloatNumber)
    compute = DType::I64;
  int n = expr.addOp(keepBody({node}), compute, {});
  return expr.addCast(n, t);
}

/// The node of a value inside an expression over `space`: a member of the group, a constant, or an input.
int GraphLowering::exprNode(lower::Expr &expr, Value v, const Dims &space, const Group &group,
                            llvm::DenseMap<Value, int> &nodes, std::vector<Pointer> &reads) {
  if (auto it = nodes.find(v); it != nodes.end())
    return it->second;
  Operation *d = v.getDefiningOp();
  int n;
  Operation *origin = d; // constants look the same through any view
  while (origin && isa<ir::ReshapeOp, ir::ExpandOp, ir::TransposeOp, ir::SliceOp, ir::AsStridedOp>(origin))
    origin = origin->getOperand(0).getDefiningOp();
  if (origin && isa<ir::FullOp>(origin))
    n = constantNode(expr, origin);
  else if (d && llvm::is_contained(group, d))
    n = opNode(expr, d, space, group, nodes, reads);
  else {
    std::optional<Access> a = access(v);
    if (!a)
      return -1;
    lower::ExprInput in{dtypeOf(v)};
    in.slot = unsigned(reads.size()); // outputs are put in front later
    if (a->dims.numel() == 1)
      in.access = lower::ExprInput::PointerScalar;
    else if (a->dims == space && a->contiguous())
      in.access = lower::ExprInput::Contiguous;
    else {
      in.access = lower::ExprInput::Strided;
      Dims s = stridesIn(*a, space);
      in.strides.assign(s.begin(), s.end());
    }
    reads.push_back(pointer(*a));
    n = expr.addInput(in);
  }
  nodes[v] = n;
  return n;
}

int GraphLowering::opNode(lower::Expr &expr, Operation *op, const Dims &space, const Group &group,
                          llvm::DenseMap<Value, int> &nodes, std::vector<Pointer> &reads) {
  OpId id = *ir::opIdOf(op);
  const OpInfo &info = opInfo(id);
  SmallVector<int> operands;
  for (Value v : op->getOperands()) {
    int n = exprNode(expr, v, space, group, nodes, reads);
    if (n < 0)
      return -1;
    operands.push_back(n);
  }
  DType result = dtypeOf(op->getResult(0));
  if (info.family == Family::Cast)
    return expr.addCast(operands[0], result);
  // The common type: of the operand that isn't a number in its op-math type, if there is one.
  unsigned first = info.promote == Promote::Branch ? 1 : 0;
  DType common = result;
  if (info.promote == Promote::Compare || info.promote == Promote::Truth) {
    common = dtypeOf(op->getOperand(first));
    for (Value v : op->getOperands().drop_front(first))
      if (dimsOf(v).size())
        common = dtypeOf(v);
  }
  DType compute = readType(common);
  const Body &body = opBody(id, compute);
  if (!body.numNodes) {
    fail(op, "has no scalar body in " + std::string(torchName(compute)));
    return -1;
  }
  bool predicate = info.promote == Promote::Compare;
  int n;
  if (first) { // the condition keeps its truth type
    lower::ExprNode node{lower::ExprNode::Op, compute, compute};
    node.body = body;
    node.operands = {expr.addCast(operands[0], DType::Bool), expr.addCast(operands[1], compute),
                     expr.addCast(operands[2], compute)};
    expr.nodes.push_back(node);
    n = int(expr.nodes.size()) - 1;
  } else {
    n = expr.addOp(body, compute, operands, predicate);
  }
  return predicate ? n : expr.addCast(n, result);
}

/// Merges neighbouring dimensions that every access steps through alike: fewer loops, longer rows.
static void coalesce(lower::ElementwiseSpec &spec) {
  auto mergeable = [&](size_t d) { // d with d + 1
    auto fits = [&](const SmallVector<int64_t, 4> &s) { return s.empty() || s[d] == s[d + 1] * spec.sizes[d + 1]; };
    for (auto &in : spec.expr.inputs)
      if (in.access == lower::ExprInput::Strided && !fits(in.strides))
        return false;
    return llvm::all_of(spec.outputs, [&](auto &o) { return fits(o.strides); });
  };
  auto drop = [&](SmallVector<int64_t, 4> &s, size_t d) {
    if (!s.empty())
      s.erase(s.begin() + d);
  };
  for (size_t d = 0; d + 1 < spec.sizes.size();) {
    if (spec.sizes[d] != 1 && spec.sizes[d + 1] != 1 && !mergeable(d)) {
      d++;
      continue;
    }
    // Of a size-1 dimension only the other's strides matter.
    size_t gone = spec.sizes[d + 1] == 1 ? d + 1 : d;
    spec.sizes[d] *= spec.sizes[d + 1];
    spec.sizes.erase(spec.sizes.begin() + d + 1);
    for (auto &in : spec.expr.inputs)
      if (in.access == lower::ExprInput::Strided)
        drop(in.strides, gone);
    for (auto &o : spec.outputs)
      drop(o.strides, gone);
  }
}

/// The contiguous form serves when nothing is strided any more.
static bool becomesContiguous(const lower::ElementwiseSpec &spec) {
  for (auto &in : spec.expr.inputs)
    if (in.access == lower::ExprInput::Strided)
      return false;
  return llvm::all_of(spec.outputs, [](auto &o) { return o.strides.empty(); });
}

static void addExtent(Step &step, const lower::ElementwiseSpec &spec, int64_t elements) {
  step.begin = 0;
  step.elements = elements;
  step.end = spec.sizes.empty() ? elements : spec.sizes[0];
  step.sizes.assign(spec.sizes.begin(), spec.sizes.end());
}

bool GraphLowering::lowerPointwise(const Group &group, unsigned g) {
  Dims space = dimsOf(group.back()->getResult(0));
  lower::ElementwiseSpec spec;
  llvm::DenseMap<Value, int> nodes;
  std::vector<Pointer> reads, writes;
  for (Operation *op : group) {
    Value v = op->getResult(0);
    int n = exprNode(spec.expr, v, space, group, nodes, reads);
    if (n < 0)
      return false;
    if (!usedOutside(v, g))
      continue;
    spec.outputs.push_back({n, unsigned(writes.size())});
    writes.push_back({bufferOf(v), 0});
  }
  if (writes.empty() || space.numel() == 0)
    return true;
  for (auto &in : spec.expr.inputs)
    in.slot += unsigned(writes.size());
  spec.expr.statusSlot = int(writes.size() + reads.size());
  if (!becomesContiguous(spec)) {
    spec.sizes.assign(space.begin(), space.end());
    for (auto &in : spec.expr.inputs)
      if (in.access == lower::ExprInput::Contiguous) {
        Dims s = rowMajor(space);
        in.access = lower::ExprInput::Strided;
        in.strides.assign(s.begin(), s.end());
      }
    coalesce(spec);
  }
  std::string name = kernelName(ir::opIdOf(group.back()) ? group.back()->getName().stripDialect() : "pointwise");
  if (!lower::emitElementwise(b, name, spec, diag))
    return false;
  Step &step = addStep(name);
  step.writes = writes;
  step.reads = reads;
  step.mayTrap = spec.expr.mayTrap();
  addExtent(step, spec, space.numel());
  return true;
}

bool GraphLowering::emitCopy(Pointer from, const Dims &dims, const Dims &strides, DType dtype, Pointer to,
                             const Dims &toStrides) {
  if (dims.numel() == 0)
    return true;
  lower::ElementwiseSpec spec;
  lower::ExprInput in{dtype};
  in.slot = 1;
  in.access = lower::ExprInput::Strided;
  in.strides.assign(strides.begin(), strides.end());
  int n = spec.expr.addInput(in);
  lower::ElementwiseOutput out{n, 0};
  out.strides.assign(toStrides.begin(), toStrides.end());
  spec.outputs.push_back(out);
  spec.sizes.assign(dims.begin(), dims.end());
  coalesce(spec);
  bool flat = spec.sizes.size() <= 1 && (spec.sizes.empty() || spec.sizes[0] == 1 ||
                                         (spec.expr.inputs[0].strides[0] == 1 && spec.outputs[0].strides[0] == 1));
  if (flat) {
    spec.sizes.clear();
    spec.expr.inputs[0].access = lower::ExprInput::Contiguous;
    spec.expr.inputs[0].strides.clear();
    spec.outputs[0].strides.clear();
  }
  std::string name = kernelName("copy");
  if (!lower::emitElementwise(b, name, spec, diag))
    return false;
  Step &step = addStep(name);
  step.writes = {to};
  step.reads = {from};
  addExtent(step, spec, dims.numel());
  return true;
}

/// A creation op that something other than a pointwise kernel reads gets memory.
bool GraphLowering::fillConstant(Value v, unsigned buffer) {
  Operation *d = v.getDefiningOp();
  int64_t elements = dimsOf(v).numel();
  lower::ElementwiseSpec spec;
  int n = -1;
  if (isa<ir::FullOp>(d)) {
    n = constantNode(spec.expr, d);
    if (n < 0)
      return false;
  } else if (auto range = dyn_cast<ir::ArangeOp>(d)) {
    DType t = dtypeOf(v);
    auto start = dyn_cast<IntegerAttr>(range.getStart()), step = dyn_cast<IntegerAttr>(range.getStep());
    if (!isIntegral(t) || !start || !step)
      return fail(d, "expected an integer range");
    if (madeOfSizes(b.symbols, start) || madeOfSizes(b.symbols, step))
      return fail(d, "a range that starts or steps by a dynamic size");
    // start + i * step, wrapping in int64
    Body body = keepBody({{BodyOp::Index},
                          {BodyOp::Bits, -1, -1, -1, uint64_t(step.getInt())},
                          {BodyOp::Bits, -1, -1, -1, uint64_t(start.getInt())},
                          {BodyOp::Mul, 0, 1},
                          {BodyOp::Add, 2, 3}});
    n = spec.expr.addCast(spec.expr.addOp(body, DType::I64, {}), t);
  } else {
    return fail(d, "has no kernel number");
  }
  if (elements == 0)
    return true;
  spec.outputs.push_back({n, 0});
  std::string name = kernelName("fill");
  if (!lower::emitElementwise(b, name, spec, diag))
    return false;
  Step &step = addStep(name);
  step.writes = {{buffer, 0}};
  addExtent(step, spec, elements);
  return true;
}

} // namespace torchc::schedule
