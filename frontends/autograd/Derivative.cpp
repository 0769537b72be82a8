// The derivative of one node by one operand, as a backward pass asks for it.
#include "frontends/autograd/Derivative.h"
#include "dialects/rules/Vjp.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Api.h"

namespace torchc {
namespace {

/// Under create_graph PyTorch's derivatives require gradients as soon as something saved does, also where the second
/// derivative is zero everywhere (relu): the derivative gets a history that gives those zeros.
struct ZeroFunction : NodeFunction {
  struct Input {
    DType dtype;
    uint8_t device;
    Dims dims;
  };
  std::vector<Input> inputs;
  OpId lost = OpId::NumOps; // an op on the way knows no derivative: refused rather than zeros
  std::string name() const override { return "ZerosBackward0"; }
  std::vector<Tensor> apply(const std::vector<Tensor> &, const std::vector<bool> &) override {
    if (lost != OpId::NumOps)
      fail(ErrorKind::NotImplemented, std::string("derivative for ") + opInfo(lost).name + " is not implemented");
    std::vector<Tensor> out;
    for (const Input &in : inputs) {
      EagerBuilder builder{in.device};
      out.push_back(rules::zeros(builder, in.dims, in.dtype).tensor);
    }
    return out;
  }
};

/// The formulas for real numbers give g * f'(z) of complex ones, whose gradient is g * conj(f'(z)): the conjugate of what
/// they make of conj(g). Without saved complex values f' is a real constant.
bool conjugates(Node *n, int operand, const NodeContext &context) {
  const OpInfo &info = opInfo(n->op);
  if (info.flags & (OpConjugates | OpVariadic))
    return false;
  uint16_t saves = info.saves[operand];
  bool found = (saves & savesResult) && isComplex(context.result().tensor->dtype);
  for (int i = 0; i < int(n->numInputs) && i < maxFixedOperands; i++)
    if ((saves >> i & 1) && (n->inputs()[i].state & (InputSaved | InputPacked)))
      found |= isComplex(context.operand(i).tensor->dtype);
  return found;
}

/// Gives `d` a history of zeros for `sources`, and for the operand itself where `linked`.
void recordZeros(Tensor &d, TensorList sources, NodeInput *linked, const NodeContext &context, int operand) {
  auto zeros = std::make_unique<ZeroFunction>();
  zeros->lost = lostDerivative;
  for (const Tensor &t : sources)
    zeros->inputs.push_back({t->dtype, t->device, t->dims()});
  if (d->refs.get() > 1)
    d = detachTensor(d);
  if (!linked) {
    recordFunction(std::move(zeros), sources, TensorList(&d, 1));
    return;
  }
  DType dtype = context.operandDType(operand);
  Dims dims = context.operandDims(operand);
  zeros->inputs.push_back({dtype, d->device, dims});
  Node *n = newNode(NodeKind::Function, OpId::NumOps, 1);
  n->inputs()[0].meta = newMeta(dtype, dims.size(), dims.data());
  connect(n, n->inputs()[0], retain(linked->next), linked->outputNumber);
  n->more().function = std::move(zeros);
  rebaseHistory(d.impl(), n, 0);
}

} // namespace

void linkZeros(Tensor &d, Node *n, int operand, const NodeContext &context) {
  uint32_t saves = opInfo(n->op).flags & OpVariadic ? 0 : opInfo(n->op).saves[operand];
  std::vector<Tensor> sources;
  for (int i = 0; i < int(n->numInputs) && i < maxFixedOperands; i++)
    if ((saves >> i & 1) && (n->inputs()[i].state & (InputSaved | InputPacked)))
      if (const Tensor &t = context.operand(i).tensor; t->requiresGrad())
        sources.push_back(t);
  if (saves & savesResult)
    sources.push_back(context.result().tensor);
  bool linked = sources.empty() && n->state & NodeLinked;
  if (linked || !sources.empty())
    recordZeros(d, TensorList(sources.data(), sources.size()), linked ? &n->inputs()[operand] : nullptr, context,
                operand);
}

EagerValue derivative(Node *n, int operand, EagerBuilder &b, const NodeContext &context, const EagerValue &g) {
  if (TORCHC_LIKELY(!isComplex(g.tensor->dtype)) || !conjugates(n, operand, context))
    return vjp(n->op, b, context, g, operand);
  EagerValue d = vjp(n->op, b, context, b.op(OpId::Conj, {g}), operand);
  return d.tensor.defined() && isComplex(d.tensor->dtype) ? b.op(OpId::Conj, {d}) : d;
}

} // namespace torchc
