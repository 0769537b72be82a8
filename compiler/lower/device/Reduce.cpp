// Reductions by N4: a thread block is a block of 1024, its threads are the chains, which fold in shared memory; then
// neighbours combine level by level.
#include "compiler/lower/Convert.h"
#include "compiler/lower/ReduceCommon.h"
#include "compiler/lower/device/DeviceKernels.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

bool emitDeviceReduce(DeviceBuilder &b, llvm::StringRef name, ReduceKind kind, DType in) {
  ReduceOps ops(b, kind, in);
  bool isDot = kind == ReduceKind::Dot;
  llvm::SmallVector<Type, 8> types;
  b.addPointers(types, isDot ? 3 : 2);
  b.addWords(types, 2);
  b.beginEntry(name, types);
  Value x = b.next(), y = isDot ? b.next() : Value(), out = b.next(), n = b.next(), blocks = b.next();
  Type type = b.elementType(ops.acc);
  Value chains = b.sharedArray(name.str() + "_chains", type, ops.chains);
  unsigned align = unsigned(itemSize(ops.acc));
  Value thread = b.threadIndex(), group = b.blockIndex();
  Value row = arith::DivUIOp::create(b, group, blocks), block = b.sub(group, b.mul(row, blocks));
  Value from = b.mul(block, b.i64(deviceReduceBlock));
  Value length = b.minimum(b.i64(deviceReduceBlock), b.sub(n, from));
  Value base = b.add(b.mul(row, n), from);
  auto element = [&](Value memory, Value i) { return convert(b, b.load(memory, b.add(base, i), in, 1), in, ops.acc); };
  Values acc = b.loop(thread, length, ops.chains, ops.identity(1), [&](Value i, ValueRange carried) {
    if (isDot)
      return Values{ops.multiplyAdd(element(x, i), element(y, i), carried[0])};
    return Values{ops.combine(carried[0], element(x, i))};
  });
  auto chain = [&](Value i) { return b.sharedAddress(chains, i, type); };
  b.storeRaw(acc[0], chain(thread), align);
  for (int64_t w = ops.chains / 2; w >= 1; w /= 2) {
    b.barrier();
    b.ifThen(b.compare(Pred::slt, thread, b.i64(w)), [&] {
      Value left = b.loadRaw(chain(thread), type, align);
      Value right = b.loadRaw(chain(b.add(thread, b.i64(w))), type, align);
      b.storeRaw(ops.combine(left, right), chain(thread), align);
    });
  }
  b.ifThen(b.compare(Pred::eq, thread, b.i64(0)),
           [&] { b.store(b.loadRaw(chain(thread), type, align), out, group, ops.acc); });
  b.endKernel();
  return true;
}

bool emitDeviceCombine(DeviceBuilder &b, llvm::StringRef name, ReduceKind kind, DType in) {
  ReduceOps ops(b, kind, in);
  llvm::SmallVector<Type, 8> types;
  b.addPointers(types, 2);
  b.addWords(types, 3);
  b.beginEntry(name, types);
  Value from = b.next(), to = b.next(), count = b.next(), had = b.next(), has = b.next(), i = b.globalIndex();
  b.ifThen(b.compare(Pred::slt, i, count), [&] {
    Value row = arith::DivUIOp::create(b, i, has), pair = b.sub(i, b.mul(row, has));
    Value first = b.add(pair, pair), second = b.add(first, b.i64(1)), base = b.mul(row, had);
    Value left = b.load(from, b.add(base, first), ops.acc, 1);
    Values v = b.ifElse(
        b.compare(Pred::slt, second, had), left.getType(),
        [&] { return Values{ops.combine(left, b.load(from, b.add(base, second), ops.acc, 1))}; },
        [&] { return Values{left}; });
    b.store(v[0], to, i, ops.acc);
  });
  b.endKernel();
  return true;
}

/// Equal bits, or any NaN when the extreme is one: N7's "first index of that extreme", where +0 is not -0.
static Value matches(DeviceBuilder &b, const ReduceOps &ops, Value x, Value extreme) {
  if (!isFloat(ops.acc))
    return b.compare(Pred::eq, x, extreme);
  Type bits = b.getIntegerType(ops.accBits());
  Value same = b.compare(Pred::eq, Value(arith::BitcastOp::create(b, bits, x)),
                         Value(arith::BitcastOp::create(b, bits, extreme)));
  auto isNan = [&](Value v) { return Value(arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v)); };
  return arith::OrIOp::create(b, same, Value(arith::AndIOp::create(b, isNan(x), isNan(extreme))));
}

bool emitDeviceFind(DeviceBuilder &b, llvm::StringRef name, ReduceKind kind, DType in) {
  ReduceOps ops(b, kind, in);
  llvm::SmallVector<Type, 8> types;
  b.addPointers(types, 3);
  b.addWords(types, 1);
  b.beginEntry(name, types);
  Value x = b.next(), extremes = b.next(), out = b.next(), n = b.next();
  Type word = b.getI64Type();
  Value places = b.sharedArray(name.str() + "_places", word, deviceThreads);
  Value thread = b.threadIndex(), row = b.blockIndex(), base = b.mul(row, n);
  Value extreme = b.load(extremes, row, ops.acc, 1);
  // Each thread's first place, n where it has none.
  Values first = b.loop(thread, n, deviceThreads, n, [&](Value i, ValueRange carried) {
    Value v = convert(b, b.load(x, b.add(base, i), in, 1), in, ops.acc);
    return Values{b.select(matches(b, ops, v, extreme), b.minimum(i, carried[0]), carried[0])};
  });
  auto place = [&](Value i) { return b.sharedAddress(places, i, word); };
  b.storeRaw(first[0], place(thread), 8);
  for (int64_t w = deviceThreads / 2; w >= 1; w /= 2) {
    b.barrier();
    b.ifThen(b.compare(Pred::slt, thread, b.i64(w)), [&] {
      Value left = b.loadRaw(place(thread), word, 8);
      Value right = b.loadRaw(place(b.add(thread, b.i64(w))), word, 8);
      b.storeRaw(b.minimum(left, right), place(thread), 8);
    });
  }
  b.ifThen(b.compare(Pred::eq, thread, b.i64(0)),
           [&] { b.store(b.loadRaw(place(thread), word, 8), out, row, DType::I64); });
  b.endKernel();
  return true;
}

} // namespace torchc::lower
