//===- Composite.td - API over the primitives; bodies in frontends/eager/composite ---------------------------===//
//
// No ops of their own: tracer, tape and compiler see the primitives they are made of. One file per area; losses and
// other functions of torch.nn.functional are plain functions here, python/torchc/nn/functional.py gives them their
// public place.

#ifndef TORCHC_OPS_COMPOSITE_TD
#define TORCHC_OPS_COMPOSITE_TD

include "OpSpec.td"

defvar functionOnly = ["function"];
defvar methodOnly = ["method"];
defvar inplaceOnly = ["inplace"];

include "CompositeCreation.td"
include "CompositeIndexing.td"
include "CompositeShape.td"
include "CompositeMath.td"
include "CompositePointwise.td"
include "CompositeComplex.td"
include "CompositeContraction.td"
include "CompositeNN.td"
include "CompositeRandom.td"
include "CompositeSort.td"
include "CompositeActivation.td"

#endif
