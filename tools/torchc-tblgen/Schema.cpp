// The schema language of `Api`: `name(Type a, Type b=1, *, Type c=None) -> Type`.
#include "OpModel.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace torchc::tblgen {
namespace {

/// Splits at top-level commas: a default may be `(1, 2)`.
std::vector<StringRef> splitParams(StringRef text) {
  std::vector<StringRef> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == ',' && depth == 0) {
      out.push_back(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  if (StringRef last = text.substr(start).trim(); !last.empty())
    out.push_back(last);
  return out;
}

/// "(Tensor values, Tensor indices)" becomes the types "(Tensor, Tensor)" and the fields "values indices".
void parseResult(const Record *record, StringRef text, ApiModel &m) {
  m.result = text.str();
  if (!text.consume_front("(") || !text.consume_back(")"))
    return;
  std::string types;
  for (StringRef part : splitParams(text)) {
    auto [type, name] = part.split(' ');
    types += (types.empty() ? "" : ", ") + type.str();
    if (!name.empty())
      m.fields += (m.fields.empty() ? "" : " ") + name.trim().str();
  }
  if (!m.fields.empty() && StringRef(m.fields).count(' ') != StringRef(types).count(','))
    PrintFatalError(record, "schema of '" + m.name + "' names some fields of its result and not others");
  m.result = "(" + types + ")";
}

} // namespace

ApiModel parseSchema(const Record *record, StringRef schema) {
  ApiModel m;
  size_t open = schema.find('('), close = schema.rfind(") ->");
  if (open == StringRef::npos || close == StringRef::npos)
    PrintFatalError(record, "schema '" + schema + "' is not `name(...) -> Type`");
  m.name = schema.take_front(open).trim().str();
  parseResult(record, schema.substr(close + 4).trim(), m);
  bool keyword = false;
  for (StringRef p : splitParams(schema.slice(open + 1, close))) {
    if (p == "*") {
      keyword = true;
      continue;
    }
    Param out;
    out.keywordOnly = keyword;
    auto [decl, value] = p.split('=');
    out.hasDefault = p.contains('=');
    out.defaultValue = value.trim().str();
    auto [type, name] = decl.trim().rsplit(' ');
    if (name.empty())
      PrintFatalError(record, "schema '" + schema + "': parameter '" + p + "' needs a type and a name");
    out.type = type.trim().str();
    out.varargs = name.consume_front("*");
    out.name = name.str();
    m.params.push_back(out);
  }
  return m;
}

} // namespace torchc::tblgen
