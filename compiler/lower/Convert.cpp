#include "compiler/lower/Convert.h"
#include "dialects/rules/Float8.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

namespace {
/// Short names for element-wise operations on values of one lane count.
struct Ops {
  KernelBuilder &b;
  unsigned lanes;
  Ops(KernelBuilder &b, Value v) : b(b), lanes(KernelBuilder::lanesOf(v)) {}
  Type type(Type element) { return b.wide(element, lanes); }
  Type i16() { return type(b.getI16Type()); }
  Type i32() { return type(b.getI32Type()); }
  Type i64() { return type(b.getI64Type()); }
  Type f32() { return type(b.getF32Type()); }
  Type f64() { return type(b.getF64Type()); }
  Value c(Type t, int64_t v) { return b.intConst(t, v); }
  Value bits(Type t, uint64_t v) { return b.bitsConst(t, v); }
  Value bitcast(Type t, Value v) { return arith::BitcastOp::create(b, t, v); }
  Value zext(Type t, Value v) { return arith::ExtUIOp::create(b, t, v); }
  Value sext(Type t, Value v) { return arith::ExtSIOp::create(b, t, v); }
  Value trunc(Type t, Value v) { return arith::TruncIOp::create(b, t, v); }
  Value band(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value bor(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value bxor(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value shl(Value x, int64_t n) { return arith::ShLIOp::create(b, x, c(x.getType(), n)); }
  Value shr(Value x, int64_t n) { return arith::ShRUIOp::create(b, x, c(x.getType(), n)); }
  Value fadd(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value fsub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value fmul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Type f16() { return type(b.getF16Type()); }
};

/// Processors of these sets convert halves in one instruction (F16C), by the same rules but for NaN's payload on the way
/// down.
bool convertsHalves(KernelBuilder &b) {
  return b.target().isa == codegen::Isa::V3 || b.target().isa == codegen::Isa::V4;
}
} // namespace

Value f16ToF32(KernelBuilder &b, Value h) {
  Ops o(b, h);
  if (convertsHalves(b))
    return arith::ExtFOp::create(b, o.f32(), o.bitcast(o.f16(), h));
  Value w = o.shl(o.zext(o.i32(), h), 16);
  Value sign = o.band(w, o.c(o.i32(), 0x80000000));
  Value twice = b.add(w, w); // exponent and mantissa at the top
  // Exponent 31 becomes 255 before the exact scaling, so inf and NaN stay what they are.
  Value normal = o.fmul(o.bitcast(o.f32(), b.add(o.shr(twice, 4), o.c(o.i32(), 0x70000000))),
                        o.bits(o.f32(), 0x07800000)); // 2^-112
  // Denormals: the mantissa as the low bits of 0.5, minus 0.5.
  Value small =
      o.fsub(o.bitcast(o.f32(), o.bor(o.shr(twice, 17), o.c(o.i32(), 0x3f000000))), b.floatConst(o.f32(), 0.5));
  Value isSmall = b.compare(Pred::ult, twice, o.c(o.i32(), 1 << 27));
  Value bits = b.select(isSmall, o.bitcast(o.i32(), small), o.bitcast(o.i32(), normal));
  return o.bitcast(o.f32(), o.bor(sign, bits));
}

Value f32ToF16(KernelBuilder &b, Value v) {
  Ops o(b, v);
  Value w = o.bitcast(o.i32(), v);
  Value a = o.band(w, o.c(o.i32(), 0x7fffffff));
  if (convertsHalves(b)) {
    Value nan = o.bor(o.band(w, o.c(o.i32(), 0x80000000)), o.c(o.i32(), 0x7fc00000));
    Value isNan = b.compare(Pred::ugt, a, o.c(o.i32(), 0x7f800000));
    Value known = o.bitcast(o.f32(), b.select(isNan, nan, w));
    return o.bitcast(o.i16(), arith::TruncFOp::create(b, o.f16(), known));
  }
  Value sign = o.shr(o.band(w, o.c(o.i32(), 0x80000000)), 16);
  // Normal results: rebias the exponent and round the 13 dropped bits to nearest even; past 65504 this gives inf.
  Value odd = o.band(o.shr(a, 13), o.c(o.i32(), 1));
  Value rounded = o.shr(b.add(b.add(a, o.c(o.i32(), 0xfff - 0x38000000)), odd), 13);
  Value normal = arith::MinUIOp::create(b, rounded, o.c(o.i32(), 0x7c00));
  // Denormal results: adding 0.5 rounds at 2^-24, the last place of f16's denormals.
  Value shifted = o.fadd(o.bitcast(o.f32(), a), b.floatConst(o.f32(), 0.5));
  Value small = b.sub(o.bitcast(o.i32(), shifted), o.c(o.i32(), 0x3f000000));
  Value r = b.select(b.compare(Pred::ult, a, o.c(o.i32(), 0x38800000)), small, normal);
  r = b.select(b.compare(Pred::ugt, a, o.c(o.i32(), 0x7f800000)), o.c(o.i32(), 0x7e00), r);
  return o.trunc(o.i16(), o.bor(sign, r));
}

Value bf16ToF32(KernelBuilder &b, Value h) {
  Ops o(b, h);
  return o.bitcast(o.f32(), o.shl(o.zext(o.i32(), h), 16));
}

Value f32ToBf16(KernelBuilder &b, Value v) {
  Ops o(b, v);
  Value w = o.bitcast(o.i32(), v);
  Value odd = o.band(o.shr(w, 16), o.c(o.i32(), 1));
  Value rounded = o.shr(b.add(b.add(w, o.c(o.i32(), 0x7fff)), odd), 16);
  Value a = o.band(w, o.c(o.i32(), 0x7fffffff));
  Value isNan = b.compare(Pred::ugt, a, o.c(o.i32(), 0x7f800000));
  return o.trunc(o.i16(), b.select(isNan, o.c(o.i32(), 0x7fc0), rounded));
}

Value float8ToF32(KernelBuilder &b, Value code, DType t) {
  Ops o(b, code);
  Float8Format f = float8Format(t);
  Type type = o.i32();
  Value w = o.zext(type, code), low = o.band(w, o.c(type, 0x7f)), sign = o.shl(o.band(w, o.c(type, 0x80)), 24);
  Value normal = b.add(o.shl(low, 23 - f.mantissa), o.c(type, int64_t(127 - f.bias) << 23));
  Value unit = o.bits(o.f32(), uint64_t(128 - f.bias - f.mantissa) << 23);
  Value small = o.fmul(arith::SIToFPOp::create(b, o.f32(), low), unit);
  Value isSmall = b.compare(Pred::ult, low, o.c(type, 1 << f.mantissa));
  Value bits = b.select(isSmall, o.bitcast(type, small), normal);
  if (f.overflow > f.most && !f.unsignedZero)
    bits = b.select(b.compare(Pred::eq, low, o.c(type, f.overflow)), o.c(type, 0x7f800000), bits);
  Value isNan = f.unsignedZero ? b.compare(Pred::eq, w, o.c(type, f.nan))
                               : b.compare(Pred::ugt, low, o.c(type, std::max(f.most, f.overflow)));
  return o.bitcast(o.f32(), o.bor(sign, b.select(isNan, o.c(type, 0x7fc00000), bits)));
}

/// As floatToFloat8 of Float8.h.
Value f32ToFloat8(KernelBuilder &b, Value v, DType t) {
  Ops o(b, v);
  Float8Format f = float8Format(t);
  Type type = o.i32();
  int drop = 23 - f.mantissa;
  Value w = o.bitcast(type, v), a = o.band(w, o.c(type, 0x7fffffff)), sign = o.band(o.shr(w, 24), o.c(type, 0x80));
  Value odd = o.band(o.shr(a, drop), o.c(type, 1));
  Value rounded = o.shr(b.add(b.add(a, o.c(type, (int64_t(1) << (drop - 1)) - 1)), odd), drop);
  Value normal = b.sub(rounded, o.c(type, int64_t(127 - f.bias) << f.mantissa));
  int64_t unit = int64_t(151 - f.bias - f.mantissa) << 23;
  Value shifted = o.fadd(o.bitcast(o.f32(), a), o.bits(o.f32(), uint64_t(unit)));
  Value small = b.sub(o.bitcast(type, shifted), o.c(type, unit));
  Value beyond = b.compare(Pred::ugt, normal, o.c(type, f.most));
  Value code = b.select(b.compare(Pred::ult, a, o.c(type, int64_t(128 - f.bias) << 23)), small,
                        b.select(beyond, o.c(type, f.overflow), normal));
  code = b.select(b.compare(Pred::ugt, a, o.c(type, 0x7f800000)), o.c(type, f.nan), code);
  if (f.unsignedZero) {
    Value bare = o.bor(b.compare(Pred::eq, code, o.c(type, 0)), b.compare(Pred::eq, code, o.c(type, f.nan)));
    sign = b.select(bare, o.c(type, 0), sign);
  }
  return o.trunc(o.type(b.getI8Type()), o.bor(code, sign));
}

Value i64ToF64(KernelBuilder &b, Value v) {
  Ops o(b, v);
  if (o.lanes == 1 || b.target().isa != codegen::Isa::V3)
    return arith::SIToFPOp::create(b, o.f64(), v);
  // Halves as exact doubles by way of the exponents 2^52 and 2^84; the last addition rounds once.
  Value low = o.bor(o.band(v, o.c(o.i64(), 0xffffffff)), o.c(o.i64(), 0x4330000000000000));
  Value high = o.bxor(o.shr(v, 32), o.c(o.i64(), 0x4530000080000000));
  Value big = o.bits(o.f64(), 0x4530000080100000); // 2^84 + 2^63 + 2^52
  return o.fadd(o.fsub(o.bitcast(o.f64(), high), big), o.bitcast(o.f64(), low));
}

Value floatToI64(KernelBuilder &b, Value v) {
  Ops o(b, v);
  return LLVM::CallIntrinsicOp::create(b, o.i64(), b.getStringAttr("llvm.fptosi.sat"), ValueRange{v}).getResult(0);
}

static Value floatToU64(KernelBuilder &b, Value v) {
  Ops o(b, v);
  return LLVM::CallIntrinsicOp::create(b, o.i64(), b.getStringAttr("llvm.fptoui.sat"), ValueRange{v}).getResult(0);
}

/// The same for vectors of AVX2, which converts to i32 only: in i32 where it holds every lane. `wide`: as i64, else the low
/// half.
static Value floatToIntAvx2(KernelBuilder &b, Value v, bool wide) {
  Ops o(b, v);
  Type type = v.getType();
  bool single = KernelBuilder::scalarOf(type).isF32();
  auto limit = [&](double x) { return b.floatConst(type, x); };
  Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::UGE, v, limit(0x1p31));
  Value below = arith::CmpFOp::create(b, arith::CmpFPredicate::ULE, v, limit(single ? -0x1p31 - 256 : -0x1p31 - 1));
  Value outside = vector::ReductionOp::create(b, vector::CombiningKind::OR, o.bor(above, below));
  auto exact = [&]() -> Value { return floatToI64(b, v); };
  auto quick = [&]() -> Value { return arith::FPToSIOp::create(b, o.i32(), v); };
  return b.ifElse(
      outside, wide ? o.i64() : o.i32(), [&] { return Values{wide ? exact() : o.trunc(o.i32(), exact())}; },
      [&] { return Values{wide ? o.sext(o.i64(), quick()) : quick()}; })[0];
}

static Value toBool(KernelBuilder &b, Value v, DType from) {
  if (isReducedFloat(from))
    v = arith::AndIOp::create(b, v, b.intConst(v.getType(), 0x7fff));
  if (from == DType::F32 || from == DType::F64)
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, v, b.zero(v.getType()));
  return b.compare(Pred::ne, v, b.zero(v.getType()));
}

static Value intToFloat(KernelBuilder &b, Value v, DType from, DType to) {
  Type type = b.wide(to, KernelBuilder::lanesOf(v));
  if (from == DType::I64 && to == DType::F64)
    return i64ToF64(b, v);
  if (from == DType::Bool)
    return b.select(v, b.floatConst(type, 1), b.floatConst(type, 0));
  if (isUnsigned(from))
    return arith::UIToFPOp::create(b, type, v);
  return arith::SIToFPOp::create(b, type, v);
}

static Value intToInt(KernelBuilder &b, Value v, DType from, DType to) {
  unsigned in = KernelBuilder::scalarOf(v.getType()).getIntOrFloatBitWidth();
  Type type = b.wide(to, KernelBuilder::lanesOf(v));
  unsigned out = KernelBuilder::scalarOf(type).getIntOrFloatBitWidth();
  if (in == out)
    return v;
  if (in > out)
    return arith::TruncIOp::create(b, type, v);
  if (isUnsigned(from) || from == DType::Bool)
    return arith::ExtUIOp::create(b, type, v);
  return arith::ExtSIOp::create(b, type, v);
}

Value convert(KernelBuilder &b, Value v, DType from, DType to) {
  if (from == to)
    return v;
  if (isFloat8(from))
    return convert(b, float8ToF32(b, v, from), DType::F32, to);
  if (isFloat8(to))
    return f32ToFloat8(b, convert(b, v, from, DType::F32), to);
  if (isWideUnsigned(to) && !(to == DType::U64 && isFloat(from)))
    return convert(b, v, from, signedType(to)); // the same bits
  if (to == DType::Bool)
    return toBool(b, v, from);
  if (from == DType::F16 || from == DType::BF16) {
    Value wide = from == DType::F16 ? f16ToF32(b, v) : bf16ToF32(b, v);
    return convert(b, wide, DType::F32, to);
  }
  if (to == DType::F16 || to == DType::BF16) {
    Value wide = convert(b, v, from, DType::F32);
    return to == DType::F16 ? f32ToF16(b, wide) : f32ToBf16(b, wide);
  }
  if (!isFloat(from))
    return isFloat(to) ? intToFloat(b, v, from, to) : intToInt(b, v, from, to);
  Type type = b.wide(to, KernelBuilder::lanesOf(v));
  if (to == DType::F64)
    return arith::ExtFOp::create(b, type, v);
  if (to == DType::F32)
    return arith::TruncFOp::create(b, type, v);
  if (to == DType::U64)
    return floatToU64(b, v);
  if (KernelBuilder::lanesOf(v) > 1 && b.target().isa == codegen::Isa::V3) {
    bool wide = to == DType::I64;
    return intToInt(b, floatToIntAvx2(b, v, wide), wide ? DType::I64 : DType::I32, to);
  }
  return intToInt(b, floatToI64(b, v), DType::I64, to);
}

} // namespace torchc::lower
