//===- Contraction.td - products that sum over k, in the order of rule N3 ----------------------------------===//

#ifndef TORCHC_OPS_CONTRACTION_TD
#define TORCHC_OPS_CONTRACTION_TD

include "OpSpec.td"

// [..., M, K] x [..., K, N] -> [..., M, N] with equal batch dimensions and types; broadcasting is the API's.
def Torchc_MatmulOp : Torchc_Op<"matmul"> {
  let summary = "matrix product of the last two dimensions";
  let complex = "matmul";
  let family = ContractionFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let shape = MatmulShape;
  let api = [Api<"matmul(Tensor input, Tensor other) -> Tensor", ["function", "method", "out", "castLow"], "matmulBroadcast">,
             Api<"mm(Tensor input, Tensor mat2) -> Tensor", ["function", "method", "out", "castLow"], "mmChecked">,
             Api<"bmm(Tensor input, Tensor mat2) -> Tensor", ["function", "method", "out", "castLow"], "bmmChecked">];
  let flags = ["accumulates"];
  let vjpFn = "matmulVjp";
  let gradName = "mm";
  let vjpSaves = ["x", "y"];
  let onnx = ["MatMul since 13"];
}

// The product whose chain of N3 starts from the element of `start` (rules/Attention.h).
def Torchc_MatmulFromOp : Torchc_Op<"matmul_from"> {
  let summary = "matrix product of the last two dimensions continued from a third operand";
  let family = ContractionFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, AnyRankedTensor:$start);
  let shape = MatmulShape;
  let flags = ["accumulates"];
}

// Order of N4 with a fused multiply-add in each chain.
def Torchc_DotOp : Torchc_Op<"dot"> {
  let summary = "inner product of two vectors of equal length";
  let complex = "dot";
  let family = ContractionFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let shape = DotShape;
  let api = [Api<"dot(Tensor input, Tensor tensor) -> Tensor", ["function", "method", "out"]>];
  let flags = ["accumulates"];
  let vjp = [(op<"mul"> $g, $y), (op<"mul"> $g, $x)];
}

//===-- convolution (N5) ---------------------------------------------------------------------------------------===//
// One definition for 1, 2 and 3 spatial dimensions; every list has one entry for each. The three ops are closed under
// differentiation: each derivative is one of the other two.

class ConvOp<string mnemonic, dag operands, dag attrs> : Torchc_Op<mnemonic> {
  let family = ContractionFamily;
  let arguments = !con(operands, attrs, (ins DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
                                         DenseI64ArrayAttr:$dilation, I64Attr:$groups));
  let flags = ["accumulates"];
}

// x[N, C, D...] * w[O, C/groups, K...] -> [N, O, L...]
def Torchc_ConvOp : ConvOp<"conv", (ins AnyRankedTensor:$x, AnyRankedTensor:$w), (ins)> {
  let summary = "convolution; padding is +0 and takes part";
  let complex = "conv";
  let shape = ConvShape;
  let api = [Api<"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), int[] padding=(0,), int[] dilation=(1,), int groups=1) -> Tensor", ["function", "castLow"], "conv1dPadded">,
             Api<"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), str padding='valid', int[] dilation=(1,), int groups=1) -> Tensor", ["function", "castLow"], "conv1dNamed">,
             Api<"conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), int[] padding=(0,), int[] dilation=(1,), int groups=1) -> Tensor", ["function", "castLow"], "conv2dPadded">,
             Api<"conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), str padding='valid', int[] dilation=(1,), int groups=1) -> Tensor", ["function", "castLow"], "conv2dNamed">,
             Api<"conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), int[] padding=(0,), int[] dilation=(1,), int groups=1) -> Tensor", ["function", "castLow"], "conv3dPadded">,
             Api<"conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), str padding='valid', int[] dilation=(1,), int groups=1) -> Tensor", ["function", "castLow"], "conv3dNamed">];
  let vjpFn = "convVjp";
  let vjpSaves = ["x", "w"];
}

// y[N, O, L...], w[O, C/groups, K...] -> [N, C, size...]: each y[o, l] * w[o, c, k] goes to the input element that conv
// would multiply by w[o, c, k] for l; taps without an output take no part. The transposed convolution.
def Torchc_ConvInputOp : ConvOp<"conv_input", (ins AnyRankedTensor:$y, AnyRankedTensor:$w), (ins DenseI64ArrayAttr:$size)> {
  let summary = "convolution's gradient for its input, the transposed convolution";
  let complex = "convInput";
  let shape = ConvInputShape;
  let api = [Api<"conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), int[] padding=(0,), int[] output_padding=(0,), int groups=1, int[] dilation=(1,)) -> Tensor", ["function", "castLow"], "convTranspose1d">,
             Api<"conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), int[] padding=(0,), int[] output_padding=(0,), int groups=1, int[] dilation=(1,)) -> Tensor", ["function", "castLow"], "convTranspose2d">,
             Api<"conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=(1,), int[] padding=(0,), int[] output_padding=(0,), int groups=1, int[] dilation=(1,)) -> Tensor", ["function", "castLow"], "convTranspose3d">];
  let vjpFn = "convInputVjp";
  let vjpSaves = ["y", "w"];
}

// x[N, C, D...], y[N, O, L...] -> [O, C/groups, size...]: sums over (n, l) row-major.
def Torchc_ConvWeightOp : ConvOp<"conv_weight", (ins AnyRankedTensor:$x, AnyRankedTensor:$y), (ins DenseI64ArrayAttr:$size)> {
  let summary = "convolution's gradient for its weight";
  let complex = "convWeight";
  let shape = ConvWeightShape;
  let vjpFn = "convWeightVjp";
  let vjpSaves = ["x", "y"];
}

#endif
