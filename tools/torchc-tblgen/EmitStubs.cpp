// Signatures as text: docstrings of the bindings, and _C.pyi for type checkers and editors.
#include "BindingModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace torchc::tblgen {

std::string signatureText(const Spelling &s, const ApiModel &a) {
  std::string out = "(";
  bool keyword = false, first = true;
  auto item = [&](const Twine &text) {
    out += first ? "" : ", ";
    out += text.str();
    first = false;
  };
  for (const Param &p : drop_begin(a.params, s.method ? 1 : 0)) {
    if (p.keywordOnly && !keyword) {
      item("*");
      keyword = true;
    }
    item(p.type + (p.varargs ? " *" : " ") + p.name + (p.hasDefault ? "=" + p.defaultValue : ""));
  }
  if (takesOut(s, a)) {
    if (!keyword)
      item("*");
    item("Tensor out=None");
  }
  return out + ")";
}

namespace {

std::string pythonType(StringRef type) {
  bool optional = type.consume_back("?");
  std::string t = StringSwitch<std::string>(type)
                      .Case("Operand", "Tensor | float")
                      .Case("Scalar", "float")
                      .Case("int[]", "Sequence[int] | int")
                      .Case("float[]", "Sequence[float]")
                      .Case("Tensor[]", "Sequence[Tensor]")
                      .Case("DType", "_dtype")
                      .Case("Device", "_device | str | int")
                      .Case("Generator", "Generator")
                      .Case("int", "_int")
                      .Case("float", "_float")
                      .Case("bool", "_bool")
                      .Default(type.str());
  for (StringRef word : {"float", "int"}) // the module's own `float` and `int` are dtypes
    if (t == word || StringRef(t).ends_with("| " + word.str()))
      t.insert(t.size() - word.size(), "_");
  if (StringRef(t).contains("[int]"))
    t = "Sequence[_int] | _int";
  if (t == "Sequence[float]")
    t = "Sequence[_float]";
  return optional ? t + " | None" : t;
}

std::string pythonResult(StringRef type) {
  if (type == "Tensor[]")
    return "tuple[Tensor, ...]";
  if (type == "Tensor|Tensor[]")
    return "Any";
  if (type.starts_with("("))
    return "tuple" + ("[" + type.drop_front().drop_back() + "]").str();
  return pythonType(type);
}

std::string pythonDefault(const Param &p) { return p.defaultValue; }

bool isKeyword(StringRef name) { return name == "from" || name == "lambda" || name == "in"; }

/// "self, other, *, alpha=1", with annotations if `typed`. Empty if a name can't be written as a parameter.
std::string pythonParams(const Spelling &s, const ApiModel &a, bool typed) {
  std::vector<std::string> out;
  bool keyword = false;
  for (auto [i, p] : enumerate(a.params)) {
    if (s.method && i == 0) {
      out.push_back(typed ? "self" : "$self");
      continue;
    }
    if (isKeyword(p.name))
      return "";
    if (p.keywordOnly && !keyword) {
      out.push_back("*");
      keyword = true;
    }
    std::string item = (p.varargs ? "*" : "") + p.name;
    if (p.varargs)
      keyword = true; // what follows can only be named
    if (typed)
      item += ": " + (p.varargs ? std::string("Tensor") : pythonType(p.type));
    if (p.hasDefault)
      item += (typed ? " = " : "=") + pythonDefault(p);
    out.push_back(item);
  }
  if (takesOut(s, a)) {
    if (!keyword)
      out.push_back("*");
    out.push_back(typed ? "out: Tensor | None = None" : "out=None");
  }
  return join(out, ", ");
}

void emitStub(const Spelling &s, raw_ostream &os) {
  StringRef indent = s.method ? "    " : "";
  for (const ApiModel *a : s.overloads) {
    if (s.overloads.size() > 1)
      os << indent << "@overload\n";
    std::string params = pythonParams(s, *a, true);
    if (params.empty() && !a->params.empty())
      params = s.method ? "self, *args, **kwargs" : "*args, **kwargs";
    os << indent << "def " << s.name << "(" << params << ") -> " << pythonResult(a->result) << ": ...\n";
  }
}

/// "(Tensor values, Tensor indices)".
std::string resultText(const ApiModel &a) {
  if (a.fields.empty())
    return a.result;
  SmallVector<StringRef> types, names;
  StringRef(a.result).drop_front().drop_back().split(types, ", ");
  StringRef(a.fields).split(names, ' ');
  std::string out;
  for (auto [type, name] : zip_equal(types, names))
    out += (out.empty() ? "" : ", ") + (type + " " + name).str();
  return "(" + out + ")";
}

} // namespace

std::string docText(const Spelling &s) {
  std::string out;
  const ApiModel &a = *s.overloads[0];
  if (std::string params = pythonParams(s, a, false); s.overloads.size() == 1 && (!params.empty() || a.params.empty()))
    out = s.name + "(" + params + ")\n--\n\n";
  for (const ApiModel *o : s.overloads)
    out += s.name + signatureText(s, *o) + " -> " + resultText(*o) + "\n";
  for (const ApiModel *o : s.overloads)
    if (o == s.overloads[0] || o->doc != s.overloads[0]->doc)
      out += "\n" + o->doc + "\n";
  std::string escaped;
  raw_string_ostream os(escaped);
  printEscapedString(StringRef(out).rtrim('\n'), os);
  // printEscapedString writes \0A; C reads that as an octal escape followed by a letter.
  std::string c;
  for (size_t i = 0; i < escaped.size(); i++)
    if (StringRef(escaped).substr(i).starts_with("\\0A")) {
      c += "\\n";
      i += 2;
    } else if (StringRef(escaped).substr(i).starts_with("\\22")) {
      c += "\\\"";
      i += 2;
    } else
      c += escaped[i];
  return c;
}

void emitStubs(const Table &table, raw_ostream &os) {
  os << "# Generated by torchc-tblgen.\n"
        "from builtins import bool as _bool, float as _float, int as _int\n"
        "from collections.abc import Sequence\n"
        "from typing import Any, overload\n\n"
        "class dtype: ...\nclass device: ...\nclass Size(tuple): ...\nclass Generator: ...\n"
        "_dtype = dtype\n_device = device\n\n"
        "def __getattr__(name: str) -> Any: ...\n\n";
  std::vector<Spelling> all = collectSpellings(table);
  os << "class Tensor:\n    def __getattr__(self, name: str) -> Any: ...\n";
  for (const Spelling &s : all)
    if (s.method)
      emitStub(s, os);
  os << "\n";
  for (const Spelling &s : all)
    if (!s.method)
      emitStub(s, os);
}

} // namespace torchc::tblgen
