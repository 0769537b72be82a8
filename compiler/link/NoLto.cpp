// Definitions that satisfy lld's ELF driver without LLVMLTO, which would pull all pass libraries
// into a static compiler (10 MB): bitcode is never linked here.
#include "llvm/ADT/SmallVector.h"
#include <cstdlib>

namespace lld::elf {
struct Ctx;
class BitcodeFile;
class BitcodeCompiler {
public:
  BitcodeCompiler(Ctx &);
  ~BitcodeCompiler();
  void add(BitcodeFile &);
};
BitcodeCompiler::BitcodeCompiler(Ctx &) {}
BitcodeCompiler::~BitcodeCompiler() {}
void BitcodeCompiler::add(BitcodeFile &) { abort(); }
} // namespace lld::elf

// Its result type is private to lld; an empty vector of any pointer type has the same bytes.
llvm::SmallVector<int *, 0> noCompile(void *) asm("_ZN3lld3elf15BitcodeCompiler7compileEv");
llvm::SmallVector<int *, 0> noCompile(void *) { return {}; }
