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

/// Multiplications per thread below which starting threads costs more than it gains.
constexpr int64_t productGrain = 1 << 18;

/// `start`: c holds where the chains start.
void matmul(Resolved &r, TensorImpl *a, TensorImpl *b, TensorImpl *c, bool start) {
  int batchDims = c->rank - 2;
  const int64_t *sa = a->strides() + batchDims, *sb = b->strides() + batchDims;
  int64_t m = c->sizes()[batchDims], n = c->sizes()[batchDims + 1], k = a->sizes()[batchDims + 1];
  int64_t item = itemSize(c->dtype), batches = 1;
  for (int i = 0; i < batchDims; i++)
    batches *= c->sizes()[i];
  if (!c->numel)
    return;
  int64_t work; // multiplications of one product
  if (__builtin_mul_overflow(m, n, &work) || __builtin_mul_overflow(work, std::max<int64_t>(k, 1), &work))
    fail(std::string(r.info.name) + "(): the product of " + a->dims().str() + " and " + b->dims().str() +
         " needs more than 2^63 multiplications");
  if (joinsRows(a, b, batchDims)) {
    m *= batches;
    batches = 1;
  }
  auto product = [&](int64_t i) {
    int64_t rest = i, pa = 0, pb = 0;
    for (int d = batchDims - 1; d >= 0; d--, rest /= c->sizes()[d + 1]) {
      int64_t at = rest % c->sizes()[d];
      pa += at * a->strides()[d];
      pb += at * b->strides()[d];
    }
    return gemm({c->dtype, m, n, k, a->data + pa * item, sa[0], sa[1], b->data + pb * item, sb[0], sb[1],
                 c->data + i * m * n * item, n, start});
  };
  bool ok = true;
  auto products = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      if (!product(i))
        __atomic_store_n(&ok, false, __ATOMIC_RELAXED);
  };
  // Threads take whole products where that shares the work evenly; else each product is cut.
  int64_t threads = numThreads();
  if (batches >= 4 * threads || batches % threads == 0)
    parallelFor(0, batches, productGrain / work + 1, products);
  else
    products(0, batches);
  if (!ok)
    notImplementedFor(r.info.name, c->dtype);
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
  if (r.info.shape != ShapeRule::Matmul)
    return runConvolution(r);
  Tensor a = prepared(r.operand(0), compute), b = prepared(r.operand(1), compute);
  bool start = r.call.numOperands > 2;
  Tensor c(start ? copyOf(r.operand(2), compute) : newTensor(compute, r.type.dims));
  matmul(r, a.impl(), b.impl(), c.impl(), start);
  return c->dtype == r.type.dtype ? c.take() : copyOf(c.impl(), r.type.dtype);
}

} // namespace torchc
