#include "compiler/link/Link.h"
#include "compiler/link/Files.h"
#include "compiler/link/WeightsSegment.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ELF/ELFConfig.h"
#include "llvm/ObjCopy/ELF/ELFObjcopy.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>

LLD_HAS_DRIVER(elf)

using namespace llvm;
namespace torchc::link {

/// lld keeps process-wide state, so links take turns. `full`: there was no room for the output.
static bool runLld(ArrayRef<std::string> args, std::string &text, bool &full) {
  static std::mutex mutex;
  static bool broken = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (broken) {
    text = "the linker crashed earlier in this process";
    return false;
  }
  std::vector<const char *> argv{"ld.lld"};
  for (const std::string &a : args)
    argv.push_back(a.c_str());
  raw_string_ostream os(text);
  CrashRecoveryContext::Enable(); // a crash of lld is a failed link
  lld::Result r = lld::lldMain(argv, os, os, {{lld::Gnu, &lld::elf::link}});
  CrashRecoveryContext::Disable();
  full = r.retCode == 128 + SIGBUS;
  if (r.retCode > 128)
    os << "the linker ended with signal " << r.retCode - 128;
  broken = !r.canRunAgain;
  return r.retCode == 0;
}

static std::string exportedName(const Model &m) { return "torchc_" + m.name + "_model"; }

static std::vector<std::string> baseArgs(const Model &m, const std::string &output) {
  return {"-m",
          m.arch == Arch::X86_64 ? "elf_x86_64" : "aarch64linux",
          "--threads=1",
          "--color-diagnostics=never",
          "--no-mmap-output-file",
          "-o",
          output};
}

static void appendFinalArgs(const Model &m, Form form, StringRef path, std::vector<std::string> &args) {
  for (const char *a : {"-z", "now", "-z", "relro", "-z", "defs", "-z", "noexecstack", "--gc-sections",
                        "--hash-style=gnu", "--build-id=none", "--no-eh-frame-hdr", "-s", "--as-needed"})
    args.push_back(a);
  if (form == Form::Executable) {
    const char *loader = m.arch == Arch::X86_64 ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
    for (const char *a : {"-pie", "-dynamic-linker", loader})
      args.push_back(a);
  } else {
    for (std::string a : {std::string("-shared"), std::string("-soname"), sys::path::filename(path).str()})
      args.push_back(a);
  }
}

/// The ISA in the name of the embedded kernels for `m`, or null: compiled graphs of the baseline call none.
static const char *kernelsOf(const Model &m) {
  if (m.arch == Arch::AArch64)
    return isaName(Isa::A64);
  return m.isa == Isa::None ? nullptr : isaName(m.isa);
}

/// A driver of the runtime (torchc_gemm, torchc_conv), and its code for each element size that it is called with.
template <class List>
static bool addDriver(const std::string &name, const List &used, function_ref<bool(const char *)> runtime) {
  std::set<int64_t> sizes;
  for (const auto &p : used)
    sizes.insert(itemSize(p.dtype));
  bool ok = sizes.empty() || runtime((name + ".o").c_str());
  for (int64_t bytes : sizes)
    ok = ok && runtime((name + "_" + std::to_string(bytes) + ".o").c_str());
  return ok;
}

/// Everything that goes into the link, as paths.
static bool addInputs(const Model &m, Form form, ArrayRef<Object> objects, InputFiles &inputs,
                      std::vector<std::string> &args, Diag &diag) {
  std::string model = modelObject(m, form);
  auto add = [&](StringRef name, StringRef bytes) {
    args.push_back(inputs.add(name, bytes, diag));
    return diag.ok();
  };
  auto runtime = [&](const char *file) {
    StringRef bytes = embeddedFile(std::string(archName(m.arch)) + "/" + file);
    return bytes.empty() ? diag.fail(ErrorKind::Internal, std::string("this compiler carries no ") + file)
                         : add(file, bytes);
  };
  if (form == Form::Executable && (!runtime("start.o") || !runtime("program.o")))
    return false;
  if (!add("description of model " + m.name, model) || !runtime("runtime.o"))
    return false;
  for (const Object &o : objects)
    if (!add(o.name, o.bytes))
      return false;
  if (!addDriver("gemm", m.products, runtime) || !addDriver("conv", m.convolutions, runtime))
    return false;
  if (const char *isa = kernelsOf(m)) // an archive: the link takes what is called
    if (std::string name = std::string("kernels_") + isa + ".a"; !add(name, embeddedFile(name)))
      return false;
  if (form == Form::Relocatable)
    return true;
  if (form == Form::Shared) {
    std::string script = "{ global: torchc_model; " + exportedName(m) + "; local: *; };";
    if (!add("exports", script))
      return false;
    args.back() = "--version-script=" + args.back();
  }
  return runtime("libc.so.6") && runtime("libm.so.6");
}

static bool link(const Model &m, Form form, ArrayRef<Object> objects, StringRef path, const std::string &output,
                 Diag &diag) {
  InputFiles inputs(output);
  std::vector<std::string> args = baseArgs(m, output);
  if (form == Form::Relocatable)
    args.push_back("-r");
  else
    appendFinalArgs(m, form, path, args);
  if (!addInputs(m, form, objects, inputs, args, diag))
    return false;
  std::string text;
  bool full = false;
  if (runLld(args, text, full))
    return true;
  if (full) // what write() would have said
    return diag.fail(ErrorKind::OS, "cannot write " + path.str() + ": " + strerror(ENOSPC));
  return diag.fail(ErrorKind::Runtime, "linking " + path.str() + " failed:\n" + inputs.translate(text));
}

static bool linkFinal(const Model &m, Form form, ArrayRef<Object> objects, StringRef path, Diag &diag) {
  OutputFile out;
  if (!checkModel(m, diag) || !out.open(path, diag) || !link(m, form, objects, path, out.temp(), diag))
    return false;
  bool segment = m.place == WeightsPlace::Auto && weightOffsets(m).back() != 0;
  if (segment && !appendWeights(m, out.temp(), diag))
    return false;
  return out.commit(true, diag);
}

bool linkShared(const Model &m, ArrayRef<Object> objects, StringRef path, Diag &diag) {
  return linkFinal(m, Form::Shared, objects, path, diag);
}

bool linkExecutable(const Model &m, ArrayRef<Object> objects, StringRef path, Diag &diag) {
  return linkFinal(m, Form::Executable, objects, path, diag);
}

/// Undefined names of a relocatable object that are on no allow list (A4).
static bool checkUndefined(const object::ELFObjectFileBase &object, Diag &diag) {
  StringSet<> allowed;
  for (const char *name : {"__ehdr_start", "_GLOBAL_OFFSET_TABLE_", ""})
    allowed.insert(name);
  SmallVector<StringRef, 64> lines;
  embeddedFile("Imports.txt").split(lines, '\n');
  for (StringRef line : lines)
    allowed.insert(line.split(' ').first);
  std::string refused;
  for (const object::ELFSymbolRef &s : object.symbols()) {
    Expected<uint32_t> flags = s.getFlags();
    Expected<StringRef> name = s.getName();
    if (flags && name && (*flags & object::SymbolRef::SF_Undefined) && !allowed.contains(*name))
      refused += (refused.empty() ? "" : ", ") + name->str();
    consumeError(flags.takeError());
    consumeError(name.takeError());
  }
  return refused.empty() ||
         diag.fail(ErrorKind::Runtime, "undefined symbols that an artefact may not import: " + refused);
}

/// Makes every global name local but the model's function, so that two models go into one program.
static bool localise(const Model &m, StringRef path, std::string &out, Diag &diag) {
  auto failWith = [&](Error e) {
    return diag.fail(ErrorKind::Internal, "localising names: " + toString(std::move(e)));
  };
  Expected<object::OwningBinary<object::ObjectFile>> file = object::ObjectFile::createObjectFile(path);
  if (!file)
    return failWith(file.takeError());
  auto &object = *cast<object::ELFObjectFileBase>(file->getBinary());
  if (!checkUndefined(object, diag))
    return false;
  objcopy::CommonConfig config;
  objcopy::ELFConfig elf;
  std::string name = exportedName(m); // the matcher borrows it
  Expected<objcopy::NameOrPattern> keep =
      objcopy::NameOrPattern::create(name, objcopy::MatchStyle::Literal, [](Error e) { return e; });
  if (!keep)
    return failWith(keep.takeError());
  if (Error e = config.SymbolsToKeepGlobal.addMatcher(std::move(keep)))
    return failWith(std::move(e));
  raw_string_ostream os(out);
  if (Error e = objcopy::elf::executeObjcopyOnBinary(config, elf, object, os))
    return failWith(std::move(e));
  return true;
}

static bool makeRelocatable(const Model &m, ArrayRef<Object> objects, StringRef path, std::string &bytes, Diag &diag) {
  OutputFile out; // never committed: lld's result is only a step
  return checkModel(m, diag) && out.open(path, diag) && link(m, Form::Relocatable, objects, path, out.temp(), diag) &&
         localise(m, out.temp(), bytes, diag);
}

bool linkRelocatable(const Model &m, ArrayRef<Object> objects, StringRef path, Diag &diag) {
  std::string bytes;
  return makeRelocatable(m, objects, path, bytes, diag) && writeFile(path, StringRef(bytes), diag);
}

bool linkArchive(const Model &m, ArrayRef<Object> objects, StringRef path, Diag &diag) {
  std::string bytes, member = m.name + ".o";
  if (!makeRelocatable(m, objects, path, bytes, diag))
    return false;
  NewArchiveMember entry(MemoryBufferRef(bytes, member));
  auto archive = writeArchiveToBuffer(entry, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                                      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return diag.fail(ErrorKind::Internal, "writing an archive: " + toString(archive.takeError()));
  return writeFile(path, (*archive)->getBuffer(), diag);
}

bool writeWeights(const Model &m, OutputFile &out, Diag &diag) {
  std::vector<uint64_t> offsets = weightOffsets(m);
  std::vector<StringRef> pieces;
  static const char zeros[64] = {};
  for (unsigned i = 0; i < m.weights.size(); ++i) {
    pieces.push_back(m.weights[i]);
    pieces.push_back(StringRef(zeros, offsets[i + 1] - offsets[i] - m.weights[i].size()));
  }
  return out.write(pieces, diag);
}

} // namespace torchc::link
