// A segment's compiled code: the loaded object and what its metadata says, and the service that gets it from the disk
// cache or the helper.
#pragma once
#include "frontends/jit/Helper.h"
#include "frontends/jit/ObjectCache.h"
#include "frontends/jit/Recording.h"
#include "runtime/exec/Executable.h"

namespace torchc::jit {

/// The metadata of an object (section .torchc.meta).
struct CompiledMeta {
  int64_t arena = 0;
  int64_t symbols = 0; // sizes that the entry reads; then it says itself how large the arena is
  std::vector<uint32_t> results; // storages, in the order of their pointers
  std::vector<uint32_t> writes;  // storages of inputs that are written in place
  uint64_t inputs = 0;
};
/// False with `diag` when the text isn't such metadata.
bool parseMeta(std::string_view json, CompiledMeta &meta, Diag &diag);

class Compiled {
public:
  /// Loads an object made for `r`; null with `diag` if it is damaged or for something else.
  static std::shared_ptr<const Compiled> load(std::span<const uint8_t> object, const Recording &r, Diag &diag);
  const CompiledMeta &meta() const { return about; }
  /// Is the storage among the results?
  bool gives(uint32_t storage) const { return given[storage]; }
  size_t codeBytes() const { return executable->memoryBytes(); }

  /// 64-byte aligned memory, one per launch at a time; no memory: null.
  struct Arena {
    void *memory = nullptr;
    int64_t bytes = 0;
  };
  Arena takeArena(const Recording &r) const;
  void returnArena(Arena arena) const;
  void call(void **ptrs, const Recording &r) const { executable->entry()(ptrs, r.sizes.data(), nullptr, 0, 1); }
  ~Compiled();

private:
  Compiled() = default;
  std::shared_ptr<const Executable> executable;
  CompiledMeta about;
  std::vector<bool> given;
  ForkMutex mutex{LockOrder::Compiled};
  mutable std::vector<Arena> arenas;
};

/// Compiles recordings; one for the process, made when first used and never destroyed.
class CompileService {
public:
  struct Options {
    std::string helper; // path of the executable; empty: nothing is compiled, and `why` says so
    std::string cacheFolder = defaultCacheFolder();
    std::string why = "no compiler";
  };
  static CompileService &global();
  /// Replaces the options before the first use; false if too late.
  static bool configure(Options options);

  /// Starts compiling, or finishes at once from the cache. The recording's state says how it went. `guard` is what other
  /// threads hold while they change the trace's outputs.
  void compile(const std::shared_ptr<Recording> &r, const ForkMutex *guard = nullptr);
  /// Waits until nothing is pending in this process, `limit` at most; false: something still is. The caller must not
  /// hold what callbacks need. Doesn't make the service.
  static bool wait(std::chrono::milliseconds limit);
  /// Process id of the running helper, above 1. Doesn't make the service.
  static std::optional<pid_t> helperPid();
  /// Counts forks: compiles asked for before one never finish in the child.
  static uint64_t generation();

  explicit CompileService(Options options);

private:
  // `number`: of the recording's compile
  void start(const std::shared_ptr<Recording> &r, uint64_t number, std::string json,
             const std::vector<uint8_t> &program, const std::vector<uint8_t> &trace);
  void answered(const std::shared_ptr<Recording> &r, uint64_t number, const Sha256Digest &key, HelperAnswer answer);
  void finish(const std::shared_ptr<Recording> &r, uint64_t number, const Sha256Digest &key, HelperAnswer answer);
  bool fromCache(Recording &r, uint64_t number, const Sha256Digest &key);
  Options options;
  std::string target, build;
  std::unique_ptr<ObjectCache> cache;
  std::unique_ptr<Helper> helper;
};

} // namespace torchc::jit
