// The pieces of a PTX text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace torchc::ptx {

/// One instruction's text: guard, opcode parts, operands; vectors in braces are one operand of several names.
struct Statement {
  int line = 0;
  std::string guard; // "%p1"
  bool negated = false;
  std::vector<std::string> opcode; // "ld", "global", "b32"
  std::vector<std::vector<std::string>> operands;

  bool has(std::string_view part) const {
    for (size_t i = 1; i < opcode.size(); ++i)
      if (opcode[i] == part)
        return true;
    return false;
  }
};

/// Text up to a ';', a brace or a label's ':'; comments are gone.
struct Piece {
  enum Kind { Code, Open, Close, Label, End } kind;
  std::string text;
  int line;
};

class Pieces {
public:
  explicit Pieces(std::string_view text) : text(text) {}
  Piece next();

private:
  std::string_view text;
  size_t at = 0;
  int line = 1;
};

std::string trimmed(std::string_view s);
std::vector<std::string> split(std::string_view s, char by);
Statement parseStatement(const std::string &text, int line);

} // namespace torchc::ptx
