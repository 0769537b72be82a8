// matmul (N3) and dot (N4). Transposed operands are read where they lie.
#include "frontends/eager/Families.h"
#include "frontends/eager/GemmFallback.h"
#if __has_include("runtime/kernels/Gemm.h")
#include "runtime/kernels/Gemm.h"
#define TORCHC_HAVE_GEMM 1
#endif

namespace torchc {
namespace {

bool product(const PlainGemm &g) {
#ifdef TORCHC_HAVE_GEMM
  if (gemm({g.dtype, g.m, g.n, g.k, g.a, g.aRow, g.aK, g.b, g.bK, g.bColumn, g.c, g.cRow}))
    return true;
#endif
  return plainGemm(g);
}

/// An operand in the type the product runs in (N6), its strides kept if they are positive.
Tensor prepared(TensorImpl *x, DType compute) {
  bool usable = x->dtype == compute;
  for (int i = 0; i < x->rank; i++)
    usable &= x->strides()[i] >= 0;
  return usable ? Tensor::borrow(x) : Tensor(copyOf(x, compute));
}

void matmul(Resolved &r, TensorImpl *a, TensorImpl *b, TensorImpl *c) {
  int batchDims = c->rank - 2;
  const int64_t *sa = a->strides() + batchDims, *sb = b->strides() + batchDims;
  int64_t m = c->sizes()[batchDims], n = c->sizes()[batchDims + 1], k = a->sizes()[batchDims + 1];
  int64_t item = itemSize(c->dtype), batches = 1, index[maxRank] = {};
  for (int i = 0; i < batchDims; i++)
    batches *= c->sizes()[i];
  char *pa = a->data, *pb = b->data, *pc = c->data;
  for (int64_t i = 0; i < batches; i++, pc += m * n * item) {
    if (m && n && !product({c->dtype, m, n, k, pa, sa[0], sa[1], pb, sb[0], sb[1], pc, n}))
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

} // namespace

TensorImpl *runContraction(Resolved &r) {
  DType compute = computeType(r.type.dtype);
  if (compute == DType::Bool)
    notImplementedFor(r.info.name, compute);
  Tensor a = prepared(r.operand(0), compute), b = prepared(r.operand(1), compute);
  Tensor c(newTensor(compute, r.type.dims));
  if (r.info.shape == ShapeRule::Dot) {
    if (!plainDot(compute, c->data, a->data, a->strides()[0], b->data, b->strides()[0], a->numel))
      notImplementedFor(r.info.name, compute);
  } else
    matmul(r, a.impl(), b.impl(), c.impl());
  return c->dtype == r.type.dtype ? c.take() : copyOf(c.impl(), r.type.dtype);
}

} // namespace torchc
