#ifndef TORCHC_OPS_MATHBODIES_TD
#define TORCHC_OPS_MATHBODIES_TD
include "OpSpec.td"
defvar expF32 = [(Add $x, (Const "1"))];
defvar expF64 = [(Add $x, (Const "1"))];
defvar logF32 = [(Add $x, (Const "1"))];
defvar logF64 = [(Add $x, (Const "1"))];
defvar tanhF32 = [(Add $x, (Const "1"))];
defvar tanhF64 = [(Add $x, (Const "1"))];
#endif
