//===- Reduction.td - reductions over axes, in the order of rule N4 ----------------------------------------===//

#ifndef TORCHC_OPS_REDUCTION_TD
#define TORCHC_OPS_REDUCTION_TD

include "OpSpec.td"

// `dims` are ascending and not negative; all axes are listed for a full reduction. The scalar body combines two values.

def Torchc_SumOp : Reduction<"sum"> {
  let summary = "sum over axes; integers and bool add in int64";
  let complex = "sum";
  let api = [Api<"sum(Tensor input, int[]? dim=None, bool keepdim=False, *, DType? dtype=None) -> Tensor",
                 ["function", "method", "outCopy"], "sumDims">];
  let scalar = [(Add (Arg 0), (Arg 1))];
  let vjpFn = "sumVjp";
  let onnx = ["ReduceSum since 13"];
}

def Torchc_ProdOp : Reduction<"prod"> {
  let summary = "product over axes; integers and bool multiply in int64";
  let complex = "prod";
  let api = [Api<"prod(Tensor input, *, DType? dtype=None) -> Tensor", ["function", "method", "outCopy", "castSingle"], "prodAll">,
             Api<"prod(Tensor input, int dim, bool keepdim=False, *, DType? dtype=None) -> Tensor",
                 ["function", "method", "outCopy", "castSingle"], "prodDim">];
  let scalar = [(Mul (Arg 0), (Arg 1))];
  let vjpFn = "prodVjp";
  let vjpSaves = ["x", "result"];
  let onnx = ["ReduceProd since 18"];
}

def Torchc_AmaxOp : Reduction<"amax"> {
  let summary = "largest element over axes; NaN propagates";
  let api = [Api<"amax(Tensor input, int[] dim=(), bool keepdim=False) -> Tensor", ["function", "method", "outSame"], "amaxDims">];
  let scalar = [(Max (Arg 0), (Arg 1))];
  let scalarBool = [(Or (Arg 0), (Arg 1))];
  let vjpFn = "extremumReduceVjp";
  let vjpSaves = ["x", "result"];
  let onnx = ["ReduceMax since 18"];
}

def Torchc_AminOp : Reduction<"amin"> {
  let summary = "smallest element over axes; NaN propagates";
  let api = [Api<"amin(Tensor input, int[] dim=(), bool keepdim=False) -> Tensor", ["function", "method", "outSame"], "aminDims">];
  let scalar = [(Min (Arg 0), (Arg 1))];
  let scalarBool = [(And (Arg 0), (Arg 1))];
  let vjpFn = "extremumReduceVjp";
  let vjpSaves = ["x", "result"];
  let onnx = ["ReduceMin since 18"];
}

// The result is the row-major index within the reduced axes.
def Torchc_ArgmaxOp : Reduction<"argmax"> {
  let summary = "index of the first largest element (first NaN), int64";
  let scalar = [(Gt (Arg 1), (Arg 0))]; // when a later element displaces the best so far, N7 settling the rest
  let api = [Api<"argmax(Tensor input, int? dim=None, bool keepdim=False) -> Tensor", ["function", "method", "outCopy"], "argmaxDim">];
  let shape = ArgReduceShape;
  let onnx = ["ArgMax since 13"];
}

def Torchc_ArgminOp : Reduction<"argmin"> {
  let summary = "index of the first smallest element (first NaN), int64";
  let scalar = [(Lt (Arg 1), (Arg 0))];
  let api = [Api<"argmin(Tensor input, int? dim=None, bool keepdim=False) -> Tensor", ["function", "method", "outCopy"], "argminDim">];
  let shape = ArgReduceShape;
  let onnx = ["ArgMin since 13"];
}

#endif
