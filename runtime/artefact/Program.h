// The command line around a model: an executable artefact is `main` plus this; `torchc run` calls
// it for a library.
#pragma once
#include "torchc/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the exit code: 0, or 1 after a message on stderr.
int torchc_program(const torchc_model_table *model, int argc, char **argv);

#ifdef __cplusplus
}
#endif
