// `main` of an executable artefact.
#include "Program.h"
#include "torchc/runtime.h"

int main(int argc, char **argv) { return torchc_program(torchc_rt_model(TORCHC_MODEL_ABI), argc, argv); }
