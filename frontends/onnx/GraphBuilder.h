// A builder of dialects/rules/Builder.h with V = a value of an ONNX graph: promotes and infers as the others do, and
// writes nodes. Fused ops that ONNX lacks become their decomposition.
#pragma once
#include "dialects/rules/Builder.h"
#include "dialects/rules/Infer.h"
#include "frontends/eager/Tensor.h"
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace torchc::onnx {

struct OutValue {
  int32_t id = -1;
  explicit operator bool() const { return id >= 0; }
};

/// The bytes of a graph inside of a node.
struct OutGraph {
  std::string bytes;
};

/// An attribute of a node to be written.
struct OutAttr {
  const char *name;
  std::variant<int64_t, double, std::string, std::vector<int64_t>, OutGraph> value;
};

class GraphBuilder {
public:
  using V = OutValue;
  explicit GraphBuilder(int64_t opset) : opset(opset) {}

  V op(OpId id, std::initializer_list<OpArg<V>> operands, std::initializer_list<Attr> attrs = {}) {
    return create(id, {operands.begin(), operands.end()}, {attrs.begin(), attrs.end()});
  }
  V op(OpId id, const V *operands, int n, std::initializer_list<Attr> attrs);
  /// One of our ops on operands as a user gave them. Throws NotImplemented for what ONNX can't say.
  V create(OpId id, const std::vector<OpArg<V>> &operands, const std::vector<Attr> &attrs);
  Dims dims(const V &v) const { return values[size_t(v.id)].type.dims; }
  DType dtype(const V &v) const { return values[size_t(v.id)].type.dtype; }
  const std::string &name(const V &v) const { return values[size_t(v.id)].name; }

  /// A node of ONNX; the result has the given type.
  V node(const char *op, const std::vector<V> &inputs, const TensorType &result,
         const std::vector<OutAttr> &attrs = {});
  /// With any number of results.
  std::vector<V> nodes(const char *op, const std::vector<V> &inputs, const std::vector<TensorType> &results,
                       const std::vector<OutAttr> &attrs);
  /// The graph of what `fill` adds: its nodes, input() and output(). It may read values from outside.
  template <class F> OutGraph subgraph(F fill) {
    std::string outside[] = {std::exchange(written, {}), std::exchange(inputs, {}), std::exchange(outputs, {})};
    fill();
    OutGraph g{graphBytes(unique("graph"))};
    written = std::move(outside[0]);
    inputs = std::move(outside[1]);
    outputs = std::move(outside[2]);
    return g;
  }
  V cast(V v, DType t);
  V number(const Attr &n, DType t);
  /// An int64 vector; equal ones are written once.
  V ints(const std::vector<int64_t> &v);
  V constant(const Tensor &t);
  V input(const std::string &name, const TensorType &type);
  V initializer(const std::string &name, const Tensor &t);
  void output(V v, const std::string &name);
  /// Where in the program the next nodes come from: their doc_string.
  void at(std::string source) { place = std::move(source); }

  /// The model's bytes.
  std::string finish(const std::string &graphName) const;

  const int64_t opset;

private:
  struct Info {
    std::string name;
    TensorType type;
  };
  V add(std::string name, const TensorType &type);
  void checkSchema(const char *op, const std::vector<OutAttr> &attrs) const;
  std::string fresh(const char *op);
  std::string unique(std::string name);
  std::string graphBytes(const std::string &name) const;

  std::vector<Info> values;
  std::map<std::string, int> used; // names
  std::map<std::vector<int64_t>, V> vectors;
  std::string written, initializers, inputs, outputs, place; // written messages
  size_t count = 0;
};

/// How an op that isn't a rename is written: `in` have the compute type, `type` is the result's. An undefined value: not
/// at all.
using WriteOp = OutValue (*)(GraphBuilder &b, const std::vector<OutValue> &in, const std::vector<Attr> &attrs,
                             const TensorType &type);
/// Null when there is none.
WriteOp findWriter(OpId id);

} // namespace torchc::onnx
