// Transposing memory: squares of up to lanes x lanes are transposed in registers.
#include "compiler/lower/Gemm.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace torchc::lower {
namespace {

class TurnEmitter {
public:
  TurnEmitter(KernelBuilder &b, DType t) : b(b), type(t), element(b.elementType(t)), align(unsigned(itemSize(t))) {}
  void run(llvm::StringRef name);

private:
  void column(Value n, unsigned width);
  void square(ValueRange from, ValueRange to, unsigned width);
  Value source(Value n, Value k) { return b.address(b.address(in, b.mul(columnStep, n), element), k, element); }
  Value result(Value n, Value k) { return b.address(b.address(out, b.mul(rowStep, k), element), n, element); }
  Values basesOf(Value base, Value stride, unsigned width);
  Value line(ValueRange bases, Value stride, unsigned i);
  Value loadPart(ValueRange from, unsigned i, unsigned at, unsigned count);
  Values loadRows(ValueRange from, unsigned width);
  Values loadHalves(ValueRange from, unsigned width);
  void swapBlocks(Values &rows, unsigned d);
  void turnQuads(Values &rows);
  Value pick(Value x, Value y, llvm::function_ref<int64_t(int64_t)> indexOf);

  KernelBuilder &b;
  DType type;
  Type element;
  unsigned align;
  llvm::SmallVector<unsigned, 3> widths; // of squares, descending
  Value out, in, columnStep, rowStep;
};

Value TurnEmitter::pick(Value x, Value y, llvm::function_ref<int64_t(int64_t)> indexOf) {
  SmallVector<int64_t> order;
  for (unsigned j = 0; j < KernelBuilder::lanesOf(x); ++j)
    order.push_back(indexOf(j));
  return vector::ShuffleOp::create(b, x, y, order);
}

/// Every fourth line from `base` on: the three behind it hang on it, so that few registers hold all addresses.
Values TurnEmitter::basesOf(Value base, Value stride, unsigned width) {
  Values bases = {base};
  for (unsigned i = 4; i < width; i += 4)
    bases.push_back(b.address(base, b.mul(stride, b.i64(i)), element));
  return bases;
}

Value TurnEmitter::line(ValueRange bases, Value stride, unsigned i) {
  Value base = bases[i / 4];
  return i % 4 ? b.address(base, b.mul(stride, b.i64(i % 4)), element) : base;
}

/// `count` elements of the i-th column.
Value TurnEmitter::loadPart(ValueRange from, unsigned i, unsigned at, unsigned count) {
  return b.loadRaw(b.addressAt(line(from, columnStep, i), at, element), b.wide(element, count), align);
}

/// Of each 2d x 2d square, the blocks of d x d beside the diagonal change places.
void TurnEmitter::swapBlocks(Values &rows, unsigned d) {
  unsigned lanes = unsigned(rows.size());
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
  unsigned lanes = unsigned(rows.size());
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

Values TurnEmitter::loadRows(ValueRange from, unsigned width) {
  Values rows;
  for (unsigned i = 0; i < width; ++i)
    rows.push_back(loadPart(from, i, 0, width));
  return rows;
}

/// Loads that have done swapBlocks(width / 2): joining halves from memory is cheaper than exchanging them.
Values TurnEmitter::loadHalves(ValueRange from, unsigned width) {
  Values rows(width);
  unsigned half = width / 2;
  SmallVector<int64_t> order(width);
  std::iota(order.begin(), order.end(), 0);
  for (unsigned i = 0; i < half; ++i)
    for (unsigned right = 0; right < 2; ++right)
      rows[i + right * half] = vector::ShuffleOp::create(b, loadPart(from, i, right * half, half),
                                                         loadPart(from, i + half, right * half, half), order);
  return rows;
}

void TurnEmitter::square(ValueRange from, ValueRange to, unsigned width) {
  if (width == 1)
    return b.storeRaw(b.loadRaw(from[0], element, align), to[0], align);
  unsigned inQuarter = 16 / align; // elements in 16 bytes, where shuffles are cheap
  bool wide = width > inQuarter;
  Values rows = wide ? loadHalves(from, width) : loadRows(from, width);
  for (unsigned d = wide ? width / 4 : width / 2; d >= (inQuarter == 4 ? 4 : 1); d /= 2)
    swapBlocks(rows, d);
  if (inQuarter == 4)
    turnQuads(rows);
  for (unsigned i = 0; i < width; ++i)
    b.storeRaw(rows[i], line(to, rowStep, i), align);
}

/// All rows of `width` columns.
void TurnEmitter::column(Value n, unsigned width) {
  Value k = b.begin();
  for (unsigned w : widths) {
    if (w > width)
      continue;
    Value end = w > 1 ? b.add(k, b.roundDown(b.sub(b.end(), k), w)) : b.end();
    if (w < width) {
      b.loop(k, end, w, [&](Value at) {
        b.loop(n, b.add(n, b.i64(width)), w, [&](Value part) {
          square(basesOf(source(part, at), columnStep, w), basesOf(result(part, at), rowStep, w), w);
        });
      });
    } else {
      Values from = basesOf(source(n, k), columnStep, w), to = basesOf(result(n, k), rowStep, w), both = from;
      both.append(to);
      b.loop(k, end, w, both, [&](Value, ValueRange at) {
        square(at.take_front(from.size()), at.drop_front(from.size()), w);
        Values next;
        for (unsigned i = 0; i < at.size(); ++i)
          next.push_back(b.address(at[i], i < from.size() ? b.i64(w) : b.mul(rowStep, b.i64(w)), element));
        return next;
      });
    }
    k = end;
  }
}

void TurnEmitter::run(llvm::StringRef name) {
  unsigned lanes = align < 4 ? 4 : gemmTile(b.target(), type).lanes;
  widths = {lanes};
  if (lanes > 4)
    widths.push_back(4);
  widths.push_back(1);
  b.beginKernel(name);
  out = b.pointer(0), in = b.pointer(1);
  columnStep = b.sizeAt(0), rowStep = b.sizeAt(1);
  Value columns = b.sizeAt(2), n = b.i64(0);
  for (unsigned w : widths) {
    Value end = w > 1 ? b.add(n, b.roundDown(b.sub(columns, n), w)) : columns;
    b.loop(n, end, w, [&](Value at) { column(at, w); });
    n = end;
  }
  b.endKernel();
}

} // namespace

void emitTurn(KernelBuilder &b, llvm::StringRef name, DType t) { TurnEmitter(b, t).run(name); }

} // namespace torchc::lower
