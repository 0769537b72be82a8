#include "compiler/import/Memory.h"
#include <numeric>

using namespace mlir;

namespace torchc::compiler {

Memory::Memory(const Trace &trace, OpBuilder &builder, Diag &diag)
    : trace(trace), builder(builder), diag(diag), slots(trace.values.size()), versions(trace.storages.size(), 0),
      roots(trace.storages.size(), traceNone), inputs(trace.storages.size(), -1), sameAs(trace.values.size()) {
  std::iota(sameAs.begin(), sameAs.end(), 0u);
}

Memory::Layout Memory::layoutOf(uint32_t value) const {
  const TraceValue &v = trace.values[value];
  Layout key = {v.storage, v.offset.raw};
  auto sizes = trace.sizesOf(v);
  auto strides = trace.stridesOf(v);
  int64_t step = 1;
  std::vector<int64_t> tail;
  for (int i = int(sizes.size()); i-- > 0;) {
    // Strides of size-1 dimensions don't matter (J5).
    int64_t stride = strides.empty() ? step : strides[size_t(i)].raw;
    tail.push_back(sizes[size_t(i)].raw == 1 ? 0 : stride);
    tail.push_back(sizes[size_t(i)].raw);
    step *= sizes[size_t(i)].raw;
  }
  key.insert(key.end(), tail.begin(), tail.end());
  return key;
}

SmallVector<Attr> Memory::attrsOf(uint32_t node) const {
  SmallVector<Attr> out;
  for (const TraceAttr &a : trace.attrsOf(trace.nodes[node]))
    out.push_back(trace.attr(a));
  return out;
}

void Memory::setRoot(uint32_t value, Value content) {
  uint32_t s = trace.values[value].storage;
  Slot &slot = slots[value];
  slot.content = content;
  slot.known = true;
  if (s == traceNone)
    return;
  slot.version = versions[s];
  if (roots[s] == traceNone)
    roots[s] = value;
  byLayout.emplace(layoutOf(value), value);
}

bool Memory::addInput(uint32_t value, int32_t input, Value argument, const std::vector<bool> &written) {
  uint32_t s = trace.values[value].storage;
  if (s != traceNone) {
    if (roots[s] != traceNone && written[s])
      return diag.fail(ErrorKind::NotImplemented, "two inputs share memory that the graph writes");
    if (inputs[s] < 0)
      inputs[s] = input;
  }
  setRoot(value, argument);
  return true;
}

bool Memory::define(uint32_t value, Value content) {
  uint32_t s = trace.values[value].storage;
  if (s != traceNone && roots[s] != traceNone)
    return diag.fail(ErrorKind::Internal, "value " + std::to_string(value) + " redefines its storage without a write");
  setRoot(value, content);
  return true;
}

/// May as_strided read the value that `parent` has in the graph? It counts row-major elements and stays within them.
bool Memory::stridesWithin(uint32_t parent, uint32_t node) const {
  const TraceValue &p = trace.values[parent];
  int64_t numel = 1;
  auto sizes = trace.sizesOf(p), strides = trace.stridesOf(p);
  for (size_t i = sizes.size(); i-- > 0; numel *= sizes[i].raw)
    if (!strides.empty() && sizes[i].raw != 1 && strides[i].raw != numel)
      return false;
  return stridedWithin(numel, attrsOf(node).data());
}

bool Memory::addView(uint32_t value, uint32_t parent, uint32_t node, OpId op) {
  std::string where = "node " + std::to_string(node) + " (" + std::string(trace.opName(trace.nodes[node].op)) + "): ";
  SmallVector<Attr> attrs = attrsOf(node);
  Diag wrong;
  if (!checkAttrs(opInfo(op), attrs.data(), int(attrs.size()), wrong))
    return diag.fail(wrong.kind, where + wrong.text);
  if (opInfo(op).shape == ShapeRule::AsStrided && !stridesWithin(parent, node))
    return diag.fail(ErrorKind::NotImplemented, where + "memory outside of a row-major operand");
  Slot &slot = slots[value];
  slot.parent = parent;
  slot.node = node;
  slot.op = op;
  slot.known = true;
  slot.version = ~0u; // nothing computed yet
  // A view with a layout that is known already (x.view(x.shape)) is another name of it.
  auto [at, fresh] = byLayout.emplace(layoutOf(value), value);
  if (!fresh && trace.values[at->second].dtype == trace.values[value].dtype)
    sameAs[value] = at->second;
  return true;
}

Value Memory::applyView(const Slot &view, Value parent, Location loc) {
  ir::ValueBuilder b(builder, loc);
  OpArg<Value> operand(parent);
  Value v = b.create(view.op, operand, attrsOf(view.node));
  if (!v)
    diag.fail(b.diag.kind, "node " + std::to_string(view.node) + " (" +
                               std::string(trace.opName(trace.nodes[view.node].op)) + "): " + b.diag.text);
  return v;
}

Value Memory::invertView(const Slot &view, Value parent, Value content, Location loc) {
  ir::ValueBuilder b(builder, loc);
  SmallVector<Attr> a = attrsOf(view.node);
  Dims parentDims = b.dims(parent);
  Value v;
  switch (opInfo(view.op).shape) {
  case ShapeRule::Reshape: v = b.op(OpId::Reshape, {content}, {rules::ints(parentDims)}); break;
  case ShapeRule::Transpose: v = b.op(OpId::Transpose, {content}, {a[0], a[1]}); break;
  case ShapeRule::Expand: // eager refuses to write to repeated elements, so at most new dimensions of size 1 came
    if (b.dims(content).numel() == parentDims.numel())
      v = b.op(OpId::Reshape, {content}, {rules::ints(parentDims)});
    else if (!b.dims(content).numel())
      v = parent;
    else
      diag.fail(ErrorKind::NotImplemented, "a write through expand() to elements that occur more than once");
    break;
  case ShapeRule::AsStrided: v = b.op(OpId::AsStridedUpdate, {parent, content}, {a[0], a[1], a[2]}); break;
  case ShapeRule::Slice: v = b.op(OpId::SliceUpdate, {parent, content}, {a[0], a[1], a[2], a[3]}); break;
  default:
    diag.fail(ErrorKind::NotImplemented, std::string("a write through ") + opInfo(view.op).name + "()");
    return Value();
  }
  if (!v && diag.ok())
    diag.fail(b.diag.kind, b.diag.text);
  return v;
}

Value Memory::read(uint32_t name, Location loc) {
  uint32_t value = sameAs[name];
  Slot &slot = slots[value];
  if (!slot.known) {
    diag.fail(ErrorKind::Internal, "value " + std::to_string(value) + " is read before it is defined");
    return Value();
  }
  if (slot.parent == traceNone)
    return slot.content;
  uint32_t s = trace.values[value].storage;
  if (slot.content && slot.version == versions[s])
    return slot.content;
  // The chain of views up to one whose content is known; it may be long.
  SmallVector<uint32_t> stale{value};
  uint32_t at = sameAs[slot.parent];
  while (slots[at].parent != traceNone && !(slots[at].content && slots[at].version == versions[s])) {
    stale.push_back(at);
    at = sameAs[slots[at].parent];
  }
  Value content = slots[at].content;
  for (uint32_t v : llvm::reverse(stale)) {
    content = slots[v].content = content ? applyView(slots[v], content, loc) : Value();
    slots[v].version = versions[s];
  }
  return content;
}

bool Memory::write(uint32_t value, Value content, Location loc) {
  auto target = byLayout.find(layoutOf(value));
  if (target == byLayout.end())
    return diag.fail(ErrorKind::NotImplemented, "a write to memory whose view the trace doesn't show");
  uint32_t at = sameAs[value] = target->second;
  if (Value old = read(value, loc); !old || old.getType() != content.getType())
    return diag.fail(ErrorKind::NotImplemented, "a write of another type than the memory's");
  while (slots[at].parent != traceNone) {
    Value parent = read(slots[at].parent, loc);
    content = parent ? invertView(slots[at], parent, content, loc) : Value();
    if (!content)
      return false;
    at = sameAs[slots[at].parent];
  }
  slots[at].content = content;
  slots[at].version = ++versions[trace.values[value].storage];
  return true;
}

Value Memory::content(uint32_t storage) const {
  return roots[storage] == traceNone ? Value() : slots[roots[storage]].content;
}

} // namespace torchc::compiler
