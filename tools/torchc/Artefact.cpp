#include "tools/torchc/Artefact.h"
#include "runtime/artefact/Program.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

using namespace llvm;
namespace torchc {
namespace {

#if defined(__x86_64__)
constexpr uint16_t hostMachine = ELF::EM_X86_64;
#else
constexpr uint16_t hostMachine = ELF::EM_AARCH64;
#endif

int fail(const std::string &path, const std::string &why) {
  errs() << "error: " << path << ": " << why << '\n';
  return 1;
}

/// An ELF file with a section .torchc.signature.
struct File {
  object::OwningBinary<object::Binary> owner;
  object::ELFObjectFileBase *elf = nullptr;
  StringRef signature;
};

/// Whether the name is that of what `torchc compile` takes.
bool isModel(StringRef path) { return path.ends_with(".tcz") || path.ends_with(".tctrace") || path.ends_with(".onnx"); }

bool openArtefact(const std::string &path, File &file, std::string &why) {
  auto binary = object::createBinary(path);
  if (!binary) {
    why = toString(binary.takeError());
    if (isModel(path) && sys::fs::exists(path))
      why = "it is a model; compile it first: torchc compile " + path + " --emit=exe -o NAME";
    return false;
  }
  file.owner = std::move(*binary);
  file.elf = dyn_cast<object::ELFObjectFileBase>(file.owner.getBinary());
  if (file.elf)
    for (const object::SectionRef &s : file.elf->sections()) {
      Expected<StringRef> name = s.getName(), bytes = s.getContents();
      if (name && bytes && *name == ".torchc.signature")
        file.signature = bytes->rtrim('\0');
      consumeError(name.takeError());
      consumeError(bytes.takeError());
    }
  if (!file.signature.empty())
    return true;
  why = "expected an artefact of torchc, got " +
        std::string(file.elf ? "an ELF file without a signature" : "another file");
  return false;
}

bool hasInterpreter(const object::ELFObjectFileBase &elf) {
  for (const object::SectionRef &s : elf.sections()) {
    Expected<StringRef> name = s.getName();
    if (name && *name == ".interp")
      return true;
    consumeError(name.takeError());
  }
  return false;
}

} // namespace

int inspectArtefact(const std::string &path) {
  File file;
  std::string why;
  if (!openArtefact(path, file, why))
    return fail(path, why);
  Expected<json::Value> json = json::parse(file.signature);
  if (!json)
    return fail(path, "malformed signature: " + toString(json.takeError()));
  outs() << formatv("{0:2}", *json) << "\n\nsection                         bytes\n";
  for (const object::SectionRef &s : file.elf->sections()) {
    Expected<StringRef> name = s.getName();
    if (name && !name->empty() && s.getSize())
      outs() << left_justify(*name, 24) << format("%13llu", (unsigned long long)s.getSize()) << '\n';
    consumeError(name.takeError());
  }
  outs() << left_justify("file", 24) << format("%13llu", (unsigned long long)file.elf->getData().size()) << '\n';
  return 0;
}

int runArtefact(const std::string &path, int argc, char **argv) {
  File file;
  std::string why;
  if (!openArtefact(path, file, why))
    return fail(path, why);
  if (file.elf->getEMachine() != hostMachine)
    return fail(path, "it was compiled for " + Triple::getArchTypeName(file.elf->getArch()).str());
  char full[PATH_MAX];
  if (!::realpath(path.c_str(), full)) // a name without a slash would be searched for elsewhere
    return fail(path, strerror(errno));
  if (file.elf->getEType() != ELF::ET_DYN)
    return fail(path, "expected a shared library or an executable, got an object file");
  if (hasInterpreter(*file.elf)) {
    ::execv(full, argv);
    return fail(path, strerror(errno));
  }
  void *library = ::dlopen(full, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(path, ::dlerror());
  auto function = reinterpret_cast<torchc_model_function>(::dlsym(library, "torchc_model"));
  const torchc_model_table *model = function ? function(TORCHC_MODEL_ABI) : nullptr;
  if (!model || model->bytes < sizeof(torchc_model_table))
    return fail(path, "it doesn't speak model interface 1");
  return torchc_program(model, argc, argv);
}

} // namespace torchc
