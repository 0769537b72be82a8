//===- Order.td - ops that compare values with each other: stable, NaN above all, -0 equal to +0 (N7) --------------===//
//
// Kernels are runtime/kernels/Sort. Values come from a gather at the indices, which has the gradient.

#ifndef TORCHC_OPS_ORDER_TD
#define TORCHC_OPS_ORDER_TD

include "OpSpec.td"

class Ordering<string mnemonic, dag args> : Torchc_Op<mnemonic> {
  let family = LibraryFamily;
  let arguments = args;
}

def Torchc_ArgsortOp
    : Ordering<"argsort", (ins AnyRankedTensor:$x, I64Attr:$dim, BoolAttr:$descending, I64Attr:$count)> {
  let summary = "the places of the first `count` values along a dimension in order, ties by ascending place";
  let shape = SortShape;
}

def Torchc_ArgmodeOp : Ordering<"argmode", (ins AnyRankedTensor:$x, I64Attr:$dim)> {
  let summary = "the last place of the most frequent value along a dimension, of several the smallest; size 1 stays";
  let shape = ModeShape;
}

// Rows of `sorted` belong to those of `values`, or its one row serves all.
def Torchc_SearchSortedOp
    : Ordering<"search_sorted", (ins AnyRankedTensor:$sorted, AnyRankedTensor:$values, BoolAttr:$right)> {
  let summary = "how many boundaries of the last dimension are below each value; right: not above";
  let shape = SearchShape;
}

// Not a value's order but the same family: a loop in the order of index (N4) that no generator makes.
def Torchc_ScatterReduceOp
    : Ordering<"scatter_reduce", (ins AnyRankedTensor:$x, AnyRankedTensor:$index, AnyRankedTensor:$source,
                                  I64Attr:$dim, I64Attr:$mode)> {
  let summary = "x with source's elements combined at index: mode 0 product, 1 largest, 2 smallest";
  let shape = ScatterShape;
  let vjpFn = "scatterReduceVjp";
  let vjpSaves = ["x", "index", "source", "result"];
  let flags = ["mayRaise"];
}

#endif
