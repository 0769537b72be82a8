#include "compiler/link/WeightsSegment.h"
#include "compiler/link/Files.h"
#include "llvm/BinaryFormat/ELF.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
namespace torchc::link {
namespace {

uint64_t alignTo(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

/// Header tables of the linked file, as they are and as they will be.
struct Tables {
  ELF::Elf64_Ehdr header;
  std::vector<ELF::Elf64_Phdr> segments;
  std::vector<ELF::Elf64_Shdr> sections;
  std::string names;
};

template <class T> bool readAt(int fd, T *to, size_t count, uint64_t offset) {
  return ::pread(fd, to, count * sizeof(T), offset) == ssize_t(count * sizeof(T));
}
template <class T> bool writeAt(int fd, const T *from, size_t count, uint64_t offset) {
  return ::pwrite(fd, from, count * sizeof(T), offset) == ssize_t(count * sizeof(T));
}

bool readTables(int fd, Tables &t) {
  if (!readAt(fd, &t.header, 1, 0))
    return false;
  t.segments.resize(t.header.e_phnum);
  t.sections.resize(t.header.e_shnum);
  if (!readAt(fd, t.segments.data(), t.segments.size(), t.header.e_phoff) ||
      !readAt(fd, t.sections.data(), t.sections.size(), t.header.e_shoff))
    return false;
  const ELF::Elf64_Shdr &names = t.sections[t.header.e_shstrndx];
  t.names.resize(names.sh_size);
  return readAt(fd, t.names.data(), t.names.size(), names.sh_offset);
}

/// Turns the note's program header into the weights'; false when the linker laid the file out in an
/// unknown way.
bool placeSegment(Tables &t, uint64_t fileEnd, uint64_t bytes, uint64_t page) {
  ELF::Elf64_Phdr *note = nullptr;
  uint64_t end = 0;
  for (ELF::Elf64_Phdr &p : t.segments) {
    if (p.p_type == ELF::PT_LOAD) {
      end = std::max(end, p.p_vaddr + p.p_memsz);
      if (note)
        return false; // loaded segments must stay in ascending order
    }
    if (p.p_type == ELF::PT_NOTE)
      note = &p;
  }
  if (!note)
    return false;
  *note = {};
  note->p_type = ELF::PT_LOAD;
  note->p_flags = ELF::PF_R;
  note->p_offset = alignTo(fileEnd, page);
  note->p_vaddr = note->p_paddr = alignTo(end, page);
  note->p_filesz = note->p_memsz = bytes;
  note->p_align = page;

  ELF::Elf64_Shdr s{};
  s.sh_name = t.names.size();
  t.names += StringRef(".torchc.weights\0", 16);
  s.sh_type = ELF::SHT_PROGBITS;
  s.sh_flags = ELF::SHF_ALLOC;
  s.sh_addr = note->p_vaddr;
  s.sh_offset = note->p_offset;
  s.sh_size = bytes;
  s.sh_addralign = page;
  t.sections.push_back(s);
  return true;
}

bool writeTables(int fd, Tables &t, uint64_t at) {
  ELF::Elf64_Shdr &names = t.sections[t.header.e_shstrndx];
  names.sh_offset = at;
  names.sh_size = t.names.size();
  t.header.e_shoff = alignTo(at + t.names.size(), 8);
  t.header.e_shnum = t.sections.size();
  return writeAt(fd, t.names.data(), t.names.size(), at) &&
         writeAt(fd, t.sections.data(), t.sections.size(), t.header.e_shoff) &&
         writeAt(fd, t.segments.data(), t.segments.size(), t.header.e_phoff) && writeAt(fd, &t.header, 1, 0);
}

bool writeWeightsAt(int fd, const Model &m, ArrayRef<uint64_t> offsets, uint64_t at) {
  for (unsigned i = 0; i < m.weights.size(); ++i)
    if (::lseek(fd, at + offsets[i], SEEK_SET) < 0 || !writeAll(fd, m.weights[i]))
      return false;
  return ::ftruncate(fd, at + offsets.back()) == 0; // the last one's padding
}
} // namespace

bool appendWeights(const Model &m, const std::string &path, Diag &diag) {
  std::vector<uint64_t> offsets = weightOffsets(m);
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  Tables t;
  bool ok = fd >= 0 && readTables(fd, t);
  off_t fileEnd = ok ? ::lseek(fd, 0, SEEK_END) : -1;
  uint64_t page = m.arch == Arch::X86_64 ? 4096 : 65536; // the largest page of the architecture
  if (ok && !placeSegment(t, fileEnd, offsets.back(), page)) {
    ::close(fd);
    return diag.fail(ErrorKind::Internal, "the linked file has no room for the weights' program header");
  }
  uint64_t at = ok ? t.sections.back().sh_offset : 0;
  ok = ok && writeWeightsAt(fd, m, offsets, at) && writeTables(fd, t, at + offsets.back());
  int error = errno;
  if (fd >= 0 && ::close(fd) && ok) {
    ok = false;
    error = errno;
  }
  return ok || diag.fail(ErrorKind::OS, "cannot write the weights: " + std::string(strerror(error)));
}

} // namespace torchc::link
