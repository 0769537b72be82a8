//===- ElementwiseInt.td - division with integer quotients, bits ---------------------------------------------------===//

#ifndef TORCHC_OPS_ELEMENTWISEINT_TD
#define TORCHC_OPS_ELEMENTWISEINT_TD

include "OpSpec.td"
include "MathBodies.td"

// Integer division towards zero traps for a zero divisor and wraps for INT_MIN / -1 (N8).
class Division<string mnemonic> : ElementwiseBinary<mnemonic> {
  let flags = ["mayRaise"];
}
def Torchc_DivTruncOp : Division<"div_trunc"> {
  let summary = "x / y without its fraction";
  let scalarF32 = [(Div:$q $x, $y), (Select (Lt $q, (Const "0")), (Neg (Floor (Neg $q))), (Floor $q))];
  let scalarF64 = scalarF32;
  let scalarInt = [(Div $x, $y)];
  let vjp = [(op<"mul"> $g, "0.0"), (op<"mul"> $g, "0.0")];
}
def Torchc_FloorDivideOp : Division<"floor_divide"> {
  let summary = "largest integer not above x / y";
  let api = [Api<"floor_divide(Tensor input, Operand other) -> Tensor", allKinds>,
             Api<"floor_divide(Scalar self, Tensor other) -> Tensor", ["function"], "floorDivideOfNumber">];
  let scalarF32 = floorDivideF32;
  let scalarF64 = floorDivideF64;
  let scalarInt = divisionFloor # [(Select $off, (Sub $q, (Const "1")), $q)];
  let vjp = [(op<"mul"> $g, "0.0"), (op<"mul"> $g, "0.0")];
}
def Torchc_RemainderOp : Division<"remainder"> {
  let summary = "x - y * floor(x / y), exactly: the sign is y's";
  let api = [Api<"remainder(Tensor input, Operand other) -> Tensor", allKinds>,
             Api<"remainder(Scalar self, Tensor other) -> Tensor", ["function"], "remainderOfNumber">];
  let scalarF32 = remainderF32;
  let scalarF64 = remainderF64;
  let scalarInt = divisionFloor # [(Select $off, (Add $m, $y), $m)];
  let vjp = [(op<"identity"> $g), (op<"mul"> (op<"neg"> $g), (op<"floor_divide"> $x, $y))];
}
def Torchc_FmodOp : Division<"fmod"> {
  let summary = "x - y * trunc(x / y), exactly: the sign is x's";
  let api = [Api<"fmod(Tensor input, Operand other) -> Tensor", allKinds>];
  let scalarF32 = fmodF32;
  let scalarF64 = fmodF64;
  let scalarInt = [(Sub $x, (Mul (Div $x, $y), $y))];
  let vjp = [(op<"identity"> $g), (op<"mul"> (op<"neg"> $g), (op<"div_trunc"> $x, $y))];
  let onnx = [];
}

class Bitwise<string mnemonic, string number> : ElementwiseBinary<mnemonic> {
  let api = [Api<mnemonic # "(Tensor input, Operand other) -> Tensor", allKinds>,
             Api<mnemonic # "(Scalar self, Tensor other) -> Tensor", ["function"], number>];
}
def Torchc_BitwiseAndOp : Bitwise<"bitwise_and", "andOfNumber"> {
  let summary = "bits set in both; logical and of bool";
  let scalarInt = [(IAnd $x, $y)];
  let scalarBool = [(And $x, $y)];
  let flags = ["unsigned"];
}
def Torchc_BitwiseOrOp : Bitwise<"bitwise_or", "orOfNumber"> {
  let summary = "bits set in one or both; logical or of bool";
  let scalarInt = [(IOr $x, $y)];
  let scalarBool = [(Or $x, $y)];
  let flags = ["unsigned"];
}
def Torchc_BitwiseXorOp : Bitwise<"bitwise_xor", "xorOfNumber"> {
  let summary = "bits set in one of the two; unequal truth of bool";
  let scalarInt = [(IXor $x, $y)];
  let scalarBool = [(Xor $x, $y)];
  let flags = ["unsigned"];
}
def Torchc_BitwiseNotOp : ElementwiseUnary<"bitwise_not"> {
  let summary = "every bit flipped; logical not of bool";
  let api = [Api<"bitwise_not(Tensor input) -> Tensor", allKinds>];
  let scalarInt = [(Not $x)];
  let scalarBool = [(Not $x)];
}
def Torchc_BitwiseLeftShiftOp : Bitwise<"bitwise_left_shift", "leftShiftOfNumber"> {
  let summary = "x * 2^y, wrapping; 0 for counts outside the width (N8)";
  let scalarInt = [(IShl $x, $y)];
}
def Torchc_BitwiseRightShiftOp : Bitwise<"bitwise_right_shift", "rightShiftOfNumber"> {
  let summary = "x / 2^y rounded down; the sign for counts outside the width (N8)";
  let scalarInt = [(IShr $x, $y)];
}
def Torchc_LogicalXorOp : ElementwiseBinary<"logical_xor"> {
  let summary = "true where one of the two is non-zero";
  let complex = "truth";
  let api = [Api<"logical_xor(Tensor input, Tensor other) -> Tensor", allKinds>];
  let promote = TruthType;
  let scalarBool = [(Xor $x, $y)];
  let onnx = ["Xor since 7"];
}

#endif
