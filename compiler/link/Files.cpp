#include "compiler/link/Files.h"
#include "compiler/link/Link.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
namespace torchc::link {

static bool failOn(StringRef path, const std::string &why, Diag &diag) {
  return diag.fail(ErrorKind::OS, "cannot write " + path.str() + ": " + why);
}

bool writeAll(int fd, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    bytes = bytes.drop_front(n);
  }
  return true;
}

/// What a path means once its symbolic links are followed, also when there is nothing at their end. A circle of links is
/// left for the system to report.
static std::string followLinks(std::string path) {
  constexpr int mostLinks = 40; // as many as Linux follows
  char target[PATH_MAX];
  for (int i = 0; i < mostLinks; ++i) {
    ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    if (n <= 0 || size_t(n) == sizeof target)
      break;
    StringRef to(target, size_t(n)), folder = sys::path::parent_path(path);
    path = to.starts_with("/") || folder.empty() ? to.str() : (folder + "/" + to).str();
  }
  return path;
}

bool OutputFile::open(StringRef p, Diag &diag) {
  path = followLinks(p.str());
  struct stat s;
  if (p.empty())
    return diag.fail(ErrorKind::Value, "the output's path is empty");
  if (::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode))
    return failOn(p, S_ISDIR(s.st_mode) ? "it is a folder" : "it is not a regular file", diag);
  int fd;
  SmallString<128> temp;
  if (std::error_code e = sys::fs::createUniqueFile(path + ".%%%%%%%%", fd, temp))
    return failOn(p, e.message(), diag);
  ::close(fd);
  tempPath = std::string(temp);
  return true;
}

OutputFile::~OutputFile() {
  if (!tempPath.empty())
    ::unlink(tempPath.c_str());
}

bool OutputFile::commit(bool executable, Diag &diag) {
  mode_t mode = (executable ? 0777 : 0666) & ~sys::fs::getUmask();
  if (::chmod(tempPath.c_str(), mode) || ::rename(tempPath.c_str(), path.c_str()))
    return failOn(path, strerror(errno), diag);
  tempPath.clear();
  return true;
}

InputFiles::~InputFiles() {
  for (const Entry &e : entries) {
    ::close(e.fd);
    if (!StringRef(e.path).starts_with("/proc/"))
      ::unlink(e.path.c_str());
  }
}

std::string InputFiles::add(StringRef name, StringRef bytes, Diag &diag) {
  std::string path;
  int fd = -1;
  if (::access("/proc/self/fd", X_OK) == 0 && (fd = ::memfd_create("torchc", MFD_CLOEXEC)) >= 0) {
    path = "/proc/self/fd/" + std::to_string(fd);
  } else {
    SmallString<128> temp;
    if (std::error_code e = sys::fs::createUniqueFile(besides + ".%%%%%%%%", fd, temp)) {
      failOn(besides, e.message(), diag);
      return "";
    }
    path = std::string(temp);
  }
  entries.push_back({name.str(), path, fd});
  if (writeAll(fd, bytes))
    return path;
  failOn(path, strerror(errno), diag);
  return "";
}

std::string InputFiles::translate(std::string text) const {
  // From the last: /proc/self/fd/1 is a prefix of /proc/self/fd/12.
  for (auto e = entries.rbegin(); e != entries.rend(); ++e)
    for (size_t at; (at = text.find(e->path)) != std::string::npos;)
      text.replace(at, e->path.size(), e->name);
  return text;
}

bool OutputFile::write(ArrayRef<StringRef> pieces, Diag &diag) {
  int fd = ::open(tempPath.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  bool ok = fd >= 0;
  for (StringRef piece : pieces)
    ok = ok && writeAll(fd, piece);
  int error = errno;
  if (fd >= 0 && ::close(fd) && ok) {
    ok = false;
    error = errno;
  }
  return ok || failOn(path, strerror(error), diag);
}

bool writeFile(StringRef path, ArrayRef<StringRef> pieces, Diag &diag) {
  OutputFile out;
  return out.open(path, diag) && out.write(pieces, diag) && out.commit(false, diag);
}

} // namespace torchc::link
