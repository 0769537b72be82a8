// Ops through indices on cuda: gather, scatter, scatter_add, index_select, index_add. Each runs over the lines of one dimension.
#include "frontends/eager/cuda/Launch.h"
#include "runtime/core/Status.h"

namespace torchc::cuda {
namespace {

/// Operands of one rank, 0-d ones as [1]: the target, the source, the index, in elements.
struct Lines {
  int dim = 0;
  Dims sizes; // of the index
  int64_t bound = 1; // of the indexed operand along `dim`
  const TensorImpl *operands[3] = {};
  Dims strides[3];
};

Dims stridesOf(const TensorImpl *t) { return t->rank ? Dims(t->strides(), t->rank) : Dims({1}); }
Dims sizesOf(const TensorImpl *t) { return t->rank ? t->dims() : Dims({1}); }

DType bySize(DType t) {
  switch (itemSize(t)) {
  case 1: return DType::U8;
  case 2: return DType::I16;
  case 4: return DType::I32;
  default: return DType::I64;
  }
}

/// What a failed kernel left: throws as the CPU does, elementwise ops with RuntimeError, the others with IndexError.
void checkFault(const Resolved &r, const Lines &l, CudaStream &stream, void *status, bool elementwise) {
  int64_t words[2] = {};
  CudaDevice &device = stream.cudaDevice();
  if (!device.copyToHost(words, status, sizeof words, stream))
    checkErrors();
  if (!int32_t(words[0]))
    return;
  if (!device.fill(status, 0, sizeof words, stream))
    checkErrors();
  fail(elementwise ? ErrorKind::Runtime : ErrorKind::Index,
       "index " + std::to_string(words[1]) + " is out of bounds for dimension " + std::to_string(l.dim) +
           " with size " + std::to_string(l.bound) + " (" + r.info.name + "(): index out of range in self)");
}

void run(const Resolved &r, DeviceForm form, DType t, const Lines &l, bool elementwise) {
  int rank = l.sizes.size(), lineRank = rank - 1;
  if (lineRank > deviceRank)
    fail(ErrorKind::NotImplemented,
         std::string(r.info.name) + "(): more than " + std::to_string(deviceRank + 1) + " dimensions on device cuda");
  auto without = [&](const Dims &d) {
    Dims out;
    for (int i = 0; i < rank; ++i)
      if (i != l.dim)
        out.push(d[i]);
    return out;
  };
  Dims lines = without(l.sizes);
  if (!lines.numel() || !l.sizes[l.dim])
    return;
  CudaStream &stream = streamFor(l.operands[0]);
  void *status = stream.cudaDevice().statusWord();
  Arguments a;
  a.word(lines.numel());
  a.word(std::max(lineRank, 1));
  a.innermostFirst(lineRank, lines.data(), 1);
  for (int k = 0; k < 3; ++k) {
    a.pointer(l.operands[k]->data);
    a.innermostFirst(lineRank, without(l.strides[k]).data(), 0);
  }
  a.word(l.sizes[l.dim]);
  for (const Dims &s : l.strides)
    a.word(s[l.dim]);
  a.word(l.bound);
  a.pointer(status);
  startLinear(r.info.name, t, deviceKey(form, 0, t), lines.numel(), a, stream);
  checkFault(r, l, stream, status, elementwise);
}

/// The index vector of index_select and index_add as one that repeats in every line.
void repeatIndex(Lines &l, const TensorImpl *index) {
  l.strides[2] = l.sizes;
  for (int i = 0; i < l.sizes.size(); ++i)
    l.strides[2][i] = 0;
  l.strides[2][l.dim] = index->rank ? index->strides()[0] : 1;
}

} // namespace

TensorImpl *runIndexed(Resolved &r) {
  bool gathers = r.info.shape == ShapeRule::Gather || r.info.shape == ShapeRule::IndexSelect;
  bool elementwise = r.info.shape == ShapeRule::Gather || r.info.shape == ShapeRule::Scatter;
  bool adds = !gathers && (r.info.shape == ShapeRule::IndexUpdate || r.call.op == OpId::ScatterAdd);
  TensorImpl *x = r.operand(0);
  Tensor index(r.operand(1)->dtype == DType::I64 ? retain(r.operand(1)) : copyOf(r.operand(1), DType::I64));
  DType t = r.type.dtype, acc = adds ? computeType(t) : t;
  Lines l;
  l.dim = int(r.attr(0).i < 0 ? r.attr(0).i + std::max<int>(x->rank, 1) : r.attr(0).i);
  l.bound = sizesOf(x)[l.dim];
  Tensor out(gathers ? newTensor(t, r.type.dims, cudaDevice) : copyOf(x, acc)), source = Tensor::borrow(x);
  if (!gathers) {
    source = Tensor::borrow(r.operand(2));
    if (source->dtype != acc)
      source = Tensor(copyOf(source.impl(), acc));
  }
  l.operands[0] = out.impl();
  l.operands[1] = source.impl();
  l.operands[2] = index.impl();
  for (int k = 0; k < 2; ++k)
    l.strides[k] = stridesOf(l.operands[k]);
  if (elementwise) {
    l.sizes = sizesOf(index.impl());
    l.strides[2] = stridesOf(index.impl());
  } else {
    l.sizes = sizesOf(gathers ? out.impl() : source.impl());
    repeatIndex(l, index.impl());
  }
  // Shapes were checked by the rules; a 0-d operand takes part as [1].
  DeviceForm form = gathers ? DeviceForm::Gather : adds ? DeviceForm::ScatterAdd : DeviceForm::Scatter;
  run(r, form, adds ? acc : bySize(acc), l, elementwise);
  return out->dtype == t ? out.take() : copyOf(out.impl(), t);
}

} // namespace torchc::cuda
