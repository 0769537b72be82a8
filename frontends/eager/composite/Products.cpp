// Products of vectors and matrices beyond matmul.
#include "frontends/eager/Autocast.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>
#include <cmath>

namespace torchc::composite {
namespace {

std::string rankText(const Tensor &t) { return std::to_string(t->rank) + "D"; }

void needSameTypes(const Tensor &a, const Tensor &b, const char *op) {
  if (a->dtype != b->dtype)
    fail(std::string(op) + "(): expected tensors of one dtype, got " + std::string(torchName(a->dtype)) + " and " +
         std::string(torchName(b->dtype)));
}
void needVectors(const Tensor &a, const Tensor &b, const char *op) {
  if (a->rank != 1 || b->rank != 1)
    fail(std::string(op) + ": Expected 1-D arguments, got " + rankText(a) + " and " + rankText(b));
}

/// product * alpha + input * beta, each rounded in the op-math type, the sum to `t` (N3); beta = 0 doesn't read input.
Tensor scaledSum(const Tensor &input, Tensor y, const Scalar &beta, const Scalar &alpha, DType t, const char *op) {
  if (!isDifferentiable(t) && (beta.isFloat() || alpha.isFloat()))
    fail("For integral input tensors, argument beta must not be a floating point number.");
  Dims shape;
  Diag diag;
  if (!broadcastShapes(input->dims(), y->dims(), shape, diag) || !(shape == y->dims()))
    fail(std::string(op) + "(): The expanded size of the tensor " + input->dims().str() +
         " must match the product's size " + y->dims().str());
  if (!alpha.equals(1))
    y = callOp(OpId::Mul, {y, alpha});
  if (!beta.equals(0)) {
    Tensor x = as(input, computeType(t));
    y = callOp(OpId::Add, {y, beta.equals(1) ? x : callOp(OpId::Mul, {x, beta})});
  }
  return as(y, t);
}

/// Batched products of integers take integer factors: the fraction is dropped.
Scalar inType(const Scalar &s, DType t) { return isDifferentiable(t) ? s : Scalar(s.toInt()); }

Tensor last(const Tensor &x, int64_t d, int64_t by) { return rollDims(x, {-by}, {d}); }

} // namespace

Tensor innerProduct(const Tensor &input, const Tensor &other) {
  if (!input->rank || !other->rank)
    return callOp(OpId::Mul, {input, other});
  if (input->sizes()[input->rank - 1] != other->sizes()[other->rank - 1])
    fail("inner() the last dimension must match on both input tensors but got shapes " + input->dims().str() + " and " +
         other->dims().str());
  needSameTypes(input, other, "inner");
  if (input->rank == 1 && other->rank == 1)
    return callOp(OpId::Dot, {input, other});
  return tensorDot(input, other, {-1}, {-1});
}
Tensor outerProduct(const Tensor &input, const Tensor &vec2) {
  needVectors(input, vec2, "outer");
  return callOp(OpId::Mul, {unsqueezeDim(input, 1), vec2});
}
Tensor vdotOf(const Tensor &input, const Tensor &other) { return callOp(OpId::Dot, {conjOf(input), other}); }

Tensor kronecker(const Tensor &input, const Tensor &other) {
  int rank = std::max<int>(input->rank, other->rank);
  Dims a, b, out;
  for (int i = 0; i < rank; i++) {
    int ai = i - (rank - input->rank), bi = i - (rank - other->rank);
    int64_t n = ai < 0 ? 1 : input->sizes()[ai], m = bi < 0 ? 1 : other->sizes()[bi];
    checkRank(a.size() + 2, "kron");
    if (n != 1) {
      a.push(n);
      b.push(1);
    }
    if (m != 1) {
      a.push(1);
      b.push(m);
    }
    out.push(n * m);
  }
  return reshaped(callOp(OpId::Mul, {reshaped(input, a), reshaped(other, b)}), out);
}

Tensor addmvScaled(const Tensor &input, const Tensor &mat, const Tensor &vec, const Scalar &beta, const Scalar &alpha) {
  needSameTypes(mat, vec, "addmv");
  needSameTypes(input, mat, "addmv");
  DType c = computeType(mat->dtype);
  return scaledSum(input, mvChecked(as(mat, c), as(vec, c)), beta, alpha, mat->dtype, "addmv");
}
Tensor addrScaled(const Tensor &input, const Tensor &vec1, const Tensor &vec2, const Scalar &beta,
                  const Scalar &alpha) {
  needVectors(vec1, vec2, "addr");
  DType t = commonType(commonType(input->dtype, vec1->dtype), vec2->dtype), c = computeType(t);
  if (t == DType::Bool) {
    Tensor y = callOp(OpId::LogicalAnd, {outerProduct(vec1, vec2),
                                         alpha.toBool() ? fullTensor(Dims(), true, t) : fullTensor(Dims(), false, t)});
    return beta.toBool() ? callOp(OpId::LogicalOr, {y, input}) : y;
  }
  return scaledSum(input, outerProduct(as(vec1, c), as(vec2, c)), beta, alpha, t, "addr");
}
Tensor baddbmmScaled(const Tensor &input, const Tensor &batch1, const Tensor &batch2, const Scalar &beta,
                     const Scalar &alpha) {
  needSameTypes(batch1, batch2, "baddbmm");
  needSameTypes(input, batch1, "baddbmm");
  DType c = computeType(batch1->dtype);
  Tensor y = bmmChecked(as(batch1, c), as(batch2, c), Out());
  return scaledSum(input, y, inType(beta, c), inType(alpha, c), batch1->dtype, "baddbmm");
}
/// One product whose inner dimension is (batch, k).
Tensor addbmmScaled(const Tensor &input, const Tensor &batch1, const Tensor &batch2, const Scalar &beta,
                    const Scalar &alpha) {
  if (batch1->rank != 3 || batch2->rank != 3)
    fail("batch1 and batch2 must be 3D tensors, got " + rankText(batch1) + " and " + rankText(batch2));
  needSameTypes(batch1, batch2, "addbmm");
  needSameTypes(input, batch1, "addbmm");
  int64_t b = batch1->sizes()[0], n = batch1->sizes()[1], m = batch1->sizes()[2], p = batch2->sizes()[2];
  if (batch2->sizes()[0] != b || batch2->sizes()[1] != m)
    fail("addbmm(): Incompatible matrix sizes for bmm (" + batch1->dims().str() + " and " + batch2->dims().str() + ")");
  DType c = computeType(batch1->dtype);
  Tensor x = reshaped(transposeDims(as(batch1, c), 0, 1), Dims({n, b * m}));
  Tensor y = reshaped(as(batch2, c), Dims({b * m, p}));
  return scaledSum(input, callOp(OpId::Matmul, {x, y}), inType(beta, c), inType(alpha, c), batch1->dtype, "addbmm");
}

/// (a1 b2 - a2 b1, ...) by rotating both along the dimension.
Tensor crossAlong(const Tensor &input, const Tensor &other, int64_t dim) {
  if (input->rank != other->rank)
    fail("linalg.cross: inputs must have the same number of dimensions.");
  int64_t d = wrap(dim, input->rank);
  if (!input->rank || input->sizes()[d] != 3 || other->sizes()[d] != 3)
    fail("linalg.cross: inputs dimension " + std::to_string(dim) + " must have length 3. Got " + input->dims().str() +
         " and " + other->dims().str());
  std::vector<Tensor> x = broadcastTensors({input, other});
  return callOp(OpId::Sub, {callOp(OpId::Mul, {last(x[0], d, 1), last(x[1], d, 2)}),
                            callOp(OpId::Mul, {last(x[0], d, 2), last(x[1], d, 1)})});
}
Tensor crossOf(const Tensor &input, const Tensor &other, std::optional<int64_t> dim) {
  if (dim)
    return crossAlong(input, other, *dim);
  Dims shape;
  Diag diag;
  if (!broadcastShapes(input->dims(), other->dims(), shape, diag))
    fail("inconsistent tensors dimensions input: " + input->dims().str() + " other: " + other->dims().str());
  for (int i = 0; i < shape.size(); i++)
    if (shape[i] == 3) {
      std::vector<Tensor> x = broadcastTensors({input, other});
      return crossAlong(x[0], x[1], i);
    }
  fail("no dimension of size 3 in input");
}

/// By squaring: 5 is 101, so x * (x^2)^2.
Tensor matrixPower(const Tensor &input, int64_t n) {
  int r = input->rank;
  if (r < 2 || input->sizes()[r - 1] != input->sizes()[r - 2])
    fail("linalg.matrix_power: A must be batches of square matrices, but they are " + input->dims().str());
  if (n < 0)
    unsupported("matrix_power(): negative exponents need an inverse, which is not implemented");
  if (n == 0) {
    int64_t m = input->sizes()[r - 1];
    Tensor one = eyeOf(m, {}, input->dtype, DeviceId{DeviceKind(input->device)}, false);
    return cloneOf(expanded(one, input->dims()));
  }
  if (TORCHC_UNLIKELY(isAutocast()) && n > 1)
    return matrixPower(AutocastCall(Autocast::Low)(input), n);
  Tensor square = input, out;
  for (;; square = matmulBroadcast(square, square, Out())) {
    if (n & 1)
      out = out.defined() ? matmulBroadcast(out, square, Out()) : square;
    if (!(n >>= 1))
      return out.same(input) ? cloneOf(input) : out;
  }
}

namespace {

/// The order of least multiplications: cut[i][j] splits the product of matrices i..j.
std::vector<std::vector<size_t>> cheapestCuts(const std::vector<double> &sizes) {
  size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; length++)
    for (size_t i = 0; i + length < n; i++) {
      size_t j = i + length;
      cost[i][j] = HUGE_VAL;
      for (size_t k = i; k < j; k++) {
        double c = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (c < cost[i][j]) {
          cost[i][j] = c;
          cut[i][j] = k;
        }
      }
    }
  return cut;
}
Tensor productOf(const std::vector<Tensor> &m, const std::vector<std::vector<size_t>> &cut, size_t i, size_t j) {
  if (i == j)
    return m[i];
  size_t k = cut[i][j];
  return mmChecked(productOf(m, cut, i, k), productOf(m, cut, k + 1, j), Out());
}

} // namespace

/// All but the outermost are matrices; vectors at the ends are a row and a column.
Tensor multiDot(TensorList tensors) {
  size_t n = tensors.size();
  if (n < 2)
    fail("multi_dot(): expected at least 2 tensors but got " + std::to_string(n));
  std::vector<Tensor> m(tensors.begin(), tensors.end());
  bool row = m[0]->rank == 1, column = m[n - 1]->rank == 1;
  if (row)
    m[0] = unsqueezeDim(m[0], 0);
  if (column)
    m[n - 1] = unsqueezeDim(m[n - 1], 1);
  std::vector<double> sizes = {m[0]->rank == 2 ? double(m[0]->sizes()[0]) : 0};
  for (size_t i = 0; i < n; i++) {
    if (m[i]->rank != 2)
      fail("multi_dot(): tensor " + std::to_string(i) + " must be 2D but got " + rankText(tensors[i]));
    needSameTypes(m[0], m[i], "multi_dot");
    if (i && m[i - 1]->sizes()[1] != m[i]->sizes()[0])
      fail("multi_dot(): tensors " + std::to_string(i - 1) + " and " + std::to_string(i) + " with shapes " +
           tensors[i - 1]->dims().str() + " and " + tensors[i]->dims().str() + " cannot be multiplied");
    sizes.push_back(double(m[i]->sizes()[1]));
  }
  Tensor out = productOf(m, cheapestCuts(sizes), 0, n - 1);
  Dims shape;
  if (!row)
    shape.push(out->sizes()[0]);
  if (!column)
    shape.push(out->sizes()[1]);
  return shape.size() == 2 ? out : reshaped(out, shape);
}
Tensor chainMatmul(TensorList matrices) {
  for (const Tensor &t : matrices)
    if (t->rank != 2)
      fail("chain_matmul(): Tensor dimension is " + std::to_string(t->rank) + ", expected 2 instead");
  if (matrices.empty())
    fail("chain_matmul(): Expected one or more matrices");
  return matrices.size() == 1 ? matrices[0] : multiDot(matrices);
}

/// y[k] = x1' W[k] x2 + b[k]: x1 W first.
Tensor bilinearForm(const Tensor &input1, const Tensor &input2, const Tensor &weight, const OptTensor &bias) {
  if (input1->rank != input2->rank || !input1->rank || weight->rank != 3)
    fail("bilinear(): input dimensions do not match: got " + std::to_string(input1->rank) + " and " +
         std::to_string(input2->rank) + ", and a weight of " + std::to_string(weight->rank) + " dimensions");
  int r = input1->rank;
  for (int i = 0; i + 1 < r; i++)
    if (input1->sizes()[i] != input2->sizes()[i])
      fail("bilinear(): input batch dimensions do not match at dim " + std::to_string(i) + ": got " +
           std::to_string(input1->sizes()[i]) + " and " + std::to_string(input2->sizes()[i]));
  int64_t k = weight->sizes()[0], m = weight->sizes()[1], n = weight->sizes()[2];
  if (input1->sizes()[r - 1] != m || input2->sizes()[r - 1] != n)
    fail("bilinear(): input sizes do not match weight size: got " + std::to_string(input1->sizes()[r - 1]) + " and " +
         std::to_string(input2->sizes()[r - 1]) + " but expected " + std::to_string(m) + " and " + std::to_string(n));
  if (bias.defined() && (bias->rank != 1 || bias->sizes()[0] != k))
    fail("bilinear(): bias size does not match weight size: got " + bias->dims().str() + " but expected [" +
         std::to_string(k) + "]");
  Dims shape(input1->sizes(), r - 1);
  int64_t rows = shape.numel();
  DType t = input1->dtype, c = computeType(t);
  Tensor w = reshaped(permuteDims(as(weight, c), {1, 0, 2}), Dims({m, k * n}));
  Tensor x = reshaped(mmChecked(reshaped(as(input1, c), Dims({rows, m})), w, Out()), Dims({rows, k, n}));
  Tensor y = reshaped(bmmChecked(x, reshaped(as(input2, c), Dims({rows, n, 1})), Out()), Dims({rows, k}));
  if (bias.defined())
    y = callOp(OpId::Add, {y, as(bias, c)});
  shape.push(k);
  return as(reshaped(y, shape), t);
}

} // namespace torchc::composite
