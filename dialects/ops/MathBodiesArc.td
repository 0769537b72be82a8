//===- MathBodiesArc.td - atan, asin, acos ------------------------------------------------===//

#ifndef TORCHC_OPS_MATHBODIESARC_TD
#define TORCHC_OPS_MATHBODIESARC_TD

include "OpSpec.td"

// atan(x), q = min(|x|, 1/|x|): q + p * q^3, or pi/2 - (q + p * q^3) beyond 1.
defvar atanF32 = [
  (Abs:$a $x),
  (Gt:$far $a, (Const "1")),
  (Select:$c (Gt $a, (Bits 0x71800000)), (Bits 0x71800000), $a), // 2^100
  (Select:$q $far, (Div (Const "1"), $c), $a),
  (Mul:$i (Fma (Neg $q), $c, (Const "1")), $q), // 1 / c = q + i
  (Mul:$z $q, $q),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0xbae9ab07),
      $z, (Bits 0x3c321192)),
      $z, (Bits 0xbcfebe79)),
      $z, (Bits 0x3d6d14d6)),
      $z, (Bits 0xbdac0486)),
      $z, (Bits 0x3de04626)),
      $z, (Bits 0xbe121043)),
      $z, (Bits 0x3e4cc8f2)),
      $z, (Bits 0xbeaaaa9f)),
  (Mul:$cube $z, $q),
  (Fma:$ql (Mul $i, $z), (Const "-0.5"), $i), // about i / (1 + z)
  (Sub:$w (Bits 0x3fc90fdb), $q),
  (Sub:$e (Sub (Bits 0x3fc90fdb), $w), $q),
  (Add:$y $w, (Fma (Neg $p), $cube, (Sub (Add $e, (Bits 0xb33bbd2e)), $ql))),
  (Select:$s $far, $y, (Fma $p, $cube, $q)),
  (FromInt (IOr (ToInt $s), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

defvar atanF64 = [
  (Abs:$a $x),
  (Gt:$far $a, (Const "1")),
  (Select:$c (Gt $a, (Bits 0x4630000000000000)), (Bits 0x4630000000000000), $a), // 2^100
  (Select:$q $far, (Div (Const "1"), $c), $a),
  (Mul:$i (Fma (Neg $q), $c, (Const "1")), $q), // 1 / c = q + i
  (Mul:$z $q, $q),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma
      (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3eeb9c958b81984b),
      $z, (Bits 0xbf23de6b693514ef)),
      $z, (Bits 0x3f4b27f0ed732fd4)),
      $z, (Bits 0xbf67932221413c76)),
      $z, (Bits 0x3f7d6be5f9118a9f)),
      $z, (Bits 0xbf8c6e2423eba7c8)),
      $z, (Bits 0x3f967e27e9769d5f)),
      $z, (Bits 0xbf9e9b1febcc21b0)),
      $z, (Bits 0x3fa2c18113d6c5de)),
      $z, (Bits 0xbfa599940479f73b)),
      $z, (Bits 0x3fa82d6cff34e269)),
      $z, (Bits 0xbfaae5d4784faa58)),
      $z, (Bits 0x3fae1bb640f8760d)),
      $z, (Bits 0xbfb110e4ba005ac8)),
      $z, (Bits 0x3fb3b1365eda6f70)),
      $z, (Bits 0xbfb745d119fa0b2a)),
      $z, (Bits 0x3fbc71c717ef5c75)),
      $z, (Bits 0xbfc249249237b85f)),
      $z, (Bits 0x3fc9999999995493)),
      $z, (Bits 0xbfd5555555555525)),
  (Mul:$cube $z, $q),
  (Fma:$ql (Mul $i, $z), (Const "-0.5"), $i), // about i / (1 + z)
  (Sub:$w (Bits 0x3ff921fb54442d18), $q),
  (Sub:$e (Sub (Bits 0x3ff921fb54442d18), $w), $q),
  (Add:$y $w, (Fma (Neg $p), $cube, (Sub (Add $e, (Bits 0x3c91a62633145c07)), $ql))),
  (Select:$s $far, $y, (Fma $p, $cube, $q)),
  (FromInt (IOr (ToInt $s), (IAnd (ToInt $x), (ConstI 0x8000000000000000))))
];

// atan2(x, y): the angle of the point (y, x); s * atan(q) from 0, pi/2 or pi.
defvar atan2F32 = [
  (Abs:$a $x),
  (Abs:$b $y),
  (Gt:$steep $a, $b),
  (Select:$big $steep, $a, $b),
  (Select:$low $steep, $b, $a),
  (Eq:$inf $big, (Const "inf")),
  (Eq:$both $low, (Const "inf")),
  (Select:$n $inf, (Select $both, (Const "1"), (Const "0")), $low),
  (Or:$one $inf, (Eq $big, (Const "0"))),
  (Select:$m $one, (Const "1"), $big),
  (Div:$q $n, $m),
  (Div:$i (Fma (Neg $q), $m, $n), $m), // n / m = q + i
  (Mul:$z $q, $q),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0xbae9ab07),
      $z, (Bits 0x3c321192)),
      $z, (Bits 0xbcfebe79)),
      $z, (Bits 0x3d6d14d6)),
      $z, (Bits 0xbdac0486)),
      $z, (Bits 0x3de04626)),
      $z, (Bits 0xbe121043)),
      $z, (Bits 0x3e4cc8f2)),
      $z, (Bits 0xbeaaaa9f)),
  (Fma:$ql (Mul $i, $z), (Const "-0.5"), $i),
  (Fma:$d $p, (Mul $z, $q), $ql),
  (Lt:$neg (FromInt (IOr (IAnd (ToInt $y), (ConstI 0x80000000)), (ConstI 0x3f800000))), (Const "0")),
  (Select:$s (Xor $neg, $steep), (Const "-1"), (Const "1")),
  (Select:$h0 $neg, (Bits 0x40490fdb), (Const "0")),
  (Select:$h $steep, (Bits 0x3fc90fdb), $h0),
  (Select:$l0 $neg, (Bits 0xb3bbbd2e), (Const "0")),
  (Select:$l $steep, (Bits 0xb33bbd2e), $l0),
  (Fma:$w $s, $q, $h),
  (Fma:$e $s, $q, (Sub $h, $w)),
  (Add:$v $w, (Fma $s, $d, (Add $e, $l))),
  (Select:$r (Or (IsNan $x), (IsNan $y)), (Add $x, $y), $v),
  (FromInt (IOr (ToInt $r), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

defvar atan2F64 = [
  (Abs:$a $x),
  (Abs:$b $y),
  (Gt:$steep $a, $b),
  (Select:$big $steep, $a, $b),
  (Select:$low $steep, $b, $a),
  (Eq:$inf $big, (Const "inf")),
  (Eq:$both $low, (Const "inf")),
  (Select:$n $inf, (Select $both, (Const "1"), (Const "0")), $low),
  (Or:$one $inf, (Eq $big, (Const "0"))),
  (Select:$m $one, (Const "1"), $big),
  (Div:$q $n, $m),
  (Div:$i (Fma (Neg $q), $m, $n), $m), // n / m = q + i
  (Mul:$z $q, $q),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma
      (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3eeb9c958b81984b),
      $z, (Bits 0xbf23de6b693514ef)),
      $z, (Bits 0x3f4b27f0ed732fd4)),
      $z, (Bits 0xbf67932221413c76)),
      $z, (Bits 0x3f7d6be5f9118a9f)),
      $z, (Bits 0xbf8c6e2423eba7c8)),
      $z, (Bits 0x3f967e27e9769d5f)),
      $z, (Bits 0xbf9e9b1febcc21b0)),
      $z, (Bits 0x3fa2c18113d6c5de)),
      $z, (Bits 0xbfa599940479f73b)),
      $z, (Bits 0x3fa82d6cff34e269)),
      $z, (Bits 0xbfaae5d4784faa58)),
      $z, (Bits 0x3fae1bb640f8760d)),
      $z, (Bits 0xbfb110e4ba005ac8)),
      $z, (Bits 0x3fb3b1365eda6f70)),
      $z, (Bits 0xbfb745d119fa0b2a)),
      $z, (Bits 0x3fbc71c717ef5c75)),
      $z, (Bits 0xbfc249249237b85f)),
      $z, (Bits 0x3fc9999999995493)),
      $z, (Bits 0xbfd5555555555525)),
  (Fma:$ql (Mul $i, $z), (Const "-0.5"), $i),
  (Fma:$d $p, (Mul $z, $q), $ql),
  (Lt:$neg (FromInt (IOr (IAnd (ToInt $y), (ConstI 0x8000000000000000)), (ConstI 0x3ff0000000000000))), (Const "0")),
  (Select:$s (Xor $neg, $steep), (Const "-1"), (Const "1")),
  (Select:$h0 $neg, (Bits 0x400921fb54442d18), (Const "0")),
  (Select:$h $steep, (Bits 0x3ff921fb54442d18), $h0),
  (Select:$l0 $neg, (Bits 0x3ca1a62633145c07), (Const "0")),
  (Select:$l $steep, (Bits 0x3c91a62633145c07), $l0),
  (Fma:$w $s, $q, $h),
  (Fma:$e $s, $q, (Sub $h, $w)),
  (Add:$v $w, (Fma $s, $d, (Add $e, $l))),
  (Select:$r (Or (IsNan $x), (IsNan $y)), (Add $x, $y), $v),
  (FromInt (IOr (ToInt $r), (IAnd (ToInt $x), (ConstI 0x8000000000000000))))
];

// asin(x), acos(x): asin(s) = s + d for s = |x| up to 1/2, beyond with s = sqrt((1 - |x|) / 2) as
// pi/2 - 2 * asin(s). The rounding error of the root is added.
defvar asinF32 = [
  (Abs:$a $x),
  (Gt:$far $a, (Const "0.5")),
  (Select:$z $far, (Fma (Const "-0.5"), $a, (Const "0.5")), (Mul $a, $a)),
  (Select:$s $far, (Sqrt $z), $a),
  (Fma:$p (Fma (Fma (Fma (Bits 0x3d2cb6cb),
      $z, (Bits 0x3cc616ad)),
      $z, (Bits 0x3d3a3e84)),
      $z, (Bits 0x3d9980fe)),
      $z, (Bits 0x3e2aaae4)),
  (Mul:$d (Mul $p, $z), $s),
  (Div:$sl (Fma (Neg $s), $s, $z), (Add (Add $s, $s), (Bits 0x0d800000))), // sqrt(z) = s + sl
  (Fma:$w (Const "-2"), $s, (Bits 0x3fc90fdb)),
  (Fma:$e (Const "-2"), $s, (Sub (Bits 0x3fc90fdb), $w)),
  (Add:$y $w, (Fma (Const "-2"), (Add $d, $sl), (Add $e, (Bits 0xb33bbd2e)))),
  (Select:$v $far, $y, (Add $s, $d)),
  (FromInt (IOr (ToInt $v), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

defvar asinF64 = [
  (Abs:$a $x),
  (Gt:$far $a, (Const "0.5")),
  (Select:$z $far, (Fma (Const "-0.5"), $a, (Const "0.5")), (Mul $a, $a)),
  (Select:$s $far, (Sqrt $z), $a),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3fa0b744f16258c4),
      $z, (Bits 0xbf95891aae248009)),
      $z, (Bits 0x3f96406325adeb98)),
      $z, (Bits 0x3f6e4999456eca48)),
      $z, (Bits 0x3f86153504e1893a)),
      $z, (Bits 0x3f8758196773e724)),
      $z, (Bits 0x3f8ca2003070e77f)),
      $z, (Bits 0x3f91c49ebd55a0b5)),
      $z, (Bits 0x3f96e8bdf1965dc8)),
      $z, (Bits 0x3f9f1c71a9343cb6)),
      $z, (Bits 0x3fa6db6db7215bca)),
      $z, (Bits 0x3fb333333332e109)),
      $z, (Bits 0x3fc5555555555577)),
  (Mul:$d (Mul $p, $z), $s),
  (Div:$sl (Fma (Neg $s), $s, $z), (Add (Add $s, $s), (Bits 0x2010000000000000))), // sqrt(z) = s + sl
  (Fma:$w (Const "-2"), $s, (Bits 0x3ff921fb54442d18)),
  (Fma:$e (Const "-2"), $s, (Sub (Bits 0x3ff921fb54442d18), $w)),
  (Add:$y $w, (Fma (Const "-2"), (Add $d, $sl), (Add $e, (Bits 0x3c91a62633145c07)))),
  (Select:$v $far, $y, (Add $s, $d)),
  (FromInt (IOr (ToInt $v), (IAnd (ToInt $x), (ConstI 0x8000000000000000))))
];

defvar acosF32 = [
  (Abs:$a $x),
  (Gt:$far $a, (Const "0.5")),
  (Lt:$neg $x, (Const "0")),
  (Select:$z $far, (Fma (Const "-0.5"), $a, (Const "0.5")), (Mul $a, $a)),
  (Select:$s $far, (Sqrt $z), $x),
  (Fma:$p (Fma (Fma (Fma (Bits 0x3d2cb6cb),
      $z, (Bits 0x3cc616ad)),
      $z, (Bits 0x3d3a3e84)),
      $z, (Bits 0x3d9980fe)),
      $z, (Bits 0x3e2aaae4)),
  (Mul:$d (Mul $p, $z), $s),
  (Div:$sl (Fma (Neg $s), $s, $z), (Add (Add $s, $s), (Bits 0x0d800000))),
  (Select:$dl $far, (Add $d, $sl), $d),
  (Select:$m $far, (Select $neg, (Const "-2"), (Const "2")), (Const "-1")),
  (Select:$b $far, (Select $neg, (Bits 0x40490fdb), (Const "0")), (Bits 0x3fc90fdb)),
  (Select:$bl $far, (Select $neg, (Bits 0xb3bbbd2e), (Const "0")), (Bits 0xb33bbd2e)),
  (Fma:$w $m, $s, $b),
  (Fma:$e $m, $s, (Sub $b, $w)),
  (Add $w, (Fma $m, $dl, (Add $e, $bl)))
];

defvar acosF64 = [
  (Abs:$a $x),
  (Gt:$far $a, (Const "0.5")),
  (Lt:$neg $x, (Const "0")),
  (Select:$z $far, (Fma (Const "-0.5"), $a, (Const "0.5")), (Mul $a, $a)),
  (Select:$s $far, (Sqrt $z), $x),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3fa0b744f16258c4),
      $z, (Bits 0xbf95891aae248009)),
      $z, (Bits 0x3f96406325adeb98)),
      $z, (Bits 0x3f6e4999456eca48)),
      $z, (Bits 0x3f86153504e1893a)),
      $z, (Bits 0x3f8758196773e724)),
      $z, (Bits 0x3f8ca2003070e77f)),
      $z, (Bits 0x3f91c49ebd55a0b5)),
      $z, (Bits 0x3f96e8bdf1965dc8)),
      $z, (Bits 0x3f9f1c71a9343cb6)),
      $z, (Bits 0x3fa6db6db7215bca)),
      $z, (Bits 0x3fb333333332e109)),
      $z, (Bits 0x3fc5555555555577)),
  (Mul:$d (Mul $p, $z), $s),
  (Div:$sl (Fma (Neg $s), $s, $z), (Add (Add $s, $s), (Bits 0x2010000000000000))),
  (Select:$dl $far, (Add $d, $sl), $d),
  (Select:$m $far, (Select $neg, (Const "-2"), (Const "2")), (Const "-1")),
  (Select:$b $far, (Select $neg, (Bits 0x400921fb54442d18), (Const "0")), (Bits 0x3ff921fb54442d18)),
  (Select:$bl $far, (Select $neg, (Bits 0x3ca1a62633145c07), (Const "0")), (Bits 0x3c91a62633145c07)),
  (Fma:$w $m, $s, $b),
  (Fma:$e $m, $s, (Sub $b, $w)),
  (Add $w, (Fma $m, $dl, (Add $e, $bl)))
];

#endif
