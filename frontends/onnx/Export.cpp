#include "frontends/onnx/Export.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/onnx/GraphBuilder.h"
#include "frontends/onnx/Schema.h"
#include <cstring>

namespace torchc::onnx {
namespace {

/// Turns a trace into values: a view is computed again when its storage was written since. Writes to part of a storage
/// are refused.
class Exporter {
public:
  Exporter(const Trace &trace, const SavedProgram &program, const ExportOptions &o, GraphBuilder &b)
      : trace(trace), program(program), options(o), b(b) {
    slots.resize(trace.values.size());
    versions.assign(trace.storages.size(), 0);
    roots.assign(trace.storages.size(), traceNone);
    writes.assign(trace.nodes.size(), false);
    for (const TraceEffect &e : trace.effects) {
      if (e.kind == EffectKind::Write)
        writes[e.node] = true;
      else
        refuse(e.node, e.kind == EffectKind::Random ? "random numbers; call eval() on a model with dropout first"
                                                    : "reseeding inside the program");
    }
  }

  std::string run() {
    inputs();
    for (uint32_t i = 0; i < trace.nodes.size(); i++)
      node(i);
    for (size_t i = 0; i < trace.outputs.size(); i++) {
      std::string name = i < options.outputNames.size() ? options.outputNames[i]
                         : trace.outputs.size() == 1    ? "output"
                                                        : "output" + std::to_string(i);
      b.output(read(trace.outputs[i].value), name);
    }
    return b.finish(options.graphName);
  }

  /// The nodes of a subgraph on given inputs.
  std::vector<OutValue> body(const std::vector<OutValue> &given) {
    for (size_t i = 0; i < trace.inputs.size(); i++)
      define(trace.inputs[i].value, given[i]);
    for (uint32_t i = 0; i < trace.nodes.size(); i++)
      node(i);
    std::vector<OutValue> results;
    for (const TraceOutput &o : trace.outputs)
      results.push_back(read(o.value));
    return results;
  }

private:
  struct Slot {
    OutValue value;
    uint32_t version = 0, parent = traceNone, node = traceNone;
  };

  std::string placeOf(uint32_t index) const {
    const TraceNode &n = trace.nodes[index];
    if (n.source == traceNone)
      return {};
    const TraceSource &s = trace.sources[n.source];
    return s.file + ":" + std::to_string(s.line);
  }
  [[noreturn]] void refuse(uint32_t index, const std::string &what) const {
    std::string place = placeOf(index);
    fail(ErrorKind::NotImplemented, "onnx.export(): " + what + " (" + std::string(trace.opName(trace.nodes[index].op)) +
                                        (place.empty() ? "" : " at " + place) + ")");
  }

  TensorType typeOf(uint32_t value) const {
    const TraceValue &v = trace.values[value];
    TensorType t{v.dtype, {}};
    for (TraceDim d : trace.sizesOf(v)) {
      if (d.isSymbol())
        fail(ErrorKind::NotImplemented, "onnx.export(): symbolic sizes");
      t.dims.push(d.raw);
    }
    return t;
  }

  void define(uint32_t value, OutValue v) {
    uint32_t s = trace.values[value].storage;
    if (s != traceNone) {
      roots[s] = value;
      slots[value].version = ++versions[s];
    }
    slots[value].value = v;
  }

  void inputs() {
    size_t argument = 0;
    for (const TraceInput &in : trace.inputs) {
      std::string name(in.name == traceNone ? "input" : trace.strings[in.name]);
      const SafeTensor *weight = program.weightOf(in);
      if (!weight) {
        if (argument < options.inputNames.size())
          name = options.inputNames[argument];
        argument++;
        define(in.value, b.input(name, typeOf(in.value)));
        continue;
      }
      InternalGuard quiet;
      Tensor t = empty(weight->shape, weight->dtype);
      if (!weight->data.empty())
        std::memcpy(t.data(), weight->data.data(), weight->data.size());
      define(in.value, b.initializer(name, t));
    }
  }

  bool sameLayout(uint32_t x, uint32_t y) const {
    const TraceValue &a = trace.values[x], &c = trace.values[y];
    auto equal = [](auto p, auto q) { return std::equal(p.begin(), p.end(), q.begin(), q.end()); };
    return a.storage == c.storage && a.offset == c.offset && equal(trace.sizesOf(a), trace.sizesOf(c)) &&
           equal(trace.stridesOf(a), trace.stridesOf(c));
  }

  OutValue read(uint32_t value) {
    uint32_t s = trace.values[value].storage;
    Slot &slot = slots[value];
    if (s == traceNone || slot.version == versions[s])
      return slot.value;
    if (roots[s] != traceNone && sameLayout(value, roots[s]))
      return slots[roots[s]].value;
    if (slot.parent == traceNone)
      fail(ErrorKind::Internal, "onnx.export(): value " + std::to_string(value) + " is unknown");
    OutValue parent = read(slot.parent);
    slot.value = compute(slot.node, {parent});
    slot.version = versions[s];
    return slot.value;
  }

  OutValue compute(uint32_t index, const std::vector<OutValue> &values) {
    const TraceNode &n = trace.nodes[index];
    OpId id = OpId(trace.ops[n.op].id);
    auto attrs = trace.attrsOf(n);
    const OpInfo &info = opInfo(id);
    std::vector<Attr> own;
    for (int i = 0; i < info.numAttrs && i < int(attrs.size()); i++)
      own.push_back(trace.attr(attrs[i]));
    std::vector<OpArg<OutValue>> operands;
    size_t number = info.numAttrs, next = 0;
    for (uint32_t in : trace.inputsOf(n)) {
      if (in != traceNone) {
        operands.push_back(values[next++]);
        continue;
      }
      Attr a = number < attrs.size() ? trace.attr(attrs[number++]) : Attr();
      if (a.tag != AttrTag::Int && a.tag != AttrTag::Float && a.tag != AttrTag::Bool)
        refuse(index, "a number that changes from run to run");
      operands.push_back(a);
    }
    b.at(placeOf(index));
    OutValue v = b.create(id, operands, own);
    uint32_t out = trace.outputsOf(n)[0];
    return b.cast(v, trace.values[out].dtype); // in-place results keep the target's type
  }

  /// A graph of a cond or while_loop on the inputs of its node.
  std::vector<OutValue> subgraph(uint32_t index, int which, const std::vector<OutValue> &inputs) {
    auto attrs = trace.attrsOf(trace.nodes[index]);
    Attr map = trace.attr(attrs[size_t(2 + which)]);
    std::vector<OutValue> given;
    for (uint32_t i = 0; i < map.size; i++)
      given.push_back(inputs.at(size_t(map.list[i])));
    return Exporter(trace.subgraphs[size_t(attrs[size_t(which)].bits)], program, options, b).body(given);
  }

  void cond(uint32_t index, const std::vector<OutValue> &in, const std::vector<TensorType> &types) {
    OutGraph graphs[2];
    for (int which = 0; which < 2; which++)
      graphs[which] = b.subgraph([&] {
        for (OutValue v : subgraph(index, which, in))
          b.output(v, "branch");
      });
    b.at(placeOf(index));
    keep(index, b.nodes("If", {in[0]}, types, {{"then_branch", graphs[0]}, {"else_branch", graphs[1]}}));
  }

  /// ONNX asks before the first round by an input and after each by the body's first result.
  void loop(uint32_t index, const std::vector<OutValue> &in, const std::vector<TensorType> &types) {
    OutGraph body = b.subgraph([&] {
      b.input("round", {DType::I64, {}});
      b.input("goes_on", {DType::Bool, {}});
      std::vector<OutValue> inside = in;
      for (size_t i = 0; i < types.size(); i++)
        inside[i] = b.input("carried", types[i]);
      std::vector<OutValue> next = subgraph(index, 1, inside);
      std::copy(next.begin(), next.end(), inside.begin());
      b.output(scalar(subgraph(index, 0, inside)[0]), "more");
      for (OutValue v : next)
        b.output(v, "next");
    });
    std::vector<OutValue> operands = {OutValue(), scalar(subgraph(index, 0, in)[0])};
    operands.insert(operands.end(), in.begin(), in.begin() + ptrdiff_t(types.size()));
    b.at(placeOf(index));
    keep(index, b.nodes("Loop", operands, types, {{"body", body}}));
  }

  OutValue scalar(OutValue v) { return b.dims(v).size() ? b.op(OpId::Reshape, {v}, {rules::ints(Dims())}) : v; }

  void keep(uint32_t index, const std::vector<OutValue> &results) {
    auto outputs = trace.outputsOf(trace.nodes[index]);
    for (size_t i = 0; i < outputs.size(); i++)
      define(outputs[i], results[i]);
  }

  void node(uint32_t index) {
    const TraceNode &n = trace.nodes[index];
    if (uint32_t op = trace.ops[n.op].id; (op == condOp || op == whileOp) && n.numAttrs == 7) {
      std::vector<OutValue> in;
      std::vector<TensorType> types;
      for (uint32_t v : trace.inputsOf(n))
        in.push_back(read(v));
      for (uint32_t v : trace.outputsOf(n))
        types.push_back(typeOf(v));
      return op == condOp ? cond(index, in, types) : loop(index, in, types);
    }
    if (trace.ops[n.op].id >= uint32_t(numOps) || n.numOutputs != 1)
      refuse(index, "an op that ONNX doesn't have");
    std::vector<OutValue> values;
    for (uint32_t in : trace.inputsOf(n))
      if (in != traceNone)
        values.push_back(read(in));
    uint32_t out = trace.outputsOf(n)[0];
    bool view = opInfo(OpId(trace.ops[n.op].id)).flags & OpIsView;
    OutValue v = compute(index, values);
    if (writes[index]) {
      uint32_t root = roots[trace.values[out].storage];
      if (root == traceNone || !sameLayout(out, root))
        refuse(index, "writing to a part of a tensor");
      if (!(b.dims(v) == typeOf(out).dims)) // copy_ and fill_ broadcast
        v = b.op(OpId::Expand, {v}, {rules::ints(typeOf(out).dims)});
      return define(out, v);
    }
    if (!view)
      return define(out, v);
    slots[out] = {v, versions[trace.values[out].storage], trace.inputsOf(n)[0], index};
  }

  const Trace &trace;
  const SavedProgram &program;
  const ExportOptions &options;
  GraphBuilder &b;
  std::vector<Slot> slots;                // by value
  std::vector<uint32_t> versions, roots;  // by storage
  std::vector<bool> writes;               // by node
};

} // namespace

std::string exportModel(const SavedProgram &program, const ExportOptions &options) {
  if (options.opset < 13 || options.opset > newestOpset())
    fail(ErrorKind::Value, "onnx.export(): opset_version " + std::to_string(options.opset) + ", expected 13 to " +
                               std::to_string(newestOpset()));
  GraphBuilder b(options.opset);
  return Exporter(program.trace, program, options, b).run();
}

} // namespace torchc::onnx
