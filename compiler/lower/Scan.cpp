#include "compiler/lower/Scan.h"
#include "compiler/lower/Convert.h"
#include "compiler/lower/ReduceCommon.h"

using namespace mlir;
using IPred = arith::CmpIPredicate;
using FPred = arith::CmpFPredicate;

namespace torchc::lower {

std::optional<ScanKind> scanKind(const OpInfo &info) {
  const Body &body = info.bodies[int(BodyClass::F32)];
  switch (body.numNodes ? body.nodes[body.numNodes - 1].op : BodyOp::Arg) {
  case BodyOp::Add: return ScanKind::Sum;
  case BodyOp::Mul: return ScanKind::Prod;
  case BodyOp::Ge: return ScanKind::MaxIndex;
  case BodyOp::Le: return ScanKind::MinIndex;
  default: return std::nullopt;
  }
}

static bool isIndex(ScanKind kind) { return kind == ScanKind::MaxIndex || kind == ScanKind::MinIndex; }

static ReduceKind reduceKindOf(ScanKind kind) {
  switch (kind) {
  case ScanKind::Sum: return ReduceKind::Sum;
  case ScanKind::Prod: return ReduceKind::Prod;
  case ScanKind::MaxIndex: return ReduceKind::Max;
  default: return ReduceKind::Min;
  }
}

/// int64 for indices and for sums of integers, else the input's type.
static DType scanResultType(ScanKind kind, DType in) { return isIndex(kind) || !isFloat(in) ? DType::I64 : in; }

namespace {

class ScanEmitter {
public:
  ScanEmitter(KernelBuilder &b, ScanKind kind, DType in)
      : b(b), kind(kind), in(in), ops(b, reduceKindOf(kind), in), result(scanResultType(kind, in)) {}
  void run(llvm::StringRef name);

private:
  void columns(Value at, unsigned lanes);
  Value element(Value at, unsigned lanes) { return convert(b, b.load(input, at, in, lanes), in, ops.acc); }
  void put(Value v, Value at) { b.store(isIndex(kind) ? v : convert(b, v, ops.acc, result), output, at, result); }
  Value displaces(Value x, Value best);

  KernelBuilder &b;
  ScanKind kind;
  DType in;
  ReduceOps ops;
  DType result;
  Value output, input, n, step;
};

/// x >= best, or x is NaN.
Value ScanEmitter::displaces(Value x, Value best) {
  if (isFloat(ops.acc)) {
    Value better = arith::CmpFOp::create(b, ops.isMax() ? FPred::OGE : FPred::OLE, x, best);
    return arith::OrIOp::create(b, better, Value(arith::CmpFOp::create(b, FPred::UNO, x, x)));
  }
  bool isUnsigned = ops.acc == DType::U8;
  return b.compare(ops.isMax() ? (isUnsigned ? IPred::uge : IPred::sge) : (isUnsigned ? IPred::ule : IPred::sle), x,
                   best);
}

/// The scans of `lanes` neighbouring columns whose first elements lie at `at`.
void ScanEmitter::columns(Value at, unsigned lanes) {
  Value first = element(at, lanes);
  Values carried{at, first};
  if (isIndex(kind))
    carried.push_back(b.zero(b.wide(b.getI64Type(), lanes)));
  put(carried.back(), at);
  b.loop(b.i64(1), n, 1, carried, [&](Value i, ValueRange state) {
    Value next = b.add(state[0], step), x = element(next, lanes);
    if (!isIndex(kind)) {
      Value v = ops.combine(state[1], x);
      put(v, next);
      return Values{next, v};
    }
    Value better = displaces(x, state[1]);
    Value at = b.select(better, lanes == 1 ? i : b.splat(i, lanes), state[2]);
    put(at, next);
    return Values{next, b.select(better, x, state[1]), at};
  });
}

void ScanEmitter::run(llvm::StringRef name) {
  b.beginKernel(name);
  output = b.pointer(0), input = b.pointer(1);
  n = b.sizeAt(0), step = b.sizeAt(3);
  Value inner = b.sizeAt(1), first = b.sizeAt(2), size = b.mul(n, inner);
  unsigned lanes = b.target().lanes(isIndex(kind) ? 64 : ops.accBits());
  b.loop(b.begin(), b.end(), 1, [&](Value outer) {
    Value base = b.add(b.mul(outer, size), first);
    Value whole = b.roundDown(inner, lanes);
    b.loop(b.i64(0), whole, lanes, [&](Value c) { columns(b.add(base, c), lanes); });
    b.loop(whole, inner, 1, [&](Value c) { columns(b.add(base, c), 1); });
  });
  b.endKernel();
}

} // namespace

void emitScan(KernelBuilder &b, llvm::StringRef name, ScanKind kind, DType in) { ScanEmitter(b, kind, in).run(name); }

} // namespace torchc::lower
