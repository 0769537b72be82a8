#pragma once
#include "compiler/link/Model.h"

namespace torchc::link {

/// Appends the weights to a linked file as its last loaded segment: page aligned, read only. The
/// program header of the runtime's note becomes that of the segment, and a section header is added
/// so that strip(1) keeps the bytes. The linker itself would copy gigabytes twice and hold them in
/// memory.
bool appendWeights(const Model &model, const std::string &path, Diag &diag);

} // namespace torchc::link
