// The operators of ONNX by domain, name and version, from the tables of the onnx package.
#pragma once
#include <cstdint>
#include <string_view>

namespace torchc::onnx {

struct SchemaAttr {
  uint16_t nameAt;
  uint8_t type; // AttributeProto.AttributeType
  uint8_t required, hasDefault;
  int64_t bits; // INT; FLOAT: the bits of a double; STRING: offset
  std::string_view name() const;
  std::string_view text() const; // of a STRING default
};

struct SchemaRow {
  uint16_t domainAt, nameAt, since;
  uint16_t minInputs, maxInputs, minOutputs, maxOutputs; // 65535: any number
  uint16_t firstAttr, numAttrs;
  std::string_view name() const;
  const SchemaAttr *begin() const;
  const SchemaAttr *end() const { return begin() + numAttrs; }
  /// Null when the operator has no such attribute.
  const SchemaAttr *find(std::string_view attr) const;
};

/// The version of an operator that holds in an opset; null for an unknown one. `domain` "ai.onnx" is "".
const SchemaRow *findSchema(std::string_view domain, std::string_view op, int64_t opset);
/// The newest opset of the default domain.
int64_t newestOpset();

} // namespace torchc::onnx
