// The sizes of a recorded program computed anew from those of its inputs, by the rules that eager ops follow.
#pragma once
#include "frontends/jit/Recording.h"
#include <string>

namespace torchc::jit {

/// The same steps with nothing of the trace; lists of attributes are its own, strings borrow from `r`.
std::shared_ptr<Recording> copySteps(const Recording &r);

/// Gives a value sizes and strides (contiguous ones where only such are meant) and an offset in bytes.
void setLayout(Recording &r, uint32_t value, const Dims &sizes, const Dims &strides, int64_t offset);

/// Fills everything that steps define from the sizes of inputs and the attributes. Results with memory of their own lie in
/// it as those of `like` do, or of `other`, if that shows more. False: an op refuses the sizes (`why`), or the program has
/// another form with them.
bool deriveSizes(Recording &r, const Recording &like, const Recording *other, std::string &why);

/// Equal but for strides that don't matter (J5).
bool sameLayout(const Recording &a, const Value &x, const Recording &b, const Value &y);

} // namespace torchc::jit
