// torchc: the command line, and under the name torchc-compiled the JIT's helper.
// Exit codes: 0 done, 1 the user's mistake, 2 an internal error.
#include "tools/torchc/Artefact.h"
#include "tools/torchc/Compile.h"
#include "tools/torchc/Serve.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

static int usageError(const Twine &text) {
  errs() << "error: " << text << "; see torchc --help\n";
  return 1;
}

static int printHelp() {
  outs() << "usage: torchc VERB ...\n"
            "  compile MODEL... [-o OUT] [--emit=KIND] [--target=TARGET] [--name=NAME]\n"
            "          [--weights=embed|external] [--grad[=N]] [--mode=exact]\n"
            "          [--input NAME=DTYPE[SIZE,...] ...]\n"
            "      MODEL: an .onnx, .tcz or .tctrace file, or FILE.py:FUNCTION with an --input for each\n"
            "      of its arguments (x=f32[1,64]); an .onnx needs them for sizes it leaves open.\n"
            "      KIND: exe, so; a, o (for C: they come with NAME.h, which includes torchc/model.h of\n"
            "      runtime/include); object, trace, torchc, loops, llvm, asm (the stages).\n"
            "      --grad: also the gradients of the inputs, given a cotangent for each output; =2: and\n"
            "      those of the whole again.\n"
            "      Each MODEL is compiled by itself; -o and --name are for one.\n"
            "      TARGET: x86-64-v3 (what is shipped), native (the stages), x86-64-v4, aarch64.\n"
            "  run ARTEFACT --input NAME=FILE.npy ... [--output NAME=FILE.npy]\n"
            "      Runs a shared library or executable; an output without a file is printed.\n"
            "      --self-test, --signature and --help are the artefact's own.\n"
            "  inspect ARTEFACT    prints the signature and the sections\n"
            "  --version, --help\n";
  return 0;
}

static int serveFrom(int argc, char **argv, int first) {
  int fd = -1, parent = 0;
  bool ok = first < argc && to_integer(StringRef(argv[first]), fd, 10) && fd >= 0 &&
            (first + 1 >= argc || (to_integer(StringRef(argv[first + 1]), parent, 10) && parent > 0)) &&
            argc <= first + 2;
  return ok ? torchc::serve(fd, parent) : usageError("expected a descriptor and the process id of the program");
}

static int runVerb(int argc, char **argv) {
  bool serving = argc > 1 && StringRef(argv[1]) == "--serve";
  if (serving || StringRef(argv[0]).ends_with("torchc-compiled"))
    return serveFrom(argc, argv, serving ? 2 : 1);
  if (argc < 2)
    return usageError("expected a verb");
  StringRef verb = argv[1];
  if (verb == "--version") {
    outs() << "torchc " TORCHC_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
    return 0;
  }
  auto asksForHelp = [](StringRef word) { return word == "--help" || word == "-h"; };
  // `run ARTEFACT --help` is the artefact's.
  if (asksForHelp(verb) || verb == "help" || (argc > 2 && asksForHelp(argv[verb == "run" ? 2 : argc - 1])))
    return printHelp();
  if (verb == "compile")
    return torchc::compileVerb(argv[0], ArrayRef<char *>(argv + 2, argv + argc));
  if (verb == "run")
    return argc < 3 ? usageError("run: expected an artefact") : torchc::runArtefact(argv[2], argc - 2, argv + 2);
  if (verb == "inspect")
    return argc != 3 ? usageError("inspect: expected one artefact") : torchc::inspectArtefact(argv[2]);
  if (verb == "why" || verb == "bench" || verb == "verify")
    return usageError("'" + verb + "' is not part of this build");
  return usageError("unknown verb '" + verb + "'");
}

int main(int argc, char **argv) {
  int code = argc > 0 ? runVerb(argc, argv) : 1;
  outs().flush();
  if (outs().has_error()) {
    errs() << "error: stdout: " << outs().error().message() << '\n';
    outs().clear_error();
    code = code ? code : 1;
  }
  // No destructors: those of LLVM's registries take longer than a small compile.
  ::_exit(code);
}
