// API of ops that index by tensors.
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {

Tensor indexSelectDim(const Tensor &input, int64_t dim, const Tensor &index, Out out) {
  return callOp(OpId::IndexSelect, {input, index}, {Attr::integer(wrap(dim, input->rank))}, out);
}

Tensor indexAddScaled(const Tensor &input, int64_t dim, const Tensor &index, const Tensor &source, const Scalar &alpha,
                      Out out) {
  Attr d = Attr::integer(wrap(dim, input->rank));
  if (alpha.equals(1))
    return callOp(OpId::IndexAdd, {input, index, source}, {d}, out);
  DType t = input->dtype, compute = computeType(t);
  if (compute == t || source->dtype != t)
    return callOp(OpId::IndexAdd, {input, index, callOp(OpId::Mul, {source, alpha})}, {d}, out);
  Tensor added = callOp(OpId::Mul, {as(source, compute), alpha}); // one rounding, at the end (N6)
  return deliver(as(callOp(OpId::IndexAdd, {as(input, compute), index, added}, {d}), t), out);
}

Tensor gatherDim(const Tensor &input, int64_t dim, const Tensor &index, bool sparseGrad, Out out) {
  if (sparseGrad)
    unsupported("gather(sparse_grad=True): gradients as sparse tensors; sparse_grad=False is exact");
  return callOp(OpId::Gather, {input, index}, {Attr::integer(wrap(dim, input->rank))}, out);
}

Tensor scatterOperand(const Tensor &input, int64_t dim, const Tensor &index, const Operand &src, Out out) {
  int64_t d = wrap(dim, input->rank);
  if (src.tensor)
    return callOp(OpId::Scatter, {input, index, src}, {Attr::integer(d)}, out);
  checkFits(src.number, input->dtype);
  Tensor s = callOp(OpId::Expand, {fullTensor(Dims(), src.number, input->dtype, input->device)}, {attr(index->dims())});
  return callOp(OpId::Scatter, {input, index, s}, {Attr::integer(d)}, out);
}

Tensor scatterAddDim(const Tensor &input, int64_t dim, const Tensor &index, const Tensor &src, Out out) {
  return callOp(OpId::ScatterAdd, {input, index, src}, {Attr::integer(wrap(dim, input->rank))}, out);
}

Tensor oneHot(const Tensor &input, int64_t classes) {
  if (input->dtype != DType::I64)
    fail("one_hot is only applicable to index tensor of type LongTensor, got " + std::string(torchName(input->dtype)));
  if (classes < -1 || (classes == -1 && !input->numel))
    fail(classes < -1 ? "num_classes should be -1 or at least 1, got " + std::to_string(classes)
                      : "Can not infer total number of classes from empty tensor.");
  if (classes == -1)
    classes = std::max<int64_t>(item(maxAll(input)).toInt(), 0) + 1;
  checkRank(input->rank + 1, "one_hot");
  Dims dims = input->dims();
  dims.push(classes);
  Tensor zeros = fullTensor(dims, Scalar(int64_t(0)), DType::I64, input->device);
  // scatter refuses what is no class, also in a recorded program, which can't look at the numbers here.
  try {
    Out out = isPlain(input) ? Out::inplace(zeros) : Out();
    return scatterOperand(zeros, -1, unsqueezeDim(input, -1), Scalar(int64_t(1)), out);
  } catch (const Error &e) {
    if (e.kind() != ErrorKind::Runtime && e.kind() != ErrorKind::Index)
      throw;
    fail(item(minAll(input)).toInt() < 0 ? "Class values must be non-negative."
                                         : "Class values must be smaller than num_classes.");
  }
}

Tensor indexPut(const Tensor &input, TensorList indices, const Tensor &values, bool accumulate, Out out) {
  return putAt(out.kind == Out::Inplace ? input : cloneOf(input), indices, values, accumulate);
}

} // namespace torchc::composite
