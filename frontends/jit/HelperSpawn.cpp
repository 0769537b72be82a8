#include "frontends/jit/HelperSpawn.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace torchc::jit;

// The thread sanitizer takes every clone() for a fork with memory of its own; the other name goes past it.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
extern "C" int __clone(int (*)(void *), void *, int, void *, ...);
#define clone __clone
#endif
#endif

namespace {

constexpr size_t stackBytes = 256 << 10;
constexpr int socketInHelper = 3;

struct Launch {
  const char *executable;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  char *arguments[5];
  pid_t pid = -1;
  int error = 0;
};

/// Runs in the middle process, which shares our memory; its exit makes the helper an orphan.
int launch(void *argument) {
  auto *l = static_cast<Launch *>(argument);
  char *environment[] = {nullptr};
  l->error = posix_spawn(&l->pid, l->executable, &l->actions, &l->attributes, l->arguments, environment);
  return 0;
}

void prepare(Launch &l, int theirs) {
  posix_spawn_file_actions_init(&l.actions);
  posix_spawn_file_actions_adddup2(&l.actions, theirs, socketInHelper);
  for (int fd = 0; fd < 3; ++fd)
    posix_spawn_file_actions_addopen(&l.actions, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addclosefrom_np(&l.actions, socketInHelper + 1);
  posix_spawn_file_actions_addchdir_np(&l.actions, "/");
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&l.attributes);
  posix_spawnattr_setsigmask(&l.attributes, &none);
  posix_spawnattr_setsigdefault(&l.attributes, &all);
  posix_spawnattr_setflags(&l.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/// A vfork whose child has no exit signal: plain wait() in another thread can't catch it and no
/// SIGCHLD is sent.
void runInMiddleProcess(Launch &l) {
  void *stack = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) {
    l.error = errno;
    return;
  }
  // The middle process must not run the program's signal handlers on our memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pid_t middle = clone(launch, static_cast<char *>(stack) + stackBytes, CLONE_VM | CLONE_VFORK, &l);
  if (middle < 0)
    l.error = errno;
  else
    while (waitpid(middle, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stack, stackBytes);
}

} // namespace

SpawnedHelper torchc::jit::spawnHelper(const std::string &executable) {
  SpawnedHelper helper;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    helper.error = errno;
    return helper;
  }
  char name[] = "torchc-compiled", serve[] = "--serve", fd[] = "3", program[16];
  std::snprintf(program, sizeof program, "%d", int(getpid()));
  Launch l{executable.c_str(), {}, {}, {name, serve, fd, program, nullptr}};
  prepare(l, pair[1]);
  runInMiddleProcess(l);
  posix_spawn_file_actions_destroy(&l.actions);
  posix_spawnattr_destroy(&l.attributes);
  close(pair[1]);
  if (l.error) {
    close(pair[0]);
    helper.error = l.error;
    return helper;
  }
  helper.socket = pair[0];
  helper.pid = l.pid;
  helper.pidfd = int(syscall(SYS_pidfd_open, l.pid, 0));
  return helper;
}
