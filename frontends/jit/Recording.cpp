#include "frontends/jit/Recording.h"
#include "frontends/jit/Control.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace torchc::jit {

Site Recording::siteOf(uint32_t step) const {
  Site s;
  if (family)
    return family->siteOf(step);
  if (step >= trace.nodes.size() || trace.nodes[step].source == traceNone)
    return s;
  const TraceSource &from = trace.sources[trace.nodes[step].source];
  s.file = from.file;
  s.function = from.function;
  s.line = from.line;
  return s;
}

std::string breakOf(const std::vector<std::unique_ptr<Recording>> &path) {
  if (path.size() > 1) {
    Site site = path[0]->siteOf(path[0]->steps.empty() ? 0 : uint32_t(path[0]->steps.size()) - 1);
    return "the function looks at the numbers of a tensor (item(), bool(), printing) after " + site.file + ":" +
           std::to_string(site.line) + ", which one graph can't hold";
  }
  return path.empty() ? std::string() : path[0]->refused;
}

TensorImpl *Recording::slowShell(uint32_t value) const {
  const Value &v = values[value];
  return newShell(v.dtype, v.rank, sizesOf(v), v.contiguous ? nullptr : stridesOf(v));
}

void Recording::makeTemplates() {
  templates.assign(values.size(), {});
  for (const Step &s : steps)
    for (uint32_t v = s.result; v < s.result + s.numResults; v++) {
      Template &t = templates[v];
      if (s.out != Out::None || t.usable || values[v].rank > inlineDims)
        continue;
      Tensor shell(slowShell(v));
      std::memcpy(t.bytes, reinterpret_cast<const char *>(shell.impl()) + metadataOffset, metadataBytes);
      t.usable = true;
    }
}

static bool sameValue(const Recording &a, const Value &x, const Recording &b, const Value &y) {
  return x.storage == y.storage && x.canonical == y.canonical && x.input == y.input && x.offset == y.offset &&
         x.dtype == y.dtype && x.rank == y.rank && x.contiguous == y.contiguous &&
         std::equal(a.sizesOf(x), a.sizesOf(x) + 2 * x.rank, b.sizesOf(y));
}

bool Recording::samePrefix(const Recording &other, uint32_t count) const {
  if (count > steps.size() || count > other.steps.size() || defaultType != other.defaultType)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    const Step &x = steps[i], &y = other.steps[i];
    if (x.op != y.op || x.out != y.out || x.numOperands != y.numOperands || x.numAttrs != y.numAttrs ||
        x.result != y.result || x.random != y.random || (x.control == traceNone) != (y.control == traceNone))
      return false;
    if (x.control != traceNone && !(*controls[x.control] == *other.controls[y.control]))
      return false;
    for (uint32_t k = 0; k < x.numOperands; k++) {
      uint32_t in = ins[x.firstIn + k];
      if (in != other.ins[y.firstIn + k])
        return false;
      if (in != traceNone && !sameValue(*this, values[in], other, other.values[in]))
        return false;
    }
    for (uint32_t k = 0; k < x.numAttrs; k++)
      if (!(attrs[x.firstAttr + k] == other.attrs[y.firstAttr + k]))
        return false;
    if (!sameValue(*this, values[x.result], other, other.values[y.result]))
      return false;
  }
  return true;
}

bool Recording::want(const std::vector<uint32_t> &more) {
  bool any = false;
  for (uint32_t s : more) {
    if (wanted[s])
      continue;
    wanted[s] = any = true;
    trace.addOutput(storages[s].firstValue);
  }
  return any;
}

std::shared_ptr<const Compiled> Recording::compiled() const {
  if (family)
    return family->compiled();
  std::lock_guard<std::mutex> lock(mutex);
  return result;
}

uint64_t Recording::startCompile() {
  std::lock_guard<std::mutex> lock(mutex);
  stateNow.store(CompileState::Pending, std::memory_order_release);
  return ++requested;
}

void Recording::finishCompile(uint64_t request, std::shared_ptr<const Compiled> r, std::string w, std::string h) {
  std::lock_guard<std::mutex> lock(mutex);
  if (request < answered)
    return;
  answered = request;
  result = std::move(r);
  why = std::move(w);
  how = std::move(h);
  stateNow.store(result ? CompileState::Ready : CompileState::Failed, std::memory_order_release);
}

std::string Recording::failure() const {
  std::lock_guard<std::mutex> lock(mutex);
  return why;
}
std::string Recording::origin() const {
  std::lock_guard<std::mutex> lock(mutex);
  return how;
}

bool sameLayout(const Recording &r, const Value &v, const TensorImpl *t) {
  if (t->dtype != v.dtype || t->rank != v.rank || t->numel != v.numel)
    return false;
  size_t bytes = size_t(v.rank) * sizeof(int64_t);
  if (std::memcmp(t->sizes(), r.sizesOf(v), bytes))
    return false;
  // Strides of dimensions of one element don't matter, nor does any stride of an empty tensor (J5).
  const int64_t *have = t->strides(), *want = r.stridesOf(v), *sizes = t->sizes();
  for (int i = 0; i < v.rank; i++)
    if (have[i] != want[i] && sizes[i] != 1 && v.numel)
      return false;
  return true;
}

int64_t spanOf(const TensorImpl *t) {
  int64_t last = 0;
  for (int i = 0; i < t->rank; i++) {
    if (!t->sizes()[i])
      return 0;
    last += (t->sizes()[i] - 1) * t->strides()[i];
  }
  return (last + 1) * itemSize(t->dtype);
}

bool mayCopyForeign(OpId op, int64_t bytes) {
  constexpr int64_t table = 256 << 10; // a gather from a bigger one is cheaper than its copy
  return bytes <= (op != OpId::NumOps && opInfo(op).family == Family::Indexing ? table : maxForeignBytes);
}

static std::string describeNumbers(const Attr *attrs, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; i++) {
    const Attr &a = attrs[i];
    std::string text;
    if (a.tag == AttrTag::Hole)
      text = "(a number)";
    else if (a.tag == AttrTag::IntList)
      text = Dims(a.list, int(a.size)).str();
    else if (a.tag == AttrTag::Float) {
      char number[32];
      std::snprintf(number, sizeof number, "%.9g", a.f);
      text = number;
    } else if (a.tag == AttrTag::Str)
      text = std::string(a.str, a.size);
    else if (a.tag != AttrTag::None)
      text = a.tag == AttrTag::DType ? std::string(torchName(a.asDType())) : std::to_string(a.i);
    out += (out.empty() ? "" : ", ") + text;
  }
  return out;
}

std::string describe(const OpCall &call) {
  std::string out = call.op == OpId::NumOps ? "a cond or while_loop of" : opInfo(call.op).name;
  std::vector<Attr> attrs(call.attrs, call.attrs + call.numAttrs);
  for (int i = 0; i < call.numOperands; i++)
    if (const TensorImpl *t = call.operands[i].tensor)
      out += " " + std::string(torchName(t->dtype)) + t->dims().str();
    else
      attrs.push_back(call.operands[i].number.attr());
  return out + " " + describeNumbers(attrs.data(), attrs.size());
}

std::string describe(const Recording &r, uint32_t step) {
  const Step &s = r.steps[step];
  std::string out(s.control != traceNone ? r.controls[s.control]->name() : opInfo(s.op).name);
  size_t numbers = s.numAttrs;
  for (uint32_t i = 0; i < s.numOperands; i++) {
    uint32_t in = r.ins[s.firstIn + i];
    if (in == traceNone) {
      numbers++;
      continue;
    }
    const Value &v = r.values[in];
    out += " " + std::string(torchName(v.dtype)) + Dims(r.sizesOf(v), v.rank).str();
  }
  return out + " " + describeNumbers(r.attrs.data() + s.firstAttr, numbers);
}

} // namespace torchc::jit
