//===- CompositeIndexing.td - subscripts as functions ---------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITEINDEXING_TD
#define TORCHC_OPS_COMPOSITEINDEXING_TD

include "OpSpec.td"

def : Composite<"values written, or with accumulate added, where index tensors or masks point", [
  Api<"index_put(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor", ["function", "method", "inplace"], "indexPut">]>;

def : Composite<"windows of `size` indices of a dimension, `step` apart, as a new last dimension; a view", [
  Api<"unfold(Tensor input, int dimension, int size, int step) -> Tensor", ["method"], "slidingView">]>;

#endif
