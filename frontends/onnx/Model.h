// An ONNX file as structures that borrow its bytes. Reading checks the wire format and the limits of this library;
// Program.h checks that the graph makes sense.
#pragma once
#include "frontends/eager/Tensor.h"
#include "frontends/onnx/Proto.h"
#include <memory>
#include <string>
#include <vector>

namespace torchc::onnx {

struct Graph;

struct Attribute {
  std::string_view name, refName; // refName: an attribute of the function around
  int32_t type = 0;               // AttributeType; old files leave it out: then from the field that is set
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  Bytes t; // a TensorProto
  bool hasTensor = false;
  std::shared_ptr<Graph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct Node {
  std::string_view name, op, domain;
  std::vector<std::string_view> inputs, outputs; // "" is absent
  std::vector<Attribute> attributes;
  size_t offset = 0; // in the file, for messages
  const Attribute *find(std::string_view attr) const;
};

struct Dim {
  int64_t value = -1; // -1: not fixed
  std::string_view param;
};
struct ValueInfo {
  std::string_view name;
  int32_t elemType = 0; // DataType; 0: none given, or no tensor
  bool hasShape = false, isTensor = false;
  std::vector<Dim> dims;
};
struct Initializer {
  std::string_view name;
  Bytes tensor;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Initializer> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct OpsetId {
  std::string_view domain;
  int64_t version = 0;
};
/// A function of the model: an operator made of nodes.
struct FunctionDef {
  std::string_view name, domain;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Node> nodes;
  std::vector<Attribute> defaults;
  std::vector<OpsetId> opsets;
};

struct ModelFile {
  int64_t irVersion = 0;
  std::string_view producer;
  std::vector<OpsetId> opsets;
  Graph graph;
  std::vector<FunctionDef> functions;
};

/// Throws Value error naming the offset of what is malformed.
ModelFile readModel(Bytes file);

/// A TensorProto as a tensor with memory of its own. `folder` is where external data is looked up ("": refused).
/// Throws Value for sizes and data that don't fit together, NotImplemented for a type that torchc lacks.
Tensor readTensor(Bytes proto, const std::string &folder);

/// The element type of ONNX's number. NotImplemented error naming it and `what`.
DType dtypeOfOnnx(int32_t dataType, std::string_view what);
int32_t onnxOfDType(DType t);
/// "FLOAT" or the number.
std::string dataTypeName(int32_t dataType);

} // namespace torchc::onnx
