// Starting the compile helper so that the program never notices it (rule J7).
#pragma once
#include <chrono>
#include <string>
#include <sys/types.h>

namespace torchc::jit {

/// A helper and our hold on it. Every descriptor is close-on-exec, -1: none.
struct SpawnedHelper {
  int socket = -1;
  int life = -1;                 // when its last copy is closed the kernel kills the helper, even a stopped one
  int theirs[2] = {-1, -1};      // the helper's ends of both, until it has started
  int pidfd = -1;                // -1 where the kernel has none
  pid_t pid = -1;
  int error = 0;                 // errno when it didn't start

  /// Makes the descriptors; false with `error`. Short, so that the caller can keep threads from forking meanwhile.
  bool open();
  /// Closes what open() made for the helper.
  void closeTheirs();
  /// Ends the helper, in whatever state it is, and closes everything.
  void close();
  /// In a forked child: closes everything; the helper stays the parent's.
  void forget();
  bool running() const { return pid > 1; }
  /// A signal has stopped it (SIGSTOP and the like).
  bool stopped() const;
};

/// Runs `executable --serve 3 <our pid>` in a session of its own: descriptor 3 is the other end of the socket, 4 that of
/// `life`, 0-2 are /dev/null, the environment is empty, the working folder is /. It is not a child of this process:
/// wait() never returns it and no SIGCHLD comes. (Where this process is init or a subreaper, orphans come back to it;
/// nothing can be done about that.) `executable` must be an absolute path; open() comes before. What hasn't started
/// after `limit` is killed.
void spawnHelper(SpawnedHelper &helper, const std::string &executable, std::chrono::milliseconds limit);

} // namespace torchc::jit
