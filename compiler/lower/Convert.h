// Conversions between element types (N6, N8), the same for scalars and vectors. No libm or compiler-rt call results.
#pragma once
#include "compiler/lower/KernelBuilder.h"

namespace torchc::lower {

/// `v` of type `from` (register form) as `to`. f64 and i64 reach f16 and bf16 through f32; floats reach integers by
/// saturating to i64 and truncating, uint64 by saturating; float8 types meet all others through f32.
Value convert(KernelBuilder &b, Value v, DType from, DType to);

Value f16ToF32(KernelBuilder &b, Value bits);
Value f32ToF16(KernelBuilder &b, Value v);
Value bf16ToF32(KernelBuilder &b, Value bits);
Value f32ToBf16(KernelBuilder &b, Value v);
/// A float8 number's code, i8.
Value float8ToF32(KernelBuilder &b, Value code, DType t);
Value f32ToFloat8(KernelBuilder &b, Value v, DType t);
/// i64 -> f64 with one rounding, by integer and double operations that every vector ISA has.
Value i64ToF64(KernelBuilder &b, Value v);
/// f32 or f64 -> i64, saturating, NaN -> 0.
Value floatToI64(KernelBuilder &b, Value v);

} // namespace torchc::lower
