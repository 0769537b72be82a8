#include "compiler/lower/BodyEmitter.h"
#include "compiler/lower/Convert.h"
#include "compiler/lower/PoolPairs.h"
#include "compiler/lower/Window.h"
#include "dialects/rules/Window.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

/// The type a pool gives for operands of type `t`.
static DType poolResultType(PoolKind kind, DType t) { return kind == PoolKind::MaxIndex ? DType::I64 : t; }

namespace {

/// Positions first + n * step, n < count, of one dimension. `extent`: what the dimension contributes to a mean's count.
struct Span {
  Value first, count, step, extent;
};

class PoolEmitter {
public:
  PoolEmitter(KernelBuilder &b, DType t, PoolKind kind)
      : b(b), type(t), compute(computeType(t)), kind(kind), element(b.elementType(compute)) {}
  void run(llvm::StringRef name);

private:
  Span windowOf(int d, Value o);
  Values cutWindow(int d, Value start);
  Span windowsAround(int d, Value i);
  Values walk(int d, llvm::ArrayRef<Span> spans, Value at, Values carried);
  Values visit(Value at, Value count, ValueRange carried);
  Value countOf(llvm::ArrayRef<Span> spans);
  Value store(llvm::ArrayRef<Span> spans, ValueRange carried);
  void plainPlanes(Value out);
  void scatterPlanes(Value out, Value cotangent);
  void eachWindow(llvm::function_ref<void(llvm::ArrayRef<Span>, Value)> body);
  Value number(Value integer);
  Value divide(Value x, Value count);

  Value field(int array, int d) { return b.sizeAt(unsigned(array * maxSpatial + d)); }
  Value quotient(Value x, Value y) { return arith::DivSIOp::create(b, x, y); }
  /// x / y rounded up; x >= 0.
  Value upward(Value x, Value y) { return quotient(b.add(x, b.sub(y, one)), y); }
  Value maximum(Value x, Value y) { return arith::MaxSIOp::create(b, x, y); }
  bool scatters() const { return kind == PoolKind::MeanInput; }
  bool indexes() const { return kind == PoolKind::MaxIndex || kind == PoolKind::MaxInput; }
  Values initial();

  KernelBuilder &b;
  DType type, compute;
  PoolKind kind;
  Type element;
  Value zero, one, in, plane, divisor, countPadding, floor; // floor: PoolPairs
  // Per dimension: input and output sizes, those of what is read, and the window.
  Value inputs[maxSpatial], outputs[maxSpatial], kernel[maxSpatial], stride[maxSpatial], padding[maxSpatial],
      dilation[maxSpatial];
  Value strides[maxSpatial]; // of the operand, in elements
};

/// The elements that window o of dimension d covers.
Span PoolEmitter::windowOf(int d, Value o) {
  Value size = inputs[d], adaptive = b.compare(Pred::eq, kernel[d], zero);
  Values s = b.ifElse(
      adaptive, {b.getI64Type(), b.getI64Type(), b.getI64Type()},
      [&] {
        Value first = quotient(b.mul(o, size), outputs[d]);
        Value count = b.sub(upward(b.mul(b.add(o, one), size), outputs[d]), first);
        return Values{first, count, count};
      },
      [&] {
        Value start = b.sub(b.mul(o, stride[d]), padding[d]);
        Value last = b.add(start, b.mul(b.sub(kernel[d], one), dilation[d]));
        Value inside = arith::AndIOp::create(b, b.compare(Pred::sge, start, zero), b.compare(Pred::slt, last, size));
        return b.ifElse(
            inside, {b.getI64Type(), b.getI64Type(), b.getI64Type()},
            [&] { return Values{start, kernel[d], kernel[d]}; }, [&] { return cutWindow(d, start); });
      });
  return {s[0], s[1], dilation[d], s[2]};
}

/// A window that reaches out of the input: elements before 0 are skipped, those from the size on cut off.
Values PoolEmitter::cutWindow(int d, Value start) {
  Value size = inputs[d], step = dilation[d];
  Value skipped = upward(maximum(b.sub(zero, start), zero), step);
  Value first = b.add(start, b.mul(skipped, step));
  Value fitting = upward(maximum(b.sub(size, first), zero), step);
  Value count = b.minimum(b.sub(kernel[d], skipped), fitting);
  Value padded = b.sub(b.minimum(b.add(start, kernel[d]), b.add(size, padding[d])), start);
  return {first, count, b.select(countPadding, padded, count)};
}

/// The windows of dimension d that cover element i.
Span PoolEmitter::windowsAround(int d, Value i) {
  Value adaptive = b.compare(Pred::eq, kernel[d], zero);
  Values s = b.ifElse(
      adaptive, {b.getI64Type(), b.getI64Type()},
      [&] {
        Value first = quotient(b.mul(i, outputs[d]), inputs[d]);
        return Values{first, b.sub(upward(b.mul(b.add(i, one), outputs[d]), inputs[d]), first)};
      },
      [&] {
        Value place = b.add(i, padding[d]), before = b.sub(b.add(place, one), kernel[d]);
        Value first = upward(maximum(before, zero), stride[d]);
        Value last = b.minimum(quotient(place, stride[d]), b.sub(outputs[d], one));
        return Values{first, maximum(b.sub(b.add(last, one), first), zero)};
      });
  return {s[0], s[1], one, Value()};
}

Values PoolEmitter::initial() {
  if (kind == PoolKind::Max || indexes()) {
    if (indexes()) // whatever comes first displaces it
      return {leastKey(b, compute), b.i64(-1)};
    if (isFloat(compute))
      return {b.floatConst(element, -__builtin_inf())};
    return {leastKey(b, compute)};
  }
  return {b.zero(element)};
}

Value PoolEmitter::number(Value integer) {
  if (!isFloat(compute))
    return compute == DType::I64 ? integer : Value(arith::TruncIOp::create(b, element, integer));
  return convert(b, integer, DType::I64, compute);
}

Value PoolEmitter::divide(Value x, Value count) {
  if (isFloat(compute))
    return arith::DivFOp::create(b, x, number(count));
  return arith::DivSIOp::create(b, x, number(count));
}

Value PoolEmitter::countOf(llvm::ArrayRef<Span> spans) {
  Value n = b.mul(b.mul(spans[0].extent, spans[1].extent), spans[2].extent);
  return b.select(b.compare(Pred::ne, divisor, zero), divisor, n);
}

/// One element of a window, or one window around an element.
Values PoolEmitter::visit(Value at, Value count, ValueRange carried) {
  Value x = convert(b, b.load(in, b.add(plane, at), type, 1), type, compute);
  if (kind == PoolKind::Max)
    return {emitMax(b, carried[0], x, compute)};
  if (indexes()) {
    Value key = orderKey(b, compute, x);
    Pred more = compute == DType::U8 ? Pred::ugt : Pred::sgt;
    Value first = b.compare(Pred::slt, carried[1], zero);
    Value better = arith::OrIOp::create(b, first, b.compare(more, key, carried[0]));
    return {b.select(better, key, carried[0]), b.select(better, at, carried[1])};
  }
  if (scatters())
    x = divide(x, count);
  if (isFloat(compute))
    return {arith::AddFOp::create(b, carried[0], x)};
  return {b.add(carried[0], x)};
}

/// Loops over dimensions d and later, positions ascending.
Values PoolEmitter::walk(int d, llvm::ArrayRef<Span> spans, Value at, Values carried) {
  const Span &s = spans[size_t(d)];
  return b.loop(zero, s.count, 1, carried, [&](Value n, ValueRange now) {
    Value position = b.add(s.first, b.mul(n, s.step));
    Value here = b.add(at, b.mul(position, strides[d]));
    llvm::SmallVector<Span, 3> inner(spans);
    if (scatters())
      inner[size_t(d)].extent = windowOf(d, position).extent;
    if (d + 1 < maxSpatial)
      return walk(d + 1, inner, here, Values(now.begin(), now.end()));
    return visit(here, scatters() ? countOf(inner) : Value(), now);
  });
}

Value PoolEmitter::store(llvm::ArrayRef<Span> spans, ValueRange carried) {
  if (kind == PoolKind::MaxIndex)
    return carried[1];
  Value v = kind == PoolKind::Mean ? divide(carried[0], countOf(spans)) : carried[0];
  return convert(b, v, compute, type);
}

void PoolEmitter::run(llvm::StringRef name) {
  b.beginKernel(name);
  zero = b.i64(0), one = b.i64(1);
  Value out = b.pointer(0);
  in = b.pointer(1);
  Value *arrays[] = {inputs, outputs, kernel, stride, padding, dilation};
  for (int k = 0; k < 6; ++k)
    for (int d = 0; d < maxSpatial; ++d)
      arrays[k][d] = field(k, d);
  countPadding = b.compare(Pred::ne, field(6, 0), zero);
  divisor = field(6, 1);
  if (kind == PoolKind::MaxInput && isFloat(compute)) {
    Value least = leastKey(b, compute), none = b.intConst(least.getType(), 0);
    floor = b.select(b.compare(Pred::ne, field(6, 2), zero), none, least);
  }
  Value *read = scatters() ? outputs : inputs;
  strides[2] = one;
  strides[1] = read[2];
  strides[0] = b.mul(read[1], read[2]);
  Value cotangent;
  if (kind == PoolKind::MaxInput) {
    cotangent = in;
    in = b.pointer(2);
  }
  auto general = [&] { cotangent ? scatterPlanes(out, cotangent) : plainPlanes(out); };
  if ((kind == PoolKind::Max || cotangent) && type == compute) {
    PoolPairs::Axis axes[maxSpatial];
    for (int d = 0; d < maxSpatial; ++d)
      axes[d] = {inputs[d], outputs[d], kernel[d], stride[d], padding[d], dilation[d]};
    PoolPairs pairs(b, type, axes, out, in, cotangent, floor);
    Value fits = pairs.applies();
    b.ifThen(fits, [&] { pairs.emit(); });
    b.ifThen(arith::XOrIOp::create(b, fits, b.intConst(b.getI1Type(), 1)), general);
  } else {
    general();
  }
  b.endKernel();
}

/// body(spans, place in the written plane) for every element that is written.
void PoolEmitter::eachWindow(llvm::function_ref<void(llvm::ArrayRef<Span>, Value)> body) {
  Value *written = scatters() ? inputs : outputs, row = written[2];
  auto span = [&](int d, Value i) { return scatters() ? windowsAround(d, i) : windowOf(d, i); };
  b.loop(zero, written[0], 1, [&](Value z) {
    Span sz = span(0, z);
    b.loop(zero, written[1], 1, [&](Value y) {
      Span sy = span(1, y);
      Value line = b.mul(b.add(b.mul(z, written[1]), y), row);
      b.loop(zero, row, 1, [&](Value x) {
        Span spans[] = {sz, sy, span(2, x)};
        body(spans, b.add(line, x));
      });
    });
  });
}

void PoolEmitter::plainPlanes(Value out) {
  Value *read = scatters() ? outputs : inputs, *written = scatters() ? inputs : outputs;
  Value readPlane = b.mul(strides[0], read[0]), writtenPlane = b.mul(b.mul(written[0], written[1]), written[2]);
  b.loop(b.begin(), b.end(), 1, [&](Value p) {
    plane = b.mul(p, readPlane);
    Value to = b.mul(p, writtenPlane);
    eachWindow([&](llvm::ArrayRef<Span> spans, Value at) {
      b.store(store(spans, walk(0, spans, zero, initial())), out, b.add(to, at), poolResultType(kind, type));
    });
  });
}

/// Zeros, then each window's cotangent at its maximum.
void PoolEmitter::scatterPlanes(Value out, Value cotangent) {
  Value inPlane = b.mul(strides[0], inputs[0]), outPlane = b.mul(b.mul(outputs[0], outputs[1]), outputs[2]);
  b.loop(b.begin(), b.end(), 1, [&](Value p) {
    plane = b.mul(p, inPlane);
    Value from = b.mul(p, outPlane), nothing = b.zero(b.elementType(type));
    b.loop(zero, inPlane, 1, [&](Value i) { b.store(nothing, out, b.add(plane, i), type); });
    eachWindow([&](llvm::ArrayRef<Span> spans, Value at) {
      Values found = walk(0, spans, zero, initial());
      Value place = b.add(plane, found[1]);
      Value g = b.load(cotangent, b.add(from, at), type, 1), old = b.load(out, place, type, 1);
      Value sum = isFloat(compute) ? Value(arith::AddFOp::create(b, old, g)) : b.add(old, g);
      if (isFloat(compute))
        sum = b.select(b.compare(Pred::sgt, found[0], floor), sum, old);
      b.store(sum, out, place, type);
    });
  });
}

} // namespace

void emitPool(KernelBuilder &b, llvm::StringRef name, DType t, PoolKind kind) { PoolEmitter(b, t, kind).run(name); }

} // namespace torchc::lower
