#include "dialects/trace/Zip.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace torchc;

namespace {

constexpr uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50, endSignature = 0x06054b50,
                   end64Signature = 0x06064b50, locator64Signature = 0x07064b50;
constexpr size_t localBytes = 30, centralBytes = 46, endBytes = 22, end64Bytes = 56, locatorBytes = 20;
constexpr uint16_t zip64Extra = 1, paddingExtra = 0x4354, utf8Flag = 0x0800, fixedDate = 0x0021;
constexpr uint32_t big32 = 0xffffffff;
constexpr size_t alignment = 64;

// Table k holds the effect of a byte followed by k zero bytes, so that eight bytes go in one step.
constexpr auto crcTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k)
      c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    tables[0][i] = c;
  }
  for (int t = 1; t < 8; ++t)
    for (int i = 0; i < 256; ++i)
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 255];
  return tables;
}();

struct Bytes {
  std::vector<uint8_t> out;
  void u16(uint64_t v) { put(v, 2); }
  void u32(uint64_t v) { put(v, 4); }
  void u64(uint64_t v) { put(v, 8); }
  void text(std::string_view s) { out.insert(out.end(), s.begin(), s.end()); }

private:
  void put(uint64_t v, int n) {
    for (int i = 0; i < n; ++i)
      out.push_back(uint8_t(v >> 8 * i));
  }
};

/// What goes before an entry's data, and its line in the directory.
struct Planned {
  std::vector<uint8_t> head;
  uint64_t offset = 0;
  uint32_t crc = 0;
};

/// Fields both headers share, from "version needed" to the sizes.
void common(Bytes &b, const ZipEntry &e, uint32_t crc, bool large) {
  b.u16(large ? 45 : 20);
  b.u16(utf8Flag);
  b.u16(0); // stored
  b.u16(0);
  b.u16(fixedDate);
  b.u32(crc);
  b.u32(large ? big32 : e.data.size());
  b.u32(large ? big32 : e.data.size());
  b.u16(e.name.size());
}

Planned plan(const ZipEntry &e, uint64_t offset) {
  bool large = e.data.size() >= big32;
  Planned p;
  p.offset = offset;
  p.crc = crc32(e.data);
  size_t extra = large ? 20 : 0;
  // A padding field needs 4 bytes of its own.
  size_t used = localBytes + e.name.size() + extra + 4;
  size_t pad = (alignment - (offset + used) % alignment) % alignment;
  Bytes b;
  b.u32(localSignature);
  common(b, e, p.crc, large);
  b.u16(extra + 4 + pad);
  b.text(e.name);
  if (large) {
    b.u16(zip64Extra), b.u16(16);
    b.u64(e.data.size()), b.u64(e.data.size());
  }
  b.u16(paddingExtra), b.u16(pad);
  b.out.resize(b.out.size() + pad);
  p.head = std::move(b.out);
  return p;
}

void directoryEntry(Bytes &b, const ZipEntry &e, const Planned &p) {
  bool large = e.data.size() >= big32 || p.offset >= big32;
  b.u32(centralSignature);
  b.u16(3 << 8 | 45); // made on Unix
  common(b, e, p.crc, large);
  b.u16(large ? 28 : 0);
  b.u16(0), b.u16(0), b.u16(0); // comment, disk, internal attributes
  b.u32(0100644u << 16);
  b.u32(large ? big32 : p.offset);
  b.text(e.name);
  if (large) {
    b.u16(zip64Extra), b.u16(24);
    b.u64(e.data.size()), b.u64(e.data.size()), b.u64(p.offset);
  }
}

/// Feeds the archive to `sink` piece by piece; stops when that returns false.
template <class Sink> bool emit(std::span<const ZipEntry> entries, Sink sink) {
  uint64_t offset = 0;
  Bytes directory;
  for (const ZipEntry &e : entries) {
    Planned p = plan(e, offset);
    if (!sink(std::span<const uint8_t>(p.head)) || !sink(e.data))
      return false;
    offset += p.head.size() + e.data.size();
    directoryEntry(directory, e, p);
  }
  uint64_t start = offset, size = directory.out.size(), count = entries.size();
  Bytes end;
  if (start >= big32 || size >= big32 || count >= 0xffff) {
    end.u32(end64Signature), end.u64(end64Bytes - 12);
    end.u16(3 << 8 | 45), end.u16(45), end.u32(0), end.u32(0);
    end.u64(count), end.u64(count), end.u64(size), end.u64(start);
    end.u32(locator64Signature), end.u32(0), end.u64(start + size), end.u32(1);
  }
  end.u32(endSignature), end.u16(0), end.u16(0);
  end.u16(std::min<uint64_t>(count, 0xffff)), end.u16(std::min<uint64_t>(count, 0xffff));
  end.u32(std::min<uint64_t>(size, big32)), end.u32(std::min<uint64_t>(start, big32)), end.u16(0);
  return sink(std::span<const uint8_t>(directory.out)) && sink(std::span<const uint8_t>(end.out));
}

class ZipReader {
public:
  ZipReader(std::span<const uint8_t> bytes, std::vector<ZipEntry> &out, Diag &diag)
      : bytes(bytes), out(out), diag(diag) {}

  bool run() { return findEnd() && directory() && disjoint(); }

private:
  std::span<const uint8_t> bytes;
  std::vector<ZipEntry> &out;
  Diag &diag;
  uint64_t count = 0, size = 0, start = 0;

  bool fail(const std::string &problem) { return diag.fail(ErrorKind::Runtime, "zip archive: " + problem); }
  // The callers have checked the range.
  uint64_t get(uint64_t at, int n) const {
    uint64_t v = 0;
    std::memcpy(&v, bytes.data() + at, size_t(n));
    return v;
  }

  bool findEnd() {
    if (bytes.size() < endBytes)
      return fail("an end record expected, got " + std::to_string(bytes.size()) + " bytes");
    uint64_t last = bytes.size() - endBytes, first = last > 0xffff ? last - 0xffff : 0;
    for (uint64_t at = last + 1; at-- > first;)
      if (get(at, 4) == endSignature && get(at + 20, 2) == bytes.size() - endBytes - at)
        return end(at);
    return fail("no end record found: truncated, or no zip archive");
  }

  bool end(uint64_t at) {
    if (get(at + 4, 2) || get(at + 6, 2))
      return fail("it spans several disks");
    count = get(at + 10, 2);
    size = get(at + 12, 4);
    start = get(at + 16, 4);
    uint64_t limit = at;
    if ((count == 0xffff || size == big32 || start == big32) && !end64(at, limit))
      return false;
    if (size > limit || start != limit - size)
      return fail("a directory of " + std::to_string(size) + " bytes right before the end record expected");
    if (count > size / centralBytes)
      return fail(std::to_string(count) + " entries don't fit into its directory");
    return true;
  }

  bool end64(uint64_t at, uint64_t &limit) {
    if (at < locatorBytes + end64Bytes || get(at - locatorBytes, 4) != locator64Signature)
      return fail("zip64 end record expected");
    limit = get(at - locatorBytes + 8, 8);
    if (limit != at - locatorBytes - end64Bytes || get(limit, 4) != end64Signature)
      return fail("zip64 end record expected right before its locator");
    count = get(limit + 32, 8);
    size = get(limit + 40, 8);
    start = get(limit + 48, 8);
    return true;
  }

  bool directory() {
    uint64_t at = start, end = start + size;
    out.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      if (end - at < centralBytes || get(at, 4) != centralSignature)
        return fail("directory entry " + std::to_string(i) + " expected at byte " + std::to_string(at));
      uint64_t name = get(at + 28, 2), extra = get(at + 30, 2), comment = get(at + 32, 2);
      if (end - at < centralBytes + name + extra + comment)
        return fail("directory entry " + std::to_string(i) + " reaches beyond the directory");
      if (!entry(at, name, extra))
        return false;
      at += centralBytes + name + extra + comment;
    }
    return at == end || fail("the directory has " + std::to_string(end - at) + " bytes too many");
  }

  static bool nameOk(std::string_view name) {
    if (name.empty() || name[0] == '/' || name.find('\\') != name.npos || name.find('\0') != name.npos)
      return false;
    for (size_t at = 0; at <= name.size();) {
      size_t slash = std::min(name.find('/', at), name.size());
      if (name.substr(at, slash - at) == "..")
        return false;
      at = slash + 1;
    }
    return true;
  }

  bool entry(uint64_t at, uint64_t nameSize, uint64_t extraSize) {
    std::string name(reinterpret_cast<const char *>(bytes.data() + at + centralBytes), nameSize);
    if (!nameOk(name))
      return fail("an entry's name is empty or leads out of the archive");
    auto bad = [&](const std::string &problem) { return fail("entry '" + name + "': " + problem); };
    if (uint64_t flags = get(at + 8, 2); flags & ~uint64_t(utf8Flag))
      return bad("plain entry expected, got flags " + std::to_string(flags) +
                 " (encrypted, or with a data descriptor)");
    if (uint64_t method = get(at + 10, 2))
      return bad("stored (uncompressed) entry expected, got method " + std::to_string(method));
    uint64_t crc = get(at + 16, 4), packed = get(at + 20, 4), plain = get(at + 24, 4), local = get(at + 42, 4);
    large(at + centralBytes + nameSize, extraSize, plain, packed, local);
    if (packed != plain)
      return bad("sizes " + std::to_string(packed) + " and " + std::to_string(plain) + " differ");
    if (local > start || start - local < localBytes || get(local, 4) != localSignature)
      return bad("no header at byte " + std::to_string(local));
    uint64_t head = localBytes + get(local + 26, 2) + get(local + 28, 2);
    if (get(local + 26, 2) != nameSize || get(local + 8, 2) || start - local < head ||
        std::memcmp(bytes.data() + local + localBytes, name.data(), nameSize) != 0)
      return bad("its header and its directory entry differ");
    if (start - local - head < plain)
      return bad(std::to_string(plain) + " bytes at byte " + std::to_string(local + head) +
                 " reach into the directory");
    // Checked before the digest: overlapping entries could make that cost the square of the file's
    // size.
    total += head + plain;
    if (total > start)
      return bad("it overlaps another entry");
    std::span<const uint8_t> data = bytes.subspan(local + head, plain);
    if (crc32(data) != crc)
      return bad("CRC-32 doesn't match: damaged");
    spans.emplace_back(local, local + head + plain);
    out.push_back({std::move(name), data});
    return true;
  }

  /// Takes the 64-bit fields where the 32-bit ones are saturated; a missing one leaves the value
  /// and fails later.
  void large(uint64_t at, uint64_t bytesLeft, uint64_t &plain, uint64_t &packed, uint64_t &local) {
    for (uint64_t end = at + bytesLeft; end - at >= 4;) {
      uint64_t id = get(at, 2), n = get(at + 2, 2);
      at += 4;
      if (n > end - at)
        return;
      if (id == zip64Extra) {
        uint64_t field = at, stop = at + n;
        for (uint64_t *v : {&plain, &packed, &local})
          if (*v == big32 && stop - field >= 8) {
            *v = get(field, 8);
            field += 8;
          }
        return;
      }
      at += n;
    }
  }

  uint64_t total = 0;
  std::vector<std::pair<uint64_t, uint64_t>> spans;

  bool disjoint() {
    std::sort(spans.begin(), spans.end());
    for (size_t i = 1; i < spans.size(); ++i)
      if (spans[i].first < spans[i - 1].second)
        return fail("two entries overlap at byte " + std::to_string(spans[i].first));
    std::vector<std::string_view> names;
    for (const ZipEntry &e : out)
      names.push_back(e.name);
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() || fail("entry '" + std::string(*twice) + "' appears twice");
  }
};

} // namespace

uint32_t torchc::crc32(std::span<const uint8_t> bytes, uint32_t crc) {
  uint32_t c = ~crc;
  const uint8_t *p = bytes.data(), *end = p + bytes.size();
  for (; end - p >= 8; p += 8) {
    uint32_t lo, hi;
    std::memcpy(&lo, p, 4);
    std::memcpy(&hi, p + 4, 4);
    lo ^= c;
    c = crcTables[7][lo & 255] ^ crcTables[6][lo >> 8 & 255] ^ crcTables[5][lo >> 16 & 255] ^ crcTables[4][lo >> 24] ^
        crcTables[3][hi & 255] ^ crcTables[2][hi >> 8 & 255] ^ crcTables[1][hi >> 16 & 255] ^ crcTables[0][hi >> 24];
  }
  for (; p < end; ++p)
    c = c >> 8 ^ crcTables[0][(c ^ *p) & 255];
  return ~c;
}

std::vector<uint8_t> torchc::writeZip(std::span<const ZipEntry> entries) {
  std::vector<uint8_t> out;
  emit(entries, [&](std::span<const uint8_t> piece) {
    out.insert(out.end(), piece.begin(), piece.end());
    return true;
  });
  return out;
}

/// A new file next to `path`; its name is no other thread's nor that of a file that somebody left behind.
static FILE *openTemporary(const std::string &path, std::string &name) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; attempt++) {
    name = path + ".tmp" + std::to_string(random());
    if (FILE *file = std::fopen(name.c_str(), "wbxe"); file || errno != EEXIST)
      return file;
  }
  return nullptr;
}

bool torchc::writeZipFile(const std::string &path, std::span<const ZipEntry> entries, Diag &diag) {
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) // a rename would replace a device or a pipe
    return diag.fail(ErrorKind::OS, "cannot write '" + path + "': it is " +
                                        (S_ISDIR(there.st_mode) ? "a folder" : "not a regular file"));
  std::string temporary;
  FILE *file = openTemporary(path, temporary);
  bool ok = file && emit(entries, [&](std::span<const uint8_t> piece) {
              return std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
            });
  ok = ok && std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  int error = errno;
  if (file && std::fclose(file) != 0 && ok) {
    ok = false;
    error = errno;
  }
  if (ok && std::rename(temporary.c_str(), path.c_str()) != 0) {
    ok = false;
    error = errno;
  }
  if (ok)
    return true;
  if (file)
    std::remove(temporary.c_str());
  return diag.fail(ErrorKind::OS, "cannot write '" + path + "': " + std::strerror(error));
}

bool torchc::readZip(std::span<const uint8_t> bytes, std::vector<ZipEntry> &entries, Diag &diag) {
  entries.clear();
  return ZipReader(bytes, entries, diag).run();
}
