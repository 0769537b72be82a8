// The C++ API: every function has PyTorch's name, parameters and defaults; declared from the op table.
#pragma once
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Tensor.h"
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torchc {

#include "torchc-gen/Api.h.inc"

} // namespace torchc
