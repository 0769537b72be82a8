// Five ops that between them use every field the emitters read.
include "OpSpec.td"

// Two operands, bodies per class, a VJP by dags.
def Torchc_MulOp : ElementwiseBinary<"mul"> {
  let summary = "x * y";
  let api = [Api<"mul(Tensor input, Operand other) -> Tensor", ["function", "method", "inplace", "out"]>];
  let scalar = [(Mul $x, $y)];
  let scalarBool = [(And $x, $y)];
  let complex = "mul";
  let vjp = [(op<"mul"> $g, $y), (op<"mul"> $g, $x)];
}

// One operand, a named statement in the body, the result in the VJP.
def Torchc_ExpOp : ElementwiseUnaryFloat<"exp"> {
  let summary = "a stand-in";
  let api = [Api<"exp(Tensor input) -> Tensor">];
  let scalarF32 = [(Add:$t $x, (Const "1")), (Fma $t, $t, (Bits 0x3f800000))];
  let scalarF64 = [(Arg 0)];
  let vjp = [(op<"mul"> $g, $result)];
  let onnx = ["Exp since 13"];
}

// Attributes, an implementation by hand, a VJP by name.
def Torchc_SumOp : Reduction<"sum"> {
  let summary = "sum over axes";
  let api = [Api<"sum(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor",
                 ["function", "method"], "sumDims">];
  let scalar = [(Add (Arg 0), (Arg 1))];
  let vjpFn = "sumVjp";
}

// A view, and a name with two overloads.
def Torchc_ReshapeOp : View<"reshape", (ins DenseI64ArrayAttr:$shape)> {
  let summary = "another shape";
  let shape = ReshapeShape;
  let api = [Api<"reshape(Tensor input, int[] shape) -> Tensor", ["function", "method"], "reshapeOrCopy">];
  let vjpFn = "reshapeVjp";
}

// A Fused op.
def Torchc_SoftmaxOp : Torchc_Op<"softmax"> {
  let summary = "softmax";
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim);
  let shape = LikeShape;
  let promote = CommonFloat;
  let decompose = "softmax";
  let api = [Api<"softmax(Tensor input, int dim) -> Tensor", ["function"]>];
  let vjpFn = "softmaxVjp";
  let vjpSaves = ["result"];
}

def : Composite<"the largest element", [
  Api<"max(Tensor input) -> Tensor", ["function", "method"], "maxAll">,
  Api<"max(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "maxDim">]>;
