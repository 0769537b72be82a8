#include "compiler/schedule/Plan.h"
#include <algorithm>

namespace torchc::schedule {

/// Buffers whose contents don't live at the same time share a slot; those of fixed size come first.
static void makeSlots(Plan &plan, const std::vector<Buffer *> &arena) {
  auto fixed = [&](const Buffer *b) { return !plan.symbols.moves(b->elements); };
  for (bool want : {true, false})
    for (const Buffer *b : arena) {
      if (fixed(b) != want)
        continue;
      auto free = [&](const std::vector<unsigned> &slot) {
        return fixed(&plan.buffers[slot[0]]) == want && std::none_of(slot.begin(), slot.end(), [&](unsigned other) {
                 const Buffer &o = plan.buffers[other];
                 return o.first <= b->last && b->first <= o.last;
               });
      };
      auto slot = std::find_if(plan.slots.begin(), plan.slots.end(), free);
      if (slot == plan.slots.end())
        slot = plan.slots.emplace(plan.slots.end());
      slot->push_back(unsigned(b - plan.buffers.data()));
    }
}

void placeBuffers(Plan &plan) {
  for (auto &b : plan.buffers)
    b.first = b.last = -1;
  auto touch = [&](unsigned buffer, int step) {
    Buffer &b = plan.buffers[buffer];
    b.first = b.first < 0 ? step : b.first;
    b.last = step;
  };
  for (int s = 0; s < int(plan.steps.size()); s++) {
    for (const Pointer &p : plan.steps[size_t(s)].writes)
      touch(p.buffer, s);
    for (const Pointer &p : plan.steps[size_t(s)].reads)
      touch(p.buffer, s);
    if (plan.steps[size_t(s)].scratch >= 0)
      touch(unsigned(plan.steps[size_t(s)].scratch), s);
    if (plan.steps[size_t(s)].scalarBuffer >= 0)
      touch(unsigned(plan.steps[size_t(s)].scalarBuffer), s);
  }
  std::vector<Buffer *> arena;
  for (Buffer &b : plan.buffers)
    if (b.place == Buffer::Arena && b.first >= 0)
      arena.push_back(&b);
  std::stable_sort(arena.begin(), arena.end(), [](Buffer *a, Buffer *b) { return a->bytes() > b->bytes(); });
  if (!plan.symbols.empty())
    return makeSlots(plan, arena);
  std::vector<Buffer *> placed;
  plan.arenaBytes = 0;
  for (Buffer *b : arena) {
    std::vector<Buffer *> live;
    for (Buffer *p : placed)
      if (p->first <= b->last && b->first <= p->last)
        live.push_back(p);
    std::sort(live.begin(), live.end(), [](Buffer *x, Buffer *y) { return x->offset < y->offset; });
    auto padded = [](const Buffer *x) { return (x->bytes() + 63) / 64 * 64; };
    int64_t at = 0;
    for (Buffer *p : live) {
      if (p->offset - at >= padded(b))
        break;
      at = std::max(at, p->offset + padded(p));
    }
    b->offset = at;
    plan.arenaBytes = std::max(plan.arenaBytes, at + padded(b));
    placed.push_back(b);
  }
}

static size_t slotOf(const Plan &plan, unsigned buffer) {
  size_t at = 0;
  while (at < plan.slots.size() &&
         std::find(plan.slots[at].begin(), plan.slots[at].end(), buffer) == plan.slots[at].end())
    at++;
  return at;
}

static std::string describe(const Plan &plan, const Pointer &p) {
  const Buffer &b = plan.buffers[p.buffer];
  std::string s = b.place == Buffer::Argument ? "arg" + std::to_string(b.index)
                  : b.place == Buffer::Result ? "result" + std::to_string(b.index)
                  : plan.slots.empty()        ? "arena+" + std::to_string(b.offset)
                                              : "slot" + std::to_string(slotOf(plan, p.buffer));
  return p.offset ? s + "[" + std::to_string(p.offset) + "]" : s;
}

std::string Plan::str() const {
  std::string out = "arena " + std::to_string(arenaBytes) + " bytes\n";
  for (const Step &s : steps) {
    out += (s.control == Control::Cond ? "if " : s.control == Control::Loop ? "while " : "") + s.callee + ":";
    for (const Pointer &p : s.writes)
      out += " " + describe(*this, p);
    out += " <-";
    for (const Pointer &p : s.reads)
      out += " " + describe(*this, p);
    out += "\n";
    for (unsigned k = 0; k < 2 && s.control != Control::None; k++)
      out += s.callee + "_" + std::to_string(k) + " {\n" + nested[s.nested + k].str() + "}\n";
  }
  return out;
}

} // namespace torchc::schedule
