#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

void matrixProduct(NodeRun &n) { n.set(matmul(n.tensor(0), n.tensor(1))); }

void gemm(NodeRun &n) {
  Tensor a = n.tensor(0), b = n.tensor(1);
  if (a.dim() != 2 || b.dim() != 2)
    n.invalid("expected two matrices, got ranks " + std::to_string(a.dim()) + " and " + std::to_string(b.dim()));
  Tensor product = matmul(n.intAttr("transA") ? t(a) : a, n.intAttr("transB") ? t(b) : b);
  double alpha = n.floatAttr("alpha"), beta = n.floatAttr("beta");
  if (alpha != 1)
    product = mul(product, isFloat(a.dtype()) ? Scalar(alpha) : Scalar(int64_t(alpha)));
  if (n.has(2) && beta != 0) {
    Tensor c = legacyBroadcast(n, product, n.tensor(2));
    product = add(product, beta == 1 ? c : mul(c, isFloat(a.dtype()) ? Scalar(beta) : Scalar(int64_t(beta))));
  }
  n.set(product);
}

const HandlerRow rows[] = {{"MatMul", matrixProduct}, {"Gemm", gemm}};

} // namespace

Rows productRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
