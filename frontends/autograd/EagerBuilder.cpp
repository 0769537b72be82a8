#include "frontends/autograd/EagerBuilder.h"
#include "dialects/rules/Infer.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/eager/composite/Common.h"
#include "frontends/eager/cuda/Cuda.h"

namespace torchc {
namespace {

Tensor madeOnMeta(OpId id, std::initializer_list<Attr> attrs) {
  TensorType type;
  Diag diag;
  if (!inferOp(id, nullptr, 0, attrs.begin(), int(attrs.size()), defaultDType(), type, diag))
    fail(diag);
  return Tensor(newTensor(type.dtype, type.dims, uint8_t(DeviceKind::Meta)));
}

/// What ops without operands make on cuda; the ops themselves have no device.
Tensor madeOnCuda(OpId id, std::initializer_list<Attr> attrs) {
  const Attr *a = attrs.begin();
  if (opInfo(id).shape == ShapeRule::Full)
    return composite::fullTensor(Dims(a[0].list, int(a[0].size)), Scalar::fromAttr(a[1]), DType(a[2].i), cudaDevice);
  if (opInfo(id).shape == ShapeRule::Arange)
    return composite::rangeOnCuda(a[0].i, Scalar::fromAttr(a[1]), Scalar::fromAttr(a[2]), DType(a[3].i));
  fail(ErrorKind::NotImplemented, std::string(opInfo(id).name) + "(): no kernels for device cuda");
}

EagerValue run(OpId id, Operand *operands, int n, std::initializer_list<Attr> attrs, uint8_t device) {
  if (!n && device == uint8_t(DeviceKind::Meta))
    return madeOnMeta(id, attrs);
  if (!n && device == cudaDevice)
    return madeOnCuda(id, attrs);
  // Values have no layout for a derivative: a reshape that memory can't express copies.
  if (id == OpId::Reshape)
    return composite::reshapeOrCopy(Tensor::borrow(operands[0].tensor),
                                    IntList(attrs.begin()->list, attrs.begin()->size));
  Tensor held; // an op of numbers alone takes the first as a tensor
  if (id == OpId::AsStrided) { // counts row-major elements
    held = composite::contiguousTensor(Tensor::borrow(operands[0].tensor));
    operands[0] = held;
  }
  if (n && !operands[0].tensor && (n == 1 || (n == 2 && !operands[1].tensor))) {
    Attr full[] = {Attr::ints(nullptr, 0), operands[0].number.attr(), Attr::dtype(operands[0].number.dtype())};
    held = callOpList(OpId::Full, {}, List<Attr>(full, 3));
    operands[0] = held;
  }
  if (n == 2 && !attrs.size()) {
    if (operands[0].tensor && operands[1].tensor)
      return Tensor(binary(id, operands[0].tensor, operands[1].tensor));
    return Tensor(operands[0].tensor ? binaryScalar(id, operands[0].tensor, operands[1].number)
                                     : binaryScalar(id, operands[1].tensor, operands[0].number, true));
  }
  if (n == 1 && !attrs.size())
    return Tensor(unary(id, operands[0].tensor));
  return callOpList(id, List<Operand>(operands, size_t(n)), List<Attr>(attrs.begin(), attrs.size()));
}

Operand toOperand(const EagerValue &v) { return v.isNumber ? Operand(v.number) : Operand(v.tensor); }

} // namespace

EagerValue EagerBuilder::op(OpId id, std::initializer_list<OpArg<V>> args, std::initializer_list<Attr> attrs) {
  if (common) {
    EagerValue values[maxFixedOperands];
    int n = 0;
    for (const OpArg<V> &a : args)
      values[n++] = a.value ? *a.value : EagerValue(Scalar::fromAttr(a.number));
    return common->of(id, values, n, List<Attr>(attrs.begin(), attrs.size()),
                      [&] { return EagerBuilder{device}.op(id, args, attrs); });
  }
  Operand operands[maxFixedOperands];
  int n = 0;
  for (const OpArg<V> &a : args)
    operands[n++] = a.value ? toOperand(*a.value) : Operand(Scalar::fromAttr(a.number));
  return run(id, operands, n, attrs, device);
}

static bool sameValue(const EagerValue &x, const EagerValue &y) {
  if (x.isNumber != y.isNumber)
    return false;
  return x.isNumber ? x.number.attr() == y.number.attr() : x.tensor.same(y.tensor);
}

const EagerValue *CommonParts::find(OpId op, const EagerValue *operands, int n, List<Attr> attrs) const {
  for (const Part &p : parts)
    if (p.op == op && std::equal(p.operands.begin(), p.operands.end(), operands, operands + n, sameValue) &&
        std::equal(p.attrs.begin(), p.attrs.end(), attrs.begin(), attrs.end()))
      return &p.result;
  return nullptr;
}

void CommonParts::add(OpId op, const EagerValue *operands, int n, List<Attr> attrs, const EagerValue &result) {
  Part p{op, {operands, operands + n}, {attrs.begin(), attrs.end()}, {}, result};
  for (Attr &a : p.attrs)
    if (a.tag == AttrTag::IntList) {
      p.lists.emplace_back(a.list, a.list + a.size);
      a.list = p.lists.back().data(); // stays where it is when the outer vectors grow
    } else if (a.tag == AttrTag::Str) {
      return; // rules have none: not worth keeping
    }
  parts.push_back(std::move(p));
}

EagerValue EagerBuilder::op(OpId id, const V *values, int n, std::initializer_list<Attr> attrs) {
  std::vector<Operand> operands;
  for (int i = 0; i < n; i++)
    operands.push_back(toOperand(values[i]));
  return run(id, operands.data(), n, attrs, device);
}

static void checkVersion(TensorImpl *t, uint32_t expected, const Node *n) {
  if (t->version() == expected)
    return;
  fail("one of the variables needed for gradient computation has been modified by an inplace operation: [" +
       std::string(torchName(t->dtype)) + " " + t->dims().str() + "], saved for " + nodeName(n) + ", is at version " +
       std::to_string(t->version()) + "; expected version " + std::to_string(expected) +
       " instead. Hint: the operation that wrote to it came after it was used");
}

/// What hooks gave back for a saved tensor, with the history `history` that it had.
static Tensor unpacked(Node *n, int slot, Node *history, int output) {
  if (!n->extra || n->extra->packed.empty())
    backwardTwice();
  Tensor t;
  {
    NoGradGuard quiet;
    t = n->extra->packed[size_t(slot)]();
  }
  if (!history || t->requiresGrad())
    return t;
  return withHistory(t, history, output);
}

const EagerValue &NodeContext::operand(int i) const {
  NodeInput &in = n->inputs()[i];
  EagerValue &out = operands[i];
  if (out.defined())
    return out;
  if (in.state & InputNumber) {
    union {
      uint64_t u;
      double d;
    } bits = {in.bits};
    DType t = DType(in.numberType);
    out = EagerValue(t == DType::F64    ? Scalar(bits.d)
                     : t == DType::Bool ? Scalar(bits.u != 0)
                                        : Scalar(int64_t(bits.u)));
    return out;
  }
  if (in.state & InputPacked) {
    out = EagerValue(unpacked(n, i, in.next, in.outputNumber));
    return out;
  }
  if (!in.saved)
    backwardTwice();
  checkVersion(in.saved, in.version, n);
  out = EagerValue(Tensor::borrow(in.saved));
  return out;
}

const EagerValue &NodeContext::result() const {
  if (unpackedResult.defined())
    return unpackedResult;
  if (n->state & NodePacksResult) {
    unpackedResult = EagerValue(unpacked(n, int(n->numInputs), n, 0));
    return unpackedResult;
  }
  if (!n->result)
    backwardTwice();
  TensorImpl *r = n->result;
  checkVersion(r, n->resultVersion, n);
  Tensor t = detachTensor(Tensor::borrow(r));
  t->node = retain(n);
  t->flags |= FlagRequiresGrad;
  unpackedResult = EagerValue(std::move(t));
  return unpackedResult;
}

} // namespace torchc
