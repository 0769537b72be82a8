// Packing columns of B whose k is contiguous: squares of lanes x lanes are transposed in registers.
#include "compiler/lower/Gemm.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace torchc::lower {
namespace {

class TurnEmitter {
public:
  TurnEmitter(KernelBuilder &b, DType t) : b(b), type(t), lanes(gemmTile(b.target(), t).lanes) {}
  void run(llvm::StringRef name);

private:
  Value loadPart(Value in, Value column, unsigned i, unsigned from, unsigned count);
  Values loadRows(Value in, Value column);
  Values loadHalves(Value in, Value column);
  void square(Value in, Value column, Value out, unsigned columns);
  void swapBlocks(Values &rows, unsigned d);
  void turnQuads(Values &rows);
  Value pick(Value x, Value y, llvm::function_ref<int64_t(int64_t)> indexOf);

  KernelBuilder &b;
  DType type;
  unsigned lanes;
};

Value TurnEmitter::pick(Value x, Value y, llvm::function_ref<int64_t(int64_t)> indexOf) {
  SmallVector<int64_t> order;
  for (unsigned j = 0; j < lanes; ++j)
    order.push_back(indexOf(j));
  return vector::ShuffleOp::create(b, x, y, order);
}

/// `count` elements of column `i` of B.
Value TurnEmitter::loadPart(Value in, Value column, unsigned i, unsigned from, unsigned count) {
  Type element = b.elementType(type);
  Value at = b.addressAt(b.address(in, b.mul(column, b.i64(i)), element), from, element);
  return b.loadRaw(at, b.wide(element, count), unsigned(itemSize(type)));
}

/// Of each 2d x 2d square, the blocks of d x d beside the diagonal change places.
void TurnEmitter::swapBlocks(Values &rows, unsigned d) {
  for (unsigned i = 0; i < lanes; ++i) {
    if (i & d)
      continue;
    Value x = rows[i], y = rows[i + d];
    rows[i] = pick(x, y, [&](int64_t j) { return j & d ? lanes + j - d : j; });
    rows[i + d] = pick(x, y, [&](int64_t j) { return j & d ? lanes + j : j + d; });
  }
}

/// The 4 x 4 squares within 16 bytes, by the two unpacking steps that x86 has instructions for.
void TurnEmitter::turnQuads(Values &rows) {
  for (unsigned i = 0; i < lanes; i += 4) {
    Value half[4];
    for (unsigned p = 0; p < 2; ++p)
      for (unsigned high = 0; high < 2; ++high)
        half[2 * p + high] = pick(rows[i + 2 * p], rows[i + 2 * p + 1],
                                  [&](int64_t j) { return (j & ~3) + 2 * high + (j & 3) / 2 + (j & 1 ? lanes : 0); });
    for (unsigned r = 0; r < 4; ++r)
      rows[i + r] = pick(half[r / 2], half[2 + r / 2],
                         [&](int64_t j) { return (j & ~3) + 2 * (r & 1) + (j & 1) + (j & 2 ? lanes : 0); });
  }
}

Values TurnEmitter::loadRows(Value in, Value column) {
  Values rows;
  for (unsigned i = 0; i < lanes; ++i)
    rows.push_back(loadPart(in, column, i, 0, lanes));
  return rows;
}

/// Loads that have done swapBlocks(lanes / 2): joining halves from memory is cheaper than exchanging them.
Values TurnEmitter::loadHalves(Value in, Value column) {
  Values rows(lanes);
  unsigned half = lanes / 2;
  SmallVector<int64_t> order(lanes);
  std::iota(order.begin(), order.end(), 0);
  for (unsigned i = 0; i < half; ++i)
    for (unsigned right = 0; right < 2; ++right)
      rows[i + right * half] = vector::ShuffleOp::create(b, loadPart(in, column, i, right * half, half),
                                                         loadPart(in, column, i + half, right * half, half), order);
  return rows;
}

void TurnEmitter::square(Value in, Value column, Value out, unsigned columns) {
  Type element = b.elementType(type);
  unsigned align = unsigned(itemSize(type)), inQuarter = 16 / align; // elements in 16 bytes, where shuffles are cheap
  Values rows = lanes > inQuarter ? loadHalves(in, column) : loadRows(in, column);
  for (unsigned d = lanes > inQuarter ? lanes / 4 : lanes / 2; d >= (inQuarter == 4 ? 4 : 1); d /= 2)
    swapBlocks(rows, d);
  if (inQuarter == 4)
    turnQuads(rows);
  for (unsigned i = 0; i < lanes; ++i)
    b.storeRaw(rows[i], b.addressAt(out, int64_t(i) * columns, element), align);
}

void TurnEmitter::run(llvm::StringRef name) {
  Type element = b.elementType(type);
  unsigned columns = gemmTile(b.target(), type).columns();
  b.beginKernel(name);
  Value out = b.pointer(0), in = b.pointer(1), column = b.sizeAt(0);
  // A few columns at a time: an address for each is more than there are registers.
  b.loop(b.i64(0), b.i64(columns), lanes, [&](Value n) {
    Value from = b.address(in, b.mul(column, n), element), to = b.address(out, n, element);
    b.loop(b.begin(), b.end(), lanes, [&](Value k) {
      square(b.address(from, k, element), column, b.address(to, b.mul(k, b.i64(columns)), element), columns);
    });
  });
  b.endKernel();
}

} // namespace

void emitGemmTurn(KernelBuilder &b, llvm::StringRef name, DType t) { TurnEmitter(b, t).run(name); }

} // namespace torchc::lower
