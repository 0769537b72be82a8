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
  if (y->rank == 2 && x->rank > 2) { // one product over all rows: the same sums in fewer calls
    int64_t k = x->sizes()[x->rank - 1];
    Dims rows({x->numel / std::max<int64_t>(k, 1), k}), shape(x->sizes(), x->rank - 1);
    if (!k)
      rows[0] = Dims(x->sizes(), x->rank - 1).numel();
    shape.push(y->sizes()[1]);
    z = reshaped(product(reshaped(x, rows), y, Out()), shape);
  } else if (x->rank == 2 && y->rank == 2) {
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

Tensor linearLayer(const Tensor &input, const Tensor &weight, const OptTensor &bias) {
  Tensor y = matmulBroadcast(input, weight->rank == 2 ? tMatrix(weight) : weight, Out());
  return bias.defined() ? callOp(OpId::Add, {y, bias}) : y;
}

} // namespace torchc::composite
