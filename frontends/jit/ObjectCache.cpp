#include "frontends/jit/ObjectCache.h"
#include "runtime/core/knobs.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace torchc;
using namespace torchc::jit;

namespace {

constexpr const char *subfolder = "objects-v1";
constexpr uint64_t maxEntry = uint64_t(1) << 30;
constexpr time_t abandonedAfter = 3600; // a temporary file this old belongs to nobody

/// What stands before the bytes of an entry.
struct EntryHeader {
  char magic[8] = {'T', 'C', 'O', 'B', 'J', 0, 0, 1};
  uint64_t bytes = 0;
  uint64_t digest[2] = {0, 0}; // XXH3-128 of key, size and bytes
  uint8_t key[32] = {};
};
static_assert(sizeof(EntryHeader) == 64);

EntryHeader headerOf(const Sha256Digest &key, std::span<const uint8_t> bytes) {
  EntryHeader h;
  h.bytes = bytes.size();
  std::memcpy(h.key, key.data(), key.size());
  uint64_t seed = XXH3_64bits_withSeed(h.key, sizeof h.key, h.bytes);
  XXH128_hash_t digest = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  h.digest[0] = digest.low64;
  h.digest[1] = digest.high64;
  return h;
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

bool readAll(int fd, void *to, size_t n) {
  for (auto *p = static_cast<uint8_t *>(to); n;) {
    ssize_t got = read(fd, p, n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    p += got;
    n -= size_t(got);
  }
  return true;
}

bool writeAll(int fd, const void *from, size_t n) {
  for (auto *p = static_cast<const uint8_t *>(from); n;) {
    ssize_t done = write(fd, p, n);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return false;
    p += done;
    n -= size_t(done);
  }
  return true;
}

/// mkdir -p, new folders 0700.
bool makeFolders(const std::string &path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && access(part.c_str(), F_OK) != 0)
      return false;
    at = at == std::string::npos ? at : at + 1;
  }
  return true;
}

bool isEntryName(const char *name) { return std::strlen(name) == 64 && std::strspn(name, "0123456789abcdef") == 64; }
bool isTemporaryName(const char *name) { return std::strncmp(name, ".tmp-", 5) == 0; }

} // namespace

std::string torchc::jit::defaultCacheFolder() {
  if (const char *folder = knobs().cacheDir)
    return folder;
  char buffer[4096];
  passwd user, *found = nullptr;
  if (getpwuid_r(geteuid(), &user, buffer, sizeof buffer, &found) != 0 || !found || !found->pw_dir ||
      found->pw_dir[0] != '/')
    return {};
  return std::string(found->pw_dir) + "/.cache/torchc";
}

ObjectCache::ObjectCache(CacheOptions given) : options(std::move(given)) {
  if (!openFolder() && folder >= 0) {
    close(folder);
    folder = -1;
  }
}

ObjectCache::~ObjectCache() {
  if (folder >= 0)
    close(folder);
}

void ObjectCache::note(const std::string &reason, const std::string &value) {
  if (options.records)
    options.records->add(RecordKind::Cache, {}, reason, {}, value);
}

bool ObjectCache::openFolder() {
  auto fail = [&](const std::string &why) {
    note("works without a cache folder: " + why, options.folder);
    return false;
  };
  if (options.folder.empty())
    return fail("the user has no home folder and TORCHC_CACHE_DIR isn't set");
  std::string path = options.folder + "/" + subfolder;
  if (!makeFolders(path))
    return fail("cannot make '" + path + "': " + std::strerror(errno));
  folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat s;
  if (folder < 0 || fstat(folder, &s) != 0)
    return fail("cannot open '" + path + "': " + std::strerror(errno));
  // Entries are native code: nobody else may be able to put one there.
  if (s.st_uid != geteuid() || (s.st_mode & 077))
    return fail("'" + path + "' must belong to the user, with mode 0700");
  if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
    return fail("cannot write in '" + path + "': " + std::strerror(errno));
  return true;
}

std::optional<std::vector<uint8_t>> ObjectCache::load(const Sha256Digest &key) {
  if (!usable())
    return std::nullopt;
  std::string name = toHex(key);
  Descriptor file{openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.fd < 0) {
    if (errno != ENOENT)
      note("an entry cannot be opened", std::strerror(errno));
    return std::nullopt;
  }
  struct stat s;
  EntryHeader head;
  std::vector<uint8_t> bytes;
  bool ok = fstat(file.fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
            uint64_t(s.st_size) >= sizeof head && uint64_t(s.st_size) - sizeof head <= maxEntry;
  if (ok) {
    bytes.resize(size_t(s.st_size) - sizeof head);
    ok = readAll(file.fd, &head, sizeof head) && readAll(file.fd, bytes.data(), bytes.size());
    EntryHeader wanted = headerOf(key, bytes);
    ok = ok && std::memcmp(&head, &wanted, sizeof head) == 0;
  }
  if (!ok) {
    remove(key);
    note("a damaged entry was removed", name);
    return std::nullopt;
  }
  if (time(nullptr) - s.st_mtim.tv_sec >= time_t(options.touchSeconds))
    futimens(file.fd, nullptr);
  return bytes;
}

bool ObjectCache::writeEntry(const char *temporary, const Sha256Digest &key, std::span<const uint8_t> bytes) {
  Descriptor file{openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (file.fd < 0)
    return false;
  EntryHeader head = headerOf(key, bytes);
  return writeAll(file.fd, &head, sizeof head) && writeAll(file.fd, bytes.data(), bytes.size()) &&
         fsync(file.fd) == 0 && renameat(folder, temporary, folder, toHex(key).c_str()) == 0;
}

bool ObjectCache::store(const Sha256Digest &key, std::span<const uint8_t> bytes) {
  if (!usable() || bytes.size() > maxEntry || bytes.size() + sizeof(EntryHeader) > options.maxBytes)
    return false;
  static std::atomic<uint64_t> counter{0};
  char temporary[96];
  std::snprintf(temporary, sizeof temporary, ".tmp-%d-%llx-%llu", int(getpid()), (unsigned long long)(time(nullptr)),
                (unsigned long long)(counter++));
  if (!writeEntry(temporary, key, bytes)) {
    note("an entry cannot be stored", std::strerror(errno));
    unlinkat(folder, temporary, 0);
    return false;
  }
  fsync(folder); // a lost entry would only be a miss
  bool due;
  {
    // A fork may have left the lock taken in this process: then somebody else trims.
    std::unique_lock lock(trimMutex, std::try_to_lock);
    if (!lock)
      return true;
    storedSinceTrim += bytes.size() + sizeof(EntryHeader);
    due = !trimmed || storedSinceTrim > options.maxBytes / 16;
    if (due) {
      trimmed = true;
      storedSinceTrim = 0;
    }
  }
  if (due)
    trim();
  return true;
}

void ObjectCache::remove(const Sha256Digest &key) {
  if (usable())
    unlinkat(folder, toHex(key).c_str(), 0);
}

void ObjectCache::trim() {
  if (!usable())
    return;
  int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = copy < 0 ? nullptr : fdopendir(copy);
  if (!list) {
    if (copy >= 0)
      close(copy);
    return;
  }
  struct Found {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  std::vector<Found> entries;
  uint64_t total = 0;
  time_t now = time(nullptr);
  while (dirent *d = readdir(list)) {
    struct stat s;
    bool entry = isEntryName(d->d_name), temporary = isTemporaryName(d->d_name);
    if ((!entry && !temporary) || fstatat(folder, d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (temporary) {
      if (now - s.st_mtim.tv_sec > abandonedAfter)
        unlinkat(folder, d->d_name, 0);
      continue;
    }
    entries.push_back({s.st_mtim, uint64_t(s.st_size), d->d_name});
    total += uint64_t(s.st_size);
  }
  closedir(list);
  if (total <= options.maxBytes)
    return;
  std::sort(entries.begin(), entries.end(), [](const Found &a, const Found &b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  for (const Found &f : entries) {
    // Some room below the bound, so that the next store needn't trim again.
    if (total <= options.maxBytes - options.maxBytes / 8)
      break;
    if (unlinkat(folder, f.name.c_str(), 0) == 0)
      total -= f.bytes;
  }
}
