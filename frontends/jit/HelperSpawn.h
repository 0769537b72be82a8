// Starting the compile helper so that the program never notices it (rule J7).
#pragma once
#include <string>
#include <sys/types.h>

namespace torchc::jit {

struct SpawnedHelper {
  int socket = -1; // our end, close-on-exec
  int pidfd = -1;  // -1 where the kernel has none
  pid_t pid = -1;
  int error = 0; // errno when it didn't start
};

/// Runs `executable --serve 3 <our pid>` in a session of its own: descriptor 3 is the other end of
/// a socket pair, 0-2 are /dev/null, the environment is empty, the working folder is /. It is not a
/// child of this process: wait() never returns it and no SIGCHLD comes. (Where this process is init
/// or a subreaper, orphans come back to it; nothing can be done about that.) `executable` must be
/// an absolute path. The caller keeps other threads from forking meanwhile.
SpawnedHelper spawnHelper(const std::string &executable);

} // namespace torchc::jit
