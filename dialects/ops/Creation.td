//===- Creation.td - tensors from attributes ------------------------------------------------------------------===//

#ifndef TORCHC_OPS_CREATION_TD
#define TORCHC_OPS_CREATION_TD

include "OpSpec.td"

// `value` is a Python number (Int, Float or Bool attribute) that enters once, converted to dtype.
def Torchc_FullOp : Torchc_Op<"full"> {
  let summary = "a tensor of one repeated number";
  let complex = "full";
  let family = CreationFamily;
  let arguments = (ins DenseI64ArrayAttr:$shape, AnyAttr:$value, TypeAttr:$dtype);
  let shape = FullShape;
}

def Torchc_ArangeOp : Torchc_Op<"arange"> {
  let summary = "start + i*step for i in [0, size)";
  let family = CreationFamily;
  let arguments = (ins I64Attr:$size, AnyAttr:$start, AnyAttr:$step, TypeAttr:$dtype);
  let shape = ArangeShape;
  let onnx = ["Range since 11"];
}

#endif
