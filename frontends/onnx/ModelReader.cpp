#include "frontends/onnx/Model.h"

namespace torchc::onnx {
namespace {

constexpr int maxDepth = 64; // of graphs in attributes

/// Reads messages of one file; knows where it is for messages.
class Reader {
public:
  explicit Reader(Bytes file) : file(file) {}
  size_t offsetOf(const char *p) const { return size_t(p - file.data()); }

  Attribute attribute(Bytes m, int depth) {
    using namespace pb::AttributeProto;
    Attribute a;
    protozero::pbf_reader r(m);
    while (r.next()) {
      switch (r.tag()) {
      case name_: a.name = text(r); break;
      case ref_attr_name_: a.refName = text(r); break;
      case type_: a.type = r.get_enum(); break;
      case f_: a.f = r.get_float(), imply(a, pb::AttributeType::FLOAT_); break;
      case i_: a.i = r.get_int64(), imply(a, pb::AttributeType::INT_); break;
      case s_: a.s = text(r), imply(a, pb::AttributeType::STRING_); break;
      case t_: a.t = r.get_view(), a.hasTensor = true, imply(a, pb::AttributeType::TENSOR_); break;
      case g_:
        a.g = std::make_shared<Graph>(graph(r.get_view(), depth + 1));
        imply(a, pb::AttributeType::GRAPH_);
        break;
      case floats_: numbers(r, a.floats), imply(a, pb::AttributeType::FLOATS_); break;
      case ints_: numbers(r, a.ints), imply(a, pb::AttributeType::INTS_); break;
      case strings_: a.strings.push_back(text(r)), imply(a, pb::AttributeType::STRINGS_); break;
      default: r.skip();
      }
    }
    return a;
  }

  Node node(Bytes m, int depth) {
    using namespace pb::NodeProto;
    Node n;
    n.offset = offsetOf(m.data());
    protozero::pbf_reader r(m);
    while (r.next()) {
      switch (r.tag()) {
      case name_: n.name = text(r); break;
      case op_type_: n.op = text(r); break;
      case domain_: n.domain = text(r); break;
      case input_: n.inputs.push_back(text(r)); break;
      case output_: n.outputs.push_back(text(r)); break;
      case attribute_: n.attributes.push_back(attribute(r.get_view(), depth)); break;
      default: r.skip();
      }
    }
    return n;
  }

  Graph graph(Bytes m, int depth) {
    using namespace pb::GraphProto;
    if (depth > maxDepth)
      throw Error(ErrorKind::Value, "graphs nest deeper than " + std::to_string(maxDepth));
    Graph g;
    protozero::pbf_reader r(m);
    while (r.next()) {
      switch (r.tag()) {
      case name_: g.name = text(r); break;
      case node_: g.nodes.push_back(node(r.get_view(), depth)); break;
      case input_: g.inputs.push_back(valueInfo(r.get_view())); break;
      case output_: g.outputs.push_back(valueInfo(r.get_view())); break;
      case initializer_: g.initializers.push_back(initializer(r.get_view())); break;
      case sparse_initializer_: throw Error(ErrorKind::NotImplemented, "sparse initializers");
      default: r.skip();
      }
    }
    return g;
  }

  FunctionDef function(Bytes m) {
    using namespace pb::FunctionProto;
    FunctionDef f;
    protozero::pbf_reader r(m);
    while (r.next()) {
      switch (r.tag()) {
      case name_: f.name = text(r); break;
      case domain_: f.domain = text(r); break;
      case input_: f.inputs.push_back(text(r)); break;
      case output_: f.outputs.push_back(text(r)); break;
      case node_: f.nodes.push_back(node(r.get_view(), 0)); break;
      case attribute_proto_: f.defaults.push_back(attribute(r.get_view(), 0)); break;
      case opset_import_: f.opsets.push_back(opset(r.get_view())); break;
      default: r.skip();
      }
    }
    return f;
  }

  OpsetId opset(Bytes m) {
    using namespace pb::OperatorSetIdProto;
    OpsetId o;
    protozero::pbf_reader r(m);
    while (r.next()) {
      switch (r.tag()) {
      case domain_: o.domain = text(r); break;
      case version_: o.version = r.get_int64(); break;
      default: r.skip();
      }
    }
    if (o.domain == "ai.onnx")
      o.domain = {};
    return o;
  }

private:
  static void imply(Attribute &a, int32_t type) {
    if (!a.type)
      a.type = type;
  }
  static std::string_view text(protozero::pbf_reader &r) {
    Bytes v = r.get_view();
    return {v.data(), v.size()};
  }
  // Packed or one by one: writers of both kinds exist.
  static void numbers(protozero::pbf_reader &r, std::vector<float> &to) {
    if (r.wire_type() != protozero::pbf_wire_type::length_delimited)
      return to.push_back(r.get_float());
    auto range = r.get_packed_float();
    to.insert(to.end(), range.begin(), range.end());
  }
  static void numbers(protozero::pbf_reader &r, std::vector<int64_t> &to) {
    if (r.wire_type() != protozero::pbf_wire_type::length_delimited)
      return to.push_back(r.get_int64());
    auto range = r.get_packed_int64();
    to.insert(to.end(), range.begin(), range.end());
  }

  Initializer initializer(Bytes m) {
    Initializer i{{}, m};
    protozero::pbf_reader r(m);
    while (r.next()) {
      if (r.tag() == pb::TensorProto::name_)
        i.name = text(r);
      else
        r.skip();
    }
    return i;
  }

  Dim dim(Bytes m) {
    using namespace pb::TensorShapeProto_Dimension;
    Dim d;
    protozero::pbf_reader r(m);
    while (r.next()) {
      switch (r.tag()) {
      case dim_value_: d.value = std::max<int64_t>(r.get_int64(), -1); break; // Paddle writes -1
      case dim_param_: d.param = text(r); break;
      default: r.skip();
      }
    }
    return d;
  }

  ValueInfo valueInfo(Bytes m) {
    ValueInfo v;
    protozero::pbf_reader r(m);
    while (r.next()) {
      if (r.tag() == pb::ValueInfoProto::name_)
        v.name = text(r);
      else if (r.tag() == pb::ValueInfoProto::type_)
        type(r.get_view(), v);
      else
        r.skip();
    }
    return v;
  }

  void type(Bytes m, ValueInfo &v) {
    protozero::pbf_reader r(m);
    while (r.next(pb::TypeProto::tensor_type_)) {
      v.isTensor = true;
      protozero::pbf_reader t(r.get_view());
      while (t.next()) {
        if (t.tag() == pb::TypeProto_Tensor::elem_type_) {
          v.elemType = t.get_int32();
        } else if (t.tag() == pb::TypeProto_Tensor::shape_) {
          v.hasShape = true;
          protozero::pbf_reader s(t.get_view());
          while (s.next(pb::TensorShapeProto::dim_))
            v.dims.push_back(dim(s.get_view()));
        } else {
          t.skip();
        }
      }
    }
  }

  Bytes file;
};

} // namespace

void detail::wrongWireType() { throw protozero::unknown_pbf_wire_type_exception(); }

const Attribute *Node::find(std::string_view attr) const {
  for (const Attribute &a : attributes)
    if (a.name == attr)
      return &a;
  return nullptr;
}

ModelFile readModel(Bytes file) {
  ModelFile m;
  Reader read(file);
  protozero::pbf_reader r(file);
  try {
    using namespace pb::ModelProto;
    while (r.next()) {
      switch (r.tag()) {
      case ir_version_: m.irVersion = r.get_int64(); break;
      case producer_name_: {
        Bytes v = r.get_view();
        m.producer = {v.data(), v.size()};
        break;
      }
      case opset_import_: m.opsets.push_back(read.opset(r.get_view())); break;
      case graph_: m.graph = read.graph(r.get_view(), 0); break;
      case functions_: m.functions.push_back(read.function(r.get_view())); break;
      default: r.skip();
      }
    }
  } catch (const protozero::exception &e) {
    fail(ErrorKind::Value, "not an ONNX model: " + std::string(e.what()) + " in field " + std::to_string(r.tag()) +
                               " of the model, before byte " + std::to_string(read.offsetOf(r.data().data())));
  }
  if (!m.irVersion)
    fail(ErrorKind::Value, "not an ONNX model: it has no ir_version");
  return m;
}

} // namespace torchc::onnx
