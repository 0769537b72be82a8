#include "compiler/lower/Gemm.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

GemmTile gemmTile(const codegen::TargetInfo &target, DType t) {
  unsigned lanes = target.lanes(unsigned(itemSize(t)) * 8);
  return {gemmTileRows, unsigned(gemmTileBytes(target.isa)) * 8 / target.vectorBits, lanes};
}

namespace {

class StripEmitter {
public:
  StripEmitter(KernelBuilder &b, DType t, GemmVariant variant)
      : b(b), type(t), variant(variant), tile(gemmTile(b.target(), t)) {
    panels = variant == GemmVariant::Wide ? gemmWidePanels : 1;
    // A wide row of four vectors a panel would need more registers than there are.
    vectors = tile.vectors * panels;
  }
  void run(llvm::StringRef name);

private:
  void tileOf(unsigned rows, Value row);
  Values step(unsigned rows, Value a, Value aHigh, Value bRow, ValueRange accs);
  Value multiplyAdd(Value x, Value y, Value z);
  Value cAddress(Value cTile, unsigned row, unsigned v);
  void prefetch(Value address, unsigned write, unsigned level) { LLVM::Prefetch::create(b, address, write, level, 1u); }

  KernelBuilder &b;
  DType type;
  GemmVariant variant;
  GemmTile tile;
  unsigned panels, vectors;
  Type element, vector;
  Value c, a, bBase, next, depth, aRow, aK, bK, cRow, flags, rowStep, aTile, bPanel, lines;
  Value aRow2;
};

Value StripEmitter::multiplyAdd(Value x, Value y, Value z) {
  if (isFloat(type))
    return LLVM::FMAOp::create(b, z.getType(), x, y, z);
  return b.add(b.mul(x, y), z);
}

/// One k: the vectors of B's row, then a broadcast and its products per row of A. Rows 3 to 5 hang on `aHigh`, so that
/// three addresses with scaled strides reach all six.
Values StripEmitter::step(unsigned rows, Value aPtr, Value aHigh, Value bRow, ValueRange accs) {
  Values bv, out(accs.size());
  for (unsigned v = 0; v < vectors; ++v) {
    Value base = bRow;
    if (v >= tile.vectors)
      base = b.address(bRow, b.mul(bPanel, b.i64(v / tile.vectors)), element);
    bv.push_back(b.loadRaw(b.addressAt(base, int64_t(v % tile.vectors) * tile.lanes, element), vector,
                           unsigned(itemSize(type))));
  }
  for (unsigned r = 0; r < rows; ++r) {
    Value base = r < 3 ? aPtr : aHigh, address;
    if (variant == GemmVariant::Packed)
      address = b.addressAt(aPtr, r, element);
    else
      address = r % 3 == 0 ? base : b.address(base, r % 3 == 1 ? aRow : aRow2, element);
    Value x = b.splat(b.loadRaw(address, element, unsigned(itemSize(type))), tile.lanes);
    for (unsigned v = 0; v < vectors; ++v)
      out[r * vectors + v] = multiplyAdd(x, bv[v], accs[r * vectors + v]);
  }
  return out;
}

Value StripEmitter::cAddress(Value cTile, unsigned row, unsigned v) {
  Value base = row ? b.address(cTile, b.mul(cRow, b.i64(row)), element) : cTile;
  return b.addressAt(base, int64_t(v) * tile.lanes, element);
}

void StripEmitter::tileOf(unsigned rows, Value row) {
  unsigned align = unsigned(itemSize(type));
  Value cTile = b.address(c, b.mul(row, cRow), element);
  Value aPtr = b.address(a, b.mul(row, aTile), element);
  Value aHigh = rows > 3 && variant != GemmVariant::Packed ? b.address(aPtr, b.mul(aRow, b.i64(3)), element) : Value();
  unsigned count = rows * vectors;
  auto loadC = [&] {
    Values v;
    for (unsigned i = 0; i < count; ++i)
      v.push_back(b.loadRaw(cAddress(cTile, i / vectors, i % vectors), vector, align));
    return v;
  };
  auto zero = b.i64(0);
  auto flagSet = [&](int64_t bit) {
    return b.compare(Pred::ne, Value(arith::AndIOp::create(b, flags, b.i64(bit))), zero);
  };
  Values zeros(count, b.zero(vector));
  Values carried = b.ifElse(flagSet(1), ValueRange(zeros).getTypes(), loadC, [&] { return zeros; });
  carried.push_back(aPtr);
  if (aHigh)
    carried.push_back(aHigh);
  carried.push_back(bBase);
  bool packed = variant == GemmVariant::Packed;
  auto advance = [&](Value p, unsigned times, Value stride) {
    return packed && stride == aK ? b.addressAt(p, int64_t(tile.rows) * times, element)
                                  : b.address(p, times == 1 ? stride : b.mul(stride, b.i64(times)), element);
  };
  auto body = [&](unsigned times) {
    return [&, times](Value, ValueRange in) {
      Values accs(in.begin(), in.begin() + count);
      Value pa = in[count], ph = aHigh ? in[count + 1] : Value(), pb = in[in.size() - 1];
      for (unsigned t = 0; t < times; ++t) {
        accs = step(rows, pa, ph, pb, accs);
        pa = advance(pa, 1, aK);
        if (ph)
          ph = advance(ph, 1, aK);
        pb = advance(pb, 1, bK);
      }
      accs.push_back(pa);
      if (ph)
        accs.push_back(ph);
      accs.push_back(pb);
      return accs;
    };
  };
  Value main = b.roundDown(depth, 4);
  carried = b.loop(zero, main, 4, carried, body(4));
  carried = b.loop(main, depth, 1, carried, body(1));
  Values accs(carried.begin(), carried.begin() + count);
  accs = b.ifElse(
      flagSet(2), ValueRange(accs).getTypes(),
      [&] {
        Values sums = loadC();
        for (unsigned i = 0; i < count; ++i)
          sums[i] = isFloat(type) ? Value(arith::AddFOp::create(b, sums[i], accs[i])) : b.add(sums[i], accs[i]);
        return sums;
      },
      [&] { return accs; });
  for (unsigned i = 0; i < count; ++i)
    b.storeRaw(accs[i], cAddress(cTile, i / vectors, i % vectors), align);
}

void StripEmitter::run(llvm::StringRef name) {
  element = b.elementType(type);
  vector = b.wide(element, tile.lanes);
  b.beginKernel(name);
  c = b.pointer(0), a = b.pointer(1), bBase = b.pointer(2), next = b.pointer(3);
  Value *fields[] = {&depth, &aRow, &aK, &bK, &cRow, &flags, &rowStep, &aTile, &bPanel, &lines};
  for (unsigned i = 0; i < std::size(fields); ++i)
    *fields[i] = b.sizeAt(i);
  aRow2 = b.mul(aRow, b.i64(2));
  unsigned maxRows = variant == GemmVariant::Wide ? 1 : tile.rows;
  // The step is dynamic (8 rows are better cut 4 + 4), so a while loop rather than a for.
  b.whileLoop(
      {b.begin(), next}, [&](ValueRange s) { return b.compare(Pred::slt, s[0], b.end()); },
      [&](ValueRange s) {
        Value row = s[0], rows = b.minimum(rowStep, b.sub(b.end(), row));
        b.loop(b.i64(0), lines, 1,
               [&](Value i) { prefetch(b.address(s[1], b.mul(i, b.i64(64)), b.getI8Type()), 0, 2); });
        if (maxRows > 1) { // the next tile of C
          Value below = b.address(c, b.mul(b.add(row, rowStep), cRow), element);
          for (unsigned r = 0; r < maxRows; ++r)
            prefetch(cAddress(below, r, 0), 1, 3);
        }
        for (unsigned r = maxRows; r >= 1; --r)
          b.ifThen(b.compare(Pred::eq, rows, b.i64(r)), [&] { tileOf(r, row); });
        Value ahead = b.address(s[1], b.mul(lines, b.i64(64)), b.getI8Type());
        return Values{b.add(row, rowStep), ahead};
      });
  b.endKernel();
}

} // namespace

void emitGemmStrip(KernelBuilder &b, llvm::StringRef name, DType t, GemmVariant variant) {
  StripEmitter(b, t, variant).run(name);
}

} // namespace torchc::lower
