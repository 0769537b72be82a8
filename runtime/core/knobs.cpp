#include "runtime/core/knobs.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace torchc {
namespace {

char problemText[192];

const char *text(const char *name) {
  const char *v = std::getenv(name);
  return v && *v ? v : nullptr;
}

const char *refuse(const char *name, const char *value, const char *expected) {
  if (!problemText[0])
    std::snprintf(problemText, sizeof problemText, "%s: expected %s, got '%.64s'", name, expected, value);
  return nullptr;
}

const char *oneOf(const char *name, const char *const *choices, const char *expected) {
  const char *v = text(name);
  if (!v)
    return nullptr;
  for (; *choices; ++choices)
    if (!std::strcmp(v, *choices))
      return *choices;
  return refuse(name, v, expected);
}

/// OMP_NUM_THREADS may be a list, one number per nesting level: the first counts.
int count(const char *name, bool isList) {
  const char *v = text(name);
  if (!v)
    return 0;
  char *end;
  long n = std::strtol(v, &end, 10);
  if (end == v || (*end && !(isList && *end == ',')) || n < 1 || n > 1024) {
    refuse(name, v, "a number from 1 to 1024");
    return 0;
  }
  return int(n);
}

Knobs read() {
  static const char *const isas[] = {"v3", "v4", nullptr};
  Knobs k{};
  k.isa = oneOf("TORCHC_ISA", isas, "v3 or v4");
  k.cacheDir = text("TORCHC_CACHE_DIR");
  k.dump = text("TORCHC_DUMP");
  k.ptxEmulator = text("TORCHC_PTX_EMULATOR");
  k.numThreads = count("TORCHC_NUM_THREADS", false);
  if (!k.numThreads)
    k.numThreads = count("OMP_NUM_THREADS", true);
  k.problem = problemText[0] ? problemText : nullptr;
  return k;
}

} // namespace

const Knobs &knobs() {
  static const Knobs k = read();
  return k;
}

} // namespace torchc
