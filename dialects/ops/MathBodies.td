//===- MathBodies.td - scalar bodies of transcendental functions ----------------------------===//
//
// Bodies of the transcendental functions (rule N2): branch-free, no table, the same bits on every
// ISA. A body is a list of dags over the BodyOps of dialects/rules/Body.h; `Op:$name` names a value,
// the last one is the result.
//
// Polynomials are minimax fits (test/Math/minimax.py). test/Math/bounds.txt states the error of each
// body, found over all f32 inputs and by sampling in f64. Adding 1.5 * 2^23 (f32) or 1.5 * 2^52 (f64)
// rounds to an integer and leaves it in the low bits; shifted up to the exponent field, nothing of
// the constant remains.

#ifndef TORCHC_OPS_MATHBODIES_TD
#define TORCHC_OPS_MATHBODIES_TD

include "OpSpec.td"

// exp(x) = 2^k * e^r, k = round(x / ln2), r = x - k * ln2 in two steps (the first one exact). x is
// clamped to where the result is surely 0 or infinite; NaN passes. 2^k is applied in two factors, so
// that denormal results round once.
defvar expF32 = [
  (Select:$lo (Lt $x, (Const "-104")), (Const "-104"), $x),
  (Select:$v (Gt $lo, (Const "89")), (Const "89"), $lo),
  (Fma:$t $v, (Bits 0x3fb8aa3b), (Bits 0x4b400000)),
  (Sub:$k $t, (Bits 0x4b400000)),
  (Fma:$r $k, (Bits 0x3102e308), (Fma $k, (Bits 0xbf317218), $v)),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Bits 0x3ab562b7),
      $r, (Bits 0x3c091ee9)),
      $r, (Bits 0x3d2aac2c)),
      $r, (Bits 0x3e2aaa46)),
      $r, (Bits 0x3efffffe)),
      $r, (Const "1")),
      $r, (Const "1")),
  (IAnd:$half (IShl (ToInt $t), (ConstI 22)), (ConstI 0xff800000)),
  (ISub:$rest (IShl (ToInt $t), (ConstI 23)), $half),
  (Mul:$q $p, (FromInt (IAdd $half, (ConstI 0x3f800000)))),
  (Mul:$exp $q, (FromInt (IAdd $rest, (ConstI 0x3f800000))))
];

defvar expF64 = [
  (Select:$lo (Lt $x, (Const "-746")), (Const "-746"), $x),
  (Select:$v (Gt $lo, (Const "710")), (Const "710"), $lo),
  (Fma:$t $v, (Bits 0x3ff71547652b82fe), (Bits 0x4338000000000000)),
  (Sub:$k $t, (Bits 0x4338000000000000)),
  (Fma:$r $k, (Bits 0xbc7abc9e3b39803f), (Fma $k, (Bits 0xbfe62e42fefa39ef), $v)),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3e5ad9c4ffb38551),
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
      $r, (Const "1")),
  (IAnd:$half (IShl (ToInt $t), (ConstI 51)), (ConstI 0xfff0000000000000)),
  (ISub:$rest (IShl (ToInt $t), (ConstI 52)), $half),
  (Mul:$q $p, (FromInt (IAdd $half, (ConstI 0x3ff0000000000000)))),
  (Mul:$exp $q, (FromInt (IAdd $rest, (ConstI 0x3ff0000000000000))))
];

// log(x): x = 2^k * (1 + f) with 1 + f in [2/3, 4/3); the exponent is kept in place and scaled by
// 2^-23 as a float.
defvar logF32 = [
  (Lt:$small $x, (Bits 0x00800000)),
  (Select:$v $small, (Mul $x, (Const "8388608")), $x),
  (IAnd:$e (ISub (ToInt $v), (ConstI 0x3f2aaaab)), (ConstI 0xff800000)),
  (Fma:$k (FFromI $e), (Bits 0x34000000), (Select $small, (Const "-23"), (Const "0"))),
  (Sub:$f (FromInt (ISub (ToInt $v), $e)), (Const "1")),
  (Mul:$z $f, $f),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0xbe03e434),
      $f, (Bits 0x3e0f33bd)),
      $f, (Bits 0xbdf99981)),
      $f, (Bits 0x3e0f6b32)),
      $f, (Bits 0xbe2ace22)),
      $f, (Bits 0x3e4ce822)),
      $f, (Bits 0xbe7fff7e)),
      $f, (Bits 0x3eaaaa83)),
      $f, (Const "-0.5")),
  (Fma:$l $k, (Bits 0x3f317218), (Fma $p, $z, $f)),
  (Select:$finite (Lt $x, (Const "inf")), $l, $x),
  (Select:$special (Eq $x, (Const "0")), (Const "-inf"), (Const "nan")),
  (Select:$log (Gt $x, (Const "0")), $finite, $special)
];

// log(x), f64: 1 + f in [sqrt(1/2), sqrt(2)), log(1 + f) = 2 atanh(s), s = f / (2 + f): one division
// saves 14 terms.
defvar logF64 = [
  (Lt:$small $x, (Bits 0x0010000000000000)),
  (Select:$v $small, (Mul $x, (Bits 0x4350000000000000)), $x), // 2^54
  (IAdd:$u (ToInt $v), (ConstI 0x00095f6200000000)), // the exponent field is 1023 + k
  (FromInt:$biased (IOr (IUShr $u, (ConstI 52)), (ConstI 0x4330000000000000))), // + 2^52
  (Sub:$k $biased, (Select $small, (Bits 0x4330000000000435), (Bits 0x43300000000003ff))),
  (IAnd:$mantissa $u, (ConstI 0x000fffffffffffff)),
  (Sub:$f (FromInt (IAdd $mantissa, (ConstI 0x3fe6a09e00000000))), (Const "1")),
  (Div:$s $f, (Add $f, (Const "2"))),
  (Mul:$z $s, $s),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Bits 0x3fc2f044639d662d),
      $z, (Bits 0x3fc39a1dc401c6ea)),
      $z, (Bits 0x3fc74663d5a9f8f6)),
      $z, (Bits 0x3fcc71c521292489)),
      $z, (Bits 0x3fd24924941e2fbb)),
      $z, (Bits 0x3fd999999997ff07)),
      $z, (Bits 0x3fe5555555555592)),
  (Mul:$h (Mul $f, (Const "0.5")), $f), // f - h + s * (h + z * p)
  (Fma:$c $s, (Fma $z, $p, $h), (Mul $k, (Bits 0x3c7abc9e3b39803f))),
  (Add:$d $f, (Sub $c, $h)),
  (Fma:$l $k, (Bits 0x3fe62e42fefa39ef), $d),
  (Select:$finite (Lt $x, (Const "inf")), $l, $x),
  (Select:$special (Eq $x, (Const "0")), (Const "-inf"), (Const "nan")),
  (Select:$log (Gt $x, (Const "0")), $finite, $special)
];

// tanh(x) = n / d with n = 1 - s + m, d = 1 + s + m, where s = 2^-k and m = e^r - 1 come from 2|x| as
// in exp. n and d are kept with their rounding errors and the quotient is corrected once; the sign
// is put back at the end.
defvar tanhF32 = [
  (Abs:$a $x),
  (Select:$c (Gt $a, (Const "10")), (Const "10"), $a),
  (Add:$v $c, $c),
  (Fma:$t $v, (Bits 0x3fb8aa3b), (Bits 0x4b400000)),
  (Sub:$k $t, (Bits 0x4b400000)),
  (Fma:$r $k, (Bits 0x3102e308), (Fma $k, (Bits 0xbf317218), $v)),
  (Fma:$p (Fma (Fma (Fma (Bits 0x3ab562b7),
      $r, (Bits 0x3c091ee9)),
      $r, (Bits 0x3d2aac2c)),
      $r, (Bits 0x3e2aaa46)),
      $r, (Bits 0x3efffffe)),
  (Mul:$q $p, (Mul $r, $r)),
  (Add:$m $r, $q),
  (Sub:$ml $q, (Sub $m, $r)),
  (FromInt:$s (ISub (ConstI 0x3f800000), (IShl (ToInt $t), (ConstI 23)))),
  (Sub:$ns (Const "1"), $s),
  (Add:$ds (Const "1"), $s),
  (Add:$n $ns, $m),
  (Add:$d $ds, $m),
  (Add:$nl $ml, (Sub $m, (Sub $n, $ns))),
  (Add:$dl (Add $ml, (Sub $m, (Sub $d, $ds))), (Sub $s, (Sub $ds, (Const "1")))),
  (Div:$inv (Const "1"), $d),
  (Mul:$y $n, $inv),
  (Neg:$w $y),
  (Fma:$z (Add (Fma $w, $d, $n), (Fma $w, $dl, $nl)), $inv, $y),
  (FromInt:$tanh (IOr (ToInt $z), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

defvar tanhF64 = [
  (Abs:$a $x),
  (Select:$c (Gt $a, (Const "20")), (Const "20"), $a),
  (Add:$v $c, $c),
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
  (Fma:$q $p, (Mul $r, $r), $rl),
  (Add:$m $r, $q),
  (Sub:$ml $q, (Sub $m, $r)),
  (FromInt:$s (ISub (ConstI 0x3ff0000000000000), (IShl (ToInt $t), (ConstI 52)))),
  (Sub:$ns (Const "1"), $s),
  (Add:$ds (Const "1"), $s),
  (Add:$n $ns, $m),
  (Add:$d $ds, $m),
  (Add:$nl $ml, (Sub $m, (Sub $n, $ns))),
  (Add:$dl (Add $ml, (Sub $m, (Sub $d, $ds))), (Sub $s, (Sub $ds, (Const "1")))),
  (Div:$inv (Const "1"), $d),
  (Mul:$y $n, $inv),
  (Neg:$w $y),
  (Fma:$z (Add (Fma $w, $d, $n), (Fma $w, $dl, $nl)), $inv, $y),
  (FromInt:$tanh (IOr (ToInt $z), (IAnd (ToInt $x), (ConstI 0x8000000000000000))))
];

include "MathBodiesArc.td"
include "MathBodiesErf.td"
include "MathBodiesExp.td"
include "MathBodiesHyp.td"
include "MathBodiesLog.td"
include "MathBodiesPow.td"
include "MathBodiesTrig.td"
include "MathBodiesTrig64.td"
include "MathBodiesInt.td"
include "MathBodiesMore.td"
include "MathBodiesSpecial.td"

#endif
