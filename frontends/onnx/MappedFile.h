// The bytes of a file without a copy of them.
#pragma once
#include <string>
#include <string_view>

namespace torchc::onnx {

/// A regular file is mapped, anything else (a pipe) is read. Files are replaced by renaming, so that a mapping keeps what
/// it showed at first.
class MappedFile {
public:
  /// Bytes that are in memory already.
  explicit MappedFile(std::string given = {}) : read(std::move(given)) {}
  /// Throws Error of kind OS.
  static MappedFile open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();
  std::string_view bytes() const { return start ? std::string_view(start, size) : std::string_view(read); }

private:
  void swap(MappedFile &other) noexcept {
    std::swap(start, other.start), std::swap(size, other.size), std::swap(read, other.read);
  }
  const char *start = nullptr;
  size_t size = 0;
  std::string read;
};

} // namespace torchc::onnx
