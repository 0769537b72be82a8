// Writes small relocatable ELF objects (x86-64, aarch64): data the compiler has no need of LLVM's
// MC for.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace torchc::link {

enum class Arch : uint8_t { X86_64, AArch64 };

/// "x86_64" or "aarch64", as in file names and target triples.
inline const char *archName(Arch arch) { return arch == Arch::X86_64 ? "x86_64" : "aarch64"; }

enum class Visibility : uint8_t { Default = 0, Hidden = 2 };

class ObjectWriter {
public:
  explicit ObjectWriter(Arch arch) : arch(arch) {}

  /// Adds a section of loaded data or code (`flags` are SHF_*); its number names it below.
  unsigned section(llvm::StringRef name, uint64_t flags, uint64_t align, uint32_t type = 1);
  std::string &bytes(unsigned section) { return sections[section].bytes; }
  /// Pads the section to `align` and appends; returns the offset.
  uint64_t append(unsigned section, llvm::StringRef data, uint64_t align = 1);

  /// A global symbol; returns its number.
  unsigned define(llvm::StringRef name, unsigned section, uint64_t offset, uint64_t size, bool function,
                  Visibility visibility);
  unsigned undefined(llvm::StringRef name, Visibility visibility = Visibility::Hidden);

  /// The 64-bit word at `offset` becomes the address of `target` + `addend` (a section, or a
  /// symbol).
  void pointer(unsigned section, uint64_t offset, unsigned target, int64_t addend);
  void pointerToSymbol(unsigned section, uint64_t offset, unsigned symbol);
  void relocate(unsigned section, uint64_t offset, uint32_t type, unsigned symbol, int64_t addend);

  std::string finish() const;

private:
  struct Reloc {
    uint64_t offset;
    uint32_t type;
    bool toSection;
    unsigned target;
    int64_t addend;
  };
  struct Section {
    std::string name, bytes;
    uint64_t flags, align;
    uint32_t type;
    std::vector<Reloc> relocs;
  };
  struct Symbol {
    std::string name;
    unsigned section; // number, or ~0 for an undefined one
    uint64_t offset, size;
    bool function;
    Visibility visibility;
  };
  uint32_t pointerType() const;

  Arch arch;
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
};

} // namespace torchc::link
