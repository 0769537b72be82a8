//===- Fused.td - ops with a default meaning in primitives (rules/Decompose.h) -----------------------------===//

#ifndef TORCHC_OPS_FUSED_TD
#define TORCHC_OPS_FUSED_TD

include "OpSpec.td"

class FusedOverDim<string mnemonic> : Torchc_Op<mnemonic> {
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim);
  let shape = LikeShape;
  let promote = CommonFloat;
}

def Torchc_SoftmaxOp : FusedOverDim<"softmax"> {
  let summary = "exp(x - max) normalised to sum 1 along dim";
  let decompose = "softmax";
  let api = [Api<"softmax(Tensor input, int dim, *, DType? dtype=None) -> Tensor", ["function", "method"], "softmaxDim">];
  let vjpFn = "softmaxVjp";
  let vjpSaves = ["result"];
  let onnx = ["Softmax since 13"];
}

def Torchc_LogSoftmaxOp : FusedOverDim<"log_softmax"> {
  let summary = "(x - max) - log(sum(exp(x - max))) along dim";
  let decompose = "logSoftmax";
  let api = [Api<"log_softmax(Tensor input, int dim, *, DType? dtype=None) -> Tensor", ["function", "method"], "logSoftmaxDim">];
  let vjpFn = "logSoftmaxVjp";
  let vjpSaves = ["result"];
  let onnx = ["LogSoftmax since 13"];
}

#endif
