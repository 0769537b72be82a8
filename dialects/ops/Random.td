//===- Random.td - counter-based random numbers (N9) ----------------------------------------------------------===//

#ifndef TORCHC_OPS_RANDOM_TD
#define TORCHC_OPS_RANDOM_TD

include "OpSpec.td"

// `state` is the generator's (seed, ordinal) as two int64; one executed op takes one ordinal.
def Torchc_UniformOp : Torchc_Op<"uniform"> {
  let summary = "numbers of [0, 1) by Philox4x32-10";
  let family = RandomFamily;
  let arguments = (ins AnyRankedTensor:$state, DenseI64ArrayAttr:$shape, TypeAttr:$dtype);
  let shape = RandomShape;
  let flags = ["random"];
}

#endif
