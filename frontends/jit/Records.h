// What the JIT did that a user may want to know: fallbacks, misses, specialisations, failed
// compiles, relaxations, cache and helper trouble (C5, J8). Bounded, aggregated per site, safe to
// use from any thread and across fork.
#pragma once
#include "runtime/core/ForkMutex.h"
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchc::jit {

enum class RecordKind : uint8_t { Fallback, Miss, Specialise, CompileFailed, Relaxation, Cache, Helper };
/// "compile-failed" and so on, as the reports print it.
const char *kindName(RecordKind kind);

/// Appends `text` as a JSON string, quoted and escaped.
void appendJsonString(std::string &out, std::string_view text);

/// A place in the user's program; `line` 0 and empty names where there is none.
struct Site {
  std::string file, function;
  uint32_t line = 0;
};

struct Record {
  RecordKind kind = RecordKind::Fallback;
  Site site;
  std::string reason;
  std::string oldValue, newValue; // of the last occurrence
  uint64_t count = 0;
  uint64_t first = 0, last = 0; // running numbers of the first and the last occurrence
};

class Records {
public:
  /// Keeps the `capacity` records that occurred last; texts are cut at 1,000 bytes.
  explicit Records(size_t capacity = 1024);
  ~Records();
  Records(const Records &) = delete;

  /// Counts an occurrence. Equal kind, site and reason are one record.
  void add(RecordKind kind, const Site &site, std::string reason, std::string oldValue = {}, std::string newValue = {});

  /// Oldest first occurrence first.
  std::vector<Record> all() const;
  /// Records that made room for newer ones.
  uint64_t dropped() const;
  void clear();

  /// `model.py:12 forward: miss: reason (3 -> 4), 7 times`, one record per line.
  std::string text() const;
  /// {"dropped": n, "records": [{"kind", "file", "line", "function", "reason", "old", "new",
  /// "count"}]}
  std::string json() const;

  /// The process's records; never destroyed.
  static Records &global();

private:
  ForkMutex mutex{LockOrder::Records};
  size_t capacity;
  uint64_t clock = 0, numDropped = 0;
  std::list<Record> byUse; // least recent first
  std::unordered_map<std::string, std::list<Record>::iterator> index;
};

} // namespace torchc::jit
