//===- Indexing.td - reading and writing by integer tensors; accumulation in ascending source order (N4) ----===//

#ifndef TORCHC_OPS_INDEXING_TD
#define TORCHC_OPS_INDEXING_TD

include "OpSpec.td"

class Indexing<string mnemonic, dag args> : Torchc_Op<mnemonic> {
  let family = IndexingFamily;
  let arguments = args;
  let flags = ["mayRaise"];
}

// `index` is 1-D (or 0-D) int32 or int64; negative values are refused as in PyTorch.
def Torchc_IndexSelectOp : Indexing<"index_select", (ins AnyRankedTensor:$x, AnyRankedTensor:$index, I64Attr:$dim)> {
  let summary = "the slices of one dimension named by index";
  let shape = IndexSelectShape;
  let api = [Api<"index_select(Tensor input, int dim, Tensor index) -> Tensor", ["function", "method", "out"], "indexSelectDim">];
  let vjpFn = "indexSelectVjp";
  let vjpSaves = ["index"];
  let onnx = ["Gather since 13"];
}

def Torchc_IndexAddOp
    : Indexing<"index_add", (ins AnyRankedTensor:$x, AnyRankedTensor:$index, AnyRankedTensor:$source, I64Attr:$dim)> {
  let summary = "x with source's slices added at index";
  let complex = "indexAdd";
  let shape = IndexUpdateShape;
  let api = [Api<"index_add(Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
                 ["function", "method", "inplace", "out"], "indexAddScaled">];
  let flags = ["mayRaise", "accumulates"];
  let vjpFn = "indexAddVjp";
  let vjpSaves = ["index"];
}

def Torchc_GatherOp : Indexing<"gather", (ins AnyRankedTensor:$x, AnyRankedTensor:$index, I64Attr:$dim)> {
  let summary = "one element per index along a dimension";
  let shape = GatherShape;
  let api = [Api<"gather(Tensor input, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", ["function", "method", "out"], "gatherDim">];
  let vjpFn = "gatherVjp";
  let vjpSaves = ["index"];
  let onnx = ["GatherElements since 13"];
}

// Duplicate indices: the last write in row-major order of index wins.
def Torchc_ScatterOp
    : Indexing<"scatter", (ins AnyRankedTensor:$x, AnyRankedTensor:$index, AnyRankedTensor:$source, I64Attr:$dim)> {
  let summary = "x with source's elements written at index";
  let shape = ScatterShape;
  let api = [Api<"scatter(Tensor input, int dim, Tensor index, Operand src) -> Tensor",
                 ["function", "method", "inplace", "out"], "scatterOperand">];
  let vjpFn = "scatterVjp";
  let vjpSaves = ["index"];
  let onnx = ["ScatterElements since 18"];
}

def Torchc_ScatterAddOp
    : Indexing<"scatter_add", (ins AnyRankedTensor:$x, AnyRankedTensor:$index, AnyRankedTensor:$source, I64Attr:$dim)> {
  let summary = "x with source's elements added at index, in row-major order of index";
  let complex = "scatterAdd";
  let shape = ScatterShape;
  let api = [Api<"scatter_add(Tensor input, int dim, Tensor index, Tensor src) -> Tensor",
                 ["function", "method", "inplace", "out"], "scatterAddDim">];
  let flags = ["mayRaise", "accumulates"];
  let vjpFn = "scatterAddVjp";
  let vjpSaves = ["index"];
}

def Torchc_CatOp : Torchc_Op<"cat"> {
  let summary = "tensors joined along one dimension";
  let family = IndexingFamily;
  let arguments = (ins Variadic<AnyRankedTensor>:$tensors, I64Attr:$dim);
  let shape = CatShape;
  let promote = CommonType;
  let api = [Api<"cat(Tensor[] tensors, int dim=0) -> Tensor", ["function", "out", "castWidest"], "catPromoted">];
  let vjpFn = "catVjp";
  let onnx = ["Concat since 13"];
  let flags = ["variadic"];
}

#endif
