#include "runtime/exec/ObjectLoader.h"
#include "runtime/exec/Relocate.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <sys/mman.h>
#include <utility>

namespace torchc {
namespace {

constexpr size_t maxSections = 1024;
constexpr size_t maxImage = size_t(1) << 28; // a JIT object has kilobytes; .bss could ask for anything
constexpr size_t pageBytes = 4096;
constexpr size_t maxName = 1024;
constexpr uint32_t x86Unwind = 0x70000001; // SHT_X86_64_UNWIND

size_t alignUp(size_t v, size_t to) { return (v + to - 1) & ~(to - 1); }

constexpr ElfMachine nativeMachine =
#if defined(__aarch64__)
    ElfMachine::AArch64;
#else
    ElfMachine::X86_64;
#endif

} // namespace

/// One load. Headers are copied out of the bytes before they are looked at: those may lie at any alignment.
class Loader {
public:
  Loader(ObjectImage &image, const void *bytes, size_t size, ElfMachine machine, Diag &diag)
      : image(image), bytes(static_cast<const uint8_t *>(bytes)), size(size),
        machine(machine == ElfMachine::Native ? nativeMachine : machine), diag(diag) {}

  bool load(SymbolResolver resolve, void *context) {
    return readHeader() && readSections() && readSymbols() && layOut() && bindSymbols(resolve, context) &&
           relocateAll() && keepSymbols() && protect();
  }

private:
  bool fail(const std::string &what) { return diag.fail(ErrorKind::Runtime, "object: " + what); }
  bool inFile(uint64_t offset, uint64_t bytes) const { return offset <= size && bytes <= size - offset; }
  template <class T> T at(uint64_t offset) const {
    T v;
    std::memcpy(&v, bytes + offset, sizeof v);
    return v;
  }
  bool readHeader();
  bool readSections();
  bool readSymbols();
  bool layOut();
  bool bindSymbols(SymbolResolver resolve, void *context);
  bool relocateAll();
  bool relocateSection(const Elf64_Shdr &table);
  bool keepSymbols();
  bool protect();

  /// A string of a string table; null if it doesn't end inside or is absurdly long (names may overlap in the file, so
  /// that their sum isn't bounded by its size).
  const char *string(const Elf64_Shdr &table, uint64_t offset) const {
    if (offset >= table.sh_size)
      return nullptr;
    auto *s = reinterpret_cast<const char *>(bytes + table.sh_offset + offset);
    size_t most = std::min<uint64_t>(table.sh_size - offset, maxName);
    return std::memchr(s, 0, most) ? s : nullptr;
  }
  bool isLoaded(size_t i) const { return loaded[i]; }
  bool isDefined(const Elf64_Sym &s) const {
    return s.st_shndx != SHN_UNDEF && s.st_shndx < sections.size() && isLoaded(s.st_shndx) &&
           s.st_value <= sections[s.st_shndx].sh_size;
  }

  ObjectImage &image;
  const uint8_t *bytes;
  size_t size;
  ElfMachine machine;
  Diag &diag;
  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;
  std::vector<bool> loaded;
  std::vector<size_t> offsets; // of loaded sections in the image
  std::vector<Elf64_Sym> syms;
  std::vector<uint64_t> addresses; // of symbols; 0: not usable
  size_t strings = 0; // section of the symbols' names
  size_t slots = 0, codeBytes = 0;
  size_t metaBytes = 0, numRelocations = 0; // kept below the file's size: its sections may overlap
};

bool Loader::readHeader() {
  if (size < sizeof header)
    return fail("expected a relocatable ELF file, got " + std::to_string(size) + " bytes");
  header = at<Elf64_Ehdr>(0);
  const unsigned char *id = header.e_ident;
  if (std::memcmp(id, ELFMAG, SELFMAG) || id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL)
    return fail("expected a relocatable 64-bit little-endian ELF file");
  unsigned expected = machine == ElfMachine::AArch64 ? EM_AARCH64 : EM_X86_64;
  if (header.e_machine != expected)
    return fail("made for ELF machine " + std::to_string(header.e_machine) + ", expected " + std::to_string(expected));
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > maxSections ||
      !inFile(header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)) || header.e_shstrndx >= header.e_shnum)
    return fail("the section table is damaged");
  return true;
}

bool Loader::readSections() {
  sections.resize(header.e_shnum);
  loaded.resize(header.e_shnum);
  std::memcpy(sections.data(), bytes + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr &s : sections) {
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !inFile(s.sh_offset, s.sh_size))
      return fail("a section lies outside of the file");
    if (s.sh_addralign > pageBytes || (s.sh_addralign & (s.sh_addralign - 1)))
      return fail("a section asks for an alignment of " + std::to_string(s.sh_addralign));
  }
  const Elf64_Shdr &names = sections[header.e_shstrndx];
  if (names.sh_type != SHT_STRTAB)
    return fail("the section names are missing");
  for (size_t i = 1; i < sections.size(); ++i) {
    const Elf64_Shdr &s = sections[i];
    const char *name = string(names, s.sh_name);
    if (!name)
      return fail("a section's name is damaged");
    if (s.sh_type == SHT_REL)
      return fail(std::string("section ") + name + " has relocations without addends");
    if (!(s.sh_flags & SHF_ALLOC)) {
      if (!std::strncmp(name, ".torchc.", 8) && s.sh_type == SHT_PROGBITS && (metaBytes += s.sh_size) <= size)
        image.sections.emplace_back(name, std::string(reinterpret_cast<const char *>(bytes + s.sh_offset), s.sh_size));
      continue;
    }
    if (s.sh_type == SHT_NOTE || s.sh_type == x86Unwind || !std::strcmp(name, ".eh_frame"))
      continue; // nothing unwinds through compiled code
    if ((s.sh_flags & SHF_TLS) || (s.sh_type != SHT_PROGBITS && s.sh_type != SHT_NOBITS))
      return fail(std::string("section ") + name + " (type " + std::to_string(s.sh_type) + ") can't be loaded");
    loaded[i] = true;
  }
  return true;
}

bool Loader::readSymbols() {
  const Elf64_Shdr *table = nullptr;
  for (const Elf64_Shdr &s : sections)
    if (s.sh_type == SHT_SYMTAB) {
      if (table)
        return fail("two symbol tables");
      table = &s;
    }
  if (!table || table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= sections.size() ||
      sections[table->sh_link].sh_type != SHT_STRTAB)
    return fail("the symbol table is missing or damaged");
  strings = table->sh_link;
  syms.resize(table->sh_size / sizeof(Elf64_Sym));
  if (!syms.empty())
    std::memcpy(syms.data(), bytes + table->sh_offset, syms.size() * sizeof(Elf64_Sym));
  return true;
}

/// [read-only data and code, slots | data]: the first part becomes read-execute, the second stays read-write.
bool Loader::layOut() {
  offsets.resize(sections.size());
  size_t end = 0;
  auto place = [&](bool writable) {
    for (size_t i = 1; i < sections.size(); ++i) {
      const Elf64_Shdr &s = sections[i];
      if (!loaded[i] || bool(s.sh_flags & SHF_WRITE) != writable)
        continue;
      end = alignUp(end, s.sh_addralign ? s.sh_addralign : 1);
      offsets[i] = end;
      if (s.sh_size > maxImage || (end += s.sh_size) > maxImage)
        return false;
    }
    return true;
  };
  if (!place(false))
    return fail("the sections take more than 256 MiB");
  slots = end = alignUp(end, 8);
  end += syms.size() * relocationSlot;
  codeBytes = end = alignUp(end, pageBytes);
  if (end > maxImage || !place(true))
    return fail("the sections take more than 256 MiB");
  image.mappedBytes = alignUp(end ? end : 1, pageBytes);
  void *p = mmap(nullptr, image.mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return diag.fail(ErrorKind::Memory, "object: no memory for " + std::to_string(image.mappedBytes) + " bytes");
  image.base = p;
  for (size_t i = 1; i < sections.size(); ++i)
    if (loaded[i] && sections[i].sh_type == SHT_PROGBITS && sections[i].sh_size)
      std::memcpy(static_cast<uint8_t *>(p) + offsets[i], bytes + sections[i].sh_offset, sections[i].sh_size);
  return true;
}

bool Loader::bindSymbols(SymbolResolver resolve, void *context) {
  addresses.resize(syms.size());
  for (size_t k = 1; k < syms.size(); ++k) {
    const Elf64_Sym &s = syms[k];
    if (isDefined(s)) {
      addresses[k] = uint64_t(image.base) + offsets[s.st_shndx] + s.st_value;
      continue;
    }
    if (s.st_shndx == SHN_ABS && ELF64_ST_TYPE(s.st_info) != STT_FILE)
      return fail("absolute symbols can't be loaded");
    if (s.st_shndx == SHN_COMMON)
      return fail("common symbols can't be loaded");
    if (s.st_shndx != SHN_UNDEF)
      continue; // of a section that isn't loaded: only a relocation that uses it is an error
    const char *name = string(sections[strings], s.st_name);
    if (!name)
      return fail("a symbol's name is damaged");
    addresses[k] = resolve ? uint64_t(resolve(context, name)) : 0;
    if (!addresses[k] && ELF64_ST_BIND(s.st_info) != STB_WEAK)
      return fail("undefined symbol '" + std::string(name).substr(0, 200) + "'");
  }
  return true;
}

bool Loader::relocateAll() {
  for (const Elf64_Shdr &table : sections)
    if (table.sh_type == SHT_RELA && table.sh_info < sections.size() && loaded[table.sh_info])
      if (!relocateSection(table))
        return false;
  return true;
}

bool Loader::relocateSection(const Elf64_Shdr &table) {
  const Elf64_Shdr &target = sections[table.sh_info];
  if (table.sh_entsize != sizeof(Elf64_Rela) || target.sh_type != SHT_PROGBITS)
    return fail("a relocation table is damaged");
  auto *base = static_cast<uint8_t *>(image.base);
  uint64_t n = table.sh_size / sizeof(Elf64_Rela);
  if ((numRelocations += n) > size / sizeof(Elf64_Rela))
    return fail("relocation tables overlap");
  for (uint64_t i = 0; i < n; ++i) {
    auto r = at<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela));
    uint64_t k = ELF64_R_SYM(r.r_info);
    if (r.r_offset > target.sh_size || k >= syms.size())
      return fail("a relocation is damaged");
    bool weak = k && syms[k].st_shndx == SHN_UNDEF && ELF64_ST_BIND(syms[k].st_info) == STB_WEAK;
    if (k && !addresses[k] && !weak)
      return fail("a relocation uses a symbol that isn't loaded");
    uint8_t *place = base + offsets[table.sh_info] + r.r_offset;
    uint8_t *slot = base + slots + k * relocationSlot;
    Relocation rel{uint32_t(ELF64_R_TYPE(r.r_info)),
                   place,
                   target.sh_size - r.r_offset,
                   uint64_t(place),
                   addresses[k],
                   r.r_addend,
                   slot,
                   uint64_t(slot)};
    if (const char *why = relocate(machine, rel))
      return fail(std::string(why) + " (type " + std::to_string(rel.type) + ")");
  }
  return true;
}

bool Loader::keepSymbols() {
  for (size_t k = 1; k < syms.size(); ++k) {
    unsigned bind = ELF64_ST_BIND(syms[k].st_info);
    if ((bind != STB_GLOBAL && bind != STB_WEAK) || !isDefined(syms[k]))
      continue;
    const char *name = string(sections[strings], syms[k].st_name);
    if (!name)
      return fail("a symbol's name is damaged");
    image.symbols.push_back({name, reinterpret_cast<void *>(addresses[k])});
  }
  return true;
}

bool Loader::protect() {
  bool native = machine == nativeMachine;
  auto *code = static_cast<char *>(image.base);
  if (!codeBytes)
    return true;
  if (native)
    __builtin___clear_cache(code, code + codeBytes);
  if (mprotect(code, codeBytes, native ? PROT_READ | PROT_EXEC : PROT_READ))
    return fail("the system refuses executable memory");
  return true;
}

bool ObjectImage::load(const void *bytes, size_t size, SymbolResolver resolve, void *context, Diag &diag,
                       ElfMachine machine) {
  unload();
  if (Loader(*this, bytes, size, machine, diag).load(resolve, context))
    return true;
  unload();
  return false;
}

void *ObjectImage::symbol(const char *name) const {
  for (const ObjectSymbol &s : symbols)
    if (s.name == name)
      return s.address;
  return nullptr;
}

const std::string *ObjectImage::section(const char *name) const {
  for (const auto &s : sections)
    if (s.first == name)
      return &s.second;
  return nullptr;
}

void ObjectImage::unload() {
  if (base)
    munmap(base, mappedBytes);
  base = nullptr;
  mappedBytes = 0;
  symbols.clear();
  sections.clear();
}

void ObjectImage::swap(ObjectImage &o) {
  std::swap(base, o.base);
  std::swap(mappedBytes, o.mappedBytes);
  symbols.swap(o.symbols);
  sections.swap(o.sections);
}

} // namespace torchc
