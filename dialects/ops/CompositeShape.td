//===- CompositeShape.td - views, joins and other moves of elements -----------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITESHAPE_TD
#define TORCHC_OPS_COMPOSITESHAPE_TD

include "OpSpec.td"

def : Composite<"dimensions of size 1 removed", [
  Api<"squeeze(Tensor input) -> Tensor", ["function", "method"], "squeezeAll">,
  Api<"squeeze(Tensor input, int dim) -> Tensor", ["function", "method"], "squeezeDim">]>;
def : Composite<"a dimension of size 1 inserted", [
  Api<"unsqueeze(Tensor input, int dim) -> Tensor", ["function", "method"], "unsqueezeDim">]>;
def : Composite<"dimensions start_dim to end_dim joined", [
  Api<"flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor", ["function", "method"], "flattenDims">,
  Api<"ravel(Tensor input) -> Tensor", ["function", "method"], "ravelAll">]>;
def : Composite<"dimensions in another order", [
  Api<"permute(Tensor input, int[] dims) -> Tensor", ["function", "method"], "permuteDims">]>;
def : Composite<"another tensor's shape", [
  Api<"expand_as(Tensor input, Tensor other) -> Tensor", methodOnly, "expandAs">,
  Api<"view_as(Tensor input, Tensor other) -> Tensor", methodOnly, "viewAs">,
  Api<"reshape_as(Tensor input, Tensor other) -> Tensor", methodOnly, "reshapeAs">]>;
def : Composite<"`length` indices of a dimension from `start` on", [
  Api<"narrow(Tensor input, int dim, int start, int length) -> Tensor", ["function", "method"], "narrowDim">]>;
def : Composite<"one index of a dimension", [
  Api<"select(Tensor input, int dim, int index) -> Tensor", ["function", "method"], "selectIndex">,
  Api<"unbind(Tensor input, int dim=0) -> Tensor[]", ["function", "method"], "unbindDim">]>;
def : Composite<"pieces along a dimension", [
  Api<"split(Tensor input, int split_size, int dim=0) -> Tensor[]", ["function", "method"], "splitEvery">,
  Api<"split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]", ["function", "method"], "splitSizes">,
  Api<"chunk(Tensor input, int chunks, int dim=0) -> Tensor[]", ["function", "method"], "chunkDim">]>;
def : Composite<"tensors joined along a new dimension", [
  Api<"stack(Tensor[] tensors, int dim=0) -> Tensor", functionOnly, "stackNew">]>;

#endif
