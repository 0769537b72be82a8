// Applying one relocation. Pure functions on bytes: both machines' are built everywhere, so that both are tested
// everywhere.
#pragma once
#include "runtime/exec/ObjectLoader.h"

namespace torchc {

/// A slot in the image: the symbol's address, then a jump to it for calls that don't reach.
inline constexpr size_t relocationSlot = 24;

struct Relocation {
  uint32_t type;
  uint8_t *place;   // the bytes to patch
  size_t room;      // how many there are up to the section's end
  uint64_t address; // of `place` at run time
  uint64_t symbol;  // S
  int64_t addend;   // A
  uint8_t *slot;    // relocationSlot bytes of the symbol, 8-aligned, and
  uint64_t slotAddress; // their address at run time
};

/// Null, or why it can't be applied.
const char *relocate(ElfMachine machine, const Relocation &r);

} // namespace torchc
