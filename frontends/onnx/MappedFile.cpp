#include "frontends/onnx/MappedFile.h"
#include "frontends/eager/Error.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchc::onnx {

MappedFile MappedFile::open(const std::string &path) {
  struct Descriptor {
    int number;
    ~Descriptor() {
      if (number >= 0)
        close(number);
    }
  } file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  auto refuse = [&] { fail(ErrorKind::OS, "ONNX: can't read " + path + ": " + strerror(errno)); };
  struct stat info;
  if (file.number < 0 || fstat(file.number, &info))
    refuse();
  MappedFile result;
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    void *at = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file.number, 0);
    if (at != MAP_FAILED) {
      result.start = static_cast<const char *>(at), result.size = size_t(info.st_size);
      return result;
    }
  }
  char part[1 << 16];
  while (ssize_t got = ::read(file.number, part, sizeof(part))) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      refuse();
    result.read.append(part, size_t(got));
  }
  return result;
}

MappedFile::~MappedFile() {
  if (start)
    munmap(const_cast<char *>(start), size);
}

} // namespace torchc::onnx
