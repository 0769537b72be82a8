// torchc_compile: takes a request apart, answers errors as JSON, and leaves the work to
// compileTrace.
#include "compiler/api/CompileTrace.h"
#include "torchc/compiler.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace llvm;
namespace torchc {
namespace {

enum { requestVersion = 1, headerBytes = 12, mostGrad = 4 };

StringRef kindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::None: return "None";
  case ErrorKind::Runtime: return "RuntimeError";
  case ErrorKind::Type: return "TypeError";
  case ErrorKind::Value: return "ValueError";
  case ErrorKind::Index: return "IndexError";
  case ErrorKind::NotImplemented: return "NotImplementedError";
  case ErrorKind::Memory: return "MemoryError";
  case ErrorKind::OS: return "OSError";
  case ErrorKind::Internal: return "InternalError";
  }
  return "InternalError";
}

bool readString(const json::Value &value, StringRef key, std::string &to, Diag &diag) {
  std::optional<StringRef> s = value.getAsString();
  if (!s)
    return diag.fail(ErrorKind::Value, "option " + key.str() + ": expected a string");
  to = s->str();
  return true;
}

bool readOptions(StringRef text, CompileOptions &options, Diag &diag) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return diag.fail(ErrorKind::Value, "request options: " + toString(value.takeError()));
  json::Object *object = value->getAsObject();
  if (!object)
    return diag.fail(ErrorKind::Value, "request options: expected a JSON object");
  for (auto &[key, v] : *object) {
    StringRef name = key;
    bool ok = true;
    if (name == "target")
      ok = readString(v, name, options.target, diag);
    else if (name == "emit")
      ok = readString(v, name, options.emit, diag);
    else if (name == "mode")
      ok = readString(v, name, options.mode, diag);
    else if (name == "grad" && v.getAsBoolean())
      options.grad = *v.getAsBoolean();
    else if (std::optional<int64_t> n = v.getAsInteger(); name == "grad" && n && *n >= 0 && *n <= mostGrad)
      options.grad = int(*n);
    else if (name == "strides" && v.getAsBoolean())
      options.strides = *v.getAsBoolean();
    else if (name == "dump")
      ok = readString(v, name, options.dump, diag);
    else
      ok = diag.fail(ErrorKind::Value, "request options: unknown or malformed option '" + name.str() + "'");
    if (!ok)
      return false;
  }
  return true;
}

bool readRequest(StringRef bytes, CompileRequest &request, Diag &diag) {
  if (bytes.size() < headerBytes || !bytes.starts_with("TCRQ"))
    return diag.fail(ErrorKind::Value, "expected a compile request (TCRQ), got " + std::to_string(bytes.size()) +
                                           " bytes of something else");
  uint32_t version = support::endian::read32le(bytes.data() + 4), n = support::endian::read32le(bytes.data() + 8);
  if (version != requestVersion)
    return diag.fail(ErrorKind::Value, "request version: expected 1, got " + std::to_string(version));
  if (n > bytes.size() - headerBytes)
    return diag.fail(ErrorKind::Value, "request options: expected " + std::to_string(n) + " bytes, got " +
                                           std::to_string(bytes.size() - headerBytes));
  request.trace = bytes.substr(headerBytes + n);
  return readOptions(bytes.substr(headerBytes, n), request.options, diag);
}

std::string errorJson(const CompileError &error) {
  json::Object o{{"kind", kindName(error.kind)}, {"message", json::fixUTF8(error.text)}};
  if (error.node >= 0)
    o["node"] = error.node;
  if (!error.source.empty())
    o["source"] = json::fixUTF8(error.source);
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(o));
  return text;
}

} // namespace
} // namespace torchc

extern "C" int torchc_compiler_abi(void) { return TORCHC_COMPILER_ABI; }

extern "C" int torchc_compile(const uint8_t *bytes, size_t count, torchc_sink sink, void *context, const int *cancel) {
  using namespace torchc;
  CompileRequest request;
  CompileError error;
  request.cancel = cancel;
  CompileSink send = [&](StringRef kind, StringRef data) {
    sink(context, kind.str().c_str(), reinterpret_cast<const uint8_t *>(data.data()), data.size());
  };
  static std::mutex turn; // the MLIR context is one
  bool ok = readRequest(StringRef(reinterpret_cast<const char *>(bytes), count), request, error);
  if (ok) {
    std::lock_guard lock(turn);
    ok = compileTrace(request, send, error);
  }
  if (ok)
    return 0;
  send("error", errorJson(error));
  return error.kind == ErrorKind::Internal ? 2 : 1;
}
