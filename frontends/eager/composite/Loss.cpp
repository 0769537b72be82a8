// Losses of torch.nn.functional in primitives (N6).
#include "frontends/autograd/Tape.h"
#include "frontends/eager/composite/Arith.h"

namespace torchc::composite {
using namespace arith;

namespace {

enum class Reduce { None, Mean, Sum };
Reduce reductionOf(std::string_view text) {
  if (text == "none")
    return Reduce::None;
  if (text == "mean")
    return Reduce::Mean;
  if (text == "sum")
    return Reduce::Sum;
  fail(ErrorKind::Value, std::string(text) + " is not a valid value for reduction");
}

Tensor sumAll(const Tensor &x) { return sumDims(x, {}, false, {}); }

/// x [N, C, ...] or [C] with the target's class indices: the shapes must agree apart from the class dimension.
void checkShapes(const Tensor &x, const Tensor &target, int classDim) {
  Dims rows = x->dims();
  rows.erase(classDim);
  int64_t batch = target->rank ? target->sizes()[0] : 0;
  if (x->rank == 1 && target->rank == 1)
    fail(ErrorKind::Value, "For 1D input, 1D target must have size 1, but got target size: " + std::to_string(batch));
  if (x->rank > 1 && batch != x->sizes()[0])
    fail(ErrorKind::Value, "Expected input batch_size (" + std::to_string(x->sizes()[0]) +
                               ") to match target batch_size (" + std::to_string(batch) + ").");
  if (!(rows == target->dims()))
    fail("Expected target size " + rows.str() + ", got " + target->dims().str());
  if (target->dtype != DType::I64 && target->dtype != DType::U8)
    fail("expected target dtype to be Long or Byte, but got " + std::string(torchName(target->dtype)));
}

/// Row terms of class-index losses and what `mean` divides by.
struct IndexLoss {
  Tensor terms, total;
};

/// A view that lets per-class weights [C] meet values of x's shape.
Tensor alongClasses(const Tensor &weight, const Tensor &x, int classDim) {
  Dims shape;
  for (int i = 0; i < x->rank; i++)
    shape.push(i == classDim ? weight->numel : 1);
  return reshaped(weight, shape);
}

void checkWeight(const Tensor &weight, int64_t classes) {
  if (weight->rank != 1 || weight->numel != classes)
    fail("weight tensor should be defined either for all " + std::to_string(classes) +
         " classes or no classes but got weight tensor of shape: " + weight->dims().str());
}

IndexLoss indexLoss(const Tensor &logp, const Tensor &given, const OptTensor &weight, int64_t ignore,
                    double smoothing) {
  int classDim = logp->rank == 1 ? 0 : 1;
  bool single = logp->rank == 1 && given->rank == 1 && given->numel == 1;
  Tensor target = single ? viewShape(given, Dims()) : given;
  checkShapes(logp, target, classDim);
  target = as(target, DType::I64);
  int64_t classes = logp->sizes()[classDim];
  Tensor used = callOp(OpId::Ne, {target, ignore});
  Tensor safe = callOp(OpId::Where, {used, target, 0});
  Tensor picked = withIndexErrors(
      [&] { return callOp(OpId::Gather, {logp, unsqueezeDim(safe, classDim)}, {Attr::integer(classDim)}); });
  Tensor t = callOp(OpId::Neg, {reshaped(picked, target->dims())});
  Tensor w;
  if (weight.defined()) {
    checkWeight(weight, classes);
    w = reshaped(callOp(OpId::IndexSelect, {weight, ravelAll(safe)}, {Attr::integer(0)}), target->dims());
    t = callOp(OpId::Mul, {t, w});
  }
  if (smoothing) {
    Tensor all = callOp(OpId::Neg, {logp});
    if (weight.defined())
      all = callOp(OpId::Mul, {all, alongClasses(weight, logp, classDim)});
    int64_t axis = classDim;
    Tensor spread = sumDims(all, IntList(&axis, 1), false, {});
    t = callOp(OpId::Add,
               {callOp(OpId::Mul, {t, 1 - smoothing}), callOp(OpId::Mul, {spread, smoothing / double(classes)})});
  }
  IndexLoss out;
  out.terms = callOp(OpId::Where, {used, t, 0.0});
  out.total = weight.defined() ? sumAll(callOp(OpId::Where, {used, w, 0.0})) : as(sumAll(used), logp->dtype);
  return out;
}

Tensor reduceIndex(const IndexLoss &l, Reduce r) {
  if (r == Reduce::None)
    return l.terms;
  Tensor s = sumAll(l.terms);
  return r == Reduce::Sum ? s : callOp(OpId::Div, {s, l.total});
}

Tensor probabilityLoss(const Tensor &logp, Tensor target, const OptTensor &weight, Reduce r, double smoothing) {
  int classDim = logp->rank == 1 ? 0 : 1;
  int64_t classes = logp->sizes()[classDim], axis = classDim;
  target = as(target, logp->dtype);
  if (smoothing)
    target = callOp(OpId::Add,
                    {callOp(OpId::Mul, {target, 1 - smoothing}), smoothing / double(std::max<int64_t>(classes, 1))});
  Tensor scaled = logp;
  if (weight.defined()) {
    checkWeight(weight, classes);
    scaled = callOp(OpId::Mul, {scaled, alongClasses(weight, logp, classDim)});
  }
  Tensor t = callOp(OpId::Neg, {sumDims(callOp(OpId::Mul, {scaled, target}), IntList(&axis, 1), false, {})});
  if (r == Reduce::None)
    return t;
  return r == Reduce::Sum ? sumAll(t) : callOp(OpId::Div, {sumAll(t), double(std::max<int64_t>(t->numel, 0))});
}

void checkInput(const char *name, const Tensor &x) {
  if (x->rank < 1)
    fail(std::string_view(name) == "nll_loss" ? ErrorKind::Value : ErrorKind::Runtime,
         std::string(name) + "(): expected an input of at least one dimension (classes), got a 0-dim tensor");
  if (!isFloat(x->dtype))
    fail(ErrorKind::NotImplemented,
         "\"" + std::string(name) + "\" not implemented for '" + std::string(torchName(x->dtype)) + "'");
}

} // namespace

Tensor nllLoss(const Tensor &input, const Tensor &target, const OptTensor &weight, int64_t ignoreIndex,
               std::string_view reduction) {
  checkInput("nll_loss", input);
  LinkedScope linked;
  return reduceIndex(indexLoss(input, target, weight, ignoreIndex, 0), reductionOf(reduction));
}

/// In the op-math type throughout, rounded once at the end (N6).
Tensor crossEntropy(const Tensor &input, const Tensor &target, const OptTensor &weight, int64_t ignoreIndex,
                    std::string_view reduction, double smoothing) {
  checkInput("cross_entropy", input);
  if (!(smoothing >= 0 && smoothing <= 1))
    fail("label_smoothing must be between 0.0 and 1.0. Got: " + std::to_string(smoothing));
  Reduce r = reductionOf(reduction);
  Tensor x = as(input, computeType(input->dtype));
  Tensor w = weight.defined() ? as(weight, x->dtype) : weight;
  Tensor logp = callOp(OpId::LogSoftmax, {x}, {Attr::integer(x->rank == 1 ? 0 : 1)});
  Tensor loss = isFloat(target->dtype) && sameShape(input.impl(), target.impl())
                    ? probabilityLoss(logp, target, w, r, smoothing)
                    : reduceIndex(indexLoss(logp, target, w, ignoreIndex, smoothing), r);
  return as(loss, input->dtype);
}

Tensor mseLoss(const Tensor &input, const Tensor &target, std::string_view reduction) {
  Reduce r = reductionOf(reduction);
  for (const Tensor &t : {input, target})
    if (isComplex(t->dtype))
      unsupported("\"mse\" not implemented for '" + std::string(torchName(t->dtype)) + "'");
  Tensor d = callOp(OpId::Sub, {input, target});
  Tensor terms = callOp(OpId::Mul, {d, d});
  if (r == Reduce::None)
    return terms;
  return r == Reduce::Mean ? meanDims(terms, {}, false, {}) : sumAll(terms);
}

//===-- binary cross entropy -------------------------------------------------------------------------------------===//

namespace {

/// terms times weight, reduced, rounded to `t`.
Tensor reducedTerms(Tensor terms, const OptTensor &weight, std::string_view reduction, DType t) {
  if (weight.defined())
    terms = mul(terms, wide(weight));
  Reduce r = reductionOf(reduction);
  if (r != Reduce::None)
    terms = r == Reduce::Mean ? meanDims(terms, {}, false, {}) : sumAll(terms);
  return as(terms, t);
}

void checkTarget(const char *name, const Tensor &input, const Tensor &target) {
  if (!sameShape(input.impl(), target.impl()))
    fail(ErrorKind::Value, std::string(name) + "(): Target size (" + target->dims().str() +
                               ") must be the same as input size (" + input->dims().str() + ")");
  if (!isFloat(input->dtype))
    fail(ErrorKind::NotImplemented,
         "\"" + std::string(name) + "\" not implemented for '" + std::string(torchName(input->dtype)) + "'");
}

} // namespace

Tensor bceLoss(const Tensor &input, const Tensor &target, const OptTensor &weight, std::string_view reduction) {
  checkTarget("binary_cross_entropy", input, target);
  if (input->dtype != target->dtype)
    fail("Found dtype " + std::string(torchName(target->dtype)) + " but expected " +
         std::string(torchName(input->dtype)));
  return reducedTerms(callOp(OpId::Bce, {wide(input), wide(target)}), weight, reduction, input->dtype);
}

/// (1 - y) * x - w * log(sigmoid(x)), w = (pos_weight - 1) * y + 1
Tensor bceLogitsLoss(const Tensor &input, const Tensor &target, const OptTensor &weight, const OptTensor &posWeight,
                     std::string_view reduction) {
  checkTarget("binary_cross_entropy_with_logits", input, target);
  DType t = typeOf(input, target);
  Tensor x = wide(as(input, t)), y = wide(as(target, t)), l = logSigmoid(x);
  if (posWeight.defined())
    l = mul(add(mul(sub(wide(posWeight), 1), y), 1), l);
  return reducedTerms(sub(mul(sub(1, y), x), l), weight, reduction, t);
}

} // namespace torchc::composite
