//===- CompositeMath.td - arithmetic and reductions ---------------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITEMATH_TD
#define TORCHC_OPS_COMPOSITEMATH_TD

include "OpSpec.td"

def : Composite<"x to a power that products and roots express: 0.5, 1, 2, 3, -1, -2", [
  Api<"pow(Tensor input, Scalar exponent) -> Tensor", ["function", "method"], "powNumber">,
  Api<"square(Tensor input) -> Tensor", ["function", "method"], "squareOf">]>;
def : Composite<"max with min's limit, then min with max's", [
  Api<"clamp(Tensor input, Scalar? min=None, Scalar? max=None) -> Tensor", ["function", "method", "inplace"], "clampNumbers">,
  Api<"clip(Tensor input, Scalar? min=None, Scalar? max=None) -> Tensor", ["function", "method"], "clipNumbers">]>;
def : Composite<"true for NaN", [
  Api<"isnan(Tensor input) -> Tensor", ["function", "method"], "isNanOf">]>;
def : Composite<"`value` where mask is true", [
  Api<"masked_fill(Tensor input, Tensor mask, Operand value) -> Tensor", ["function", "method", "inplace"], "maskedFill">]>;
def : Composite<"equal shapes, types and elements", [
  Api<"equal(Tensor input, Tensor other) -> bool", ["function", "method"], "equalAll">,
  Api<"allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool", ["function", "method"], "allClose">]>;

//===-- reductions -----------------------------------------------------------------------------------------------===//

def : Composite<"sum / n (N4); floating types only", [
  Api<"mean(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", ["function", "method"], "meanDims">]>;
def : Composite<"mean squared distance from the mean, with `correction` fewer degrees of freedom", [
  Api<"var(Tensor input, int[]? dim=None, *, Scalar correction=1, bool keepdim=False) -> Tensor", ["function", "method"], "varDims">,
  Api<"std(Tensor input, int[]? dim=None, *, Scalar correction=1, bool keepdim=False) -> Tensor", ["function", "method"], "stdDims">]>;
def : Composite<"the largest element; with dim (values, indices); with a tensor the larger of two", [
  Api<"max(Tensor input) -> Tensor", ["function", "method"], "maxAll">,
  Api<"max(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "maxDim">,
  Api<"max(Tensor input, Tensor other) -> Tensor", ["function", "method"], "maxOther">]>;
def : Composite<"the smallest element; with dim (values, indices); with a tensor the smaller of two", [
  Api<"min(Tensor input) -> Tensor", ["function", "method"], "minAll">,
  Api<"min(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "minDim">,
  Api<"min(Tensor input, Tensor other) -> Tensor", ["function", "method"], "minOther">]>;
def : Composite<"is any (every) element non-zero?", [
  Api<"any(Tensor input) -> Tensor", ["function", "method"], "anyOf">,
  Api<"any(Tensor input, int dim, bool keepdim=False) -> Tensor", ["function", "method"], "anyDim">,
  Api<"all(Tensor input) -> Tensor", ["function", "method"], "allOf">,
  Api<"all(Tensor input, int dim, bool keepdim=False) -> Tensor", ["function", "method"], "allDim">]>;

#endif
