#include "frontends/eager/CustomSchema.h"
#include <algorithm>
#include <charconv>

namespace torchc {
namespace {

struct KindName {
  std::string_view name;
  CustomKind kind;
};
constexpr KindName kindNames[] = {{"Tensor", CustomKind::Tensor},    {"bool", CustomKind::Bool},
                                  {"int", CustomKind::Int},          {"SymInt", CustomKind::Int},
                                  {"float", CustomKind::Float},      {"str", CustomKind::Str},
                                  {"Scalar", CustomKind::Scalar},    {"number", CustomKind::Scalar},
                                  {"ScalarType", CustomKind::DType}, {"Device", CustomKind::Device}};

std::string_view nameOf(CustomKind k) {
  for (const KindName &n : kindNames)
    if (n.kind == k && n.name != "SymInt")
      return n.name;
  return "";
}

bool isWord(char c) { return std::isalnum(uint8_t(c)) || c == '_'; }

class Parser {
public:
  Parser(std::string_view text, Diag &diag) : text(text), diag(diag) {}

  bool schema(CustomSchema &s) {
    if (!word(s.space) || !symbol("::") || !word(s.name) || (take(".") && !word(s.overload)) || !symbol("("))
      return false;
    bool keyword = false;
    while (!take(")")) {
      if (!comma)
        return expected("',' or ')'");
      if (take("*")) {
        keyword = true;
        if (!symbol(","))
          return false;
        continue;
      }
      CustomArgument a;
      a.keywordOnly = keyword;
      if (!type(a) || !word(a.name) || (take("=") && !defaultValue(a)))
        return false;
      s.arguments.push_back(std::move(a));
      comma = take(",");
    }
    return symbol("->") && results(s) && (at() == text.size() || expected("the end"));
  }

private:
  bool results(CustomSchema &s) {
    if (!take("("))
      return result(s);
    if (take(")"))
      return true;
    do
      if (!result(s))
        return false;
    while (take(","));
    return symbol(")");
  }
  bool result(CustomSchema &s) {
    CustomArgument a;
    if (!type(a))
      return false;
    if (at() < text.size() && isWord(text[position]) && !word(a.name))
      return false;
    s.returns.push_back(std::move(a));
    return true;
  }

  bool type(CustomArgument &a) {
    size_t start = at();
    std::string name;
    if (!word(name))
      return false;
    auto known = std::find_if(std::begin(kindNames), std::end(kindNames), [&](auto &k) { return k.name == name; });
    if (known == std::end(kindNames)) {
      position = start;
      return expected("a type (Tensor, bool, int, float, str, Scalar, ScalarType, Device)");
    }
    a.kind = known->kind;
    if (take("(")) {
      if (!word(a.alias))
        return false;
      a.written = take("!");
      if (!symbol(")"))
        return false;
    }
    a.optional = take("?");
    if (take("[")) {
      a.list = true;
      a.optionalItems = a.optional;
      std::string digits;
      if (at() < text.size() && text[position] != ']') {
        if (!word(digits) || std::from_chars(digits.data(), digits.data() + digits.size(), a.size).ec != std::errc())
          return expected("a size");
      }
      if (!symbol("]"))
        return false;
      a.optional = take("?");
    }
    return true;
  }

  bool number(CustomArgument &a, CustomValue &out) {
    at();
    size_t start = position;
    while (position < text.size() &&
           (isWord(text[position]) || std::string_view("+-.").find(text[position]) != std::string_view::npos))
      position++;
    std::string_view s = text.substr(start, position - start);
    if (s == "True" || s == "False") {
      out = s == "True";
      return a.kind == CustomKind::Bool || a.kind == CustomKind::Scalar || expected("no bool");
    }
    int64_t i;
    auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), i);
    if (error == std::errc() && end == s.data() + s.size()) {
      out = a.kind == CustomKind::Float ? CustomValue(double(i)) : CustomValue(i);
      return a.kind == CustomKind::Float || a.kind == CustomKind::Int || a.kind == CustomKind::Scalar ||
             expected("no number");
    }
    double d;
    auto [last, wrong] = std::from_chars(s.data(), s.data() + s.size(), d);
    if (wrong != std::errc() || last != s.data() + s.size() ||
        (a.kind != CustomKind::Float && a.kind != CustomKind::Scalar)) {
      position = start;
      return expected("a default of type " + a.type());
    }
    out = d;
    return true;
  }

  bool scalar(CustomArgument &a, CustomValue &out) {
    at();
    if (a.kind == CustomKind::Str || a.kind == CustomKind::Device) {
      char quote = position < text.size() ? text[position] : 0;
      size_t end = quote == '"' || quote == '\'' ? text.find(quote, position + 1) : std::string_view::npos;
      if (end == std::string_view::npos)
        return expected("a quoted string");
      std::string s(text.substr(position + 1, end - position - 1));
      position = end + 1;
      if (a.kind == CustomKind::Str) {
        out = std::move(s);
        return true;
      }
      DeviceId d;
      if (!parseDevice(s, d, diag))
        return false;
      out = d;
      return true;
    }
    if (a.kind == CustomKind::DType || a.kind == CustomKind::Tensor) {
      std::string s;
      if (!word(s))
        return false;
      for (int t = 0; a.kind == CustomKind::DType && t < numDTypes; t++)
        if (torchName(DType(t)) == s) {
          out = DType(t);
          return true;
        }
      return expected("a default of type " + a.type());
    }
    return number(a, out);
  }

  template <class T> static void push(CustomValue &list, const CustomValue &item) {
    if (!std::holds_alternative<std::vector<T>>(list))
      list = std::vector<T>();
    if (auto *v = std::get_if<T>(&item))
      std::get<std::vector<T>>(list).push_back(*v);
  }

  bool defaultValue(CustomArgument &a) {
    a.hasDefault = true;
    if (take("None"))
      return a.optional || expected("a value");
    if (!a.list)
      return scalar(a, a.value);
    if (!take("[")) { // int[2] x=0
      CustomValue item;
      if (a.size < 0 || !scalar(a, item))
        return expected("'['");
      for (int64_t i = 0; i < a.size; i++)
        append(a, item);
      return true;
    }
    append(a, CustomValue());
    while (!take("]")) {
      CustomValue item;
      if (!scalar(a, item))
        return false;
      append(a, item);
      if (!take(",") && !(at() < text.size() && text[position] == ']'))
        return expected("',' or ']'");
    }
    return true;
  }
  void append(CustomArgument &a, const CustomValue &item) {
    switch (a.kind) {
    case CustomKind::Bool: return push<bool>(a.value, item);
    case CustomKind::Int: return push<int64_t>(a.value, item);
    case CustomKind::Float: return push<double>(a.value, item);
    case CustomKind::Str: return push<std::string>(a.value, item);
    default: return push<Tensor>(a.value, item);
    }
  }

  size_t at() {
    while (position < text.size() && std::isspace(uint8_t(text[position])))
      position++;
    return position;
  }
  bool take(std::string_view s) {
    if (text.substr(at(), s.size()) != s)
      return false;
    position += s.size();
    return true;
  }
  bool symbol(std::string_view s) { return take(s) || expected("'" + std::string(s) + "'"); }
  bool word(std::string &out) {
    size_t start = at();
    while (position < text.size() && isWord(text[position]))
      position++;
    out = text.substr(start, position - start);
    return !out.empty() || expected("a name");
  }
  bool expected(const std::string &what) {
    return diag.fail(ErrorKind::Runtime, "schema \"" + std::string(text) + "\": expected " + what + " at position " +
                                             std::to_string(position));
  }

  std::string_view text;
  Diag &diag;
  size_t position = 0;
  bool comma = true;
};

std::string numberText(double d) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, d).ptr;
  std::string s(buffer, end);
  return s.find_first_of(".en") == std::string::npos ? s + "." : s;
}

struct ValueText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(const Tensor &) const { return "Tensor"; }
  std::string operator()(bool b) const { return b ? "True" : "False"; }
  std::string operator()(int64_t i) const { return std::to_string(i); }
  std::string operator()(double d) const { return numberText(d); }
  std::string operator()(const std::string &s) const { return "\"" + s + "\""; }
  std::string operator()(DType t) const { return std::string(torchName(t)); }
  std::string operator()(DeviceId d) const { return "\"" + deviceString(d.kind, d.index) + "\""; }
  std::string operator()(const Scalar &s) const {
    return s.isFloat() ? numberText(s.toDouble()) : std::to_string(s.toInt());
  }
  template <class T> std::string operator()(const std::vector<T> &list) const {
    std::string out;
    for (const T &item : list)
      out += (out.empty() ? "" : ", ") + (*this)(item);
    return "[" + out + "]";
  }
};

} // namespace

std::string CustomArgument::type() const {
  std::string out(nameOf(kind));
  if (!alias.empty())
    out += "(" + alias + (written ? "!)" : ")");
  if (optionalItems || (optional && !list))
    out += "?";
  if (list)
    out += "[" + (size >= 0 ? std::to_string(size) : "") + "]" + (optional ? "?" : "");
  return out;
}

std::string CustomSchema::qualified() const { return space + "::" + name + (overload.empty() ? "" : "." + overload); }

std::string CustomSchema::str() const {
  std::string out = qualified() + "(", results;
  bool keyword = false;
  for (const CustomArgument &a : arguments) {
    if (out.back() != '(')
      out += ", ";
    if (a.keywordOnly && !keyword)
      out += "*, ";
    keyword |= a.keywordOnly;
    out += a.type() + " " + a.name + (a.hasDefault ? "=" + std::visit(ValueText(), a.value) : "");
  }
  for (const CustomArgument &a : returns)
    results += (results.empty() ? "" : ", ") + a.type() + (a.name.empty() ? "" : " " + a.name);
  return out + ") -> " + (returns.size() == 1 ? results : "(" + results + ")");
}

bool CustomSchema::mutates() const {
  for (const CustomArgument &a : arguments)
    if (a.written)
      return true;
  return false;
}

bool parseSchema(std::string_view text, CustomSchema &out, Diag &diag) { return Parser(text, diag).schema(out); }

bool accepts(const CustomArgument &a, const CustomValue &v) {
  if (std::holds_alternative<std::monostate>(v))
    return a.optional;
  auto is = [&]<class T>(const T *) {
    return a.list ? std::holds_alternative<std::vector<T>>(v) : std::holds_alternative<T>(v);
  };
  switch (a.kind) {
  case CustomKind::Tensor:
    if (auto *t = std::get_if<Tensor>(&v); t && !a.list)
      return t->defined() || a.optional;
    if (auto *list = std::get_if<std::vector<Tensor>>(&v); list && a.list) {
      for (const Tensor &t : *list)
        if (!t.defined() && !a.optionalItems)
          return false;
      return true;
    }
    return false;
  case CustomKind::Bool: return is(static_cast<bool *>(nullptr));
  case CustomKind::Int: return is(static_cast<int64_t *>(nullptr));
  case CustomKind::Float: return is(static_cast<double *>(nullptr));
  case CustomKind::Str: return is(static_cast<std::string *>(nullptr));
  case CustomKind::DType: return std::holds_alternative<DType>(v);
  case CustomKind::Device: return std::holds_alternative<DeviceId>(v);
  case CustomKind::Scalar:
    return a.list ? std::holds_alternative<std::vector<Scalar>>(v)
                  : std::holds_alternative<bool>(v) || std::holds_alternative<int64_t>(v) ||
                        std::holds_alternative<double>(v);
  }
  return false;
}

std::string typeOfValue(const CustomValue &v) {
  static constexpr const char *names[] = {"None",       "Tensor", "Tensor[]", "bool",  "int",     "float", "str",
                                          "ScalarType", "Device", "bool[]",   "int[]", "float[]", "str[]", "Scalar[]"};
  return names[v.index()];
}

} // namespace torchc
