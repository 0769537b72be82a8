#pragma once
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/autograd/Tape.h"

namespace torchc {

/// What `g`, the cotangent of the node's result, makes of an operand's gradient; undefined: none.
EagerValue derivative(Node *n, int operand, EagerBuilder &b, const NodeContext &context, const EagerValue &g);
/// Gives a derivative without history one of zeros by what the node saved, as PyTorch's have under create_graph.
void linkZeros(Tensor &d, Node *n, int operand, const NodeContext &context);

} // namespace torchc
