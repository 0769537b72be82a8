#include "compiler/lower/Expr.h"
#include "compiler/lower/BodyEmitter.h"
#include "compiler/lower/Convert.h"
#include "dialects/rules/Status.h"

using namespace mlir;

namespace torchc::lower {

int Expr::addInput(ExprInput in) {
  ExprNode n{ExprNode::Input, in.dtype, in.dtype};
  n.input = int(inputs.size());
  inputs.push_back(std::move(in));
  nodes.push_back(std::move(n));
  return int(nodes.size()) - 1;
}

int Expr::addCast(int node, DType to) {
  if (nodes[size_t(node)].dtype == to)
    return node;
  ExprNode n{ExprNode::Cast, to, to};
  n.operands = {node};
  nodes.push_back(std::move(n));
  return int(nodes.size()) - 1;
}

int Expr::addOp(Body body, DType compute, llvm::ArrayRef<int> operands, bool predicate) {
  ExprNode n{ExprNode::Op, predicate ? DType::Bool : compute, compute};
  n.body = body;
  for (int operand : operands)
    n.operands.push_back(addCast(operand, compute));
  nodes.push_back(std::move(n));
  return int(nodes.size()) - 1;
}

static bool bodyUsesIndex(const Body &body) {
  for (int i = 0; i < body.numNodes; ++i)
    if (body.nodes[i].op == BodyOp::Index)
      return true;
  return false;
}

bool Expr::usesIndex() const {
  return llvm::any_of(nodes, [](const ExprNode &n) { return bodyUsesIndex(n.body); });
}

bool Expr::mayTrap() const {
  return llvm::any_of(nodes, [](const ExprNode &n) {
    if (isFloat(n.compute))
      return false;
    for (int i = 0; i < n.body.numNodes; ++i)
      if (n.body.nodes[i].op == BodyOp::Div)
        return true;
    return false;
  });
}

unsigned Expr::widestBits() const {
  unsigned bits = 8;
  for (const ExprNode &n : nodes) {
    bits = std::max(bits, unsigned(itemSize(n.dtype)) * 8);
    bits = std::max(bits, unsigned(itemSize(n.compute)) * 8);
    // Small floats are widened, floats become narrow integers by way of i64.
    if (readType(n.dtype) != n.dtype)
      bits = std::max(bits, 32u);
    if (n.kind == ExprNode::Cast && isFloat(nodes[size_t(n.operands[0])].dtype) && isIntegral(n.dtype))
      bits = 64;
  }
  return usesIndex() ? 64 : bits;
}

void ExprEmitter::prepare() {
  if (expr.statusSlot >= 0 && expr.mayTrap())
    status = b.pointer(unsigned(expr.statusSlot));
  for (const ExprInput &in : expr.inputs) {
    Value base, value;
    if (in.access == ExprInput::ScalarSlot) {
      base = b.addressAt(b.scalars(), in.slot, b.getI64Type());
      value = b.load(base, b.i64(0), in.dtype, 1);
    } else {
      base = b.pointer(in.slot);
      if (in.access == ExprInput::PointerScalar)
        value = b.load(base, b.i64(0), in.dtype, 1);
    }
    bases.push_back(base);
    uniform.push_back(value);
    innerStride.push_back(1);
    innerStrideValue.push_back({});
  }
}

Values ExprEmitter::loadInput(unsigned i, const Place &place) {
  const ExprInput &in = expr.inputs[i];
  Values out;
  Value same = uniform[i];
  if (!same && innerStride[i] == 0)
    same = b.load(bases[i], b.i64(0), in.dtype, 1);
  if (same)
    same = b.splat(same, place.lanes);
  for (unsigned u = 0; u < place.vectors; ++u) {
    if (same) {
      out.push_back(same);
      continue;
    }
    Value index = place.index;
    if (u)
      index = b.add(index, b.i64(int64_t(u) * place.lanes));
    if (innerStride[i] != 1) // only scalar places walk other strides
      index = b.mul(index, innerStrideValue[i]);
    out.push_back(b.load(bases[i], index, in.dtype, place.lanes, place.mask));
  }
  return out;
}

Values ExprEmitter::indices(const Place &place) {
  Values out;
  Value steps = b.step(b.getI64Type(), place.lanes);
  for (unsigned u = 0; u < place.vectors; ++u) {
    Value first = place.linear;
    if (u)
      first = b.add(first, b.i64(int64_t(u) * place.lanes));
    out.push_back(b.add(b.splat(first, place.lanes), steps));
  }
  return out;
}

/// Reports division by zero where a lane of `failed` is set; lanes outside the mask don't count.
void ExprEmitter::trapWhere(ValueRange failed, const Place &place) {
  Value any;
  for (Value f : failed) {
    if (place.mask)
      f = arith::AndIOp::create(b, f, place.mask);
    if (place.lanes > 1)
      f = vector::ReductionOp::create(b, vector::CombiningKind::OR, f);
    any = any ? Value(arith::OrIOp::create(b, any, f)) : f;
  }
  b.ifThen(any, [&] { b.storeRaw(b.intConst(b.getI32Type(), int64_t(KernelStatus::DivisionByZero)), status, 4); });
}

llvm::SmallVector<Values, 2> ExprEmitter::evaluate(llvm::ArrayRef<int> wanted, const Place &place) {
  llvm::SmallVector<Values, 8> done(expr.nodes.size());
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode &n = expr.nodes[i];
    if (n.kind == ExprNode::Input) {
      done[i] = loadInput(unsigned(n.input), place);
    } else if (n.kind == ExprNode::Cast) {
      DType from = expr.nodes[size_t(n.operands[0])].dtype;
      for (Value v : done[size_t(n.operands[0])])
        done[i].push_back(convert(b, v, from, n.dtype));
    } else {
      llvm::SmallVector<Values, 3> args;
      for (int operand : n.operands)
        args.push_back(done[size_t(operand)]);
      Values index;
      if (bodyUsesIndex(n.body))
        index = indices(place);
      Values failed;
      done[i] =
          emitBody(b, n.body, n.compute, args, index, place.lanes, place.vectors, diag, status ? &failed : nullptr);
      if (done[i].empty())
        return {};
      if (!failed.empty())
        trapWhere(failed, place);
    }
  }
  llvm::SmallVector<Values, 2> result;
  for (int node : wanted)
    result.push_back(done[size_t(node)]);
  return result;
}

} // namespace torchc::lower
