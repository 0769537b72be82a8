#include "frontends/eager/Api.h"

namespace torchc {

#include "torchc-gen/Api.cpp.inc"

} // namespace torchc
