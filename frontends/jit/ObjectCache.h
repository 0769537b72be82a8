// The disk cache of compiled objects (rule J9): content-addressed by the SHA-256 of a compile
// request, safe for many processes and kill -9, bounded in size. Trouble of any kind means "no
// entry" plus a record, never an error.
#pragma once
#include "dialects/trace/Sha256.h"
#include "frontends/jit/Records.h"
#include <mutex>
#include <optional>
#include <vector>

namespace torchc::jit {

/// TORCHC_CACHE_DIR, else .cache/torchc in the user's home folder; empty when there is neither.
std::string defaultCacheFolder();

struct CacheOptions {
  std::string folder = defaultCacheFolder();
  uint64_t maxBytes = uint64_t(1) << 30;
  /// A hit moves an entry to the young end of the eviction order, unless that happened this
  /// recently.
  unsigned touchSeconds = 3600;
  Records *records = &Records::global();
};

class ObjectCache {
public:
  /// Opens (or makes) the folder `objects-v1` inside `folder`, which must be 0700 and owned by the
  /// user.
  explicit ObjectCache(CacheOptions options = {});
  ~ObjectCache();
  ObjectCache(const ObjectCache &) = delete;

  /// False when there is no usable folder: loads miss, stores do nothing.
  bool usable() const { return folder >= 0; }

  /// The stored bytes, verified. A damaged entry is removed and recorded. Costs about 20 us for 50
  /// KB.
  std::optional<std::vector<uint8_t>> load(const Sha256Digest &key);

  /// Stores durably (two fsyncs: about 1 ms; call from a background thread). False when nothing was
  /// stored.
  bool store(const Sha256Digest &key, std::span<const uint8_t> bytes);

  void remove(const Sha256Digest &key);

  /// Deletes the entries used longest ago until at most `maxBytes` are left, and what a killed
  /// process left behind.
  void trim();

private:
  CacheOptions options;
  int folder = -1;
  std::mutex trimMutex;
  uint64_t storedSinceTrim = 0;
  bool trimmed = false;

  void note(const std::string &reason, const std::string &value = {});
  bool openFolder();
  bool writeEntry(const char *temporary, const Sha256Digest &key, std::span<const uint8_t> bytes);
};

} // namespace torchc::jit
