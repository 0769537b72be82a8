//===- MathBodiesExp.td - sigmoid, expm1, exp2 --------------------------------------------===//

#ifndef TORCHC_OPS_MATHBODIESEXP_TD
#define TORCHC_OPS_MATHBODIESEXP_TD

include "OpSpec.td"

// sigmoid(x) with a = |x|: 1 / (1 + e^-a), for negative x e^-a / (1 + e^-a). Both terms of the quotient
// carry their rounding errors; the small end is scaled in two factors like exp.
defvar sigmoidF32 = [
  (Neg:$a (Abs $x)),
  (Select:$v (Lt $a, (Const "-104")), (Const "-104"), $a),
  (Fma:$t $v, (Bits 0x3fb8aa3b), (Bits 0x4b400000)),
  (Sub:$k $t, (Bits 0x4b400000)),
  (Fma:$r $k, (Bits 0x3102e308), (Fma $k, (Bits 0xbf317218), $v)),
  (Fma:$p (Fma (Fma (Fma (Fma (Bits 0x3ab562b7),
      $r, (Bits 0x3c091ee9)),
      $r, (Bits 0x3d2aac2c)),
      $r, (Bits 0x3e2aaa46)),
      $r, (Bits 0x3efffffe)),
      $r, (Const "1")),
  (IAnd:$half (IShl (ToInt $t), (ConstI 22)), (ConstI 0xff800000)),
  (ISub:$rest (IShl (ToInt $t), (ConstI 23)), $half),
  (FromInt:$s1 (IAdd $half, (ConstI 0x3f800000))),
  (FromInt:$s2 (IAdd $rest, (ConstI 0x3f800000))),
  (Mul:$s $s1, $s2),
  (Fma:$e $p, $r, (Const "1")), // e^-|x| = s * (e + el)
  (Fma:$el $p, $r, (Sub (Const "1"), $e)),
  (Fma:$d $e, $s, (Const "1")),
  (Fma:$dl $el, $s, (Fma $e, $s, (Sub (Const "1"), $d))),
  (Lt:$neg $x, (Const "0")),
  (Select:$n $neg, $e, (Const "1")),
  (Select:$nl $neg, $el, (Const "0")),
  (Div:$inv (Const "1"), $d),
  (Mul:$y $n, $inv),
  (Neg:$w $y),
  (Fma:$z (Add (Fma $w, $d, $n), (Fma $w, $dl, $nl)), $inv, $y),
  (Select:$sig $neg, (Mul (Mul $z, $s1), $s2), $z)
];

defvar sigmoidF64 = [
  (Neg:$a (Abs $x)),
  (Select:$v (Lt $a, (Const "-746")), (Const "-746"), $a),
  (Fma:$t $v, (Bits 0x3ff71547652b82fe), (Bits 0x4338000000000000)),
  (Sub:$k $t, (Bits 0x4338000000000000)),
  (Fma:$r $k, (Bits 0xbc7abc9e3b39803f), (Fma $k, (Bits 0xbfe62e42fefa39ef), $v)),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3e5ad9c4ffb38551),
      $r, (Bits 0x3e928ad89716beb9)),
      $r, (Bits 0x3ec71df0f52075b4)),
      $r, (Bits 0x3efa01999e29c57f)),
      $r, (Bits 0x3f2a01a01369c69e)),
      $r, (Bits 0x3f56c16c18446b2b)),
      $r, (Bits 0x3f81111111124cca)),
      $r, (Bits 0x3fa5555555550771)),
      $r, (Bits 0x3fc555555555550a)),
      $r, (Bits 0x3fe000000000000a)),
      $r, (Const "1")),
  (IAnd:$half (IShl (ToInt $t), (ConstI 51)), (ConstI 0xfff0000000000000)),
  (ISub:$rest (IShl (ToInt $t), (ConstI 52)), $half),
  (FromInt:$s1 (IAdd $half, (ConstI 0x3ff0000000000000))),
  (FromInt:$s2 (IAdd $rest, (ConstI 0x3ff0000000000000))),
  (Mul:$s $s1, $s2),
  (Fma:$e $p, $r, (Const "1")), // e^-|x| = s * (e + el)
  (Fma:$el $p, $r, (Sub (Const "1"), $e)),
  (Fma:$d $e, $s, (Const "1")),
  (Fma:$dl $el, $s, (Fma $e, $s, (Sub (Const "1"), $d))),
  (Lt:$neg $x, (Const "0")),
  (Select:$n $neg, $e, (Const "1")),
  (Select:$nl $neg, $el, (Const "0")),
  (Div:$inv (Const "1"), $d),
  (Mul:$y $n, $inv),
  (Neg:$w $y),
  (Fma:$z (Add (Fma $w, $d, $n), (Fma $w, $dl, $nl)), $inv, $y),
  (Select:$sig $neg, (Mul (Mul $z, $s1), $s2), $z)
];

// expm1(x) = 2 * (s * m + s - 1/2) with its rounding errors added, s = 2^(k-1), e^r = 1 + m; for k = 0 it is m, so
// that denormals stay exact.
defvar expm1F32 = [
  (Select:$c (Lt $x, (Const "-18")), (Const "-18"), $x),
  (Select:$v (Gt $c, (Const "89")), (Const "89"), $c),
  (Fma:$t $v, (Bits 0x3fb8aa3b), (Bits 0x4b400000)),
  (Sub:$k $t, (Bits 0x4b400000)),
  (Fma:$rh $k, (Bits 0xbf317218), $v),
  (Fma:$r $k, (Bits 0x3102e308), $rh),
  (Fma:$rl $k, (Bits 0x3102e308), (Sub $rh, $r)),
  (Fma:$p (Fma (Fma (Fma (Bits 0x3ab562b7),
      $r, (Bits 0x3c091ee9)),
      $r, (Bits 0x3d2aac2c)),
      $r, (Bits 0x3e2aaa46)),
      $r, (Bits 0x3efffffe)),
  (Mul:$z $r, $r),
  (Fma:$m $p, $z, $r),
  (Add:$ml (Fma $p, $z, (Sub $r, $m)), $rl),
  (FromInt:$s (IAdd (IShl (ToInt $t), (ConstI 23)), (ConstI 0x3f000000))),
  (Sub:$c $s, (Const "0.5")),
  (Fma:$y $m, $s, $c),
  (Fma:$d $ml, $s, (Fma $m, $s, (Sub $c, $y))),
  (Add:$w $y, (Add $d, (Sub (Sub $s, $c), (Const "0.5")))),
  (Select:$e (Eq $k, (Const "0")), $m, (Add $w, $w)),
  (Select (Eq $x, (Const "0")), $x, $e)
];

defvar expm1F64 = [
  (Select:$c (Lt $x, (Const "-38")), (Const "-38"), $x),
  (Select:$v (Gt $c, (Const "710")), (Const "710"), $c),
  (Fma:$t $v, (Bits 0x3ff71547652b82fe), (Bits 0x4338000000000000)),
  (Sub:$k $t, (Bits 0x4338000000000000)),
  (Fma:$rh $k, (Bits 0xbfe62e42fefa39ef), $v),
  (Fma:$r $k, (Bits 0xbc7abc9e3b39803f), $rh),
  (Fma:$rl $k, (Bits 0xbc7abc9e3b39803f), (Sub $rh, $r)),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3e5ad9c4ffb38551),
      $r, (Bits 0x3e928ad89716beb9)),
      $r, (Bits 0x3ec71df0f52075b4)),
      $r, (Bits 0x3efa01999e29c57f)),
      $r, (Bits 0x3f2a01a01369c69e)),
      $r, (Bits 0x3f56c16c18446b2b)),
      $r, (Bits 0x3f81111111124cca)),
      $r, (Bits 0x3fa5555555550771)),
      $r, (Bits 0x3fc555555555550a)),
      $r, (Bits 0x3fe000000000000a)),
  (Mul:$z $r, $r),
  (Fma:$m $p, $z, $r),
  (Add:$ml (Fma $p, $z, (Sub $r, $m)), $rl),
  (FromInt:$s (IAdd (IShl (ToInt $t), (ConstI 52)), (ConstI 0x3fe0000000000000))),
  (Sub:$c $s, (Const "0.5")),
  (Fma:$y $m, $s, $c),
  (Fma:$d $ml, $s, (Fma $m, $s, (Sub $c, $y))),
  (Add:$w $y, (Add $d, (Sub (Sub $s, $c), (Const "0.5")))),
  (Select:$e (Eq $k, (Const "0")), $m, (Add $w, $w)),
  (Select (Eq $x, (Const "0")), $x, $e)
];

// exp2(x) = 2^k * 2^r, scaled as in exp.
defvar exp2F32 = [
  (Select:$lo (Lt $x, (Const "-151")), (Const "-151"), $x),
  (Select:$v (Gt $lo, (Const "129")), (Const "129"), $lo),
  (Add:$t $v, (Bits 0x4b400000)),
  (Sub:$r $v, (Sub $t, (Bits 0x4b400000))),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Bits 0x390bbc5f),
      $r, (Bits 0x3aaf79c2)),
      $r, (Bits 0x3c1db418)),
      $r, (Bits 0x3d6357d0)),
      $r, (Bits 0x3e75fdca)),
      $r, (Bits 0x3f317218)),
      $r, (Const "1")),
  (IAnd:$half (IShl (ToInt $t), (ConstI 22)), (ConstI 0xff800000)),
  (ISub:$rest (IShl (ToInt $t), (ConstI 23)), $half),
  (Mul:$q $p, (FromInt (IAdd $half, (ConstI 0x3f800000)))),
  (Mul $q, (FromInt (IAdd $rest, (ConstI 0x3f800000))))
];

defvar exp2F64 = [
  (Select:$lo (Lt $x, (Const "-1076")), (Const "-1076"), $x),
  (Select:$v (Gt $lo, (Const "1025")), (Const "1025"), $lo),
  (Add:$t $v, (Bits 0x4338000000000000)),
  (Sub:$r $v, (Sub $t, (Bits 0x4338000000000000))),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3dff1feac123afa0),
      $r, (Bits 0x3e3e63c5cd994b51)),
      $r, (Bits 0x3e7b51fe18c127dd)),
      $r, (Bits 0x3eb62bfb4447e606)),
      $r, (Bits 0x3eeffcbfea38fb93)),
      $r, (Bits 0x3f24309131693669)),
      $r, (Bits 0x3f55d87fe783d9ac)),
      $r, (Bits 0x3f83b2ab6fb9daa7)),
      $r, (Bits 0x3fac6b08d704a277)),
      $r, (Bits 0x3fcebfbdff82c5b3)),
      $r, (Bits 0x3fe62e42fefa39ef)),
      $r, (Const "1")),
  (IAnd:$half (IShl (ToInt $t), (ConstI 51)), (ConstI 0xfff0000000000000)),
  (ISub:$rest (IShl (ToInt $t), (ConstI 52)), $half),
  (Mul:$q $p, (FromInt (IAdd $half, (ConstI 0x3ff0000000000000)))),
  (Mul $q, (FromInt (IAdd $rest, (ConstI 0x3ff0000000000000))))
];

#endif
