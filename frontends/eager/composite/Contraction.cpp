// API of matrix products: ranks, broadcasting of batches, checks.
#include "frontends/eager/composite/Common.h"

namespace torchc::composite {
namespace {

std::string rankText(const Tensor &t) { return std::to_string(t->rank) + "D"; }

void sameTypes(const Tensor &x, const Tensor &y) {
  if (x->dtype != y->dtype)
    fail("expected m1 and m2 to have the same dtype, but got: " + std::string(torchName(x->dtype)) +
         " != " + std::string(torchName(y->dtype)));
}

Tensor product(const Tensor &x, const Tensor &y, Out out) {
  sameTypes(x, y);
  return callOp(OpId::Matmul, {x, y}, {}, out);
}

/// x with its batch dimensions broadcast to `batch`.
Tensor expandBatch(const Tensor &x, const Dims &batch) {
  Dims shape = batch;
  shape.push(x->sizes()[x->rank - 2]);
  shape.push(x->sizes()[x->rank - 1]);
  return shape == x->dims() ? x : callOp(OpId::Expand, {x}, {attr(shape)});
}
Dims batchOf(const Tensor &x) { return Dims(x->sizes(), x->rank - 2); }

} // namespace

Tensor mmChecked(const Tensor &input, const Tensor &mat2, Out out) {
  if (input->rank != 2)
    fail("self must be a matrix, got a " + rankText(input) + " tensor");
  if (mat2->rank != 2)
    fail("mat2 must be a matrix, got a " + rankText(mat2) + " tensor");
  return product(input, mat2, out);
}

Tensor bmmChecked(const Tensor &input, const Tensor &mat2, Out out) {
  if (input->rank != 3 || mat2->rank != 3)
    fail("batch1 and batch2 must be 3D tensors, got " + rankText(input) + " and " + rankText(mat2));
  return product(input, mat2, out);
}

Tensor mvChecked(const Tensor &input, const Tensor &vec) {
  if (input->rank != 2 || vec->rank != 1)
    fail("vector + matrix @ vector expected, got " + rankText(input) + ", " + rankText(vec));
  return matmulBroadcast(input, vec, Out());
}

Tensor matmulBroadcast(const Tensor &input, const Tensor &other, Out out) {
  if (!input->rank || !other->rank)
    fail("both arguments to matmul need to be at least 1D, but they are " + rankText(input) + " and " +
         rankText(other));
  if (input->rank == 1 && other->rank == 1) {
    sameTypes(input, other);
    return callOp(OpId::Dot, {input, other}, {}, out);
  }
  if (input->rank == 2 && other->rank == 2)
    return product(input, other, out);
  // A vector is a row on the left, a column on the right; its dimension of size 1 goes again.
  Tensor x = input->rank == 1 ? reshaped(input, Dims({1, input->sizes()[0]})) : input;
  Tensor y = other->rank == 1 ? reshaped(other, Dims({other->sizes()[0], 1})) : other;
  Tensor z;
  if (x->rank == 2 && y->rank == 2) {
    z = product(x, y, Out());
  } else {
    Dims batch;
    Diag diag;
    if (!broadcastShapes(batchOf(x), batchOf(y), batch, diag))
      fail(diag);
    z = product(expandBatch(x, batch), expandBatch(y, batch), Out());
  }
  Dims shape = z->dims();
  if (input->rank == 1)
    shape.erase(shape.size() - 2);
  if (other->rank == 1)
    shape.erase(shape.size() - 1);
  if (shape.size() != z->rank)
    z = reshaped(z, shape);
  return deliver(z, out);
}

/// All rows of the input are one product, so the weight's gradient is one too. Rounded once, after the bias (N3, N6).
Tensor linearLayer(const Tensor &input, const Tensor &weight, const OptTensor &bias) {
  sameTypes(input, weight);
  if (bias.defined())
    sameTypes(input, bias);
  if (weight->rank > 2)
    fail("linear(): expected a weight of at most 2 dimensions, got " + weight->dims().str() +
         " (t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(weight->rank) + "D)");
  DType compute = computeType(input->dtype);
  Tensor x = as(input, compute), w = as(weight, compute);
  bool joins = x->rank > 2 && w->rank == 2;
  Dims shape(input->sizes(), std::max<int>(input->rank - 1, 0));
  if (joins)
    x = reshaped(x, Dims({shape.numel(), input->sizes()[input->rank - 1]}));
  Tensor y = matmulBroadcast(x, w->rank == 2 ? tMatrix(w) : w, Out());
  if (bias.defined())
    y = callOp(OpId::Add, {y, as(bias, compute)});
  if (joins) {
    shape.push(w->sizes()[0]);
    y = reshaped(y, shape);
  }
  return as(y, input->dtype);
}

/// product * alpha + input * beta, each rounded in the op-math type (N3); beta = 0 doesn't read input.
Tensor addmmScaled(const Tensor &input, const Tensor &mat1, const Tensor &mat2, const Scalar &beta,
                   const Scalar &alpha) {
  sameTypes(mat1, mat2);
  sameTypes(input, mat1);
  DType compute = computeType(mat1->dtype);
  Tensor y = mmChecked(as(mat1, compute), as(mat2, compute), Out());
  if (!alpha.equals(1))
    y = callOp(OpId::Mul, {y, alpha});
  if (!beta.equals(0)) {
    Tensor x = as(input, compute);
    y = callOp(OpId::Add, {y, beta.equals(1) ? x : callOp(OpId::Mul, {x, beta})});
  }
  return as(y, mat1->dtype);
}

} // namespace torchc::composite
