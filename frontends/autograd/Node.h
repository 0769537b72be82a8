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
enum InputState : uint8_t {
  InputSaved = 1,
  InputNumber = 2,
  InputOverwritten = 4, // what an in-place op left nothing of: its gradient is zeros
  InputPacked = 8 // saved through hooks: NodeExtra::packed
};

struct Leaf {
  TensorImpl *grad;     // owned
  TensorImpl *variable; // borrowed, or owned under NodeOwnsLeaf; null once it lost its role
};

using TensorHook = std::function<Tensor(const Tensor &)>; // an undefined result keeps the gradient
using LeafHook = std::function<void(const Tensor &)>;
/// Before a node runs: may change the cotangents of its outputs. After: the gradients of its inputs.
using PreHook = std::function<void(std::vector<Tensor> &cotangents)>;
using PostHook = std::function<void(std::vector<Tensor> &gradients, const std::vector<Tensor> &cotangents)>;

/// A registered hook, shared by the node and by the handle that removes it; one function is set, none once removed.
struct HookBody {
  TensorHook onGrad;
  int output = 0; // of onGrad
  LeafHook onLeaf;
  PreHook before;
  PostHook after;
  bool removed() const { return !onGrad && !onLeaf && !before && !after; }
};
using HookHandle = std::weak_ptr<HookBody>;
/// Gives a saved tensor back that hooks stored elsewhere.
using Unpack = std::function<Tensor()>;

/// What few nodes have.
struct NodeExtra {
  std::vector<std::shared_ptr<HookBody>> hooks; // in order of registration
  std::vector<Unpack> packed;              // by input, then the result
  std::shared_ptr<void> metadata;          // grad_fn.metadata, and the forward call's traceback in anomaly mode
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
enum NodeState : uint8_t {
  NodeFreed = 1,
  NodeSavesResult = 2,
  NodePacksResult = 8, // NodeExtra::packed has it
  NodeOwnsLeaf = 4 // nobody but the graph knows the leaf any more: the node holds it, not it the node
};
static_assert(sizeof(Node) == 64 && sizeof(NodeInput) == 32);

/// torch.autograd.set_detect_anomaly: the binding notes where nodes are made and shows it when one fails.
struct AnomalyMode {
  std::atomic<bool> enabled{false};
  bool checkNan = true;
  void (*created)(Node *) = nullptr;
  void (*failed)(Node *) = nullptr;
};
extern AnomalyMode anomalyMode;

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
/// The last reference to `t` is about to go. True: a graph still leads to this leaf, and its node holds it from now on.
bool keptByNode(TensorImpl *t);
/// Takes t's node away and releases it; `t` must be held by the caller.
void dropNode(TensorImpl *t);
/// "AddBackward0", as PyTorch shows grad_fn.
std::string nodeName(const Node *n);

} // namespace torchc
