//===- Complex.td - between complex numbers and their parts --------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPLEX_TD
#define TORCHC_OPS_COMPLEX_TD

include "OpSpec.td"

def Torchc_ViewAsRealOp : View<"view_as_real", (ins)> {
  let summary = "complex numbers as pairs of real and imaginary part in a last dimension of size 2";
  let shape = RealPartsShape;
  let api = [Api<"view_as_real(Tensor input) -> Tensor", ["function"]>];
  let vjp = [(op<"view_as_complex"> (op<"contiguous"> $g))];
  let flags = ["view", "conjugates"];
}

def Torchc_ViewAsComplexOp : View<"view_as_complex", (ins)> {
  let summary = "pairs in a last dimension of size 2 as complex numbers; its stride must be 1, the others even";
  let shape = ComplexPairsShape;
  let api = [Api<"view_as_complex(Tensor input) -> Tensor", ["function", "castSingle"]>];
  let vjp = [(op<"view_as_real"> $g)];
  let flags = ["view", "conjugates"];
}

// Not a view: conj() computes. There is no conjugate bit, so is_conj() is always false.
def Torchc_ConjOp : ElementwiseUnary<"conj"> {
  let summary = "complex numbers with the imaginary part negated";
  let complex = "conj";
  let vjp = [(op<"conj"> $g)];
  let flags = ["conjugates"];
}

#endif
