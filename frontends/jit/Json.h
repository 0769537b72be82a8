// Reads the JSON that the compiler writes: what it says about an object, and its errors. Walks the text once and builds
// nothing; nesting is bounded.
#pragma once
#include "dialects/rules/Diag.h"
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace torchc::jit {

class JsonReader {
public:
  /// `what` names the text in errors.
  JsonReader(std::string_view text, const char *what, Diag &diag)
      : at(text.data()), end(at + text.size()), what(what), diag(diag) {}

  bool fail() { return diag.fail(ErrorKind::Runtime, std::string(what) + ": malformed JSON"); }
  bool take(char c) {
    space();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool string(std::string &to) {
    to.clear();
    if (!take('"'))
      return fail();
    while (at != end && *at != '"')
      if (*at != '\\')
        to += *at++;
      else if (!escape(to))
        return fail();
    return take('"') || fail();
  }
  bool integer(int64_t &to) {
    space();
    char *stop;
    std::string digits(at, size_t(std::min<ptrdiff_t>(end - at, 24)));
    to = std::strtoll(digits.c_str(), &stop, 10);
    if (stop == digits.c_str())
      return fail();
    at += stop - digits.c_str();
    return true;
  }
  /// [ item, item ... ]
  template <class F> bool array(F item) {
    if (!take('['))
      return fail();
    if (take(']'))
      return true;
    do
      if (!item())
        return false;
    while (take(','));
    return take(']') || fail();
  }
  /// { "key": member, ... }
  template <class F> bool object(F member) {
    if (!take('{'))
      return fail();
    if (take('}'))
      return true;
    std::string key;
    do
      if (!string(key) || !take(':') || !member(key))
        return fail();
    while (take(','));
    return take('}') || fail();
  }
  bool skip(int depth = 0) {
    space();
    if (at == end || depth > 16)
      return fail();
    std::string s;
    if (*at == '"')
      return string(s);
    if (*at == '[')
      return array([&] { return skip(depth + 1); });
    if (*at == '{')
      return object([&](const std::string &) { return skip(depth + 1); });
    const char *from = at;
    while (at != end && *at != ',' && *at != ']' && *at != '}' && *at != ' ')
      ++at;
    return at != from || fail();
  }

private:
  /// After a backslash. Of \u only what the writers use: characters below U+0080; others become "?".
  bool escape(std::string &to) {
    if (end - at < 2)
      return false;
    char c = at[1];
    at += 2;
    if (c == 'u') {
      if (end - at < 4)
        return false;
      long code = std::strtol(std::string(at, 4).c_str(), nullptr, 16);
      at += 4;
      to += code < 0x80 ? char(code) : '?';
      return true;
    }
    to += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
    return true;
  }
  void space() {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
      ++at;
  }
  const char *at, *end, *what;
  Diag &diag;
};

} // namespace torchc::jit
