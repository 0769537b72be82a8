// The bytes that program and helper exchange (rule A1): a frame is u64 length, u64 id, `length`
// bytes; a request is "TCRQ", u32 version, u32 n, n bytes of options JSON, trace; an answer is u32
// status, then pieces {u32 kind length, u64 byte count, kind, bytes}.
#pragma once
#include "dialects/rules/Diag.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchc::jit {

inline constexpr size_t frameHeaderBytes = 16;
inline constexpr uint32_t requestVersion = 1;

std::vector<uint8_t> makeCompileRequest(std::string_view optionsJson, std::span<const uint8_t> trace);

/// One piece of an answer: "object", "text", "record", "error" (JSON) ...; borrows from the
/// answer's bytes.
struct AnswerPiece {
  std::string_view kind;
  std::span<const uint8_t> bytes;
};

struct CompileAnswer {
  uint32_t status = 0; // 0 done, 1 the request is at fault, 2 internal error
  std::vector<AnswerPiece> pieces;

  /// The first piece of that kind, or null.
  const AnswerPiece *find(std::string_view kind) const;
};

/// False with `diag` when the bytes are no answer.
bool parseCompileAnswer(std::span<const uint8_t> bytes, CompileAnswer &answer, Diag &diag);

} // namespace torchc::jit
