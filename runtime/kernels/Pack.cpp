#include "runtime/kernels/Pack.h"
#include "runtime/core/ForkMutex.h"
#include "runtime/core/knobs.h"
#include "runtime/kernels/StoredTypes.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace torchc {

detail::PackIndex detail::packIndex;

namespace {

struct Chosen {
  const PackTable *table = nullptr;
  const PackTable *const *all = nullptr;
  ForkMutex mutex{LockOrder::Pack};
  std::vector<const PackEntry *> byName; // of all tables that run here, sorted, at the first packSymbol()
  char problem[192] = {};
};
Chosen &chosen() {
  static auto *c = new Chosen;
  return *c;
}

const PackTable *find(const PackTable *const *tables, Isa isa) {
  for (; tables && *tables; ++tables)
    if ((*tables)->isa == isa && (*tables)->abi == packAbi)
      return *tables;
  return nullptr;
}

bool runsHere(const PackTable &t) {
  Isa best = processorIsa();
  return t.abi == packAbi && (t.isa == best || (t.isa == Isa::V3 && best == Isa::V4));
}

/// The table to use, and in `problem` why it isn't the one that was asked for.
const PackTable *choose(const PackTable *const *tables, char *problem, size_t size) {
  Isa best = processorIsa();
  if (best == Isa::None) {
    std::snprintf(problem, size, "this processor lacks AVX2, FMA or BMI2 (x86-64-v3)");
    return nullptr;
  }
  Isa isa = best;
  if (const char *asked = knobs().isa) {
    Isa want = !std::strcmp(asked, "v4") ? Isa::V4 : Isa::V3;
    if (best == Isa::A64 || want > best)
      std::snprintf(problem, size, "TORCHC_ISA=%s, but this processor runs %s", asked, isaName(best));
    else
      isa = want;
  }
  if (const PackTable *t = find(tables, isa))
    return t;
  if (const PackTable *t = isa == Isa::V4 ? find(tables, Isa::V3) : nullptr)
    return t; // a pack without v4 is complete all the same: bits are equal (N1)
  if (tables && !problem[0])
    std::snprintf(problem, size, "the kernel pack has no table for %s", isaName(isa));
  return nullptr;
}

void fillIndex(const PackTable &t) {
  detail::PackIndex &ix = detail::packIndex;
  uint32_t ops = 0;
  constexpr uint32_t mostOps = 1 << 16; // dense tables are for builtins
  auto opOf = [](const PackEntry &e) { return uint32_t(e.key); };
  for (uint64_t i = 0; i < t.count; ++i)
    if (opOf(t.entries[i]) < mostOps)
      ops = std::max(ops, opOf(t.entries[i]) + 1);
  ix.elementwise = new Kernel[size_t(ops) * numComputeDTypes * detail::packMasks]();
  ix.reduce = new Kernel[size_t(ops) * numComputeDTypes * 2]();
  for (uint64_t i = 0; i < t.count; ++i) {
    const PackEntry &e = t.entries[i];
    uint32_t op = opOf(e), dtype = uint32_t(e.key >> 40) & 0xff, aux = uint32_t(e.key >> 48) & 0xff;
    if (op >= ops || dtype >= unsigned(numComputeDTypes))
      continue;
    switch (PackForm(e.key >> 56)) {
    case PackForm::Elementwise:
      if (aux < detail::packMasks)
        ix.elementwise[(op * numComputeDTypes + dtype) * detail::packMasks + aux] = e.fn;
      break;
    case PackForm::Cast:
      if (aux < unsigned(numComputeDTypes))
        ix.cast[dtype][aux] = e.fn;
      break;
    case PackForm::Reduce: ix.reduce[(op * numComputeDTypes + dtype) * 2] = e.fn; break;
    case PackForm::ReduceCols: ix.reduce[(op * numComputeDTypes + dtype) * 2 + 1] = e.fn; break;
    default: break;
    }
  }
  ix.numOps = ops;
  storedCasts(ix.cast);
}

__attribute__((constructor)) void loadPack() { packUse(torchc_pack_tables); }

} // namespace

void packUse(const PackTable *const *tables) {
  Chosen &c = chosen();
  detail::PackIndex &ix = detail::packIndex;
  delete[] ix.elementwise;
  delete[] ix.reduce;
  ix = {};
  c.byName.clear();
  c.problem[0] = 0;
  c.all = tables;
  c.table = choose(tables, c.problem, sizeof c.problem);
  if (!c.table)
    return;
  fillIndex(*c.table);
}

Kernel detail::packSearch(uint64_t key) {
  const PackTable *t = chosen().table;
  if (!t)
    return nullptr;
  const PackEntry *end = t->entries + t->count;
  const PackEntry *e = std::lower_bound(t->entries, end, key, [](const PackEntry &a, uint64_t k) { return a.key < k; });
  return e != end && e->key == key ? e->fn : nullptr;
}

Kernel packSymbol(const char *name) {
  Chosen &c = chosen();
  if (!c.table)
    return nullptr;
  std::lock_guard<std::mutex> lock(c.mutex);
  auto less = [](const PackEntry *a, const PackEntry *b) { return std::strcmp(a->name, b->name) < 0; };
  if (c.byName.empty()) { // only compiled code asks: most programs never sort the names
    // Code for an older processor, as artefacts are, calls its kernels.
    for (const PackTable *const *t = c.all; *t; ++t)
      for (uint64_t i = 0; runsHere(**t) && i < (*t)->count; ++i)
        if ((*t)->entries[i].name)
          c.byName.push_back((*t)->entries + i);
    std::sort(c.byName.begin(), c.byName.end(), less);
  }
  PackEntry wanted{0, nullptr, name};
  auto it = std::lower_bound(c.byName.begin(), c.byName.end(), &wanted, less);
  return it != c.byName.end() && !std::strcmp((*it)->name, name) ? (*it)->fn : nullptr;
}

Isa packIsa() { return chosen().table ? chosen().table->isa : Isa::None; }
const char *packProblem() { return chosen().problem[0] ? chosen().problem : nullptr; }
const PackTable *packTable() { return chosen().table; }

} // namespace torchc
