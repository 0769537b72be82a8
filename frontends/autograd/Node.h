// The one node type of the tape (design 6): an applied op with its edges, attributes and saved operands; a leaf's
// accumulation node; or a node with its own function (compiled graphs, custom functions).
#pragma once
#include "dialects/rules/OpInfo.h"
#include "frontends/eager/Tensor.h"
#include <functional>
#include <memory>
#include <vector>

namespace torchc {

enum class NodeKind : uint8_t { Op, Accumulate, Function };

/// Shape and type of an operand, kept only where they differ from the result's. One small block with its sizes.
struct OperandMeta {
  DType dtype;
  uint8_t rank;
  int64_t sizes[1]; // rank of them
  Dims dims() const { return Dims(sizes, rank); }
};
OperandMeta *newMeta(DType dtype, int rank, const int64_t *sizes);
void freeMeta(OperandMeta *m);

struct NodeInput {
  Node *next;             // owned; null: needs no gradient
  union {
    TensorImpl *saved;    // owned; null: not needed, or freed
    uint64_t bits;        // of a number operand
  };
  OperandMeta *meta;      // owned; null: as the result
  uint32_t version;       // of `saved`
  uint8_t outputNumber;   // of `next`
  uint8_t state;          // InputState bits
  uint8_t numberType;     // DType of a number operand
  uint8_t pad;
};
enum InputState : uint8_t { InputSaved = 1, InputNumber = 2 };

struct Leaf {
  TensorImpl *grad;     // owned
  TensorImpl *variable; // borrowed; null once it is gone
};

using TensorHook = std::function<Tensor(const Tensor &)>; // an undefined result keeps the gradient

/// What few nodes have.
struct NodeExtra {
  struct Hook {
    uint64_t id;
    int output;
    TensorHook fn;
  };
  std::vector<Hook> hooks;                 // on the cotangent of an output, in order of registration
  std::vector<std::pair<uint64_t, std::function<void(const Tensor &)>>> postAccumulate;
  bool retainGrad = false;
  Tensor retained;                         // .grad of a non-leaf
  std::unique_ptr<struct NodeFunction> function;
  int numOutputs = 1;
};

/// A backward of its own. Undefined cotangents stay undefined.
struct NodeFunction {
  virtual ~NodeFunction() = default;
  /// Shown as grad_fn's name.
  virtual std::string name() const = 0;
  /// One gradient per input; those of inputs with needed[i] false are ignored.
  virtual std::vector<Tensor> apply(const std::vector<Tensor> &cotangents, const std::vector<bool> &needed) = 0;
  /// The graph is freed: drop what was saved; a later apply must report backwardTwice().
  virtual void releaseSaved() {}
};

struct alignas(64) Node {
  RefCount refs;
  OpId op;
  uint64_t sequence; // 0 for leaves: they run last
  TensorImpl *grad;  // running cotangent while a backward pass that owns the slot runs; link while freeing
  TensorImpl *result; // owned alias of the result, without node
  uint32_t resultVersion;
  std::atomic<uint32_t> slotOwner; // pass that owns `grad`, 0: none
  uint32_t modeFlags; // the thread's when it was recorded
  uint16_t numInputs;
  NodeKind kind;
  uint8_t state; // NodeState bits
  Attr *attrs;   // owned with their lists, in one block
  NodeExtra *extra;

  NodeInput *inputs() { return reinterpret_cast<NodeInput *>(this + 1); }
  Leaf &leaf() { return *reinterpret_cast<Leaf *>(this + 1); }
  NodeExtra &more() {
    if (!extra)
      extra = new NodeExtra;
    return *extra;
  }
  int numOutputs() const { return extra ? extra->numOutputs : 1; }
};
enum NodeState : uint8_t { NodeFreed = 1, NodeSavesResult = 2 };
static_assert(sizeof(Node) == 64 && sizeof(NodeInput) == 32);

/// Zeroed inputs, the next sequence number, the thread's modes.
Node *newNode(NodeKind kind, OpId op, int numInputs);
/// Frees graphs of any depth without recursion.
void releaseSlow(Node *n);
inline void release(Node *n) {
  if (n->refs.decrement())
    releaseSlow(n);
}
inline Node *retain(Node *n) {
  n->refs.increment();
  return n;
}
/// Drops saved tensors; using them afterwards is the error "a second time".
void freeSaved(Node *n);
/// Copies attributes and the lists they borrow.
void setAttrs(Node *n, const Attr *attrs, int count);

/// The accumulation node of a leaf, made if there is none; borrowed.
Node *leafNode(TensorImpl *t);
/// "AddBackward0", as PyTorch shows grad_fn.
std::string nodeName(const Node *n);

} // namespace torchc
