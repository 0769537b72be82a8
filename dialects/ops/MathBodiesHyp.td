//===- MathBodiesHyp.td - sinh, cosh ------------------------------------------------------===//

#ifndef TORCHC_OPS_MATHBODIESHYP_TD
#define TORCHC_OPS_MATHBODIESHYP_TD

include "OpSpec.td"

// sinh, cosh of |x| = k * ln2 + r by the addition theorem: sinh(k ln2) = m, cosh(k ln2) = n, in half and with their
// rounding errors, doubled at the end. No division, no cancellation.
defvar sinhF32 = [
  (Abs:$a $x),
  (Select:$v (Gt $a, (Const "89.6")), (Const "89.6"), $a),
  (Fma:$t $v, (Bits 0x3fb8aa3b), (Bits 0x4b400000)),
  (Sub:$k $t, (Bits 0x4b400000)),
  (Fma:$rh $k, (Bits 0xbf317218), $v),
  (Fma:$r $k, (Bits 0x3102e308), $rh),
  (Fma:$rl $k, (Bits 0x3102e308), (Sub $rh, $r)),
  (Mul:$z $r, $r),
  (Fma:$ps (Fma (Bits 0x3951717c),
      $z, (Bits 0x3c0887df)),
      $z, (Bits 0x3e2aaaab)),
  (Fma:$rs $ps, (Mul $r, $z), $rl), // sinh r = r + rs
  (Fma:$pc (Fma (Bits 0x3ab6a792),
      $z, (Bits 0x3d2aaa73)),
      $z, (Bits 0x3f000000)),
  (Mul:$c $pc, $z), // cosh r = 1 + c
  (IShl:$ki (ToInt $t), (ConstI 23)),
  (FromInt:$up (IAdd $ki, (ConstI 0x3e800000))),
  (Gt:$wide $k, (Const "60")), // 2^-k would leave the range and doesn't count
  (Select:$down $wide, (Const "0"), (FromInt (ISub (ConstI 0x3e800000), $ki))),
  (Sub:$m $up, $down),
  (Add:$n $up, $down),
  (Fma:$y $n, $r, $m),
  (Fma:$yl $n, $r, (Sub $m, $y)),
  (Add:$ml $yl, (Sub (Sub $up, $m), $down)),
  (Add:$h $y, (Add $ml, (Fma $m, $c, (Mul $n, $rs)))),
  (Select:$s (Lt $a, (Const "0.000244140625")), $a, (Add $h, $h)),
  (FromInt (IOr (ToInt $s), (IAnd (ToInt $x), (ConstI 0x80000000))))
];

defvar coshF32 = [
  (Abs:$a $x),
  (Select:$v (Gt $a, (Const "89.6")), (Const "89.6"), $a),
  (Fma:$t $v, (Bits 0x3fb8aa3b), (Bits 0x4b400000)),
  (Sub:$k $t, (Bits 0x4b400000)),
  (Fma:$rh $k, (Bits 0xbf317218), $v),
  (Fma:$r $k, (Bits 0x3102e308), $rh),
  (Fma:$rl $k, (Bits 0x3102e308), (Sub $rh, $r)),
  (Mul:$z $r, $r),
  (Fma:$ps (Fma (Bits 0x3951717c),
      $z, (Bits 0x3c0887df)),
      $z, (Bits 0x3e2aaaab)),
  (Fma:$rs $ps, (Mul $r, $z), $rl), // sinh r = r + rs
  (Fma:$pc (Fma (Bits 0x3ab6a792),
      $z, (Bits 0x3d2aaa73)),
      $z, (Bits 0x3f000000)),
  (Mul:$c $pc, $z), // cosh r = 1 + c
  (IShl:$ki (ToInt $t), (ConstI 23)),
  (FromInt:$up (IAdd $ki, (ConstI 0x3e800000))),
  (Gt:$wide $k, (Const "60")), // 2^-k would leave the range and doesn't count
  (Select:$down $wide, (Const "0"), (FromInt (ISub (ConstI 0x3e800000), $ki))),
  (Sub:$m $up, $down),
  (Add:$n $up, $down),
  (Fma:$y $m, $r, $n),
  (Fma:$yl $m, $r, (Sub $n, $y)),
  (Add:$nl $yl, (Add (Sub $up, $n), $down)),
  (Add:$h $y, (Add $nl, (Fma $n, $c, (Mul $m, $rs)))),
  (Add $h, $h)
];

defvar sinhF64 = [
  (Abs:$a $x),
  (Select:$v (Gt $a, (Const "710.6")), (Const "710.6"), $a),
  (Fma:$t $v, (Bits 0x3ff71547652b82fe), (Bits 0x4338000000000000)),
  (Sub:$k $t, (Bits 0x4338000000000000)),
  (Fma:$rh $k, (Bits 0xbfe62e42fefa39ef), $v),
  (Fma:$r $k, (Bits 0xbc7abc9e3b39803f), $rh),
  (Fma:$rl $k, (Bits 0xbc7abc9e3b39803f), (Sub $rh, $r)),
  (Mul:$z $r, $r),
  (Fma:$ps (Fma (Fma (Fma (Bits 0x3e5af5ff26d34e95),
      $z, (Bits 0x3ec71ddf7b021364)),
      $z, (Bits 0x3f2a01a01b020479)),
      $z, (Bits 0x3f8111111110f62a)),
      $z, (Bits 0x3fc5555555555559)),
  (Fma:$rs $ps, (Mul $r, $z), $rl), // sinh r = r + rs
  (Fma:$pc (Fma (Fma (Fma (Fma (Bits 0x3e21f8bef3982cc7),
      $z, (Bits 0x3e927e4cc08fdd1f)),
      $z, (Bits 0x3efa01a01ad81070)),
      $z, (Bits 0x3f56c16c16c14ffa)),
      $z, (Bits 0x3fa5555555555558)),
      $z, (Bits 0x3fe0000000000000)),
  (Mul:$c $pc, $z), // cosh r = 1 + c
  (IShl:$ki (ToInt $t), (ConstI 52)),
  (FromInt:$up (IAdd $ki, (ConstI 0x3fd0000000000000))),
  (Gt:$wide $k, (Const "60")), // 2^-k would leave the range and doesn't count
  (Select:$down $wide, (Const "0"), (FromInt (ISub (ConstI 0x3fd0000000000000), $ki))),
  (Sub:$m $up, $down),
  (Add:$n $up, $down),
  (Fma:$y $n, $r, $m),
  (Fma:$yl $n, $r, (Sub $m, $y)),
  (Add:$ml $yl, (Sub (Sub $up, $m), $down)),
  (Add:$h $y, (Add $ml, (Fma $m, $c, (Mul $n, $rs)))),
  (Select:$s (Lt $a, (Const "7.450580596923828125e-9")), $a, (Add $h, $h)),
  (FromInt (IOr (ToInt $s), (IAnd (ToInt $x), (ConstI 0x8000000000000000))))
];

defvar coshF64 = [
  (Abs:$a $x),
  (Select:$v (Gt $a, (Const "710.6")), (Const "710.6"), $a),
  (Fma:$t $v, (Bits 0x3ff71547652b82fe), (Bits 0x4338000000000000)),
  (Sub:$k $t, (Bits 0x4338000000000000)),
  (Fma:$rh $k, (Bits 0xbfe62e42fefa39ef), $v),
  (Fma:$r $k, (Bits 0xbc7abc9e3b39803f), $rh),
  (Fma:$rl $k, (Bits 0xbc7abc9e3b39803f), (Sub $rh, $r)),
  (Mul:$z $r, $r),
  (Fma:$ps (Fma (Fma (Fma (Bits 0x3e5af5ff26d34e95),
      $z, (Bits 0x3ec71ddf7b021364)),
      $z, (Bits 0x3f2a01a01b020479)),
      $z, (Bits 0x3f8111111110f62a)),
      $z, (Bits 0x3fc5555555555559)),
  (Fma:$rs $ps, (Mul $r, $z), $rl), // sinh r = r + rs
  (Fma:$pc (Fma (Fma (Fma (Fma (Bits 0x3e21f8bef3982cc7),
      $z, (Bits 0x3e927e4cc08fdd1f)),
      $z, (Bits 0x3efa01a01ad81070)),
      $z, (Bits 0x3f56c16c16c14ffa)),
      $z, (Bits 0x3fa5555555555558)),
      $z, (Bits 0x3fe0000000000000)),
  (Mul:$c $pc, $z), // cosh r = 1 + c
  (IShl:$ki (ToInt $t), (ConstI 52)),
  (FromInt:$up (IAdd $ki, (ConstI 0x3fd0000000000000))),
  (Gt:$wide $k, (Const "60")), // 2^-k would leave the range and doesn't count
  (Select:$down $wide, (Const "0"), (FromInt (ISub (ConstI 0x3fd0000000000000), $ki))),
  (Sub:$m $up, $down),
  (Add:$n $up, $down),
  (Fma:$y $m, $r, $n),
  (Fma:$yl $m, $r, (Sub $n, $y)),
  (Add:$nl $yl, (Add (Sub $up, $n), $down)),
  (Add:$h $y, (Add $nl, (Fma $n, $c, (Mul $m, $rs)))),
  (Add $h, $h)
];

#endif
