#include "tools/torchc/Compile.h"
#include "compiler/link/Link.h"
#include "torchc/compiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
namespace torchc {
namespace {

struct Command {
  std::string model, output;
  json::Object options;
};

/// What the compiler sent back.
struct Answer {
  std::string bytes, error;
};

int fail(const Twine &text) {
  errs() << "error: " << text << '\n';
  return 1;
}

bool isOneOf(StringRef value, ArrayRef<StringRef> list) { return is_contained(list, value); }

/// Checks "--name=value" against the values it may have.
bool setOption(Command &c, StringRef name, StringRef value, ArrayRef<StringRef> list) {
  if (!isOneOf(value, list)) {
    fail("--" + name + ": expected " + join(list, ", ") + "; got '" + value + "'");
    return false;
  }
  c.options[name] = value;
  return true;
}

bool parse(ArrayRef<char *> args, Command &c) {
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef a = args[i], v = a.split('=').second;
    bool ok = true;
    if (a == "-o" && i + 1 < args.size())
      c.output = args[++i];
    else if (a.starts_with("--emit="))
      ok = setOption(c, "emit", v, {"object", "trace", "torchc", "loops", "llvm", "asm"});
    else if (a.starts_with("--target="))
      ok = setOption(c, "target", v, {"native", "x86-64-v3", "x86-64-v4", "aarch64"});
    else if (a.starts_with("--mode="))
      ok = setOption(c, "mode", v, {"exact", "fast"});
    else if (a == "--grad")
      c.options["grad"] = true;
    else if (!a.starts_with("-") && c.model.empty())
      c.model = a.str();
    else
      ok = fail("compile: unknown or incomplete option '" + a + "'; see torchc --help") == 0;
    if (!ok)
      return false;
  }
  return !c.model.empty() || fail("compile: expected a model; see torchc --help") == 0;
}

void receive(void *context, const char *kind, const uint8_t *bytes, size_t count) {
  Answer &answer = *static_cast<Answer *>(context);
  StringRef data(reinterpret_cast<const char *>(bytes), count), k = kind;
  if (k == "error")
    answer.error = data.str();
  else if (k == "object" || k == "text")
    answer.bytes += data;
}

std::string makeRequest(const json::Object &options, StringRef trace) {
  std::string text, request = "TCRQ";
  raw_string_ostream(text) << json::Value(json::Object(options));
  for (uint32_t word : {1u, uint32_t(text.size())})
    request.append(reinterpret_cast<const char *>(&word), 4);
  request += text;
  request += trace;
  return request;
}

int report(const std::string &model, const Answer &answer, int code) {
  Expected<json::Value> error = json::parse(answer.error);
  if (!error) {
    consumeError(error.takeError());
    return fail(model + ": internal error") + (code - 1);
  }
  json::Object *o = error->getAsObject();
  std::string where = model;
  if (std::optional<StringRef> source = o ? o->getString("source") : std::nullopt)
    where = source->str();
  else if (std::optional<int64_t> node = o ? o->getInteger("node") : std::nullopt)
    where += ": node " + std::to_string(*node);
  fail(where + ": " +
       (o ? o->getString("message").value_or("unknown error") : StringRef("unknown error")));
  return code;
}

} // namespace

int compileVerb(ArrayRef<char *> args) {
  Command c;
  if (!parse(args, c))
    return 1;
  if (!StringRef(c.model).ends_with(".tctrace"))
    return fail(c.model + ": expected a .tctrace file");
  auto file = MemoryBuffer::getFile(c.model, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(c.model + ": " + file.getError().message());
  std::string request = makeRequest(c.options, (*file)->getBuffer());
  Answer answer;
  int code = torchc_compile(reinterpret_cast<const uint8_t *>(request.data()), request.size(),
                            receive, &answer, nullptr);
  if (code)
    return report(c.model, answer, code);
  if (c.output.empty()) {
    outs() << answer.bytes;
    return 0;
  }
  Diag diag;
  return link::writeFile(c.output, StringRef(answer.bytes), diag) ? 0 : fail(diag.text);
}

} // namespace torchc
