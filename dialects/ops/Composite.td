//===- Composite.td - API over the primitives; bodies in frontends/eager/composite ---------------------------===//

#ifndef TORCHC_OPS_COMPOSITE_TD
#define TORCHC_OPS_COMPOSITE_TD

include "OpSpec.td"

#endif
