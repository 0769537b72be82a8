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
  /// Where a loop over k stands; null is what the variant doesn't have.
  struct Walk {
    Value a, aHigh, b, copy, next;
  };
  void strip();
  void copyTile();
  void anyOf(unsigned least, unsigned most, Value rows, Value row);
  void tileOf(unsigned rows, Value row);
  Values chainsOf(unsigned rows, Value row);
  Values chainLoop(unsigned rows, Values accs, Walk at);
  Values step(unsigned rows, const Walk &at, ValueRange accs);
  Walk advance(const Walk &at);
  Value flagSet(int64_t bit) {
    return b.compare(Pred::ne, Value(arith::AndIOp::create(b, flags, b.i64(bit))), b.i64(0));
  }
  Value multiplyAdd(Value x, Value y, Value z);
  Value cAddress(Value cTile, unsigned row, unsigned v);
  void prefetch(Value address, unsigned write, unsigned level) { LLVM::Prefetch::create(b, address, write, level, 1u); }

  KernelBuilder &b;
  DType type;
  GemmVariant variant;
  GemmTile tile;
  unsigned panels, vectors;
  Type element, vector;
  Value c, a, bBase, next, copy, chain;
  Value depth, aRow, aK, bK, cRow, flags, rowStep, aTile, bPanel, lines, nextStep, aRow2;
};

Value StripEmitter::multiplyAdd(Value x, Value y, Value z) {
  if (isFloat(type))
    return LLVM::FMAOp::create(b, z.getType(), x, y, z);
  return b.add(b.mul(x, y), z);
}

/// One k: the vectors of B's row, then a broadcast and its products per row of A. Rows 3 to 5 hang on `at.aHigh`, so that
/// three addresses with scaled strides reach all six.
Values StripEmitter::step(unsigned rows, const Walk &at, ValueRange accs) {
  unsigned align = unsigned(itemSize(type));
  Values bv, out(accs.size());
  for (unsigned v = 0; v < vectors; ++v) {
    Value base = at.b;
    if (v >= tile.vectors)
      base = b.address(at.b, b.mul(bPanel, b.i64(v / tile.vectors)), element);
    bv.push_back(b.loadRaw(b.addressAt(base, int64_t(v % tile.vectors) * tile.lanes, element), vector, align));
  }
  if (variant == GemmVariant::Copy) {
    for (unsigned v = 0; v < vectors; ++v)
      b.storeRaw(bv[v], b.addressAt(at.copy, int64_t(v) * tile.lanes, element), align);
    for (unsigned line = 0; line < tile.columns() * align; line += 64)
      prefetch(b.addressAt(at.next, line, b.getI8Type()), 0, 3);
  }
  for (unsigned r = 0; r < rows; ++r) {
    Value base = r < 3 ? at.a : at.aHigh, address;
    if (variant == GemmVariant::Packed)
      address = b.addressAt(at.a, r, element);
    else
      address = r % 3 == 0 ? base : b.address(base, r % 3 == 1 ? aRow : aRow2, element);
    Value x = b.splat(b.loadRaw(address, element, align), tile.lanes);
    for (unsigned v = 0; v < vectors; ++v)
      out[r * vectors + v] = multiplyAdd(x, bv[v], accs[r * vectors + v]);
  }
  return out;
}

/// The addresses of the next k.
StripEmitter::Walk StripEmitter::advance(const Walk &at) {
  auto by = [&](Value p, Value stride) { return p ? b.address(p, stride, element) : p; };
  Value stepA = variant == GemmVariant::Packed ? b.i64(tile.rows) : aK;
  return {by(at.a, stepA), by(at.aHigh, stepA), by(at.b, bK), by(at.copy, b.i64(tile.columns())),
          by(at.next, nextStep)};
}

Value StripEmitter::cAddress(Value cTile, unsigned row, unsigned v) {
  Value base = row ? b.address(cTile, b.mul(cRow, b.i64(row)), element) : cTile;
  return b.addressAt(base, int64_t(v) * tile.lanes, element);
}

/// The chains of a tile so far: +0, or what an earlier part of the same block of k left.
Values StripEmitter::chainsOf(unsigned rows, Value row) {
  unsigned count = rows * vectors;
  Values zeros(count, b.zero(vector));
  if (variant == GemmVariant::Packed || variant == GemmVariant::Wide)
    return zeros;
  return b.ifElse(
      flagSet(1), ValueRange(zeros).getTypes(),
      [&] {
        Value from = b.address(chain, b.mul(row, b.i64(tile.columns())), element);
        Values v;
        for (unsigned i = 0; i < count; ++i)
          v.push_back(b.loadRaw(b.addressAt(from, int64_t(i) * tile.lanes, element), vector, unsigned(itemSize(type))));
        return v;
      },
      [&] { return zeros; });
}

Values StripEmitter::chainLoop(unsigned rows, Values accs, Walk at) {
  unsigned count = unsigned(accs.size());
  Value Walk::*fields[] = {&Walk::a, &Walk::aHigh, &Walk::b, &Walk::copy, &Walk::next};
  auto append = [&](Values &to, const Walk &walk) {
    for (auto f : fields)
      if (walk.*f)
        to.push_back(walk.*f);
  };
  auto body = [&](unsigned times) {
    return [&, times](Value, ValueRange in) {
      Values now(in.begin(), in.begin() + count);
      Walk walk;
      unsigned i = count;
      for (auto f : fields)
        if (at.*f)
          walk.*f = in[i++];
      for (unsigned t = 0; t < times; ++t) {
        now = step(rows, walk, now);
        walk = advance(walk);
      }
      append(now, walk);
      return now;
    };
  };
  append(accs, at);
  // Unrolled are full tiles of strips alone: other tiles are bound by their chains, and with strides LLVM makes of every
  // unrolled address an offset of its own, more than there are registers for.
  bool full = variant == GemmVariant::Packed && rows == tile.rows;
  unsigned unroll = full ? (count < 16 ? 4 : 2) : variant == GemmVariant::Wide ? 2 : 1;
  Value main = b.i64(0);
  if (unroll > 1) {
    main = b.roundDown(depth, unroll);
    accs = b.loop(b.i64(0), main, unroll, accs, body(unroll));
  }
  accs = b.loop(main, depth, 1, accs, body(1));
  accs.resize(count);
  return accs;
}

void StripEmitter::tileOf(unsigned rows, Value row) {
  unsigned align = unsigned(itemSize(type));
  Value cTile = b.address(c, b.mul(row, cRow), element);
  Walk at;
  at.a = b.address(a, b.mul(row, aTile), element);
  if (rows > 3 && variant != GemmVariant::Packed)
    at.aHigh = b.address(at.a, b.mul(aRow, b.i64(3)), element);
  at.b = bBase;
  if (variant == GemmVariant::Copy)
    at.copy = copy, at.next = next;
  Values accs = chainLoop(rows, chainsOf(rows, row), at);
  unsigned count = unsigned(accs.size());
  accs = b.ifElse(
      flagSet(2), ValueRange(accs).getTypes(),
      [&] {
        Values sums;
        for (unsigned i = 0; i < count; ++i) {
          Value sum = b.loadRaw(cAddress(cTile, i / vectors, i % vectors), vector, align);
          sums.push_back(isFloat(type) ? Value(arith::AddFOp::create(b, sum, accs[i])) : b.add(sum, accs[i]));
        }
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
  if (variant == GemmVariant::Copy)
    copy = b.pointer(4);
  if (variant == GemmVariant::Copy || variant == GemmVariant::Strided)
    chain = b.pointer(5);
  Value *fields[] = {&depth, &aRow, &aK, &bK, &cRow, &flags, &rowStep, &aTile, &bPanel, &lines, &nextStep};
  for (unsigned i = 0; i < std::size(fields); ++i)
    *fields[i] = b.sizeAt(i);
  aRow2 = b.mul(aRow, b.i64(2));
  if (variant == GemmVariant::Copy)
    copyTile();
  else
    strip();
  b.endKernel();
}

void StripEmitter::anyOf(unsigned least, unsigned most, Value rows, Value row) {
  for (unsigned r = most; r >= least; --r)
    b.ifThen(b.compare(Pred::eq, rows, b.i64(r)), [&] { tileOf(r, row); });
}

/// Fewer rows have no second tile that would read the copy.
void StripEmitter::copyTile() { anyOf(gemmCopyRows, tile.rows, b.sub(b.end(), b.begin()), b.begin()); }

void StripEmitter::strip() {
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
        anyOf(1, maxRows, rows, row);
        Value ahead = b.address(s[1], b.mul(lines, b.i64(64)), b.getI8Type());
        return Values{b.add(row, rowStep), ahead};
      });
}

} // namespace

void emitGemmStrip(KernelBuilder &b, llvm::StringRef name, DType t, GemmVariant variant) {
  StripEmitter(b, t, variant).run(name);
}

} // namespace torchc::lower
