// Speaks the helper's protocol and misbehaves as the request's text asks: "echo X", "big N", "slow
// MS", "hang", "crash", "exit", "garbage", "wrong-id", "huge", "half", "twice", "info".
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static bool transfer(void *bytes, size_t n, bool write) {
  for (char *p = static_cast<char *>(bytes); n;) {
    ssize_t k = write ? ::write(3, p, n) : ::read(3, p, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return false;
    p += k;
    n -= size_t(k);
  }
  return true;
}

static void answer(uint64_t id, std::string text, uint64_t length) {
  uint64_t header[2] = {length, id};
  transfer(header, sizeof header, true);
  transfer(text.data(), text.size(), true);
}
static void answer(uint64_t id, const std::string &text) { answer(id, text, text.size()); }

/// What the spawn promises: own session, no descriptors but ours, empty environment, folder /.
static std::string surroundings(int argc, char **argv) {
  std::string s;
  for (int i = 0; i < argc; ++i)
    s += std::string(argv[i]) + " ";
  char path[256] = "";
  s += getcwd(path, sizeof path) ? path : "?";
  s += getsid(0) == getpid() ? " session" : " no-session";
  s += *environ ? " environment" : " empty";
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  s += sigismember(&mask, SIGTERM) || sigismember(&mask, SIGCHLD) ? " blocked" : " unblocked";
  s += signal(SIGUSR1, SIG_DFL) == SIG_DFL ? " default" : " ignored";
  if (DIR *d = opendir("/proc/self/fd")) {
    int count = 0;
    while (dirent *e = readdir(d))
      count += e->d_name[0] != '.' && std::atoi(e->d_name) != dirfd(d);
    s += " fds=" + std::to_string(count);
    closedir(d);
  }
  for (const char *fd : {"/proc/self/fd/0", "/proc/self/fd/2"}) {
    ssize_t n = readlink(fd, path, sizeof path - 1);
    s += " " + std::string(path, n > 0 ? size_t(n) : 0);
  }
  return s;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 1;
  signal(SIGPIPE, SIG_IGN);
  int program = int(syscall(SYS_pidfd_open, std::atoi(argv[3]), 0));
  for (;;) {
    pollfd fds[2] = {{3, POLLIN, 0}, {program, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 || fds[1].revents)
      return 0;
    uint64_t header[2];
    if (!transfer(header, sizeof header, false))
      return 0;
    std::string text(header[0], '\0');
    if (!transfer(text.data(), text.size(), false))
      return 0;
    std::string word = text.substr(0, text.find(' ')), rest = text.substr(std::min(text.size(), word.size() + 1));
    uint64_t id = header[1];
    if (word == "echo")
      answer(id, rest);
    else if (word == "big")
      answer(id, std::string(std::strtoull(rest.c_str(), nullptr, 10), 'x'));
    else if (word == "slow")
      usleep(useconds_t(std::atoi(rest.c_str())) * 1000), answer(id, "slow");
    else if (word == "hang")
      pause();
    else if (word == "crash")
      raise(SIGSEGV);
    else if (word == "garbage")
      answer(0x1234567890abcdef, "nothing of sense");
    else if (word == "wrong-id")
      answer(id + 1, "x");
    else if (word == "huge")
      answer(id, "x", uint64_t(1) << 40);
    else if (word == "half")
      answer(id, "half", 1000), _exit(0);
    else if (word == "twice")
      answer(id, "first"), answer(id, "second");
    else if (word == "info")
      answer(id, surroundings(argc, argv));
    else
      _exit(0);
  }
}
