// Python bindings: one METH_FASTCALL | METH_KEYWORDS function per spelling in Bindings.inc, which
// frontends/pybind/Ops.cpp includes: parameter tables, functions, and the method tables of the module and of Tensor.
#include "BindingModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace torchc::tblgen {

std::vector<Spelling> collectSpellings(const Table &table) {
  std::vector<Spelling> out;
  auto add = [&](std::string name, bool method, bool inplace, const ApiModel &a) {
    auto it = find_if(out, [&](const Spelling &s) { return s.name == name && s.method == method; });
    if (it == out.end())
      it = out.insert(out.end(), Spelling{name, method, inplace, {}});
    it->overloads.push_back(&a);
  };
  auto each = [&](const ApiModel &a) {
    if (a.has("function"))
      add(a.name, false, false, a);
    if (a.has("private")) // the package calls it under its own name
      add("_" + a.name, false, false, a);
    if (a.has("method"))
      add(a.name, true, false, a);
    if (a.has("inplace"))
      add(a.name + "_", true, true, a);
  };
  for (const OpModel &op : table.ops)
    for_each(op.api, each);
  for_each(table.composites, each);
  return out;
}

namespace {

/// Enumerator of ArgType and the C++ expression that converts the value number `i`.
std::pair<StringRef, StringRef> argType(StringRef type) {
  using P = std::pair<StringRef, StringRef>;
  return StringSwitch<P>(type)
      .Case("Tensor", P("Tensor", "tensorArg(v[{0}])"))
      .Case("Tensor?", P("OptTensor", "optTensorArg(v[{0}])"))
      .Case("Operand", P("Operand", "operandArg(v[{0}])"))
      .Case("Scalar", P("Scalar", "scalarArg(v[{0}])"))
      .Case("Scalar?", P("OptScalar", "optional<scalarArg>(v[{0}])"))
      .Case("int", P("Int", "intArg(v[{0}])"))
      .Case("int?", P("OptInt", "optional<intArg>(v[{0}])"))
      .Case("float", P("Float", "floatArg(v[{0}])"))
      .Case("float?", P("OptFloat", "optional<floatArg>(v[{0}])"))
      .Case("bool", P("Bool", "boolArg(v[{0}])"))
      .Case("bool?", P("OptBool", "optional<boolArg>(v[{0}])"))
      .Case("int[]", P("IntList", "IntListArg(v, {0})"))
      .Case("int[]?", P("OptIntList", "IntListArg(v, {0})"))
      .Case("float[]?", P("OptFloatList", "FloatListArg(v[{0}])"))
      .Case("DType", P("DType", "dtypeArg(v[{0}])"))
      .Case("DType?", P("OptDType", "optional<dtypeArg>(v[{0}])"))
      .Case("Device?", P("OptDevice", "optional<deviceArg>(v[{0}])"))
      .Case("str", P("Str", "strArg(v[{0}])"))
      .Case("str?", P("OptStr", "optional<strArg>(v[{0}])"))
      .Case("Tensor[]", P("TensorList", "tensorListArg(v, {0})"))
      .Case("Generator?", P("OptGenerator", "generatorArg(v[{0}])"))
      .Default(P());
}

/// Types whose conversion knows what an absent value means.
bool absentIsNone(StringRef type) { return type.ends_with("?") || type == "int[]"; }

/// The C++ value of a default, of the type that argType's expression has.
std::string defaultValue(const Param &p) {
  StringRef d = p.defaultValue;
  if (p.type == "Scalar")
    return "Scalar(" + d.str() + ")";
  if (p.type == "int")
    return "int64_t(" + d.str() + ")";
  if (p.type == "float")
    return "double(" + d.str() + ")";
  if (p.type == "str")
    return "std::string_view(" + cppDefault(p) + ")";
  return cppDefault(p);
}

std::string ident(const Spelling &s) { return (s.method ? "m_" : "f_") + s.name; }

/// `x.view(2, 3)`: the list is the only positional parameter after self. Lists of tensors say so in the schema.
bool takesVarargs(const Spelling &s, const ApiModel &a, size_t i) {
  if (a.params[i].varargs)
    return true;
  if (i != size_t(s.method) || a.params[i].type != "int[]")
    return false;
  return i + 1 == a.params.size() || a.params[i + 1].keywordOnly;
}

void emitSignature(const Spelling &s, size_t n, const ApiModel &a, raw_ostream &os) {
  std::string id = ident(s) + "_" + std::to_string(n);
  os << "static const Param p_" << id << "[] = {";
  for (auto [i, p] : enumerate(a.params)) {
    StringRef type = argType(p.type).first;
    if (type.empty())
      report_fatal_error(Twine(a.name) + ": the binding has no argument type '" + p.type + "'");
    os << formatv("{{\"{0}\", ArgType::{1}, {2}, {3}}, ", p.name, type, p.hasDefault ? "true" : "false",
                  takesVarargs(s, a, i) ? "true" : "false");
  }
  os << "{}};\n";
  size_t positional = count_if(a.params, [](const Param &p) { return !p.keywordOnly; });
  os << formatv("static const Signature s_{0} = {{\"{1}\", \"{2}\", p_{0}, {3}, {4}, {5}, {6}};\n", id, s.name,
                signatureText(s, a), a.params.size(), positional, s.method ? "true" : "false",
                takesOut(s, a) ? "true" : "false");
}

/// A function that makes tensors of nothing: the default device is where.
bool makesTensors(const Spelling &s, const ApiModel &a) {
  return !s.method && none_of(a.params, [](const Param &p) { return StringRef(p.type).starts_with("Tensor"); });
}

/// Converts the values of one overload, calls the C++ API and returns the result.
void emitCall(const Spelling &s, const ApiModel &a, StringRef indent, raw_ostream &os) {
  std::string names, work;
  for (auto [i, p] : enumerate(a.params)) {
    std::string value = formatv(argType(p.type).second.str().c_str(), i);
    // Pieces, not dimensions: there may be more than 64.
    if (p.type == "int[]" && is_contained({"split_size", "split_sizes", "indices_or_sections"}, StringRef(p.name)))
      value = formatv("IntListArg(v, {0}, true)", i);
    if (p.type == "Device?" && makesTensors(s, a))
      value = formatv("newDeviceArg(v[{0}])", i);
    os << indent << formatv("auto a{0} = ", i);
    if (p.hasDefault && !absentIsNone(p.type))
      os << formatv("v[{0}] ? {1} : {2};\n", i, value, defaultValue(p));
    else
      os << value << ";\n";
    names += (i ? ", a" : "a") + std::to_string(i) + (p.type == "int[]?" ? ".optional()" : "");
    if (p.type == "Tensor" || p.type == "Operand")
      work += (work.empty() ? "" : " + ") + std::string(formatv("workOf(v[{0}])", i));
  }
  if (work.empty())
    work = "0";
  std::string name = s.inplace ? s.name : a.shadowed ? "composite::" + a.impl : cppName(a.name);
  auto call = [&](StringRef function, StringRef args) {
    return formatv("withWork({0}, [&] { return torchc::{1}({2}); })", work, function, args).str();
  };
  if (takesOut(s, a))
    os << indent
       << formatv("if (v[{0}])\n{1}  return result({2});\n", a.params.size(), indent,
                  call(a.name + "_out",
                       "Borrowed(v[" + std::to_string(a.params.size()) + "])" + (names.empty() ? "" : ", ") + names));
  if (!StringRef(a.result).starts_with("(")) {
    os << indent << "return result(" << call(name, names) << ");\n";
    return;
  }
  os << indent << "auto r = " << call(name, names) << ";\n" << indent;
  if (a.fields.empty())
    os << "return result(std::vector<Tensor>{";
  else
    os << "return namedResult(\"" << a.name << "\", \"" << a.fields << "\", {";
  for (size_t i = 0, n = StringRef(a.result).count(',') + 1; i < n; i++)
    os << (i ? ", " : "") << "std::get<" << i << ">(r)" << (a.fields.empty() ? "" : ".take()");
  os << "});\n";
}

void emitFunction(const Spelling &s, raw_ostream &os) {
  for (auto [n, a] : enumerate(s.overloads))
    emitSignature(s, n, *a, os);
  std::string id = ident(s);
  os << "static PyObject *" << id << "(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {\n"
     << "  return guarded([&]() -> PyObject * {\n    Values v;\n";
  if (s.overloads.size() == 1) {
    os << "    bind(s_" << id << "_0, {self, args, n, kw}, v);\n";
    emitCall(s, *s.overloads[0], "    ", os);
  } else {
    os << "    static const Signature *const all[] = {";
    for (size_t n = 0; n < s.overloads.size(); n++)
      os << (n ? ", " : "") << "&s_" << id << "_" << n;
    os << "};\n    switch (bindAny(all, " << s.overloads.size() << ", {self, args, n, kw}, v)) {\n";
    for (auto [n, a] : enumerate(s.overloads)) {
      os << "    " << (n + 1 == s.overloads.size() ? std::string("default") : "case " + std::to_string(n)) << ": {\n";
      emitCall(s, *a, "      ", os);
      os << "    }\n";
    }
    os << "    }\n";
  }
  os << "  });\n}\n";
}

void emitMethodTable(StringRef name, bool methods, const std::vector<Spelling> &all, raw_ostream &os) {
  os << "static PyMethodDef " << name << "[] = {\n";
  for (const Spelling &s : all)
    if (s.method == methods)
      os << formatv("    {{\"{0}\", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>({1})), METH_FASTCALL | "
                    "METH_KEYWORDS, \"{2}\"},\n",
                    s.name, ident(s), docText(s));
  os << "    {}};\n";
}

} // namespace

void emitBindings(const Table &table, raw_ostream &os) {
  os << "// Generated by torchc-tblgen.\n";
  std::vector<Spelling> all = collectSpellings(table);
  for (const Spelling &s : all)
    emitFunction(s, os);
  emitMethodTable("moduleFunctions", false, all, os);
  emitMethodTable("tensorFunctions", true, all, os);
}

} // namespace torchc::tblgen
