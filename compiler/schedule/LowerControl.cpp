// Ops with regions: each region becomes a plan with an entry of its own, which the step's code calls.
#include "compiler/schedule/GraphLowering.h"

using namespace mlir;

namespace torchc::schedule {

/// Appends the plan of a region. `uses`: by result, whether it is written back to an argument.
bool GraphLowering::lowerRegion(Region &region, ArrayRef<ResultUse> uses, const std::string &name) {
  Plan inner;
  GraphLowering lowering(region.front(), b, uses, {}, diag, name + "_k");
  if (!lowering.run(inner))
    return false;
  placeBuffers(inner);
  plan->nested.push_back(std::move(inner));
  return true;
}

bool GraphLowering::lowerControl(Operation *op) {
  if (!b.symbols.empty()) // an entry of a region would have to get the sizes and place its own buffers
    return fail(op, "a graph inside of one with dynamic sizes");
  bool loop = isa<ir::WhileLoopOp>(op);
  unsigned results = op->getNumResults(), first = loop ? results : 0;
  Step step;
  step.callee = kernelName(loop ? "while" : "cond");
  step.control = loop ? Control::Loop : Control::Cond;
  step.nested = unsigned(plan->nested.size());
  for (unsigned r = 0; r < 2; r++) {
    SmallVector<ResultUse> uses(op->getRegion(r).front().getTerminator()->getNumOperands());
    for (unsigned i = 0; loop && r == 1 && i < uses.size(); i++)
      uses[i].argument = int32_t(i);
    if (!lowerRegion(op->getRegion(r), uses, step.callee + "_" + std::to_string(r)))
      return false;
  }
  if (loop) { // carried tensors live in the results' memory
    step.writes.push_back({newBuffer(DType::Bool, 1)});
    for (unsigned i = 0; i < results; i++) {
      std::optional<Access> from = access(op->getOperand(i));
      Value to = op->getResult(i);
      if (!from ||
          !emitCopy(pointer(*from), from->dims, from->strides, dtypeOf(to), {bufferOf(to)}, rowMajor(from->dims)))
        return false;
    }
  }
  for (Value v : op->getResults())
    step.writes.push_back({bufferOf(v)});
  for (Value v : op->getOperands().drop_front(first)) {
    std::optional<Access> a = contiguous(v);
    if (!a)
      return false;
    step.reads.push_back(pointer(*a));
  }
  int64_t scratch = 0;
  for (unsigned r = 0; r < 2; r++) {
    const Plan &inner = plan->nested[step.nested + r];
    scratch = std::max(scratch, inner.arenaBytes);
    inner.eachStep([&](const Step &s) { step.mayTrap |= s.mayTrap; });
  }
  if (scratch)
    step.scratch = int(newBuffer(DType::I8, scratch));
  plan->steps.push_back(std::move(step));
  return true;
}

} // namespace torchc::schedule
