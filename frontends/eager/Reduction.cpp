// Reductions over any axes in the order of rule N4: over the row-major index of the reduced axes, whatever the layout.
#include "frontends/eager/Families.h"
#include "runtime/core/Layout.h"
#include "runtime/kernels/Launch.h"
#include "runtime/kernels/Pack.h"
#include "runtime/kernels/Strided.h"

namespace torchc {
namespace {

/// The operand's axes as (kept..., reduced...), both in ascending order.
struct Split {
  Dims kept, keptStrides, reduced, reducedStrides;
  int64_t rows() const { return kept.numel(); }
  int64_t length() const { return reduced.numel(); }
};

Split splitAxes(const TensorImpl *x, const Attr &dims) {
  bool isReduced[maxRank] = {};
  for (uint32_t i = 0; i < dims.size && x->rank; i++)
    isReduced[dims.list[i]] = true;
  Split s;
  for (int i = 0; i < x->rank; i++) {
    (isReduced[i] ? s.reduced : s.kept).push(x->sizes()[i]);
    (isReduced[i] ? s.reducedStrides : s.keptStrides).push(x->strides()[i]);
  }
  return s;
}

bool dense(const Dims &a, const Dims &aStrides, const Dims &b, const Dims &bStrides) {
  Dims sizes = a, strides = aStrides;
  for (int i = 0; i < b.size(); i++) {
    sizes.push(b[i]);
    strides.push(bStrides[i]);
  }
  return isContiguous(sizes.size(), sizes.data(), strides.data());
}

/// Does `dims` walk memory with one stride, its innermost? Sizes of 1 don't matter.
bool uniform(const Dims &dims, const Dims &strides, int64_t &stride) {
  int64_t expected = -1;
  stride = 1;
  for (int i = dims.size(); i-- > 0;) {
    if (dims[i] == 1)
      continue;
    if (expected >= 0 && strides[i] != expected)
      return false;
    if (expected < 0)
      stride = strides[i];
    expected = strides[i] * dims[i];
  }
  return true;
}

/// Sum-like bodies accumulate f16/bf16 in f32 and leave the rounding to us.
DType kernelResult(const Resolved &r, DType in) {
  const Body &body = r.info.bodies[int(BodyClass::F32)];
  BodyOp last = body.numNodes ? body.nodes[body.numNodes - 1].op : BodyOp::Max;
  return isReducedFloat(in) && (last == BodyOp::Add || last == BodyOp::Mul) && r.info.shape == ShapeRule::Reduce
             ? DType::F32
             : r.type.dtype;
}

int64_t grainFor(int64_t work) { return std::max<int64_t>(1, elementwiseGrain / std::max<int64_t>(work, 1)); }

void reduceRows(Kernel k, void *out, const char *in, int64_t rows, int64_t n) {
  void *p[3] = {out, const_cast<char *>(in), &threadState.status};
  launch(k, p, &n, nullptr, 0, rows, grainFor(n));
}

void reduceCols(Kernel k, void *out, const char *in, int64_t rows, int64_t stride, int64_t columns) {
  void *p[3] = {out, const_cast<char *>(in), &threadState.status};
  int64_t sizes[2] = {rows, stride};
  launch(k, p, sizes, nullptr, 0, columns, std::max<int64_t>(64, grainFor(rows)));
}

class Reduction {
public:
  Reduction(Resolved &r, Kernel rows, Kernel cols, DType result) : r(r), x(r.operand(0)), byRows(rows), byCols(cols) {
    out = Tensor(newTensor(result, r.type.dims));
  }
  Tensor run();

private:
  bool tryColumns(const Split &s);

  Resolved &r;
  TensorImpl *x;
  Kernel byRows, byCols;
  Tensor out;
};

/// The kept axes after the reduced ones are contiguous and walk the same memory order: columns, once per outer index.
bool Reduction::tryColumns(const Split &s) {
  int64_t stride;
  if (!byCols || !uniform(s.reduced, s.reducedStrides, stride) || stride <= 0)
    return false;
  // Trailing kept axes that together are dense with stride 1.
  int split = s.kept.size();
  int64_t inner = 1;
  while (split > 0 && (s.kept[split - 1] == 1 || s.keptStrides[split - 1] == inner)) {
    inner *= s.kept[split - 1];
    split--;
  }
  if (inner < 8)
    return false;
  int64_t outer = 1, item = itemSize(x->dtype), outItem = itemSize(out->dtype), index[maxRank] = {};
  for (int i = 0; i < split; i++)
    outer *= s.kept[i];
  char *at = x->data, *to = out->data;
  for (int64_t o = 0; o < outer; o++, to += inner * outItem) {
    reduceCols(byCols, to, at, s.length(), stride, inner);
    for (int d = split - 1; d >= 0; d--) {
      at += s.keptStrides[d] * item;
      if (++index[d] < s.kept[d])
        break;
      at -= s.keptStrides[d] * s.kept[d] * item;
      index[d] = 0;
    }
  }
  return true;
}

Tensor Reduction::run() {
  if (!out->numel)
    return out;
  Split s = splitAxes(x, r.attr(0));
  if (x->numel && !dense(s.kept, s.keptStrides, s.reduced, s.reducedStrides)) {
    if (tryColumns(s))
      return out;
    Dims sizes = s.kept, strides = s.keptStrides;
    for (int i = 0; i < s.reduced.size(); i++) {
      sizes.push(s.reduced[i]);
      strides.push(s.reducedStrides[i]);
    }
    Tensor view(newAlias(x, sizes.size(), sizes.data(), strides.data(), 0));
    Tensor copy(copyOf(view.impl(), x->dtype));
    reduceRows(byRows, out->data, copy->data, s.rows(), s.length());
    return out;
  }
  reduceRows(byRows, out->data, x->data, s.rows(), s.length());
  return out;
}

/// Running reductions over [outer, n, inner] (compiler/lower/Scan.h).
TensorImpl *runScan(Resolved &r) {
  Kernel k = packReduce(r.call.op, r.operand(0)->dtype);
  if (!k)
    notImplementedFor(r.info.name, r.operand(0)->dtype);
  Tensor x(contiguousOf(r.operand(0))), out(newTensor(r.type.dtype, r.type.dims));
  if (!out->numel)
    return out.take();
  int64_t dim = r.attr(0).i, n = x->rank ? x->sizes()[dim] : 1, inner = 1;
  for (int i = int(dim) + 1; i < x->rank; i++)
    inner *= x->sizes()[i];
  bool reverse = r.attr(1).i;
  int64_t sizes[4] = {n, inner, reverse ? (n - 1) * inner : 0, reverse ? -inner : inner};
  void *p[3] = {out->data, x->data, &threadState.status};
  launch(k, p, sizes, nullptr, 0, x->numel / (n * inner), grainFor(n * inner));
  return out.take();
}

} // namespace

TensorImpl *runReduction(Resolved &r) {
  if (r.info.shape == ShapeRule::Scan)
    return runScan(r);
  DType in = r.operand(0)->dtype;
  Kernel rows = packReduce(r.call.op, in), cols = packReduceCols(r.call.op, in);
  if (!rows)
    notImplementedFor(r.info.name, in);
  Tensor out = Reduction(r, rows, cols, kernelResult(r, in)).run();
  return out->dtype == r.type.dtype ? out.take() : copyOf(out.impl(), r.type.dtype);
}

} // namespace torchc
