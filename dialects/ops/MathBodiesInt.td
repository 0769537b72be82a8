//===- MathBodiesInt.td - exact remainders, integer powers, neighbours ---------------------------------------------===//

#ifndef TORCHC_OPS_MATHBODIESINT_TD
#define TORCHC_OPS_MATHBODIESINT_TD

include "OpSpec.td"

// Quotient towards zero, remainder, and whether the quotient rounded down is one less.
defvar divisionFloor = [
  (Div:$q $x, $y),
  (Sub:$m $x, (Mul $q, $y)),
  (And:$off (Ne $m, (Const "0")), (Xor (Lt $m, (Const "0")), (Lt $y, (Const "0"))))
];

// Integer power by squaring: 63 binary digits of the exponent. Bases of a negative one: 1 and -1 have a reciprocal.
defvar powIntStep = [
  (Select:$p (Eq (IAnd $e, (ConstI 1)), (ConstI 0)), $p, (Mul $p, $b)),
  (Mul:$b $b, $b),
  (IUShr:$e $e, (ConstI 1))
];
defvar powIntSteps8 = powIntStep # powIntStep # powIntStep # powIntStep # powIntStep # powIntStep # powIntStep # powIntStep;
defvar powInt = [
  (Add:$b $x, (ConstI 0)),
  (Add:$e $y, (ConstI 0)),
  (Add:$p (ConstI 1), (ConstI 0))
] # powIntSteps8 # powIntSteps8 # powIntSteps8 # powIntSteps8 # powIntSteps8 # powIntSteps8 # powIntSteps8 # powIntSteps8 # [
  (Select:$minus (Eq (IAnd $y, (ConstI 1)), (ConstI 0)), (ConstI 1), (ConstI -1)),
  (Select:$other (Eq $x, (ConstI -1)), $minus, (ConstI 0)),
  (Select (Lt $y, (ConstI 0)), (Select (Eq $x, (ConstI 1)), (ConstI 1), $other), $p)
];

// x mod y towards zero, exactly: both are scaled to [1, 2), x = r * 2^d; each step takes k digits of the quotient. Where
// one step takes them all, the later ones change nothing and are skipped.
defvar fmodStep32 = [
  (Select:$k (Gt $d, (Const "22")), (Const "22"), $d),
  (Sub:$d $d, $k),
  (Mul:$t $r, (FromInt (IAdd (IShl (ToInt (Add $k, (Bits 0x4b400000))), (ConstI 23)), (ConstI 0x3f800000)))),
  (Fma:$u (Neg (Floor (Div $t, $b))), $b, $t),
  (Select:$v (Lt $u, (Const "0")), (Add $u, $b), $u),
  (Select:$r (Ge $v, $b), (Sub $v, $b), $v)
];
defvar fmodSteps32 = fmodStep32 # fmodStep32 # fmodStep32 # fmodStep32;
defvar fmodLater32 = fmodSteps32 # fmodSteps32 # fmodSteps32; // 13 * 22 digits in all
defvar fmodStep64 = [
  (Select:$k (Gt $d, (Const "51")), (Const "51"), $d),
  (Sub:$d $d, $k),
  (Mul:$t $r, (FromInt (IAdd (IShl (ToInt (Add $k, (Bits 0x4338000000000000))), (ConstI 52)), (ConstI 0x3ff0000000000000)))),
  (Fma:$u (Neg (Floor (Div $t, $b))), $b, $t),
  (Select:$v (Lt $u, (Const "0")), (Add $u, $b), $u),
  (Select:$r (Ge $v, $b), (Sub $v, $b), $v)
];
defvar fmodSteps64 = fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64;
defvar fmodLater64 = fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64 # fmodStep64 # fmodSteps64 #
                     fmodSteps64 # fmodSteps64 # fmodSteps64 # fmodSteps64;
defvar fmodF32 = [
  (Abs:$a0 $x),
  (Abs:$b0 $y),
  (Select:$a1 (Lt $a0, (Const "inf")), $a0, (Const "1")),
  (Select:$b1 (And (Gt $b0, (Const "0")), (Lt $b0, (Const "inf"))), $b0, (Const "1")),
  (Lt:$rSmall $a1, (Bits 0x00800000)),
  (ToInt:$rBits (Select $rSmall, (Mul $a1, (Const "8388608")), $a1)),
  (Sub:$rExp (Sub (FromInt (IOr (IUShr $rBits, (ConstI 23)), (ConstI 0x4b000000))), (Bits 0x4b000000)),
       (Select $rSmall, (Const "23"), (Const "0"))),
  (FromInt:$r (IOr (IAnd $rBits, (ConstI 0x007fffff)), (ConstI 0x3f800000))),
  (Lt:$bSmall $b1, (Bits 0x00800000)),
  (ToInt:$bBits (Select $bSmall, (Mul $b1, (Const "8388608")), $b1)),
  (Sub:$bExp (Sub (FromInt (IOr (IUShr $bBits, (ConstI 23)), (ConstI 0x4b000000))), (Bits 0x4b000000)),
       (Select $bSmall, (Const "23"), (Const "0"))),
  (FromInt:$b (IOr (IAnd $bBits, (ConstI 0x007fffff)), (ConstI 0x3f800000))),
  (Sub:$d0 $rExp, $bExp),
  (Select:$d (Lt $d0, (Const "0")), (Const "0"), $d0),
  (Select:$r (Ge $r, $b), (Sub $r, $b), $r),
  (Le:$once $d, (Const "22"))
] # fmodStep32 # [
  (Add:$r1 $r, (Const "0"))
] # fmodLater32 # [
  (Select:$r $once, $r1, $r),
  (Sub:$s $bExp, (Const "127")),
  (Select:$s1 (Lt $s, (Const "-100")), (Const "-100"), $s), // 2^s in two factors
  (Mul:$f1 $r, (FromInt (IAdd (IShl (ToInt (Add $s1, (Bits 0x4b400000))), (ConstI 23)), (ConstI 0x3f800000)))),
  (Mul:$f $f1, (FromInt (IAdd (IShl (ToInt (Add (Sub $s, $s1), (Bits 0x4b400000))), (ConstI 23)), (ConstI 0x3f800000)))),
  (Select:$g (Lt $a0, $b0), $a0, $f),
  (FromInt:$h (IOr (ToInt $g), (IAnd (ToInt $x), (ConstI 0x80000000)))),
  (And:$fine (And (Lt $a0, (Const "inf")), (Gt $b0, (Const "0"))), (Not (IsNan $y))),
  (Select:$mod $fine, $h, (Const "nan"))
];
defvar fmodF64 = [
  (Abs:$a0 $x),
  (Abs:$b0 $y),
  (Select:$a1 (Lt $a0, (Const "inf")), $a0, (Const "1")),
  (Select:$b1 (And (Gt $b0, (Const "0")), (Lt $b0, (Const "inf"))), $b0, (Const "1")),
  (Lt:$rSmall $a1, (Bits 0x0010000000000000)),
  (ToInt:$rBits (Select $rSmall, (Mul $a1, (Bits 0x4350000000000000)), $a1)),
  (Sub:$rExp (Sub (FromInt (IOr (IUShr $rBits, (ConstI 52)), (ConstI 0x4330000000000000))), (Bits 0x4330000000000000)),
       (Select $rSmall, (Const "54"), (Const "0"))),
  (FromInt:$r (IOr (IAnd $rBits, (ConstI 0x000fffffffffffff)), (ConstI 0x3ff0000000000000))),
  (Lt:$bSmall $b1, (Bits 0x0010000000000000)),
  (ToInt:$bBits (Select $bSmall, (Mul $b1, (Bits 0x4350000000000000)), $b1)),
  (Sub:$bExp (Sub (FromInt (IOr (IUShr $bBits, (ConstI 52)), (ConstI 0x4330000000000000))), (Bits 0x4330000000000000)),
       (Select $bSmall, (Const "54"), (Const "0"))),
  (FromInt:$b (IOr (IAnd $bBits, (ConstI 0x000fffffffffffff)), (ConstI 0x3ff0000000000000))),
  (Sub:$d0 $rExp, $bExp),
  (Select:$d (Lt $d0, (Const "0")), (Const "0"), $d0),
  (Select:$r (Ge $r, $b), (Sub $r, $b), $r),
  (Le:$once $d, (Const "51"))
] # fmodStep64 # [
  (Add:$r1 $r, (Const "0"))
] # fmodLater64 # [
  (Select:$r $once, $r1, $r),
  (Sub:$s $bExp, (Const "1023")),
  (Select:$s1 (Lt $s, (Const "-1000")), (Const "-1000"), $s), // 2^s in two factors
  (Mul:$f1 $r, (FromInt (IAdd (IShl (ToInt (Add $s1, (Bits 0x4338000000000000))), (ConstI 52)),
                              (ConstI 0x3ff0000000000000)))),
  (Mul:$f $f1, (FromInt (IAdd (IShl (ToInt (Add (Sub $s, $s1), (Bits 0x4338000000000000))), (ConstI 52)),
                              (ConstI 0x3ff0000000000000)))),
  (Select:$g (Lt $a0, $b0), $a0, $f),
  (FromInt:$h (IOr (ToInt $g), (IAnd (ToInt $x), (ConstI 0x8000000000000000)))),
  (And:$fine (And (Lt $a0, (Const "inf")), (Gt $b0, (Const "0"))), (Not (IsNan $y))),
  (Select:$mod $fine, $h, (Const "nan"))
];

// The remainder moves to y's sign; the quotient is that of x minus it, which is an integer up to one rounding.
defvar remainderF32 = fmodF32 # [
  (And:$off (Ne $mod, (Const "0")), (Xor (Lt $mod, (Const "0")), (Lt $y, (Const "0")))),
  (Select $off, (Add $mod, $y), $mod)
];
defvar floorDivideF32 = fmodF32 # [
  (Div:$q $x, $y),
  (And:$off (Ne $mod, (Const "0")), (Xor (Lt $mod, (Const "0")), (Lt $y, (Const "0")))),
  (Div:$w0 (Sub $x, $mod), $y),
  (Select:$w1 $off, (Sub $w0, (Const "1")), $w0),
  (Floor:$w2 $w1),
  (Select:$w3 (Gt (Sub $w1, $w2), (Const "0.5")), (Add $w2, (Const "1")), $w2),
  (Select:$w4 (Eq $w1, (Const "0")), (FromInt (IAnd (ToInt (Div $x, $y)), (ConstI 0x80000000))), $w3),
  (Select (Eq $y, (Const "0")), $q, $w4)
];
defvar remainderF64 = fmodF64 # [
  (And:$off (Ne $mod, (Const "0")), (Xor (Lt $mod, (Const "0")), (Lt $y, (Const "0")))),
  (Select $off, (Add $mod, $y), $mod)
];
defvar floorDivideF64 = fmodF64 # [
  (Div:$q $x, $y),
  (And:$off (Ne $mod, (Const "0")), (Xor (Lt $mod, (Const "0")), (Lt $y, (Const "0")))),
  (Div:$w0 (Sub $x, $mod), $y),
  (Select:$w1 $off, (Sub $w0, (Const "1")), $w0),
  (Floor:$w2 $w1),
  (Select:$w3 (Gt (Sub $w1, $w2), (Const "0.5")), (Add $w2, (Const "1")), $w2),
  (Select:$w4 (Eq $w1, (Const "0")), (FromInt (IAnd (ToInt (Div $x, $y)), (ConstI 0x8000000000000000))), $w3),
  (Select (Eq $y, (Const "0")), $q, $w4)
];

defvar nextafterF32 = [
  (Select:$by (Xor (Lt $x, $y), (Lt $x, (Const "0"))), (ConstI 1), (ConstI -1)),
  (FromInt:$moved (IAdd (ToInt $x), $by)),
  (FromInt:$least (IOr (IAnd (ToInt $y), (ConstI 0x80000000)), (ConstI 1))),
  (Select:$v (Eq $x, (Const "0")), $least, $moved),
  (Select:$w (Eq $x, $y), $y, $v),
  (Select (Or (IsNan $x), (IsNan $y)), (Add $x, $y), $w)
];
defvar nextafterF64 = [
  (Select:$by (Xor (Lt $x, $y), (Lt $x, (Const "0"))), (ConstI 1), (ConstI -1)),
  (FromInt:$moved (IAdd (ToInt $x), $by)),
  (FromInt:$least (IOr (IAnd (ToInt $y), (ConstI 0x8000000000000000)), (ConstI 1))),
  (Select:$v (Eq $x, (Const "0")), $least, $moved),
  (Select:$w (Eq $x, $y), $y, $v),
  (Select (Or (IsNan $x), (IsNan $y)), (Add $x, $y), $w)
];

// hypot: scaled by a power of two so that no square leaves the range.
defvar hypotF32 = [
  (Lt:$less (Abs $x), (Abs $y)),
  (Select:$m $less, (Abs $y), (Abs $x)),
  (Select:$n $less, (Abs $x), (Abs $y)),
  (Gt:$big $m, (Bits 0x5d800000)),
  (Lt:$small $m, (Bits 0x2b800000)),
  (Select:$s $big, (Bits 0x1d800000), (Select $small, (Bits 0x6a800000), (Const "1"))),
  (Select:$u $big, (Bits 0x61800000), (Select $small, (Bits 0x14800000), (Const "1"))),
  (Mul:$a $m, $s),
  (Mul:$b $n, $s),
  (Mul:$h (Sqrt (Fma $a, $a, (Mul $b, $b))), $u),
  (Or:$infinite (Eq (Abs $x), (Const "inf")), (Eq (Abs $y), (Const "inf"))),
  (Select $infinite, (Const "inf"), $h)
];
defvar hypotF64 = [
  (Lt:$less (Abs $x), (Abs $y)),
  (Select:$m $less, (Abs $y), (Abs $x)),
  (Select:$n $less, (Abs $x), (Abs $y)),
  (Gt:$big $m, (Bits 0x5ff0000000000000)),
  (Lt:$small $m, (Bits 0x26f0000000000000)),
  (Select:$s $big, (Bits 0x1a70000000000000), (Select $small, (Bits 0x6570000000000000), (Const "1"))),
  (Select:$u $big, (Bits 0x6570000000000000), (Select $small, (Bits 0x1a70000000000000), (Const "1"))),
  (Mul:$a $m, $s),
  (Mul:$b $n, $s),
  (Mul:$h (Sqrt (Fma $a, $a, (Mul $b, $b))), $u),
  (Or:$infinite (Eq (Abs $x), (Const "inf")), (Eq (Abs $y), (Const "inf"))),
  (Select $infinite, (Const "inf"), $h)
];

#endif
