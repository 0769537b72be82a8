#include "runtime/exec/Relocate.h"
#include <cstring>
#include <elf.h>

namespace torchc {
namespace {

constexpr const char *outOfReach = "relocation out of reach";
constexpr const char *noRoom = "relocation reaches past its section";
constexpr const char *unknown = "relocation of an unknown type";

void put32(uint8_t *p, uint32_t v) { std::memcpy(p, &v, 4); }
void put64(uint8_t *p, uint64_t v) { std::memcpy(p, &v, 8); }
uint32_t get32(const uint8_t *p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
bool fits32(uint64_t v) { return int64_t(v) == int32_t(v); }
constexpr uint32_t bits(uint64_t v, int high, int low) { return uint32_t(v >> low) & ((1u << (high - low + 1)) - 1); }

const char *putRelative32(const Relocation &r, uint64_t value) {
  if (!fits32(value))
    return outOfReach;
  put32(r.place, uint32_t(value));
  return nullptr;
}

const char *relocateX86(const Relocation &r) {
  uint64_t relative = r.symbol + uint64_t(r.addend) - r.address;
  if (r.room < (r.type == R_X86_64_64 || r.type == R_X86_64_PC64 ? 8u : 4u))
    return noRoom;
  switch (r.type) {
  case R_X86_64_NONE: return nullptr;
  case R_X86_64_64: put64(r.place, r.symbol + uint64_t(r.addend)); return nullptr;
  case R_X86_64_PC64: put64(r.place, relative); return nullptr;
  case R_X86_64_PC32: return putRelative32(r, relative);
  case R_X86_64_PLT32: {
    if (fits32(relative))
      return putRelative32(r, relative);
    static const uint8_t jump[6] = {0xff, 0x25, 0xf2, 0xff, 0xff, 0xff}; // jmp *-14(%rip): the slot
    put64(r.slot, r.symbol);
    std::memcpy(r.slot + 8, jump, sizeof jump);
    return putRelative32(r, r.slotAddress + 8 + uint64_t(r.addend) - r.address);
  }
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    put64(r.slot, r.symbol);
    return putRelative32(r, r.slotAddress + uint64_t(r.addend) - r.address);
  default: return unknown;
  }
}

/// The immediate of a load or store at bits 21..10, scaled by the access size.
const char *putLow12(const Relocation &r, uint64_t value, int scale) {
  uint32_t low = uint32_t(value) & 4095;
  if (low & ((1u << scale) - 1))
    return "relocation of a misaligned address";
  put32(r.place, (get32(r.place) & ~(4095u << 10)) | (low >> scale) << 10);
  return nullptr;
}

const char *putPage(const Relocation &r, uint64_t value) {
  int64_t v = int64_t((value & ~4095ull) - (r.address & ~4095ull));
  if (v >= int64_t(1) << 32 || v < -(int64_t(1) << 32))
    return outOfReach;
  put32(r.place, (get32(r.place) & 0x9f00001f) | bits(uint64_t(v), 13, 12) << 29 | bits(uint64_t(v), 32, 14) << 5);
  return nullptr;
}

const char *putCall(const Relocation &r, uint64_t target) {
  int64_t v = int64_t(target - r.address);
  if (v >= int64_t(1) << 27 || v < -(int64_t(1) << 27)) {
    put64(r.slot, r.symbol);
    put32(r.slot + 8, 0x58ffffd0); // ldr x16, .-8
    put32(r.slot + 12, 0xd61f0200); // br x16
    v = int64_t(r.slotAddress + 8 - r.address);
    if (r.addend || v >= int64_t(1) << 27 || v < -(int64_t(1) << 27))
      return outOfReach;
  }
  if (v & 3)
    return "call of a misaligned address";
  put32(r.place, (get32(r.place) & 0xfc000000) | bits(uint64_t(v), 27, 2));
  return nullptr;
}

const char *relocateA64(const Relocation &r) {
  uint64_t value = r.symbol + uint64_t(r.addend);
  if (r.room < (r.type == R_AARCH64_ABS64 || r.type == R_AARCH64_PREL64 ? 8u : 4u))
    return noRoom;
  switch (r.type) {
  case R_AARCH64_NONE: return nullptr;
  case R_AARCH64_ABS64: put64(r.place, value); return nullptr;
  case R_AARCH64_PREL64: put64(r.place, value - r.address); return nullptr;
  case R_AARCH64_PREL32: return putRelative32(r, value - r.address);
  case R_AARCH64_ADR_GOT_PAGE: put64(r.slot, r.symbol); return putPage(r, r.slotAddress);
  case R_AARCH64_LD64_GOT_LO12_NC: put64(r.slot, r.symbol); return putLow12(r, r.slotAddress, 3);
  case R_AARCH64_ADR_PREL_PG_HI21: return putPage(r, value);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC: return putLow12(r, value, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC: return putLow12(r, value, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC: return putLow12(r, value, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC: return putLow12(r, value, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC: return putLow12(r, value, 4);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26: return putCall(r, value);
  default: return unknown;
  }
}

} // namespace

const char *relocate(ElfMachine machine, const Relocation &r) {
  return machine == ElfMachine::AArch64 ? relocateA64(r) : relocateX86(r);
}

} // namespace torchc
