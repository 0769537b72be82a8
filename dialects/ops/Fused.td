//===- Fused.td - ops with a default meaning in primitives (rules/Decompose.h) -----------------------------===//

#ifndef TORCHC_OPS_FUSED_TD
#define TORCHC_OPS_FUSED_TD

include "OpSpec.td"

class FusedOverDim<string mnemonic> : Torchc_Op<mnemonic> {
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim);
  let shape = LikeShape;
  let promote = CommonFloat;
  let flags = ["byRows"];
}

def Torchc_SoftmaxOp : FusedOverDim<"softmax"> {
  let summary = "exp(x - max) normalised to sum 1 along dim";
  let decompose = "softmax";
  let api = [Api<"softmax(Tensor input, int dim, *, DType? dtype=None) -> Tensor", ["function", "method", "outCopy"], "softmaxDim">];
  let vjpFn = "softmaxVjp";
  let vjpSaves = ["result"];
  let onnx = ["Softmax since 13"];
}

def Torchc_LogSoftmaxOp : FusedOverDim<"log_softmax"> {
  let summary = "(x - max) - log(sum(exp(x - max))) along dim";
  let decompose = "logSoftmax";
  let api = [Api<"log_softmax(Tensor input, int dim, *, DType? dtype=None) -> Tensor", ["function", "method", "outCopy"], "logSoftmaxDim">];
  let vjpFn = "logSoftmaxVjp";
  let vjpSaves = ["result"];
  let onnx = ["LogSoftmax since 13"];
}

// m = max, or 0 if that is infinite; log(sum(exp(x - m))) + m (N4).
def Torchc_LogsumexpOp : Torchc_Op<"logsumexp"> {
  let summary = "log of the sum of exp(x) over axes, without overflow";
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$dims, BoolAttr:$keepdim);
  let shape = ReduceShape;
  let decompose = "logsumexp";
  let flags = ["byRows"];
  let api = [Api<"logsumexp(Tensor input, int[] dim, bool keepdim=False) -> Tensor", ["function", "method", "outCopy"], "logSumExpDims">];
  let vjpFn = "logsumexpVjp";
  let vjpSaves = ["x", "result"];
  let onnx = ["ReduceLogSumExp since 18"];
}

// Blocks of 64 keys, an online softmax (N6; rules/Attention.h). Operands have equal leading sizes.
class AttentionBase<string mnemonic, dag more, dag attrs> : Torchc_Op<mnemonic> {
  let family = FusedFamily;
  let arguments = !con((ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value), more,
                       (ins F64Attr:$scale, BoolAttr:$causal), attrs);
  let shape = AttentionShape;
}
def Torchc_AttentionOp : AttentionBase<"attention", (ins), (ins)> {
  let summary = "softmax(query . key^T * scale) . value";
  let decompose = "attention";
  let vjpFn = "attentionVjp";
  let vjpSaves = ["query", "key", "value"];
}
// `parts`: 1 a mask (bool keeps, float is added), 2 factors of the probabilities (dropout), 3 both in one dimension.
def Torchc_AttentionMaskedOp : AttentionBase<"attention_masked", (ins AnyRankedTensor:$extra), (ins I64Attr:$parts)> {
  let summary = "attention with a mask, with factors on the probabilities, or both";
  let decompose = "attentionMasked";
  let vjpFn = "attentionMaskedVjp";
  let vjpSaves = ["query", "key", "value", "extra"];
}

// Layer and batch normalisation (N6; rules/Norm.h); the parameters run along `axes`.
class NormOp<string mnemonic, dag statistics, dag attrs> : Torchc_Op<mnemonic> {
  let family = FusedFamily;
  let arguments = !con((ins AnyRankedTensor:$x, AnyRankedTensor:$w, AnyRankedTensor:$b), statistics,
                       (ins DenseI64ArrayAttr:$axes, F64Attr:$eps), attrs);
  let shape = NormShape;
  let promote = CommonFloat;
}
def Torchc_LayerNormOp : NormOp<"layer_norm", (ins), (ins)> {
  let summary = "(x - mean) / sqrt(var + eps) over the axes of the parameters, times w plus b in one rounding";
  let decompose = "layerNorm";
  let flags = ["byRows"];
  let vjpFn = "layerNormVjp";
  let vjpSaves = ["x", "w"];
}
// `training`: mean and var are those of x over all other axes, and the derivative follows them.
def Torchc_BatchNormOp : NormOp<"batch_norm", (ins AnyRankedTensor:$mean, AnyRankedTensor:$var), (ins BoolAttr:$training)> {
  let summary = "(x - mean) / sqrt(var + eps) with a mean and variance for each channel, times w plus b in one rounding";
  let decompose = "batchNorm";
  let vjpFn = "batchNormVjp";
  let vjpSaves = ["x", "w", "mean", "var"];
}

// u: uniform random numbers (N9).
def Torchc_DropoutOp : Torchc_Op<"dropout"> {
  let summary = "x / (1 - p) where u < 1 - p, else 0";
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$u, F64Attr:$p);
  let shape = BroadcastShape;
  let decompose = "dropout";
  let vjpFn = "dropoutVjp";
  let vjpSaves = ["u"];
}

def Torchc_BceOp : Torchc_Op<"bce"> {
  let summary = "-(t * log(x) + (1 - t) * log(1 - x)), logarithms at least -100";
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$t);
  let shape = BroadcastShape;
  let promote = CommonFloat;
  let decompose = "bce";
  let vjpFn = "bceVjp";
  let vjpSaves = ["x", "t"];
}

#endif
