// Files that a link needs for a moment: inputs for lld, and an output that is renamed when it is
// whole.
#pragma once
#include "dialects/rules/Diag.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace torchc::link {

/// The temporary neighbour of an output. Its destructor removes it unless it was committed.
class OutputFile {
public:
  /// Refuses a path whose folder can't be written, or that names something else than a regular
  /// file. Symbolic links are followed: they stay, and the file at their end is replaced.
  bool open(llvm::StringRef path, Diag &diag);
  ~OutputFile();
  const std::string &temp() const { return tempPath; }
  /// Makes the pieces the file's content.
  bool write(llvm::ArrayRef<llvm::StringRef> pieces, Diag &diag);
  /// Gives the file its mode (less the user's mask) and its name.
  bool commit(bool executable, Diag &diag);

private:
  std::string path, tempPath;
};

/// Bytes under a path, for a library that only reads files: a memory file, or a file next to the
/// output where /proc is missing.
class InputFiles {
public:
  explicit InputFiles(llvm::StringRef besides) : besides(besides) {}
  ~InputFiles();
  /// The path, or "" and a report.
  std::string add(llvm::StringRef name, llvm::StringRef bytes, Diag &diag);
  /// Puts the names of the inputs in place of their paths.
  std::string translate(std::string text) const;

private:
  struct Entry {
    std::string name, path;
    int fd;
  };
  std::string besides;
  std::vector<Entry> entries;
};

/// Writes all bytes at the file position of `fd`.
bool writeAll(int fd, llvm::StringRef bytes);

} // namespace torchc::link
