//===- MathBodiesTrig.td - sin, cos, tan in f32 -------------------------------------------===//

#ifndef TORCHC_OPS_MATHBODIESTRIG_TD
#define TORCHC_OPS_MATHBODIESTRIG_TD

include "OpSpec.td"

// sin(x), cos(x): |x| = k * pi/2 + r + rl, |r| <= pi/4. Up to 2^17 (f32) or 2^30 (f64) in three steps with FMA
// (Cody and Waite). Beyond, x * 2/pi modulo 4 is formed from five slices of 2/pi that matter at x's exponent (Payne and
// Hanek); the slices are picked by shifting a row of them as x is scaled down. Products are split in two exactly, their
// parts cut at two fixed places, so that the sums sa and sb are exact and only sc, 2^-42 (2^-99) small, rounds.
defvar trigReduce32 = [
  (Abs:$a $x),
  (Lt:$near $a, (Bits 0x48000000)), // 2^17
  (Sub:$kn (Fma $a, (Bits 0x3f22f983), (Bits 0x4b400000)), (Bits 0x4b400000)),
  (Neg:$mk $kn),
  (Fma:$r1 $mk, (Bits 0x3fc90fdb), $a),
  (Mul:$r2 $mk, (Bits 0xb33bbd2e)),
  (Add:$rn $r1, $r2),
  (Add:$r2l (Add (Sub $r1, $rn), $r2), (Fma $mk, (Bits 0xb33bbd2e), (Neg $r2))),
  (Fma:$rln $mk, (Bits 0xa6f72ced), $r2l),
  (Ge:$c4 $a, (Bits 0x70800000)),
  (Select:$x4 $c4, (Mul $a, (Bits 0x0f800000)), $a),
  (Select:$w4_0 $c4, (Bits 0x3e1d5f44), (Bits 0x00000000)),
  (Select:$w4_1 $c4, (Bits 0x3f7534dd), (Bits 0x3f22f983)),
  (Select:$w4_2 $c4, (Bits 0x3f40db62), (Bits 0x3edc9c88)),
  (Select:$w4_3 $c4, (Bits 0x3f15993c), (Bits 0x3da94fe0)),
  (Select:$w4_4 $c4, (Bits 0x3e872082), (Bits 0x3e1d5f44)),
  (Select:$w4_5 $c4, (Bits 0x3f7e5163), (Bits 0x3f7534dd)),
  (Ge:$c2 $x4, (Bits 0x58800000)),
  (Select:$x2 $c2, (Mul $x4, (Bits 0x27800000)), $x4),
  (Select:$w2_0 $c2, $w4_2, $w4_0),
  (Select:$w2_1 $c2, $w4_3, $w4_1),
  (Select:$w2_2 $c2, $w4_4, $w4_2),
  (Select:$w2_3 $c2, $w4_5, $w4_3),
  (Select:$w2_4 $c2, (Bits 0x3f40db62), $w4_4),
  (Select:$w2_5 $c2, (Bits 0x3f15993c), $w4_5),
  (Ge:$c1 $x2, (Bits 0x4c800000)),
  (Select:$x1 $c1, (Mul $x2, (Bits 0x33800000)), $x2),
  (Select:$w1_0 $c1, $w2_1, $w2_0),
  (Select:$w1_1 $c1, $w2_2, $w2_1),
  (Select:$w1_2 $c1, $w2_3, $w2_2),
  (Select:$w1_3 $c1, $w2_4, $w2_3),
  (Select:$w1_4 $c1, $w2_5, $w2_4),
  (Mul:$s0 $x1, (Bits 0x4b800000)),
  (Mul:$s1 $s0, (Bits 0x33800000)),
  (Mul:$s2 $s0, (Bits 0x27800000)),
  (Mul:$s3 $s0, (Bits 0x1b800000)),
  (Mul:$s4 $s0, (Bits 0x0f800000)),
  (Mul:$h0 $s0, $w1_0),
  (Fma:$l0 $s0, $w1_0, (Neg $h0)),
  (Mul:$h1 $s1, $w1_1),
  (Fma:$l1 $s1, $w1_1, (Neg $h1)),
  (Mul:$h2 $s2, $w1_2),
  (Fma:$l2 $s2, $w1_2, (Neg $h2)),
  (Mul:$h3 $s3, $w1_3),
  (Fma:$l3 $s3, $w1_3, (Neg $h3)),
  (Fma:$m0 (RoundEven (Mul $h0, (Const "0.25"))), (Const "-4"), $h0),
  (Fma:$m1 (RoundEven (Mul $l0, (Const "0.25"))), (Const "-4"), $l0),
  (Fma:$m2 (RoundEven (Mul $h1, (Const "0.25"))), (Const "-4"), $h1),
  (Add:$m3 $m0, $m1),
  (Sub:$Am3 (Add $m3, (Bits 0x41c00000)), (Bits 0x41c00000)),
  (Sub:$bm3 $m3, $Am3),
  (Sub:$Am2 (Add $m2, (Bits 0x41c00000)), (Bits 0x41c00000)),
  (Sub:$bm2 $m2, $Am2),
  (Sub:$Al1 (Add $l1, (Bits 0x41c00000)), (Bits 0x41c00000)),
  (Sub:$bl1 $l1, $Al1),
  (Sub:$Ah2 (Add $h2, (Bits 0x41c00000)), (Bits 0x41c00000)),
  (Sub:$bh2 $h2, $Ah2),
  (Add:$sa (Add $Am3, $Am2), (Add $Al1, $Ah2)),
  (Sub:$Bbm2 (Add $bm2, (Bits 0x36c00000)), (Bits 0x36c00000)),
  (Sub:$cbm2 $bm2, $Bbm2),
  (Sub:$Bbl1 (Add $bl1, (Bits 0x36c00000)), (Bits 0x36c00000)),
  (Sub:$cbl1 $bl1, $Bbl1),
  (Sub:$Bbh2 (Add $bh2, (Bits 0x36c00000)), (Bits 0x36c00000)),
  (Sub:$cbh2 $bh2, $Bbh2),
  (Sub:$Bh3 (Add $h3, (Bits 0x36c00000)), (Bits 0x36c00000)),
  (Sub:$ch3 $h3, $Bh3),
  (Sub:$Bl2 (Add $l2, (Bits 0x36c00000)), (Bits 0x36c00000)),
  (Sub:$cl2 $l2, $Bl2),
  (Add:$sb (Add (Add $bm3, $Bbm2), (Add $Bbl1, $Bbh2)), (Add $Bh3, $Bl2)),
  (Add:$sc (Add (Add $cbm2, $cbl1), (Add $cbh2, $ch3)), (Add $cl2, (Fma $s4, $w1_4, $l3))),
  (RoundEven:$kf $sa),
  (Sub:$fa $sa, $kf),
  (Add:$f $fa, $sb),
  (Sub:$fb $f, $fa),
  (Add:$fe (Add (Sub $fa, (Sub $f, $fb)), (Sub $sb, $fb)), $sc),
  (Add:$y $f, $fe),
  (Sub:$yl $fe, (Sub $y, $f)),
  (Mul:$rf $y, (Bits 0x3fc90fdb)),
  (Fma:$rfl $y, (Bits 0x3fc90fdb), (Neg $rf)),
  (Fma:$rlf $yl, (Bits 0x3fc90fdb), (Fma $y, (Bits 0xb33bbd2e), $rfl)),
  (Select:$k $near, $kn, $kf),
  (Select:$r $near, $rn, $rf),
  (Select:$rl $near, $rln, $rlf)
];

defvar trigSinCos32 = [
  (Mul:$z $r, $r),
  (Fma:$ps (Fma (Bits 0xb94c86bb),
      $z, (Bits 0x3c088355)),
      $z, (Bits 0xbe2aaaa2)),
  (Fma:$rlc (Mul $rl, $z), (Const "-0.5"), $rl), // rl * cos(r)
  (Add:$sin $r, (Fma $ps, (Mul $r, $z), $rlc)),
  (Fma:$pc (Fma (Bits 0x37ccc890),
      $z, (Bits 0xbab6057a)),
      $z, (Bits 0x3d2aaaa4)),
  (Fma:$w (Const "-0.5"), $z, (Const "1")),
  (Fma:$wl (Const "-0.5"), $z, (Sub (Const "1"), $w)),
  (Fma:$u $r, $rl, (Mul (Const "0.5"), (Fma $r, $r, (Neg $z)))),
  (Add:$cos $w, (Add $wl, (Fma $pc, (Mul $z, $z), (Neg $u))))
];

defvar sinF32 = trigReduce32 # trigSinCos32 # [
  (ToInt:$q (Add $k, (Bits 0x4b400000))),
  (Ne:$odd (FromInt (IShl (IAnd $q, (ConstI 1)), (ConstI 23))), (Const "0")),
  (IShl:$flip (IAnd $q, (ConstI 2)), (ConstI 30)),
  (Select:$v $odd, $cos, $sin),
  (FromInt (IXor (IXor (ToInt $v), $flip), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

defvar cosF32 = trigReduce32 # trigSinCos32 # [
  (IAdd:$q (ToInt (Add $k, (Bits 0x4b400000))), (ConstI 1)),
  (Ne:$odd (FromInt (IShl (IAnd $q, (ConstI 1)), (ConstI 23))), (Const "0")),
  (IShl:$flip (IAnd $q, (ConstI 2)), (ConstI 30)),
  (Select:$v $odd, $cos, $sin),
  (FromInt (IXor (ToInt $v), $flip))
];

// tan(r + rl) = t + tl, or -1 / (t + tl) in odd quadrants.
defvar tanF32 = trigReduce32 # [
  (Mul:$z $r, $r),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Bits 0x3b967ce7),
      $z, (Bits 0xb9b3cefc)),
      $z, (Bits 0x3c37074b)),
      $z, (Bits 0x3cad4e9d)),
      $z, (Bits 0x3d5d86df)),
      $z, (Bits 0x3e088640)),
      $z, (Bits 0x3eaaaab2)),
  (Mul:$d $p, (Mul $z, $r)),
  (Add:$t0 $r, $d),
  (Fma:$d2 (Mul $t0, $t0), $rl, (Add $d, $rl)), // rl * (1 + t^2)
  (Add:$t $r, $d2),
  (Add:$tl (Sub $r, $t), $d2),
  (ToInt:$q (Add $k, (Bits 0x4b400000))),
  (Ne:$odd (FromInt (IShl (IAnd $q, (ConstI 1)), (ConstI 23))), (Const "0")),
  (Div:$i (Const "-1"), $t),
  (Fma:$e $i, $tl, (Fma $i, $t, (Const "1"))),
  (Select:$v $odd, (Fma $i, $e, $i), $t),
  (FromInt (IXor (ToInt $v), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

#endif
