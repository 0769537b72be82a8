// Products by N3: a thread owns one element of the result and adds its chain in the order of k; tiles of both operands go
// through shared memory.
#include "compiler/lower/ReduceCommon.h"
#include "compiler/lower/device/DeviceKernels.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

namespace {

class MatmulEmitter {
public:
  MatmulEmitter(DeviceBuilder &b, DType t) : b(b), ops(b, ReduceKind::Dot, t), t(t), type(b.elementType(t)) {}
  void run(llvm::StringRef name);

private:
  Value chain(Value from, Value to);
  Values tile(Value k, Value to, ValueRange carried);
  void fetch(Value tile, Value memory, Value row, Value rows, Value rowStride, Value column, Value columns,
             Value columnStride);
  Value slot(Value y, Value x) { return b.add(b.mul(y, b.i64(deviceTile)), x); }

  DeviceBuilder &b;
  ReduceOps ops;
  DType t;
  Type type;
  Value m, n, k, aMemory, aRow, aColumn, bMemory, bRow, bColumn, aTile, bTile, tx, ty, row, column;
};

/// This thread's element of a tile; nothing outside of the matrix is read, and its slot isn't used.
void MatmulEmitter::fetch(Value tile, Value memory, Value r, Value rows, Value rowStride, Value c, Value columns,
                          Value columnStride) {
  Value inside = arith::AndIOp::create(b, b.compare(Pred::slt, r, rows), b.compare(Pred::slt, c, columns));
  b.ifThen(inside, [&] {
    Value v = b.load(memory, b.add(b.mul(r, rowStride), b.mul(c, columnStride)), t, 1);
    b.storeRaw(v, b.sharedAddress(tile, slot(ty, tx), type), unsigned(itemSize(t)));
  });
}

Values MatmulEmitter::tile(Value from, Value to, ValueRange carried) {
  fetch(aTile, aMemory, row, m, aRow, b.add(from, tx), to, aColumn);
  fetch(bTile, bMemory, b.add(from, ty), to, bRow, column, n, bColumn);
  b.barrier();
  unsigned align = unsigned(itemSize(t));
  // Steps past the last k aren't taken: adding 0 * 0 would turn -0 into +0. Slots outside of the matrices feed only threads
  // that store nothing.
  Values acc = b.loop(b.i64(0), b.minimum(b.i64(deviceTile), b.sub(to, from)), 1, carried, [&](Value i, ValueRange c) {
    Value x = b.loadRaw(b.sharedAddress(aTile, slot(ty, i), type), type, align);
    Value y = b.loadRaw(b.sharedAddress(bTile, slot(i, tx), type), type, align);
    return Values{ops.multiplyAdd(x, y, c[0])};
  });
  b.barrier();
  return acc;
}

Value MatmulEmitter::chain(Value from, Value to) {
  return b.loop(from, to, deviceTile, b.zero(type), [&](Value at, ValueRange c) { return tile(at, to, c); })[0];
}

void MatmulEmitter::run(llvm::StringRef name) {
  llvm::SmallVector<Type, deviceArguments> types;
  b.addWords(types, 3);
  for (int operand = 0; operand < 2; ++operand) {
    b.addPointers(types, 1);
    b.addWords(types, 2);
  }
  b.addPointers(types, 1);
  b.addWords(types, 1 + 3 * deviceRank);
  b.beginEntry(name, types);
  m = b.next(), n = b.next(), k = b.next();
  aMemory = b.next(), aRow = b.next(), aColumn = b.next();
  bMemory = b.next(), bRow = b.next(), bColumn = b.next();
  Value c = b.next();
  DeviceBuilder::Space batches = b.nextSpace();
  llvm::SmallVector<Values, 2> strides = {b.nextStrides(), b.nextStrides()};
  aTile = b.sharedArray(name.str() + "_a", type, deviceTile * deviceTile);
  bTile = b.sharedArray(name.str() + "_b", type, deviceTile * deviceTile);
  tx = b.threadIndex('x'), ty = b.threadIndex('y');
  Value batch = b.blockIndex('z');
  Values at = b.offsets(batches, batch, strides);
  aMemory = b.address(aMemory, at[0], type);
  bMemory = b.address(bMemory, at[1], type);
  row = b.add(b.mul(b.blockIndex('y'), b.i64(deviceTile)), ty);
  column = b.add(b.mul(b.blockIndex('x'), b.i64(deviceTile)), tx);
  // Block 0 is the start, not an addend: it would lose the sign of a zero.
  Value block = b.i64(deviceReduceBlock), first = chain(b.i64(0), b.minimum(block, k));
  Value total = b.loop(block, k, deviceReduceBlock, first, [&](Value from, ValueRange carried) {
    return Values{ops.combine(carried[0], chain(from, b.minimum(b.add(from, block), k)))};
  })[0];
  Value inside = arith::AndIOp::create(b, b.compare(Pred::slt, row, m), b.compare(Pred::slt, column, n));
  b.ifThen(inside, [&] {
    Value where = b.add(b.mul(b.add(b.mul(batch, m), row), n), column);
    b.store(total, c, where, t);
  });
  b.endKernel();
}

} // namespace

bool emitDeviceMatmul(DeviceBuilder &b, llvm::StringRef name, DType t) {
  MatmulEmitter(b, t).run(name);
  return true;
}

} // namespace torchc::lower
