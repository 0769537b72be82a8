// Runs of dynamic recordings: which sizes this run has.
#include "frontends/jit/Function.h"
#include "frontends/jit/Retrace.h"

namespace torchc::jit {
namespace {

/// Sizes that an op's operands and attributes show where the recording has a symbol.
void readSizes(const Recording &d, const Step &s, const OpCall &call, std::vector<int64_t> &sizes) {
  auto meet = [&](int64_t recorded, int64_t now) {
    for (size_t i = 0; i < d.symbols.size(); i++)
      if (recorded == d.symbols[i])
        sizes[i] = now;
  };
  for (int k = 0; k < call.numOperands; k++) {
    uint32_t want = d.ins[s.firstIn + uint32_t(k)];
    const TensorImpl *t = call.operands[k].tensor;
    if (want == traceNone || !t || t->rank != d.values[want].rank)
      continue;
    for (int i = 0; i < t->rank; i++)
      meet(d.sizesOf(d.values[want])[i], t->sizes()[i]);
  }
  for (int k = 0; k < call.numAttrs; k++) {
    const Attr &recorded = d.attrs[s.firstAttr + uint32_t(k)], &now = call.attrs[k];
    if (recorded.tag != now.tag || recorded.size != now.size)
      continue;
    if (now.tag == AttrTag::Int)
      meet(recorded.i, now.i);
    for (uint32_t e = 0; now.tag == AttrTag::IntList && e < now.size; e++)
      meet(recorded.list[e], now.list[e]);
  }
}

} // namespace

/// Sizes of inputs that the run has met come first, then what the op shows; others are as they were the last time.
std::shared_ptr<Recording> Run::instanceOf(const std::shared_ptr<Recording> &dynamic, const OpCall *call) {
  const Recording &d = *dynamic;
  if (position > d.steps.size() || (call && (position == d.steps.size() || d.steps[position].op != call->op)))
    return nullptr;
  const Step *s = call ? &d.steps[position] : nullptr;
  if (s && (s->numOperands != call->numOperands || s->numAttrs != call->numAttrs))
    return nullptr;
  std::vector<int64_t> sizes = function.lastSizes(d);
  if (s)
    readSizes(d, *s, *call, sizes);
  for (size_t i = 0; i < d.places.size(); i++)
    if (graph && d.places[i].input < inputs.size())
      if (const TensorImpl *t = inputs[d.places[i].input]; t && int(d.places[i].dim) < t->rank)
        sizes[i] = t->sizes()[d.places[i].dim];
  return function.instance(dynamic, sizes);
}

} // namespace torchc::jit
