//===- CompositeMath.td - arithmetic and reductions ---------------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITEMATH_TD
#define TORCHC_OPS_COMPOSITEMATH_TD

include "OpSpec.td"

defvar functionMethod = ["function", "method"];
defvar reducing = ["function", "method", "outCopy"];

def : Composite<"`value` where mask is true", [
  Api<"masked_fill(Tensor input, Tensor mask, Operand value) -> Tensor", ["function", "method", "inplace"], "maskedFill">]>;
def : Composite<"equal shapes, types and elements", [
  Api<"equal(Tensor input, Tensor other) -> bool", ["function", "method"], "equalAll">,
  Api<"allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool", ["function", "method"], "allClose">]>;

//===-- reductions -----------------------------------------------------------------------------------------------===//

def : Composite<"sum / n (N4); floating types only", [
  Api<"mean(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", reducing, "meanDims">]>;
foreach f = [["var", "mean squared distance from the mean", "varDims", "varUnbiased", "varAll"],
             ["std", "its square root", "stdDims", "stdUnbiased", "stdAll"]] in
  def : Composite<f[1] # ", with `correction` fewer degrees of freedom", [
    Api<f[0] # "(Tensor input, bool unbiased=True) -> Tensor", reducing, f[4]>,
    Api<f[0] # "(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor", reducing, f[2]>,
    Api<f[0] # "(Tensor input, int[]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", reducing, f[3]>]>;
def : Composite<"var, or std, and mean", [
  Api<"var_mean(Tensor input, bool unbiased=True) -> (Tensor var, Tensor mean)", functionOnly, "varMeanAll">,
  Api<"var_mean(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> (Tensor var, Tensor mean)", functionOnly, "varMean">,
  Api<"var_mean(Tensor input, int[]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor var, Tensor mean)", functionOnly, "varMeanUnbiased">,
  Api<"std_mean(Tensor input, bool unbiased=True) -> (Tensor std, Tensor mean)", functionOnly, "stdMeanAll">,
  Api<"std_mean(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> (Tensor std, Tensor mean)", functionOnly, "stdMean">,
  Api<"std_mean(Tensor input, int[]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor std, Tensor mean)", functionOnly, "stdMeanUnbiased">]>;
def : Composite<"sum and mean of what isn't NaN", [
  Api<"nansum(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", reducing, "nanSum">,
  Api<"nanmean(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", reducing, "nanMean">]>;
def : Composite<"number of elements that aren't 0", [
  Api<"count_nonzero(Tensor input, int[]? dim=None) -> Tensor", reducing, "countNonzero">]>;
def : Composite<"smallest and largest element", [
  Api<"aminmax(Tensor input, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", functionMethod, "aminMax">]>;
def : Composite<"norms of vectors (N4): 2, 1, inf, -inf, 0 (the count) and any other power", [
  Api<"norm(Tensor input, Scalar? p=2, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", reducing, "normPower">,
  Api<"norm(Tensor input, str p, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", reducing, "normNamed">,
  Api<"linalg_vector_norm(Tensor x, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", ["function", "outCopy"], "vectorNormDims">,
  Api<"dist(Tensor input, Tensor other, Scalar p=2) -> Tensor", functionMethod, "distOf">]>;
def : Composite<"the largest element; with dim (values, indices); with a tensor the larger of two", [
  Api<"max(Tensor input) -> Tensor", reducing, "maxAll">,
  Api<"max(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "maxDim">,
  Api<"max(Tensor input, Tensor other) -> Tensor", reducing, "maxOther">]>;
def : Composite<"the smallest element; with dim (values, indices); with a tensor the smaller of two", [
  Api<"min(Tensor input) -> Tensor", reducing, "minAll">,
  Api<"min(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "minDim">,
  Api<"min(Tensor input, Tensor other) -> Tensor", reducing, "minOther">]>;
def : Composite<"the largest (smallest) element so far along dim, and the index of its latest place", [
  Api<"cummax(Tensor input, int dim) -> (Tensor values, Tensor indices)", functionMethod, "cumMax">,
  Api<"cummin(Tensor input, int dim) -> (Tensor values, Tensor indices)", functionMethod, "cumMin">]>;
def : Composite<"is any (every) element non-zero?", [
  Api<"any(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor", reducing, "anyDims">,
  Api<"all(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor", reducing, "allDims">]>;

#endif
