//===- CompositeComplex.td - complex numbers and their parts --------------------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITECOMPLEX_TD
#define TORCHC_OPS_COMPOSITECOMPLEX_TD

include "OpSpec.td"

def : Composite<"complex numbers from parts of one float type; from absolute value and angle", [
  Api<"complex(Tensor real, Tensor imag) -> Tensor", ["function", "out"], "complexOf">,
  Api<"polar(Tensor abs, Tensor angle) -> Tensor", ["function", "out", "castSingle"], "polarOf">]>;
def : Composite<"the real part: a view of complex numbers, real ones as they are", [
  Api<"real(Tensor input) -> Tensor", functionOnly, "realOf">]>;
def : Composite<"the imaginary part of complex numbers, a view", [
  Api<"imag(Tensor input) -> Tensor", functionOnly, "imagOf">]>;
def : Composite<"the angle of complex numbers, in [-pi, pi]; of real ones 0, or pi below 0", [
  Api<"angle(Tensor input) -> Tensor", ["function", "method", "out"], "angleOf">]>;
def : Composite<"complex numbers with the imaginary part negated, computed at once; real ones as they are", [
  Api<"conj(Tensor input) -> Tensor", functionMethod, "conjOf">]>;
def : Composite<"complex numbers with the imaginary part negated; real ones copied", [
  Api<"conj_physical(Tensor input) -> Tensor", allKinds, "conjPhysical">]>;
def : Composite<"input itself, as conjugation and negation are never deferred", [
  Api<"resolve_conj(Tensor input) -> Tensor", functionMethod, "resolved">,
  Api<"resolve_neg(Tensor input) -> Tensor", functionMethod, "resolved">]>;
def : Composite<"false: conjugation and negation are never deferred", [
  Api<"is_conj(Tensor input) -> bool", functionMethod, "isDeferred">,
  Api<"is_neg(Tensor input) -> bool", functionMethod, "isDeferred">]>;

#endif
