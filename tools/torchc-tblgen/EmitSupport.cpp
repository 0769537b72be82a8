// ops.md, the first part of the support matrix: a row per op and per composite: what it is, under which names, what is differentiated, what ONNX calls it.
#include "Emitters.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace torchc::tblgen {
namespace {

/// Markdown's columns end at a bar.
std::string cell(StringRef text) {
  std::string out;
  for (char c : text) {
    if (c == '|')
      out += '\\';
    out += c;
  }
  return out;
}

std::string namesOf(ArrayRef<ApiModel> api) {
  std::vector<std::string> names;
  for (const ApiModel &a : api) {
    bool method = a.has("method") || a.has("inplace");
    std::string name = a.has("function") ? a.name : method ? "Tensor." + a.name : "_" + a.name;
    if (!is_contained(names, name))
      names.push_back(name);
  }
  return names.empty() ? "internal" : "`" + join(names, "`, `") + "`";
}

std::string gradientsOf(const OpModel &op) {
  std::string out;
  for (auto [i, name] : enumerate(op.operands))
    if (op.differentiable >> i & 1)
      out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

/// Which in-place and out= forms there are.
std::string formsOf(ArrayRef<ApiModel> api) {
  std::string out;
  for (const char *kind : {"inplace", "out"})
    if (any_of(api, [&](const ApiModel &a) { return a.has(kind); }))
      out += (out.empty() ? "" : ", ") + std::string(kind);
  return out;
}

std::string namesWith(const Table &table, StringRef flag) {
  std::vector<std::string> names;
  for (const OpModel &op : table.ops)
    if (op.hasFlag(flag))
      names.push_back(op.name);
  return names.empty() ? "none" : join(names, ", ");
}

/// What the types that tensors are rather kept in than computed in can do.
void emitStored(const Table &table, raw_ostream &os) {
  os << "\n## Stored types\n\nuint16, uint32, uint64, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz and float8_e5m2fnuz "
        "are "
        "cast from and to every type, and moved: views, copies, fills, joins, gathers, scatters that don't add, "
        "pickles, "
        "files, DLPack; the unsigned ones are NumPy's, too. Other ops raise NotImplementedError, but:\n\n"
        "| types | ops |\n|---|---|\n| unsigned | "
     << namesWith(table, "unsigned")
     << "; sums, products and their scans, in int64; functions whose result is a float |\n"
     << "| float8 | " << namesWith(table, "float8") << "; mul takes no number |\n";
}

} // namespace

void emitSupport(const Table &table, raw_ostream &os) {
  os << "# What is supported\n\nGenerated from the op table. Every op runs eagerly, in compiled functions and in "
        "artefacts; a composite is made of ops and is compiled and differentiated as they are.\n\n"
        "| op | what | names | forms | gradients | family | ONNX |\n|---|---|---|---|---|---|---|\n";
  for (const OpModel &op : table.ops)
    os << "| " << op.name << " | " << cell(op.summary) << " | " << namesOf(op.api) << " | " << formsOf(op.api) << " | "
       << gradientsOf(op) << " | " << op.family << " | " << join(op.onnx, ", ") << " |\n";
  os << "\n| composite | what | forms |\n|---|---|---|\n";
  for (const ApiModel &a : table.composites)
    os << "| " << namesOf(a) << " | " << cell(a.doc) << " | " << formsOf(a) << " |\n";
  emitStored(table, os);
}

} // namespace torchc::tblgen
