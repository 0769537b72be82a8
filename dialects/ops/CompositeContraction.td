//===- CompositeContraction.td - matrix products and sums of products ---------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITECONTRACTION_TD
#define TORCHC_OPS_COMPOSITECONTRACTION_TD

include "OpSpec.td"

def : Composite<"product times alpha plus input times beta; beta 0 doesn't read input", [
  Api<"addmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", ["function", "method", "inplaceCopy", "outCopy", "castLow"], "addmmScaled">]>;
def : Composite<"matrix times vector", [
  Api<"mv(Tensor input, Tensor vec) -> Tensor", ["function", "method", "outCopy"], "mvChecked">]>;

foreach p = [["addmv", "Tensor mat, Tensor vec", ""], ["addr", "Tensor vec1, Tensor vec2", ""],
             ["addbmm", "Tensor batch1, Tensor batch2", "castLow"],
             ["baddbmm", "Tensor batch1, Tensor batch2", "castLow"]] in
  def : Composite<"product times alpha plus input times beta; beta 0 doesn't read input", [
    Api<p[0] # "(Tensor input, " # p[1] # ", *, Scalar beta=1, Scalar alpha=1) -> Tensor", ["function", "method", "inplaceCopy", "outCopy", p[2]], p[0] # "Scaled">]>;
def : Composite<"products of vectors, and of all pairs of elements", [
  Api<"inner(Tensor input, Tensor other) -> Tensor", ["function", "method", "outCopy"], "innerProduct">,
  Api<"outer(Tensor input, Tensor vec2) -> Tensor", ["function", "method", "outCopy"], "outerProduct">,
  Api<"ger(Tensor input, Tensor vec2) -> Tensor", ["function", "method", "outCopy"], "outerProduct">,
  Api<"vdot(Tensor input, Tensor other) -> Tensor", ["function", "method", "outCopy"], "vdotOf">,
  Api<"kron(Tensor input, Tensor other) -> Tensor", ["function", "method", "outCopy"], "kronecker">]>;
def : Composite<"vector product of three dimensions; without dim of the first dimension of size 3", [
  Api<"cross(Tensor input, Tensor other, int? dim=None) -> Tensor", ["function", "method", "outCopy"], "crossOf">,
  Api<"linalg_cross(Tensor input, Tensor other, *, int dim=-1) -> Tensor", ["private"], "crossAlong">]>;
def : Composite<"products of labelled dimensions, summed over those that the output doesn't name", [
  Api<"einsum(str equation, Tensor[] operands) -> Tensor", ["private"], "einsumOf">]>;
def : Composite<"sum over pairs of dimensions", [
  Api<"tensordot(Tensor input, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", ["private", "castLow"], "tensorDot">]>;
def : Composite<"a matrix times itself", [
  Api<"matrix_power(Tensor input, int n) -> Tensor", ["function", "method", "outCopy"], "matrixPower">]>;
def : Composite<"a product of matrices in the order of least work", [
  Api<"chain_matmul(Tensor[] *matrices) -> Tensor", ["function", "castLow"], "chainMatmul">,
  Api<"linalg_multi_dot(Tensor[] tensors) -> Tensor", ["private", "castLow"], "multiDot">]>;
def : Composite<"x1' W[k] x2 + b[k]", [
  Api<"bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", functionOnly, "bilinearForm">]>;

#endif
