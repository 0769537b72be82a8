// Columns: the reduced axis is outermost. Ordered reductions keep their chains for a strip of columns in L1; others run
// down the rows with one vector of results in registers.
#include "compiler/lower/Convert.h"
#include "compiler/lower/ReduceCommon.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

namespace {

class ColumnsEmitter {
public:
  ColumnsEmitter(KernelBuilder &b, const ReduceSpec &spec, Diag &diag)
      : b(b), spec(spec), eval(b, spec.expr, diag), in(spec.expr.nodes[size_t(spec.node)].dtype), ops(b, spec.kind, in),
        stripWidth(ops.chains) {}

  bool run(llvm::StringRef name);

private:
  void moveToRow(Value row);
  Values element(Value column, unsigned lanes, unsigned vectors);
  void runDown(Value from, Value to, unsigned lanes, unsigned vectors);
  Values argStep(Value x, Value best, Value bestIndex, Value row);
  void orderedStrips();
  void strip(Value column, Value from, Value to, unsigned lanes, unsigned vectors);
  void stripBlock(Value column, Value firstRow, Value length, Value from, Value to, unsigned lanes, unsigned vectors);
  Values chains(Value memory, Value row, Value x, unsigned lanes, unsigned vectors);
  void keep(ValueRange sums, Value memory, Value row, Value x, unsigned lanes);
  void storeResult(Value v, Value column);
  Value at(Value row, Value x) { return b.add(b.mul(row, b.i64(stripWidth)), x); }

  KernelBuilder &b;
  const ReduceSpec &spec;
  ExprEmitter eval;
  DType in;
  ReduceOps ops;
  int64_t stripWidth; // columns of a strip: 256 bytes of accumulators a row
  Value rows, rowStride, out, chainMemory, levels;
  llvm::SmallVector<Value, 4> bases;
  bool failed = false;
};

void ColumnsEmitter::moveToRow(Value row) {
  for (unsigned i = 0; i < bases.size(); ++i) {
    const ExprInput &input = spec.expr.inputs[i];
    bool strided = input.access == ExprInput::Strided;
    if (!strided && input.access != ExprInput::Contiguous)
      continue;
    Value offset = b.mul(row, strided ? b.dim(input.strides[0]) : rowStride);
    eval.setBase(i, b.address(bases[i], offset, b.memoryType(input.dtype)));
    if (strided)
      eval.setInnerStride(i, input.strides[1], b.i64(input.strides[1]));
  }
}

Values ColumnsEmitter::element(Value column, unsigned lanes, unsigned vectors) {
  ExprEmitter::Place place;
  place.index = place.linear = column;
  place.lanes = lanes;
  place.vectors = vectors;
  Values v = eval.evaluate(spec.node, place);
  if (v.empty()) {
    failed = true;
    v.assign(vectors, b.zero(b.wide(in, lanes)));
  }
  for (Value &x : v)
    x = convert(b, x, in, ops.acc);
  return v;
}

void ColumnsEmitter::storeResult(Value v, Value column) {
  DType type = ops.isArg() ? DType::I64 : ops.acc;
  b.store(convert(b, v, type, spec.out), out, column, spec.out);
}

/// Rows come in order, so a strictly better element keeps the first index. By N7 a NaN is better than a number, +0
/// better than -0 for max and the other way round for min.
Values ColumnsEmitter::argStep(Value x, Value best, Value bestIndex, Value row) {
  Value better;
  if (isFloat(ops.acc)) {
    unsigned n = KernelBuilder::lanesOf(x);
    Type bits = b.wide(b.getIntegerType(ops.accBits()), n);
    auto uno = [&](Value v) -> Value { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v); };
    // The extreme of the two differs from `best` in its bits, and `best` isn't a NaN already.
    Value both = ops.combine(best, x);
    Value differs = b.compare(Pred::ne, Value(arith::BitcastOp::create(b, bits, both)),
                              Value(arith::BitcastOp::create(b, bits, best)));
    Value wasNan = uno(best);
    Value isNew = arith::XOrIOp::create(b, wasNan, b.intConst(wasNan.getType(), -1));
    better = arith::AndIOp::create(b, differs, isNew);
  } else {
    bool isUnsigned = ops.acc == DType::U8;
    Pred p = ops.isMax() ? (isUnsigned ? Pred::ugt : Pred::sgt) : (isUnsigned ? Pred::ult : Pred::slt);
    better = b.compare(p, x, best);
  }
  Value rowIndex = b.splat(row, KernelBuilder::lanesOf(x));
  return {b.select(better, x, best), b.select(better, rowIndex, bestIndex)};
}

/// Columns [from, to), a multiple of lanes * vectors, results carried in registers.
void ColumnsEmitter::runDown(Value from, Value to, unsigned lanes, unsigned vectors) {
  b.loop(from, to, int64_t(lanes) * vectors, [&](Value column) {
    Values init;
    for (unsigned v = 0; v < vectors; ++v)
      init.push_back(ops.identity(lanes));
    if (ops.isArg())
      for (unsigned v = 0; v < vectors; ++v)
        init.push_back(b.zero(b.wide(b.getI64Type(), lanes)));
    Value first = b.i64(0);
    if (ops.isArg()) { // from row 0 itself: an identity may equal every element
      moveToRow(first);
      Values x = element(column, lanes, vectors);
      std::copy(x.begin(), x.end(), init.begin());
      first = b.i64(1);
    }
    Values r = b.loop(first, rows, 1, init, [&](Value row, ValueRange carried) {
      moveToRow(row);
      Values x = element(column, lanes, vectors), next(carried);
      for (unsigned v = 0; v < vectors; ++v) {
        if (!ops.isArg()) {
          next[v] = ops.combine(carried[v], x[v]);
          continue;
        }
        Values pair = argStep(x[v], carried[v], carried[vectors + v], row);
        next[v] = pair[0];
        next[vectors + v] = pair[1];
      }
      return next;
    });
    for (unsigned v = 0; v < vectors; ++v)
      storeResult(r[ops.isArg() ? vectors + v : v], b.add(column, b.i64(int64_t(v) * lanes)));
  });
}

/// Vectors from place x of a row of the strip's chains or levels on.
Values ColumnsEmitter::chains(Value memory, Value row, Value x, unsigned lanes, unsigned vectors) {
  Values out;
  for (unsigned v = 0; v < vectors; ++v)
    out.push_back(b.load(memory, b.add(at(row, x), b.i64(int64_t(v) * lanes)), ops.acc, lanes));
  return out;
}

void ColumnsEmitter::keep(ValueRange sums, Value memory, Value row, Value x, unsigned lanes) {
  for (unsigned v = 0; v < sums.size(); ++v)
    b.store(sums[v], memory, b.add(at(row, x), b.i64(int64_t(v) * lanes)), ops.acc);
}

/// One block of rows into chain row 0 of the strip: chain j takes rows j, j + C ...; then the fold. Chains without rows
/// hold the identity, which changes nothing, so they are left out.
void ColumnsEmitter::stripBlock(Value column, Value firstRow, Value length, Value from, Value to, unsigned lanes,
                                unsigned vectors) {
  auto across = [&](KernelBuilder::PlainBody body) { b.loop(from, to, int64_t(lanes) * vectors, body); };
  auto added = [&](Values sums, ValueRange more) {
    for (unsigned v = 0; v < vectors; ++v)
      sums[v] = ops.combine(sums[v], more[v]);
    return sums;
  };
  Value zero = b.i64(0), live = b.minimum(length, b.i64(ops.chains));
  b.loop(zero, live, 1, [&](Value j) {
    moveToRow(b.add(firstRow, j));
    across([&](Value x) { keep(element(b.add(column, x), lanes, vectors), chainMemory, j, x, lanes); });
  });
  b.loop(live, length, 1, [&](Value r) {
    Value chain = arith::AndIOp::create(b, r, b.i64(ops.chains - 1));
    moveToRow(b.add(firstRow, r));
    across([&](Value x) {
      Values sums = chains(chainMemory, chain, x, lanes, vectors);
      keep(added(sums, element(b.add(column, x), lanes, vectors)), chainMemory, chain, x, lanes);
    });
  });
  b.whileLoop(
      {b.i64(ops.chains / 2), live}, [&](ValueRange s) { return b.compare(Pred::sgt, s[0], zero); },
      [&](ValueRange s) {
        Value w = s[0];
        b.loop(w, s[1], 1, [&](Value hi) {
          Value lo = b.sub(hi, w);
          across([&](Value x) {
            Values sums = chains(chainMemory, lo, x, lanes, vectors);
            keep(added(sums, chains(chainMemory, hi, x, lanes, vectors)), chainMemory, lo, x, lanes);
          });
        });
        return Values{arith::ShRUIOp::create(b, w, b.i64(1)), b.minimum(s[1], w)};
      });
}

/// Columns column + [from, to) of a strip; the block tree is the binary counter of ReduceRows with rows of the strip.
void ColumnsEmitter::strip(Value column, Value from, Value to, unsigned lanes, unsigned vectors) {
  auto across = [&](KernelBuilder::PlainBody body) { b.loop(from, to, lanes, body); };
  Value zero = b.i64(0), one = b.i64(1);
  auto mergeInto = [&](Value level) { // chain row 0 = levels[level] o chain row 0
    across([&](Value x) {
      Value sum = ops.combine(b.load(levels, at(level, x), ops.acc, lanes), b.load(chainMemory, x, ops.acc, lanes));
      b.store(sum, chainMemory, x, ops.acc);
    });
  };
  Values state = b.loop(zero, rows, reduceBlock, {zero, zero}, [&](Value row, ValueRange carried) {
    stripBlock(column, row, b.minimum(b.i64(reduceBlock), b.sub(rows, row)), from, to, lanes, vectors);
    Values merged = b.whileLoop(
        {carried[0], carried[1]},
        [&](ValueRange s) { return b.compare(Pred::ne, Value(arith::AndIOp::create(b, s[0], one)), zero); },
        [&](ValueRange s) {
          Value top = b.sub(s[1], one);
          mergeInto(top);
          return Values{arith::ShRUIOp::create(b, s[0], one), top};
        });
    across([&](Value x) { b.store(b.load(chainMemory, x, ops.acc, lanes), levels, at(merged[1], x), ops.acc); });
    return Values{b.add(carried[0], one), b.add(merged[1], one)};
  });
  // The last value stored is still in chain row 0.
  b.loop(one, state[1], 1, [&](Value i) { mergeInto(b.sub(b.sub(state[1], one), i)); });
  across([&](Value x) { storeResult(b.load(chainMemory, x, ops.acc, lanes), b.add(column, x)); });
}

/// Whole strips with their vectors in step; the last one begins earlier where it would be narrower, and computes some
/// columns again. Fewer columns than a strip has go vector by vector.
void ColumnsEmitter::orderedStrips() {
  Value whole = b.i64(stripWidth), zero = b.i64(0), width = b.sub(b.end(), b.begin());
  Values narrow = b.ifElse(
      b.compare(Pred::sge, width, whole), b.getI64Type(),
      [&] {
        Value last = b.sub(b.end(), whole);
        b.loop(b.begin(), b.end(), stripWidth, [&](Value column) {
          strip(b.minimum(column, last), zero, whole, ops.lanes, unsigned(stripWidth) / ops.lanes);
        });
        return Values{zero};
      },
      [&] { return Values{width}; });
  Value full = b.roundDown(narrow[0], ops.lanes);
  b.ifThen(b.compare(Pred::sgt, full, zero), [&] { strip(b.begin(), zero, full, ops.lanes, 1); });
  b.ifThen(b.compare(Pred::slt, full, narrow[0]), [&] { strip(b.begin(), full, narrow[0], 1, 1); });
}

bool ColumnsEmitter::run(llvm::StringRef name) {
  b.beginKernel(name);
  eval.prepare();
  rows = b.sizeAt(0);
  rowStride = b.sizeAt(1);
  out = b.pointer(spec.outSlot);
  for (unsigned i = 0; i < spec.expr.inputs.size(); ++i)
    bases.push_back(eval.base(i));
  Value isEmpty = b.compare(Pred::sle, rows, b.i64(0));
  scf::IfOp branch = scf::IfOp::create(b, isEmpty, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Value nothing = ops.isArg() ? b.i64(0) : ops.emptyResult();
  b.loop(b.begin(), b.end(), 1, [&](Value column) { storeResult(nothing, column); });
  b.setInsertionPointToStart(branch.elseBlock());
  if (ops.ordered()) {
    Type type = b.elementType(ops.acc);
    chainMemory = b.stackSlots(type, ops.chains * stripWidth, 64);
    levels = b.stackSlots(type, 44 * stripWidth, 64); // 2^44 blocks: more than memory can hold
    orderedStrips();
  } else {
    Value n = b.sub(b.end(), b.begin());
    unsigned lanes = ops.isArg() ? b.target().lanes(64) : ops.lanes;
    Value main = b.add(b.begin(), b.roundDown(n, int64_t(lanes) * 4));
    Value single = b.add(b.begin(), b.roundDown(n, lanes));
    runDown(b.begin(), main, lanes, 4);
    runDown(main, single, lanes, 1);
    runDown(single, b.end(), 1, 1);
  }
  b.setInsertionPointAfter(branch);
  b.endKernel();
  return !failed;
}

} // namespace

bool emitReduceColumns(KernelBuilder &b, llvm::StringRef name, const ReduceSpec &spec, Diag &diag) {
  return ColumnsEmitter(b, spec, diag).run(name);
}

} // namespace torchc::lower
