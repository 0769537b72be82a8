#include "runtime/emulator/Parser.h"

namespace torchc::ptx {

std::string trimmed(std::string_view s) {
  size_t from = s.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos)
    return {};
  return std::string(s.substr(from, s.find_last_not_of(" \t\r\n") - from + 1));
}

std::vector<std::string> split(std::string_view s, char by) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= s.size();) {
    size_t end = std::min(s.find(by, from), s.size());
    out.push_back(trimmed(s.substr(from, end - from)));
    from = end + 1;
  }
  return out;
}

/// Directives without ';' (.version and its like, an entry's head) are pieces up to the line's end or the brace.
Piece Pieces::next() {
  std::string piece;
  int start = line;
  auto done = [&](Piece::Kind kind) { return Piece{kind, trimmed(piece), start}; };
  while (at < text.size()) {
    char c = text[at++];
    if (c == '/' && at < text.size() && text[at] == '/') {
      while (at < text.size() && text[at] != '\n')
        ++at;
      continue;
    }
    bool blank = trimmed(piece).empty();
    if (blank)
      start = line;
    line += c == '\n';
    bool isInstruction = !blank && piece.find_first_not_of(" \t\r\n") != std::string::npos && trimmed(piece)[0] != '.';
    if (c == ';')
      return done(Piece::Code);
    if (c == '{' && !isInstruction) {
      if (blank)
        return done(Piece::Open);
      --at;
      return done(Piece::Code);
    }
    if (c == '}' && blank)
      return done(Piece::Close);
    if (c == ':' && !blank && trimmed(piece).find_first_of(" \t[") == std::string::npos)
      return done(Piece::Label);
    if (c == '\n' && !blank) {
      std::string t = trimmed(piece);
      if (t.rfind(".version", 0) == 0 || t.rfind(".target", 0) == 0 || t.rfind(".address_size", 0) == 0)
        return done(Piece::Code);
    }
    piece += c;
  }
  return trimmed(piece).empty() ? done(Piece::End) : done(Piece::Code);
}

Statement parseStatement(const std::string &text, int line) {
  Statement s;
  s.line = line;
  std::string rest = text;
  if (rest[0] == '@') {
    size_t end = rest.find_first_of(" \t");
    s.negated = rest[1] == '!';
    s.guard = rest.substr(s.negated ? 2 : 1, end - (s.negated ? 2 : 1));
    rest = end == std::string::npos ? "" : trimmed(rest.substr(end));
  }
  size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  s.opcode = split(rest.substr(0, end), '.');
  std::string item;
  int depth = 0;
  auto flush = [&] {
    std::string t = trimmed(item);
    item.clear();
    if (t.empty())
      return;
    if (t[0] == '{')
      s.operands.push_back(split(t.substr(1, t.size() - 2), ','));
    else
      s.operands.push_back({t});
  };
  for (char c : rest.substr(end)) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == ',' && !depth)
      flush();
    else
      item += c;
  }
  flush();
  return s;
}

} // namespace torchc::ptx
