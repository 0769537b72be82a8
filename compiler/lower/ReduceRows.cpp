// Rows: every row is contiguous. Blocks of 1024, chains in registers, blocks combined by a binary counter, which is the
// level-by-level pairing of N4: equal levels merge, what is left at the end joins from the smallest level up.
#include "compiler/lower/Convert.h"
#include "compiler/lower/ReduceCommon.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

namespace {

class RowsEmitter {
public:
  RowsEmitter(KernelBuilder &b, const ReduceSpec &spec, Diag &diag)
      : b(b), spec(spec), eval(b, spec.expr, diag), in(spec.expr.nodes[size_t(spec.node)].dtype),
        ops(b, spec.kind, in) {}

  bool run(llvm::StringRef name);

private:
  Value placeRun(Value index);
  Value reduceRow(Value n);
  Value block(Value from, Value length);
  Values tail(Value from, Value rest, ValueRange accs);
  Values bufferTail(Value from, Value rest, ValueRange accs);
  Value argRow(Value n);
  Value isNan(Value extreme);
  Value findFirst(Value extreme, Value start, Value n);
  Value matches(Value x, Value extreme, Value extremeIsNan);
  Values element(Value index, unsigned lanes, unsigned vectors, Value mask = {});
  Values accumulated(Value index, unsigned lanes, ValueRange accs, Value mask = {});
  bool canMask() const;
  bool isDot() const { return spec.factor >= 0; }

  KernelBuilder &b;
  const ReduceSpec &spec;
  ExprEmitter eval;
  DType in;
  ReduceOps ops;
  llvm::SmallVector<Value, 4> rowBases;
  Value levels, buffer;
  bool failed = false;
};

/// The reduced value in the accumulator type, one per vector; those of a dot's second value follow.
Values RowsEmitter::element(Value index, unsigned lanes, unsigned vectors, Value mask) {
  ExprEmitter::Place place;
  place.linear = index;
  place.index = spec.run ? placeRun(index) : index;
  place.lanes = lanes;
  place.vectors = vectors;
  place.mask = mask;
  llvm::SmallVector<int, 2> wanted = {spec.node};
  if (isDot())
    wanted.push_back(spec.factor);
  Values v;
  for (const Values &part : eval.evaluate(wanted, place))
    v.append(part.begin(), part.end());
  if (v.empty()) {
    failed = true;
    v.assign(vectors * wanted.size(), b.zero(b.wide(in, lanes)));
  }
  for (Value &x : v)
    x = convert(b, x, in, ops.acc);
  return v;
}

/// Bases move to the run that holds element `index` of the row; its place in there.
Value RowsEmitter::placeRun(Value index) {
  Value run = b.dim(spec.run), number = arith::DivUIOp::create(b, index, run);
  for (unsigned i = 0; i < rowBases.size(); ++i) {
    const ExprInput &input = spec.expr.inputs[i];
    if (input.access == ExprInput::Strided)
      eval.setBase(i, b.address(rowBases[i], b.mul(number, b.dim(input.strides[2])), b.memoryType(input.dtype)));
  }
  return b.sub(index, b.mul(number, run));
}

/// One more element, or a pair of them, in each chain.
Values RowsEmitter::accumulated(Value index, unsigned lanes, ValueRange accs, Value mask) {
  int64_t together = int64_t(lanes) * int64_t(accs.size());
  if (spec.run && accs.size() > 1 && !b.isMultiple(spec.run, together)) { // each in a run of its own
    Values out;
    for (unsigned v = 0; v < accs.size(); ++v)
      out.push_back(accumulated(b.add(index, b.i64(int64_t(v) * lanes)), lanes, accs[v], mask)[0]);
    return out;
  }
  Values x = element(index, lanes, unsigned(accs.size()), mask), out;
  for (unsigned v = 0; v < accs.size(); ++v)
    out.push_back(isDot() ? ops.multiplyAdd(x[v], x[accs.size() + v], accs[v]) : ops.combine(accs[v], x[v]));
  return out;
}

/// AVX2 has masked loads for 4 and 8 byte elements only; other remainders go through a buffer.
bool RowsEmitter::canMask() const {
  if (b.target().maskedTails)
    return true;
  if (b.target().isa != codegen::Isa::V3)
    return false;
  return llvm::all_of(spec.expr.inputs, [](const ExprInput &input) { return itemSize(input.dtype) >= 4; });
}

Values RowsEmitter::tail(Value from, Value rest, ValueRange accs) {
  if (!canMask())
    return bufferTail(from, rest, accs);
  Type laneType = b.getIntegerType(std::max(32u, ops.accBits()));
  Value limit = rest;
  if (!laneType.isInteger(64))
    limit = arith::TruncIOp::create(b, laneType, rest);
  Values out;
  for (unsigned v = 0; v < accs.size(); ++v) {
    Value lane = b.add(b.step(laneType, ops.lanes), b.intConst(b.wide(laneType, ops.lanes), int64_t(v) * ops.lanes));
    Value mask = b.compare(Pred::slt, lane, b.splat(limit, ops.lanes));
    Value index = b.add(from, b.i64(int64_t(v) * ops.lanes)), acc = accs[v];
    out.push_back(b.select(mask, accumulated(index, ops.lanes, acc, mask)[0], acc));
  }
  return out;
}

Values RowsEmitter::bufferTail(Value from, Value rest, ValueRange accs) {
  if (!buffer)
    buffer = b.stackSlots(b.elementType(ops.acc), ops.chains, 64);
  auto at = [&](unsigned v) { return b.i64(int64_t(v) * ops.lanes); };
  for (unsigned v = 0; v < accs.size(); ++v)
    b.store(accs[v], buffer, at(v), ops.acc);
  b.loop(b.i64(0), rest, 1, [&](Value i) {
    Value acc = b.load(buffer, i, ops.acc, 1);
    b.store(accumulated(b.add(from, i), 1, acc)[0], buffer, i, ops.acc);
  });
  Values out;
  for (unsigned v = 0; v < accs.size(); ++v)
    out.push_back(b.load(buffer, at(v), ops.acc, ops.lanes));
  return out;
}

Value RowsEmitter::block(Value from, Value length) {
  unsigned numVectors = unsigned(ops.chains) / ops.lanes;
  Values init(numVectors, ops.identity(ops.lanes));
  Value full = b.roundDown(length, ops.chains);
  Values accs = b.loop(b.i64(0), full, ops.chains, init,
                       [&](Value i, ValueRange carried) { return accumulated(b.add(from, i), ops.lanes, carried); });
  Value rest = b.sub(length, full);
  accs = b.ifElse(
      b.compare(Pred::ne, rest, b.i64(0)), ValueRange(accs).getTypes(),
      [&] { return tail(b.add(from, full), rest, accs); }, [&] { return accs; });
  return ops.fold(accs);
}

Value RowsEmitter::reduceRow(Value n) {
  Type type = b.elementType(ops.acc);
  if (!levels)
    levels = b.stackSlots(type, 64, 64);
  // Carried: blocks done, values on the stack. The newest value merges once per trailing one of the count.
  Value blockSize = b.i64(reduceBlock), one = b.i64(1), zero = b.i64(0);
  Values state = b.loop(zero, n, reduceBlock, {zero, zero}, [&](Value from, ValueRange carried) {
    Value v = block(from, b.minimum(blockSize, b.sub(n, from)));
    Values merged = b.whileLoop(
        {carried[0], carried[1], v},
        [&](ValueRange s) { return b.compare(Pred::ne, Value(arith::AndIOp::create(b, s[0], one)), zero); },
        [&](ValueRange s) {
          Value top = b.sub(s[1], one);
          Value left = b.load(levels, top, ops.acc, 1);
          return Values{arith::ShRUIOp::create(b, s[0], one), top, ops.combine(left, s[2])};
        });
    b.store(merged[2], levels, merged[1], ops.acc);
    return Values{b.add(carried[0], one), b.add(merged[1], one)};
  });
  return b.ifElse(
      b.compare(Pred::eq, n, zero), type, [&] { return Values{ops.emptyResult()}; },
      [&] {
        Value top = b.sub(state[1], one);
        Values r = b.whileLoop(
            {top, b.load(levels, top, ops.acc, 1)}, [&](ValueRange s) { return b.compare(Pred::sgt, s[0], zero); },
            [&](ValueRange s) {
              Value next = b.sub(s[0], one);
              return Values{next, ops.combine(b.load(levels, next, ops.acc, 1), s[1])};
            });
        return Values{r[1]};
      })[0];
}

/// Equal bits, or any NaN when the extreme is one: N7's "first index of that extreme", where +0 is not -0.
Value RowsEmitter::matches(Value x, Value extreme, Value extremeIsNan) {
  if (!isFloat(ops.acc))
    return b.compare(Pred::eq, x, extreme);
  unsigned n = KernelBuilder::lanesOf(x);
  Type bits = b.wide(b.getIntegerType(ops.accBits()), n);
  Value same = b.compare(Pred::eq, Value(arith::BitcastOp::create(b, bits, x)),
                         Value(arith::BitcastOp::create(b, bits, extreme)));
  Value nan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::OrIOp::create(b, same, Value(arith::AndIOp::create(b, nan, extremeIsNan)));
}

/// Null for integers.
Value RowsEmitter::isNan(Value extreme) {
  return isFloat(ops.acc) ? Value(arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, extreme, extreme)) : Value();
}

/// The extreme so far and the block where it first came up, which alone is searched then.
Value RowsEmitter::argRow(Value n) {
  Values found = b.loop(b.i64(0), n, reduceBlock, {ops.identity(1), b.i64(0)}, [&](Value from, ValueRange best) {
    Value x = ops.combine(best[0], block(from, b.minimum(b.i64(reduceBlock), b.sub(n, from))));
    return Values{x, b.select(matches(x, best[0], isNan(best[0])), best[1], from)};
  });
  return findFirst(found[0], found[1], n);
}

/// Vectors from element `start` on, where a block starts, until one has a match, then elements.
Value RowsEmitter::findFirst(Value extreme, Value start, Value n) {
  Value nan = isNan(extreme);
  Value wideExtreme = b.splat(extreme, ops.lanes);
  Value wideNan = nan ? b.splat(nan, ops.lanes) : Value();
  Value full = b.roundDown(n, ops.lanes), no = b.intConst(b.getI1Type(), 0);
  auto search = [&](Value from, Value to, unsigned lanes, unsigned vectors, Value m, Value mNan) {
    return b.whileLoop(
        {from},
        [&](ValueRange s) {
          return b.ifElse(
              b.compare(Pred::slt, s[0], to), b.getI1Type(),
              [&] {
                Value hit;
                for (Value x : element(s[0], lanes, vectors)) {
                  Value same = matches(x, m, mNan);
                  hit = hit ? Value(arith::OrIOp::create(b, hit, same)) : same;
                }
                if (lanes > 1)
                  hit = vector::ReductionOp::create(b, vector::CombiningKind::OR, hit);
                return Values{b.compare(Pred::eq, hit, no)};
              },
              [&] { return Values{no}; })[0];
        },
        [&](ValueRange s) { return Values{b.add(s[0], b.i64(int64_t(lanes) * vectors))}; })[0];
  };
  if (!spec.run) // vectors in step lie in one run
    start = search(start, b.roundDown(n, int64_t(ops.lanes) * 4), ops.lanes, 4, wideExtreme, wideNan);
  Value near = search(start, full, ops.lanes, 1, wideExtreme, wideNan);
  return search(near, n, 1, 1, extreme, nan);
}

bool RowsEmitter::run(llvm::StringRef name) {
  b.beginKernel(name);
  eval.prepare();
  Value n = b.sizeAt(0), out = b.pointer(spec.outSlot);
  llvm::SmallVector<Value, 4> bases;
  for (unsigned i = 0; i < spec.expr.inputs.size(); ++i)
    bases.push_back(eval.base(i));
  rowBases = bases;
  b.loop(b.begin(), b.end(), 1, [&](Value row) {
    for (unsigned i = 0; i < bases.size(); ++i) {
      const ExprInput &input = spec.expr.inputs[i];
      bool strided = input.access == ExprInput::Strided;
      if (!strided && input.access != ExprInput::Contiguous)
        continue;
      Value offset = b.mul(row, strided ? b.dim(input.strides[0]) : n);
      rowBases[i] = b.address(bases[i], offset, b.memoryType(input.dtype));
      eval.setBase(i, rowBases[i]);
      if (strided)
        eval.setInnerStride(i, input.strides[1], b.i64(input.strides[1]));
    }
    if (ops.isArg())
      b.store(convert(b, argRow(n), DType::I64, spec.out), out, row, spec.out);
    else
      b.store(convert(b, reduceRow(n), ops.acc, spec.out), out, row, spec.out);
  });
  b.endKernel();
  return !failed;
}

} // namespace

bool emitReduceRows(KernelBuilder &b, llvm::StringRef name, const ReduceSpec &spec, Diag &diag) {
  return RowsEmitter(b, spec, diag).run(name);
}

} // namespace torchc::lower
