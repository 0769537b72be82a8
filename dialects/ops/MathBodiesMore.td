//===- MathBodiesMore.td - bodies that go on from another body --------------------------------------------------===//
//
// A statement named `$x` hides the operand: what follows it computes on from there.

#ifndef TORCHC_OPS_MATHBODIESMORE_TD
#define TORCHC_OPS_MATHBODIESMORE_TD

include "OpSpec.td"

// asinh(x) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))), a = |x|; log(a) + ln2 for large a. acosh and atanh alike.
defvar asinhF32 = [
  (Abs:$a $x),
  (IAnd:$sign (ToInt $x), (ConstI 0x80000000)),
  (Gt:$big $a, (Bits 0x46800000)),
  (Mul:$q $a, $a),
  (Div:$w $q, (Add (Sqrt (Add $q, (Const "1"))), (Const "1"))),
  (Select:$x $big, (Sub $a, (Const "1")), (Add $a, $w))
] # log1pF32 # [
  (Add:$r $log1p, (Select $big, (Bits 0x3f317218), (Const "0"))),
  (FromInt (IOr (ToInt $r), $sign))
];

defvar acoshF32 = [
  (Lt:$out $x, (Const "1")),
  (Gt:$big $x, (Bits 0x46800000)),
  (Sub:$a $x, (Const "1")),
  (Sqrt:$w (Mul $a, (Add $x, (Const "1")))),
  (Select:$x $big, $a, (Add $a, $w))
] # log1pF32 # [
  (Add:$r $log1p, (Select $big, (Bits 0x3f317218), (Const "0"))),
  (Select $out, (Const "nan"), $r)
];

defvar atanhF32 = [
  (Abs:$a $x),
  (IAnd:$sign (ToInt $x), (ConstI 0x80000000)),
  (Div:$x (Add $a, $a), (Sub (Const "1"), $a))
] # log1pF32 # [
  (Mul:$r $log1p, (Const "0.5")),
  (FromInt (IOr (ToInt $r), $sign))
];

defvar siluF32 = sigmoidF32 # [(Mul $x, $sig)];

defvar geluF32 = [
  (Mul:$half $x, (Const "0.5")),
  (Mul:$x $x, (Bits 0x3f3504f3))
] # erfF32 # [(Mul $half, (Add $erf, (Const "1")))];

defvar geluTanhF32 = [
  (Mul:$half $x, (Const "0.5")),
  (Mul:$cube (Mul $x, $x), $x),
  (Mul:$x (Add $x, (Mul $cube, (Bits 0x3d372713))), (Bits 0x3f4c422a))
] # tanhF32 # [(Mul $half, (Add $tanh, (Const "1")))];

// asinh(x) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))), a = |x|; log(a) + ln2 for large a. acosh and atanh alike.
defvar asinhF64 = [
  (Abs:$a $x),
  (IAnd:$sign (ToInt $x), (ConstI 0x8000000000000000)),
  (Gt:$big $a, (Bits 0x41d0000000000000)),
  (Mul:$q $a, $a),
  (Div:$w $q, (Add (Sqrt (Add $q, (Const "1"))), (Const "1"))),
  (Select:$x $big, (Sub $a, (Const "1")), (Add $a, $w))
] # log1pF64 # [
  (Add:$r $log1p, (Select $big, (Bits 0x3fe62e42fefa39ef), (Const "0"))),
  (FromInt (IOr (ToInt $r), $sign))
];

defvar acoshF64 = [
  (Lt:$out $x, (Const "1")),
  (Gt:$big $x, (Bits 0x41d0000000000000)),
  (Sub:$a $x, (Const "1")),
  (Sqrt:$w (Mul $a, (Add $x, (Const "1")))),
  (Select:$x $big, $a, (Add $a, $w))
] # log1pF64 # [
  (Add:$r $log1p, (Select $big, (Bits 0x3fe62e42fefa39ef), (Const "0"))),
  (Select $out, (Const "nan"), $r)
];

defvar atanhF64 = [
  (Abs:$a $x),
  (IAnd:$sign (ToInt $x), (ConstI 0x8000000000000000)),
  (Div:$x (Add $a, $a), (Sub (Const "1"), $a))
] # log1pF64 # [
  (Mul:$r $log1p, (Const "0.5")),
  (FromInt (IOr (ToInt $r), $sign))
];

defvar siluF64 = sigmoidF64 # [(Mul $x, $sig)];

defvar geluF64 = [
  (Mul:$half $x, (Const "0.5")),
  (Mul:$x $x, (Bits 0x3fe6a09e667f3bcd))
] # erfF64 # [(Mul $half, (Add $erf, (Const "1")))];

defvar geluTanhF64 = [
  (Mul:$half $x, (Const "0.5")),
  (Mul:$cube (Mul $x, $x), $x),
  (Mul:$x (Add $x, (Mul $cube, (Bits 0x3fa6e4e26d4801f7))), (Bits 0x3fe9884533d43651))
] # tanhF64 # [(Mul $half, (Add $tanh, (Const "1")))];

#endif
