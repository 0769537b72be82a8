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

// `state` has two more int64: low and range, 0 meaning 2^64. Words are 32 bits; range is at most 2^32.
def Torchc_RandintOp : Torchc_Op<"randint"> {
  let summary = "low + (word * range >> 32), int64";
  let family = RandomFamily;
  let arguments = (ins AnyRankedTensor:$state, DenseI64ArrayAttr:$shape, TypeAttr:$dtype);
  let shape = RandomIntShape;
  let flags = ["random"];
}

def Torchc_RandintWideOp : Torchc_Op<"randint_wide"> {
  let summary = "low + the high half of 64 random bits * range, int64";
  let family = RandomFamily;
  let arguments = (ins AnyRankedTensor:$state, DenseI64ArrayAttr:$shape, TypeAttr:$dtype);
  let shape = RandomIntShape;
  let flags = ["random"];
}

#endif
