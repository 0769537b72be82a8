// How a rule reports bad input: a kind (which exception class a frontend raises) and a text naming what was expected
// and what came. Rules never throw; `Diag` travels by pointer and the first report wins.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

namespace torchc {

/// The exception class a frontend raises; Runtime is PyTorch's RuntimeError and so on.
enum class ErrorKind : uint8_t { None, Runtime, Type, Value, Index, NotImplemented, Memory, OS, Internal };

struct Diag {
  ErrorKind kind = ErrorKind::None;
  std::string text;

  /// Records the first error and returns false, so that rules can `return diag.fail(...)`.
  bool fail(ErrorKind k, std::string message) {
    if (kind == ErrorKind::None) {
      kind = k;
      text = std::move(message);
    }
    return false;
  }
  bool ok() const { return kind == ErrorKind::None; }
};

} // namespace torchc
