// Sums of the cotangents that reach one value (N10).
#pragma once
#include "frontends/autograd/Node.h"

namespace torchc {

/// Not an expanded or shared tensor: nobody else can see its memory.
bool ownedAlone(const Tensor &t);

/// a + b, in a's memory where nobody can tell.
Tensor addCotangents(const Tensor &a, const Tensor &b);

/// `sum` and the gradient of a slice of its value: `g` on the slice that the attributes of Slice say, elsewhere as it is.
Tensor addToSlice(Tensor sum, const Attr *slice, const Tensor &g);

} // namespace torchc
