#include "compiler/lower/BodyEmitter.h"
#include "compiler/lower/Window.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

ConvTile convTile(const codegen::TargetInfo &target, DType t) {
  unsigned lanes = target.lanes(unsigned(itemSize(t)) * 8);
  return {unsigned(convTileRows(target.isa)), unsigned(convTileBytes(target.isa)) * 8 / target.vectorBits, lanes};
}

namespace {

class ConvEmitter {
public:
  ConvEmitter(KernelBuilder &b, DType t, ConvVariant variant)
      : b(b), type(t), lanesOfA(variant == ConvVariant::Lanes), steps(variant != ConvVariant::Shared),
        tile(convTile(b.target(), t)), align(unsigned(itemSize(t))) {}
  void run(llvm::StringRef name);

private:
  void tileOf(unsigned rows, Value row);
  Values entry(unsigned rows, Value fields, ValueRange rowPointers, ValueRange accs);
  Values product(unsigned rows, ValueRange rowPointers, Value aIndex, unsigned aOffset, Value bRow, ValueRange accs);
  Value flagSet(int64_t bit) {
    return b.compare(Pred::ne, Value(arith::AndIOp::create(b, flags, b.i64(bit))), b.i64(0));
  }
  void fetchAhead(unsigned rows, Value fields, ValueRange rowPointers);
  void finish(unsigned rows, Value row, ValueRange accs);
  Value multiplyAdd(Value x, Value y, Value z) {
    if (isFloat(type))
      return LLVM::FMAOp::create(b, z.getType(), x, y, z);
    return b.add(b.mul(x, y), z);
  }
  Value i64At(Value base, Value index, int64_t offset) {
    Value at = index ? b.address(base, index, b.getI64Type()) : base;
    return b.loadRaw(b.addressAt(at, offset, b.getI64Type()), b.getI64Type(), 8);
  }

  KernelBuilder &b;
  DType type;
  bool lanesOfA, steps;
  ConvTile tile;
  unsigned align;
  Type element, vector;
  Value c, a, bBase, rowTable, entryTable, bias, entries, aStep, bStep, cRow, flags;
};

/// One k: B's row, and a product of it per row of A.
Values ConvEmitter::product(unsigned rows, ValueRange rowPointers, Value aIndex, unsigned aOffset, Value bRow,
                            ValueRange accs) {
  Values bv, out;
  for (unsigned v = 0; v < tile.vectors; ++v)
    bv.push_back(b.loadRaw(b.addressAt(bRow, int64_t(v) * tile.lanes, element), vector, align));
  for (unsigned r = 0; r < rows; ++r) {
    Value at = b.addressAt(b.address(rowPointers[r], aIndex, element), aOffset, element), shared;
    if (!lanesOfA)
      shared = b.splat(b.loadRaw(at, element, align), tile.lanes);
    for (unsigned v = 0; v < tile.vectors; ++v) {
      Value x = lanesOfA ? b.loadRaw(b.addressAt(at, int64_t(v) * tile.lanes, element), vector, align) : shared;
      out.push_back(multiplyAdd(x, bv[v], accs[r * tile.vectors + v]));
    }
  }
  return out;
}

/// What the next entry reads of A: the panel of B passes through L1 in between and leaves nothing of it there. Rows are
/// neighbours in the source as a rule, so that the lines from the first row on are those of all, and of their next taps.
void ConvEmitter::fetchAhead(unsigned rows, Value fields, ValueRange rowPointers) {
  Value next = b.address(rowPointers[0], i64At(fields, {}, 3), element);
  for (unsigned line = 0; line < rows + 2; ++line)
    LLVM::Prefetch::create(b, b.addressAt(next, line * 64 / align, element), 0u, 3u, 1u);
}

/// All products of one entry, four at a time.
Values ConvEmitter::entry(unsigned rows, Value fields, ValueRange rowPointers, ValueRange accs) {
  Value aIndex = i64At(fields, {}, 0), bRow = b.address(bBase, i64At(fields, {}, 1), element);
  Value count = i64At(fields, {}, 2), zero = b.i64(0);
  if (!steps && rows == tile.rows)
    b.ifThen(flagSet(1), [&] { fetchAhead(rows, fields, rowPointers); });
  Values carried(accs.begin(), accs.end());
  carried.push_back(aIndex);
  carried.push_back(bRow);
  auto body = [&](unsigned times) {
    return [&, times](Value, ValueRange in) {
      auto carriedSums = in.drop_back(2);
      Values sums(carriedSums.begin(), carriedSums.end());
      Value at = in[in.size() - 2], bAt = in[in.size() - 1];
      for (unsigned t = 0; t < times; ++t) {
        sums = product(rows, rowPointers, at, steps ? 0 : t, bAt, sums);
        bAt = b.address(bAt, bStep, element);
        if (steps)
          at = b.add(at, aStep);
      }
      sums.push_back(steps ? at : b.add(at, b.i64(times)));
      sums.push_back(bAt);
      return sums;
    };
  };
  Value main = b.roundDown(count, 4);
  carried = b.loop(zero, main, 4, carried, body(4));
  carried = b.loop(main, count, 1, carried, body(1));
  carried.resize(accs.size());
  return carried;
}

void ConvEmitter::finish(unsigned rows, Value row, ValueRange accs) {
  Value cTile = b.address(c, b.mul(row, cRow), element);
  auto place = [&](unsigned i) {
    unsigned r = i / tile.vectors, v = i % tile.vectors;
    Value base = r ? b.address(cTile, b.mul(cRow, b.i64(r)), element) : cTile;
    return b.addressAt(base, int64_t(v) * tile.lanes, element);
  };
  unsigned count = rows * tile.vectors;
  auto add = [&](Value x, Value y) { return isFloat(type) ? Value(arith::AddFOp::create(b, x, y)) : b.add(x, y); };
  auto where = [&](int64_t flag, ValueRange sums, llvm::function_ref<Value(unsigned, Value)> change) {
    Value set = flagSet(flag);
    auto changed = [&] {
      Values v;
      for (unsigned i = 0; i < count; ++i)
        v.push_back(change(i, sums[i]));
      return v;
    };
    return b.ifElse(set, sums.getTypes(), changed, [&] { return Values(sums.begin(), sums.end()); });
  };
  Values sums = where(2, accs, [&](unsigned i, Value v) { return add(b.loadRaw(place(i), vector, align), v); });
  sums = where(4, sums, [&](unsigned i, Value v) {
    return add(v, b.loadRaw(b.addressAt(bias, int64_t(i % tile.vectors) * tile.lanes, element), vector, align));
  });
  sums = where(8, sums, [&](unsigned, Value v) { return emitMax(b, v, b.zero(vector), type); });
  for (unsigned i = 0; i < count; ++i)
    b.storeRaw(sums[i], place(i), align);
}

void ConvEmitter::tileOf(unsigned rows, Value row) {
  Values rowPointers;
  for (unsigned r = 0; r < rows; ++r)
    rowPointers.push_back(b.address(a, i64At(rowTable, row, r), element));
  Values accs(rows * tile.vectors, b.zero(vector));
  accs = b.loop(b.i64(0), entries, 1, accs, [&](Value e, ValueRange in) {
    return entry(rows, b.address(entryTable, b.mul(e, b.i64(3)), b.getI64Type()), rowPointers, in);
  });
  finish(rows, row, accs);
}

void ConvEmitter::run(llvm::StringRef name) {
  element = b.elementType(type);
  vector = b.wide(element, tile.lanes);
  b.beginKernel(name);
  Value *pointers[] = {&c, &a, &bBase, &rowTable, &entryTable, &bias};
  for (unsigned i = 0; i < std::size(pointers); ++i)
    *pointers[i] = b.pointer(i);
  Value *fields[] = {&entries, &aStep, &bStep, &cRow, &flags};
  for (unsigned i = 0; i < std::size(fields); ++i)
    *fields[i] = b.sizeAt(i);
  Value whole = b.add(b.begin(), b.mul(Value(arith::DivSIOp::create(b, b.sub(b.end(), b.begin()), b.i64(tile.rows))),
                                       b.i64(tile.rows)));
  b.loop(b.begin(), whole, tile.rows, [&](Value row) { tileOf(tile.rows, row); });
  Value rest = b.sub(b.end(), whole);
  for (unsigned r = tile.rows - 1; r >= 1; --r)
    b.ifThen(b.compare(Pred::eq, rest, b.i64(r)), [&] { tileOf(r, whole); });
  b.endKernel();
}

} // namespace

void emitConvStrip(KernelBuilder &b, llvm::StringRef name, DType t, ConvVariant variant) {
  ConvEmitter(b, t, variant).run(name);
}

} // namespace torchc::lower
