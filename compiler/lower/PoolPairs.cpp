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

/// The windows' elements of one row, left ones and right ones, from the two vectors at `at` and `at` + `step`.
std::pair<Value, Value> PoolPairs::load(Value at, Value step, unsigned lanes) {
  Value first = b.load(in, at, type, lanes), second = b.load(in, b.add(at, step), type, lanes);
  if (lanes == 1)
    return {first, second};
  llvm::SmallVector<int64_t> left, right;
  for (int64_t i = 0; i < lanes; ++i) {
    left.push_back(2 * i);
    right.push_back(2 * i + 1);
  }
  return {vector::ShuffleOp::create(b, first, second, left), vector::ShuffleOp::create(b, first, second, right)};
}

void PoolPairs::store(Value left, Value right, Value at, Value step, unsigned lanes) {
  if (lanes > 1) {
    llvm::SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i)
      (i < lanes / 2 ? low : high).append({i, i + lanes});
    Value first = vector::ShuffleOp::create(b, left, right, low);
    right = vector::ShuffleOp::create(b, left, right, high);
    left = first;
  }
  b.store(left, out, at, type);
  b.store(right, out, b.add(at, step), type);
}

/// The largest of four, and for a gradient the cotangent where the first of them lies. `from`: the upper row's elements.
void PoolPairs::windows(Value from, Value to, Value step, unsigned lanes) {
  Value below = b.add(from, axes[2].in);
  auto [a, c] = load(from, step, lanes);
  auto [d, e] = load(below, step, lanes);
  if (!cotangent) {
    Value m = emitMax(b, emitMax(b, emitMax(b, a, c, type), d, type), e, type);
    b.store(m, out, to, type);
    return;
  }
  Value values[] = {a, c, d, e}, keys[4], picked[4];
  Pred atLeast = type == DType::U8 ? Pred::uge : Pred::sge;
  for (int i = 0; i < 4; ++i)
    keys[i] = orderOf(values[i]);
  auto larger = [&](Value x, Value y) { return b.select(b.compare(atLeast, x, y), x, y); };
  Value best = larger(larger(keys[0], keys[1]), larger(keys[2], keys[3]));
  Value g = b.load(cotangent, to, type, lanes), zero = b.zero(g.getType());
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
  store(picked[0], picked[1], from, step, lanes);
  store(picked[2], picked[3], below, step, lanes);
}

/// One row of windows.
void PoolPairs::row(Value from, Value to) {
  Value x = b.i64(0), size = axes[2].out;
  unsigned lanes = b.target().lanes(unsigned(itemSize(type)) * 8);
  for (unsigned width = lanes; width >= 1; width = width > 4 ? width / 2 : width > 1 ? 1 : 0) {
    Value end = width > 1 ? b.add(x, b.roundDown(b.sub(size, x), width)) : size;
    b.loop(x, end, width,
           [&](Value i) { windows(b.add(from, b.mul(i, b.i64(2))), b.add(to, i), b.i64(width), width); });
    x = end;
  }
}

/// Planes without gaps whose rows are one vector: the windows of two rows, which are half a vector each, together.
void PoolPairs::narrowRows(unsigned lanes) {
  Value rows = b.mul(axes[0].in, axes[1].out), first = b.mul(b.begin(), rows), end = b.mul(b.end(), rows);
  Value pairs = b.add(first, b.roundDown(b.sub(end, first), 2)), two = b.i64(2 * lanes);
  auto from = [&](Value r) { return b.mul(r, two); };
  auto to = [&](Value r) { return b.mul(r, b.i64(lanes / 2)); };
  b.loop(first, pairs, 2, [&](Value r) { windows(from(r), to(r), two, lanes); });
  b.loop(pairs, end, 1, [&](Value r) { row(from(r), to(r)); });
}

void PoolPairs::planes() {
  Value inPlane = b.mul(axes[1].in, axes[2].in), outPlane = b.mul(axes[1].out, axes[2].out);
  b.loop(b.mul(b.begin(), axes[0].in), b.mul(b.end(), axes[0].in), 1, [&](Value p) {
    b.loop(b.i64(0), axes[1].out, 1, [&](Value y) {
      row(b.add(b.mul(p, inPlane), b.mul(b.mul(y, b.i64(2)), axes[2].in)),
          b.add(b.mul(p, outPlane), b.mul(y, axes[2].out)));
    });
  });
}

void PoolPairs::emit() {
  Value two = b.i64(2), planeSize = b.mul(b.mul(axes[0].in, axes[1].in), axes[2].in);
  Value gap = arith::OrIOp::create(b, b.compare(Pred::ne, b.mul(axes[1].out, two), axes[1].in),
                                   b.compare(Pred::ne, b.mul(axes[2].out, two), axes[2].in));
  if (cotangent) // what no window covers
    b.ifThen(gap, [&] {
      b.loop(b.mul(b.begin(), planeSize), b.mul(b.end(), planeSize), 1,
             [&](Value i) { b.store(b.zero(b.elementType(type)), out, i, type); });
    });
  Value isDense = arith::XOrIOp::create(b, gap, b.intConst(gap.getType(), 1)), isWide = b.intConst(gap.getType(), 1);
  for (unsigned lanes = b.target().lanes(unsigned(itemSize(type)) * 8); lanes >= 4; lanes /= 2) {
    Value narrow = arith::AndIOp::create(b, isDense, b.compare(Pred::eq, axes[2].in, b.i64(lanes)));
    b.ifThen(narrow, [&] { narrowRows(lanes); });
    isWide = b.select(narrow, b.intConst(gap.getType(), 0), isWide);
  }
  b.ifThen(isWide, [&] { planes(); });
}

} // namespace torchc::lower
