//===- Ops.td - the op table in record order -------------------------------------------------------------------===//

include "Elementwise.td"
include "Reduction.td"
include "Contraction.td"
include "Pooling.td"
include "View.td"
include "Indexing.td"
include "Creation.td"
include "Random.td"
include "Order.td"
include "Fused.td"
include "Composite.td"
