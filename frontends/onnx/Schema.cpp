#include "frontends/onnx/Schema.h"
#include "frontends/onnx/Proto.h"
#include <algorithm>
#include <bit>
#include <iterator>

namespace torchc::onnx {
namespace {

#include "torchc-gen/OnnxTables.inc"

std::string_view textAt(int64_t offset) { return schemaText + offset; }

} // namespace

std::string_view SchemaAttr::name() const { return textAt(nameAt); }
std::string_view SchemaAttr::text() const { return textAt(bits); }
std::string_view SchemaRow::name() const { return textAt(nameAt); }
const SchemaAttr *SchemaRow::begin() const { return schemaAttrs + firstAttr; }
const SchemaAttr *SchemaRow::find(std::string_view attr) const {
  const SchemaAttr *a = std::find_if(begin(), end(), [&](const SchemaAttr &s) { return s.name() == attr; });
  return a == end() ? nullptr : a;
}

const SchemaRow *findSchema(std::string_view domain, std::string_view op, int64_t opset) {
  if (domain == "ai.onnx")
    domain = {};
  const SchemaRow *found = nullptr; // rows of one operator ascend by version
  for (const SchemaRow &row : schemaRows)
    if (row.since <= opset && textAt(row.nameAt) == op && textAt(row.domainAt) == domain)
      found = &row;
  return found;
}

int64_t newestOpset() {
  static const int64_t newest =
      std::max_element(std::begin(schemaRows), std::end(schemaRows), [](const SchemaRow &a, const SchemaRow &b) {
        return (a.domainAt != schemaRows[0].domainAt ? 0 : a.since) <
               (b.domainAt != schemaRows[0].domainAt ? 0 : b.since);
      })->since;
  return newest;
}

} // namespace torchc::onnx
