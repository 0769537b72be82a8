// The safetensors format: u64 header length, a JSON header {name: {dtype, shape, data_offsets}},
// then the tensors' bytes without gaps. Data starts at a multiple of 64 bytes and items are
// aligned, so that a mapped file can be used in place.
#pragma once
#include "dialects/rules/DType.h"
#include "dialects/rules/Diag.h"
#include <map>
#include <span>
#include <string>
#include <vector>

namespace torchc {

/// A named row-major tensor; the data is borrowed and has exactly the bytes that shape and dtype
/// ask for.
struct SafeTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::span<const uint8_t> data;
};

using SafeMetadata = std::map<std::string, std::string>;

/// False (with `diag`) when a name repeats, a name isn't UTF-8, data has the wrong size, or a dtype
/// has no name in the format (complex128). Larger items come first in the file; otherwise the order
/// is kept.
bool writeSafetensors(std::span<const SafeTensor> tensors, const SafeMetadata &metadata, std::vector<uint8_t> &out,
                      Diag &diag);

/// Lists the tensors in file order; their data points into `bytes`. Refuses headers over 100 MB,
/// gaps, overlaps, sizes that don't match and names given twice; a dtype we don't have is a
/// NotImplemented error naming it.
bool readSafetensors(std::span<const uint8_t> bytes, std::vector<SafeTensor> &tensors, SafeMetadata &metadata,
                     Diag &diag);

} // namespace torchc
