// matmul (N3) and dot (N4). Transposed operands are read where they lie.
#include "frontends/eager/Families.h"
#include "runtime/kernels/Gemm.h"
#include "runtime/kernels/Launch.h"
#include "runtime/kernels/Pack.h"

namespace torchc {
namespace {

/// A copy of x in another type that repeats along the same dimensions as x does.
Tensor converted(TensorImpl *x, DType type) {
  int64_t sizes[maxRank], strides[maxRank];
  for (int i = 0; i < x->rank; i++)
    sizes[i] = x->strides()[i] ? x->sizes()[i] : std::min<int64_t>(x->sizes()[i], 1);
  Tensor part(newAlias(x, x->rank, sizes, x->strides(), 0)), copy(copyOf(part.impl(), type));
  for (int i = 0; i < x->rank; i++)
    strides[i] = x->strides()[i] ? copy->strides()[i] : 0;
  return Tensor(newAlias(copy.impl(), x->rank, x->sizes(), strides, 0));
}

/// An operand in the type the product runs in (N6), its strides kept if they are positive.
Tensor prepared(TensorImpl *x, DType compute) {
  bool usable = x->dtype == compute;
  for (int i = 0; i < x->rank; i++)
    usable &= x->strides()[i] >= 0;
  return usable ? Tensor::borrow(x) : converted(x, compute);
}

/// May all batches be one product: the same B in each, and A's rows of one batch after those of the other?
bool joinsRows(const TensorImpl *a, const TensorImpl *b, int batchDims) {
  int64_t expected = a->strides()[batchDims] * a->sizes()[batchDims];
  for (int d = batchDims - 1; d >= 0; d--) {
    if (a->sizes()[d] == 1)
      continue;
    if (b->strides()[d] || a->strides()[d] != expected)
      return false;
    expected *= a->sizes()[d];
  }
  return true;
}

void matmul(Resolved &r, TensorImpl *a, TensorImpl *b, TensorImpl *c) {
  int batchDims = c->rank - 2;
  const int64_t *sa = a->strides() + batchDims, *sb = b->strides() + batchDims;
  int64_t m = c->sizes()[batchDims], n = c->sizes()[batchDims + 1], k = a->sizes()[batchDims + 1];
  int64_t item = itemSize(c->dtype), batches = 1, index[maxRank] = {};
  for (int i = 0; i < batchDims; i++)
    batches *= c->sizes()[i];
  if (!(batches * m * n))
    return;
  if (joinsRows(a, b, batchDims)) {
    m *= batches;
    batches = 1;
  }
  char *pa = a->data, *pb = b->data, *pc = c->data;
  for (int64_t i = 0; i < batches; i++, pc += m * n * item) {
    if (!gemm({c->dtype, m, n, k, pa, sa[0], sa[1], pb, sb[0], sb[1], pc, n}))
      notImplementedFor(r.info.name, c->dtype);
    for (int d = batchDims - 1; d >= 0; d--) {
      pa += a->strides()[d] * item;
      pb += b->strides()[d] * item;
      if (++index[d] < c->sizes()[d])
        break;
      pa -= a->strides()[d] * c->sizes()[d] * item;
      pb -= b->strides()[d] * c->sizes()[d] * item;
      index[d] = 0;
    }
  }
}

TensorImpl *dot(Resolved &r) {
  Tensor a(contiguousOf(r.operand(0))), b(contiguousOf(r.operand(1))), out(newTensor(r.type.dtype, r.type.dims));
  Kernel k = packReduce(r.call.op, r.type.dtype);
  if (!k)
    notImplementedFor(r.info.name, r.type.dtype);
  void *p[4] = {out->data, a->data, b->data, &threadState.status};
  launch(k, p, &a->numel, nullptr, 0, 1);
  return out.take();
}

} // namespace

TensorImpl *runContraction(Resolved &r) {
  DType compute = computeType(r.type.dtype);
  if (compute == DType::Bool)
    notImplementedFor(r.info.name, compute);
  if (r.info.shape == ShapeRule::Dot)
    return dot(r);
  Tensor a = prepared(r.operand(0), compute), b = prepared(r.operand(1), compute);
  Tensor c(newTensor(compute, r.type.dims));
  matmul(r, a.impl(), b.impl(), c.impl());
  return c->dtype == r.type.dtype ? c.take() : copyOf(c.impl(), r.type.dtype);
}

} // namespace torchc
