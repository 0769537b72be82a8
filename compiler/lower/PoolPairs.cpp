// Maxima over 2x2 windows side by side, as most networks have them: whole rows of windows in vectors.
#include "compiler/lower/PoolPairs.h"
#include "compiler/lower/BodyEmitter.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

Value PoolPairs::applies() {
  Value yes = b.intConst(b.getI1Type(), 1);
  auto require = [&](Value condition) { yes = arith::AndIOp::create(b, yes, condition); };
  for (unsigned d = 0; d < 3; ++d) {
    const Axis &a = axes[d];
    int64_t n = d == 0 ? 1 : 2;
    for (Value v : {a.kernel, a.stride})
      require(b.compare(Pred::eq, v, b.i64(n)));
    require(b.compare(Pred::eq, a.padding, b.i64(0)));
    require(b.compare(Pred::eq, a.dilation, b.i64(1)));
    // The loops take depths one to one; rows and columns may end early.
    require(b.compare(d == 0 ? Pred::eq : Pred::sle, b.mul(a.out, b.i64(n)), a.in));
  }
  return yes;
}

/// The windows' elements of one row: left ones and right ones.
std::pair<Value, Value> PoolPairs::load(Value row, Value x, unsigned lanes) {
  Value at = b.add(row, b.mul(x, b.i64(2)));
  Value first = b.load(in, at, type, lanes), second = b.load(in, b.add(at, b.i64(lanes)), type, lanes);
  if (lanes == 1)
    return {first, second};
  llvm::SmallVector<int64_t> left, right;
  for (int64_t i = 0; i < lanes; ++i) {
    left.push_back(2 * i);
    right.push_back(2 * i + 1);
  }
  return {vector::ShuffleOp::create(b, first, second, left), vector::ShuffleOp::create(b, first, second, right)};
}

void PoolPairs::store(Value left, Value right, Value row, Value x, unsigned lanes) {
  Value at = b.add(row, b.mul(x, b.i64(2)));
  if (lanes > 1) {
    llvm::SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i)
      (i < lanes / 2 ? low : high).append({i, i + lanes});
    Value first = vector::ShuffleOp::create(b, left, right, low);
    right = vector::ShuffleOp::create(b, left, right, high);
    left = first;
  }
  b.store(left, out, at, type);
  b.store(right, out, b.add(at, b.i64(lanes)), type);
}

/// The largest of four, and for a gradient the cotangent where the first of them lies.
void PoolPairs::windows(Value row, Value to, Value x, unsigned lanes) {
  Value below = b.add(row, axes[2].in);
  auto [a, c] = load(row, x, lanes);
  auto [d, e] = load(below, x, lanes);
  if (!cotangent) {
    Value m = emitMax(b, emitMax(b, emitMax(b, a, c, type), d, type), e, type);
    b.store(m, out, b.add(to, x), type);
    return;
  }
  Value values[] = {a, c, d, e}, keys[4], picked[4];
  Pred atLeast = type == DType::U8 ? Pred::uge : Pred::sge;
  for (int i = 0; i < 4; ++i)
    keys[i] = orderOf(values[i]);
  auto larger = [&](Value x, Value y) { return b.select(b.compare(atLeast, x, y), x, y); };
  Value best = larger(larger(keys[0], keys[1]), larger(keys[2], keys[3]));
  Value g = b.load(cotangent, b.add(to, x), type, lanes), zero = b.zero(g.getType());
  // +0 + g, as where several windows add.
  Value sum = isFloat(type) ? Value(arith::AddFOp::create(b, zero, g)) : b.add(zero, g);
  Value taken;
  for (int i = 0; i < 4; ++i) {
    Value here = b.compare(Pred::eq, keys[i], best);
    if (taken) {
      Value free = arith::XOrIOp::create(b, taken, b.intConst(taken.getType(), 1));
      Value mine = arith::AndIOp::create(b, here, free);
      taken = arith::OrIOp::create(b, taken, here);
      here = mine;
    } else {
      taken = here;
    }
    picked[i] = b.select(here, sum, zero);
  }
  store(picked[0], picked[1], row, x, lanes);
  store(picked[2], picked[3], below, x, lanes);
}

void PoolPairs::emit() {
  Value zero = b.i64(0), two = b.i64(2), inPlane = b.mul(axes[1].in, axes[2].in),
        outPlane = b.mul(axes[1].out, axes[2].out);
  unsigned lanes = b.target().lanes(unsigned(itemSize(type)) * 8);
  if (cotangent) { // what no window covers
    Value gap = arith::OrIOp::create(b, b.compare(Pred::ne, b.mul(axes[1].out, two), axes[1].in),
                                     b.compare(Pred::ne, b.mul(axes[2].out, two), axes[2].in));
    Value planes = b.mul(axes[0].in, inPlane);
    b.ifThen(gap, [&] {
      b.loop(b.mul(b.begin(), planes), b.mul(b.end(), planes), 1,
             [&](Value i) { b.store(b.zero(b.elementType(type)), out, i, type); });
    });
  }
  b.loop(b.mul(b.begin(), axes[0].in), b.mul(b.end(), axes[0].in), 1, [&](Value p) {
    b.loop(zero, axes[1].out, 1, [&](Value y) {
      Value row = b.add(b.mul(p, inPlane), b.mul(b.mul(y, two), axes[2].in));
      Value to = b.add(b.mul(p, outPlane), b.mul(y, axes[2].out)), from = zero;
      for (unsigned width = lanes; width >= 1; width = width > 4 ? width / 2 : width > 1 ? 1 : 0) {
        Value end = width > 1 ? b.add(from, b.roundDown(b.sub(axes[2].out, from), width)) : axes[2].out;
        b.loop(from, end, width, [&](Value x) { windows(row, to, x, width); });
        from = end;
      }
    });
  });
}

} // namespace torchc::lower
