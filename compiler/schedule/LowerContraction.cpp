// Matrix products: one call of the pack's driver per product, with the strides of the operands as they lie.
#include "compiler/lower/Reduce.h"
#include "compiler/schedule/GraphLowering.h"

using namespace mlir;

namespace torchc::schedule {

/// One stride for all batch dimensions together, if they step evenly.
static std::optional<int64_t> batchStride(const Access &a) {
  std::optional<int64_t> step;
  int64_t next = 0;
  for (int i = a.dims.size() - 2; i-- > 0;) {
    if (a.dims[i] == 1)
      continue;
    if (step && a.strides[i] != next)
      return std::nullopt;
    if (!step)
      step = a.strides[i];
    next = a.strides[i] * a.dims[i];
  }
  return step.value_or(0);
}

bool GraphLowering::lowerMatmul(Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1), out = op->getResult(0);
  DType t = dtypeOf(out);
  if (isReducedFloat(t) || t == DType::Bool)
    return fail(op, "is not lowered in " + std::string(torchName(t)));
  std::optional<Access> operands[2] = {access(x), access(y)};
  Value values[2] = {x, y};
  for (int i = 0; i < 2; i++) {
    if (operands[i] && !batchStride(*operands[i]))
      operands[i] = contiguous(values[i]);
    if (!operands[i])
      return false;
  }
  Dims dims = dimsOf(out);
  int r = dims.size();
  int64_t batch = 1;
  for (int i = 0; i < r - 2; i++)
    batch *= dims[i];
  const Access &a = *operands[0], &b2 = *operands[1];
  int64_t m = dims[r - 2], n = dims[r - 1], k = a.dims[r - 1];
  if (batch * m * n == 0)
    return true;
  bool start = op->getNumOperands() > 2;
  if (start && !copyTo(op->getOperand(2), out))
    return false;
  int64_t aStep = *batchStride(a), bStep = *batchStride(b2);
  if (batch > 1 && !bStep && aStep == m * a.strides[r - 2]) { // the same B for all batches: one product over all rows
    m *= batch;
    batch = 1;
  }
  Step &step = addStep("torchc_gemm");
  step.external = true;
  step.writes = {{bufferOf(out), 0}};
  step.reads = {pointer(a), pointer(b2)};
  step.sizes = {
      batch, m, n,    k, aStep, a.strides[r - 2], a.strides[r - 1], bStep, b2.strides[r - 2], b2.strides[r - 1],
      m * n, n, start};
  step.scalars = {uint64_t(t)};
  step.elements = dims.numel();
  step.end = batch;
  step.mayTrap = true; // its scratch memory may be missing
  return true;
}

/// An inner product is a reduction of one row with two inputs.
bool GraphLowering::lowerDot(Operation *op) {
  DType t = dtypeOf(op->getResult(0));
  if (t == DType::Bool)
    return fail(op, "is not lowered in " + std::string(torchName(t)));
  std::optional<Access> x = contiguous(op->getOperand(0)), y = contiguous(op->getOperand(1));
  if (!x || !y)
    return false;
  std::string name = kernelName("dot");
  if (!lower::emitReduce(b, name, lower::plainDot(t), diag))
    return false;
  Step &step = addStep(name);
  step.writes = {{bufferOf(op->getResult(0)), 0}};
  step.reads = {pointer(*x), pointer(*y)};
  step.sizes = {x->dims[0]};
  step.end = 1;
  return true;
}

} // namespace torchc::schedule
