// The C++ API: Api.h.inc declares every spelling, Api.cpp.inc defines those that call one op. What an `impl` does is
// hand-written in frontends/eager/composite against the declarations made here.
#include "ApiTypes.h"
#include "Emitters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace torchc::tblgen {

std::string cppType(StringRef type) {
  return StringSwitch<std::string>(type)
      .Case("Tensor", "const Tensor &")
      .Case("Tensor?", "const OptTensor &")
      .Case("Operand", "const Operand &")
      .Case("Scalar", "const Scalar &")
      .Case("Scalar?", "const std::optional<Scalar> &")
      .Case("int", "int64_t ")
      .Case("int?", "std::optional<int64_t> ")
      .Case("float", "double ")
      .Case("float?", "std::optional<double> ")
      .Case("bool", "bool ")
      .Case("bool?", "std::optional<bool> ")
      .Case("int[]", "IntList ")
      .Case("int[]?", "std::optional<IntList> ")
      .Case("float[]?", "std::optional<FloatList> ")
      .Case("DType", "DType ")
      .Case("DType?", "std::optional<DType> ")
      .Case("Device?", "std::optional<DeviceId> ")
      .Case("str", "std::string_view ")
      .Case("str?", "std::optional<std::string_view> ")
      .Case("Tensor[]", "TensorList ")
      .Case("Generator?", "const OptGenerator &")
      .Default("");
}

std::string cppResult(StringRef type) {
  if (type == "Tensor[]")
    return "std::vector<Tensor>";
  if (type == "Tensor|Tensor[]")
    return "TensorOrList";
  if (type == "int[]")
    return "std::vector<int64_t>";
  if (type == "Scalar" || type == "bool" || type == "Tensor")
    return type.str();
  if (type == "int")
    return "int64_t";
  if (type.consume_front("(") && type.consume_back(")")) {
    SmallVector<StringRef> parts;
    type.split(parts, ',');
    std::string out = "std::tuple<";
    for (auto [i, p] : enumerate(parts))
      out += (i ? ", " : "") + cppResult(p.trim().split(' ').first);
    return out + ">";
  }
  return type.str();
}

std::string cppDefault(const Param &p) {
  if (p.defaultValue == "None")
    return StringRef(p.type).starts_with("Tensor") || StringRef(p.type).starts_with("Generator") ? "{}"
                                                                                                 : "std::nullopt";
  if (p.defaultValue == "True" || p.defaultValue == "False")
    return StringRef(p.defaultValue).lower();
  if (StringRef(p.defaultValue).starts_with("("))
    return "{}";
  if (StringRef(p.defaultValue).starts_with("'"))
    return "\"" + StringRef(p.defaultValue).drop_front().drop_back().str() + "\"";
  return p.defaultValue;
}

std::string cppName(StringRef name) {
  static constexpr StringRef reserved[] = {"and",    "or",   "not",   "xor",  "int", "float",
                                           "double", "bool", "short", "long", "char"};
  return is_contained(reserved, name) ? name.str() + "_" : name.str();
}

bool writesInto(const ApiModel &a) { return !a.copiesOut && (a.has("inplace") || a.has("out")); }

namespace {

std::string params(const ApiModel &a, bool defaults, StringRef renameFirst = "") {
  std::string out;
  for (auto [i, p] : enumerate(a.params)) {
    out += (i ? ", " : "") + cppType(p.type) + (i == 0 && !renameFirst.empty() ? renameFirst.str() : p.name);
    if (defaults && p.hasDefault)
      out += " = " + cppDefault(p);
  }
  return out;
}

std::string names(const ApiModel &a) {
  std::string out;
  for (auto [i, p] : enumerate(a.params))
    out += (i ? ", " : "") + p.name;
  return out;
}

std::string sep(const ApiModel &a) { return a.params.empty() ? "" : ", "; }

void declare(const ApiModel &a, raw_ostream &os) {
  if (a.shadowed)
    return;
  std::string r = cppResult(a.result);
  os << r << " " << cppName(a.name) << "(" << params(a, true) << ");\n";
  if (a.has("inplace"))
    os << "Tensor " << a.name << "_(" << params(a, true) << ");\n";
  if (a.has("out"))
    os << "Tensor " << a.name << "_out(const Tensor &out" << sep(a) << params(a, true) << ");\n";
}

/// Arguments of a call of one op: tensors and operands by position, then attributes in the op's order.
std::string opCall(const OpModel &op, const ApiModel &a, StringRef out) {
  std::string args, attrs;
  for (const Param &p : a.params) {
    StringRef t = p.type;
    if (t == "Tensor" || t == "Operand" || t == "Tensor[]")
      args += (args.empty() ? "" : ", ") + p.name;
    else
      attrs += (attrs.empty() ? "" : ", ") + std::string("toAttr(") + p.name + ")";
  }
  return "callOp(OpId::" + op.ident + ", {" + args + "}, {" + attrs + "}, " + out.str() + ")";
}

/// Under autocast: the same function again, outside of it, of operands in the type that the policy says.
std::string autocastBranch(const ApiModel &a) {
  static constexpr std::pair<StringRef, StringRef> policies[] = {
      {"castLow", "Low"}, {"castSingle", "Single"}, {"castWidest", "Widest"}};
  for (auto [kind, policy] : policies)
    if (a.has(kind)) {
      std::string args;
      for (auto [i, p] : enumerate(a.params))
        args += (i ? ", " : "") + ("cast(" + p.name + ")");
      return "if (TORCHC_UNLIKELY(isAutocast())) { AutocastCall cast(Autocast::" + policy.str() + sep(a) + names(a) +
             "); return " + cppName(a.name) + "(" + args + "); }\n  ";
    }
  return "";
}

void define(const OpModel *op, const ApiModel &a, raw_ostream &os) {
  if (a.shadowed)
    return;
  auto body = [&](StringRef out) {
    if (a.impl.empty())
      return opCall(*op, a, out);
    std::string value = "composite::" + a.impl + "(" + names(a) + (writesInto(a) ? sep(a) + out.str() : "") + ")";
    std::string deliver = a.sameOut ? "composite::deliverSame(" : "composite::deliver(";
    return a.copiesOut && out != "Out()" ? deliver + value + ", " + out.str() + ")" : value;
  };
  os << cppResult(a.result) << " " << cppName(a.name) << "(" << params(a, false) << ") { " << autocastBranch(a)
     << "return " << body("Out()") << "; }\n";
  if (a.has("inplace"))
    os << "Tensor " << a.name << "_(" << params(a, false) << ") { return "
       << body("Out::inplace(" + a.params[0].name + ")") << "; }\n";
  if (a.has("out"))
    os << "Tensor " << a.name << "_out(const Tensor &out" << sep(a) << params(a, false) << ") { return "
       << body("Out::given(out)") << "; }\n";
}

template <class F> void forEachApi(const Table &table, F f) {
  for (const OpModel &op : table.ops)
    for (const ApiModel &a : op.api)
      f(&op, a);
  for (const ApiModel &a : table.composites)
    f(nullptr, a);
}

} // namespace

void emitApiDecls(const Table &table, raw_ostream &os) {
  os << "// Generated by torchc-tblgen.\n";
  forEachApi(table, [&](const OpModel *, const ApiModel &a) { declare(a, os); });
  os << "namespace composite {\n";
  std::vector<std::string> seen;
  forEachApi(table, [&](const OpModel *, const ApiModel &a) {
    if (a.impl.empty() || is_contained(seen, a.impl))
      return;
    seen.push_back(a.impl);
    os << cppResult(a.result) << " " << a.impl << "(" << params(a, false) << (writesInto(a) ? sep(a) + "Out out" : "")
       << ");\n";
  });
  os << "} // namespace composite\n";
}

void emitApiDefs(const Table &table, raw_ostream &os) {
  os << "// Generated by torchc-tblgen.\n";
  forEachApi(table, [&](const OpModel *op, const ApiModel &a) { define(op, a, os); });
}

} // namespace torchc::tblgen
