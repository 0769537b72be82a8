//===- CompositeCreation.td - tensors from sizes, numbers and random streams; copies and types --------------------===//

#ifndef TORCHC_OPS_COMPOSITECREATION_TD
#define TORCHC_OPS_COMPOSITECREATION_TD

include "OpSpec.td"

def : Composite<"a tensor of zeros", [
  Api<"zeros(int[] size, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "zerosOf">]>;
def : Composite<"a tensor of ones", [
  Api<"ones(int[] size, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "onesOf">]>;
def : Composite<"uninitialised memory", [
  Api<"empty(int[] size, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "emptyOf">]>;
def : Composite<"a tensor of one number; its type is the number's unless dtype is given", [
  Api<"full(int[] size, Scalar fill_value, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "fullOf">]>;
def : Composite<"zeros of another tensor's shape", [
  Api<"zeros_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "zerosLike">]>;
def : Composite<"ones of another tensor's shape", [
  Api<"ones_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "onesLike">]>;
def : Composite<"uninitialised memory of another tensor's shape", [
  Api<"empty_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "emptyLike">]>;
def : Composite<"one number in another tensor's shape", [
  Api<"full_like(Tensor input, Scalar fill_value, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "fullLike">]>;
def : Composite<"start, start + step, ... below end; one number alone is the end", [
  Api<"arange(Scalar start, Scalar? end=None, Scalar step=1, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "arangeOf">]>;
def : Composite<"ones on the diagonal", [
  Api<"eye(int n, int? m=None, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "eyeOf">]>;
def : Composite<"evenly spaced numbers, both ends included; powers of base whose exponents are", [
  Api<"linspace(Operand start, Operand end, int steps, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "linspaceOf">,
  Api<"logspace(Operand start, Operand end, int steps, float base=10.0, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "logspaceOf">]>;
def : Composite<"one number as a tensor without dimensions", [
  Api<"scalar_tensor(Scalar s, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "scalarTensor">]>;
def : Composite<"uninitialised memory with strides, or with the dimensions' order in memory", [
  Api<"empty_strided(int[] size, int[] stride, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "emptyStrided">,
  Api<"empty_permuted(int[] size, int[] physical_layout, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "emptyPermuted">]>;
def : Composite<"row and column of the elements of a triangle", [
  Api<"tril_indices(int row, int col, int offset=0, *, DType? dtype=None, Device? device=None) -> Tensor", functionOnly, "trilIndices">,
  Api<"triu_indices(int row, int col, int offset=0, *, DType? dtype=None, Device? device=None) -> Tensor", functionOnly, "triuIndices">]>;

//===-- copies and types ----------------------------------------------------------------------------------------===//

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
  Api<"copy(Tensor input, Tensor src, bool non_blocking=False) -> Tensor", inplaceOnly, "copyInto">,
  Api<"copy(Tensor input, Scalar src, bool non_blocking=False) -> Tensor", inplaceOnly, "copyNumber">]>;
def : Composite<"overwritten with one number", [
  Api<"fill(Tensor input, Operand value) -> Tensor", ["function", "inplace"], "fillWith">,
  Api<"zero(Tensor input) -> Tensor", inplaceOnly, "fillZero">]>;

#endif
