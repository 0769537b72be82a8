#include "dialects/trace/SavedProgram.h"
#include <algorithm>
#include <unordered_map>

using namespace torchc;

namespace {

constexpr const char *traceName = "program.tctrace", *weightsName = "weights.safetensors", *metaName = "meta.json";

bool failWith(Diag &diag, const std::string &problem) {
  return diag.fail(ErrorKind::Runtime, "saved program: " + problem);
}

bool hasTensor(const TraceInput &input) {
  return input.kind == InputKind::Parameter || input.kind == InputKind::Buffer || input.kind == InputKind::Captured;
}

bool sizesMatch(std::span<const TraceDim> sizes, const std::vector<int64_t> &shape) {
  return std::equal(sizes.begin(), sizes.end(), shape.begin(), shape.end(),
                    [](TraceDim d, int64_t s) { return d.isSymbol() || d.raw == s; });
}

/// Every input that needs a tensor has one that fits.
bool check(const SavedProgram &p, Diag &diag) {
  std::unordered_map<std::string_view, const SafeTensor *> byName;
  for (const SafeTensor &w : p.weights)
    byName.emplace(w.name, &w);
  for (size_t i = 0; i < p.trace.inputs.size(); ++i) {
    const TraceInput &in = p.trace.inputs[i];
    if (!hasTensor(in))
      continue;
    if (in.name == traceNone)
      return failWith(diag, "input " + std::to_string(i) + " needs a tensor but has no name");
    const std::string &name = p.trace.strings[in.name];
    auto found = byName.find(name);
    if (found == byName.end())
      return failWith(diag, "weights.safetensors has no tensor '" + name + "'");
    const TraceValue &v = p.trace.values[in.value];
    if (v.dtype != found->second->dtype || !sizesMatch(p.trace.sizesOf(v), found->second->shape))
      return failWith(diag, "tensor '" + name + "' hasn't the dtype and shape that the program expects");
  }
  return true;
}

/// Makes the three entries; `traceBytes` and `weightBytes` keep the data they point to.
bool pack(const SavedProgram &p, std::vector<uint8_t> &traceBytes, std::vector<uint8_t> &weightBytes,
          std::vector<ZipEntry> &entries, Diag &diag) {
  if (!verifyTrace(p.trace, diag) || !check(p, diag) || !writeSafetensors(p.weights, {}, weightBytes, diag))
    return false;
  traceBytes = writeTrace(p.trace);
  entries = {{traceName, traceBytes},
             {weightsName, weightBytes},
             {metaName, {reinterpret_cast<const uint8_t *>(p.meta.data()), p.meta.size()}}};
  return true;
}

} // namespace

const SafeTensor *SavedProgram::weightOf(const TraceInput &input) const {
  if (!hasTensor(input) || input.name == traceNone)
    return nullptr;
  for (const SafeTensor &w : weights)
    if (w.name == trace.strings[input.name])
      return &w;
  return nullptr;
}

bool torchc::writeProgram(const SavedProgram &program, std::vector<uint8_t> &out, Diag &diag) {
  std::vector<uint8_t> traceBytes, weightBytes;
  std::vector<ZipEntry> entries;
  if (!pack(program, traceBytes, weightBytes, entries, diag))
    return false;
  out = writeZip(entries);
  return true;
}

bool torchc::writeProgramFile(const std::string &path, const SavedProgram &program, Diag &diag) {
  std::vector<uint8_t> traceBytes, weightBytes;
  std::vector<ZipEntry> entries;
  return pack(program, traceBytes, weightBytes, entries, diag) && writeZipFile(path, entries, diag);
}

bool torchc::readProgram(std::span<const uint8_t> bytes, SavedProgram &out, Diag &diag, LookupOp lookup) {
  out = SavedProgram();
  std::vector<ZipEntry> entries;
  if (!readZip(bytes, entries, diag))
    return false;
  const ZipEntry *found[3] = {};
  const char *const names[3] = {traceName, weightsName, metaName};
  for (int i = 0; i < 3; ++i) {
    for (const ZipEntry &e : entries)
      if (e.name == names[i])
        found[i] = &e;
    if (!found[i])
      return failWith(diag, std::string("the archive has no entry '") + names[i] + "'");
  }
  out.meta.assign(reinterpret_cast<const char *>(found[2]->data.data()), found[2]->data.size());
  SafeMetadata unused;
  return readTrace(found[0]->data, out.trace, diag, lookup) &&
         readSafetensors(found[1]->data, out.weights, unused, diag) && check(out, diag);
}
