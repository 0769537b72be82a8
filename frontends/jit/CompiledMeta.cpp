// Reads the few JSON forms that .torchc.meta has. Unknown keys are skipped.
#include "frontends/jit/Compiled.h"
#include <cstdlib>

namespace torchc::jit {
namespace {

class Reader {
public:
  Reader(std::string_view text, Diag &diag) : at(text.data()), end(at + text.size()), diag(diag) {}

  bool fail() { return diag.fail(ErrorKind::Runtime, "object: malformed metadata"); }
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
    while (at != end && *at != '"') {
      if (*at == '\\' && ++at == end)
        return fail();
      to += *at++;
    }
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
  void space() {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
      ++at;
  }
  const char *at, *end;
  Diag &diag;
};

} // namespace

bool parseMeta(std::string_view json, CompiledMeta &meta, Diag &diag) {
  Reader r(json, diag);
  int64_t version = 0;
  auto storages = [&](std::vector<uint32_t> &to) {
    return r.array([&] {
      int64_t s = -1;
      bool ok = r.object([&](const std::string &key) { return key == "storage" ? r.integer(s) : r.skip(); });
      to.push_back(uint32_t(s));
      return ok;
    });
  };
  bool ok = r.object([&](const std::string &key) {
    if (key == "version")
      return r.integer(version);
    if (key == "arena")
      return r.integer(meta.arena);
    if (key == "results")
      return storages(meta.results);
    if (key == "writes")
      return storages(meta.writes);
    if (key == "inputs")
      return r.array([&] {
        meta.inputs++;
        return r.skip();
      });
    return r.skip();
  });
  if (!ok)
    return r.fail();
  if (version != 1)
    return diag.fail(ErrorKind::Runtime, "object: metadata version: expected 1, got " + std::to_string(version));
  if (meta.arena < 0 || meta.arena > maxAllocation)
    return diag.fail(ErrorKind::Runtime, "object: an arena of " + std::to_string(meta.arena) + " bytes");
  return true;
}

} // namespace torchc::jit
