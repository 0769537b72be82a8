#include "runtime/exec/Executable.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/kernels/Conv.h"
#include "runtime/kernels/Gemm.h"
#include "runtime/kernels/Pack.h"
#include <cstring>

namespace torchc {

void *resolveRuntimeSymbol(void *, const char *name) {
  if (Kernel k = packSymbol(name))
    return reinterpret_cast<void *>(k);
  static const struct {
    const char *name;
    void *address;
  } allowed[] = {
      {"memcpy", reinterpret_cast<void *>(&std::memcpy)},
      {"memmove", reinterpret_cast<void *>(&std::memmove)},
      {"memset", reinterpret_cast<void *>(&std::memset)},
      {"torchc_conv", reinterpret_cast<void *>(&torchc_conv)},
      {"torchc_gemm", reinterpret_cast<void *>(&torchc_gemm)},
      {"torchc_parallel_for", reinterpret_cast<void *>(&torchc_parallel_for)},
  };
  for (const auto &a : allowed)
    if (!std::strcmp(a.name, name))
      return a.address;
  return nullptr;
}

std::shared_ptr<const Executable> Executable::load(const void *bytes, size_t size, Diag &diag) {
  std::shared_ptr<Executable> e(new Executable);
  if (!e->image.load(bytes, size, resolveRuntimeSymbol, nullptr, diag))
    return nullptr;
  e->entryPoint = e->kernel("torchc_entry");
  if (!e->entryPoint) {
    diag.fail(ErrorKind::Runtime, "object: expected a global symbol 'torchc_entry'");
    return nullptr;
  }
  return e;
}

Kernel Executable::kernel(const char *name) const { return reinterpret_cast<Kernel>(image.symbol(name)); }

const std::string &Executable::metadata() const {
  static const std::string none;
  const std::string *s = image.section(".torchc.meta");
  return s ? *s : none;
}

} // namespace torchc
