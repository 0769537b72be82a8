// What a run reads at once though its ops are deferred: indices, and memory that others may write.
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Families.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Interpret.h"
#include "frontends/jit/Retrace.h"
#include <algorithm>

namespace torchc::jit {

//===-- ops that may raise on their data ------------------------------------------------------------------------===//

/// Marks the steps that compute a deferred storage; false if something was written in place on the way.
bool Run::needs(uint32_t storage, std::vector<bool> &steps) const {
  if (graph->storages[storage].isInput)
    return !slots[storage].dirty;
  uint32_t definition = traceNone;
  for (uint32_t i = 0; i < position; i++) {
    const Step &s = graph->steps[i];
    if (s.control != traceNone) {
      for (uint32_t v = s.result; v < s.result + s.numResults; v++)
        if (graph->values[v].storage == storage)
          return false; // too much to compute ahead
      continue;
    }
    if (s.isView || graph->values[s.result].storage != storage)
      continue;
    if (s.out != Out::None)
      return false;
    definition = i;
  }
  if (definition == traceNone)
    return false;
  if (steps[definition])
    return true;
  steps[definition] = true;
  const Step &s = graph->steps[definition];
  for (uint32_t k = 0; k < s.numOperands; k++)
    if (uint32_t in = graph->ins[s.firstIn + k]; in != traceNone && !needs(graph->values[in].storage, steps))
      return false;
  return true;
}

static bool allBelow(const Tensor &index, int64_t bound) {
  InternalGuard quiet;
  Tensor wide = index->dtype == DType::I64 && index->contiguous() ? index : Tensor(copyOf(index.impl(), DType::I64));
  auto *p = reinterpret_cast<const int64_t *>(wide->data);
  bool ok = true;
  for (int64_t i = 0; i < wide->numel; i++)
    ok &= uint64_t(p[i]) < uint64_t(bound);
  return ok;
}

/// Integer division raises for a zero divisor; a number that isn't one, or a division of floats, can't.
static bool dividesSafely(const OpCall &call) {
  const Operand &divisor = call.operands[call.numOperands - 1];
  if (divisor.isNumber() ? divisor.number.toBool() : isFloat(divisor.tensor->dtype))
    return true;
  const Operand &x = call.operands[0];
  return x.isNumber() ? x.number.isFloat() : isFloat(x.tensor->dtype);
}

/// Checks an index tensor now, so that the compiled code can't trap and an error comes from the line that eager would
/// name. The few steps that compute the index run for that.
bool Run::indexInRange(const OpCall &call, const Step &s) {
  if (opInfo(call.op).family == Family::Elementwise)
    return dividesSafely(call);
  if (opInfo(call.op).family != Family::Indexing || call.numOperands < 2 || !call.operands[1].tensor || !call.numAttrs)
    return false;
  const Value &x = graph->values[graph->ins[s.firstIn]];
  uint32_t index = graph->ins[s.firstIn + 1];
  int64_t dim = call.attrs[0].i < 0 ? call.attrs[0].i + std::max<int>(x.rank, 1) : call.attrs[0].i;
  int64_t bound = x.rank ? graph->sizesOf(x)[dim] : 1;
  for (auto &[value, below] : checked)
    if (value == index && below <= bound)
      return true;
  std::vector<bool> steps(position, false);
  const Value &v = graph->values[index];
  if (!needs(v.storage, steps))
    return false;
  Interpreter interpreter(*graph);
  interpreter.bindNumbers(numbers);
  for (uint32_t n = 0; n < slots.size(); n++)
    if (slots[n].storage && !slots[n].pending)
      interpreter.bind(n, slots[n].storage, contentOf(n));
  for (uint32_t i = 0; i < position; i++)
    if (steps[i])
      interpreter.run(i);
  if (!allBelow(interpreter.tensorOf(index), bound))
    return false;
  checked.emplace_back(index, bound);
  return true;
}

//===-- memory that others may write ----------------------------------------------------------------------------===//

/// Where deferred ops find the content of a slot that isn't pending.
char *Run::contentOf(uint32_t slot) const {
  for (const Snapshot &s : snapshots)
    if (s.slot == slot)
      return s.base();
  return slots[slot].base;
}

/// An op that reads foreign memory reads it now, as eager does: into a copy. False: it isn't what an earlier op read.
bool Run::readForeign(const OpCall &call, const Step &s) {
  if (s.isView)
    return true;
  for (uint32_t i = 0; i < s.numOperands; i++) {
    uint32_t in = graph->ins[s.firstIn + i];
    if (in == traceNone || !slots[graph->values[in].storage].foreign)
      continue;
    const Value &v = graph->values[in];
    int64_t bytes = spanOf(call.operands[i].tensor);
    if (!mayCopyForeign(call.op, bytes) || !take(v.storage, v.offset, v.offset + bytes))
      return false;
  }
  return true;
}

bool Run::take(uint32_t slot, int64_t low, int64_t high) {
  const char *from = slots[slot].base;
  auto known = std::find_if(snapshots.begin(), snapshots.end(), [&](auto &s) { return s.slot == slot; });
  if (known != snapshots.end()) {
    Snapshot &s = *known;
    if (std::memcmp(s.base() + s.low, from + s.low, size_t(s.high - s.low)))
      return false;
    if (s.low <= low && high <= s.high)
      return true;
    low = std::min(low, s.low);
    high = std::max(high, s.high);
  }
  Storage *copy = high - low <= maxForeignBytes ? newStorage(high - low) : nullptr;
  if (!copy)
    return false;
  std::memcpy(copy->data, from + low, size_t(high - low));
  if (known != snapshots.end())
    release(std::exchange(*known, {slot, low, high, copy}).copy);
  else
    snapshots.push_back({slot, low, high, copy});
  return true;
}

} // namespace torchc::jit
