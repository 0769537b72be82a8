// Trace bytes (`.tctrace`, rule J1), their printed form and their cache key.
//
//   header    "TCTRACE\0", u32 version, u32 number of sections, SHA-256 of everything after the
//   header (48 bytes) table     per section {u32 kind, u32 count, u64 offset, u64 bytes} sections
//   8-aligned, in table order, without overlap; packed little-endian records (see TraceWriter.cpp)
#pragma once
#include "dialects/trace/Trace.h"

namespace torchc {

inline constexpr uint32_t traceVersion = 1;
inline constexpr size_t traceHeaderBytes = 48;

enum class TraceSection : uint32_t {
  Strings = 1,
  Ops,
  Sources,
  Symbols,
  Storages,
  Values,
  Nodes,
  Effects,
  Observations,
  Inputs,
  Outputs,
  Subgraphs
};
/// Unknown kinds below this are refused, others are skipped.
inline constexpr uint32_t traceOptionalSection = 0x8000;

/// The trace as bytes; the same trace always gives the same bytes. Without sources, these are the
/// cache-key bytes.
std::vector<uint8_t> writeTrace(const Trace &trace, bool sources = true);

/// Bytes that identify the program for the object cache: everything but the source positions.
inline std::vector<uint8_t> traceKey(const Trace &trace) { return writeTrace(trace, false); }

/// Reads and verifies. False leaves `out` unspecified and says in `diag` what is wrong and where.
/// `lookup` may be null: then ops stay unresolved. Uses memory proportional to `bytes`, whatever
/// they hold.
bool readTrace(std::span<const uint8_t> bytes, Trace &out, Diag &diag, LookupOp lookup = nullptr);

/// Writes the digest into the header again (after a tool or a test changed the bytes).
void sealTrace(std::span<uint8_t> bytes);

/// Readable text, one node per line: `%5 = mul.Tensor(%3, %4) : f32[64,10]  // file.py:12`.
std::string printTrace(const Trace &trace);

} // namespace torchc
