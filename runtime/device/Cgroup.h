// What the process may use of the machine: cgroup (v1 and v2) quotas and the affinity mask.
#pragma once
#include <cstdint>

namespace torchc {

/// Threads that can run at once: min(affinity, ceil(quota / period)) over the cgroup and its parents; at least 1.
int availableCpus();
/// The lowest memory limit of the cgroup and its parents in bytes; 0: none.
int64_t cgroupMemoryLimit();

} // namespace torchc
