//===- Composite.td - API over the primitives; bodies in frontends/eager/composite ---------------------------===//
//
// No ops of their own: tracer, tape and compiler see the primitives they are made of. Losses and other functions of
// torch.nn.functional are plain functions here; python/torchc/nn/functional.py gives them their public place.

#ifndef TORCHC_OPS_COMPOSITE_TD
#define TORCHC_OPS_COMPOSITE_TD

include "OpSpec.td"

defvar functionOnly = ["function"];
defvar methodOnly = ["method"];
defvar inplaceOnly = ["inplace"];

//===-- creation -----------------------------------------------------------------------------------------------===//

def : Composite<"a tensor of zeros", [
  Api<"zeros(int[] size, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "zerosOf">]>;
def : Composite<"a tensor of ones", [
  Api<"ones(int[] size, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "onesOf">]>;
def : Composite<"uninitialised memory", [
  Api<"empty(int[] size, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "emptyOf">]>;
def : Composite<"a tensor of one number; its type is the number's unless dtype is given", [
  Api<"full(int[] size, Scalar fill_value, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "fullOf">]>;
def : Composite<"zeros of another tensor's shape", [
  Api<"zeros_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "zerosLike">]>;
def : Composite<"ones of another tensor's shape", [
  Api<"ones_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "onesLike">]>;
def : Composite<"uninitialised memory of another tensor's shape", [
  Api<"empty_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "emptyLike">]>;
def : Composite<"one number in another tensor's shape", [
  Api<"full_like(Tensor input, Scalar fill_value, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "fullLike">]>;
def : Composite<"start, start + step, ... below end; one number alone is the end", [
  Api<"arange(Scalar start, Scalar? end=None, Scalar step=1, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "arangeOf">]>;
def : Composite<"ones on the diagonal", [
  Api<"eye(int n, int? m=None, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "eyeOf">]>;
def : Composite<"uniform random numbers of [0, 1)", [
  Api<"rand(int[] size, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "randOf">]>;
def : Composite<"uniform random numbers of [0, 1) in another tensor's shape", [
  Api<"rand_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "randLike">]>;
def : Composite<"filled with uniform random numbers of [from, to)", [
  Api<"uniform(Tensor input, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor", inplaceOnly, "uniformInto">]>;

//===-- copies and types ---------------------------------------------------------------------------------------===//

def : Composite<"a copy with memory of its own", [
  Api<"clone(Tensor input) -> Tensor", ["function", "method"], "cloneOf">]>;
def : Composite<"the tensor itself if its memory is row-major, else a copy that is", [
  Api<"contiguous(Tensor input) -> Tensor", methodOnly, "contiguousTensor">]>;
def : Composite<"a view that autograd doesn't follow", [
  Api<"detach(Tensor input) -> Tensor", ["function", "method"], "detached">]>;
def : Composite<"the tensor in another type; itself if nothing changes and copy isn't set", [
  Api<"to(Tensor input, DType? dtype=None, Device? device=None, bool non_blocking=False, bool copy=False) -> Tensor", methodOnly, "toDType">,
  Api<"type_as(Tensor input, Tensor other) -> Tensor", methodOnly, "typeAs">]>;
foreach t = [["float", "F32"], ["double", "F64"], ["half", "F16"], ["bfloat16", "BF16"], ["int", "I32"],
             ["long", "I64"], ["short", "I16"], ["char", "I8"], ["byte", "U8"], ["bool", "Bool"]] in
  def : Composite<"the tensor as " # t[0], [
    Api<t[0] # "(Tensor input) -> Tensor", methodOnly, "to" # t[1]>]>;
def : Composite<"overwritten with src, broadcast and converted", [
  Api<"copy(Tensor input, Tensor src, bool non_blocking=False) -> Tensor", inplaceOnly, "copyInto">]>;
def : Composite<"overwritten with one number", [
  Api<"fill(Tensor input, Operand value) -> Tensor", inplaceOnly, "fillWith">,
  Api<"zero(Tensor input) -> Tensor", inplaceOnly, "fillZero">]>;

//===-- shapes -------------------------------------------------------------------------------------------------===//

def : Composite<"dimensions of size 1 removed", [
  Api<"squeeze(Tensor input) -> Tensor", ["function", "method"], "squeezeAll">,
  Api<"squeeze(Tensor input, int dim) -> Tensor", ["function", "method"], "squeezeDim">]>;
def : Composite<"a dimension of size 1 inserted", [
  Api<"unsqueeze(Tensor input, int dim) -> Tensor", ["function", "method"], "unsqueezeDim">]>;
def : Composite<"dimensions start_dim to end_dim joined", [
  Api<"flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor", ["function", "method"], "flattenDims">,
  Api<"ravel(Tensor input) -> Tensor", ["function", "method"], "ravelAll">]>;
def : Composite<"dimensions in another order", [
  Api<"permute(Tensor input, int[] dims) -> Tensor", ["function", "method"], "permuteDims">]>;
def : Composite<"another tensor's shape", [
  Api<"expand_as(Tensor input, Tensor other) -> Tensor", methodOnly, "expandAs">,
  Api<"view_as(Tensor input, Tensor other) -> Tensor", methodOnly, "viewAs">,
  Api<"reshape_as(Tensor input, Tensor other) -> Tensor", methodOnly, "reshapeAs">]>;
def : Composite<"`length` indices of a dimension from `start` on", [
  Api<"narrow(Tensor input, int dim, int start, int length) -> Tensor", ["function", "method"], "narrowDim">]>;
def : Composite<"one index of a dimension", [
  Api<"select(Tensor input, int dim, int index) -> Tensor", ["function", "method"], "selectIndex">,
  Api<"unbind(Tensor input, int dim=0) -> Tensor[]", ["function", "method"], "unbindDim">]>;
def : Composite<"pieces along a dimension", [
  Api<"split(Tensor input, int split_size, int dim=0) -> Tensor[]", ["function", "method"], "splitEvery">,
  Api<"split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]", ["function", "method"], "splitSizes">,
  Api<"chunk(Tensor input, int chunks, int dim=0) -> Tensor[]", ["function", "method"], "chunkDim">]>;
def : Composite<"tensors joined along a new dimension", [
  Api<"stack(Tensor[] tensors, int dim=0) -> Tensor", functionOnly, "stackNew">]>;

//===-- arithmetic ---------------------------------------------------------------------------------------------===//

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
def : Composite<"product times alpha plus input times beta; beta 0 doesn't read input", [
  Api<"addmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", ["function", "method"], "addmmScaled">]>;
def : Composite<"matrix times vector", [
  Api<"mv(Tensor input, Tensor vec) -> Tensor", ["function", "method"], "mvChecked">]>;
def : Composite<"equal shapes, types and elements", [
  Api<"equal(Tensor input, Tensor other) -> bool", ["function", "method"], "equalAll">,
  Api<"allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool", ["function", "method"], "allClose">]>;

//===-- reductions ---------------------------------------------------------------------------------------------===//

def : Composite<"sum / n (N4); floating types only", [
  Api<"mean(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor", ["function", "method"], "meanDims">]>;
def : Composite<"mean squared distance from the mean, with `correction` fewer degrees of freedom", [
  Api<"var(Tensor input, int[]? dim=None, *, Scalar correction=1, bool keepdim=False) -> Tensor", ["function", "method"], "varDims">,
  Api<"std(Tensor input, int[]? dim=None, *, Scalar correction=1, bool keepdim=False) -> Tensor", ["function", "method"], "stdDims">]>;
def : Composite<"the largest element; with dim (values, indices); with a tensor the larger of two", [
  Api<"max(Tensor input) -> Tensor", ["function", "method"], "maxAll">,
  Api<"max(Tensor input, int dim, bool keepdim=False) -> (Tensor, Tensor)", ["function", "method"], "maxDim">,
  Api<"max(Tensor input, Tensor other) -> Tensor", ["function", "method"], "maxOther">]>;
def : Composite<"the smallest element; with dim (values, indices); with a tensor the smaller of two", [
  Api<"min(Tensor input) -> Tensor", ["function", "method"], "minAll">,
  Api<"min(Tensor input, int dim, bool keepdim=False) -> (Tensor, Tensor)", ["function", "method"], "minDim">,
  Api<"min(Tensor input, Tensor other) -> Tensor", ["function", "method"], "minOther">]>;
def : Composite<"is any (every) element non-zero?", [
  Api<"any(Tensor input) -> Tensor", ["function", "method"], "anyOf">,
  Api<"any(Tensor input, int dim, bool keepdim=False) -> Tensor", ["function", "method"], "anyDim">,
  Api<"all(Tensor input) -> Tensor", ["function", "method"], "allOf">,
  Api<"all(Tensor input, int dim, bool keepdim=False) -> Tensor", ["function", "method"], "allDim">]>;

//===-- torch.nn.functional ------------------------------------------------------------------------------------===//

def : Composite<"input times weight transposed (N3), then bias", [
  Api<"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", functionOnly, "linearLayer">]>;
def : Composite<"ones at the index in a new last dimension of int64; num_classes -1 takes the largest index + 1", [
  Api<"one_hot(Tensor input, int num_classes=-1) -> Tensor", functionOnly, "oneHot">]>;
def : Composite<"minus the log-probability of the target class; reduction is none, mean or sum", [
  Api<"nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean') -> Tensor", functionOnly, "nllLoss">,
  Api<"cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean', float label_smoothing=0.0) -> Tensor", functionOnly, "crossEntropy">]>;
def : Composite<"squared difference", [
  Api<"mse_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor", functionOnly, "mseLoss">]>;

#endif
