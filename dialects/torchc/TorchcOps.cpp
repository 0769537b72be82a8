#include "dialects/torchc/TorchcDialect.h"

#define GET_OP_CLASSES
#include "torchc-gen/TorchcOps.cpp.inc"
