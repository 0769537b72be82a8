// Three steps: a thread makes a middle process that shares our memory, that makes the helper and exits. The thread is
// suspended meanwhile; whoever waits for it can kill both processes when one is stopped on the way.
#include "frontends/jit/HelperSpawn.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

constexpr size_t stackBytes = 128 << 10; // of the middle process, and of the helper before it runs its program
constexpr int socketInHelper = 3, lifeInHelper = 4, firstClosed = 5;

struct Launch {
  const char *executable;
  char *arguments[5];
  int socket, life; // the helper's ends
  int ourLife;
  char *stacks = nullptr;
  // Written by the kernel before the new process runs.
  int middle = -1, helper = -1; // pidfds
  pid_t pid = -1;
  int error = 0;
};

void closeFd(int &fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

void kill(int pidfd) {
  if (pidfd >= 0)
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
}

/// Past everything that would like to run at the end of a process: the memory is the program's.
[[noreturn]] void leave(int code) {
  for (;;)
    syscall(SYS_exit_group, code);
}

/// The kernel sends SIGKILL to this process once nobody holds the other end. False: nobody does already.
bool tieLife(const Launch &l) {
  ::close(l.ourLife);
  fcntl(l.life, F_SETOWN, getpid());
  fcntl(l.life, F_SETSIG, SIGKILL);
  fcntl(l.life, F_SETFL, O_ASYNC);
  pollfd p = {l.life, 0, 0};
  return poll(&p, 1, 0) <= 0;
}

bool moveDescriptors(const Launch &l) {
  int socket = fcntl(l.socket, F_DUPFD, firstClosed), life = fcntl(l.life, F_DUPFD, firstClosed);
  int null = ::open("/dev/null", O_RDWR);
  if (dup2(socket, socketInHelper) < 0 || dup2(life, lifeInHelper) < 0)
    return false;
  for (int fd = 0; fd < 3; ++fd)
    if (null < 0 || dup2(null, fd) < 0)
      return false;
  if (syscall(SYS_close_range, firstClosed, ~0u, 0) != 0)
    for (int fd = firstClosed, n = int(sysconf(_SC_OPEN_MAX)); fd < n; ++fd)
      ::close(fd);
  return true;
}

/// The helper before it runs its program: still in our memory, with the middle process suspended.
int becomeHelper(void *argument) {
  auto *l = static_cast<Launch *>(argument);
  if (!tieLife(*l))
    leave(1);
  setsid();
  for (int signal = 1; signal < NSIG; ++signal)
    ::signal(signal, SIG_DFL);
  if (moveDescriptors(*l) && chdir("/") == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    char *environment[] = {nullptr};
    execve(l->executable, l->arguments, environment);
  }
  l->error = errno;
  leave(127);
}

/// The middle process; its exit makes the helper an orphan.
int beMiddle(void *argument) {
  auto *l = static_cast<Launch *>(argument);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  l->pid =
      clone(becomeHelper, l->stacks + 2 * stackBytes, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, l, &l->helper);
  if (l->pid < 0)
    l->error = errno;
  else if (l->error)
    waitpid(l->pid, nullptr, 0);
  leave(0);
}

/// A vfork whose child has no exit signal: plain wait() in another thread can't catch it and no SIGCHLD is sent. It
/// shares our descriptors, so that the helper's pidfd is ours.
void *spawnThread(void *argument) {
  auto *l = static_cast<Launch *>(argument);
  pid_t middle =
      clone(beMiddle, l->stacks + stackBytes, CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD, l, &l->middle);
  if (middle < 0)
    l->error = errno;
  else
    while (waitpid(middle, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  return nullptr;
}

/// The caller has all signals blocked, and so have the thread and both processes: handlers must not run there.
void runThread(Launch &l, std::chrono::milliseconds limit) {
  pthread_t thread;
  if (int error = pthread_create(&thread, nullptr, spawnThread, &l)) {
    l.error = error;
    return;
  }
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until); // the other one may be set meanwhile
  until.tv_sec += limit.count() / 1000;
  until.tv_nsec += limit.count() % 1000 * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_sec++;
    until.tv_nsec -= 1'000'000'000;
  }
  if (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until) == 0)
    return;
  // The middle process hasn't collected the helper: as long as it lives, the helper's pidfd is written or comes.
  kill(l.helper);
  kill(l.middle);
  pthread_join(thread, nullptr);
  kill(l.helper);
  l.error = ETIMEDOUT;
}

} // namespace

bool SpawnedHelper::open() {
  int pair[2], pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    error = errno;
    return false;
  }
  socket = pair[0];
  theirs[0] = pair[1];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    error = errno;
    forget();
    return false;
  }
  theirs[1] = pipes[0];
  life = pipes[1];
  return true;
}

void SpawnedHelper::closeTheirs() {
  for (int &fd : theirs)
    closeFd(fd);
}

void SpawnedHelper::forget() {
  closeTheirs();
  for (int *fd : {&socket, &life, &pidfd})
    closeFd(*fd);
  pid = -1;
}

void SpawnedHelper::close() {
  kill(pidfd);
  forget();
}

bool SpawnedHelper::stopped() const {
  char path[32], text[256];
  std::snprintf(path, sizeof path, "/proc/%d/stat", int(pid));
  int fd = pid > 1 ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0)
    return false;
  ssize_t n = read(fd, text, sizeof text - 1);
  ::close(fd);
  text[n > 0 ? n : 0] = 0;
  const char *name = std::strrchr(text, ')'); // then a space and a letter
  return name && name[1] == ' ' && name[2] == 'T';
}

void torchc::jit::spawnHelper(SpawnedHelper &helper, const std::string &executable, std::chrono::milliseconds limit) {
  char name[] = "torchc-compiled", serve[] = "--serve", fd[] = "3", program[16];
  std::snprintf(program, sizeof program, "%d", int(getpid()));
  Launch l{executable.c_str(), {name, serve, fd, program, nullptr}, helper.theirs[0], helper.theirs[1], helper.life};
  void *stacks = mmap(nullptr, 2 * stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) {
    helper.error = errno;
    return;
  }
  l.stacks = static_cast<char *>(stacks);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  runThread(l, limit);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stacks, 2 * stackBytes);
  closeFd(l.middle);
  helper.error = l.error;
  if (l.error) {
    closeFd(l.helper);
    return;
  }
  helper.pidfd = l.helper;
  helper.pid = l.pid;
}
