#include "runtime/core/ThreadState.h"
#include <cstring>

namespace torchc {

// Initialised statically: the digest of default modes is 0 by definition (see digestOf).
__thread ThreadState threadState __attribute__((tls_model("initial-exec"))) = {};

static uint32_t digestOf(const ThreadModes &m) {
  uint64_t w[2], d[2];
  ThreadModes defaults;
  std::memcpy(w, &m, sizeof w);
  std::memcpy(d, &defaults, sizeof d);
  uint64_t a = w[0] ^ d[0], b = w[1] ^ d[1];
  if (!(a | b))
    return 0;
  a = (a + 0x9e3779b97f4a7c15u * b) * 0xff51afd7ed558ccdu;
  a ^= a >> 33;
  a *= 0xc4ceb9fe1a85ec53u;
  uint32_t h = uint32_t(a >> 32);
  return h ? h : 1;
}

ThreadModes setModes(const ThreadModes &modes) {
  ThreadModes old = threadState.modes;
  threadState.modes = modes;
  threadState.digest = digestOf(modes);
  return old;
}

} // namespace torchc
