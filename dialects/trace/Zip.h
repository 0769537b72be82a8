// Zip archives with stored (uncompressed) entries only, as saved programs use them (`.tcz`, rule
// J1). Data starts at a multiple of 64 bytes, so that a mapped archive can be used in place.
// Archives over 4 GiB use the zip64 records.
#pragma once
#include "dialects/rules/Diag.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace torchc {

/// A named run of bytes; the data is borrowed.
struct ZipEntry {
  std::string name;
  std::span<const uint8_t> data;
};

/// The archive's bytes; the same entries always give the same bytes (the date is fixed). Names: at
/// most 65,535 bytes.
std::vector<uint8_t> writeZip(std::span<const ZipEntry> entries);

/// Writes beside `path` and renames, so that a reader sees the old file or the whole new one. False
/// with an OS error in `diag` when that fails; then nothing is left behind.
bool writeZipFile(const std::string &path, std::span<const ZipEntry> entries, Diag &diag);

/// Lists the entries; their data points into `bytes`. Refuses compressed, encrypted, overlapping,
/// escaping ("../") and damaged entries, naming the entry. Uses memory proportional to the
/// directory.
bool readZip(std::span<const uint8_t> bytes, std::vector<ZipEntry> &entries, Diag &diag);

/// CRC-32 of zip and PNG, continued from `crc`.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc = 0);

} // namespace torchc
