#include "frontends/onnx/GraphBuilder.h"
#include "dialects/rules/Decompose.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/onnx/Model.h"
#include "frontends/onnx/Schema.h"

namespace torchc::onnx {
namespace {

using Writer = protozero::pbf_writer;

constexpr int64_t irVersion = 10; // of opset 21's time; all readers of today take it

struct Rename {
  const char *name = nullptr;
  int since = 0;
};

const Rename &renameOf(OpId id) {
  static const std::vector<Rename> table = [] {
    std::vector<Rename> t(numOps);
#define TORCHC_ONNX(ident, name, since) t[size_t(OpId::ident)] = {name, since};
#include "torchc-gen/OnnxNames.inc"
#undef TORCHC_ONNX
    return t;
  }();
  return table[size_t(id)];
}

void writeAttr(Writer &node, const OutAttr &a) {
  using namespace pb::AttributeProto;
  Writer w(node, pb::NodeProto::attribute_);
  w.add_string(name_, a.name);
  if (auto *i = std::get_if<int64_t>(&a.value)) {
    w.add_int64(i_, *i);
    w.add_enum(type_, pb::AttributeType::INT_);
  } else if (auto *f = std::get_if<double>(&a.value)) {
    w.add_float(f_, float(*f));
    w.add_enum(type_, pb::AttributeType::FLOAT_);
  } else if (auto *s = std::get_if<std::string>(&a.value)) {
    w.add_bytes(s_, *s);
    w.add_enum(type_, pb::AttributeType::STRING_);
  } else if (auto *g = std::get_if<OutGraph>(&a.value)) {
    w.add_message(g_, g->bytes);
    w.add_enum(type_, pb::AttributeType::GRAPH_);
  } else {
    for (int64_t v : std::get<std::vector<int64_t>>(a.value))
      w.add_int64(ints_, v);
    w.add_enum(type_, pb::AttributeType::INTS_);
  }
}

void writeType(Writer &list, uint32_t field, const std::string &name, const TensorType &type) {
  Writer info(list, field);
  info.add_string(pb::ValueInfoProto::name_, name);
  Writer t(info, pb::ValueInfoProto::type_);
  Writer tensor(t, pb::TypeProto::tensor_type_);
  tensor.add_int32(pb::TypeProto_Tensor::elem_type_, onnxOfDType(type.dtype));
  std::string shape; // present for rank 0, too
  Writer dims(shape);
  for (int64_t size : type.dims) {
    Writer dim(dims, pb::TensorShapeProto::dim_);
    dim.add_int64(pb::TensorShapeProto_Dimension::dim_value_, size);
  }
  tensor.add_message(pb::TypeProto_Tensor::shape_, shape);
}

} // namespace

OutValue GraphBuilder::add(std::string name, const TensorType &type) {
  values.push_back({std::move(name), type});
  return {int32_t(values.size()) - 1};
}

std::string GraphBuilder::unique(std::string name) {
  int &times = used[name];
  if (times++ == 0)
    return name;
  return unique(name + "_" + std::to_string(times - 1));
}

std::string GraphBuilder::fresh(const char *op) { return unique(std::string(op) + "_" + std::to_string(count)); }

OutValue GraphBuilder::op(OpId id, const V *operands, int n, std::initializer_list<Attr> attrs) {
  std::vector<OpArg<V>> args;
  for (int i = 0; i < n; i++)
    args.push_back(operands[i]);
  return create(id, args, {attrs.begin(), attrs.end()});
}

OutValue GraphBuilder::create(OpId id, const std::vector<OpArg<V>> &operands, const std::vector<Attr> &attrs) {
  const OpInfo &info = opInfo(id);
  std::vector<OperandType> types;
  std::vector<Dims> shapes;
  shapes.reserve(operands.size());
  for (const OpArg<V> &o : operands) {
    if (!o.value) {
      types.push_back({numberCategory(o.number), true, nullptr});
      continue;
    }
    if (!*o.value) // an operand that couldn't be written
      return V();
    shapes.push_back(dims(*o.value));
    types.push_back({dtype(*o.value), false, &shapes.back()});
  }
  TensorType result;
  Diag diag;
  if (!inferOp(id, types.data(), int(types.size()), attrs.data(), int(attrs.size()), defaultDType(), result, diag))
    fail(diag);
  bool none = info.promote == Promote::None;
  Promoted p = none ? Promoted{} : promote(info.promote, types.data(), int(types.size()), defaultDType());
  std::vector<V> in;
  for (size_t i = 0; i < operands.size(); i++) {
    bool condition = info.promote == Promote::Branch && i == 0;
    DType want = condition ? DType::Bool : none ? (operands[i].value ? types[i].dtype : types[0].dtype) : p.compute;
    in.push_back(operands[i].value ? cast(*operands[i].value, want) : number(operands[i].number, want));
  }
  if (WriteOp write = findWriter(id))
    if (V v = write(*this, in, attrs, result))
      return v;
  const Rename &rename = renameOf(id);
  if (rename.name && info.numAttrs == 0) {
    if (opset < rename.since && rename.since > 13)
      fail(ErrorKind::NotImplemented, "onnx.export(): " + std::string(info.name) + " needs opset " +
                                          std::to_string(rename.since) + ", asked was " + std::to_string(opset));
    return node(rename.name, in, result);
  }
  if (*info.decompose)
    if (V v = decompose(id, *this, in.data(), attrs.data(), result.dtype))
      return v;
  fail(ErrorKind::NotImplemented,
       "onnx.export(): ONNX has no operator for " + std::string(info.name) + (place.empty() ? "" : " (" + place + ")"));
}

OutValue GraphBuilder::node(const char *op, const std::vector<V> &in, const TensorType &result,
                            const std::vector<OutAttr> &attrs) {
  return nodes(op, in, {result}, attrs)[0];
}

/// The operator and its attributes must be there in the opset that is written; the error names the first that has them.
void GraphBuilder::checkSchema(const char *op, const std::vector<OutAttr> &attrs) const {
  auto lacks = [&](int64_t version) -> std::string {
    const SchemaRow *row = findSchema("", op, version);
    if (!row)
      return op;
    for (const OutAttr &a : attrs)
      if (!row->find(a.name))
        return std::string(op) + "'s attribute '" + a.name + "'";
    return "";
  };
  std::string what = lacks(opset);
  if (what.empty())
    return;
  int64_t needed = opset;
  while (needed < newestOpset() && !lacks(needed).empty())
    needed++;
  fail(ErrorKind::NotImplemented, "onnx.export(): opset " + std::to_string(opset) + " has no " + what +
                                      ", expected opset_version >= " + std::to_string(needed) +
                                      (place.empty() ? "" : " (" + place + ")"));
}

std::vector<OutValue> GraphBuilder::nodes(const char *op, const std::vector<V> &in,
                                          const std::vector<TensorType> &results, const std::vector<OutAttr> &attrs) {
  checkSchema(op, attrs);
  std::vector<V> out;
  for (const TensorType &t : results)
    out.push_back(add(fresh(op), t));
  Writer graph(written);
  Writer w(graph, pb::GraphProto::node_);
  for (V i : in)
    w.add_string(pb::NodeProto::input_, i ? name(i) : std::string());
  for (V v : out)
    w.add_string(pb::NodeProto::output_, name(v));
  w.add_string(pb::NodeProto::name_, "node_" + name(out[0]));
  w.add_string(pb::NodeProto::op_type_, op);
  for (const OutAttr &a : attrs)
    writeAttr(w, a);
  if (!place.empty())
    w.add_string(pb::NodeProto::doc_string_, place);
  count++;
  return out;
}

OutValue GraphBuilder::cast(V v, DType t) {
  if (!v || dtype(v) == t)
    return v;
  return node("Cast", {v}, {t, dims(v)}, {{"to", int64_t(onnxOfDType(t))}});
}

OutValue GraphBuilder::number(const Attr &n, DType t) {
  InternalGuard quiet;
  return constant(full({}, Scalar::fromAttr(n), t));
}

OutValue GraphBuilder::ints(const std::vector<int64_t> &v) {
  auto [it, isNew] = vectors.try_emplace(v);
  if (isNew) {
    InternalGuard quiet;
    Tensor t = empty({int64_t(v.size())}, DType::I64);
    std::copy(v.begin(), v.end(), t.dataAs<int64_t>());
    it->second = constant(t);
  }
  return it->second;
}

OutValue GraphBuilder::constant(const Tensor &t) { return initializer("constant_" + std::to_string(count++), t); }

OutValue GraphBuilder::input(const std::string &name, const TensorType &type) {
  V v = add(unique(name), type);
  Writer w(inputs);
  writeType(w, pb::GraphProto::input_, this->name(v), type);
  return v;
}

OutValue GraphBuilder::initializer(const std::string &name, const Tensor &given) {
  InternalGuard quiet;
  Tensor t = contiguous(given);
  V v = add(unique(name), {t.dtype(), Dims(t.sizes().data(), t.dim())});
  Writer graph(initializers);
  Writer w(graph, pb::GraphProto::initializer_);
  for (int64_t size : t.sizes())
    w.add_int64(pb::TensorProto::dims_, size);
  w.add_int32(pb::TensorProto::data_type_, onnxOfDType(t.dtype()));
  w.add_string(pb::TensorProto::name_, this->name(v));
  w.add_bytes(pb::TensorProto::raw_data_, t.numel() ? static_cast<const char *>(t.data()) : "",
              size_t(t.numel() * itemSize(t.dtype())));
  return v;
}

void GraphBuilder::output(V v, const std::string &given) {
  V named = add(unique(given), values[size_t(v.id)].type);
  Writer graph(written);
  Writer w(graph, pb::GraphProto::node_); // a name of its own, whatever computes it
  w.add_string(pb::NodeProto::input_, name(v));
  w.add_string(pb::NodeProto::output_, name(named));
  w.add_string(pb::NodeProto::name_, "node_" + name(named));
  w.add_string(pb::NodeProto::op_type_, "Identity");
  Writer list(outputs);
  writeType(list, pb::GraphProto::output_, name(named), values[size_t(named.id)].type);
}

std::string GraphBuilder::finish(const std::string &graphName) const {
  if (written.size() + initializers.size() > size_t(INT32_MAX))
    fail(ErrorKind::NotImplemented, "onnx.export(): a model of more than 2 GB");
  std::string out;
  Writer model(out);
  model.add_int64(pb::ModelProto::ir_version_, irVersion);
  model.add_string(pb::ModelProto::producer_name_, "torchc");
  {
    Writer set(model, pb::ModelProto::opset_import_);
    set.add_string(pb::OperatorSetIdProto::domain_, "");
    set.add_int64(pb::OperatorSetIdProto::version_, opset);
  }
  model.add_message(pb::ModelProto::graph_, graphBytes(graphName) + initializers);
  return out;
}

/// Without the initializers, which all lie in the outermost graph.
std::string GraphBuilder::graphBytes(const std::string &graphName) const {
  std::string name;
  Writer field(name);
  field.add_string(pb::GraphProto::name_, graphName);
  return written + name + inputs + outputs;
}

} // namespace torchc::onnx
