//===- CompositeSort.td - order statistics, searches, sets and counts ---------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITESORT_TD
#define TORCHC_OPS_COMPOSITESORT_TD

include "OpSpec.td"

def : Composite<"values in order and their places: stable, NaN above all, -0 equal to +0", [
  Api<"sort(Tensor input, int dim=-1, bool descending=False, bool stable=False) -> (Tensor values, Tensor indices)", ["function", "method"], "sortDim">,
  Api<"argsort(Tensor input, int dim=-1, bool descending=False, bool stable=False) -> Tensor", ["function", "method"], "argsortDim">,
  Api<"msort(Tensor input) -> Tensor", ["function", "method", "outCopy"], "msortFirst">]>;
def : Composite<"the k largest (or smallest) in order; the k-th smallest", [
  Api<"topk(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", ["function", "method"], "topkDim">,
  Api<"kthvalue(Tensor input, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "kthValue">]>;
def : Composite<"the lower middle value; NaN where there is one, or without them", [
  Api<"median(Tensor input) -> Tensor", ["function", "method"], "medianAll">,
  Api<"median(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "medianDim">,
  Api<"nanmedian(Tensor input) -> Tensor", ["function", "method"], "nanMedianAll">,
  Api<"nanmedian(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "nanMedianDim">]>;
def : Composite<"the most frequent value, the smallest of several, and its last place", [
  Api<"mode(Tensor input, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", ["function", "method"], "modeDim">]>;
def : Composite<"where values would be inserted into ascending boundaries", [
  Api<"searchsorted(Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", ["function", "outCopy"], "searchSortedTensor">,
  Api<"searchsorted(Tensor sorted_sequence, Scalar input, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor", functionOnly, "searchSortedNumber">,
  Api<"bucketize(Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", ["function", "outCopy"], "bucketizeTensor">,
  Api<"bucketize(Scalar input, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", functionOnly, "bucketizeNumber">]>;
def : Composite<"the different values in order, where each element went, how often each came", [
  Api<"unique(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor|Tensor[]", ["function", "method"], "uniqueOf">,
  Api<"unique_consecutive(Tensor input, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor|Tensor[]", ["function", "method"], "uniqueConsecutive">]>;
def : Composite<"how often each number (or bin) comes", [
  Api<"bincount(Tensor input, Tensor? weights=None, int minlength=0) -> Tensor", ["function", "method"], "binCount">,
  Api<"histc(Tensor input, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", ["function", "method", "outCopy"], "histC">]>;
def : Composite<"is each element one of a set?", [
  Api<"isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", ["function", "outCopy"], "isInTensor">,
  Api<"isin(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor", functionOnly, "isInNumber">,
  Api<"isin(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", functionOnly, "numberIsIn">]>;

#endif
