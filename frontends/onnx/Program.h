// A model ready to run: nodes checked against their schemas, names resolved to slots, constants read. Running it calls
// the eager API node by node, so it is eager, differentiable, and recorded by the tracer as any other program is.
#pragma once
#include "frontends/onnx/MappedFile.h"
#include "frontends/onnx/Model.h"
#include "frontends/onnx/Schema.h"
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace torchc::onnx {

/// What is known of a value while a program is recorded.
enum class Known : uint8_t {
  No,      // depends on the numbers in the inputs
  Shape,   // depends on the sizes of the inputs alone
  Always   // the same in every run
};

/// A tensor, a sequence of values, or nothing (an optional input that is left out).
struct Value {
  Tensor tensor;
  std::shared_ptr<std::vector<Value>> sequence;
  Known known = Known::No;
  bool trained = false; // a weight, or made of one, whose gradient is asked for
  bool present() const { return tensor.defined() || sequence; }
};

class NodeRun;
using Handler = void (*)(NodeRun &);
enum HandlerFlag : uint8_t {
  SizesOnly = 1, // the result depends on sizes and types of the operands alone
  Random = 2     // other numbers in every run
};
struct HandlerRow {
  std::string_view op;
  Handler run;
  uint8_t flags = 0;
  std::string_view domain = {};
};
/// Null when torchc has no such operator.
const HandlerRow *findHandler(std::string_view domain, std::string_view op);

struct Block;

/// Where a value lies: slot of the block `up` levels out. -1: absent.
struct Place {
  int32_t slot = -1;
  uint16_t up = 0;
};

struct Step {
  const Node *node = nullptr;
  const SchemaRow *schema = nullptr; // null for a function or an operator of another domain than ONNX's
  const HandlerRow *handler = nullptr;
  std::shared_ptr<Block> function;   // a model's own function instead of a handler
  std::vector<Place> inputs, outputs;
  std::vector<std::shared_ptr<Block>> graphs; // of its attributes, in their order
  std::vector<int32_t> dead;         // slots that nothing reads afterwards
  bool fixed = false;                // all it needs is known: computed once
  std::vector<Value> once;
};

/// A graph with its names resolved.
struct Block {
  const Graph *graph = nullptr;      // null: a function's
  std::string name;
  std::vector<int32_t> inputs;
  std::vector<Place> outputs;
  std::vector<std::pair<int32_t, Value>> constants;
  std::vector<Step> steps;
  int32_t numSlots = 0;
};

/// Slots of a block that runs, inside those of the blocks around it.
struct Frame {
  std::vector<Value> slots;
  Frame *up = nullptr;
  Value &at(Place p) {
    Frame *f = this;
    for (int i = 0; i < p.up; i++)
      f = f->up;
    return f->slots[size_t(p.slot)];
  }
};

class Program {
public:
  /// Reads and checks. `folder` holds external data ("": there is none). Throws Error.
  static std::unique_ptr<Program> load(MappedFile bytes, const std::string &folder);
  static std::unique_ptr<Program> loadFile(const std::string &path);

  const std::vector<ValueInfo> &inputs() const { return inputInfo; } // without those that have an initializer
  const std::vector<ValueInfo> &outputs() const { return file.graph.outputs; }
  int64_t opset() const { return opsetOf({}); }
  int64_t opsetOf(std::string_view domain) const;
  /// Weights by name: what a caller may train or replace.
  std::vector<std::pair<std::string, Tensor>> weights() const;
  /// From now on a run computes anew what is made of floating-point weights, for a recording to differentiate.
  void trainWeights() { training = true; }

  /// One value per input; checks types and sizes.
  std::vector<Value> run(const std::vector<Value> &inputs);

private:
  friend class Builder;
  friend class NodeRun;
  std::vector<Value> runBlock(Block &b, std::vector<Value> inputs, Frame *up);
  void runStep(Step &s, Frame &frame);
  uint64_t stateOfConstants() const;
  void keep(const std::vector<Value> &results);
  void ownMemory(Value &v) const;
  static void forget(Block &b);
  void check(const ValueInfo &info, const Value &v, std::unordered_map<std::string_view, int64_t> &sizes) const;

  bool training = false;
  uint64_t state = 0; // of the constants when what depends on them alone was computed
  std::unordered_set<Storage *> kept; // of what is computed once
  MappedFile bytes;
  std::string folder;
  ModelFile file;
  std::vector<ValueInfo> inputInfo;
  std::shared_ptr<Block> main;
  std::vector<std::shared_ptr<Node>> boundNodes; // of functions, with a call's attributes
};

/// One execution of a node: its operands, attributes and results, as handlers see them.
class NodeRun {
public:
  NodeRun(Program &program, Step &step, Frame &frame, std::vector<Value> in)
      : program(program), step(step), frame(frame), in(std::move(in)), out(step.node->outputs.size()) {}

  /// The version of the operator that the model means.
  int version() const { return step.schema ? step.schema->since : 1; }
  size_t numInputs() const { return in.size(); }
  size_t numOutputs() const { return out.size(); }
  bool has(size_t i) const { return i < in.size() && in[i].present(); }
  bool wants(size_t i) const { return i < out.size() && !step.node->outputs[i].empty(); }
  /// Value error naming the node when it is absent or no tensor.
  Tensor tensor(size_t i) const;
  OptTensor optional(size_t i) const { return has(i) ? tensor(i) : Tensor(); }
  const Value &value(size_t i) const { return in[i]; }
  std::vector<Tensor> tensors(size_t from = 0) const;
  /// The numbers in a 0-d or 1-d integer tensor.
  std::vector<int64_t> ints(size_t i) const;
  int64_t integer(size_t i) const;
  double number(size_t i) const;
  /// A condition that a graph computed: one element that isn't 0.
  bool truth(const Value &v) const;
  std::vector<double> numbers(size_t i) const;

  bool hasAttr(std::string_view name) const { return step.node->find(name); }
  int64_t intAttr(std::string_view name, int64_t otherwise = 0) const;
  double floatAttr(std::string_view name, double otherwise = 0) const;
  std::string_view textAttr(std::string_view name, std::string_view otherwise = {}) const;
  std::vector<int64_t> intsAttr(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<double> floatsAttr(std::string_view name) const;
  std::vector<std::string_view> textsAttr(std::string_view name) const;
  Tensor tensorAttr(std::string_view name) const;
  /// The type whose number an attribute holds.
  DType dtypeAttr(std::string_view name) const;

  void set(Tensor t) { set(0, std::move(t)); }
  void set(size_t i, Tensor t) {
    if (i < out.size())
      out[i].tensor = std::move(t);
  }
  void setValue(size_t i, Value v) {
    if (i < out.size())
      out[i] = std::move(v);
  }

  /// Runs the graph of an attribute.
  std::vector<Value> runGraph(std::string_view attr, std::vector<Value> inputs);
  /// What the graph of an attribute says of a result.
  const ValueInfo &graphOutput(std::string_view attr, size_t i) const;

  /// Errors naming the node.
  [[noreturn]] void invalid(const std::string &text) const;      // Value
  [[noreturn]] void unsupported(const std::string &text) const;  // NotImplemented
  std::string title() const;

  std::vector<Value> takeResults() { return std::move(out); }

private:
  Block &block(std::string_view attr) const;
  Tensor readable(const Value &v, DType t) const;
  Program &program;
  Step &step;
  Frame &frame;
  std::vector<Value> in, out;
};

/// Text for messages: the node's operator, name and outputs.
std::string titleOf(const Node &n);

} // namespace torchc::onnx
