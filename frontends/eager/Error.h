// The exception that frontends throw; the binding turns its kind into the Python class.
#pragma once
#include "dialects/rules/Diag.h"
#include <exception>
#include <string>
#include <utility>

namespace torchc {

class Error : public std::exception {
public:
  Error(ErrorKind kind, std::string text) : errorKind(kind), text(std::move(text)) {}
  explicit Error(Diag diag) : Error(diag.kind, std::move(diag.text)) {}
  ErrorKind kind() const { return errorKind; }
  const char *what() const noexcept override { return text.c_str(); }

private:
  ErrorKind errorKind;
  std::string text;
};

[[noreturn]] void fail(ErrorKind kind, std::string text);
/// RuntimeError, the class PyTorch raises for most bad input.
[[noreturn]] void fail(std::string text);
[[noreturn]] inline void fail(Diag diag) { throw Error(std::move(diag)); }

} // namespace torchc
