#include "compiler/lower/Elementwise.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

namespace {

class ElementwiseEmitter {
public:
  ElementwiseEmitter(KernelBuilder &b, const ElementwiseSpec &spec, Diag &diag)
      : b(b), spec(spec), diag(diag), eval(b, spec.expr, diag), rank(unsigned(spec.sizes.size())) {
    for (const ElementwiseOutput &out : spec.outputs)
      wanted.push_back(out.node);
  }

  bool run(llvm::StringRef name);

private:
  void range(Value from, Value to, Value linearBase);
  void vectorRange(Value from, Value to, Value linearBase);
  void nest(unsigned dim, llvm::ArrayRef<Value> bases, Value linear);
  void chunk(Value index, unsigned lanes, unsigned vectors, Value mask, Value linearBase);
  Value sizeOf(unsigned dim);
  Value strideOf(llvm::ArrayRef<int64_t> strides, unsigned slot, unsigned dim);
  llvm::SmallVector<int64_t, 4> stridesOf(unsigned operand);
  unsigned slotOf(unsigned operand) const;
  DType dtypeOf(unsigned operand) const;
  unsigned numOperands() const { return unsigned(spec.expr.inputs.size() + spec.outputs.size()); }
  bool moves(unsigned operand) const;
  void chooseShape();

  KernelBuilder &b;
  const ElementwiseSpec &spec;
  Diag &diag;
  ExprEmitter eval;
  unsigned rank, lanes = 1, vectors = 1;
  llvm::SmallVector<int, 2> wanted;
  llvm::SmallVector<Value, 2> outBases;
  llvm::SmallVector<Value, 4> outStrides; // of the inner dim; null when it is 1
  bool failed = false;
};

/// Operands are the inputs, then the outputs.
unsigned ElementwiseEmitter::slotOf(unsigned i) const {
  unsigned n = unsigned(spec.expr.inputs.size());
  return i < n ? spec.expr.inputs[i].slot : spec.outputs[i - n].slot;
}

DType ElementwiseEmitter::dtypeOf(unsigned i) const {
  unsigned n = unsigned(spec.expr.inputs.size());
  return i < n ? spec.expr.inputs[i].dtype : spec.expr.nodes[size_t(spec.outputs[i - n].node)].dtype;
}

bool ElementwiseEmitter::moves(unsigned i) const {
  unsigned n = unsigned(spec.expr.inputs.size());
  return i >= n || spec.expr.inputs[i].access == ExprInput::Contiguous ||
         spec.expr.inputs[i].access == ExprInput::Strided;
}

/// Row-major strides where none are given; those left of an unknown size are dynamic.
llvm::SmallVector<int64_t, 4> ElementwiseEmitter::stridesOf(unsigned i) {
  unsigned n = unsigned(spec.expr.inputs.size());
  llvm::ArrayRef<int64_t> given =
      i < n ? llvm::ArrayRef<int64_t>(spec.expr.inputs[i].strides) : spec.outputs[i - n].strides;
  if (!given.empty())
    return llvm::SmallVector<int64_t, 4>(given);
  llvm::SmallVector<int64_t, 4> strides(rank, 1);
  for (int d = int(rank) - 2; d >= 0; --d) {
    int64_t size = spec.sizes[size_t(d) + 1], right = strides[size_t(d) + 1];
    strides[size_t(d)] = size < 0 || right == dynamicStride ? dynamicStride : size * right;
  }
  return strides;
}

Value ElementwiseEmitter::sizeOf(unsigned dim) { return spec.sizes[dim] < 0 ? b.sizeAt(dim) : b.dim(spec.sizes[dim]); }

Value ElementwiseEmitter::strideOf(llvm::ArrayRef<int64_t> strides, unsigned slot, unsigned dim) {
  if (strides[dim] != dynamicStride)
    return b.dim(strides[dim]);
  return b.sizeAt(rank + slot * rank + dim);
}

/// Lanes from the widest element; several small bodies in step hide latency, large ones fill the registers alone.
void ElementwiseEmitter::chooseShape() {
  lanes = b.target().lanes(spec.expr.widestBits());
  int nodes = 0;
  for (const ExprNode &n : spec.expr.nodes)
    nodes += n.kind == ExprNode::Op ? n.body.numNodes : 1;
  vectors = spec.vectors ? spec.vectors : nodes <= 48 ? 4 : nodes <= 160 ? 2 : 1;
  if (rank == 0)
    return;
  for (unsigned i = 0; i < numOperands(); ++i) {
    if (!moves(i))
      continue;
    int64_t inner = stridesOf(i)[rank - 1];
    bool isOutput = i >= spec.expr.inputs.size();
    if (inner != 1 && (inner != 0 || isOutput))
      lanes = vectors = 1;
  }
}

void ElementwiseEmitter::chunk(Value index, unsigned chunkLanes, unsigned chunkVectors, Value mask, Value linearBase) {
  if (failed)
    return;
  ExprEmitter::Place place;
  place.index = index;
  place.linear = linearBase ? b.add(linearBase, index) : index;
  place.lanes = chunkLanes;
  place.vectors = chunkVectors;
  place.mask = mask;
  auto results = eval.evaluate(wanted, place);
  if (results.empty()) {
    failed = true;
    return;
  }
  for (size_t o = 0; o < results.size(); ++o)
    for (unsigned u = 0; u < chunkVectors; ++u) {
      Value at = u ? b.add(index, b.i64(int64_t(u) * chunkLanes)) : index;
      if (outStrides[o])
        at = b.mul(at, outStrides[o]);
      b.store(results[o][u], outBases[o], at, spec.expr.nodes[size_t(wanted[o])].dtype, mask);
    }
}

void ElementwiseEmitter::vectorRange(Value from, Value to, Value linearBase) {
  Value n = b.sub(to, from);
  int64_t wideStep = int64_t(lanes) * vectors;
  Value main = b.add(from, b.roundDown(n, wideStep));
  b.loop(from, main, wideStep, [&](Value i) { chunk(i, lanes, vectors, {}, linearBase); });
  Value single = main;
  if (vectors > 1) {
    single = b.add(from, b.roundDown(n, lanes));
    b.loop(main, single, lanes, [&](Value i) { chunk(i, lanes, 1, {}, linearBase); });
  }
  if (!b.target().maskedTails)
    return;
  b.ifThen(b.compare(Pred::slt, single, to), [&] {
    // The narrowest index type that holds the lane count keeps the mask one instruction.
    Type element = b.getI32Type();
    Value rest = arith::TruncIOp::create(b, element, b.sub(to, single));
    Value mask = b.compare(Pred::slt, b.step(element, lanes), b.splat(rest, lanes));
    chunk(single, lanes, 1, mask, linearBase);
  });
}

/// One-element calls and remainders of targets without masks take the scalar loop.
void ElementwiseEmitter::range(Value from, Value to, Value linearBase) {
  if (lanes == 1) {
    b.loop(from, to, 1, [&](Value i) { chunk(i, 1, 1, {}, linearBase); });
    return;
  }
  if (b.target().maskedTails)
    return vectorRange(from, to, linearBase);
  Value n = b.sub(to, from);
  Value enough = b.compare(Pred::sge, n, b.i64(lanes));
  Type i64 = b.getI64Type();
  Values start = b.ifElse(
      enough, i64,
      [&] {
        vectorRange(from, to, linearBase);
        return Values{b.add(from, b.roundDown(n, lanes))};
      },
      [&] { return Values{from}; });
  b.loop(start[0], to, 1, [&](Value i) { chunk(i, 1, 1, {}, linearBase); });
}

void ElementwiseEmitter::nest(unsigned dim, llvm::ArrayRef<Value> bases, Value linear) {
  Value from = dim == 0 ? b.begin() : b.i64(0), to = dim == 0 ? b.end() : sizeOf(dim);
  unsigned numInputs = unsigned(spec.expr.inputs.size());
  if (dim + 1 == rank) {
    for (unsigned i = 0; i < numOperands(); ++i) {
      if (!moves(i))
        continue;
      auto strides = stridesOf(i);
      if (i < numInputs) {
        eval.setBase(i, bases[i]);
        eval.setInnerStride(i, strides[dim], strideOf(strides, slotOf(i), dim));
      } else {
        outBases.push_back(bases[i]);
        outStrides.push_back(strides[dim] == 1 ? Value() : strideOf(strides, slotOf(i), dim));
      }
    }
    return range(from, to, linear);
  }
  Value inner;
  if (linear) {
    inner = sizeOf(dim + 1);
  }
  b.loop(from, to, 1, [&](Value iv) {
    llvm::SmallVector<Value, 6> moved(bases);
    for (unsigned i = 0; i < numOperands(); ++i)
      if (moves(i)) {
        Value offset = b.mul(iv, strideOf(stridesOf(i), slotOf(i), dim));
        moved[i] = b.address(bases[i], offset, b.memoryType(dtypeOf(i)));
      }
    Value next = linear ? b.mul(b.add(linear, iv), inner) : Value();
    nest(dim + 1, moved, next);
  });
}

bool ElementwiseEmitter::run(llvm::StringRef name) {
  for (const ExprInput &in : spec.expr.inputs)
    if (in.access == ExprInput::Strided && in.strides.size() != rank)
      return diag.fail(ErrorKind::Internal, "elementwise kernel " + name.str() + ": expected " + std::to_string(rank) +
                                                " strides, got " + std::to_string(in.strides.size()));
  chooseShape();
  b.beginKernel(name);
  eval.prepare();
  llvm::SmallVector<Value, 6> bases;
  for (unsigned i = 0; i < spec.expr.inputs.size(); ++i)
    bases.push_back(eval.base(i));
  for (const ElementwiseOutput &out : spec.outputs)
    bases.push_back(b.pointer(out.slot));
  if (rank == 0) {
    outBases.assign(bases.begin() + spec.expr.inputs.size(), bases.end());
    outStrides.assign(spec.outputs.size(), Value());
    range(b.begin(), b.end(), {});
  } else {
    nest(0, bases, spec.expr.usesIndex() ? b.i64(0) : Value());
  }
  b.endKernel();
  return !failed;
}

} // namespace

bool emitElementwise(KernelBuilder &b, llvm::StringRef name, const ElementwiseSpec &spec, Diag &diag) {
  return ElementwiseEmitter(b, spec, diag).run(name);
}

} // namespace torchc::lower
