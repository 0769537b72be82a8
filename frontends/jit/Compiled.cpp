#include "frontends/jit/Compiled.h"
#include "dialects/trace/TraceFile.h"
#include "frontends/jit/HelperProtocol.h"
#include "frontends/jit/Json.h"
#include "runtime/core/knobs.h"
#include "runtime/device/Allocator.h"
#include "runtime/kernels/Pack.h"
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <pthread.h>
#include <sys/stat.h>

namespace torchc::jit {

std::shared_ptr<const Compiled> Compiled::load(std::span<const uint8_t> object, const Recording &r, Diag &diag) {
  std::shared_ptr<Compiled> c(new Compiled);
  c->executable = Executable::load(object.data(), object.size(), diag);
  if (!c->executable || !parseMeta(c->executable->metadata(), c->about, diag))
    return nullptr;
  c->given.assign(r.storages.size(), false);
  auto wrong = [&](const char *what) {
    diag.fail(ErrorKind::Runtime, std::string("object: its ") + what + " are not the recording's");
    return nullptr;
  };
  if (c->about.inputs != r.inputs.size())
    return wrong("inputs");
  if (c->about.symbols != int64_t(r.symbols.size()))
    return wrong("symbols");
  for (uint32_t s : c->about.results) {
    if (s >= r.storages.size() || r.storages[s].isInput)
      return wrong("results");
    c->given[s] = true;
  }
  size_t written = 0;
  for (const StorageInfo &s : r.storages)
    written += s.written && s.isInput;
  for (uint32_t s : c->about.writes)
    if (s >= r.storages.size() || !r.storages[s].isInput || !r.storages[s].written)
      return wrong("writes");
  if (written != c->about.writes.size())
    return wrong("writes");
  return c;
}

Compiled::~Compiled() {
  for (Arena a : arenas)
    std::free(a.memory);
}

Compiled::Arena Compiled::takeArena(const Recording &r) const {
  int64_t bytes = about.arena;
  if (about.symbols) {
    void *ptrs[1] = {&bytes};
    executable->entry()(ptrs, r.sizes.data(), nullptr, 0, 0);
  }
  if (bytes < 0 || bytes > maxAllocation)
    return {};
  bytes = std::max<int64_t>((bytes + 63) & ~int64_t(63), 64);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!arenas.empty()) {
      Arena a = arenas.back();
      arenas.pop_back();
      if (a.bytes >= bytes)
        return a;
      std::free(a.memory);
    }
  }
  return {std::aligned_alloc(64, size_t(bytes)), bytes};
}
void Compiled::returnArena(Arena arena) const {
  std::lock_guard<std::mutex> lock(mutex);
  arenas.push_back(arena);
}

namespace {

struct Pending {
  std::mutex mutex;
  std::condition_variable done;
  int count = 0;
  std::atomic<uint64_t> generation{0};
};
Pending &pending() {
  static auto *p = [] {
    auto *made = new Pending;
    pthread_atfork([] { pending().mutex.lock(); }, [] { pending().mutex.unlock(); },
                   [] {
                     // As the parent's threads left it, it waits for those that were waiting.
                     new (&pending().done) std::condition_variable;
                     pending().count = 0;
                     pending().generation++;
                     pending().mutex.unlock();
                   });
    return made;
  }();
  return *p;
}

CompileService::Options &configured() {
  static auto *o = new CompileService::Options;
  return *o;
}
std::atomic<bool> started{false};

/// Another build of the compiler must not find this one's objects.
std::string buildOf(const std::string &path) {
  struct stat st;
  if (path.empty() || stat(path.c_str(), &st) != 0)
    return "none";
  return std::to_string(st.st_size) + "/" + std::to_string(st.st_mtim.tv_sec) + "." +
         std::to_string(st.st_mtim.tv_nsec) + "/" + std::to_string(st.st_ino);
}

/// The folder for one compile's stages; absolute, since the helper has a working directory of its own.
void addDump(std::string &json, const Sha256Digest &key) {
  std::filesystem::path folder(knobs().dump);
  std::error_code error;
  json.back() = ',';
  json += "\"dump\":";
  appendJsonString(json, (std::filesystem::absolute(folder, error) / toHex(key).substr(0, 12)).string());
  json += "}";
}

/// "node 3 (matmul.Tensor): ..." with the line of the program that made the node.
std::string failureOf(std::string_view json, const Recording &r, Site &site) {
  std::string text;
  int64_t node = -1;
  Diag diag;
  JsonReader reader(json, "compile error", diag);
  bool ok = reader.object([&](const std::string &key) {
    return key == "message" ? reader.string(text) : key == "node" ? reader.integer(node) : reader.skip();
  });
  if (!ok || text.empty())
    return std::string(json);
  if (size_t at = text.find("node "); node < 0 && at != std::string::npos && std::isdigit(uint8_t(text[at + 5])))
    node = std::strtol(text.c_str() + at + 5, nullptr, 10);
  if (node >= 0)
    site = r.siteOf(uint32_t(node));
  return text;
}

} // namespace

uint64_t CompileService::generation() { return pending().generation.load(); }

bool CompileService::configure(Options options) {
  if (started.load())
    return false;
  configured() = std::move(options);
  return true;
}

CompileService &CompileService::global() {
  static auto *s = (started = true, new CompileService(configured()));
  return *s;
}

CompileService::CompileService(Options o) : options(std::move(o)), build(buildOf(options.helper)) {
  target = isaTarget(packIsa() == Isa::None ? Isa::V3 : packIsa());
  CacheOptions c;
  c.folder = options.cacheFolder;
  cache = std::make_unique<ObjectCache>(c);
  if (!options.helper.empty()) {
    HelperOptions h;
    h.executable = options.helper;
    // Objects of another build would run on this one's kernels and be cached under its name.
    h.unfit = [this] {
      return buildOf(options.helper) == build ? ""
                                              : options.helper + " was replaced while the process runs; start it again";
    };
    helper = std::make_unique<Helper>(std::move(h));
  }
}

std::optional<pid_t> CompileService::helperPid() {
  return started.load() && global().helper ? global().helper->pid() : std::nullopt;
}

bool CompileService::fromCache(Recording &r, uint64_t number, const Sha256Digest &key) {
  std::optional<std::vector<uint8_t>> bytes = cache->load(key);
  if (!bytes)
    return false;
  Diag diag;
  std::shared_ptr<const Compiled> c = Compiled::load(*bytes, r, diag);
  if (!c) {
    Records::global().add(RecordKind::Cache, {}, "a cached object was of no use: " + diag.text);
    cache->remove(key);
    return false;
  }
  r.finishCompile(number, std::move(c), "", "cache");
  return true;
}

void CompileService::compile(const std::shared_ptr<Recording> &r, const ForkMutex *guard) {
  if (!r->refused.empty()) {
    r->finishCompile(r->startCompile(), nullptr, r->refused, "");
    return;
  }
  std::string json = "{\"target\":\"" + target + "\",\"emit\":\"object\",\"strides\":true}";
  std::vector<uint8_t> program, request;
  uint64_t number, process = generation(); // its first use installs fork handlers: not with the lock
  {
    std::unique_lock<std::mutex> lock;
    if (guard)
      lock = std::unique_lock<std::mutex>(*guard);
    program = traceKey(r->trace);
    request = writeTrace(r->trace);
    number = r->startCompile();
    r->generation = process;
  }
  try {
    start(r, number, std::move(json), program, request);
  } catch (const std::exception &e) { // no memory
    r->finishCompile(number, nullptr, e.what(), "");
  }
}

void CompileService::start(const std::shared_ptr<Recording> &r, uint64_t number, std::string json,
                           const std::vector<uint8_t> &program, const std::vector<uint8_t> &trace) {
  Sha256 hash;
  hash.update(program);
  for (const std::string &s : {json, build})
    hash.update({reinterpret_cast<const uint8_t *>(s.data()), s.size()});
  Sha256Digest key = hash.finish();
  if (knobs().dump) // every stage of every compile: a cached object has none
    addDump(json, key);
  else if (fromCache(*r, number, key))
    return;
  if (!helper) {
    r->finishCompile(number, nullptr, options.why, "");
    return;
  }
  std::vector<uint8_t> request = makeCompileRequest(json, trace);
  {
    std::lock_guard<std::mutex> lock(pending().mutex);
    pending().count++;
  }
  try {
    helper->send(std::move(request),
                 [this, r, number, key](HelperAnswer answer) { answered(r, number, key, std::move(answer)); });
  } catch (const std::exception &e) { // no memory: it isn't in the queue
    answered(r, number, key, {false, e.what(), {}});
  }
}

/// On the helper's thread, or where the request was made if that failed. Whatever happens, the compile ends.
void CompileService::answered(const std::shared_ptr<Recording> &r, uint64_t number, const Sha256Digest &key,
                              HelperAnswer answer) {
  try {
    finish(r, number, key, std::move(answer));
  } catch (const std::exception &e) { // no memory
    r->finishCompile(number, nullptr, e.what(), "");
  }
  std::lock_guard<std::mutex> lock(pending().mutex);
  if (--pending().count == 0)
    pending().done.notify_all();
}

void CompileService::finish(const std::shared_ptr<Recording> &r, uint64_t number, const Sha256Digest &key,
                            HelperAnswer answer) {
  CompileAnswer parsed;
  Diag diag;
  Site site;
  std::string why = answer.error;
  std::shared_ptr<const Compiled> compiled;
  if (answer.ok && parseCompileAnswer(answer.bytes, parsed, diag)) {
    if (const AnswerPiece *object = parsed.find("object")) {
      compiled = Compiled::load(object->bytes, *r, diag);
      if (compiled)
        cache->store(key, object->bytes);
    } else if (const AnswerPiece *error = parsed.find("error"))
      why = failureOf({reinterpret_cast<const char *>(error->bytes.data()), error->bytes.size()}, *r, site);
    else
      why = "the compiler gave no object";
  }
  if (!diag.ok())
    why = diag.text;
  if (!compiled)
    Records::global().add(RecordKind::CompileFailed, site.line ? site : r->siteOf(0), why);
  r->finishCompile(number, std::move(compiled), why, "helper");
}

bool CompileService::wait(std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> lock(pending().mutex);
  return pending().done.wait_for(lock, limit, [] { return pending().count == 0; });
}

} // namespace torchc::jit
