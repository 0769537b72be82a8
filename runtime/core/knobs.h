// Every environment variable that torchc reads (A6), read once, here and nowhere else.
#pragma once

namespace torchc {

struct Knobs {
  const char *isa;         // TORCHC_ISA: "v3" or "v4"; null: the best one
  const char *cacheDir;    // TORCHC_CACHE_DIR; null: the user's cache folder
  const char *dump;        // TORCHC_DUMP: folder that gets each stage's output
  const char *ptxEmulator; // TORCHC_PTX_EMULATOR: library that stands in for libcuda; null: the real one
  int numThreads;          // TORCHC_NUM_THREADS, else OMP_NUM_THREADS; 0: from cgroup and affinity
  const char *problem;     // the first value that was refused, with what was expected; null: none
};

/// The values at the first call; an empty variable counts as unset, a malformed one as unset and is named in `problem`.
const Knobs &knobs();

} // namespace torchc
