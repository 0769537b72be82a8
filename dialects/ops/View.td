//===- View.td - ops that alias storage in eager and are values in the dialect ----------------------------===//

#ifndef TORCHC_OPS_VIEW_TD
#define TORCHC_OPS_VIEW_TD

include "OpSpec.td"

def Torchc_ReshapeOp : View<"reshape", (ins DenseI64ArrayAttr:$shape)> {
  let summary = "the same elements in row-major order under another shape";
  let shape = ReshapeShape;
  let api = [Api<"reshape(Tensor input, int[] shape) -> Tensor", ["function", "method"], "reshapeOrCopy">,
             Api<"view(Tensor input, int[] size) -> Tensor", ["method"], "viewSize">];
  let vjpFn = "reshapeVjp";
  let gradName = "view";
  let onnx = ["Reshape since 13"];
}

def Torchc_TransposeOp : View<"transpose", (ins I64Attr:$dim0, I64Attr:$dim1)> {
  let summary = "two dimensions exchanged";
  let shape = TransposeShape;
  let api = [Api<"transpose(Tensor input, int dim0, int dim1) -> Tensor", ["function", "method"], "transposeDims">,
             Api<"t(Tensor input) -> Tensor", ["function", "method"], "tMatrix">];
  let vjpFn = "transposeVjp";
  let onnx = ["Transpose since 13"];
}

def Torchc_ExpandOp : View<"expand", (ins DenseI64ArrayAttr:$shape)> {
  let summary = "size-1 and leading dimensions repeated without copying";
  let shape = ExpandShape;
  let api = [Api<"expand(Tensor input, int[] size) -> Tensor", ["method"], "expandSize">];
  let vjp = [(op<"identity"> $g)]; // the tape sums to the operand's shape
  let onnx = ["Expand since 13"];
}

// 0 <= start <= stop <= size and step >= 1: clamping is the API's.
def Torchc_SliceOp : View<"slice", (ins I64Attr:$dim, I64Attr:$start, I64Attr:$stop, I64Attr:$step)> {
  let summary = "every step-th index of one dimension in [start, stop)";
  let shape = SliceShape;
  let vjpFn = "sliceVjp";
  let onnx = ["Slice since 13"];
}

// Not a view: what `contiguous()` records where it copies.
def Torchc_ContiguousOp : ElementwiseUnary<"contiguous"> {
  let summary = "x in row-major memory";
  let complex = "partwise";
  let scalar = [(Arg 0)];
  let scalarBool = [(Arg 0)];
  let vjp = [(op<"identity"> $g)];
  let onnx = ["Identity since 13"];
  let flags = ["rowMajor", "unsigned", "float8"];
}

// `offset` counts from x's first element; x is row-major (the API sees to that), so offsets are its linear indices.
def Torchc_AsStridedOp
    : View<"as_strided", (ins DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$stride, I64Attr:$offset)> {
  let summary = "elements at offset + sum(index * stride) of row-major memory";
  let shape = AsStridedShape;
  let api = [Api<"as_strided(Tensor input, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
                 ["function", "method"], "asStrided">];
  let vjpFn = "asStridedVjp";
}

// Not a view: the value of x after `x.as_strided(...) = y`.
def Torchc_AsStridedUpdateOp : Torchc_Op<"as_strided_update"> {
  let summary = "x with the elements of as_strided(x) replaced by y";
  let family = FusedFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$stride,
                       I64Attr:$offset);
  let shape = AsStridedUpdateShape;
  let decompose = "asStridedUpdate";
  let vjpFn = "asStridedUpdateVjp";
  let flags = ["unsigned", "float8"];
}

// Not a view: the value of x after `x[slice] = y`. Views written in place become this at import.
def Torchc_SliceUpdateOp : Torchc_Op<"slice_update"> {
  let summary = "x with one strided slice replaced by y";
  let family = IndexingFamily;
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, I64Attr:$dim, I64Attr:$start, I64Attr:$stop,
                       I64Attr:$step);
  let shape = SliceUpdateShape;
  let vjpFn = "sliceUpdateVjp";
}

#endif
