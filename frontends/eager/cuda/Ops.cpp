// The families of ops on cuda: elementwise, casts, reductions by N4, products by N3, fills. Other families raise.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/View.h"
#include "frontends/eager/cuda/Launch.h"
#include "runtime/cuda/DevicePack.h"

namespace torchc {
namespace {

using namespace cuda;

[[noreturn]] void noKernel(const Resolved &r) {
  fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): no kernels for device cuda");
}

/// Where the result goes: the target of an in-place call, or a new tensor laid out as on the CPU.
Tensor resultOf(Resolved &r) { return r.target ? Tensor::borrow(r.target) : Tensor(newLaidOut(r)); }

TensorImpl *elementwise(Resolved &r) {
  if ((r.info.flags & OpRowMajor) && !r.target) { // a copy in the order of memory
    Tensor out(newLaidOut(r));
    copyInto(out.impl(), r.operand(0));
    return out.take();
  }
  Tensor out = resultOf(r);
  if (!out->numel)
    return out.take();
  DType compute = r.promoted.compute;
  // Kernels give the op's own type; a target may have another.
  bool direct = out->dtype == r.promoted.result;
  Tensor result = direct ? out : Tensor(newTensor(r.promoted.result, out->dims(), cudaDevice));
  Pointwise operands[maxFixedOperands + 1];
  int64_t strides[maxFixedOperands][maxRank];
  std::vector<Tensor> held;
  operands[0] = {result->data, result->strides(), itemSize(result->dtype)};
  int n = r.call.numOperands;
  for (int i = 0; i < n; i++) {
    const Operand &o = r.call.operands[i];
    Pointwise &p = operands[i + 1];
    DType want = r.info.promote == Promote::Branch && i == 0 ? DType::Bool : compute;
    bool rounds = numberType(r.info.promote, want) != computeType(want);
    if (o.isNumber() || o.tensor->device != cudaDevice) { // a 0-d tensor of the CPU is a number, as in PyTorch
      p.isNumber = true;
      p.number = numberBits(o.isNumber() ? o.number : item(Tensor::borrow(o.tensor)), want, rounds || !o.isNumber());
      continue;
    }
    TensorImpl *t = o.tensor;
    if (t->dtype != want) {
      held.push_back(Tensor(copyOf(t, want)));
      t = held.back().impl();
    }
    broadcastStrides(t, result->rank, result->sizes(), strides[i]);
    p = {t->data, strides[i], itemSize(want)};
  }
  runPointwise(r.info.name, compute, deviceKey(DeviceForm::Elementwise, uint32_t(r.call.op), compute), result->dims(),
               operands, n + 1, streamFor(result.impl()), r.info.flags & OpMayRaise);
  if (!direct)
    copyInto(out.impl(), result.impl());
  return out.take();
}

TensorImpl *cast(Resolved &r) {
  TensorImpl *x = r.operand(0);
  if (!r.target || !sameShape(x, r.target)) {
    Tensor out(newLaidOut(r));
    copyInto(out.impl(), x);
    return out.take();
  }
  Tensor held;
  // The same elements, perhaps under other strides; and `copy_` converts by the op's type first.
  if (x->storage == r.target->storage || (r.type.dtype != r.target->dtype && r.type.dtype != x->dtype)) {
    held = Tensor(copyOf(x, r.type.dtype));
    x = held.impl();
  }
  copyInto(r.target, x);
  return retain(r.target);
}

/// The operand in memory as (kept..., reduced...), dense.
Tensor reducedLast(const Resolved &r, TensorImpl *x, int64_t &rows) {
  bool isReduced[maxRank] = {};
  const Attr &dims = r.attr(0);
  for (uint32_t i = 0; i < dims.size && x->rank; i++)
    isReduced[dims.list[i]] = true;
  Dims sizes, strides;
  rows = 1;
  for (bool reduced : {false, true})
    for (int i = 0; i < x->rank; i++)
      if (isReduced[i] == reduced) {
        sizes.push(x->sizes()[i]);
        strides.push(x->strides()[i]);
        rows *= reduced ? 1 : x->sizes()[i];
      }
  Tensor view(newAlias(x, sizes.size(), sizes.data(), strides.data(), 0));
  return Tensor(contiguousOf(view.impl()));
}

/// The type a reduction's kernels accumulate in, by its body's last operation (compiler/lower/Reduce.h).
DType accumulator(const Resolved &r, DType in) {
  const Body &body = r.info.bodies[int(BodyClass::F32)];
  BodyOp last = body.numNodes ? body.nodes[body.numNodes - 1].op : BodyOp::Max;
  if (isReducedFloat(in))
    return DType::F32;
  if ((last == BodyOp::Add || last == BodyOp::Mul) && !isFloat(in) && r.info.family == Family::Reduction)
    return DType::I64;
  return in == DType::Bool ? DType::U8 : in;
}

/// Block sums of `rows` rows of n elements, combined level by level into one accumulator a row.
Tensor reduceRows(Resolved &r, DeviceForm form, const Tensor &x, const TensorImpl *y, int64_t rows, int64_t n,
                  DType acc) {
  int64_t blocks = std::max<int64_t>((n + deviceReduceBlock - 1) / deviceReduceBlock, 1);
  CudaStream &stream = streamFor(x.impl());
  if (rows * blocks > INT32_MAX)
    fail(std::string(r.info.name) + "(): more rows than a launch on cuda can have");
  Tensor part(newTensor(acc, Dims({rows * blocks}), cudaDevice));
  Arguments a;
  a.pointer(x->data);
  if (y)
    a.pointer(y->data);
  a.pointer(part->data);
  a.word(n);
  a.word(blocks);
  DType in = x->dtype;
  auto op = uint32_t(r.call.op);
  start(r.info.name, in, deviceKey(form, op, in), {unsigned(rows * blocks), 1, 1},
        {unsigned(deviceChains(int(itemSize(acc)))), 1, 1}, a, stream);
  for (int64_t had = blocks; had > 1;) {
    int64_t has = (had + 1) / 2;
    Tensor next(newTensor(acc, Dims({rows * has}), cudaDevice));
    Arguments pairs;
    pairs.pointer(part->data);
    pairs.pointer(next->data);
    pairs.word(rows * has);
    pairs.word(had);
    pairs.word(has);
    startLinear(r.info.name, in, deviceKey(DeviceForm::Combine, op, in), rows * has, pairs, stream);
    part = next;
    had = has;
  }
  return part;
}

TensorImpl *reduction(Resolved &r) {
  if (r.info.shape == ShapeRule::Scan)
    noKernel(r);
  TensorImpl *operand = r.operand(0);
  if (!findDeviceKernel(deviceKey(DeviceForm::Reduce, uint32_t(r.call.op), operand->dtype)))
    noKernel(r);
  Tensor out(newTensor(r.type.dtype, r.type.dims, cudaDevice));
  if (!out->numel)
    return out.take();
  if (!operand->numel) { // of nothing: +0 for sums, 1 for products
    const Body &body = r.info.bodies[int(BodyClass::F32)];
    bool isProduct = body.nodes[body.numNodes - 1].op == BodyOp::Mul;
    fillTensor(out.impl(), elementBits(Scalar(isProduct ? 1 : 0), out->dtype));
    return out.take();
  }
  int64_t rows;
  Tensor x = reducedLast(r, operand, rows);
  int64_t n = x->numel / rows;
  Tensor result = reduceRows(r, DeviceForm::Reduce, x, nullptr, rows, n, accumulator(r, x->dtype));
  if (r.info.shape == ShapeRule::ArgReduce) {
    Arguments a;
    a.pointer(x->data);
    a.pointer(result->data);
    a.pointer(out->data);
    a.word(n);
    start(r.info.name, x->dtype, deviceKey(DeviceForm::Find, uint32_t(r.call.op), x->dtype), {unsigned(rows), 1, 1},
          {unsigned(deviceThreads), 1, 1}, a, streamFor(x.impl()));
    return out.take();
  }
  Tensor shaped(newAlias(result.impl(), out->rank, out->sizes(), nullptr, 0));
  copyInto(out.impl(), shaped.impl());
  return out.take();
}

/// In the type the product runs in.
Tensor prepared(TensorImpl *x, DType compute) {
  return x->dtype == compute ? Tensor::borrow(x) : Tensor(copyOf(x, compute));
}

void matmul(Resolved &r, TensorImpl *a, TensorImpl *b, TensorImpl *c) {
  int batchDims = c->rank - 2;
  if (batchDims > deviceRank)
    fail(ErrorKind::NotImplemented,
         std::string(r.info.name) + "(): more than " + std::to_string(deviceRank) + " batch dimensions on device cuda");
  int64_t m = c->sizes()[batchDims], n = c->sizes()[batchDims + 1], batches = 1;
  for (int i = 0; i < batchDims; i++)
    batches *= c->sizes()[i];
  auto tiles = [](int64_t size) { return (size + deviceTile - 1) / deviceTile; };
  constexpr int64_t mostBlocks = 65535; // of a grid's y and z
  if (tiles(m) > mostBlocks || batches > mostBlocks)
    fail(std::string(r.info.name) + "(): more rows or batches than a launch on cuda can have");
  Arguments args;
  args.word(m);
  args.word(n);
  args.word(a->sizes()[batchDims + 1]);
  for (const TensorImpl *t : {a, b}) {
    args.pointer(t->data);
    args.word(t->strides()[batchDims]);
    args.word(t->strides()[batchDims + 1]);
  }
  args.pointer(c->data);
  args.word(std::max(batchDims, 1));
  args.innermostFirst(batchDims, c->sizes(), 1);
  args.innermostFirst(batchDims, a->strides(), 0);
  args.innermostFirst(batchDims, b->strides(), 0);
  start(r.info.name, c->dtype, deviceKey(DeviceForm::Matmul, 0, c->dtype),
        {unsigned(tiles(n)), unsigned(tiles(m)), unsigned(batches)}, {unsigned(deviceTile), unsigned(deviceTile), 1},
        args, streamFor(c));
}

/// A product that continues from its third operand: one step of the chains after the other.
TensorImpl *continued(Resolved &r) {
  Tensor x = Tensor::borrow(r.operand(0)), y = Tensor::borrow(r.operand(1)), sum = Tensor::borrow(r.operand(2));
  int64_t last = x->rank - 1, k = x->sizes()[last];
  auto at = [](const Tensor &t, int64_t dim, int64_t i) {
    return callOp(OpId::Slice, {t}, {Attr::integer(dim), Attr::integer(i), Attr::integer(i + 1), Attr::integer(1)});
  };
  for (int64_t i = 0; i < k; i++)
    sum = callOp(OpId::Fma, {at(x, last, i), at(y, last - 1, i), sum});
  return k ? sum.take() : copyOf(sum.impl(), sum->dtype);
}

TensorImpl *contraction(Resolved &r) {
  DType compute = computeType(r.type.dtype);
  if (r.info.shape == ShapeRule::Dot) {
    Tensor a(contiguousOf(r.operand(0))), b(contiguousOf(r.operand(1)));
    Tensor out(newTensor(r.type.dtype, r.type.dims, cudaDevice));
    if (!a->numel) {
      fillTensor(out.impl(), 0);
      return out.take();
    }
    Tensor sum = reduceRows(r, DeviceForm::Dot, a, b.impl(), 1, a->numel, computeType(a->dtype));
    Tensor shaped(newAlias(sum.impl(), 0, nullptr, nullptr, 0));
    copyInto(out.impl(), shaped.impl());
    return out.take();
  }
  if (r.info.shape != ShapeRule::Matmul)
    noKernel(r);
  if (r.call.numOperands > 2)
    return continued(r);
  if (compute == DType::Bool)
    notImplementedFor(r.info.name, compute);
  Tensor a = prepared(r.operand(0), compute), b = prepared(r.operand(1), compute);
  Tensor c(newTensor(compute, r.type.dims, cudaDevice));
  if (c->numel)
    matmul(r, a.impl(), b.impl(), c.impl());
  return c->dtype == r.type.dtype ? c.take() : copyOf(c.impl(), r.type.dtype);
}

TensorImpl *creation(Resolved &r) {
  if (r.info.shape != ShapeRule::Full)
    noKernel(r);
  Tensor out = r.target && r.target->dtype == r.type.dtype ? Tensor::borrow(r.target)
                                                           : Tensor(newTensor(r.type.dtype, r.type.dims, cudaDevice));
  fillTensor(out.impl(), elementBits(Scalar::fromAttr(r.attr(1)), r.type.dtype));
  return out.take();
}

} // namespace

TensorImpl *runOnCuda(Resolved &r) {
  switch (r.info.family) {
  case Family::View: return runView(r);
  case Family::Fused: return runFused(r);
  case Family::Elementwise: return elementwise(r);
  case Family::Cast: return cast(r);
  case Family::Reduction: return reduction(r);
  case Family::Contraction: return contraction(r);
  case Family::Creation: return creation(r);
  case Family::Indexing:
    if (r.info.shape == ShapeRule::Cat || r.info.shape == ShapeRule::SliceUpdate) // copies of whole slices
      return runIndexing(r);
    if (isComplex(r.type.dtype))
      noKernel(r);
    return runIndexed(r);
  default: noKernel(r);
  }
}

} // namespace torchc
