#include "tools/torchc/Serve.h"
#include "compiler/link/Files.h"
#include "torchc/compiler.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace torchc {
namespace {

constexpr uint64_t maxRequest = uint64_t(1) << 30;
constexpr size_t step = 1 << 20; // memory is taken as bytes arrive, not as a length promises them
constexpr int helperPriority = 5;

struct FrameHeader {
  uint64_t length, id;
};

bool readAll(int fd, char *to, size_t n) {
  while (n) {
    ssize_t got = ::read(fd, to, n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    to += got;
    n -= size_t(got);
  }
  return true;
}

bool readBody(int fd, uint64_t length, std::string &body) {
  body.clear();
  while (body.size() < length) {
    size_t at = body.size(), n = size_t(std::min<uint64_t>(step, length - at));
    body.resize(at + n);
    if (!readAll(fd, body.data() + at, n))
      return false;
  }
  return true;
}

template <class T> void put(std::string &to, T value) { to.append(reinterpret_cast<char *>(&value), sizeof value); }

void addPiece(void *answer, const char *kind, const uint8_t *bytes, size_t count) {
  std::string &to = *static_cast<std::string *>(answer);
  put<uint32_t>(to, uint32_t(strlen(kind)));
  put<uint64_t>(to, count);
  to += kind;
  to.append(reinterpret_cast<const char *>(bytes), count);
}

bool reply(int fd, uint64_t id, int status, const std::string &pieces) {
  std::string frame;
  put<uint64_t>(frame, pieces.size() + 4);
  put<uint64_t>(frame, id);
  put<uint32_t>(frame, uint32_t(status));
  frame += pieces;
  return link::writeAll(fd, frame);
}

/// Whether there is something to read; false when the other side or the program is gone.
bool waitForRequest(int fd, int program) {
  pollfd p[2] = {{fd, POLLIN, 0}, {program, POLLIN, 0}};
  for (;;) {
    int n = ::poll(p, program < 0 ? 1 : 2, -1);
    if (n < 0 && errno == EINTR)
      continue;
    // A forked child of the program may hold the socket open when the program is gone.
    return n > 0 && !(program >= 0 && p[1].revents) && (p[0].revents & POLLIN);
  }
}

bool answerOne(int fd) {
  FrameHeader header;
  std::string body, pieces;
  if (!readAll(fd, reinterpret_cast<char *>(&header), sizeof header))
    return false;
  if (header.length > maxRequest) {
    std::string text = "{\"kind\":\"ValueError\",\"message\":\"expected a frame of at most 1 GiB, got " +
                       std::to_string(header.length) + " bytes\"}";
    addPiece(&pieces, "error", reinterpret_cast<const uint8_t *>(text.data()), text.size());
    reply(fd, header.id, 1, pieces);
    return false;
  }
  if (!readBody(fd, header.length, body))
    return false;
  int status = torchc_compile(reinterpret_cast<const uint8_t *>(body.data()), body.size(), addPiece, &pieces, nullptr);
  return reply(fd, header.id, status, pieces);
}

} // namespace

int serve(int fd, int parent) {
  ::signal(SIGPIPE, SIG_IGN);
  ::setpriority(PRIO_PROCESS, 0, helperPriority);
  int program = -1;
  if (parent > 0 && (program = int(::syscall(SYS_pidfd_open, parent, 0))) < 0 && errno == ESRCH)
    return 0; // it ended before we began
  while (waitForRequest(fd, program) && answerOne(fd)) {
  }
  return 0;
}

} // namespace torchc
