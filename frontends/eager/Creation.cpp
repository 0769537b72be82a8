// Tensors from attributes and from random numbers.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "runtime/kernels/Pack.h"
#include "runtime/kernels/Strided.h"

namespace torchc {

uint64_t elementBits(const Scalar &s, DType t) {
  if (t == DType::Bool)
    return s.toBool();
  uint64_t bits = scalarBits(s, t);
  if (readType(t) == t)
    return bits;
  uint64_t narrow = 0;
  void *p[3] = {&narrow, &bits, &threadState.status};
  Kernel k = packCast(DType::F32, t);
  if (!k)
    notImplementedFor("full", t);
  k(p, nullptr, nullptr, 0, 1);
  return narrow;
}

namespace {

void fill(TensorImpl *out, uint64_t bits) {
  int item = int(itemSize(out->dtype));
  char *data = out->data;
  parallelFor(0, out->numel, elementwiseGrain,
              [&](int64_t b, int64_t e) { moveItems(data + b * item, 1, &bits, 0, e - b, item); });
}

TensorImpl *full(Resolved &r) {
  Tensor out = r.target && r.target->contiguous() && r.target->dtype == r.type.dtype
                   ? Tensor::borrow(r.target)
                   : Tensor(newTensor(r.type.dtype, r.type.dims));
  fill(out.impl(), elementBits(Scalar::fromAttr(r.attr(1)), r.type.dtype));
  return out.take();
}

/// Integers are exact; floats are start + i*step in double, rounded once.
TensorImpl *arange(Resolved &r) {
  Scalar start = Scalar::fromAttr(r.attr(1)), step = Scalar::fromAttr(r.attr(2));
  bool exact = !start.isFloat() && !step.isFloat();
  Tensor wide(newTensor(exact ? DType::I64 : DType::F64, r.type.dims));
  int64_t n = wide->numel;
  if (exact) {
    auto *to = reinterpret_cast<uint64_t *>(wide->data);
    auto from = uint64_t(start.toInt()), by = uint64_t(step.toInt());
    for (int64_t i = 0; i < n; i++, from += by)
      to[i] = from;
  } else {
    auto *to = reinterpret_cast<double *>(wide->data);
    double from = start.toDouble(), by = step.toDouble();
    for (int64_t i = 0; i < n; i++)
      to[i] = from + double(i) * by;
  }
  return contiguousAs(wide.impl(), r.type.dtype);
}

} // namespace

TensorImpl *runCreation(Resolved &r) { return r.info.shape == ShapeRule::Full ? full(r) : arange(r); }

TensorImpl *runRandom(Resolved &r) {
  Tensor state(contiguousOf(r.operand(0)));
  Tensor out(newTensor(r.type.dtype, r.type.dims));
  if (!out->numel)
    return out.take();
  Kernel k = packRandom(r.call.op, r.type.dtype);
  if (!k)
    notImplementedFor(r.info.name, r.type.dtype);
  void *p[1] = {out->data};
  launch(k, p, nullptr, state->data, 0, out->numel); // the state is what kernels read as scalars
  return out.take();
}

} // namespace torchc
