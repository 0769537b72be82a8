//===- Elementwise.td - pointwise arithmetic, comparisons, selection ---------------------------------------===//

#ifndef TORCHC_OPS_ELEMENTWISE_TD
#define TORCHC_OPS_ELEMENTWISE_TD

include "OpSpec.td"
include "MathBodies.td"

defvar allKinds = ["function", "method", "inplace", "out"];

def Torchc_AddOp : ElementwiseBinary<"add"> {
  let summary = "x + y";
  let complex = "partwise";
  let api = [Api<"add(Tensor input, Operand other, *, Scalar alpha=1) -> Tensor", allKinds, "addScaled">];
  let scalar = [(Add $x, $y)];
  let scalarBool = [(Or $x, $y)];
  let vjp = [(op<"identity"> $g), (op<"identity"> $g)];
  let onnx = ["Add since 7"];
}

def Torchc_SubOp : ElementwiseBinary<"sub"> {
  let summary = "x - y";
  let complex = "partwise";
  let api = [Api<"sub(Tensor input, Operand other, *, Scalar alpha=1) -> Tensor", allKinds, "subScaled">,
             Api<"subtract(Tensor input, Operand other, *, Scalar alpha=1) -> Tensor", allKinds, "subScaled">,
             Api<"rsub(Tensor input, Operand other, *, Scalar alpha=1) -> Tensor", ["function"], "rsubScaled">];
  let scalar = [(Sub $x, $y)];
  let scalarBool = [(Xor $x, $y)]; // unreachable: the API refuses bool
  let vjp = [(op<"identity"> $g), (op<"neg"> $g)];
  let onnx = ["Sub since 7"];
}

def Torchc_MulOp : ElementwiseBinary<"mul"> {
  let summary = "x * y";
  let complex = "mul";
  let api = [Api<"mul(Tensor input, Operand other) -> Tensor", allKinds>,
             Api<"multiply(Tensor input, Operand other) -> Tensor", allKinds>];
  let scalar = [(Mul $x, $y)];
  let scalarBool = [(And $x, $y)];
  let vjp = [(op<"mul"> $g, $y), (op<"mul"> $g, $x)];
  let onnx = ["Mul since 7"];
  let flags = ["unsigned", "float8"];
}

def Torchc_DivOp : ElementwiseBinary<"div"> {
  let summary = "x / y, in floating point whatever the operands";
  let complex = "div";
  let api = [Api<"div(Tensor input, Operand other, *, str? rounding_mode=None) -> Tensor", allKinds, "divRounded">,
             Api<"divide(Tensor input, Operand other, *, str? rounding_mode=None) -> Tensor", allKinds, "divRounded">,
             Api<"true_divide(Tensor input, Operand other) -> Tensor", allKinds>];
  let promote = CommonFloat;
  let scalarF32 = [(Div $x, $y)];
  let scalarF64 = scalarF32;
  let vjp = [(op<"div"> $g, $y), (op<"mul"> (op<"neg"> $g), (op<"div"> (op<"div"> $x, $y), $y))];
  let onnx = ["Div since 7"];
}

def Torchc_MaximumOp : ElementwiseBinary<"maximum"> {
  let summary = "the larger of x and y; NaN propagates, -0 < +0";
  let api = [Api<"maximum(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "maximumOf">];
  let scalar = [(Max $x, $y)];
  let scalarBool = [(Or $x, $y)];
  let vjpFn = "maximumVjp";
  let vjpSaves = ["x", "y"];
  let onnx = ["Max since 13"];
  let flags = ["unsigned"];
}

def Torchc_MinimumOp : ElementwiseBinary<"minimum"> {
  let summary = "the smaller of x and y; NaN propagates, -0 < +0";
  let api = [Api<"minimum(Tensor input, Tensor other) -> Tensor", ["function", "method", "out"], "minimumOf">];
  let scalar = [(Min $x, $y)];
  let scalarBool = [(And $x, $y)];
  let vjpFn = "minimumVjp";
  let vjpSaves = ["x", "y"];
  let onnx = ["Min since 13"];
  let flags = ["unsigned"];
}

def Torchc_NegOp : ElementwiseUnary<"neg"> {
  let summary = "-x";
  let complex = "partwise";
  let api = [Api<"neg(Tensor input) -> Tensor", allKinds, "negChecked">,
             Api<"negative(Tensor input) -> Tensor", allKinds, "negChecked">];
  let scalar = [(Neg $x)];
  let scalarBool = [(Arg 0)]; // unreachable: the API refuses bool
  let vjp = [(op<"neg"> $g)];
  let onnx = ["Neg since 13"];
}

def Torchc_AbsOp : ElementwiseUnary<"abs"> {
  let summary = "|x|; the smallest integer stays itself";
  let complex = "abs";
  let api = [Api<"abs(Tensor input) -> Tensor", allKinds>, Api<"absolute(Tensor input) -> Tensor", allKinds>];
  let scalarF32 = [(Abs $x)]; // no body for bool: refused
  let scalarF64 = [(Abs $x)];
  let scalarInt = [(Abs $x)];
  let promote = MagnitudeType;
  let vjpFn = "absVjp";
  let vjpSaves = ["x"];
  let flags = ["conjugates", "float8"];
  let onnx = ["Abs since 13"];
}

def Torchc_SignOp : ElementwiseUnary<"sign"> {
  let summary = "-1, 0 or 1 by the sign of x; sign(NaN) is 0";
  let api = [Api<"sign(Tensor input) -> Tensor", allKinds>];
  let scalar = [(Sub (Select (Lt (Const "0"), $x), (Const "1"), (Const "0")),
                     (Select (Lt $x, (Const "0")), (Const "1"), (Const "0")))];
  let scalarBool = [(Arg 0)];
  let vjpFn = "zeroVjp";
  let onnx = ["Sign since 13"];
}

def Torchc_ReluOp : ElementwiseUnary<"relu"> {
  let summary = "max(x, 0); NaN propagates";
  let api = [Api<"relu(Tensor input) -> Tensor", ["function", "method", "inplace"]>];
  let scalarF32 = [(Max $x, (Const "0"))]; // no body for bool: refused
  let scalarF64 = [(Max $x, (Const "0"))];
  let scalarInt = [(Max $x, (Const "0"))];
  let vjp = [(op<"where"> (op<"le"> $result, "0.0"), "0.0", $g)]; // NaN passes, as in PyTorch
  let onnx = ["Relu since 13"];
}

def Torchc_ExpOp : ElementwiseUnaryFloat<"exp"> {
  let summary = "e to the power x";
  let complex = "exp";
  let api = [Api<"exp(Tensor input) -> Tensor", allKinds>];
  let scalarF32 = expF32;
  let scalarF64 = expF64;
  let vjp = [(op<"mul"> $g, $result)];
  let onnx = ["Exp since 13"];
}

def Torchc_LogOp : ElementwiseUnaryFloat<"log"> {
  let summary = "natural logarithm";
  let complex = "log";
  let api = [Api<"log(Tensor input) -> Tensor", allKinds>];
  let scalarF32 = logF32;
  let scalarF64 = logF64;
  let vjp = [(op<"div"> $g, $x)];
  let onnx = ["Log since 13"];
}

def Torchc_TanhOp : ElementwiseUnaryFloat<"tanh"> {
  let summary = "hyperbolic tangent";
  let complex = "tanh";
  let api = [Api<"tanh(Tensor input) -> Tensor", allKinds>];
  let scalarF32 = tanhF32;
  let scalarF64 = tanhF64;
  let vjp = [(op<"mul"> $g, (op<"sub"> "1.0", (op<"mul"> $result, $result)))];
  let onnx = ["Tanh since 13"];
}

def Torchc_SqrtOp : ElementwiseUnaryFloat<"sqrt"> {
  let summary = "square root, correctly rounded";
  let complex = "sqrt";
  let api = [Api<"sqrt(Tensor input) -> Tensor", allKinds>];
  let scalarF32 = [(Sqrt $x)];
  let scalarF64 = scalarF32;
  let vjp = [(op<"div"> $g, (op<"mul"> $result, "2.0"))];
  let onnx = ["Sqrt since 13"];
}

foreach p = [["Eq", "eq", "x == y"], ["Ne", "ne", "x != y; true for NaN"], ["Lt", "lt", "x < y"],
             ["Le", "le", "x <= y"], ["Gt", "gt", "x > y"], ["Ge", "ge", "x >= y"]] in
  def "Torchc_" # p[0] # "Op" : Comparison<p[1]> {
    let summary = p[2];
    let complex = !if(!or(!eq(p[1], "eq"), !eq(p[1], "ne")), p[1], ""); // complex numbers have no order
    let scalar = [(!cast<BodyOp>(p[0]) $x, $y)];
    let flags = !if(!empty(complex), []<string>, ["unsigned", "float8"]);
  }

def Torchc_LogicalNotOp : ElementwiseUnary<"logical_not"> {
  let summary = "true where x is zero";
  let complex = "truth";
  let api = [Api<"logical_not(Tensor input) -> Tensor", allKinds>];
  let promote = TruthType;
  let scalarBool = [(Not $x)];
  let onnx = ["Not since 1"];
}

def Torchc_LogicalAndOp : ElementwiseBinary<"logical_and"> {
  let summary = "true where both are non-zero";
  let complex = "truth";
  let api = [Api<"logical_and(Tensor input, Tensor other) -> Tensor", allKinds>];
  let promote = TruthType;
  let scalarBool = [(And $x, $y)];
  let onnx = ["And since 7"];
}

def Torchc_LogicalOrOp : ElementwiseBinary<"logical_or"> {
  let summary = "true where one is non-zero";
  let complex = "truth";
  let api = [Api<"logical_or(Tensor input, Tensor other) -> Tensor", allKinds>];
  let promote = TruthType;
  let scalarBool = [(Or $x, $y)];
  let onnx = ["Or since 7"];
}

def Torchc_WhereOp : Torchc_Op<"where"> {
  let summary = "x where cond holds, else y";
  let complex = "where";
  let arguments = (ins AnyRankedTensor:$cond, AnyRankedTensor:$x, AnyRankedTensor:$y);
  let promote = BranchType;
  let api = [Api<"where(Tensor condition, Operand input, Operand other) -> Tensor", ["function", "outCopy"], "whereBranches">];
  let scalar = [(Select $cond, $x, $y)];
  let vjp = [(none), (op<"where"> $cond, $g, "0.0"), (op<"where"> $cond, "0.0", $g)];
  let onnx = ["Where since 9"];
  let flags = ["unsigned", "float8"];
}

def Torchc_CastOp : Torchc_Op<"cast"> {
  let summary = "x in another element type (N8)";
  let family = CastFamily;
  let arguments = (ins AnyRankedTensor:$x, TypeAttr:$dtype);
  let shape = CastShape;
  let vjp = [(op<"identity"> $g)];
}

#endif
