//===- ControlOps.td - ops of the dialect that are not in the op table ------------------------------------------===//
//
// Ops with regions, which nodes with subgraphs (dialects/trace/Trace.h) become. Their regions see nothing from outside:
// whatever they need comes in by their arguments.
//
//===----------------------------------------------------------------------------------------------------------===//

include "OpSpec.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Torchc_ControlOp<string mnemonic> : Op<Torchc_Dialect, mnemonic,
    [IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock]> {
  let hasVerifier = 1;
  let hasRegionVerifier = 0;
}

def Torchc_CondOp : Torchc_ControlOp<"cond"> {
  let summary = "the results of one of two regions, chosen by a predicate";
  let arguments = (ins AnyRankedTensor:$predicate, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$whenTrue, SizedRegion<1>:$whenFalse);
  let assemblyFormat = [{
    $predicate `(` $inputs `)` $whenTrue `else` $whenFalse attr-dict `:` functional-type(operands, results)
  }];
}

def Torchc_WhileLoopOp : Torchc_ControlOp<"while_loop"> {
  let summary = "while the first region yields true, the second gives the first inputs anew";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$goesOn, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` $goesOn `do` $body attr-dict `:` functional-type(operands, results)
  }];
}

def Torchc_YieldOp : Op<Torchc_Dialect, "yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["CondOp", "WhileLoopOp"]>]> {
  let summary = "what a region gives";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
}
