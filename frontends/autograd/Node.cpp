#include "frontends/autograd/Node.h"
#include "runtime/core/ForkMutex.h"
#include <cstdlib>
#include <mutex>
#include <pthread.h>

namespace torchc {

AnomalyMode anomalyMode;

namespace {

size_t nodeBytes(NodeKind kind, size_t numInputs) {
  return kind == NodeKind::Accumulate ? sizeof(Node) + sizeof(Leaf) : sizeof(Node) + numInputs * sizeof(NodeInput);
}

void freeNode(Node *n) {
  size_t bytes = nodeBytes(n->kind, n->numInputs);
  if (bytes <= 1024)
    freeSmall(n, int((bytes + 63) / 64));
  else
    freeLarge(n, largeClass(bytes));
}

void dropInput(NodeInput &in) {
  if (!(in.state & InputNumber) && in.saved)
    release(
        std::exchange(in.saved, nullptr)); // before the edge, so that the tensor doesn't hold its node's last reference
  if (in.meta)
    freeMeta(in.meta);
}

// Nodes whose last reference went while another is being freed on this thread, linked through `grad`.
__thread Node *pendingFree __attribute__((tls_model("initial-exec"))) = nullptr;
__thread bool freeing __attribute__((tls_model("initial-exec"))) = false;

void freeContents(Node *n) {
  if (n->kind == NodeKind::Accumulate) {
    if (n->state & NodeOwnsLeaf) {
      n->leaf().variable->node = nullptr;
      release(n->leaf().variable);
    }
    if (n->leaf().grad)
      release(n->leaf().grad);
  } else
    for (uint32_t i = 0; i < n->numInputs; i++) {
      NodeInput &in = n->inputs()[i];
      dropInput(in);
      if (in.next)
        release(in.next);
    }
  if (n->result)
    release(n->result);
  std::free(n->attrs);
  delete n->extra;
  freeNode(n);
}

} // namespace

static int metaClass(int rank) {
  return int((offsetof(OperandMeta, sizes) + size_t(rank) * sizeof(int64_t) + 63) / 64);
}

OperandMeta *newMeta(DType dtype, int rank, const int64_t *sizes) {
  auto *m = static_cast<OperandMeta *>(allocSmall(metaClass(rank)));
  if (TORCHC_UNLIKELY(!m))
    outOfMemory(metaClass(rank) * 64);
  m->dtype = dtype;
  m->rank = uint8_t(rank);
  for (int i = 0; i < rank; i++)
    m->sizes[i] = sizes[i];
  return m;
}
void freeMeta(OperandMeta *m) { freeSmall(m, metaClass(m->rank)); }

Node *newNode(NodeKind kind, OpId op, size_t numInputs) {
  if (TORCHC_UNLIKELY(numInputs > UINT32_MAX))
    outOfMemory(int64_t(nodeBytes(kind, numInputs)));
  size_t bytes = nodeBytes(kind, numInputs);
  int blockClass;
  auto *n = static_cast<Node *>(bytes <= 1024 ? allocSmall(int((bytes + 63) / 64))
                                              : allocLarge(bytes, blockClass, /*exact=*/true));
  if (TORCHC_UNLIKELY(!n))
    outOfMemory(int64_t(bytes));
  std::memset(static_cast<void *>(n), 0, bytes);
  n->refs.init();
  n->op = op;
  n->sequence = kind == NodeKind::Accumulate ? 0 : ++threadState.sequence;
  n->numInputs = uint32_t(numInputs);
  n->kind = kind;
  if (TORCHC_UNLIKELY(anomalyMode.enabled.load(std::memory_order_relaxed)) && kind != NodeKind::Accumulate &&
      anomalyMode.created)
    anomalyMode.created(n);
  return n;
}

namespace {

/// One lock for the hooks of all nodes: they are few, and it is held for the copy of a list. Not left taken in a forked
/// child.
struct HookLock {
  std::mutex mutex;
  HookLock() {
    pthread_atfork([] { hookLock().lock(); }, [] { hookLock().unlock(); }, [] { hookLock().unlock(); });
  }
  static std::mutex &hookLock() {
    static HookLock *lock = new HookLock;
    return lock->mutex;
  }
};
std::mutex &installed = HookLock::hookLock();

} // namespace

HookHandle addHook(Node *n, HookBody body) {
  auto made = std::make_shared<HookBody>(std::move(body));
  made->owner = n;
  NodeExtra &extra = n->more();
  std::lock_guard guard(installed);
  extra.hooks.push_back(made);
  return made;
}

bool dropHook(const HookHandle &hook) {
  std::shared_ptr<HookBody> body = hook.lock(); // its function goes with the last reference, outside the lock
  if (!body)
    return false;
  std::lock_guard guard(installed);
  if (!body->owner)
    return false;
  std::erase(std::exchange(body->owner, nullptr)->extra->hooks, body);
  return true;
}

HookList hooksOf(Node *n) {
  if (!n->extra)
    return {};
  std::lock_guard guard(installed);
  return n->extra->hooks;
}

NodeExtra::~NodeExtra() {
  std::lock_guard guard(installed);
  for (const std::shared_ptr<HookBody> &h : hooks)
    h->owner = nullptr;
}

bool keptByNode(TensorImpl *t) {
  Node *n = t->node;
  if (!n || n->kind != NodeKind::Accumulate || n->leaf().variable != t || (n->state & NodeOwnsLeaf) ||
      n->refs.get() <= 1 || (t->flags & FlagPending))
    return false;
  t->refs.init();
  n->state |= NodeOwnsLeaf;
  if (n->refs.decrement()) { // the graph went meanwhile
    n->refs.init();
    n->state &= uint8_t(~NodeOwnsLeaf);
    return false;
  }
  return true;
}

void dropNode(TensorImpl *t) {
  Node *n = std::exchange(t->node, nullptr);
  if (!n)
    return;
  bool owner = n->kind == NodeKind::Accumulate && n->leaf().variable == t;
  if (owner)
    n->leaf().variable = nullptr;
  if (owner && (n->state & NodeOwnsLeaf)) {
    n->state &= uint8_t(~NodeOwnsLeaf);
    t->refs.decrement(); // not the last: the caller holds one
    return;
  }
  release(n);
}

void releaseSlow(Node *n) {
  if (n->kind == NodeKind::Accumulate && (n->state & NodeOwnsLeaf) && n->leaf().variable->refs.get() > 1) {
    n->refs.init(); // somebody got the leaf back: it holds the node again
    n->state &= uint8_t(~NodeOwnsLeaf);
    n->leaf().variable->refs.decrement();
    return;
  }
  n->grad = reinterpret_cast<TensorImpl *>(pendingFree);
  pendingFree = n;
  if (freeing)
    return; // an outer call drains the list
  freeing = true;
  while (Node *m = pendingFree) {
    pendingFree = reinterpret_cast<Node *>(m->grad);
    freeContents(m);
  }
  freeing = false;
}

void freeSaved(Node *n) {
  if (n->kind == NodeKind::Accumulate)
    return;
  for (uint32_t i = 0; i < n->numInputs; i++) {
    NodeInput &in = n->inputs()[i];
    if (!(in.state & InputNumber) && in.saved)
      release(std::exchange(in.saved, nullptr));
  }
  if (n->result)
    release(std::exchange(n->result, nullptr));
  if (n->extra) {
    n->extra->packed.clear();
    if (n->extra->function)
      n->extra->function->releaseSaved();
  }
  n->state |= NodeFreed;
}

void setAttrs(Node *n, const Attr *attrs, int count) {
  if (!count)
    return;
  auto payload = [](const Attr &a) -> size_t {
    return a.tag == AttrTag::IntList ? a.size * sizeof(int64_t) : a.tag == AttrTag::Str ? (a.size + 7u) & ~7u : 0;
  };
  size_t bytes = size_t(count) * sizeof(Attr);
  for (int i = 0; i < count; i++)
    bytes += payload(attrs[i]);
  auto *copy = static_cast<Attr *>(std::malloc(bytes));
  if (!copy)
    outOfMemory(int64_t(bytes));
  char *room = reinterpret_cast<char *>(copy + count);
  for (int i = 0; i < count; i++) {
    copy[i] = attrs[i];
    if (attrs[i].tag != AttrTag::IntList && attrs[i].tag != AttrTag::Str)
      continue;
    size_t length = attrs[i].tag == AttrTag::IntList ? attrs[i].size * sizeof(int64_t) : attrs[i].size;
    if (length)
      std::memcpy(room, attrs[i].str, length);
    copy[i].str = room;
    room += payload(attrs[i]);
  }
  n->attrs = copy;
}

Node *leafNode(TensorImpl *t) {
  if (!t->node) {
    t->node = newNode(NodeKind::Accumulate, OpId::NumOps, 0);
    t->node->leaf().variable = t;
  }
  return t->node;
}

std::string nodeName(const Node *n) {
  if (n->kind == NodeKind::Accumulate)
    return "AccumulateGrad";
  if (n->kind == NodeKind::Function)
    return n->extra->function->name();
  std::string out;
  bool upper = true;
  const OpInfo &info = opInfo(n->op);
  for (const char *p = *info.gradName ? info.gradName : info.name; *p; p++) {
    if (*p == '_') {
      upper = true;
      continue;
    }
    out += upper ? char(std::toupper(*p)) : *p;
    upper = false;
  }
  return out + "Backward0";
}

static const ForkMutex gradients{LockOrder::Gradients};

Tensor gradOfLeaf(const Leaf &leaf) {
  std::lock_guard<std::mutex> lock(gradients);
  return Tensor::borrow(leaf.grad);
}

Tensor exchangeGrad(Leaf &leaf, Tensor grad) {
  std::lock_guard<std::mutex> lock(gradients);
  return Tensor(std::exchange(leaf.grad, grad.take()));
}

} // namespace torchc
