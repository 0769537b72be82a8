//===- Contraction.td - products that sum over k, in the order of rule N3 ----------------------------------===//

#ifndef TORCHC_OPS_CONTRACTION_TD
#define TORCHC_OPS_CONTRACTION_TD

include "OpSpec.td"

// [..., M, K] x [..., K, N] -> [..., M, N] with equal batch dimensions and types; broadcasting is the API's.
def Torchc_MatmulOp : Torchc_Op<"matmul"> {
  let summary = "matrix product of the last two dimensions";
  let family = ContractionFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let shape = MatmulShape;
  let api = [Api<"matmul(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "matmulBroadcast">,
             Api<"mm(Tensor input, Tensor mat2) -> Tensor", ["function", "method", "out"], "mmChecked">,
             Api<"bmm(Tensor input, Tensor mat2) -> Tensor", ["function", "method", "out"], "bmmChecked">];
  let flags = ["accumulates"];
  let vjpFn = "matmulVjp";
  let vjpSaves = ["x", "y"];
  let onnx = ["MatMul since 13"];
}

// Order of N4 with a fused multiply-add in each chain.
def Torchc_DotOp : Torchc_Op<"dot"> {
  let summary = "inner product of two vectors of equal length";
  let family = ContractionFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let shape = DotShape;
  let api = [Api<"dot(Tensor input, Tensor tensor) -> Tensor", ["function", "method", "out"]>];
  let flags = ["accumulates"];
  let vjp = [(op<"mul"> $g, $y), (op<"mul"> $g, $x)];
}

#endif
