#include "frontends/onnx/ops/Ops.h"

namespace torchc::onnx {
namespace {

void branch(NodeRun &n) {
  std::vector<Value> out = n.runGraph(n.integer(0) ? "then_branch" : "else_branch", {});
  if (out.size() != n.numOutputs())
    n.invalid("the branch gives " + std::to_string(out.size()) + " results, expected " +
              std::to_string(n.numOutputs()));
  for (size_t i = 0; i < out.size(); i++)
    n.setValue(i, std::move(out[i]));
}

/// What must be a tensor: a model may give a sequence, or an output that nothing sets.
Tensor tensorOf(const NodeRun &n, const Value &v) {
  if (!v.tensor.defined())
    n.invalid("a sequence or nothing where a tensor is expected");
  return v.tensor;
}

/// No rows at all, of the type and the sizes that the graph declares.
Tensor noRows(const ValueInfo &info) {
  std::vector<int64_t> shape{0};
  for (const Dim &d : info.dims)
    shape.push_back(std::max<int64_t>(d.value, 0));
  return zeros(shape, info.elemType ? dtypeOfOnnx(info.elemType, info.name) : DType::F32);
}

void loop(NodeRun &n) {
  int64_t trips = n.has(0) ? n.integer(0) : INT64_MAX;
  bool go = !n.has(1) || n.integer(1);
  size_t carried = n.numInputs() - std::min<size_t>(n.numInputs(), 2), scans = n.numOutputs() - carried;
  if (n.numOutputs() < carried)
    n.invalid(std::to_string(n.numOutputs()) + " outputs for " + std::to_string(carried) + " loop values");
  std::vector<Value> state;
  for (size_t i = 0; i < carried; i++)
    state.push_back(n.value(2 + i));
  std::vector<std::vector<Tensor>> rows(scans);
  for (int64_t i = 0; go && i < trips; i++) {
    std::vector<Value> in(2);
    in[0].tensor = intNumber(i);
    in[1].tensor = full({}, true, DType::Bool);
    in[0].known = in[1].known = Known::Shape;
    in.insert(in.end(), state.begin(), state.end());
    std::vector<Value> out = n.runGraph("body", std::move(in));
    if (out.size() != 1 + carried + scans)
      n.invalid("the body gives " + std::to_string(out.size()) + " results, expected " +
                std::to_string(1 + carried + scans));
    go = n.truth(out[0]);
    for (size_t k = 0; k < carried; k++)
      state[k] = std::move(out[1 + k]);
    for (size_t k = 0; k < scans; k++)
      rows[k].push_back(tensorOf(n, out[1 + carried + k]));
  }
  for (size_t k = 0; k < carried; k++)
    n.setValue(k, state[k]);
  for (size_t k = 0; k < scans; k++)
    n.set(carried + k, rows[k].empty() ? noRows(n.graphOutput("body", 1 + carried + k)) : stack(rows[k], 0));
}

void scan(NodeRun &n) {
  if (n.version() < 9)
    n.unsupported("version 8 of Scan");
  size_t inputs = size_t(n.intAttr("num_scan_inputs")), carried = n.numInputs() - inputs;
  if (inputs < 1 || inputs > n.numInputs() || n.numOutputs() < carried)
    n.invalid("num_scan_inputs of " + std::to_string(inputs));
  size_t outputs = n.numOutputs() - carried;
  auto listed = [&](const char *name, size_t count) { return n.intsAttr(name, std::vector<int64_t>(count, 0)); };
  std::vector<int64_t> axes = listed("scan_input_axes", inputs), back = listed("scan_input_directions", inputs);
  std::vector<int64_t> outAxes = listed("scan_output_axes", outputs),
                       outBack = listed("scan_output_directions", outputs);
  if (axes.size() != inputs || back.size() != inputs || outAxes.size() != outputs || outBack.size() != outputs)
    n.invalid("axes or directions of another number than the scanned values");
  std::vector<Value> state;
  for (size_t i = 0; i < carried; i++)
    state.push_back(n.value(i));
  std::vector<std::vector<Tensor>> rows(outputs);
  int64_t steps = -1;
  for (size_t k = 0; k < inputs; k++) {
    Tensor x = n.tensor(carried + k);
    axes[k] = axisOf(n, axes[k], x.dim());
    int64_t size = x.sizes()[size_t(axes[k])];
    if (steps >= 0 && size != steps)
      n.invalid("scanned inputs of lengths " + std::to_string(steps) + " and " + std::to_string(size));
    steps = size;
  }
  for (int64_t i = 0; i < steps; i++) {
    std::vector<Value> in = state;
    for (size_t k = 0; k < inputs; k++) {
      Value row;
      row.tensor = select(n.tensor(carried + k), axes[k], back[k] ? steps - 1 - i : i);
      row.known = n.value(carried + k).known;
      in.push_back(row);
    }
    std::vector<Value> out = n.runGraph("body", std::move(in));
    if (out.size() != carried + outputs)
      n.invalid("the body gives " + std::to_string(out.size()) + " results, expected " +
                std::to_string(carried + outputs));
    for (size_t k = 0; k < carried; k++)
      state[k] = out[k];
    for (size_t k = 0; k < outputs; k++)
      rows[k].insert(outBack[k] ? rows[k].begin() : rows[k].end(), tensorOf(n, out[carried + k]));
  }
  for (size_t k = 0; k < carried; k++)
    n.setValue(k, state[k]);
  for (size_t k = 0; k < outputs; k++)
    n.set(carried + k, rows[k].empty() ? noRows(n.graphOutput("body", carried + k)) : stack(rows[k], outAxes[k]));
}

void sequenceConstruct(NodeRun &n) {
  Value v;
  v.sequence = std::make_shared<std::vector<Value>>();
  for (size_t i = 0; i < n.numInputs(); i++)
    v.sequence->push_back(n.value(i));
  n.setValue(0, v);
}
void sequenceEmpty(NodeRun &n) {
  Value v;
  v.sequence = std::make_shared<std::vector<Value>>();
  n.setValue(0, v);
}
const std::vector<Value> &sequenceOf(NodeRun &n, size_t i) {
  if (!n.value(i).sequence)
    n.invalid("input " + std::to_string(i) + " is no sequence");
  return *n.value(i).sequence;
}
size_t placeIn(NodeRun &n, size_t input, size_t size, size_t otherwise, size_t most) {
  int64_t at = n.has(input) ? n.integer(input) : int64_t(otherwise), wrapped = at < 0 ? at + int64_t(size) : at;
  if (wrapped < 0 || int64_t(most) < wrapped)
    n.invalid("position " + std::to_string(at) + " of a sequence of " + std::to_string(size));
  return size_t(wrapped);
}
void sequenceAt(NodeRun &n) {
  const std::vector<Value> &s = sequenceOf(n, 0);
  n.setValue(0, s[placeIn(n, 1, s.size(), 0, s.size() - 1)]);
}
void sequenceInsert(NodeRun &n) {
  Value v;
  v.sequence = std::make_shared<std::vector<Value>>(sequenceOf(n, 0));
  v.sequence->insert(v.sequence->begin() +
                         int64_t(placeIn(n, 2, v.sequence->size(), v.sequence->size(), v.sequence->size())),
                     n.value(1));
  n.setValue(0, v);
}
void sequenceErase(NodeRun &n) {
  Value v;
  v.sequence = std::make_shared<std::vector<Value>>(sequenceOf(n, 0));
  size_t size = v.sequence->size();
  v.sequence->erase(v.sequence->begin() + int64_t(placeIn(n, 1, size, size - 1, size - 1)));
  n.setValue(0, v);
}
void sequenceLength(NodeRun &n) { n.set(intNumber(int64_t(sequenceOf(n, 0).size()))); }
void concatFromSequence(NodeRun &n) {
  std::vector<Tensor> parts;
  for (const Value &v : sequenceOf(n, 0))
    parts.push_back(tensorOf(n, v));
  if (parts.empty())
    n.invalid("an empty sequence");
  int64_t axis = n.intAttr("axis");
  n.set(n.intAttr("new_axis") ? stack(parts, axis) : cat(parts, axis));
}
void splitToSequence(NodeRun &n) {
  Tensor x = n.tensor(0);
  int64_t axis = axisOf(n, n.intAttr("axis"), x.dim());
  std::vector<Tensor> parts;
  if (!n.has(1)) {
    parts = split(x, 1, axis);
    if (!n.intAttr("keepdims"))
      for (Tensor &p : parts)
        p = squeeze(p, axis);
  } else if (n.tensor(1).dim() == 0) {
    parts = split(x, n.integer(1), axis);
  } else {
    parts = split_with_sizes(x, n.ints(1), axis);
  }
  Value v;
  v.sequence = std::make_shared<std::vector<Value>>();
  for (Tensor &p : parts) {
    Value item;
    item.tensor = p;
    v.sequence->push_back(item);
  }
  n.setValue(0, v);
}

const HandlerRow rows[] = {
    {"If", branch},
    {"Loop", loop},
    {"Scan", scan},
    {"SequenceConstruct", sequenceConstruct},
    {"SequenceEmpty", sequenceEmpty},
    {"SequenceAt", sequenceAt},
    {"SequenceInsert", sequenceInsert},
    {"SequenceErase", sequenceErase},
    {"SequenceLength", sequenceLength, SizesOnly},
    {"ConcatFromSequence", concatFromSequence},
    {"SplitToSequence", splitToSequence},
};

} // namespace

Rows controlRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
