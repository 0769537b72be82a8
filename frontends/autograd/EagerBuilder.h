// The builder of dialects/rules/Builder.h that runs ops: what derivatives and decompositions are instantiated with.
#pragma once
#include "dialects/rules/Builder.h"
#include "frontends/autograd/Node.h"
#include "frontends/eager/Modes.h"

namespace torchc {

/// A tensor, or the number that stood in an operand's place, or nothing.
struct EagerValue {
  Tensor tensor;
  Scalar number;
  bool isNumber = false;
  EagerValue() = default;
  EagerValue(Tensor t) : tensor(std::move(t)) {}
  explicit EagerValue(const Scalar &s) : number(s), isNumber(true) {}
  bool defined() const { return isNumber || tensor.defined(); }
};

/// What the derivative of one node has computed so far: rules for several of its operands share what is common. Not for a
/// graph of a higher derivative, where every use is a consumer of its own (N10).
class CommonParts {
public:
  /// The result of this call if there was one, else `compute()`, which is kept.
  template <class F> EagerValue of(OpId op, const EagerValue *operands, int n, List<Attr> attrs, F compute) {
    if (const EagerValue *had = find(op, operands, n, attrs))
      return *had;
    EagerValue v = compute();
    add(op, operands, n, attrs, v);
    return v;
  }

private:
  struct Part {
    OpId op;
    std::vector<EagerValue> operands;
    std::vector<Attr> attrs;
    std::vector<std::vector<int64_t>> lists; // of attrs
    EagerValue result;
  };
  const EagerValue *find(OpId op, const EagerValue *operands, int n, List<Attr> attrs) const;
  void add(OpId op, const EagerValue *operands, int n, List<Attr> attrs, const EagerValue &result);

  std::vector<Part> parts;
};

struct EagerBuilder {
  using V = EagerValue;
  uint8_t device = 0; // of what is made from attributes alone
  CommonParts *common = nullptr;
  V op(OpId id, std::initializer_list<OpArg<V>> operands, std::initializer_list<Attr> attrs = {});
  V op(OpId id, const V *operands, int n, std::initializer_list<Attr> attrs);
  Dims dims(const V &v) { return v.isNumber ? Dims() : v.tensor->dims(); }
  DType dtype(const V &v) { return v.isNumber ? v.number.dtype() : v.tensor->dtype; }
  bool differentiable() const { return isGradEnabled(); }
};

/// One node as its derivative sees it. Saved tensors are checked when they are read.
class NodeContext {
public:
  NodeContext(Node *n, const Tensor &cotangent) : n(n), g(cotangent) {}
  const EagerValue &operand(int i) const;
  const EagerValue &result() const;
  Dims operandDims(int i) const {
    const OperandMeta *m = n->inputs()[i].meta;
    return m ? m->dims() : n->inputs()[i].state & InputNumber ? Dims() : g->dims();
  }
  DType operandDType(int i) const { return n->inputs()[i].meta ? n->inputs()[i].meta->dtype : g->dtype; }
  int numOperands() const { return int(n->numInputs); }
  Dims resultDims() const { return g->dims(); }
  const Attr &attr(int k) const { return n->attrs[k]; }

private:
  Node *n;
  const Tensor &g;
  mutable EagerValue operands[maxFixedOperands], unpackedResult;
};

} // namespace torchc
