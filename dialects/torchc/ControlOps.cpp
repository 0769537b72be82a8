#include "dialects/torchc/TorchcDialect.h"

using namespace mlir;

namespace torchc::ir {

/// A region's block takes `inputs` and yields `results`.
static LogicalResult verifyRegion(Operation *op, Region &region, TypeRange inputs, TypeRange results) {
  Block &block = region.front();
  if (block.getArgumentTypes() != inputs)
    return op->emitOpError("region ") << region.getRegionNumber() << ": expected arguments of the types of the inputs";
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().getTypes() != results)
    return op->emitOpError("region ") << region.getRegionNumber() << ": expected to yield values of the results' types";
  return success();
}

static bool isTruth(Type t) {
  auto r = cast<RankedTensorType>(t);
  return r.hasStaticShape() && r.getNumElements() == 1 && r.getElementType().isInteger(1);
}

LogicalResult CondOp::verify() {
  if (!isTruth(getPredicate().getType()))
    return emitOpError("expected a predicate of one bool, got ") << getPredicate().getType();
  for (Region &r : getOperation()->getRegions())
    if (failed(verifyRegion(*this, r, getInputs().getTypes(), getResultTypes())))
      return failure();
  return success();
}

LogicalResult WhileLoopOp::verify() {
  TypeRange inputs = getInputs().getTypes();
  if (inputs.size() < getNumResults() || inputs.take_front(getNumResults()) != getResultTypes())
    return emitOpError("expected the first inputs to have the results' types");
  auto yield = dyn_cast<YieldOp>(getGoesOn().front().back());
  if (!yield || yield.getValues().size() != 1 || !isTruth(yield.getValues()[0].getType()))
    return emitOpError("expected the first region to yield one bool");
  return success(succeeded(verifyRegion(*this, getGoesOn(), inputs, yield.getValues().getTypes())) &&
                 succeeded(verifyRegion(*this, getBody(), inputs, getResultTypes())));
}

} // namespace torchc::ir

#define GET_OP_CLASSES
#include "torchc-gen/ControlOps.cpp.inc"
