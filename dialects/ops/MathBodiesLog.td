//===- MathBodiesLog.td - log1p, log2, log10 ----------------------------------------------===//

#ifndef TORCHC_OPS_MATHBODIESLOG_TD
#define TORCHC_OPS_MATHBODIESLOG_TD

include "OpSpec.td"

// log1p(x): k from u = 1 + x as in log, but with 1 + f in [3/4, 3/2) (f is exact where k is 1 or -1), then
// f = 2^-k * (1 + x) - 1 straight from x in one rounding. 4 * 2^-k keeps the factor in range for large x, the product
// with it exact for denormal x.
defvar log1pF32 = [
  (Add:$u $x, (Const "1")),
  (IAnd:$e (ISub (ToInt $u), (ConstI 0x3f400001)), (ConstI 0xff800000)),
  (FromInt:$s (ISub (ConstI 0x40800000), $e)),
  (Fma:$f (Mul $x, $s), (Const "0.25"), (Fma $s, (Const "0.25"), (Const "-1"))),
  (Mul:$k (FFromI $e), (Bits 0x34000000)),
  (Mul:$z $f, $f),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0xbd38f1be),
      $f, (Bits 0x3dd67a66)),
      $f, (Bits 0xbe06cc7a)),
      $f, (Bits 0x3e14403d)),
      $f, (Bits 0xbe2a76cb)),
      $f, (Bits 0x3e4cb4cf)),
      $f, (Bits 0xbe800025)),
      $f, (Bits 0x3eaaaad2)),
      $f, (Const "-0.5")),
  (Fma:$l $k, (Bits 0x3f317218), (Fma $p, $z, $f)),
  (Select:$finite (And (Lt $x, (Const "inf")), (Ne $x, (Const "0"))), $l, $x),
  (Select:$special (Eq $x, (Const "-1")), (Const "-inf"), (Const "nan")),
  (Select:$log1p (Gt $x, (Const "-1")), $finite, $special)
];

defvar log1pF64 = [
  (Add:$v $x, (Const "1")),
  (IAdd:$u (ToInt $v), (ConstI 0x0008000000000000)),
  (FromInt:$biased (IOr (IUShr $u, (ConstI 52)), (ConstI 0x4330000000000000))),
  (Sub:$k $biased, (Bits 0x43300000000003ff)),
  (IAnd:$e (ISub $u, (ConstI 0x3ff0000000000000)), (ConstI 0xfff0000000000000)),
  (FromInt:$c (ISub (ConstI 0x4010000000000000), $e)), // 4 * 2^-k
  (Fma:$f (Mul $x, $c), (Const "0.25"), (Fma $c, (Const "0.25"), (Const "-1"))),
  (Div:$s $f, (Add $f, (Const "2"))),
  (Mul:$z $s, $s),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0x3fc1b7ebee30c512),
      $z, (Bits 0x3fc0dcbfb12f22b8)),
      $z, (Bits 0x3fc3b35bb35f8d05)),
      $z, (Bits 0x3fc745c4b02be037)),
      $z, (Bits 0x3fcc71c748f334c1)),
      $z, (Bits 0x3fd24924921e4c28)),
      $z, (Bits 0x3fd999999999c175)),
      $z, (Bits 0x3fe555555555554f)),
  (Mul:$h (Mul $f, (Const "0.5")), $f), // f - h + s * (h + z * p)
  (Fma:$l $s, (Fma $z, $p, $h), (Mul $k, (Bits 0x3c7abc9e3b39803f))),
  (Fma:$y $k, (Bits 0x3fe62e42fefa39ef), (Add $f, (Sub $l, $h))),
  (Select:$finite (And (Lt $x, (Const "inf")), (Ne $x, (Const "0"))), $y, $x),
  (Select:$special (Eq $x, (Const "-1")), (Const "-inf"), (Const "nan")),
  (Select:$log1p (Gt $x, (Const "-1")), $finite, $special)
];

// log2(x), log10(x): 1 + f in [sqrt(1/2), sqrt(2)); the factor 1/ln2 or 1/ln10 of f is in two parts, the lower one
// in P.
defvar log2F32 = [
  (Lt:$small $x, (Bits 0x00800000)),
  (Select:$v $small, (Mul $x, (Const "8388608")), $x),
  (IAnd:$e (ISub (ToInt $v), (ConstI 0x3f3504f3)), (ConstI 0xff800000)),
  (Fma:$k (FFromI $e), (Bits 0x34000000), (Select $small, (Const "-23"), (Const "0"))),
  (Sub:$f (FromInt (ISub (ToInt $v), $e)), (Const "1")),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0xbde0f2c8),
      $f, (Bits 0x3e3f5c9c)),
      $f, (Bits 0xbe440b81)),
      $f, (Bits 0x3e516e3c)),
      $f, (Bits 0xbe75507f)),
      $f, (Bits 0x3e93bf64)),
      $f, (Bits 0xbeb8ad80)),
      $f, (Bits 0x3ef6384b)),
      $f, (Bits 0xbf38aa38)),
      $f, (Bits 0x32a4ee84)),
  (Add:$l $k, (Fma $f, (Bits 0x3fb8aa3b), (Mul $p, $f))),
  (Select:$finite (Lt $x, (Const "inf")), $l, $x),
  (Select:$special (Eq $x, (Const "0")), (Const "-inf"), (Const "nan")),
  (Select (Gt $x, (Const "0")), $finite, $special)
];

defvar log10F32 = [
  (Lt:$small $x, (Bits 0x00800000)),
  (Select:$v $small, (Mul $x, (Const "8388608")), $x),
  (IAnd:$e (ISub (ToInt $v), (ConstI 0x3f3504f3)), (ConstI 0xff800000)),
  (Fma:$k (FFromI $e), (Bits 0x34000000), (Select $small, (Const "-23"), (Const "0"))),
  (Sub:$f (FromInt (ISub (ToInt $v), $e)), (Const "1")),
  (Fma:$p (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Fma (Bits 0xbd074c99),
      $f, (Bits 0x3d66042a)),
      $f, (Bits 0xbd6be986)),
      $f, (Bits 0x3d7c3ad3)),
      $f, (Bits 0xbd93b497)),
      $f, (Bits 0x3db1e7af)),
      $f, (Bits 0xbdde5faa)),
      $f, (Bits 0x3e143d39)),
      $f, (Bits 0xbe5e5bd5)),
      $f, (Bits 0xb22ddfde)),
  (Fma:$c $k, (Bits 0xb2760860), (Mul $p, $f)),
  (Fma:$l $k, (Bits 0x3e9a209b), (Fma $f, (Bits 0x3ede5bd9), $c)),
  (Select:$finite (Lt $x, (Const "inf")), $l, $x),
  (Select:$special (Eq $x, (Const "0")), (Const "-inf"), (Const "nan")),
  (Select (Gt $x, (Const "0")), $finite, $special)
];

defvar log2F64 = [
  (Lt:$small $x, (Bits 0x0010000000000000)),
  (Select:$v $small, (Mul $x, (Bits 0x4350000000000000)), $x), // 2^54
  (IAdd:$u (ToInt $v), (ConstI 0x00095f6200000000)),
  (FromInt:$biased (IOr (IUShr $u, (ConstI 52)), (ConstI 0x4330000000000000))),
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
  (Sub:$a $f, $h), // a + b = log(1 + f)
  (Fma:$b $s, (Fma $z, $p, $h), (Sub (Sub $f, $a), $h)),
  (Mul:$c $a, (Bits 0x3ff71547652b82fe)),
  (Fma:$cl $a, (Bits 0x3ff71547652b82fe), (Neg $c)),
  (Fma:$d $a, (Bits 0x3c7777d0ffda0d24), (Fma $b, (Bits 0x3ff71547652b82fe), $cl)),
  (Add:$y $k, $c),
  (Add:$l $y, (Add (Add (Sub $k, $y), $c), $d)),
  (Select:$finite (Lt $x, (Const "inf")), $l, $x),
  (Select:$special (Eq $x, (Const "0")), (Const "-inf"), (Const "nan")),
  (Select (Gt $x, (Const "0")), $finite, $special)
];

defvar log10F64 = [
  (Lt:$small $x, (Bits 0x0010000000000000)),
  (Select:$v $small, (Mul $x, (Bits 0x4350000000000000)), $x), // 2^54
  (IAdd:$u (ToInt $v), (ConstI 0x00095f6200000000)),
  (FromInt:$biased (IOr (IUShr $u, (ConstI 52)), (ConstI 0x4330000000000000))),
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
  (Sub:$a $f, $h), // a + b = log(1 + f)
  (Fma:$b $s, (Fma $z, $p, $h), (Sub (Sub $f, $a), $h)),
  (Mul:$c $a, (Bits 0x3fdbcb7b1526e50e)),
  (Fma:$cl $a, (Bits 0x3fdbcb7b1526e50e), (Neg $c)),
  (Fma:$d $a, (Bits 0x3c695355baaafad3), (Fma $b, (Bits 0x3fdbcb7b1526e50e), $cl)),
  (Mul:$m $k, (Bits 0x3fd34413509f79ff)),
  (Fma:$ml $k, (Bits 0xbc49dc1da994fd21), (Fma $k, (Bits 0x3fd34413509f79ff), (Neg $m))),
  (Add:$y $m, $c),
  (Add:$l $y, (Add (Add (Sub $m, $y), $c), (Add $d, $ml))),
  (Select:$finite (Lt $x, (Const "inf")), $l, $x),
  (Select:$special (Eq $x, (Const "0")), (Const "-inf"), (Const "nan")),
  (Select (Gt $x, (Const "0")), $finite, $special)
];

#endif
