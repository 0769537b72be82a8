#include "frontends/jit/Records.h"
#include <algorithm>

using namespace torchc::jit;

namespace {

constexpr size_t maxText = 1000;

/// Cuts at a character boundary of UTF-8.
void cut(std::string &text) {
  if (text.size() <= maxText)
    return;
  size_t n = maxText;
  while (n && (uint8_t(text[n]) & 0xc0) == 0x80)
    --n;
  text.resize(n);
  text += "...";
}

std::string keyOf(RecordKind kind, const Site &site, const std::string &reason) {
  std::string key(1, char(kind));
  key += std::to_string(site.line);
  for (const std::string *s : {&site.file, &site.function, &reason}) {
    key += '\0';
    key += *s;
  }
  return key;
}

} // namespace

void torchc::jit::appendJsonString(std::string &out, std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (uint8_t(c) < 0x20) {
      out += "\\u00";
      out += digits[uint8_t(c) >> 4];
      out += digits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// Made when the library is loaded: a first use that races with a fork would leave the child a half-made static.
[[maybe_unused]] static Records &made = Records::global();

const char *torchc::jit::kindName(RecordKind kind) {
  static const char *const names[] = {"fallback",   "miss",  "specialise", "compile-failed",
                                      "relaxation", "cache", "helper"};
  return names[int(kind)];
}

Records::Records(size_t capacity) : capacity(std::max<size_t>(capacity, 1)) {}
Records::~Records() = default;

Records &Records::global() {
  static Records *records = new Records(); // never destroyed: threads may add while the program ends
  return *records;
}

void Records::add(RecordKind kind, const Site &site, std::string reason, std::string oldValue, std::string newValue) {
  for (std::string *s : {&reason, &oldValue, &newValue})
    cut(*s);
  std::string key = keyOf(kind, site, reason);
  std::lock_guard<std::mutex> lock(mutex);
  ++clock;
  auto found = index.find(key);
  if (found == index.end()) {
    if (byUse.size() == capacity) {
      const Record &old = byUse.front();
      index.erase(keyOf(old.kind, old.site, old.reason));
      byUse.pop_front();
      ++numDropped;
    }
    byUse.push_back({kind, site, std::move(reason), {}, {}, 0, clock, 0});
    found = index.emplace(std::move(key), std::prev(byUse.end())).first;
  } else {
    byUse.splice(byUse.end(), byUse, found->second);
  }
  Record &r = *found->second;
  r.oldValue = std::move(oldValue);
  r.newValue = std::move(newValue);
  r.last = clock;
  ++r.count;
}

std::vector<Record> Records::all() const {
  std::vector<Record> list;
  {
    std::lock_guard<std::mutex> lock(mutex);
    list.assign(byUse.begin(), byUse.end());
  }
  std::sort(list.begin(), list.end(), [](const Record &a, const Record &b) { return a.first < b.first; });
  return list;
}

uint64_t Records::dropped() const {
  std::lock_guard<std::mutex> lock(mutex);
  return numDropped;
}

void Records::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  byUse.clear();
  index.clear();
  numDropped = 0;
}

std::string Records::text() const {
  std::string out;
  for (const Record &r : all()) {
    if (!r.site.file.empty())
      out += r.site.file + ":" + std::to_string(r.site.line) + " ";
    if (!r.site.function.empty())
      out += r.site.function + ": ";
    out += std::string(kindName(r.kind)) + ": " + r.reason;
    if (!r.oldValue.empty() || !r.newValue.empty())
      out += " (" + r.oldValue + " -> " + r.newValue + ")";
    out += ", " + std::to_string(r.count) + (r.count == 1 ? " time\n" : " times\n");
  }
  if (uint64_t n = dropped())
    out += std::to_string(n) + " older records were dropped\n";
  return out;
}

std::string Records::json() const {
  std::string out = "{\"dropped\":" + std::to_string(dropped()) + ",\"records\":[";
  bool first = true;
  for (const Record &r : all()) {
    out += first ? "{\"kind\":" : ",{\"kind\":";
    first = false;
    appendJsonString(out, kindName(r.kind));
    out += ",\"file\":";
    appendJsonString(out, r.site.file);
    out += ",\"line\":" + std::to_string(r.site.line) + ",\"function\":";
    appendJsonString(out, r.site.function);
    out += ",\"reason\":";
    appendJsonString(out, r.reason);
    out += ",\"old\":";
    appendJsonString(out, r.oldValue);
    out += ",\"new\":";
    appendJsonString(out, r.newValue);
    out += ",\"count\":" + std::to_string(r.count) + "}";
  }
  return out + "]}";
}
