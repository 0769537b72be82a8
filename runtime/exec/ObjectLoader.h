// Loads a relocatable ELF object (x86-64, aarch64) as the compiler makes it: position independent, no TLS, no
// constructors, no unwind tables. The bytes come from a file or another process, so that every offset is checked;
// loading never crashes, whatever they are. (Running the code is another matter: the caller verifies a digest.)
#pragma once
#include "dialects/rules/Diag.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace torchc {

/// Finds an external symbol; null: there is none.
using SymbolResolver = void *(*)(void *context, const char *name);

enum class ElfMachine : uint8_t { Native, X86_64, AArch64 };

struct ObjectSymbol {
  std::string name;
  void *address;
};

/// Code and data of one object. Code pages are never writable and executable at once.
class ObjectImage {
public:
  ObjectImage() = default;
  ObjectImage(ObjectImage &&o) noexcept { swap(o); }
  ObjectImage &operator=(ObjectImage &&o) noexcept {
    swap(o);
    return *this;
  }
  ~ObjectImage() { unload(); }

  /// Loads the object and keeps a copy of all it needs. On failure reports Runtime ("object: ...") and stays empty. A
  /// machine other than the native one is relocated but not made executable (tests).
  bool load(const void *bytes, size_t size, SymbolResolver resolve, void *context, Diag &diag,
            ElfMachine machine = ElfMachine::Native);
  /// The address of a global symbol that the object defines, or null.
  void *symbol(const char *name) const;
  /// Contents of a section that isn't loaded, such as ".torchc.meta"; empty if it isn't there. Only sections whose name
  /// starts with ".torchc." are kept.
  const std::string *section(const char *name) const;
  /// Bytes of memory in use.
  size_t size() const { return mappedBytes; }
  void unload();

private:
  friend class Loader;
  void swap(ObjectImage &o);

  void *base = nullptr;
  size_t mappedBytes = 0;
  std::vector<ObjectSymbol> symbols;
  std::vector<std::pair<std::string, std::string>> sections;
};

} // namespace torchc
