#include "tools/torchc/Compile.h"
#include "compiler/link/FromProgram.h"
#include "compiler/link/Link.h"
#include "dialects/trace/TraceFile.h"
#include "tools/torchc/Capture.h"
#include "tools/torchc/SelfTest.h"
#include "tools/torchc/Ship.h"
#include "torchc/compiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
namespace torchc {
namespace {

struct Command {
  std::string program; // argv[0]
  std::string model; // the one of `models` that is compiled now
  std::vector<std::string> models;
  std::string output, emit = "object", target, name;
  std::vector<std::string> inputs; // of a Python model
  bool externalWeights = false;
  json::Object options; // for the compiler
};

/// What the compiler sent back.
struct Answer {
  std::string bytes, error;
};

constexpr StringRef dumps[] = {"object", "trace", "torchc", "loops", "llvm", "asm"};
constexpr StringRef artefacts[] = {"exe", "so", "a", "o"};

#if defined(__x86_64__)
constexpr const char *portableTarget = "x86-64-v3"; // what is shipped runs on other machines than this one
#else
constexpr const char *portableTarget = "aarch64";
#endif

bool isArtefact(const Command &c) { return is_contained(artefacts, StringRef(c.emit)); }

int fail(const Twine &text) {
  errs() << "error: " << text << '\n';
  return 1;
}

/// Takes the value of "--name=value" if it is one of `list`.
bool choose(StringRef name, StringRef value, ArrayRef<StringRef> list, std::string &to) {
  to = value.str();
  return is_contained(list, value) || !fail("--" + name + ": expected " + join(list, ", ") + "; got '" + value + "'");
}

bool parse(ArrayRef<char *> args, Command &c) {
  SmallVector<StringRef, 12> kinds(std::begin(artefacts), std::end(artefacts));
  kinds.append(std::begin(dumps), std::end(dumps));
  std::string mode, grad;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef a = args[i], v = a.split('=').second;
    bool ok = true;
    if (a == "-o" && i + 1 < args.size())
      c.output = args[++i];
    else if (a.starts_with("--emit="))
      ok = choose("emit", v, kinds, c.emit);
    else if (a.starts_with("--target="))
      ok = choose("target", v, {"native", "x86-64-v3", "x86-64-v4", "aarch64"}, c.target);
    else if (a.starts_with("--mode="))
      ok = choose("mode", v, {"exact"}, mode);
    else if (a.starts_with("--weights=")) {
      std::string place;
      ok = choose("weights", v, {"embed", "external"}, place);
      c.externalWeights = place == "external";
    } else if (a.starts_with("--name="))
      c.name = v.str();
    else if (a == "--input" && i + 1 < args.size())
      c.inputs.push_back(args[++i]);
    else if (a.starts_with("--input="))
      c.inputs.push_back(v.str());
    else if (a == "--grad")
      c.options["grad"] = true;
    else if (a.starts_with("--grad="))
      ok = choose("grad", v, {"1", "2", "3", "4"}, grad);
    else if (!a.starts_with("-"))
      c.models.push_back(a.str());
    else
      ok = !fail("compile: unknown or incomplete option '" + a + "'; see torchc --help");
    if (!ok)
      return false;
  }
  if (!mode.empty())
    c.options["mode"] = mode;
  if (!grad.empty())
    c.options["grad"] = grad[0] - '0';
  if (c.target.empty())
    c.target = isArtefact(c) ? portableTarget : "native";
  if (c.models.size() > 1 && !(c.output.empty() && c.name.empty()))
    return !fail("compile: -o and --name are for one model; got " + Twine(c.models.size()));
  if (c.models.empty())
    return !fail("compile: expected a model; see torchc --help");
  // Known before the work is done.
  return c.emit != "object" || !c.output.empty() || !outs().is_displayed() ||
         !fail("compile: an object file is not for a terminal; add -o FILE, or --emit=exe, so, a, asm ...");
}

void receive(void *context, const char *kind, const uint8_t *bytes, size_t count) {
  Answer &answer = *static_cast<Answer *>(context);
  StringRef data(reinterpret_cast<const char *>(bytes), count), k = kind;
  if (k == "error")
    answer.error = data.str();
  else if (k == "object" || k == "text")
    answer.bytes += data;
}

std::string makeRequest(const Command &c, ArrayRef<uint8_t> trace) {
  json::Object options(c.options);
  options["target"] = c.target;
  options["emit"] = isArtefact(c) ? "object" : c.emit;
  std::string text, request = "TCRQ";
  raw_string_ostream(text) << json::Value(std::move(options));
  for (uint32_t word : {1u, uint32_t(text.size())})
    request.append(reinterpret_cast<const char *>(&word), 4);
  request += text;
  request.append(reinterpret_cast<const char *>(trace.data()), trace.size());
  return request;
}

int report(const std::string &model, const Answer &answer, int code) {
  Expected<json::Value> error = json::parse(answer.error);
  json::Object *o = error ? error->getAsObject() : nullptr;
  std::string where = model;
  if (std::optional<StringRef> source = o ? o->getString("source") : std::nullopt)
    where = source->str();
  fail(where + ": " + (o ? o->getString("message").value_or("unknown error") : "unknown error"));
  consumeError(error.takeError());
  return code;
}

/// A .tcz with its weights, or a .tctrace, which has none.
bool readModel(const std::string &path, MemoryBufferRef file, SavedProgram &program, Diag &diag) {
  auto *data = reinterpret_cast<const uint8_t *>(file.getBufferStart());
  std::span<const uint8_t> bytes(data, file.getBufferSize());
  StringRef name = path;
  if (!name.ends_with(".tctrace"))
    return readProgram(bytes, program, diag);
  return readTrace(bytes, program.trace, diag);
}

bool isOnnxModel(const Command &c) { return StringRef(c.model).ends_with(".onnx"); }

bool readInputs(const Command &c, std::vector<onnx::InputSpec> &specs, Diag &diag) {
  if (!c.inputs.empty() && !isPythonModel(c.model) && !isOnnxModel(c))
    return diag.fail(ErrorKind::Value,
                     "--input: only for an ONNX model or one in a Python file; " + c.model + " has its inputs");
  return all_of(c.inputs, [&](const std::string &s) { return parseInputSpec(s, specs.emplace_back(), diag); });
}

/// The file's bytes, recorded first for a Python model; null with or without a report (Python has printed one).
std::unique_ptr<MemoryBuffer> openModel(const Command &c, Diag &diag) {
  if (isPythonModel(c.model))
    return capture(c.program, c.model, c.inputs, diag);
  if (!StringRef(c.model).ends_with(".tctrace") && !StringRef(c.model).ends_with(".tcz")) {
    diag.fail(ErrorKind::Value, c.model + ": expected an .onnx, .tcz or .tctrace file, or FILE.py:FUNCTION");
    return nullptr;
  }
  auto file = MemoryBuffer::getFile(c.model, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (file)
    return std::move(*file);
  diag.fail(ErrorKind::OS, c.model + ": " + file.getError().message());
  return nullptr;
}

/// A model of any kind; what `program` points into.
struct LoadedModel {
  std::unique_ptr<MemoryBuffer> file;
  onnx::ModelProgram onnx;
  SavedProgram program;
};

/// False with or without a report (Python has printed one).
bool loadModel(const Command &c, LoadedModel &out, Diag &diag) {
  std::vector<onnx::InputSpec> specs;
  if (!readInputs(c, specs, diag))
    return false;
  if (isOnnxModel(c)) {
    if (!onnx::recordModelFile(c.model, specs, c.options.get("grad") != nullptr, out.onnx, diag))
      return false;
    out.program = std::move(out.onnx.program);
    return true;
  }
  out.file = openModel(c, diag);
  if (!out.file || readModel(c.model, *out.file, out.program, diag))
    return bool(out.file);
  diag.text = c.model + ": " + diag.text;
  return false;
}

/// "net" of folder/net.tcz, "forward" of net.py:forward.
std::string stemOf(const Command &c) {
  return isPythonModel(c.model) ? functionOf(c.model).str() : sys::path::stem(c.model).str();
}

/// The model's name: given, or that of the file with everything else made '_'.
std::string modelName(const Command &c) {
  if (!c.name.empty())
    return c.name;
  std::string name = stemOf(c);
  for (char &ch : name)
    ch = isAlnum(ch) ? ch : '_';
  return name.empty() || isDigit(name[0]) ? "m_" + name : name;
}

/// Compiles; prints a report on failure and returns its exit code.
int compileFor(const Command &c, const SavedProgram &program, Answer &answer) {
  std::string request = makeRequest(c, writeTrace(program.trace));
  int code =
      torchc_compile(reinterpret_cast<const uint8_t *>(request.data()), request.size(), receive, &answer, nullptr);
  return code ? report(c.model, answer, code) : 0;
}

int write(const Command &c, const SavedProgram &program, const Answer &answer) {
  Diag diag;
  if (is_contained(dumps, StringRef(c.emit))) {
    if (!c.output.empty())
      return link::writeFile(c.output, StringRef(answer.bytes), diag) ? 0 : fail(diag.text);
    outs() << answer.bytes;
    return 0;
  }
  ShipOptions o{c.emit, c.output, modelName(c), c.externalWeights, *codegen::parseIsa(c.target)};
  if (o.output.empty()) {
    std::string stem = stemOf(c);
    o.output = c.emit == "exe" ? stem : c.emit == "so" || c.emit == "a" ? "lib" + stem + "." + c.emit : stem + ".o";
  }
  Answer here; // for the test vectors
  if (!runsHere(o.isa) && runsHere(codegen::hostIsa())) {
    Command native(c);
    native.target = "native";
    if (int code = compileFor(native, program, here))
      return code;
  }
  if (shipProgram(program, answer.bytes, runsHere(o.isa) ? answer.bytes : here.bytes, o, diag)) {
    if (c.output.empty()) // the name is ours
      outs() << "wrote " << o.output << '\n';
    return 0;
  }
  fail(c.model + ": " + diag.text);
  return diag.kind == ErrorKind::Internal ? 2 : 1;
}

int compileModel(const Command &c) {
  LoadedModel model;
  Diag diag;
  if (!loadModel(c, model, diag))
    return diag.ok() ? 1 : fail(diag.text);
  if (isArtefact(c))
    link::makeOutputsWhole(model.program.trace);
  Answer answer;
  int code = compileFor(c, model.program, answer);
  return code ? code : write(c, model.program, answer);
}

} // namespace

int compileVerb(StringRef program, ArrayRef<char *> args) {
  Command c;
  c.program = program.str();
  if (!parse(args, c))
    return 1;
  int worst = 0;
  for (const std::string &model : c.models) {
    c.model = model;
    worst = std::max(worst, compileModel(c));
  }
  return worst;
}

} // namespace torchc
