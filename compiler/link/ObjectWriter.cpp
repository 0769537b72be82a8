#include "compiler/link/ObjectWriter.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
namespace torchc::link {

unsigned ObjectWriter::section(StringRef name, uint64_t flags, uint64_t align, uint32_t type) {
  sections.push_back({name.str(), {}, flags, align, type, {}});
  return sections.size() - 1;
}

uint64_t ObjectWriter::append(unsigned section, StringRef data, uint64_t align) {
  std::string &b = bytes(section);
  b.resize((b.size() + align - 1) / align * align);
  uint64_t at = b.size();
  b.append(data.data(), data.size());
  return at;
}

unsigned ObjectWriter::define(StringRef name, unsigned section, uint64_t offset, uint64_t size, bool function,
                              Visibility visibility) {
  symbols.push_back({name.str(), section, offset, size, function, visibility});
  return symbols.size() - 1;
}

unsigned ObjectWriter::undefined(StringRef name, Visibility visibility) {
  return define(name, ~0u, 0, 0, false, visibility);
}

uint32_t ObjectWriter::pointerType() const {
  return arch == Arch::X86_64 ? uint32_t(ELF::R_X86_64_64) : uint32_t(ELF::R_AARCH64_ABS64);
}

void ObjectWriter::pointer(unsigned section, uint64_t offset, unsigned target, int64_t addend) {
  sections[section].relocs.push_back({offset, pointerType(), true, target, addend});
}

void ObjectWriter::pointerToSymbol(unsigned section, uint64_t offset, unsigned symbol) {
  relocate(section, offset, pointerType(), symbol, 0);
}

void ObjectWriter::relocate(unsigned section, uint64_t offset, uint32_t type, unsigned symbol, int64_t addend) {
  sections[section].relocs.push_back({offset, type, false, symbol, addend});
}

namespace {
template <class T> void put(std::string &to, const T &value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Collects section headers and their bytes behind the file header.
struct Image {
  std::string file = std::string(sizeof(ELF::Elf64_Ehdr), 0), names = std::string(1, 0);
  std::vector<ELF::Elf64_Shdr> headers = std::vector<ELF::Elf64_Shdr>(1);

  void add(StringRef name, uint32_t type, uint64_t flags, uint64_t align, StringRef bytes, uint32_t link = 0,
           uint32_t info = 0, uint64_t entry = 0) {
    ELF::Elf64_Shdr h{};
    h.sh_name = names.size();
    names += name.str() + '\0';
    file.resize((file.size() + align - 1) / align * align);
    h.sh_type = type;
    h.sh_flags = flags;
    h.sh_offset = file.size();
    h.sh_size = bytes.size();
    h.sh_link = link;
    h.sh_info = info;
    h.sh_addralign = align;
    h.sh_entsize = entry;
    headers.push_back(h);
    file.append(bytes.data(), bytes.size());
  }

  std::string finish(uint16_t machine) {
    add(".shstrtab", ELF::SHT_STRTAB, 0, 1, "");
    headers.back().sh_size = names.size();
    file += names;
    file.resize((file.size() + 7) / 8 * 8);
    ELF::Elf64_Ehdr e{};
    memcpy(e.e_ident,
           "\x7f"
           "ELF\2\1\1",
           7);
    e.e_type = ELF::ET_REL;
    e.e_machine = machine;
    e.e_version = 1;
    e.e_shoff = file.size();
    e.e_ehsize = sizeof e;
    e.e_shentsize = sizeof(ELF::Elf64_Shdr);
    e.e_shnum = headers.size();
    e.e_shstrndx = headers.size() - 1;
    memcpy(file.data(), &e, sizeof e);
    for (const ELF::Elf64_Shdr &h : headers)
      put(file, h);
    return std::move(file);
  }
};
} // namespace

std::string ObjectWriter::finish() const {
  Image image;
  std::string symtab(sizeof(ELF::Elf64_Sym), 0), strtab(1, 0);
  for (unsigned i = 0; i < sections.size(); ++i) {
    const Section &s = sections[i];
    image.add(s.name, s.type, s.flags, s.align, s.bytes);
    ELF::Elf64_Sym sym{};
    sym.st_info = ELF::STB_LOCAL << 4 | ELF::STT_SECTION;
    sym.st_shndx = i + 1;
    put(symtab, sym);
  }
  for (const Symbol &s : symbols) {
    ELF::Elf64_Sym sym{};
    sym.st_name = strtab.size();
    strtab += s.name + '\0';
    bool defined = s.section != ~0u;
    sym.st_info = ELF::STB_GLOBAL << 4 | (!defined ? ELF::STT_NOTYPE : s.function ? ELF::STT_FUNC : ELF::STT_OBJECT);
    sym.st_other = uint8_t(s.visibility);
    sym.st_shndx = defined ? s.section + 1 : 0;
    sym.st_value = s.offset;
    sym.st_size = s.size;
    put(symtab, sym);
  }
  unsigned symtabIndex = sections.size() + 1;
  image.add(".symtab", ELF::SHT_SYMTAB, 0, 8, symtab, symtabIndex + 1, sections.size() + 1, sizeof(ELF::Elf64_Sym));
  image.add(".strtab", ELF::SHT_STRTAB, 0, 1, strtab);
  for (unsigned i = 0; i < sections.size(); ++i) {
    std::string rela;
    for (const Reloc &r : sections[i].relocs) {
      uint64_t symbol = r.toSection ? r.target + 1 : sections.size() + 1 + r.target;
      put(rela, ELF::Elf64_Rela{r.offset, symbol << 32 | r.type, r.addend});
    }
    if (!rela.empty())
      image.add(".rela" + sections[i].name, ELF::SHT_RELA, ELF::SHF_INFO_LINK, 8, rela, symtabIndex, i + 1,
                sizeof(ELF::Elf64_Rela));
  }
  image.add(".note.GNU-stack", ELF::SHT_PROGBITS, 0, 1, "");
  return image.finish(arch == Arch::X86_64 ? ELF::EM_X86_64 : ELF::EM_AARCH64);
}

} // namespace torchc::link
