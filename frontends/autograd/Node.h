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
  uint16_t outputNumber;  // of `next`
  uint8_t state;          // InputState bits
  uint8_t numberType;     // DType of a number operand
};
inline constexpr size_t mostOutputs = UINT16_MAX; // of a node
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

/// Backward passes of several threads exchange .grad, so that whoever reads it retains it under one lock with them.
Tensor gradOfLeaf(const Leaf &leaf);
/// Puts `grad` in its place; returns what was there.
Tensor exchangeGrad(Leaf &leaf, Tensor grad);

using TensorHook = std::function<Tensor(const Tensor &)>; // an undefined result keeps the gradient
using LeafHook = std::function<void(const Tensor &)>;
/// Before a node runs: may change the cotangents of its outputs. After: the gradients of its inputs.
using PreHook = std::function<void(std::vector<Tensor> &cotangents)>;
using PostHook = std::function<void(std::vector<Tensor> &gradients, const std::vector<Tensor> &cotangents)>;

/// A registered hook, shared by the node, the handle that removes it and the passes that run it; one function is set.
struct HookBody {
  Node *owner = nullptr; // null once removed; written under the lock of all hooks
  TensorHook onGrad;
  int output = 0; // of onGrad
  LeafHook onLeaf;
  PreHook before;
  PostHook after;
};
using HookHandle = std::weak_ptr<HookBody>;
using HookList = std::vector<std::shared_ptr<HookBody>>; // in order of registration
/// Gives a saved tensor back that hooks stored elsewhere.
using Unpack = std::function<Tensor()>;

/// What few nodes have.
struct NodeExtra {
  HookList hooks; // changed and copied under one lock: backward runs without the GIL (addHook, dropHook, hooksOf)
  std::vector<Unpack> packed;              // by input, then the result
  std::shared_ptr<void> metadata;          // grad_fn.metadata, and the forward call's traceback in anomaly mode
  struct Retained {
    int output;
    bool wanted; // by retain_grad()
    Tensor grad;
  };
  std::vector<Retained> retained; // .grad of non-leaves, by output
  std::unique_ptr<struct NodeFunction> function;
  int numOutputs = 1;

  ~NodeExtra();
  Retained *findRetained(int output) {
    for (Retained &r : retained)
      if (r.output == output)
        return &r;
    return nullptr;
  }
  Retained &retainedOf(int output) {
    Retained *found = findRetained(output);
    return found ? *found : retained.emplace_back(Retained{output, false, {}});
  }
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
  uint32_t numInputs;
  NodeKind kind;
  uint8_t state; // NodeState bits
  Attr *attrs;   // owned with their lists, in one block
  NodeExtra *extra;

  NodeInput *inputs() { return reinterpret_cast<NodeInput *>(this + 1); }
  Leaf &leaf() { return *reinterpret_cast<Leaf *>(this + 1); }
  NodeExtra &more() {
    NodeExtra *found = __atomic_load_n(&extra, __ATOMIC_ACQUIRE);
    if (found)
      return *found;
    auto *made = new NodeExtra; // two threads may want it at once
    if (__atomic_compare_exchange_n(&extra, &found, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return *made;
    delete made;
    return *found;
  }
  int numOutputs() const { return extra ? extra->numOutputs : 1; }
};
enum NodeState : uint8_t {
  NodeFreed = 1,
  NodeSavesResult = 2,
  NodePacksResult = 8, // NodeExtra::packed has it
  NodeOwnsLeaf = 4, // nobody but the graph knows the leaf any more: the node holds it, not it the node
  NodeLinked = 16 // recorded under LinkedScope
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

/// Zeroed inputs, the thread's next sequence number.
Node *newNode(NodeKind kind, OpId op, size_t numInputs);
/// Sets an edge to `next` (taken). Numbers are counted per thread; that of a consumer is above those of its producers,
/// wherever they were made, as the engine relies on.
inline void connect(Node *n, NodeInput &in, Node *next, int output) {
  in.next = next;
  in.outputNumber = uint16_t(output);
  if (TORCHC_UNLIKELY(next->sequence >= n->sequence))
    n->sequence = threadState.sequence = next->sequence + 1;
}
HookHandle addHook(Node *n, HookBody body);
/// False: it was removed before.
bool dropHook(const HookHandle &hook);
/// The hooks of now: what is removed while a pass runs them still runs in it.
HookList hooksOf(Node *n);
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
