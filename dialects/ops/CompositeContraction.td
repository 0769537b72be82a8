//===- CompositeContraction.td - matrix products and sums of products ---------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITECONTRACTION_TD
#define TORCHC_OPS_COMPOSITECONTRACTION_TD

include "OpSpec.td"

def : Composite<"product times alpha plus input times beta; beta 0 doesn't read input", [
  Api<"addmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", ["function", "method"], "addmmScaled">]>;
def : Composite<"matrix times vector", [
  Api<"mv(Tensor input, Tensor vec) -> Tensor", ["function", "method"], "mvChecked">]>;

#endif
