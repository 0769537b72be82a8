// The end of a run's segment: its deferred ops are launched as compiled code, or interpreted.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Function.h"
#include "frontends/jit/Interpret.h"
#include "frontends/jit/Retrace.h"
#include "frontends/jit/Tracer.h"
#include <algorithm>

namespace torchc::jit {

void Run::compute() {
  std::vector<Storage *> alive(slots.size(), nullptr); // deferred storages that somebody else has
  for (size_t n = 0; n < slots.size(); n++)
    if (slots[n].pending && slots[n].storage->refs.get() > 1)
      alive[n] = slots[n].storage;
  for (Storage *s : alive) {
    if (!s)
      continue;
    Storage *memory = newStorage(s->nbytes);
    if (!memory)
      outOfMemory(s->nbytes);
    s->data = memory->data;
    s->context = memory;
    s->deleter = [](Storage *x) { release(static_cast<Storage *>(x->context)); };
  }
  if (position == graph->steps.size() && launch(alive)) {
    graph->root().launches++;
    function.prefer(graph->family ? graph->family : graph);
  } else
    interpret(alive);
  for (Slot &s : slots)
    if (s.storage && s.storage->deferred == runWord(this)) {
      s.storage->deferred = 0;
      s.pending = s.dirty = false;
    }
  position = 0;
  for (TensorImpl *t : std::exchange(written, {})) {
    settle(t);
    release(t);
  }
}

/// Everything alive must be among the results; what else is alive is asked for and the segment compiled again.
bool Run::fits(const Compiled &c, const std::vector<Storage *> &alive) {
  std::vector<uint32_t> missing;
  for (uint32_t n = 0; n < alive.size(); n++)
    if (alive[n] && !c.gives(n))
      missing.push_back(n);
  if (missing.empty())
    return true;
  if (!leaving) // a program that goes on has more alive than at the recorded end
    function.wantMore(graph->family ? graph->family : graph, missing);
  return false;
}

bool Run::launch(const std::vector<Storage *> &alive) {
  std::shared_ptr<const Compiled> c = graph->compiled();
  if (!c || !fits(*c, alive))
    return false;
  struct Scratch {
    std::vector<Storage *> list;
    const Compiled &c;
    Compiled::Arena arena;
    ~Scratch() {
      for (Storage *s : list)
        release(s);
      if (arena.memory)
        c.returnArena(arena);
    }
  } scratch{{}, *c, c->takeArena(*graph)};
  if (!scratch.arena.memory)
    outOfMemory(c->meta().arena);
  std::vector<void *> ptrs;
  ptrs.reserve(c->meta().results.size() + inputs.size() + 2);
  for (uint32_t n : c->meta().results) {
    if (!alive[n]) {
      Storage *s = newStorage(graph->storages[n].nbytes);
      if (!s)
        outOfMemory(graph->storages[n].nbytes);
      scratch.list.push_back(s);
    }
    ptrs.push_back(alive[n] ? alive[n]->data : scratch.list.back()->data);
  }
  for (size_t i = 0; i < inputs.size(); i++) {
    const RecordedInput &in = graph->inputs[i];
    ptrs.push_back(in.generator ? static_cast<void *>(&generators[i])
                   : in.number  ? static_cast<void *>(&numbers[i].i)
                                : contentOf(graph->values[in.value].storage));
  }
  int32_t status = 0;
  ptrs.push_back(&status);
  ptrs.push_back(scratch.arena.memory);
  c->call(ptrs.data(), *graph);
  return status == 0; // a trap has changed no input: the caller interprets, which raises what eager raises
}

void Run::interpret(const std::vector<Storage *> &alive) {
  graph->root().interpreted++;
  Interpreter interpreter(*graph);
  interpreter.bindNumbers(numbers);
  for (uint32_t n = 0; n < slots.size(); n++)
    if (slots[n].storage && (alive[n] || !slots[n].pending))
      interpreter.bind(n, slots[n].storage, alive[n] ? alive[n]->data : contentOf(n));
  std::vector<std::pair<uint64_t, uint64_t>> states = generators;
  for (uint32_t i = 0; i < states.size(); i++)
    if (graph->inputs[i].generator)
      interpreter.bindGenerator(i, reinterpret_cast<const uint64_t *>(&states[i]));
  for (uint32_t i = 0; i < position; i++) {
    interpreter.run(i);
    const Step &s = graph->steps[i];
    for (uint32_t v = s.result; v < s.result + s.numResults; v++) {
      Slot &slot = slots[graph->values[v].storage];
      if (slot.pending && slot.storage) { // computed, whatever a later op throws
        slot.storage->deferred = 0;
        slot.pending = false;
      }
    }
  }
}
} // namespace torchc::jit
