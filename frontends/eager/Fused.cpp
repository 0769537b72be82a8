// Fused ops by their decomposition (rules/Decompose.h), run unseen by tape and tracer; by blocks of rows where these don't
// depend on each other.
#include "dialects/rules/Decompose.h"
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/eager/Blocks.h"
#include "frontends/eager/Families.h"
#include "runtime/core/Storage.h"

namespace torchc {

static EagerValue decomposed(const Resolved &r, const EagerValue *operands, const Attr *attrs, uint8_t device) {
  EagerBuilder builder{device};
  EagerValue v = decompose(r.call.op, builder, operands, attrs, r.type.dtype);
  if (!v.tensor.defined())
    fail(ErrorKind::NotImplemented, std::string(r.info.name) + "(): no decomposition");
  return v;
}

namespace {

constexpr int64_t mostRowBytes = 256 << 10;

/// A call on rows of `inner` elements, the sizes [rows, tail]; the attributes count dimensions from the rows' on.
struct Rows {
  int64_t rows = 0, inner = 1;
  Dims tail;
  bool reduces = false; // the result has one element a row
  int64_t axes[maxRank];
  Attr attrs[2];

  bool setTail(const TensorImpl *x, int first) {
    for (int i = first; i < x->rank; i++) {
      tail.push(x->sizes()[i]);
      inner *= x->sizes()[i];
      axes[i - first] = i - first + 1;
    }
    rows = inner ? x->numel / inner : 0;
    return first > 0;
  }
  Attr allAxes() const { return Attr::ints(axes, uint32_t(tail.size())); }
};

bool isTail(const Attr &dims, int rank) {
  for (uint32_t i = 0; i < dims.size; i++)
    if (dims.list[i] != rank - int(dims.size) + int(i))
      return false;
  return dims.size > 0;
}

/// Is the call one on rows of operand 0, along which the other operands run?
bool asRows(const Resolved &r, Rows &out) {
  const TensorImpl *x = r.operand(0);
  if (!(r.info.flags & OpByRows) || !x->rank)
    return false;
  const Attr &along = r.call.attrs[0];
  int64_t dim = along.i < 0 ? along.i + x->rank : along.i;
  Attr dims = along.tag == AttrTag::IntList ? along : Attr::ints(&dim, 1);
  if (!isTail(dims, x->rank) || !out.setTail(x, x->rank - int(dims.size)))
    return false;
  out.attrs[0] = along.tag == AttrTag::IntList ? out.allAxes() : Attr::integer(1);
  out.reduces = r.info.shape == ShapeRule::Reduce;
  if (r.call.numAttrs > 1)
    out.attrs[1] = out.reduces ? Attr::boolean(false) : r.call.attrs[1];
  for (int i = 1; i < r.call.numOperands; i++)
    if (r.operand(i)->rank > out.tail.size())
      return false;
  return r.call.numAttrs <= 2;
}

/// The result by blocks; nothing where the call isn't one on rows, or not worth it.
TensorImpl *runByBlocks(const Resolved &r) {
  TensorImpl *x = r.operand(0);
  Rows rows;
  if (x->device || threadState.abstract || !isFloat(x->dtype) || !x->contiguous() || !asRows(r, rows))
    return nullptr;
  int64_t rowBytes = rows.inner * std::max<int64_t>(itemSize(x->dtype), 4);
  if (!rowBytes || rowBytes > mostRowBytes)
    return nullptr;
  int64_t each = std::max<int64_t>(1, blockBytes / rowBytes);
  if (rows.rows <= each)
    return nullptr;
  Tensor out(newTensor(r.type.dtype, r.type.dims));
  Dims outTail = rows.reduces ? Dims() : rows.tail;
  eachBlock(rows.rows, each, [&](int64_t first, int64_t n) {
    EagerValue operands[maxFixedOperands];
    operands[0] = EagerValue(rowsOf(x, first, n, rows.tail));
    for (int i = 1; i < r.call.numOperands; i++)
      operands[i] = EagerValue(Tensor::borrow(r.operand(i)));
    EagerValue v = decomposed(r, operands, rows.attrs, 0);
    copyInto(rowsOf(out.impl(), first, n, outTail).impl(), v.tensor.impl());
  });
  return out.take();
}

} // namespace

TensorImpl *runFused(Resolved &r) {
  InternalGuard guard;
  if (TensorImpl *out = r.operand(0) ? runByBlocks(r) : nullptr)
    return out;
  EagerValue operands[maxFixedOperands];
  for (int i = 0; i < r.call.numOperands; i++)
    operands[i] = EagerValue(Tensor::borrow(r.operand(i)));
  EagerValue v = decomposed(r, operands, r.call.attrs, r.operand(0) ? r.operand(0)->device : uint8_t(0));
  // A decomposition may hand an operand back (nothing to normalise): the result is a tensor of its own.
  for (int i = 0; i < r.call.numOperands; i++)
    if (v.tensor.same(operands[i].tensor) || v.tensor->storage == operands[i].tensor->storage)
      return copyOf(v.tensor.impl(), v.tensor->dtype);
  return v.tensor.take();
}

} // namespace torchc
