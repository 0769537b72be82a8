// What .torchc.meta says. Unknown keys are skipped.
#include "frontends/jit/Compiled.h"
#include "frontends/jit/Json.h"

namespace torchc::jit {

bool parseMeta(std::string_view json, CompiledMeta &meta, Diag &diag) {
  JsonReader r(json, "object: metadata", diag);
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
    if (key == "symbols")
      return r.integer(meta.symbols);
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
