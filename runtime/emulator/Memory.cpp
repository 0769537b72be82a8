#include "runtime/emulator/Memory.h"
#include <algorithm>

namespace torchc::ptx {

void Blocks::note(uint64_t at, uint64_t bytes, bool lives) {
  auto it = blocks.upper_bound(at);
  if (it == blocks.begin())
    return;
  Block &b = (--it)->second;
  b.divided = true;
  if (lives)
    b.parts[at] = bytes;
  else
    b.parts.erase(at);
}

const char *Blocks::refuse(uint64_t at, uint64_t bytes) const {
  auto it = blocks.upper_bound(at);
  if (it == blocks.begin())
    return "out of bounds";
  const auto &[start, block] = *--it;
  if (at + bytes > start + block.bytes)
    return "out of bounds";
  if (!block.divided)
    return nullptr;
  auto part = block.parts.upper_bound(at);
  if (part == block.parts.begin())
    return "memory that is free";
  --part;
  return at + bytes <= part->first + part->second ? nullptr : "out of bounds of a tensor, or free";
}

Races::Last &Races::entry(uint64_t at) {
  if (4 * used > 3 * table.size()) {
    std::vector<Last> old(2 * table.size());
    old.swap(table);
    used = 0;
    for (const Last &l : old)
      if (l.at != ~uint64_t(0))
        entry(l.at) = l;
  }
  // Runs of 64 addresses stay together, and are spread: dense arrays would otherwise queue behind each other.
  uint64_t run = (at >> 6) * 0x9e3779b97f4a7c15;
  size_t mask = table.size() - 1, i = size_t(run >> 20 << 6 | (at & 63)) & mask;
  while (table[i].at != at && table[i].at != ~uint64_t(0))
    i = (i + 1) & mask;
  if (table[i].at != at) {
    table[i].at = at;
    ++used;
  }
  return table[i];
}

void Races::clear() {
  if (used)
    std::fill(table.begin(), table.end(), Last());
  used = 0;
}

bool Races::access(uint64_t at, bool writes, uint32_t thread, uint32_t group, uint32_t epoch) {
  Last &l = entry(at);
  auto ordered = [&](uint32_t otherGroup, uint32_t otherEpoch) { return otherGroup == group && otherEpoch != epoch; };
  bool ok = l.writer == none || l.writer == thread || ordered(l.writerGroup, l.writerEpoch);
  if (writes) {
    ok = ok && (l.reader == none || l.reader == thread || ordered(l.readerGroup, l.readerEpoch));
    l.writer = thread, l.writerGroup = group, l.writerEpoch = epoch;
    l.reader = none;
    return ok;
  }
  bool alone = l.reader == none || l.reader == thread || ordered(l.readerGroup, l.readerEpoch);
  l.reader = alone ? thread : many;
  l.readerGroup = alone || l.readerGroup == group ? group : many;
  l.readerEpoch = epoch;
  return ok;
}

} // namespace torchc::ptx
