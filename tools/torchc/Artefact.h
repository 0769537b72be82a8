// Looking at and running finished artefacts.
#pragma once
#include <string>

namespace torchc {

/// Prints the signature and the sections of an artefact. Returns the exit code.
int inspectArtefact(const std::string &path);

/// Runs a shared library or an executable artefact with the options of an executable artefact.
int runArtefact(const std::string &path, int argc, char **argv);

} // namespace torchc
