#include "tools/torchc/Capture.h"
#include "dialects/rules/DType.h"
#include "dialects/rules/DTypeName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
namespace torchc {

static size_t colonOf(StringRef model) {
  size_t at = model.rfind(".py:");
  return at == StringRef::npos ? at : at + 3;
}

bool isPythonModel(StringRef model) { return colonOf(model) != StringRef::npos; }

StringRef functionOf(StringRef model) { return model.substr(colonOf(model) + 1); }

bool parseInputSpec(StringRef spec, onnx::InputSpec &out, Diag &diag) {
  auto [name, type] = spec.rsplit('='); // names of values are arbitrary text
  auto [dtype, shape] = type.split('[');
  std::optional<DType> known = parseDType(dtype);
  bool ok = !name.empty() && known && shape.consume_back("]");
  out.dtype = known.value_or(DType::F32);
  out.name = name.str();
  SmallVector<StringRef, 8> sizes;
  if (!shape.empty())
    shape.split(sizes, ',');
  for (StringRef s : sizes) {
    int64_t size = 0;
    ok = ok && !s.trim().getAsInteger(10, size) && size >= 0;
    out.shape.push_back(size);
  }
  return ok || diag.fail(ErrorKind::Value,
                         "--input: expected NAME=DTYPE[SIZE,...] such as x=f32[1,64], got '" + spec.str() + "'");
}

/// The interpreter beside the command, which has the package of this build, else the one on the path.
static ErrorOr<std::string> findPython(StringRef command) {
  std::string called = command.str();
  if (!command.contains('/'))
    if (ErrorOr<std::string> found = sys::findProgramByName(command))
      called = *found;
  // The name that was called comes first: a virtual environment has links to commands.
  for (const std::string &program : {called, sys::fs::getMainExecutable(nullptr, nullptr)})
    for (const char *name : {"python3", "python"}) {
      SmallString<128> beside(sys::path::parent_path(program));
      sys::path::append(beside, name);
      if (sys::path::has_parent_path(program) && sys::fs::can_execute(beside))
        return std::string(beside);
    }
  return sys::findProgramByName("python3");
}

std::unique_ptr<MemoryBuffer> capture(StringRef command, StringRef model, ArrayRef<std::string> inputs, Diag &diag) {
  ErrorOr<std::string> python = findPython(command);
  if (!python) {
    diag.fail(ErrorKind::OS, "a model in a Python file needs python3 beside torchc or on the path");
    return nullptr;
  }
  SmallString<128> file;
  if (std::error_code e = sys::fs::createTemporaryFile("torchc", "tcz", file)) {
    diag.fail(ErrorKind::OS, "a temporary file: " + e.message());
    return nullptr;
  }
  FileRemover remover(file);
  size_t colon = colonOf(model);
  std::vector<StringRef> args{*python, "-m", "torchc._capture", model.substr(0, colon), model.substr(colon + 1), file};
  args.insert(args.end(), inputs.begin(), inputs.end());
  std::string error;
  int code = sys::ExecuteAndWait(*python, args, std::nullopt, {}, 0, 0, &error);
  if (code) {
    if (!error.empty())
      diag.fail(ErrorKind::OS, *python + ": " + error);
    return nullptr;
  }
  auto bytes = MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (bytes)
    return std::move(*bytes);
  diag.fail(ErrorKind::OS, file.str().str() + ": " + bytes.getError().message());
  return nullptr;
}

} // namespace torchc
