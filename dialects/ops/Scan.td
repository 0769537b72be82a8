//===- Scan.td - running reductions along a dimension (N4) ----------------------------------------------------------===//

#ifndef TORCHC_OPS_SCAN_TD
#define TORCHC_OPS_SCAN_TD

include "OpSpec.td"

// `dim` isn't negative. `reverse` runs from the last element to the first. The body combines what is there with the next
// element, or says when that displaces it.
class Scan<string mnemonic> : Torchc_Op<mnemonic> {
  let family = ReductionFamily;
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim, BoolAttr:$reverse);
  let shape = ScanShape;
}

def Torchc_CumsumOp : Scan<"cumsum"> {
  let summary = "running sums; integers and bool in int64";
  let complex = "cumsum";
  let api = [Api<"cumsum(Tensor input, int dim, *, DType? dtype=None) -> Tensor", allKinds, "cumSum">];
  let scalar = [(Add (Arg 0), (Arg 1))];
  let vjpFn = "cumsumVjp";
  let onnx = ["CumSum since 14"];
}
def Torchc_CumprodOp : Scan<"cumprod"> {
  let summary = "running products; integers and bool in int64";
  let complex = "cumprod";
  let api = [Api<"cumprod(Tensor input, int dim, *, DType? dtype=None) -> Tensor", allKinds, "cumProd">];
  let scalar = [(Mul (Arg 0), (Arg 1))];
  let vjpFn = "cumprodVjp";
  let vjpSaves = ["x", "result"];
}
def Torchc_CummaxIndexOp : Scan<"cummax_index"> {
  let summary = "index of the latest largest element so far; NaN is the largest";
  let scalar = [(Ge (Arg 1), (Arg 0))];
}
def Torchc_CumminIndexOp : Scan<"cummin_index"> {
  let summary = "index of the latest smallest element so far; NaN is the smallest";
  let scalar = [(Le (Arg 1), (Arg 0))];
}

#endif
