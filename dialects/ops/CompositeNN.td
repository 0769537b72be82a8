//===- CompositeNN.td - torch.nn.functional -----------------------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITENN_TD
#define TORCHC_OPS_COMPOSITENN_TD

include "OpSpec.td"

def : Composite<"input times weight transposed (N3), then bias", [
  Api<"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", ["function", "castLow"], "linearLayer">]>;
def : Composite<"ones at the index in a new last dimension of int64; num_classes -1 takes the largest index + 1", [
  Api<"one_hot(Tensor input, int num_classes=-1) -> Tensor", functionOnly, "oneHot">]>;
def : Composite<"minus the log-probability of the target class; reduction is none, mean or sum", [
  Api<"nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean') -> Tensor", ["function", "castSingle"], "nllLoss">,
  Api<"cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean', float label_smoothing=0.0) -> Tensor", ["function", "castSingle"], "crossEntropy">]>;
def : Composite<"squared difference", [
  Api<"mse_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor", ["function", "castSingle"], "mseLoss">]>;
def : Composite<"cross entropy of probabilities; of logits", [
  Api<"binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor", ["function", "castSingle"], "bceLoss">,
  Api<"binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, str reduction='mean') -> Tensor", ["function", "castSingle"], "bceLogitsLoss">]>;
def : Composite<"(x - mean) / sqrt(var + eps), then times weight plus bias in one rounding (N6)", [
  Api<"layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor", functionOnly, "layerNorm">,
  Api<"group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor", functionOnly, "groupNorm">,
  Api<"batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled=True) -> Tensor", functionOnly, "batchNorm">]>;
def : Composite<"x / sqrt(mean of squares + eps), then times weight", [
  Api<"rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", functionOnly, "rmsNorm">]>;
def : Composite<"while training, 0 with probability p, else x / (1 - p) (N9)", [
  Api<"dropout(Tensor input, float p=0.5, bool train=True) -> Tensor", ["function", "inplace"], "dropoutOf">]>;
def : Composite<"softmax(query . key^T * scale + mask) . value over the last two dimensions (N6)", [
  Api<"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor", ["function", "castLow"], "dotProductAttention">]>;

#endif
