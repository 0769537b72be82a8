#include "frontends/jit/Sizes.h"
#include "dialects/rules/Infer.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Modes.h"
#include "runtime/core/Layout.h"
#include <algorithm>
#include <numeric>

namespace torchc::jit {

std::shared_ptr<Recording> copySteps(const Recording &r) {
  auto out = std::make_shared<Recording>();
  out->values = r.values;
  out->dims = r.dims;
  out->storages = r.storages;
  out->steps = r.steps;
  out->ins = r.ins;
  out->attrs = r.attrs;
  out->inputs = r.inputs;
  out->wanted = r.wanted;
  out->defaultType = r.defaultType;
  size_t count = 0;
  for (const Attr &a : out->attrs)
    count += a.tag == AttrTag::IntList ? a.size : 0;
  out->ints.reserve(count); // so that lists don't move
  for (Attr &a : out->attrs)
    if (a.tag == AttrTag::IntList) {
      size_t at = out->ints.size();
      out->ints.insert(out->ints.end(), a.list, a.list + a.size);
      a.list = out->ints.data() + at;
    }
  return out;
}

void setLayout(Recording &r, uint32_t value, const Dims &sizes, const Dims &strides, int64_t offset) {
  Value &v = r.values[value];
  int64_t *to = r.dims.data() + v.firstDim;
  std::copy(sizes.begin(), sizes.end(), to);
  v.numel = std::max<int64_t>(numElements(v.rank, sizes.data()), 0);
  v.contiguous = isContiguous(v.rank, sizes.data(), strides.data());
  v.offset = offset;
  if (v.contiguous)
    contiguousStrides(v.rank, sizes.data(), to + v.rank);
  else
    std::copy(strides.begin(), strides.end(), to + v.rank);
}

bool sameLayout(const Recording &a, const Value &x, const Recording &b, const Value &y) {
  if (x.rank != y.rank || x.dtype != y.dtype || x.offset != y.offset ||
      !std::equal(a.sizesOf(x), a.sizesOf(x) + x.rank, b.sizesOf(y)))
    return false;
  for (int i = 0; i < x.rank; i++)
    if (a.stridesOf(x)[i] != b.stridesOf(y)[i] && a.sizesOf(x)[i] != 1 && x.numel)
      return false;
  return true;
}

namespace {

class Derivation {
public:
  Derivation(Recording &r, const Recording &like, const Recording *other, std::string &why)
      : r(r), like(like), other(other), why(why) {}

  bool run() {
    for (uint32_t i = 0; i < r.steps.size(); i++)
      if (const Step &s = r.steps[i]; !(s.isView ? view(s) : op(s))) {
        why = std::string(opInfo(s.op).name) + "(): " + why;
        return false;
      }
    return true;
  }

private:
  bool fail(std::string text) {
    why = std::move(text);
    return false;
  }
  Dims sizesOf(uint32_t value) const { return Dims(r.sizesOf(r.values[value]), r.values[value].rank); }
  Dims stridesOf(uint32_t value) const { return Dims(r.stridesOf(r.values[value]), r.values[value].rank); }
  const Attr *attrsOf(const Step &s) const { return r.attrs.data() + s.firstAttr; }

  bool infer(const Step &s, TensorType &type) {
    operands.assign(s.numOperands, {});
    dims.resize(std::max<size_t>(dims.size(), s.numOperands));
    const Attr *number = attrsOf(s) + s.numAttrs;
    for (uint32_t k = 0; k < s.numOperands; k++) {
      uint32_t in = r.ins[s.firstIn + k];
      OperandType &o = operands[k];
      if (in != traceNone) {
        dims[k] = sizesOf(in);
        o.dtype = r.values[in].dtype;
        o.dims = &dims[k];
        continue;
      }
      const Attr &a = *number++;
      o.isNumber = true;
      o.dtype = a.tag == AttrTag::Hole    ? r.values[r.inputs[size_t(a.i)].value].dtype
                : a.tag == AttrTag::Float ? DType::F64
                : a.tag == AttrTag::Bool  ? DType::Bool
                                          : DType::I64;
    }
    Diag diag;
    return inferOp(s.op, operands.data(), s.numOperands, attrsOf(s), s.numAttrs, r.defaultType, type, diag) ||
           fail(diag.text);
  }

  /// The dimensions of a new tensor's memory, slowest first.
  void order(uint32_t value, int *out) const {
    const Recording &from = like.values[value].contiguous && other ? *other : like;
    const Value &v = from.values[value];
    std::iota(out, out + v.rank, 0);
    if (!v.contiguous)
      std::sort(out, out + v.rank, [&](int a, int b) {
        int64_t x = from.stridesOf(v)[a], y = from.stridesOf(v)[b];
        return x != y ? x > y : a < b;
      });
  }

  bool op(const Step &s) {
    TensorType type;
    if (!infer(s, type))
      return false;
    Value &v = r.values[s.result];
    if (type.dims.size() != v.rank)
      return fail("another rank");
    if (s.out != Out::None) {
      if (!(type.dims == sizesOf(s.result)))
        return fail("a result of shape " + type.dims.str() + " for a target of shape " + sizesOf(s.result).str());
      if (s.output != s.result)
        setLayout(r, s.output, sizesOf(s.result), stridesOf(s.result), v.offset);
      return true;
    }
    if (type.dtype != v.dtype)
      return fail("another type");
    int places[maxRank];
    order(s.result, places);
    Dims strides = type.dims;
    int64_t step = 1;
    for (int i = v.rank; i-- > 0;) {
      strides[places[i]] = step;
      if (__builtin_mul_overflow(step, std::max<int64_t>(type.dims[places[i]], 1), &step))
        return fail("too many elements");
    }
    if (__builtin_mul_overflow(step, itemSize(type.dtype), &step))
      return fail("too many elements");
    setLayout(r, s.result, type.dims, strides, 0);
    r.storages[v.storage].nbytes = r.values[s.result].numel * itemSize(type.dtype);
    return true;
  }

  /// Eager's own view of a tensor without memory.
  bool view(const Step &s) {
    uint32_t in = r.ins[s.firstIn];
    const Value &x = r.values[in];
    Tensor shell(
        newShell(x.dtype, x.rank, r.sizesOf(x), x.contiguous ? nullptr : r.stridesOf(x), uint8_t(DeviceKind::Meta)));
    Tensor out;
    try {
      InternalGuard quiet;
      Operand operand(shell);
      out = Tensor(callSlow({s.op, &operand, 1, attrsOf(s), s.numAttrs, {}}));
    } catch (const Error &e) {
      return fail(e.what());
    }
    if (out->rank != r.values[s.output].rank)
      return fail("another rank");
    if (numElements(out->rank, out->sizes()) < 0)
      return fail("too many elements");
    const Attr *a = attrsOf(s);
    int64_t elements = 0;
    if (opInfo(s.op).shape == ShapeRule::Slice)
      elements = a[1].i * shell->strides()[a[0].i < 0 ? a[0].i + x.rank : a[0].i];
    else if (opInfo(s.op).shape == ShapeRule::AsStrided)
      elements = a[2].i;
    Dims sizes = out->dims(), strides(out->strides(), out->rank);
    int64_t item = itemSize(x.dtype), offset = x.offset + elements * item, low, high;
    offsetRange(sizes.size(), sizes.data(), strides.data(), low, high);
    if (sizes.numel() && (offset + low * item < 0 || offset + (high + 1) * item > r.storages[x.storage].nbytes))
      return fail("it reaches beyond its memory");
    setLayout(r, s.output, sizes, strides, offset);
    if (s.output == s.result)
      return true;
    return sameLayout(r, r.values[s.output], r, r.values[s.result]) || fail("a view that is no longer another one");
  }

  Recording &r;
  const Recording &like, *other;
  std::string &why;
  std::vector<OperandType> operands;
  std::vector<Dims> dims;
};

} // namespace

bool deriveSizes(Recording &r, const Recording &like, const Recording *other, std::string &why) {
  return Derivation(r, like, other, why).run();
}

//===-- instances -----------------------------------------------------------------------------------------------===//

namespace {

/// The integer that `x` stands for with other sizes; constants that are too large to be read stay what they are.
std::optional<int64_t> at(const Symbols &symbols, int64_t x, std::span<const int64_t> sizes) {
  std::optional<SizeTerms> terms = symbols.read(x);
  return terms ? symbols.evaluate(*terms, sizes) : std::optional(x);
}

/// Compiled code computes sizes as polynomials: do they give what the rules gave?
bool agrees(const Recording &dynamic, const Recording &r, std::span<const int64_t> sizes) {
  for (size_t i = 0; i < r.values.size(); i++) {
    const Value &v = r.values[i], &d = dynamic.values[i];
    if (d.storage == traceNone)
      continue;
    for (int k = 0; k < v.rank; k++) {
      if (at(dynamic.symbols, dynamic.sizesOf(d)[k], sizes) != r.sizesOf(v)[k])
        return false;
      bool matters = r.sizesOf(v)[k] != 1 && v.numel;
      if (matters && at(dynamic.symbols, dynamic.stridesOf(d)[k], sizes) != r.stridesOf(v)[k])
        return false;
    }
    int64_t item = itemSize(d.dtype);
    if (v.numel && at(dynamic.symbols, d.offset / item, sizes) != v.offset / item)
      return false;
  }
  return true;
}

} // namespace

std::shared_ptr<Recording> Recording::instance(const std::shared_ptr<Recording> &dynamic,
                                               std::span<const int64_t> sizes, std::string *why) {
  const Recording &d = *dynamic;
  std::shared_ptr<Recording> r = copySteps(d);
  std::string reason;
  auto none = [&](std::string text) {
    if (why)
      *why = std::move(text);
    return nullptr;
  };
  auto set = [&](int64_t &x) {
    std::optional<int64_t> y = at(d.symbols, x, sizes);
    x = y.value_or(-1);
    return bool(y);
  };
  bool fits = true;
  for (const RecordedInput &in : d.inputs) {
    if (in.generator || in.number)
      continue;
    const Value &v = d.values[in.value];
    Dims own(d.sizesOf(v), v.rank), strides(d.stridesOf(v), v.rank);
    for (int k = 0; k < v.rank; k++)
      fits &= set(own[k]) && own[k] >= 0 && set(strides[k]);
    if (v.contiguous && fits)
      contiguousStrides(v.rank, own.data(), &strides[0]);
    if (!fits || numElements(v.rank, own.data()) < 0)
      return none("its inputs can't have these sizes");
    setLayout(*r, in.value, own, strides, 0);
    int64_t low, high;
    offsetRange(v.rank, own.data(), strides.data(), low, high);
    r->storages[v.storage].nbytes = (high + 1) * itemSize(v.dtype);
  }
  for (const Step &s : d.steps)
    for (uint32_t k = 0; k < s.numAttrs; k++)
      if (Attr &a = r->attrs[s.firstAttr + k]; a.tag == AttrTag::Int)
        fits &= set(a.i);
  for (int64_t &x : r->ints)
    fits &= set(x);
  if (!fits || !deriveSizes(*r, d, nullptr, reason))
    return none(fits ? reason : "an attribute leaves int64");
  if (!agrees(d, *r, sizes))
    return none("a size that is no polynomial of the dynamic sizes");
  r->family = dynamic;
  r->sizes.assign(sizes.begin(), sizes.end());
  r->makeTemplates();
  return r;
}

bool Recording::sameProgram(const Recording &o) const {
  if (steps.size() != o.steps.size() || inputs.size() < o.inputs.size() || values.size() < o.values.size() ||
      defaultType != o.defaultType || ins != o.ins)
    return false;
  for (size_t i = 0; i < inputs.size(); i++)
    if (i < o.inputs.size() ? inputs[i].value != o.inputs[i].value || inputs[i].generator != o.inputs[i].generator ||
                                  inputs[i].number != o.inputs[i].number
                            : !inputs[i].number)
      return false;
  for (size_t i = 0; i < o.values.size(); i++)
    if (values[i].storage != o.values[i].storage || values[i].canonical != o.values[i].canonical ||
        !sameLayout(*this, values[i], o, o.values[i]))
      return false;
  for (size_t i = 0; i < o.storages.size(); i++)
    if (storages[i].memory != o.storages[i].memory || storages[i].isInput != o.storages[i].isInput ||
        storages[i].written != o.storages[i].written)
      return false;
  for (size_t i = 0; i < steps.size(); i++) {
    const Step &x = steps[i], &y = o.steps[i];
    if (x.op != y.op || x.out != y.out || x.numAttrs != y.numAttrs || x.result != y.result || x.random != y.random)
      return false;
    for (uint32_t k = 0; k < x.numAttrs; k++)
      if (!(attrs[x.firstAttr + k] == o.attrs[y.firstAttr + k]))
        return false;
    for (uint32_t k = 0, n = numbersOf(x); k < n; k++)
      if (const Attr &a = numberOf(x, k), &b = o.numberOf(y, k); !(a == b) && a.tag != AttrTag::Hole)
        return false;
  }
  return true;
}

std::string Recording::describeSymbols() const {
  std::string out;
  for (size_t s = 0; s < places.size(); s++)
    out += (s ? ", s" : "s") + std::to_string(s) + " = dimension " + std::to_string(places[s].dim) + " of input " +
           std::to_string(places[s].input);
  return out;
}

} // namespace torchc::jit
