// Convolutions (N5) and pools: geometry from shapes and attributes, then the runtime's drivers.
#include "dialects/rules/WindowAttrs.h"
#include "frontends/eager/Families.h"
#include "runtime/kernels/Conv.h"
#include "runtime/kernels/Pack.h"

namespace torchc {

TensorImpl *runConvolution(Resolved &r) {
  DType compute = computeType(r.type.dtype);
  if (compute == DType::Bool)
    notImplementedFor(r.info.name, compute);
  Tensor a(contiguousAs(r.operand(0), compute)), b(contiguousAs(r.operand(1), compute));
  Tensor out(newTensor(compute, r.type.dims));
  const Attr *attrs = r.call.attrs;
  ConvCall call{compute, ConvWhat::Output, {}, a->data, b->data, out->data};
  switch (r.info.shape) {
  case ShapeRule::Conv: call.g = rules::convGeometry(a->dims(), b->dims(), out->dims(), attrs); break;
  case ShapeRule::ConvInput:
    call.what = ConvWhat::Input;
    call.g = rules::convGeometry(out->dims(), b->dims(), a->dims(), attrs + 1);
    break;
  default: call.what = ConvWhat::Weight; call.g = rules::convGeometry(a->dims(), out->dims(), b->dims(), attrs + 1);
  }
  if (out->numel && !conv(call)) {
    if (!convKernels(compute).shared)
      notImplementedFor(r.info.name, compute);
    fail(ErrorKind::Memory, std::string(r.info.name) + "(): out of memory");
  }
  return out->dtype == r.type.dtype ? out.take() : copyOf(out.impl(), r.type.dtype);
}

TensorImpl *runPooling(Resolved &r) {
  // Sums are made in the op-math type and rounded once (N6); extremes are found in any type.
  bool sums = r.info.flags & OpAccumulates;
  DType in = sums ? computeType(r.operand(0)->dtype) : r.operand(0)->dtype;
  Kernel kernel = packPool(r.call.op, in);
  if (!kernel)
    notImplementedFor(r.info.name, r.operand(0)->dtype);
  Tensor x(contiguousAs(r.operand(0), in)), out(newTensor(sums ? in : r.type.dtype, r.type.dims)), chosen;
  if (r.call.numOperands == 2)
    chosen = Tensor(contiguousAs(r.operand(1), in));
  bool isGradient = r.info.shape == ShapeRule::PoolInput || r.info.shape == ShapeRule::PoolScatter;
  bool isMean = rules::poolsMeans(r.info);
  PoolGeometry g = isGradient ? rules::poolGeometry(out->dims(), x->dims(), r.call.attrs, isMean)
                              : rules::poolGeometry(x->dims(), out->dims(), r.call.attrs, isMean);
  int64_t each = 1;
  for (uint32_t i = 0; i < r.attr(0).size; i++)
    each *= out->sizes()[out->rank - 1 - int(i)];
  void *one[] = {out->data, x->data, &threadState.status},
       *two[] = {out->data, x->data, chosen.defined() ? chosen->data : nullptr, &threadState.status};
  if (out->numel)
    poolPlanes(kernel, chosen.defined() ? two : one, out->numel / each, g);
  return out->dtype == r.type.dtype ? out.take() : copyOf(out.impl(), r.type.dtype);
}

} // namespace torchc
