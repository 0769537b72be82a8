#include "compiler/lower/BodyEmitter.h"
#include "compiler/lower/ReduceCommon.h"

using namespace mlir;

namespace torchc::lower {

static bool isSumLike(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::Prod; }

std::optional<ReduceKind> reduceKind(const OpInfo &info) {
  const Body &body = info.bodies[int(BodyClass::F32)];
  if (body.numNodes == 0)
    return std::nullopt;
  switch (body.nodes[body.numNodes - 1].op) {
  case BodyOp::Add: return ReduceKind::Sum;
  case BodyOp::Mul: return ReduceKind::Prod;
  case BodyOp::Max: return ReduceKind::Max;
  case BodyOp::Min: return ReduceKind::Min;
  case BodyOp::Gt: return ReduceKind::ArgMax;
  case BodyOp::Lt: return ReduceKind::ArgMin;
  default: return std::nullopt;
  }
}

DType accumulatorType(ReduceKind kind, DType in) {
  if (isReducedFloat(in))
    return DType::F32;
  if (isSumLike(kind) && !isFloat(in))
    return DType::I64;
  if (kind == ReduceKind::Dot)
    return in;
  // Bool is ordered as a byte: i1 vectors have no good memory form.
  return in == DType::Bool ? DType::U8 : in;
}

DType reduceResultType(ReduceKind kind, DType in) {
  if (kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin)
    return DType::I64;
  return isSumLike(kind) ? accumulatorType(kind, in) : in;
}

ReduceSpec plainDot(DType in) {
  ReduceSpec spec = plainReduce(ReduceKind::Dot, in, false);
  ExprInput second;
  second.dtype = in;
  second.slot = 2;
  spec.factor = spec.expr.addInput(std::move(second));
  return spec;
}

ReduceSpec plainReduce(ReduceKind kind, DType in, bool columns) {
  ReduceSpec spec;
  spec.kind = kind;
  spec.columns = columns;
  ExprInput input;
  input.dtype = in;
  input.slot = 1;
  spec.node = spec.expr.addInput(std::move(input));
  spec.out = reduceResultType(kind, in);
  return spec;
}

Value ReduceOps::combine(Value x, Value y) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Dot: return isFloat(acc) ? Value(arith::AddFOp::create(b, x, y)) : b.add(x, y);
  case ReduceKind::Prod: return isFloat(acc) ? Value(arith::MulFOp::create(b, x, y)) : b.mul(x, y);
  default: return isMax() ? emitMax(b, x, y, acc) : emitMin(b, x, y, acc);
  }
}

Value ReduceOps::multiplyAdd(Value x, Value y, Value acc) {
  if (!isFloat(this->acc))
    return b.add(b.mul(x, y), acc);
  return LLVM::FMAOp::create(b, acc.getType(), x, y, acc);
}

Value ReduceOps::identity(unsigned n) {
  Type type = b.wide(acc, n);
  switch (kind) {
  case ReduceKind::Sum: return isFloat(acc) ? b.floatConst(type, -0.0) : b.zero(type);
  case ReduceKind::Prod: return isFloat(acc) ? b.floatConst(type, 1) : b.intConst(type, 1);
  case ReduceKind::Dot: return b.zero(type);
  default: break;
  }
  double inf = std::numeric_limits<double>::infinity();
  if (isFloat(acc))
    return b.floatConst(type, isMax() ? -inf : inf);
  unsigned bits = accBits();
  llvm::APInt edge = acc == DType::U8 ? (isMax() ? llvm::APInt(8, 0) : llvm::APInt::getMaxValue(8))
                     : isMax()        ? llvm::APInt::getSignedMinValue(bits)
                                      : llvm::APInt::getSignedMaxValue(bits);
  return b.bitsConst(type, edge.getZExtValue());
}

Value ReduceOps::emptyResult() {
  return kind == ReduceKind::Sum ? b.zero(b.elementType(acc)) : identity(1); // Dot's identity is +0 too
}

Value ReduceOps::fold(Values accs) {
  while (accs.size() > 1) {
    size_t half = accs.size() / 2;
    for (size_t i = 0; i < half; ++i)
      accs[i] = combine(accs[i], accs[i + half]);
    accs.resize(half);
  }
  Value v = accs[0];
  for (int64_t w = lanes / 2; w >= 1; w /= 2) {
    llvm::SmallVector<int64_t, 8> low, high;
    for (int64_t i = 0; i < w; ++i) {
      low.push_back(i);
      high.push_back(w + i);
    }
    v = combine(vector::ShuffleOp::create(b, v, v, low), vector::ShuffleOp::create(b, v, v, high));
  }
  return lanes == 1 ? v : Value(vector::ExtractOp::create(b, v, llvm::ArrayRef<int64_t>{0}));
}

bool fitsRuns(const KernelBuilder &b, ReduceKind kind, DType in, int64_t run) {
  return run > 0 && b.isMultiple(run, b.target().lanes(unsigned(itemSize(accumulatorType(kind, in))) * 8));
}

bool emitReduce(KernelBuilder &b, llvm::StringRef name, const ReduceSpec &spec, Diag &diag) {
  for (const ExprInput &in : spec.expr.inputs)
    if (in.access == ExprInput::Strided &&
        (in.strides.size() != (spec.run ? 3 : 2) || (in.strides[1] != 0 && in.strides[1] != 1)))
      return diag.fail(ErrorKind::Internal, "reduction " + name.str() + ": expected strides {row, 0 or 1}");
  if ((spec.kind == ReduceKind::Dot) != (spec.factor >= 0) || (spec.columns && spec.factor >= 0))
    return diag.fail(ErrorKind::Internal,
                     "reduction " + name.str() + ": expected a second value of a dot in rows only");
  return spec.columns ? emitReduceColumns(b, name, spec, diag) : emitReduceRows(b, name, spec, diag);
}

} // namespace torchc::lower
