// Python numbers of a recording that change from call to call: they become inputs (holes, J5).
#include "dialects/trace/TraceFile.h"
#include "frontends/jit/Recording.h"
#include <map>

namespace torchc::jit {

uint32_t Recording::numbersOf(const Step &s) const {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s.numOperands; i++)
    count += ins[s.firstIn + i] == traceNone;
  return count;
}

/// May another value stand there without changing what the op does, checks or gives? Integers only among floats: eager
/// checks some against the type.
static bool mayBeInput(const Recording &r, const Step &s, const Attr &number) {
  if (s.control != traceNone || s.random != traceNone || (opInfo(s.op).flags & OpMayRaise))
    return false;
  if (number.tag == AttrTag::Float || number.tag == AttrTag::Hole)
    return true;
  bool floats = isFloat(r.values[s.result].dtype);
  for (uint32_t i = 0; i < s.numOperands; i++)
    if (uint32_t in = r.ins[s.firstIn + i]; in != traceNone)
      floats &= isFloat(r.values[in].dtype);
  return number.tag == AttrTag::Int && floats;
}

static Sha256Digest digest(const Trace &trace, DType defaultType) {
  std::vector<uint8_t> key = traceKey(trace);
  key.push_back(uint8_t(defaultType));
  return sha256(key);
}

void Recording::identify() {
  identity = digest(trace, defaultType);
  Trace bare = trace;
  bool any = false;
  for (uint32_t i = 0; i < steps.size(); i++)
    for (uint32_t k = 0, n = numbersOf(steps[i]); k < n; k++)
      if (mayBeInput(*this, steps[i], numberOf(steps[i], k))) {
        bare.attrs[bare.nodes[i].firstAttr + steps[i].numAttrs + k].bits = 0;
        any = true;
      }
  skeleton = any ? digest(bare, defaultType) : identity;
}

bool Recording::generalise(const Recording &earlier) {
  std::vector<TraceOutput> outputs = std::exchange(trace.outputs, {}); // not part of the identity
  std::map<std::pair<std::pair<AttrTag, int64_t>, int64_t>, int64_t> holes; // number before and now -> input
  for (uint32_t i = 0; i < steps.size(); i++)
    for (uint32_t k = 0, n = numbersOf(steps[i]); k < n; k++) {
      const Attr &before = earlier.numberOf(earlier.steps[i], k);
      Attr &now = numberOf(steps[i], k);
      if (before == now || !mayBeInput(*this, steps[i], now))
        continue;
      auto [hole, fresh] = holes.try_emplace({{before.tag, before.i}, now.i}, int64_t(inputs.size()));
      if (fresh) {
        DType type = now.tag == AttrTag::Int ? DType::I64 : DType::F64;
        Value v{};
        v.storage = traceNone;
        v.input = uint32_t(inputs.size());
        v.canonical = uint32_t(values.size());
        v.firstDim = uint32_t(dims.size());
        v.numel = 1;
        v.dtype = type;
        v.contiguous = true;
        inputs.push_back({v.canonical, false, true});
        values.push_back(v);
        templates.emplace_back();
        trace.addNumberInput(type);
      }
      now.tag = AttrTag::Hole;
      now.i = hole->second;
      trace.attrs[trace.nodes[i].firstAttr + steps[i].numAttrs + k] = {AttrTag::Hole, 0, hole->second};
    }
  Sha256Digest bare = skeleton;
  identity = digest(trace, defaultType);
  skeleton = bare;
  trace.outputs = std::move(outputs);
  return identity != earlier.identity;
}

} // namespace torchc::jit
