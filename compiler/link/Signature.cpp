// Checks of a model's description, its JSON signature and its C header.
#include "compiler/link/Model.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;
namespace torchc::link {

enum { maxRank = 32, maxName = 200 };

std::vector<uint64_t> weightOffsets(const Model &model) {
  std::vector<uint64_t> offsets{0};
  for (StringRef w : model.weights)
    offsets.push_back((offsets.back() + w.size() + 63) / 64 * 64);
  return offsets;
}

static bool isIdentifier(StringRef s) {
  return !s.empty() && s.size() <= maxName && !isDigit(s[0]) &&
         all_of(s, [](char c) { return isAlnum(c) || c == '_'; });
}

bool isTensorName(StringRef name) {
  return !name.empty() && name.size() <= maxName && json::isUTF8(name) &&
         name.find_first_of(StringRef("=\n\0", 3)) == StringRef::npos;
}

static bool checkTensor(const Model &m, const TensorDesc &t, const char *role, std::set<std::string> &names,
                        Diag &diag) {
  std::string where = "model " + m.name + ": " + role + " '" + t.name + "': ";
  if (!isTensorName(t.name))
    return diag.fail(ErrorKind::Value, where + "expected a name in UTF-8 of 1 to 200 bytes without '='");
  if (!names.insert(t.name).second)
    return diag.fail(ErrorKind::Value, where + "the name is used twice");
  if (int(t.dtype) >= numDTypes)
    return diag.fail(ErrorKind::Type, where + "unknown element type " + utostr(unsigned(t.dtype)));
  if (isStored(t.dtype))
    return diag.fail(ErrorKind::NotImplemented, where + "an artefact takes and gives no " +
                                                    std::string(torchName(t.dtype)) + ": cast it inside the program");
  if (t.dims.size() > maxRank)
    return diag.fail(ErrorKind::Value, where + "expected a rank of at most 32, got " + utostr(t.dims.size()));
  for (int64_t d : t.dims)
    if (d < -int64_t(m.symbols.size()))
      return diag.fail(ErrorKind::Value, where + "unknown symbol " + itostr(-1 - d));
  return true;
}

/// Slots, when given, are a permutation of the graph's inputs.
static bool checkSlots(const Model &m, Diag &diag) {
  if (m.inputSlots.empty() && m.weightSlots.empty())
    return true;
  std::set<uint32_t> slots(m.inputSlots.begin(), m.inputSlots.end());
  slots.insert(m.weightSlots.begin(), m.weightSlots.end());
  size_t count = m.inputs.size() + m.weights.size();
  bool ok = m.inputSlots.size() == m.inputs.size() && m.weightSlots.size() == m.weights.size() &&
            slots.size() == count && (slots.empty() || *slots.rbegin() == count - 1);
  return ok || diag.fail(ErrorKind::Internal, "model " + m.name + ": inputs and weights don't fill the graph's inputs");
}

bool checkModel(const Model &m, Diag &diag) {
  if (!isIdentifier(m.name))
    return diag.fail(ErrorKind::Value,
                     "model name '" + m.name + "': expected a C identifier of at most 200 characters");
  if (!checkSlots(m, diag))
    return false;
  std::set<std::string> ins, outs;
  std::set<int64_t> bound;
  for (const TensorDesc &t : m.inputs) {
    if (!checkTensor(m, t, "input", ins, diag))
      return false;
    bound.insert(t.dims.begin(), t.dims.end());
  }
  for (const TensorDesc &t : m.outputs)
    if (!checkTensor(m, t, "output", outs, diag))
      return false;
  for (unsigned i = 0; i < m.symbols.size(); ++i)
    if (!bound.count(-1 - int64_t(i)))
      return diag.fail(ErrorKind::Value, "model " + m.name + ": symbol " + m.symbols[i] + " occurs in no input");
  size_t results = m.outputs.size() + count_if(m.inputs, [](const TensorDesc &t) { return t.written; });
  for (const SelfTest &t : m.tests)
    if (t.inputs.size() != m.inputs.size() || t.outputs.size() != results || t.symbols.size() != m.symbols.size())
      return diag.fail(ErrorKind::Value, "model " + m.name + ": a test vector doesn't match the signature");
  return true;
}

static std::string dimText(const Model &m, int64_t d) { return d >= 0 ? itostr(d) : m.symbols[-1 - d]; }

static json::Array tensorsJson(const Model &m, ArrayRef<TensorDesc> list) {
  json::Array out;
  for (const TensorDesc &t : list) {
    json::Array shape;
    for (int64_t d : t.dims)
      shape.push_back(d >= 0 ? json::Value(d) : json::Value(m.symbols[-1 - d]));
    json::Object o{{"name", t.name}, {"dtype", StringRef(torchName(t.dtype))}, {"shape", std::move(shape)}};
    if (t.written)
      o["written"] = true;
    out.push_back(std::move(o));
  }
  return out;
}

static StringRef targetName(const Model &m) { return isaTarget(m.arch == Arch::AArch64 ? Isa::A64 : m.isa); }

std::string signatureJson(const Model &m) {
  json::Object o{{"abi", 1},
                 {"name", m.name},
                 {"target", targetName(m)},
                 {"inputs", tensorsJson(m, m.inputs)},
                 {"outputs", tensorsJson(m, m.outputs)},
                 {"symbols", json::Array(m.symbols)},
                 {"weights", json::Object{{"bytes", int64_t(weightOffsets(m).back())},
                                          {"external", m.place == WeightsPlace::External}}},
                 {"arena_bytes", int64_t(m.arenaBytes)},
                 {"self_tests", int64_t(m.tests.size())},
                 {"provenance", json::Object(m.provenance)}};
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(o)); // keys come out sorted
  return text;
}

/// A name inside a C comment, which it must neither end nor seem to open.
static std::string commentText(StringRef name) {
  std::string out;
  for (char c : name) {
    if (!out.empty() && ((out.back() == '*' && c == '/') || (out.back() == '/' && c == '*')))
      out += '\\';
    out += c;
  }
  return out;
}

std::string headerText(const Model &m) {
  std::string text;
  raw_string_ostream os(text);
  std::string guard = "TORCHC_MODEL_" + StringRef(m.name).upper() + "_H";
  os << "/* The model '" << m.name << "', compiled for " << targetName(m) << ".\n";
  auto list = [&](const char *role, ArrayRef<TensorDesc> tensors) {
    for (const TensorDesc &t : tensors) {
      os << " *   " << role << ' ' << commentText(t.name) << ": " << torchName(t.dtype) << '[';
      interleave(t.dims, os, [&](int64_t d) { os << commentText(dimText(m, d)); }, ", ");
      os << (t.written ? "], overwritten\n" : "]\n");
    }
  };
  list("input", m.inputs);
  list("output", m.outputs);
  os << " */\n#ifndef " << guard << "\n#define " << guard << "\n#include \"torchc/model.h\"\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
     << "const torchc_model_table *torchc_" << m.name << "_model(uint32_t abi);\n"
     << "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

} // namespace torchc::link
