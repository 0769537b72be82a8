// Two recordings of one program with different sizes become one with symbols (J5).
#include "frontends/jit/Control.h"
#include "frontends/jit/Sizes.h"
#include "runtime/core/Layout.h"
#include <algorithm>

namespace torchc::jit {
namespace {

/// An integer as the two recordings have it.
struct Pair {
  int64_t a, b;
};

class Join {
public:
  Join(const Recording &a, const Recording &b, std::string &why) : a(a), b(b), why(why) {}

  std::shared_ptr<Recording> run() {
    if (!sameForm() || !findSymbols())
      return nullptr;
    for (const Step &s : b.steps)
      if (s.control != traceNone)
        return fail("the graphs of " + std::string(b.controls[s.control]->name()) + "() are recorded for one size");
    for (int attempt = 0; attempt < 8; attempt++) {
      std::optional<Symbols> point = Symbols::choose(pairs.size(), largestFactor(), attempt);
      if (!point)
        return fail("the sizes are too large to be told apart");
      if (!apart(*point))
        continue;
      symbols = *point;
      return build();
    }
    return fail("its constants can't be told from sizes");
  }

private:
  std::nullptr_t fail(std::string text) {
    why = std::move(text);
    return nullptr;
  }
  /// Does the integer depend on a size?
  bool moves(Pair p) const { return p.a != p.b || (a.dynamic() && a.symbols.moves(p.a)); }

  //===-- the same program but for integers ---------------------------------------------------------------------===//

  static bool integers(const Attr &x) { return x.tag == AttrTag::Int || x.tag == AttrTag::IntList; }
  bool sameForm() {
    if (a.steps.size() != b.steps.size() || a.ins != b.ins || a.defaultType != b.defaultType ||
        a.storages.size() != b.storages.size() || a.values.size() < b.values.size() ||
        a.inputs.size() < b.inputs.size())
      return false;
    for (size_t i = 0; i < a.inputs.size(); i++) // numbers that are inputs of the earlier one are constants yet
      if (i < b.inputs.size() ? a.inputs[i].value != b.inputs[i].value || a.inputs[i].generator != b.inputs[i].generator
                              : !a.inputs[i].number)
        return false;
    for (size_t i = 0; i < b.values.size(); i++) {
      const Value &x = a.values[i], &y = b.values[i];
      if (x.storage != y.storage || x.canonical != y.canonical || x.input != y.input || x.dtype != y.dtype ||
          x.rank != y.rank)
        return false;
    }
    for (size_t i = 0; i < b.storages.size(); i++)
      if (a.storages[i].memory != b.storages[i].memory || a.storages[i].isInput != b.storages[i].isInput ||
          a.storages[i].written != b.storages[i].written)
        return false;
    for (size_t i = 0; i < b.steps.size(); i++) {
      const Step &x = a.steps[i], &y = b.steps[i];
      if (x.op != y.op || x.out != y.out || x.isView != y.isView || x.numOperands != y.numOperands ||
          x.numAttrs != y.numAttrs || x.result != y.result || x.output != y.output || x.random != y.random ||
          x.numResults != y.numResults || (x.control == traceNone) != (y.control == traceNone))
        return false;
      if (x.control != traceNone && a.controls[x.control]->loop != b.controls[y.control]->loop)
        return false;
      for (uint32_t k = 0; k < x.numAttrs; k++) {
        const Attr &p = a.attrs[x.firstAttr + k], &q = b.attrs[y.firstAttr + k];
        if (p.tag != q.tag || p.size != q.size)
          return false;
        if (!integers(p) && !(p == q))
          odd = &y;
      }
    }
    return true;
  }

  //===-- symbols -----------------------------------------------------------------------------------------------===//

  bool isTensor(const RecordedInput &in) const { return !in.generator && !in.number; }
  Pair sizeOf(uint32_t value, int k) const { return {a.sizesOf(a.values[value])[k], b.sizesOf(b.values[value])[k]}; }

  /// Equal pairs are one size; a multiple of one that is known is no other.
  bool findSymbols() {
    for (uint32_t i = 0; i < b.inputs.size(); i++)
      for (int k = 0; isTensor(b.inputs[i]) && k < b.values[b.inputs[i].value].rank; k++) {
        Pair p = sizeOf(b.inputs[i].value, k);
        if (!moves(p) || monomial(p))
          continue;
        pairs.push_back(p);
        places.push_back({i, uint32_t(k)});
      }
    if (pairs.size() > maxSymbols) {
      fail(std::to_string(pairs.size()) + " sizes change; " + std::to_string(maxSymbols) + " at most can be dynamic");
      return false;
    }
    if (pairs.empty() && attributesMove())
      fail("arguments of ops that change and are no size of an input");
    else if (!pairs.empty() && odd)
      fail("an argument of " + std::string(opInfo(odd->op).name) + "() that changes and is no integer");
    return why.empty() && !pairs.empty();
  }
  bool attributesMove() const {
    for (size_t i = 0; i < b.steps.size(); i++)
      for (uint32_t k = 0; k < b.steps[i].numAttrs; k++)
        if (!(a.attrs[a.steps[i].firstAttr + k] == b.attrs[b.steps[i].firstAttr + k]))
          return true;
    return false;
  }

  /// Factor and product of symbols that give the pair.
  struct Term {
    int64_t factor;
    int s, t; // symbols, -1: none
  };
  std::optional<Term> monomial(Pair p) const {
    auto times = [](Pair x, Pair y) { return Pair{x.a * y.a, x.b * y.b}; };
    auto quotient = [&](Pair m) -> std::optional<int64_t> {
      if (m.a == 0 || p.a % m.a || p.a / m.a * m.b != p.b || !p.a)
        return std::nullopt;
      return p.a / m.a;
    };
    int n = int(pairs.size());
    for (int s = 0; s < n; s++)
      if (auto q = quotient(pairs[size_t(s)]))
        return Term{*q, s, -1};
    for (int s = 0; s < n; s++)
      for (int t = s; t < n; t++)
        if (auto q = quotient(times(pairs[size_t(s)], pairs[size_t(t)])))
          return Term{*q, s, t};
    return std::nullopt;
  }

  /// The integer at the symbols' point that explains both.
  std::optional<int64_t> atPoint(Pair p) const {
    if (!moves(p))
      return p.b;
    int64_t x;
    if (auto m = monomial(p)) {
      bool over = __builtin_mul_overflow(m->factor, symbols[size_t(m->s)], &x);
      if (m->t >= 0)
        over |= __builtin_mul_overflow(x, symbols[size_t(m->t)], &x);
      return over ? std::nullopt : std::optional(x);
    }
    for (size_t s = 0; s < pairs.size(); s++) { // factor * size + constant
      int64_t by = pairs[s].a - pairs[s].b;
      if (!by || (p.a - p.b) % by)
        continue;
      int64_t factor = (p.a - p.b) / by, constant = p.a - factor * pairs[s].a;
      if (factor && std::abs(factor) < symbols[0] / 64 && std::abs(constant) < symbols[0] / 64)
        return factor * symbols[s] + constant;
    }
    return std::nullopt;
  }

  //===-- the point ---------------------------------------------------------------------------------------------===//

  /// An upper bound of the factors and constants that sizes of the program are made of.
  int64_t largestFactor() const {
    Pair least = pairs[0];
    for (Pair p : pairs)
      least = {std::min(least.a, p.a), std::min(least.b, p.b)};
    int64_t most = 1;
    auto times = [](int64_t x, int64_t y) { return __builtin_mul_overflow(x, y, &x) ? INT64_MAX : x; };
    for (uint32_t v = 0; v < b.values.size(); v++) {
      int64_t factor = 1;
      for (int k = 0; k < b.values[v].rank; k++) {
        Pair p = sizeOf(v, k);
        int64_t own = std::min(p.a / std::max<int64_t>(least.a, 1), p.b / std::max<int64_t>(least.b, 1)) + 1;
        factor = times(factor, std::max<int64_t>(moves(p) ? own : p.b, 1));
      }
      most = std::max(most, factor);
    }
    return most;
  }

  /// No number of the program reads as a size.
  bool apart(const Symbols &point) const {
    auto fine = [&](int64_t x) {
      std::optional<SizeTerms> t = point.read(x);
      return !t || t->constant();
    };
    for (size_t i = 0; i < b.attrs.size(); i++) {
      const Attr &x = b.attrs[i];
      if (x.tag == AttrTag::Int && !fine(x.i))
        return false;
      if (x.tag == AttrTag::Float && x.f == double(int64_t(std::clamp(x.f, -0x1p62, 0x1p62))) && !fine(int64_t(x.f)))
        return false;
      for (uint32_t k = 0; x.tag == AttrTag::IntList && k < x.size; k++)
        if (!fine(x.list[k]))
          return false;
    }
    return true;
  }

  //===-- the dynamic recording ---------------------------------------------------------------------------------===//

  bool inputLayouts(Recording &r) {
    for (const RecordedInput &in : b.inputs) {
      if (!isTensor(in))
        continue;
      const Value &x = a.values[in.value], &y = b.values[in.value];
      Dims sizes, strides;
      for (int k = 0; k < y.rank; k++) {
        std::optional<int64_t> size = atPoint(sizeOf(in.value, k));
        std::optional<int64_t> stride = atPoint({a.stridesOf(x)[k], b.stridesOf(y)[k]});
        if (!size || (!stride && !(x.contiguous && y.contiguous))) {
          fail("an input of shape " + Dims(b.sizesOf(y), y.rank).str() + " whose strides can't be told from its sizes");
          return false;
        }
        sizes.push(*size);
        strides.push(stride.value_or(0));
      }
      if (x.contiguous && y.contiguous)
        contiguousStrides(y.rank, sizes.data(), &strides[0]);
      setLayout(r, in.value, sizes, strides, 0);
      int64_t low, high;
      offsetRange(y.rank, sizes.data(), strides.data(), low, high);
      r.storages[y.storage].nbytes = (high + 1) * itemSize(y.dtype);
    }
    return true;
  }

  bool attributes(Recording &r) {
    for (size_t i = 0; i < r.steps.size(); i++)
      for (uint32_t k = 0; k < r.steps[i].numAttrs; k++) {
        const Attr &x = a.attrs[a.steps[i].firstAttr + k], &y = b.attrs[b.steps[i].firstAttr + k];
        Attr &to = r.attrs[r.steps[i].firstAttr + k];
        bool fits = true;
        auto set = [&](Pair p, int64_t &out) {
          std::optional<int64_t> v = atPoint(p);
          fits = fits && v;
          out = v.value_or(p.b);
        };
        if (y.tag == AttrTag::Int)
          set({x.i, y.i}, to.i);
        for (uint32_t e = 0; y.tag == AttrTag::IntList && e < y.size; e++)
          set({x.list[e], y.list[e]}, const_cast<int64_t &>(to.list[e]));
        if (!fits) {
          fail("an argument of " + std::string(opInfo(r.steps[i].op).name) + "() that isn't made of the sizes");
          return false;
        }
      }
    return true;
  }

  /// The trace says what the recording says.
  static void writeTrace(Recording &r) {
    Trace &t = r.trace;
    t.dims.clear();
    for (size_t i = 0; i < r.values.size(); i++) {
      const Value &v = r.values[i];
      TraceValue &to = t.values[i];
      to.firstDim = uint32_t(t.dims.size());
      to.offset = v.offset / itemSize(v.dtype);
      to.flags = uint16_t((to.flags & ~TraceValue::Contiguous) | (v.contiguous ? TraceValue::Contiguous : 0));
      t.dims.insert(t.dims.end(), r.sizesOf(v), r.sizesOf(v) + v.rank);
      if (!v.contiguous)
        t.dims.insert(t.dims.end(), r.stridesOf(v), r.stridesOf(v) + v.rank);
    }
    for (size_t s = 0; s < r.storages.size(); s++)
      t.storages[s].nbytes = r.storages[s].nbytes;
    for (size_t i = 0; i < r.steps.size(); i++)
      for (uint32_t k = 0; k < r.steps[i].numAttrs; k++) {
        TraceAttr &to = t.attrs[t.nodes[i].firstAttr + k];
        const Attr &from = r.attrs[r.steps[i].firstAttr + k];
        if (from.tag == AttrTag::Int)
          to.bits = from.i;
        else if (from.tag == AttrTag::IntList)
          std::copy(from.list, from.list + from.size, t.ints.begin() + to.bits);
      }
    for (size_t s = 0; s < r.symbols.size(); s++)
      t.addSymbol("s" + std::to_string(s), r.symbols[s]);
  }

  /// Blocks of keys are unrolled.
  bool unrolled(const Recording &r) {
    for (const Step &s : r.steps) {
      if (opInfo(s.op).shape != ShapeRule::Attention)
        continue;
      const Value &keys = r.values[r.ins[s.firstIn + 1]];
      if (symbols.moves(r.sizesOf(keys)[keys.rank - 2])) {
        fail(std::string(opInfo(s.op).name) + "() over a number of keys that changes");
        return true;
      }
    }
    return false;
  }

  bool numbers(Recording &r) {
    r.generalise(a);
    for (const Step &s : r.steps)
      for (uint32_t k = 0, n = r.numbersOf(s); k < n; k++) {
        const Attr &now = r.numberOf(s, k);
        if (now.tag != AttrTag::Hole && !(now == a.numberOf(a.steps[size_t(&s - r.steps.data())], k))) {
          fail("a number of " + std::string(opInfo(s.op).name) + "() that changes with the sizes");
          return false;
        }
      }
    return true;
  }

  std::shared_ptr<Recording> build() {
    std::shared_ptr<Recording> r = copySteps(b);
    r->trace = b.trace;
    r->trace.outputs.clear();
    for (uint32_t i = 0; i < r->steps.size(); i++) // texts are the new trace's
      for (uint32_t k = 0; k < r->steps[i].numAttrs; k++)
        if (Attr &x = r->attrs[r->steps[i].firstAttr + k]; x.tag == AttrTag::Str)
          x = r->trace.attr(r->trace.attrsOf(r->trace.nodes[i])[k]);
    r->boundary = b.boundary;
    r->symbols = symbols;
    r->places = places;
    for (Pair p : pairs)
      r->sizes.push_back(p.b);
    const Recording *other = &a;
    std::string reason;
    if (!inputLayouts(*r) || !attributes(*r))
      return nullptr;
    if (!deriveSizes(*r, b, other, reason))
      return fail("sizes that only fit each other by chance: " + reason);
    if (unrolled(*r) || !numbers(*r))
      return nullptr;
    writeTrace(*r);
    r->identify();
    std::vector<uint32_t> outputs;
    r->wanted.assign(r->storages.size(), false);
    for (uint32_t s = 0; s < b.wanted.size(); s++)
      if (a.wanted[s] || b.wanted[s])
        outputs.push_back(s);
    r->want(outputs);
    return explains(r) ? r : nullptr;
  }

  /// Both recordings must be instances.
  bool explains(const std::shared_ptr<Recording> &r) {
    for (const Recording *one : {&a, &b}) {
      if (one->dynamic())
        continue;
      std::vector<int64_t> sizes;
      for (Pair p : pairs)
        sizes.push_back(one == &a ? p.a : p.b);
      std::string reason = "another form";
      std::shared_ptr<Recording> i = Recording::instance(r, sizes, &reason);
      if (!i || !i->sameProgram(*one)) {
        fail("sizes that don't follow from those of the inputs: " + reason);
        return false;
      }
    }
    return true;
  }

  const Recording &a, &b;
  std::string &why;
  std::vector<Pair> pairs; // by symbol
  std::vector<SymbolPlace> places;
  Symbols symbols;
  const Step *odd = nullptr; // a step with another argument than an integer that changes
};

} // namespace

std::shared_ptr<Recording> Recording::joinSizes(const Recording &a, const Recording &b, std::string &why) {
  why.clear();
  return Join(a, b, why).run();
}

} // namespace torchc::jit
