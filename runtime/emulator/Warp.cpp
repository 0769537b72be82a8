// Control flow, memory and what lanes do together. Of a warp's lanes those furthest behind run first, which brings diverged ones
// together again where their paths meet.
#include "runtime/emulator/Warp.h"
#include <algorithm>
#include <cstdio>

namespace torchc::ptx {

Launch::Launch(const Kernel &kernel, const Shape &shape, const void *const *values, const Blocks &blocks)
    : kernel(kernel), shape(shape), blocks(blocks), parameters(kernel.parameterBytes), shared(kernel.sharedBytes),
      threads(shape.block[0] * shape.block[1] * shape.block[2]) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(parameters.data() + kernel.parameters[i].offset, values[i], kernel.parameters[i].size);
  warps.resize((threads + warpSize - 1) / warpSize);
  for (Warp &w : warps)
    w.registers.resize(size_t(kernel.registers) * warpSize);
  fillRegisters();
}

void Launch::fail(const Instruction &i, Fault::Kind kind, const std::string &what, uint32_t thread) {
  if (fault.kind != Fault::None)
    return;
  fault.kind = kind;
  fault.text = what + ": kernel " + kernel.name + ", line " + std::to_string(i.line) + ", block " +
               std::to_string(group) + ", thread " + std::to_string(thread);
}

/// Registers start as garbage that is easy to see; what is the same in every block is filled in once.
void Launch::fillRegisters() {
  for (size_t n = 0; n < warps.size(); ++n) {
    Warp &w = warps[n];
    std::fill(w.registers.begin(), w.registers.end(), 0xdeadbeefdeadbeef);
    for (const auto &[r, value] : kernel.constants)
      std::fill_n(w.registers.begin() + std::ptrdiff_t(r) * warpSize, warpSize, value);
    const uint32_t *b = shape.block, *g = shape.grid;
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      uint32_t t = uint32_t(n) * warpSize + lane;
      uint32_t special[13] = {t % b[0], t / b[0] % b[1], t / b[0] / b[1], b[0], b[1], b[2], 0, 0, 0, g[0], g[1], g[2],
                              lane};
      for (const auto &[r, which] : kernel.specials)
        w.registers[size_t(r) * warpSize + lane] = special[int(which)];
    }
  }
}

/// Shared memory starts as garbage too.
void Launch::startBlock(const uint32_t (&at)[3]) {
  std::fill(shared.begin(), shared.end(), char(0xff));
  sharedRaces.clear();
  for (size_t n = 0; n < warps.size(); ++n) {
    Warp &w = warps[n];
    uint32_t last = std::min<uint32_t>(threads - uint32_t(n) * warpSize, warpSize);
    w.alive = last == warpSize ? ~0u : (1u << last) - 1;
    w.waiting = 0;
    std::fill_n(w.at, warpSize, 0);
    for (const auto &[r, which] : kernel.specials)
      if (int dim = int(which) - int(Special::CtaidX); dim >= 0 && dim < 3)
        std::fill_n(w.registers.begin() + std::ptrdiff_t(r) * warpSize, warpSize, at[dim]);
  }
}

/// Until every lane has ended or waits at a barrier.
void Launch::runWarp(uint32_t number) {
  Warp &w = warps[number];
  while (uint32_t ready = w.alive & ~w.waiting) {
    uint32_t pc = ~0u, lanes = 0;
    for (uint32_t m = ready; m; m &= m - 1)
      pc = std::min(pc, w.at[std::countr_zero(m)]);
    for (uint32_t m = ready; m; m &= m - 1)
      if (int lane = std::countr_zero(m); w.at[lane] == pc)
        lanes |= 1u << lane;
    const Instruction &i = kernel.code[pc];
    uint32_t active = lanes;
    if (i.guard >= 0)
      for (uint32_t m = lanes; m; m &= m - 1) {
        int lane = std::countr_zero(m);
        if ((w.registers[size_t(i.guard) * warpSize + size_t(lane)] & 1) == uint64_t(i.negated))
          active &= ~(1u << lane);
      }
    for (uint32_t m = lanes; m; m &= m - 1)
      ++w.at[std::countr_zero(m)];
    if (active)
      execute(i, w, number * warpSize, active);
    if (fault.kind != Fault::None)
      return;
  }
}

/// Warps run in turn from barrier to barrier. False after a fault.
bool Launch::finishBlock() {
  for (;;) {
    for (uint32_t n = 0; n < warps.size(); ++n) {
      runWarp(n);
      if (fault.kind != Fault::None)
        return false;
    }
    bool any = false;
    for (Warp &w : warps) {
      any |= w.waiting != 0;
      w.waiting = 0;
    }
    if (!any)
      return true;
    ++epoch;
  }
}

Fault Launch::run() {
  for (uint32_t z = 0; z < shape.grid[2]; ++z)
    for (uint32_t y = 0; y < shape.grid[1]; ++y)
      for (uint32_t x = 0; x < shape.grid[0]; ++x) {
        startBlock({x, y, z});
        if (!finishBlock())
          return fault;
        ++group;
        ++epoch;
      }
  return fault;
}

char *Launch::access(const Instruction &i, uint64_t address, uint32_t bytes, uint32_t thread, bool writes,
                     bool atomic) {
  char hex[64];
  auto describe = [&](const char *what) {
    std::snprintf(hex, sizeof hex, "%s, address 0x%llx, %u bytes", what, static_cast<unsigned long long>(address),
                  bytes);
    return std::string(hex);
  };
  bool isShared = i.space == Space::Shared || (i.space == Space::Generic && address >= sharedWindow);
  if (i.space == Space::Generic && isShared)
    address -= sharedWindow;
  if (address % bytes)
    return fail(i, Fault::Misaligned, describe("misaligned address"), thread), nullptr;
  const char *refused = nullptr;
  if (isShared)
    refused = address + bytes > shared.size() || address + bytes < bytes ? "out of bounds of shared memory" : nullptr;
  else
    refused = blocks.refuse(address, bytes);
  if (refused)
    return fail(i, Fault::Address, describe(refused), thread), nullptr;
  if (!atomic) {
    uint32_t number = group * threads + thread;
    if (!(isShared ? sharedRaces : globalRaces).access(address, writes, number, group, epoch))
      return fail(i, Fault::Race, describe("race between threads"), thread), nullptr;
  }
  return isShared ? shared.data() + address : reinterpret_cast<char *>(address);
}

void Launch::memory(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes) {
  uint32_t size = uint32_t(bytesOf(i.type));
  bool writes = i.op == Op::St;
  size_t count = writes ? i.in.size() - 1 : i.to.size();
  for (uint32_t m = lanes; m; m &= m - 1) {
    auto lane = size_t(std::countr_zero(m));
    uint64_t *r = w.registers.data() + lane;
    uint64_t address = r[size_t(i.in[0]) * warpSize] + uint64_t(i.offset);
    // Vectors are aligned as a whole.
    char *p = access(i, address, size * uint32_t(count), firstThread + uint32_t(lane), writes, false);
    if (!p)
      return;
    for (size_t k = 0; k < count; ++k, p += size) {
      if (writes) {
        std::memcpy(p, &r[size_t(i.in[1 + k]) * warpSize], size);
        continue;
      }
      uint64_t v = 0;
      std::memcpy(&v, p, size);
      // A narrow signed load fills its register, which may be wider.
      if (i.type == Type::S8)
        v = uint64_t(int8_t(v));
      if (i.type == Type::S16)
        v = uint64_t(int16_t(v));
      if (i.type == Type::S32)
        v = uint64_t(int32_t(v));
      r[size_t(i.to[k]) * warpSize] = v;
    }
  }
}

template <class T> static uint64_t changed(Mode mode, uint64_t oldBits, uint64_t bits, uint64_t other) {
  T old = fromBits<T>(oldBits), v = fromBits<T>(bits);
  if (mode == Mode::Add)
    return toBits<T>(T(old + v));
  if (mode == Mode::Min || mode == Mode::Max)
    return toBits<T>((mode == Mode::Min) == (v < old) ? v : old);
  if (mode == Mode::Swap)
    return toBits<T>(old == v ? fromBits<T>(other) : old);
  if (mode == Mode::And)
    return oldBits & bits;
  if (mode == Mode::Or)
    return oldBits | bits;
  return mode == Mode::Xor ? oldBits ^ bits : bits;
}

void Launch::atomic(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes) {
  auto size = uint32_t(bytesOf(i.type));
  for (uint32_t m = lanes; m; m &= m - 1) {
    auto lane = size_t(std::countr_zero(m));
    uint64_t *r = w.registers.data() + lane;
    auto in = [&](size_t k) { return r[size_t(i.in[k]) * warpSize]; };
    char *p = access(i, in(0) + uint64_t(i.offset), size, firstThread + uint32_t(lane), true, true);
    if (!p)
      return;
    uint64_t old = 0, next = 0, other = i.in.size() > 2 ? in(2) : 0;
    std::memcpy(&old, p, size);
    switch (i.type) {
    case Type::S32: next = changed<int32_t>(i.mode, old, in(1), other); break;
    case Type::S64: next = changed<int64_t>(i.mode, old, in(1), other); break;
    case Type::U64:
    case Type::B64: next = changed<uint64_t>(i.mode, old, in(1), other); break;
    case Type::U32:
    case Type::B32: next = changed<uint32_t>(i.mode, old, in(1), other); break;
    default: return fail(i, Fault::Unsupported, "unsupported atomic type", firstThread);
    }
    std::memcpy(p, &next, size);
    if (!i.to.empty())
      r[size_t(i.to[0]) * warpSize] = old;
  }
}

void Launch::shuffle(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes) {
  uint64_t *r = w.registers.data();
  uint64_t values[warpSize];
  std::copy_n(r + size_t(i.in[0]) * warpSize, warpSize, values);
  for (uint32_t m = lanes; m; m &= m - 1) {
    int lane = std::countr_zero(m);
    auto in = [&](size_t k) { return uint32_t(r[size_t(i.in[k]) * warpSize + size_t(lane)]); };
    uint32_t by = in(1), limits = in(2), members = in(3);
    if (!(members >> lane & 1) || (members & w.alive) != lanes)
      return fail(i, Fault::Divergence, "shuffle by lanes other than its mask's", firstThread + uint32_t(lane));
    int segment = int(limits >> 8 & 31), clamp = int(limits & 31);
    int last = (lane & segment) | (clamp & ~segment), first = lane & segment, from = lane;
    bool inside = false;
    switch (i.mode) {
    case Mode::Up: from = lane - int(by), inside = from >= last; break;
    case Mode::Down: from = lane + int(by), inside = from <= last; break;
    case Mode::Butterfly: from = lane ^ int(by), inside = from <= last; break;
    default: from = first | (int(by) & ~segment), inside = from <= last; break;
    }
    if (!inside)
      from = lane;
    if (!(lanes >> from & 1))
      return fail(i, Fault::Divergence, "shuffle from a lane that takes no part", firstThread + uint32_t(lane));
    r[size_t(i.to[0]) * warpSize + size_t(lane)] = values[from];
    if (i.to.size() > 1)
      r[size_t(i.to[1]) * warpSize + size_t(lane)] = inside;
  }
}

void Launch::execute(const Instruction &i, Warp &w, uint32_t firstThread, uint32_t lanes) {
  uint64_t *r = w.registers.data();
  auto each = [&](auto f) {
    for (uint32_t m = lanes; m; m &= m - 1)
      f(size_t(std::countr_zero(m)));
  };
  switch (i.op) {
  case Op::Bra: return each([&](size_t lane) { w.at[lane] = uint32_t(i.target); });
  case Op::Ret: w.alive &= ~lanes; return;
  case Op::Bar:
    // bar.sync is aligned: a warp comes to it as one.
    if (lanes != w.alive)
      return fail(i, Fault::Divergence, "barrier in diverged code", firstThread + uint32_t(std::countr_zero(lanes)));
    w.waiting |= lanes;
    return;
  case Op::WarpSync: return;
  case Op::LdParam:
    return each([&](size_t lane) {
      auto size = size_t(bytesOf(i.type));
      for (size_t k = 0; k < i.to.size(); ++k) {
        uint64_t v = 0;
        std::memcpy(&v, parameters.data() + size_t(i.offset) + k * size, size);
        r[size_t(i.to[k]) * warpSize + lane] = v;
      }
    });
  case Op::Ld:
  case Op::St: return memory(i, w, firstThread, lanes);
  case Op::Atom: return atomic(i, w, firstThread, lanes);
  case Op::Shfl: return shuffle(i, w, firstThread, lanes);
  case Op::Cvta:
    return each([&](size_t lane) {
      uint64_t v = r[size_t(i.in[0]) * warpSize + lane], window = i.space == Space::Shared ? sharedWindow : 0;
      r[size_t(i.to[0]) * warpSize + lane] = i.clamps ? v - window : v + window;
    });
  default:
    if (!arithmetic(i, r, lanes))
      fail(i, Fault::Unsupported, "unsupported instruction or type", firstThread);
  }
}

Fault launch(const Kernel &kernel, const Shape &shape, const void *const *parameters, const Blocks &blocks) {
  return Launch(kernel, shape, parameters, blocks).run();
}

} // namespace torchc::ptx
