#include "runtime/device/Cgroup.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>

namespace torchc {
namespace {

bool readLine(const std::string &path, char *line, int size) {
  FILE *f = std::fopen(path.c_str(), "re");
  if (!f)
    return false;
  bool ok = std::fgets(line, size, f) != nullptr;
  std::fclose(f);
  return ok;
}

/// The process's folder in the hierarchy that has `controller` ("" for v2), from /proc/self/cgroup.
std::string groupOf(const char *controller) {
  FILE *f = std::fopen("/proc/self/cgroup", "re");
  if (!f)
    return {};
  char line[4096];
  std::string found;
  while (std::fgets(line, sizeof line, f)) {
    line[std::strcspn(line, "\n")] = 0;
    char *names = std::strchr(line, ':');
    char *path = names ? std::strchr(names + 1, ':') : nullptr;
    if (!path)
      continue;
    *path++ = 0;
    std::string list = std::string(",") + (names + 1) + ",";
    if (list.find(std::string(",") + controller + ",") != std::string::npos) {
      found = path;
      break;
    }
  }
  std::fclose(f);
  return found;
}

/// Calls visit(folder) for the group and each of its parents; a container may see its own group as the root.
template <class F> void walk(const std::string &root, std::string group, F visit) {
  if (group.empty() || group[0] != '/')
    group = "/";
  for (;;) {
    visit(root + (group == "/" ? "" : group));
    if (group == "/" || group.empty())
      return;
    size_t slash = group.find_last_of('/');
    group = slash == 0 || slash == std::string::npos ? "/" : group.substr(0, slash);
  }
}

double quotaCpus() {
  double best = 0;
  auto note = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (best == 0 || quota / period < best))
      best = quota / period;
  };
  char line[256];
  walk("/sys/fs/cgroup", groupOf(""), [&](const std::string &dir) {
    double quota, period;
    if (readLine(dir + "/cpu.max", line, sizeof line) && std::sscanf(line, "%lf %lf", &quota, &period) == 2)
      note(quota, period);
  });
  for (const char *root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
    walk(root, groupOf("cpu"), [&](const std::string &dir) {
      char second[256];
      if (readLine(dir + "/cpu.cfs_quota_us", line, sizeof line) &&
          readLine(dir + "/cpu.cfs_period_us", second, sizeof second))
        note(std::atof(line), std::atof(second));
    });
  return best;
}

} // namespace

int availableCpus() {
  int n = 0;
  // The mask may be larger than cpu_set_t on big machines.
  for (int bits = 1024; bits <= 1 << 18 && !n; bits *= 4) {
    cpu_set_t *set = CPU_ALLOC(size_t(bits));
    size_t bytes = CPU_ALLOC_SIZE(size_t(bits));
    if (!set)
      break;
    if (!sched_getaffinity(0, bytes, set))
      n = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
  }
  if (n < 1)
    n = 1;
  double quota = quotaCpus();
  if (quota > 0 && std::ceil(quota) < n)
    n = int(std::ceil(quota));
  return n < 1 ? 1 : n > 1024 ? 1024 : n;
}

int64_t cgroupMemoryLimit() {
  int64_t best = 0;
  char line[256];
  auto visit = [&](const std::string &path) {
    if (!readLine(path, line, sizeof line) || line[0] < '0' || line[0] > '9')
      return; // "max"
    int64_t v = std::strtoll(line, nullptr, 10);
    if (v > 0 && v < int64_t(1) << 46 && (!best || v < best))
      best = v;
  };
  walk("/sys/fs/cgroup", groupOf(""), [&](const std::string &d) { visit(d + "/memory.max"); });
  walk("/sys/fs/cgroup/memory", groupOf("memory"), [&](const std::string &d) { visit(d + "/memory.limit_in_bytes"); });
  return best;
}

} // namespace torchc
