// Random tensors: uniform numbers and integers, and what is computed from them.
#include "frontends/eager/composite/Random.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Families.h"
#include <cmath>
#include <limits>

namespace torchc::composite {

Draw::Draw(const OptGenerator &generator) {
  Generator g = generator.defined() ? generator : defaultGenerator();
  seed = g.state()->seed;
  ordinal = takeOrdinal(g);
}

/// What kernels read as scalars. A sub-draw changes the high word's top byte.
Tensor Draw::state(std::initializer_list<uint64_t> more, unsigned subDraw) const {
  Tensor t(newTensor(DType::I64, Dims({int64_t(2 + more.size())})));
  auto *words = reinterpret_cast<uint64_t *>(t->data);
  *words++ = seed;
  *words++ = ordinal ^ uint64_t(subDraw) << 56;
  for (uint64_t w : more)
    *words++ = w;
  return t;
}
/// Random numbers come from the cpu's generator only.
static void needHost(uint8_t device) {
  if (device == uint8_t(DeviceKind::Cuda))
    unsupported("random numbers: no kernels for device cuda");
}

Tensor Draw::uniform(const Dims &dims, DType t, uint8_t device, unsigned subDraw) const {
  needHost(device);
  if (device)
    return Tensor(newTensor(t, dims, device));
  return callOp(OpId::Uniform, {state({}, subDraw)}, {attr(dims), Attr::dtype(t)});
}
Tensor Draw::integers(const Dims &dims, int64_t low, uint64_t range, uint8_t device) const {
  needHost(device);
  if (device)
    return Tensor(newTensor(DType::I64, dims, device));
  bool narrow = range && range <= uint64_t(1) << 32;
  return callOp(narrow ? OpId::Randint : OpId::RandintWide, {state({uint64_t(low), range}, 0)},
                {attr(dims), Attr::dtype(DType::I64)});
}

namespace {

void needFloat(DType t, const char *op) {
  if (!isFloat(t))
    unsupported("\"" + std::string(op) + "\" not implemented for '" + std::string(torchName(t)) + "'");
}
std::string text(double v) { return std::to_string(v); }

/// Both parts of complex numbers are uniform.
Tensor uniformOf(Dims dims, DType t, const OptGenerator &generator, uint8_t device) {
  if (isComplex(t))
    return pairedUp(dims, [&](const Dims &d) { return uniformOf(d, realType(t), generator, device); });
  needFloat(t, "check_uniform_bounds");
  return Draw(generator).uniform(dims, t, device);
}

/// Numbers that the type holds exactly: up to 2^24 in f32.
int64_t lastExact(DType t) {
  switch (t) {
  case DType::Bool: return 1;
  case DType::U8: return 255;
  case DType::F16: return 1 << 11;
  case DType::BF16: return 1 << 8;
  case DType::F32: return 1 << 24;
  case DType::F64: return int64_t(1) << 53;
  default: return std::numeric_limits<int64_t>::max() >> (64 - 8 * int(itemSize(t)));
  }
}
/// PyTorch's name of the type in messages, and its largest number.
struct Bound {
  const char *name;
  double most;
};
Bound boundOf(DType t) {
  switch (t) {
  case DType::Bool: return {"bool", 1};
  case DType::U8: return {"unsigned char", 255};
  case DType::U16: return {"unsigned short", 65535};
  case DType::U32: return {"unsigned int", 4294967295};
  case DType::I8: return {"signed char", 127};
  case DType::I16: return {"short int", 32767};
  case DType::I32: return {"int", 2147483647};
  case DType::F16: return {"c10::Half", 65504};
  default: return {"", std::numeric_limits<double>::infinity()};
  }
}
void needBounds(int64_t from, int64_t last, DType t) {
  Bound b = boundOf(t);
  double least = t == DType::Bool || isUnsigned(t) ? 0 : isFloat(t) ? -b.most : -b.most - 1;
  for (bool end : {false, true})
    if (double v = double(end ? last : from); v < least || v > b.most)
      fail(std::string(end ? "to - 1" : "from") + " is out of bounds for " + b.name);
}

Tensor drawIntegers(const Dims &dims, int64_t low, int64_t high, DType t, const OptGenerator &generator,
                    uint8_t device) {
  if (isFloat8(t))
    refuseStored("randint", t);
  if (low >= high)
    fail("random_ expects 'from' to be less than 'to', but got from=" + std::to_string(low) +
         " >= to=" + std::to_string(high));
  needBounds(low, high - 1, t);
  return as(Draw(generator).integers(dims, low, uint64_t(high) - uint64_t(low), device), t);
}

/// u < p in u's type; p in the type u is drawn in.
Tensor belowProbability(const Tensor &u, const Tensor &p) { return callOp(OpId::Lt, {u, as(p, u->dtype)}); }

/// The type a distribution of `t` is computed in before it is rounded to `t`.
DType drawType(DType t) { return isFloat(t) ? computeType(t) : DType::F32; }

} // namespace

Tensor randOf(IntList size, const OptGenerator &generator, std::optional<DType> dtype, std::optional<DeviceId> device,
              bool grad) {
  return withGrad(uniformOf(checkedSize(size), dtype.value_or(defaultDType()), generator, deviceKind(device)), grad);
}
Tensor randLike(const Tensor &input, std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return withGrad(uniformOf(input->dims(), dtype.value_or(input->dtype), {}, deviceKind(device, input->device)), grad);
}

/// u·(b−a) + a (N9), computed in the type's op-math type and rounded once.
Tensor uniformInto(const Tensor &input, double from, double to, const OptGenerator &generator, Out out) {
  if (!(from <= to))
    fail("uniform_ expects to return a [from, to) range, but found from=" + text(from) + " > to=" + text(to));
  if (isComplex(input->dtype)) { // both parts
    Tensor parts = callOp(OpId::ViewAsReal, {input});
    uniformInto(parts, from, to, generator, Out::inplace(parts));
    return input;
  }
  needFloat(input->dtype, "check_uniform_bounds");
  Tensor u = Draw(generator).uniform(input->dims(), input->dtype, input->device);
  if (from != 0 || to != 1) {
    u = as(u, computeType(input->dtype));
    u = callOp(OpId::Add, {callOp(OpId::Mul, {u, to - from}), from});
  }
  return deliver(as(u, input->dtype), out);
}

//===-- integers ------------------------------------------------------------------------------------------------===//

Tensor randintBetween(int64_t low, int64_t high, IntList size, const OptGenerator &generator,
                      std::optional<DType> dtype, std::optional<DeviceId> device, bool grad) {
  return withGrad(drawIntegers(checkedSize(size), low, high, dtype.value_or(DType::I64), generator, deviceKind(device)),
                  grad);
}
Tensor randintBelow(int64_t high, IntList size, const OptGenerator &generator, std::optional<DType> dtype,
                    std::optional<DeviceId> device, bool grad) {
  return randintBetween(0, high, size, generator, dtype, device, grad);
}
Tensor randintLikeBetween(const Tensor &input, int64_t low, int64_t high, std::optional<DType> dtype,
                          std::optional<DeviceId> device, bool grad) {
  return withGrad(
      drawIntegers(input->dims(), low, high, dtype.value_or(input->dtype), {}, deviceKind(device, input->device)),
      grad);
}
Tensor randintLikeBelow(const Tensor &input, int64_t high, std::optional<DType> dtype, std::optional<DeviceId> device,
                        bool grad) {
  return randintLikeBetween(input, 0, high, dtype, device, grad);
}

/// The order that sorts random 64-bit keys. Signed keys from the lowest on sort as unsigned ones.
Tensor randPerm(int64_t n, const OptGenerator &generator, std::optional<DType> dtype, std::optional<DeviceId> device,
                bool grad) {
  refuseStored("randperm", dtype.value_or(DType::I64));
  if (n < 0)
    fail("n must be non-negative, got " + std::to_string(n));
  DType t = dtype.value_or(DType::I64);
  if (int64_t most = lastExact(t); isFloat(t) ? n - 1 > most : n > most)
    fail("n cannot be greater than " + std::to_string(isFloat(t) ? most + 1 : most) + " for " +
         std::string(torchName(t)) + ", got " + std::to_string(n));
  Tensor keys = Draw(generator).integers(Dims({n}), std::numeric_limits<int64_t>::min(), 0, deviceKind(device));
  return withGrad(as(argsortDim(keys, 0, false, true), t), grad);
}

static Tensor randomBetween(const Tensor &input, int64_t from, int64_t to, const OptGenerator &generator, Out out) {
  return deliver(drawIntegers(input->dims(), from, to, input->dtype, generator, input->device), out);
}
Tensor randomFromTo(const Tensor &input, int64_t from, std::optional<int64_t> to, const OptGenerator &generator,
                    Out out) {
  refuseStored("random_", input->dtype);
  if (to)
    return randomBetween(input, from, *to, generator, out);
  if (input->dtype == DType::I64) { // up to the largest number, which no end names
    uint64_t range = (uint64_t(1) << 63) - uint64_t(from);
    return deliver(Draw(generator).integers(input->dims(), from, range, input->device), out);
  }
  return randomBetween(input, from, lastExact(input->dtype) + 1, generator, out);
}
Tensor randomBelow(const Tensor &input, int64_t to, const OptGenerator &generator, Out out) {
  return randomBetween(input, 0, to, generator, out);
}
Tensor randomAll(const Tensor &input, const OptGenerator &generator, Out out) {
  return randomFromTo(input, 0, {}, generator, out);
}

//===-- trials --------------------------------------------------------------------------------------------------===//

static void needProbability(double p, const char *op) {
  if (!(p >= 0 && p <= 1))
    fail(std::string(op) + " expects p to be in [0, 1], but got p=" + text(p));
}
/// Programs that are recorded don't read the numbers.
static void needProbabilities(const Tensor &p) {
  if (p->device || !p->numel || (threadState.modes.flags & (FlagRecording | FlagRetracing)))
    return;
  InternalGuard quiet;
  Tensor bad = callOp(OpId::LogicalOr, {callOp(OpId::Lt, {p, 0}), callOp(OpId::Gt, {p, 1})});
  if (item(anyDims(bad, {}, false)).toBool())
    fail("Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
}
Tensor bernoulliTensor(const Tensor &input, const OptGenerator &generator, Out out) {
  needFloat(input->dtype, "bernoulli_tensor_cpu_p_");
  needProbabilities(input);
  Tensor u = Draw(generator).uniform(input->dims(), input->dtype, input->device);
  return deliver(as(belowProbability(u, detached(input)), input->dtype), out);
}
static Tensor trials(const Tensor &input, const Tensor &p, const OptGenerator &generator, Out out) {
  Tensor u = Draw(generator).uniform(input->dims(), isFloat(p->dtype) ? p->dtype : DType::F32, input->device);
  return deliver(as(belowProbability(u, p), input->dtype), out);
}
Tensor bernoulliNumber(const Tensor &input, double p, const OptGenerator &generator, Out out) {
  needProbability(p, "bernoulli_");
  DType t = isFloat(input->dtype) ? input->dtype : DType::F32;
  return trials(input, fullTensor(Dims(), p, t, input->device), generator, out);
}
Tensor bernoulliGiven(const Tensor &input, const Tensor &p, const OptGenerator &generator, Out out) {
  needProbabilities(p);
  return trials(input, detached(p), generator, out);
}

/// -log(1 - u) / lambd.
Tensor exponentialInto(const Tensor &input, double lambd, const OptGenerator &generator, Out out) {
  needFloat(input->dtype, "exponential_");
  if (!(lambd > 0))
    fail("exponential_ expects lambda > 0.0, but found lambda=" + text(lambd));
  Tensor u = Draw(generator).uniform(input->dims(), drawType(input->dtype), input->device);
  Tensor v = callOp(OpId::Neg, {callOp(OpId::Log, {callOp(OpId::Sub, {1, u})})});
  return deliver(as(callOp(OpId::Div, {v, lambd}), input->dtype), out);
}

/// The number of trials until the first success: ceil(log(1 - u) / log(1 - p)), at least 1.
Tensor geometricInto(const Tensor &input, double p, const OptGenerator &generator, Out out) {
  if (!(p > 0 && p < 1))
    fail("geometric_ expects p to be in (0, 1), but got p=" + text(p));
  DType t = isFloat(input->dtype) ? drawType(input->dtype) : DType::F64;
  Tensor u = Draw(generator).uniform(input->dims(), t, input->device);
  Tensor ratio = callOp(OpId::Div, {callOp(OpId::Log, {callOp(OpId::Sub, {1, u})}), std::log1p(-p)});
  Tensor whole = as(ratio, DType::I64); // towards zero; up where it wasn't whole
  Tensor up = callOp(OpId::Lt, {as(whole, t), ratio});
  Tensor count = callOp(OpId::Add, {whole, as(up, DType::I64)});
  count = maxOther(count, fullTensor(Dims(), 1, DType::I64, input->device));
  return deliver(as(count, input->dtype), out);
}

/// Places in rows of weights [.., n], each drawn by the sums of weights up to it, in double.
static Tensor drawFromSums(const Tensor &weights, const Draw &draw, int64_t count) {
  int64_t n = weights->sizes()[weights->rank - 1], rows = weights->numel / n;
  Tensor sums;
  {
    InternalGuard quiet;
    sums = Tensor(copyOf(contiguousTensor(weights).impl(), DType::F64));
  }
  auto *p = reinterpret_cast<double *>(sums->data);
  for (int64_t r = 0; r < rows; r++, p += n) {
    for (int64_t i = 1; i < n; i++)
      p[i] += p[i - 1];
    for (int64_t i = 0; i < n; i++)
      p[i] /= p[n - 1];
  }
  Tensor u = draw.uniform(replaced(weights->dims(), weights->rank - 1, 1, Dims({count})), DType::F64, 0);
  return callOp(OpId::SearchSorted, {sums, u}, {Attr::boolean(true)});
}

/// Places drawn by their weights. Without replacement: those with the smallest exponential times per weight.
Tensor multinomialRows(const Tensor &input, int64_t numSamples, bool replacement, const OptGenerator &generator) {
  if (input->rank != 1 && input->rank != 2)
    fail("prob_dist must be 1 or 2 dim");
  if (!isFloat(input->dtype))
    fail("multinomial only supports floating-point dtypes for input, got: " + std::string(torchName(input->dtype)));
  int64_t n = input->sizes()[input->rank - 1];
  if (numSamples <= 0)
    fail("cannot sample n_sample <= 0 samples");
  if (!replacement && numSamples > n)
    fail("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  Tensor p = detached(input);
  if (!input->device) {
    Tensor seen = observed(p, "multinomial");
    InternalGuard quiet;
    Tensor total = callOp(OpId::Sum, {seen}, {attr(Dims({p->rank - 1})), Attr::boolean(false)});
    if (!p->numel || !(item(minAll(seen)).toDouble() >= 0) || std::isinf(item(maxAll(seen)).toDouble()))
      fail("probability tensor contains either `inf`, `nan` or element < 0");
    if (item(minAll(total)).toDouble() <= 0)
      fail("invalid multinomial distribution (sum of probabilities <= 0)");
  }
  Draw draw(generator);
  DType t = computeType(p->dtype);
  if (!replacement || numSamples == 1 || p->device) {
    Tensor u = draw.uniform(p->dims(), t, p->device);
    Tensor times = callOp(OpId::Neg, {callOp(OpId::Log, {callOp(OpId::Sub, {1, u})})});
    times = maxOther(times, fullTensor(Dims(), 0x1p-126, t, p->device)); // no 0/0
    Tensor score = callOp(OpId::Div, {as(p, t), times});
    return p->device ? Tensor(newTensor(DType::I64, replaced(p->dims(), p->rank - 1, 1, Dims({numSamples})), p->device))
                     : std::get<1>(topkDim(score, numSamples, -1, true, true));
  }
  return drawFromSums(p, draw, numSamples);
}

} // namespace torchc::composite
