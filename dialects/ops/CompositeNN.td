//===- CompositeNN.td - torch.nn.functional -----------------------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITENN_TD
#define TORCHC_OPS_COMPOSITENN_TD

include "OpSpec.td"

def : Composite<"input times weight transposed (N3), then bias", [
  Api<"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", functionOnly, "linearLayer">]>;
def : Composite<"ones at the index in a new last dimension of int64; num_classes -1 takes the largest index + 1", [
  Api<"one_hot(Tensor input, int num_classes=-1) -> Tensor", functionOnly, "oneHot">]>;
def : Composite<"minus the log-probability of the target class; reduction is none, mean or sum", [
  Api<"nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean') -> Tensor", functionOnly, "nllLoss">,
  Api<"cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean', float label_smoothing=0.0) -> Tensor", functionOnly, "crossEntropy">]>;
def : Composite<"squared difference", [
  Api<"mse_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor", functionOnly, "mseLoss">]>;

#endif
