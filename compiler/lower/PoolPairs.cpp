// Maxima over 2x2 windows side by side, as most networks have them: whole rows of windows in vectors.
#include "compiler/lower/PoolPairs.h"
#include "compiler/lower/BodyEmitter.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

/// A window's values, row by row; several windows in vectors.
using Window = std::array<Value, 4>;

static unsigned bitsOf(DType t) { return unsigned(itemSize(t)) * 8; }

Value orderKey(KernelBuilder &b, DType t, Value x) {
  if (!isFloat(t))
    return x;
  unsigned bits = bitsOf(t);
  Type key = b.wide(b.getIntegerType(bits), KernelBuilder::lanesOf(x));
  Value raw = arith::BitcastOp::create(b, key, x);
  Value sign = arith::ShRSIOp::create(b, raw, b.intConst(key, bits - 1));
  Value flipped = arith::XOrIOp::create(b, raw, Value(arith::ShRUIOp::create(b, sign, b.intConst(key, 1))));
  Value nan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return b.select(nan, b.bitsConst(key, ~uint64_t(0) >> (65 - bits)), flipped);
}

Value leastKey(KernelBuilder &b, DType t) {
  unsigned bits = bitsOf(t);
  return b.bitsConst(b.getIntegerType(bits), t == DType::U8 ? 0 : uint64_t(1) << (bits - 1));
}

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

static Value largest(KernelBuilder &b, DType type, const Window &v) {
  return emitMax(b, emitMax(b, emitMax(b, v[0], v[1], type), v[2], type), v[3], type);
}

/// The cotangent `g` where the first of the largest lies.
static Window gradientOf(KernelBuilder &b, DType type, const Window &values, Value g, Value floor) {
  Window keys, picked;
  Pred atLeast = type == DType::U8 ? Pred::uge : Pred::sge;
  for (int i = 0; i < 4; ++i)
    keys[i] = orderKey(b, type, values[i]);
  auto larger = [&](Value x, Value y) { return b.select(b.compare(atLeast, x, y), x, y); };
  Value best = larger(larger(keys[0], keys[1]), larger(keys[2], keys[3])), zero = b.zero(g.getType());
  // +0 + g, as where several windows add.
  Value sum = isFloat(type) ? Value(arith::AddFOp::create(b, zero, g)) : b.add(zero, g);
  if (isFloat(type))
    sum = b.select(b.compare(Pred::sgt, best, b.splat(floor, KernelBuilder::lanesOf(best))), sum, zero);
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
  return picked;
}

/// `from`: the upper row's elements.
void PoolPairs::windows(Value from, Value to, Value step, unsigned lanes) {
  Value below = b.add(from, axes[2].in);
  auto [left, right] = load(from, step, lanes);
  auto [lowerLeft, lowerRight] = load(below, step, lanes);
  Window values = {left, right, lowerLeft, lowerRight};
  if (!cotangent)
    return b.store(largest(b, type, values), out, to, type);
  Window picked = gradientOf(b, type, values, b.load(cotangent, to, type, lanes), floor);
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

bool fitsNarrowPairs(const KernelBuilder &b, DType t, const PoolGeometry &g) {
  int64_t lanes = b.target().lanes(bitsOf(t)), width = g.out[2];
  bool pairs = g.in[0] == 1 && g.kernel[0] == 1 && g.stride[0] == 1 && g.padding[0] == 0;
  for (int d = 1; d < maxSpatial; ++d)
    pairs &= g.kernel[d] == 2 && g.stride[d] == 2 && g.padding[d] == 0 && g.dilation[d] == 1 && g.in[d] == 2 * g.out[d];
  return pairs && t == computeType(t) && width < lanes && lanes % width == 0;
}

namespace {

/// Where element p of window i lies, from the first element on: windows in rows of `width`, each two rows of elements.
int64_t placeOf(int64_t i, int64_t p, int64_t width) {
  return i / width * 4 * width + p / 2 * 2 * width + i % width * 2 + p % 2;
}

/// Windows of several rows, whose elements are 4 vectors in a row of memory.
class NarrowPairs {
public:
  NarrowPairs(KernelBuilder &b, DType t, bool gradient, const PoolGeometry &g)
      : b(b), type(t), gradient(gradient), width(g.out[2]), perPlane(g.out[1] * g.out[2]),
        lanes(b.target().lanes(bitsOf(t))), hasRelu(g.relu) {}

  void run(llvm::StringRef name) {
    b.beginKernel(name);
    out = b.pointer(0), in = b.pointer(gradient ? 2 : 1);
    cotangent = gradient ? b.pointer(1) : Value();
    floor = hasRelu ? b.intConst(b.getIntegerType(bitsOf(type)), 0) : leastKey(b, type);
    Value first = b.mul(b.begin(), b.dim(perPlane)), last = b.mul(b.end(), b.dim(perPlane));
    Value full = b.add(first, b.roundDown(b.sub(last, first), lanes));
    b.loop(first, full, lanes, [&](Value i) { vectors(i); });
    b.loop(full, last, 1, [&](Value i) { single(i); });
    b.endKernel();
  }

private:
  void vectors(Value i) {
    Value at = b.mul(i, b.i64(4));
    auto part = [&](unsigned k) { return b.add(at, b.i64(int64_t(k) * lanes)); };
    Value v[4];
    for (unsigned k = 0; k < 4; ++k)
      v[k] = b.load(in, part(k), type, lanes);
    Value low = joined(v[0], v[1]), high = joined(v[2], v[3]);
    Window values;
    llvm::SmallVector<int64_t> mask(lanes);
    for (unsigned p = 0; p < 4; ++p) {
      for (unsigned k = 0; k < lanes; ++k)
        mask[k] = placeOf(k, p, width);
      values[p] = vector::ShuffleOp::create(b, low, high, mask);
    }
    if (!gradient)
      return b.store(largest(b, type, values), out, i, type);
    Window picked = gradientOf(b, type, values, b.load(cotangent, i, type, lanes), floor);
    low = joined(picked[0], picked[1]), high = joined(picked[2], picked[3]);
    llvm::SmallVector<int64_t> from(4 * lanes);
    for (unsigned p = 0; p < 4; ++p)
      for (unsigned k = 0; k < lanes; ++k)
        from[size_t(placeOf(k, p, width))] = p * lanes + k;
    for (unsigned k = 0; k < 4; ++k) {
      mask.assign(from.begin() + k * lanes, from.begin() + (k + 1) * lanes);
      b.store(vector::ShuffleOp::create(b, low, high, mask), out, part(k), type);
    }
  }

  void single(Value i) {
    Value row = arith::DivUIOp::create(b, i, b.i64(width)), x = b.sub(i, b.mul(row, b.i64(width)));
    Value corner = b.add(b.mul(row, b.i64(4 * width)), b.mul(x, b.i64(2)));
    auto at = [&](int64_t p) { return b.add(corner, b.i64(placeOf(0, p, width))); };
    Window values;
    for (int64_t p = 0; p < 4; ++p)
      values[size_t(p)] = b.load(in, at(p), type, 1);
    if (!gradient)
      return b.store(largest(b, type, values), out, i, type);
    Window picked = gradientOf(b, type, values, b.load(cotangent, i, type, 1), floor);
    for (int64_t p = 0; p < 4; ++p)
      b.store(picked[size_t(p)], out, at(p), type);
  }

  /// Two vectors as one.
  Value joined(Value x, Value y) {
    llvm::SmallVector<int64_t> mask;
    for (int64_t i = 0; i < 2 * int64_t(lanes); ++i)
      mask.push_back(i);
    return vector::ShuffleOp::create(b, x, y, mask);
  }

  KernelBuilder &b;
  DType type;
  bool gradient;
  int64_t width, perPlane;
  unsigned lanes;
  bool hasRelu;
  Value out, in, cotangent, floor;
};

} // namespace

void emitNarrowPairs(KernelBuilder &b, llvm::StringRef name, DType t, bool gradient, const PoolGeometry &g) {
  NarrowPairs(b, t, gradient, g).run(name);
}

} // namespace torchc::lower
