//===- ElementwiseMath.td - functions of one or two real numbers ------------------------------------------------===//

#ifndef TORCHC_OPS_ELEMENTWISEMATH_TD
#define TORCHC_OPS_ELEMENTWISEMATH_TD

include "OpSpec.td"
include "MathBodies.td"

// A function with a body for each float type; integers are computed in the default float type.
class MathFunction<string mnemonic, list<dag> f32, list<dag> f64, dag derivative, list<string> aliases = []>
    : ElementwiseUnaryFloat<mnemonic> {
  let api = !listconcat([Api<mnemonic # "(Tensor input) -> Tensor", allKinds>],
                        !foreach(a, aliases, Api<a # "(Tensor input) -> Tensor", allKinds>));
  let scalarF32 = f32;
  let scalarF64 = f64;
  let vjp = [derivative];
}

def Torchc_SigmoidOp : MathFunction<"sigmoid", sigmoidF32, sigmoidF64,
    (op<"mul"> (op<"mul"> $g, (op<"sub"> "1.0", $result)), $result)> {
  let summary = "1 / (1 + exp(-x))";
  let complex = "sigmoid";
  let onnx = ["Sigmoid since 13"];
}
def Torchc_ErfOp : MathFunction<"erf", erfF32, erfF64,
    (op<"mul"> (op<"mul"> "1.1283791670955126", (op<"exp"> (op<"neg"> (op<"mul"> $x, $x)))), $g)> {
  let summary = "error function";
  let onnx = ["Erf since 13"];
}
def Torchc_ErfcOp : MathFunction<"erfc", erfcF32, erfcF64,
    (op<"mul"> (op<"mul"> "-1.1283791670955126", (op<"exp"> (op<"neg"> (op<"mul"> $x, $x)))), $g)> {
  let summary = "1 - erf(x), accurate where that is small";
}
def Torchc_ErfinvOp : MathFunction<"erfinv", erfinvF32, erfinvF64,
    (op<"mul"> (op<"mul"> "0.88622692545275801", (op<"exp"> (op<"mul"> $result, $result))), $g)> {
  let summary = "inverse of erf; NaN outside [-1, 1]";
}
def Torchc_LgammaOp : MathFunction<"lgamma", lgammaF32, lgammaF64, (op<"mul"> $g, (op<"digamma"> $x))> {
  let summary = "logarithm of |gamma(x)|";
}
def Torchc_DigammaOp : MathFunction<"digamma", digammaF32, digammaF64, (op<"mul"> $g, (op<"trigamma"> $x))> {
  let summary = "derivative of lgamma; NaN at negative integers, -inf at +0";
}
// Its own derivative has no op: the third derivative of lgamma is refused by the tape.
def Torchc_TrigammaOp : ElementwiseUnaryFloat<"trigamma"> {
  let summary = "derivative of digamma; +inf at the poles";
  let scalarF32 = trigammaF32;
  let scalarF64 = trigammaF64;
}

def Torchc_Expm1Op : MathFunction<"expm1", expm1F32, expm1F64, (op<"mul"> $g, (op<"add"> $result, "1.0"))> {
  let summary = "exp(x) - 1, accurate near 0";
  let complex = "expm1";
}
def Torchc_Exp2Op : MathFunction<"exp2", exp2F32, exp2F64,
    (op<"mul"> (op<"mul"> $g, $result), "0.69314718055994531")> {
  let summary = "2 to the power x";
  let complex = "exp2";
}
def Torchc_Log1pOp : MathFunction<"log1p", log1pF32, log1pF64, (op<"div"> $g, (op<"add"> $x, "1.0"))> {
  let summary = "log(1 + x), accurate near 0";
  let complex = "log1p";
}
def Torchc_Log2Op : MathFunction<"log2", log2F32, log2F64,
    (op<"div"> $g, (op<"mul"> $x, "0.69314718055994531"))> {
  let summary = "logarithm to base 2";
  let complex = "log2";
}
def Torchc_Log10Op : MathFunction<"log10", log10F32, log10F64,
    (op<"div"> $g, (op<"mul"> $x, "2.3025850929940457"))> {
  let summary = "logarithm to base 10";
  let complex = "log10";
}

def Torchc_SinOp : MathFunction<"sin", sinF32, sinF64, (op<"mul"> $g, (op<"cos"> $x))> {
  let summary = "sine, radians; any finite x";
  let complex = "sin";
  let onnx = ["Sin since 7"];
}
def Torchc_CosOp : MathFunction<"cos", cosF32, cosF64, (op<"mul"> $g, (op<"neg"> (op<"sin"> $x)))> {
  let summary = "cosine, radians; any finite x";
  let complex = "cos";
  let onnx = ["Cos since 7"];
}
def Torchc_TanOp : MathFunction<"tan", tanF32, tanF64,
    (op<"mul"> $g, (op<"add"> (op<"mul"> $result, $result), "1.0"))> {
  let summary = "tangent, radians; any finite x";
  let complex = "tan";
  let onnx = ["Tan since 7"];
}
def Torchc_AsinOp : MathFunction<"asin", asinF32, asinF64,
    (op<"mul"> $g, (op<"rsqrt"> (op<"sub"> "1.0", (op<"mul"> $x, $x)))), ["arcsin"]> {
  let summary = "arc sine; NaN outside [-1, 1]";
  let complex = "asin";
  let onnx = ["Asin since 7"];
}
def Torchc_AcosOp : MathFunction<"acos", acosF32, acosF64,
    (op<"mul"> $g, (op<"neg"> (op<"rsqrt"> (op<"sub"> "1.0", (op<"mul"> $x, $x))))), ["arccos"]> {
  let summary = "arc cosine; NaN outside [-1, 1]";
  let complex = "acos";
  let onnx = ["Acos since 7"];
}
def Torchc_AtanOp : MathFunction<"atan", atanF32, atanF64,
    (op<"div"> $g, (op<"add"> (op<"mul"> $x, $x), "1.0")), ["arctan"]> {
  let summary = "arc tangent";
  let complex = "atan";
  let onnx = ["Atan since 7"];
}
def Torchc_SinhOp : MathFunction<"sinh", sinhF32, sinhF64, (op<"mul"> $g, (op<"cosh"> $x))> {
  let summary = "hyperbolic sine";
  let complex = "sinh";
  let onnx = ["Sinh since 9"];
}
def Torchc_CoshOp : MathFunction<"cosh", coshF32, coshF64, (op<"mul"> $g, (op<"sinh"> $x))> {
  let summary = "hyperbolic cosine";
  let complex = "cosh";
  let onnx = ["Cosh since 9"];
}
def Torchc_AsinhOp : MathFunction<"asinh", asinhF32, asinhF64,
    (op<"mul"> $g, (op<"rsqrt"> (op<"add"> (op<"mul"> $x, $x), "1.0"))), ["arcsinh"]> {
  let summary = "inverse of sinh";
  let complex = "asinh";
  let onnx = ["Asinh since 9"];
}
def Torchc_AcoshOp : ElementwiseUnaryFloat<"acosh"> {
  let summary = "inverse of cosh; NaN below 1";
  let complex = "acosh";
  let api = [Api<"acosh(Tensor input) -> Tensor", allKinds>, Api<"arccosh(Tensor input) -> Tensor", allKinds>];
  let scalarF32 = acoshF32;
  let scalarF64 = acoshF64;
  let vjpFn = "acoshVjp";
  let vjpSaves = ["x"];
  let onnx = ["Acosh since 9"];
}
def Torchc_AtanhOp : MathFunction<"atanh", atanhF32, atanhF64,
    (op<"div"> $g, (op<"sub"> "1.0", (op<"mul"> $x, $x))), ["arctanh"]> {
  let summary = "inverse of tanh; NaN outside [-1, 1]";
  let complex = "atanh";
  let onnx = ["Atanh since 9"];
}
def Torchc_RsqrtOp : MathFunction<"rsqrt", [(Div (Const "1"), (Sqrt $x))], [(Div (Const "1"), (Sqrt $x))],
    (op<"mul"> (op<"mul"> "-0.5", $g), (op<"mul"> (op<"mul"> $result, $result), $result))> {
  let summary = "1 / sqrt(x), two roundings";
  let complex = "rsqrt";
}

//===-- activations ------------------------------------------------------------------------------------------------===//

def Torchc_SiluOp : ElementwiseUnaryFloat<"silu"> {
  let summary = "x * sigmoid(x)";
  let complex = "silu";
  let scalarF32 = siluF32;
  let scalarF64 = siluF64;
  let vjpFn = "siluVjp";
  let vjpSaves = ["x"];
}
def Torchc_GeluOp : ElementwiseUnaryFloat<"gelu"> {
  let summary = "(0.5 * x) * (1 + erf(x * sqrt(1/2))) (N6)";
  let scalarF32 = geluF32;
  let scalarF64 = geluF64;
  let vjpFn = "geluVjp";
  let vjpSaves = ["x"];
}
def Torchc_GeluTanhOp : ElementwiseUnaryFloat<"gelu_tanh"> {
  let summary = "(0.5 * x) * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))";
  let scalarF32 = geluTanhF32;
  let scalarF64 = geluTanhF64;
  let vjpFn = "geluTanhVjp";
  let vjpSaves = ["x"];
}

//===-- two operands -----------------------------------------------------------------------------------------------===//

// Integer powers wrap; of the integer types the kernels take int64, whose low bits are those of every narrower type.
def Torchc_PowOp : ElementwiseBinary<"pow"> {
  let summary = "x to the power y; integers exactly, wrapping";
  let complex = "pow";
  let api = [Api<"pow(Tensor input, Operand exponent) -> Tensor", allKinds, "powAny">,
             Api<"pow(Scalar self, Tensor exponent) -> Tensor", ["function"], "powOfNumber">];
  let scalarF32 = powF32;
  let scalarF64 = powF64;
  let scalarInt = powInt;
  let vjpFn = "powVjp";
  let vjpSaves = ["x", "y", "result"];
  let flags = ["wideInt"];
  let onnx = ["Pow since 15"];
}
def Torchc_Atan2Op : ElementwiseBinary<"atan2"> {
  let summary = "angle of the point (y, x) given as (input, other)";
  let promote = CommonFloat;
  let api = [Api<"atan2(Tensor input, Tensor other) -> Tensor", allKinds>,
             Api<"arctan2(Tensor input, Tensor other) -> Tensor", allKinds>];
  let scalarF32 = atan2F32;
  let scalarF64 = atan2F64;
  // 0 at the origin, as in PyTorch.
  let vjp = [(op<"where"> (op<"eq"> (op<"add"> (op<"abs"> $x), (op<"abs"> $y)), "0.0"), "0.0",
              (op<"mul"> $g, (op<"div"> $y, (op<"add"> (op<"mul"> $x, $x), (op<"mul"> $y, $y))))),
             (op<"where"> (op<"eq"> (op<"add"> (op<"abs"> $x), (op<"abs"> $y)), "0.0"), "0.0",
              (op<"mul"> $g, (op<"div"> (op<"neg"> $x), (op<"add"> (op<"mul"> $x, $x), (op<"mul"> $y, $y)))))];
}
def Torchc_HypotOp : ElementwiseBinary<"hypot"> {
  let summary = "sqrt(x^2 + y^2) without overflow on the way";
  let api = [Api<"hypot(Tensor input, Tensor other) -> Tensor", allKinds>];
  let scalarF32 = hypotF32;
  let scalarF64 = hypotF64;
  let vjp = [(op<"mul"> $g, (op<"div"> $x, $result)), (op<"mul"> $g, (op<"div"> $y, $result))];
}
def Torchc_CopysignOp : ElementwiseBinary<"copysign"> {
  let summary = "|x| with the sign of y";
  let promote = CommonFloat;
  let api = [Api<"copysign(Tensor input, Operand other) -> Tensor", allKinds>];
  let scalarF32 = [(FromInt (IOr (IAnd (ToInt $x), (ConstI 0x7fffffff)), (IAnd (ToInt $y), (ConstI 0x80000000))))];
  let scalarF64 = [(FromInt (IOr (IAnd (ToInt $x), (ConstI 0x7fffffffffffffff)),
                                 (IAnd (ToInt $y), (ConstI 0x8000000000000000))))];
  let vjp = [(op<"where"> (op<"eq"> $x, "0.0"), "0.0", (op<"mul"> $g, (op<"div"> $result, $x))),
             (op<"mul"> $g, "0.0")];
}
// Next to x in the direction of y, by the order of bit patterns.
def Torchc_NextafterOp : ElementwiseBinary<"nextafter"> {
  let summary = "the number next to x towards y";
  let api = [Api<"nextafter(Tensor input, Tensor other) -> Tensor", allKinds, "nextafterChecked">];
  let scalarF32 = nextafterF32;
  let scalarF64 = nextafterF64;
  let vjpFn = "nextafterVjp";
}
def Torchc_LerpOp : Torchc_Op<"lerp"> {
  let summary = "x + w * (y - x), from the nearer end";
  let complex = "lerp";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, AnyRankedTensor:$w);
  let promote = CommonType;
  let api = [Api<"lerp(Tensor input, Tensor end, Operand weight) -> Tensor", allKinds, "lerpChecked">];
  let scalarF32 = [(Sub:$d $y, $x),
                   (Select (Lt (Abs $w), (Const "0.5")), (Add $x, (Mul $w, $d)),
                           (Sub $y, (Mul $d, (Sub (Const "1"), $w))))];
  let scalarF64 = scalarF32;
  let vjp = [(op<"sub"> $g, (op<"mul"> $g, $w)), (op<"mul"> $g, $w), (op<"mul"> $g, (op<"sub"> $y, $x))];
}
def Torchc_FmaOp : Torchc_Op<"fma"> {
  let summary = "x * y + z in one rounding; what normalisations end with (N6)";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, AnyRankedTensor:$z);
  let promote = CommonType;
  let scalarF32 = [(Fma $x, $y, $z)];
  let scalarF64 = scalarF32;
  let vjp = [(op<"mul"> $g, $y), (op<"mul"> $g, $x), (op<"identity"> $g)];
}

//===-- limits -----------------------------------------------------------------------------------------------------===//
// As maximum and minimum, but at a tie the gradient is x's alone.

def Torchc_ClampMinOp : ElementwiseBinary<"clamp_min"> {
  let summary = "max(x, lower limit y)";
  let onnx = ["Max since 13"];
  let api = [Api<"clamp_min(Tensor input, Operand min) -> Tensor", allKinds, "clampMinOf">];
  let scalar = [(Max $x, $y)];
  let scalarBool = [(Or $x, $y)];
  let vjp = [(op<"where"> (op<"ge"> $x, $y), $g, "0.0"), (op<"where"> (op<"lt"> $x, $y), $g, "0.0")];
  let flags = ["unsigned"];
}
def Torchc_ClampMaxOp : ElementwiseBinary<"clamp_max"> {
  let summary = "min(x, upper limit y)";
  let onnx = ["Min since 13"];
  let api = [Api<"clamp_max(Tensor input, Operand max) -> Tensor", allKinds, "clampMaxOf">];
  let scalar = [(Min $x, $y)];
  let scalarBool = [(And $x, $y)];
  let vjp = [(op<"where"> (op<"le"> $x, $y), $g, "0.0"), (op<"where"> (op<"gt"> $x, $y), $g, "0.0")];
  let flags = ["unsigned"];
}

//===-- rounding ---------------------------------------------------------------------------------------------------===//
// Of floats only: the API hands integers back.

class Rounding<string mnemonic, list<dag> body> : ElementwiseUnary<mnemonic> {
  let scalarF32 = body;
  let scalarF64 = body;
  let vjp = [(op<"mul"> $g, "0.0")];
}
def Torchc_FloorOp : Rounding<"floor", [(Floor $x)]> {
  let summary = "largest integer not above x";
  let api = [Api<"floor(Tensor input) -> Tensor", allKinds, "floorOf">];
  let onnx = ["Floor since 13"];
}
def Torchc_CeilOp : Rounding<"ceil", [(Neg (Floor (Neg $x)))]> {
  let summary = "smallest integer not below x";
  let api = [Api<"ceil(Tensor input) -> Tensor", allKinds, "ceilOf">];
  let onnx = ["Ceil since 13"];
}
def Torchc_TruncOp : Rounding<"trunc", [(Select (Lt $x, (Const "0")), (Neg (Floor (Neg $x))), (Floor $x))]> {
  let summary = "x without its fraction";
  let api = [Api<"trunc(Tensor input) -> Tensor", allKinds, "truncOf">,
             Api<"fix(Tensor input) -> Tensor", allKinds, "truncOf">];
}
def Torchc_RoundOp : Rounding<"round", [(RoundEven $x)]> {
  let summary = "nearest integer, halves to the even one";
  let api = [Api<"round(Tensor input, *, int decimals=0) -> Tensor", allKinds, "roundTo">];
  let onnx = ["Round since 11"];
}

#endif
