#include "compiler/lower/Random.h"
#include "compiler/lower/Convert.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

llvm::SmallVector<Value, 4> emitPhilox(KernelBuilder &b, Value seed, Value ordinal, Value counter, unsigned subDraw) {
  unsigned lanes = KernelBuilder::lanesOf(counter);
  Type type = counter.getType();
  auto c = [&](uint64_t v) { return b.intConst(type, int64_t(v)); };
  Value low32 = c(0xffffffff);
  auto low = [&](Value v) -> Value { return arith::AndIOp::create(b, v, low32); };
  auto high = [&](Value v) -> Value { return arith::ShRUIOp::create(b, v, c(32)); };
  auto bxor = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(b, x, y); };
  Value wideSeed = b.splat(seed, lanes), wideOrdinal = b.splat(ordinal, lanes);
  Value key0 = low(wideSeed), key1 = high(wideSeed);
  Value x0 = low(counter), x1 = high(counter), x2 = low(wideOrdinal);
  Value x3 = bxor(high(wideOrdinal), c(uint64_t(subDraw) << 24));
  for (int round = 0; round < 10; ++round) {
    if (round) { // the key's Weyl sequence, modulo 2^32
      key0 = low(b.add(key0, c(0x9E3779B9)));
      key1 = low(b.add(key1, c(0xBB67AE85)));
    }
    Value p0 = b.mul(x0, c(0xD2511F53)), p1 = b.mul(x2, c(0xCD9E8D57));
    Value y0 = bxor(bxor(high(p1), x1), key0), y2 = bxor(bxor(high(p0), x3), key1);
    x1 = low(p1), x3 = low(p0), x0 = y0, x2 = y2;
  }
  return {x0, x1, x2, x3};
}

namespace {

/// A loop over counters; what becomes of their words is the subclass's.
class DrawEmitter {
public:
  DrawEmitter(KernelBuilder &b, DType t, unsigned perCounter)
      : b(b), type(t), lanes(b.target().lanes(64)), perCounter(perCounter) {}
  virtual ~DrawEmitter() = default;
  void run(llvm::StringRef name);

protected:
  /// Called once, at the kernel's head.
  virtual void begin() {}
  /// `perCounter` values, each for all lanes.
  virtual Values numbers(llvm::ArrayRef<Value> words) = 0;
  Value scalar(int64_t i) { return b.loadRaw(b.addressAt(b.scalars(), i, b.getI64Type()), b.getI64Type(), 8); }

  KernelBuilder &b;
  DType type;
  unsigned lanes; // counters at once

private:
  Value interleave(Value x, Value y);
  unsigned perCounter;
};

class UniformEmitter : public DrawEmitter {
public:
  UniformEmitter(KernelBuilder &b, DType t) : DrawEmitter(b, t, t == DType::F64 ? 2 : 4) {}

private:
  Values numbers(llvm::ArrayRef<Value> words) override;
  Value scaled(Value integer, int shift, double scale);
};

class RandintEmitter : public DrawEmitter {
public:
  RandintEmitter(KernelBuilder &b, bool wide) : DrawEmitter(b, DType::I64, wide ? 2 : 4), wide(wide) {}

private:
  void begin() override;
  Values numbers(llvm::ArrayRef<Value> words) override;
  Value highProduct(Value low, Value high);
  Value shifted(Value v) { return arith::ShRUIOp::create(b, v, b.intConst(v.getType(), 32)); }

  bool wide;
  Value low, range, rangeLow, rangeHigh;
};

Value DrawEmitter::interleave(Value x, Value y) {
  llvm::SmallVector<int64_t, 16> order;
  int64_t n = KernelBuilder::lanesOf(x);
  for (int64_t i = 0; i < n; ++i) {
    order.push_back(i);
    order.push_back(n + i);
  }
  return vector::ShuffleOp::create(b, x, y, order);
}

/// The top bits of a word as f32, exactly scaled, in the output type.
Value UniformEmitter::scaled(Value word, int shift, double scale) {
  Value top = arith::ShRUIOp::create(b, word, b.intConst(word.getType(), shift));
  Value narrow = arith::TruncIOp::create(b, b.wide(b.getI32Type(), lanes), top);
  Type f32 = b.wide(b.getF32Type(), lanes);
  Value f = arith::MulFOp::create(b, Value(arith::SIToFPOp::create(b, f32, narrow)), b.floatConst(f32, scale));
  return convert(b, f, DType::F32, type);
}

/// One value per word, or per pair of words for f64.
Values UniformEmitter::numbers(llvm::ArrayRef<Value> words) {
  Values out;
  if (type == DType::F64) {
    for (unsigned i = 0; i < 4; i += 2) {
      Type i64 = words[i].getType();
      Value hi = arith::ShRUIOp::create(b, words[i], b.intConst(i64, 5));
      Value lo = arith::ShRUIOp::create(b, words[i + 1], b.intConst(i64, 6));
      Value bits = b.add(Value(arith::ShLIOp::create(b, hi, b.intConst(i64, 26))), lo);
      Value f = i64ToF64(b, bits);
      out.push_back(arith::MulFOp::create(b, f, b.floatConst(f.getType(), 0x1p-53)));
    }
    return out;
  }
  for (Value w : words)
    out.push_back(type == DType::F16    ? scaled(w, 21, 0x1p-11)
                  : type == DType::BF16 ? scaled(w, 24, 0x1p-8)
                                        : scaled(w, 8, 0x1p-24));
  return out;
}

void RandintEmitter::begin() {
  Value r = scalar(3);
  low = b.splat(scalar(2), lanes);
  range = b.splat(r, lanes);
  Value mask = b.intConst(range.getType(), 0xffffffff);
  rangeLow = arith::AndIOp::create(b, range, mask);
  rangeHigh = shifted(range);
}

/// The high half of (high:low) * range from four products of 32-bit halves.
Value RandintEmitter::highProduct(Value low, Value high) {
  Value mask = b.intConst(low.getType(), 0xffffffff);
  auto half = [&](Value v) -> Value { return arith::AndIOp::create(b, v, mask); };
  Value ll = b.mul(low, rangeLow), lh = b.mul(low, rangeHigh), hl = b.mul(high, rangeLow), hh = b.mul(high, rangeHigh);
  Value middle = b.add(b.add(shifted(ll), half(lh)), half(hl));
  return b.add(b.add(hh, shifted(lh)), b.add(shifted(hl), shifted(middle)));
}

Values RandintEmitter::numbers(llvm::ArrayRef<Value> words) {
  Values out;
  for (unsigned i = 0; i < 4; i += wide ? 2 : 1) {
    Value v;
    if (wide) {
      Value bits = b.add(words[i], Value(arith::ShLIOp::create(b, words[i + 1], b.intConst(words[i].getType(), 32))));
      Value isAll = b.compare(Pred::eq, range, b.intConst(range.getType(), 0)); // 2^64
      v = b.select(isAll, bits, highProduct(words[i], words[i + 1]));
    } else {
      v = shifted(b.mul(words[i], range));
    }
    out.push_back(b.add(v, low));
  }
  return out;
}

void DrawEmitter::run(llvm::StringRef name) {
  b.beginKernel(name);
  Type i64 = b.getI64Type();
  Value out = b.pointer(0), seed = scalar(0), ordinal = scalar(1);
  begin();
  int64_t chunk = int64_t(lanes) * perCounter;
  Value buffer = b.stackSlots(b.memoryType(type), chunk, 64);
  // Chunks start at multiples of their size; those that stick out of [begin, end) go through a buffer.
  b.loop(b.roundDown(b.begin(), chunk), b.end(), chunk, [&](Value first) {
    Value counter = arith::ShRUIOp::create(b, first, b.i64(perCounter == 2 ? 1 : 2));
    Value counters = b.add(b.splat(counter, lanes), b.step(i64, lanes));
    Values v = numbers(emitPhilox(b, seed, ordinal, counters, 0));
    Value all = perCounter == 2 ? interleave(v[0], v[1]) : interleave(interleave(v[0], v[2]), interleave(v[1], v[3]));
    Value last = b.add(first, b.i64(chunk));
    Value inside =
        arith::AndIOp::create(b, b.compare(Pred::sge, first, b.begin()), b.compare(Pred::sle, last, b.end()));
    b.ifElse(
        inside, i64,
        [&] {
          b.store(all, out, first, type);
          return Values{first};
        },
        [&] {
          b.store(all, buffer, b.i64(0), type);
          Value from = arith::MaxSIOp::create(b, first, b.begin());
          b.loop(from, b.minimum(last, b.end()), 1,
                 [&](Value i) { b.store(b.load(buffer, b.sub(i, first), type, 1), out, i, type); });
          return Values{first};
        });
  });
  b.endKernel();
}

} // namespace

void emitUniform(KernelBuilder &b, llvm::StringRef name, DType t) { UniformEmitter(b, t).run(name); }
void emitRandint(KernelBuilder &b, llvm::StringRef name, bool wide) { RandintEmitter(b, wide).run(name); }

} // namespace torchc::lower
