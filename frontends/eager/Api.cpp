#include "frontends/eager/Api.h"
#include "frontends/eager/Autocast.h"
#include "frontends/eager/composite/Common.h"

namespace torchc {

#include "torchc-gen/Api.cpp.inc"

} // namespace torchc
