// A compiled graph ready to run: a loaded object, its entry and its metadata. Shared by everything that may launch it, and
// unloaded with the last owner.
#pragma once
#include "runtime/exec/ObjectLoader.h"
#include "runtime/kernels/Kernel.h"
#include <memory>
#include <string>

namespace torchc {

class Executable {
public:
  /// Loads an object with the entry `torchc_entry`. External symbols are found in the kernel pack, then among the few
  /// functions compiled code may call (memcpy, memmove, memset, torchc_parallel_for). Null on failure, reported as
  /// Runtime with the symbol or the defect named.
  static std::shared_ptr<const Executable> load(const void *bytes, size_t size, Diag &diag);

  /// ptrs = outputs, inputs in the trace's order, status, arena.
  Kernel entry() const { return entryPoint; }
  /// Another kernel of the object, or null.
  Kernel kernel(const char *name) const;
  /// The object's .torchc.meta section: JSON, empty if it has none.
  const std::string &metadata() const;
  size_t memoryBytes() const { return image.size(); }

private:
  Executable() = default;
  ObjectImage image;
  Kernel entryPoint = nullptr;
};

/// The resolver that Executable::load uses.
void *resolveRuntimeSymbol(void *, const char *name);

} // namespace torchc
