include "OpSpec.td"

def Torchc_NegOp : ElementwiseUnary<"neg"> {
  let summary = "-x";
  let api = [Api<"neg input">];
  let scalar = [(Neg $x)];
}
