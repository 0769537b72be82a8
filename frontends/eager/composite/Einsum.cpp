// einsum and tensordot: pairs of operands left to right, each pair one batched product (N3).
#include "frontends/eager/Autocast.h"
#include "frontends/eager/composite/Common.h"
#include <algorithm>

namespace torchc::composite {
namespace {

constexpr int ellipsisLabel = 52; // the dimensions that `...` stands for are 52, 53, ...

int labelOf(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1; }
std::string labelText(int l) {
  return l >= ellipsisLabel ? "..." : std::string(1, char(l < 26 ? 'A' + l : 'a' + l - 26));
}

/// A tensor whose dimensions have names.
struct Term {
  Tensor tensor;
  std::vector<int> labels;
  int find(int label) const {
    auto it = std::find(labels.begin(), labels.end(), label);
    return it == labels.end() ? -1 : int(it - labels.begin());
  }
  bool has(int label) const { return find(label) >= 0; }
  int64_t size(int label) const { return tensor->sizes()[find(label)]; }
};

/// One side of the equation: labels, with -1 where `...` stands.
std::vector<int> parseTerm(std::string_view text, const char *what) {
  std::vector<int> out;
  bool dots = false;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == ' ')
      continue;
    if (text[i] == '.') {
      if (dots || text.substr(i, 3) != "...")
        fail(std::string("einsum(): found '.' for ") + what +
             " that is not part of any ellipsis, or more than one of them");
      out.push_back(-1);
      dots = true;
      i += 2;
      continue;
    }
    int l = labelOf(text[i]);
    if (l < 0)
      fail(std::string("einsum(): invalid subscript given at index ") + std::to_string(i) +
           " in the equation string, "
           "subscripts must be in "
           "[a-zA-Z]");
    out.push_back(l);
  }
  return out;
}

std::vector<std::string_view> splitAt(std::string_view text, char c) {
  std::vector<std::string_view> out;
  for (size_t from = 0;;) {
    size_t at = text.find(c, from);
    out.push_back(text.substr(from, at == std::string_view::npos ? at : at - from));
    if (at == std::string_view::npos)
      return out;
    from = at + 1;
  }
}

/// The diagonal of dimensions a < b of equal size, in a's place.
Tensor mergedDiagonal(const Tensor &x, int a, int b) {
  int64_t n = x->sizes()[a];
  Tensor t = moveDims(x, {a, b}, {-2, -1});
  Dims flat(t->sizes(), t->rank - 2);
  flat.push(n * n);
  t = sliceDim(reshaped(t, flat), flat.size() - 1, 0, n * n, std::max<int64_t>(n + 1, 1));
  return moveDims(t, {-1}, {a});
}

/// An operand with named dimensions: `...` expanded, repeated labels as their diagonal.
Term named(const Tensor &t, const std::vector<int> &labels, size_t number, int dots) {
  int extra = t->rank - int(labels.size());
  bool hasDots = std::find(labels.begin(), labels.end(), -1) != labels.end();
  if (hasDots ? extra < -1 : extra != 0)
    fail("einsum(): the number of subscripts in the equation (" + std::to_string(labels.size() - size_t(hasDots)) +
         (hasDots ? ") is more than" : ") does not match") + " the number of dimensions (" + std::to_string(t->rank) +
         ") for operand " + std::to_string(number) + (hasDots ? "" : " and no ellipsis was given"));
  Term out{t, {}};
  for (int l : labels)
    if (l >= 0)
      out.labels.push_back(l);
    else
      for (int i = dots - (extra + 1); i < dots; i++)
        out.labels.push_back(ellipsisLabel + i);
  for (int b = 0; b < int(out.labels.size()); b++) {
    int a = out.find(out.labels[size_t(b)]);
    if (a == b)
      continue;
    if (out.tensor->sizes()[a] != out.tensor->sizes()[b])
      fail("einsum(): subscript " + labelText(out.labels[size_t(b)]) + " is repeated for operand " +
           std::to_string(number) + " but the sizes don't match, " + std::to_string(out.tensor->sizes()[b]) +
           " != " + std::to_string(out.tensor->sizes()[a]));
    out.tensor = mergedDiagonal(out.tensor, a, b);
    out.labels.erase(out.labels.begin() + b--);
  }
  return out;
}

/// Sums over labels that `keep` doesn't have; `wide`: integers in int64, as a sum has them.
template <class Keep> void sumOut(Term &t, Keep keep, bool wide = false) {
  Dims axes;
  std::vector<int> left;
  for (int i = 0; i < int(t.labels.size()); i++)
    if (keep(t.labels[size_t(i)]))
      left.push_back(t.labels[size_t(i)]);
    else
      axes.push(i);
  if (axes.empty())
    return;
  DType type = t.tensor->dtype;
  t.tensor = callOp(OpId::Sum, {t.tensor}, {attr(axes), Attr::boolean(false)});
  if (!wide)
    t.tensor = as(t.tensor, type);
  t.labels = left;
}

/// The dimensions in another order, missing ones with size 1.
Tensor ordered(const Term &t, const std::vector<int> &labels) {
  std::vector<int64_t> order;
  for (int l : labels)
    if (t.has(l))
      order.push_back(t.find(l));
  Tensor x = order.empty() ? t.tensor : permuteDims(t.tensor, order);
  for (size_t i = 0; i < labels.size(); i++)
    if (!t.has(labels[i]))
      x = unsqueezeDim(x, int64_t(i));
  return x;
}

/// A dimension of size 1 repeated to the other operand's size.
void widen(Term &t, const Term &other) {
  Dims shape = t.tensor->dims();
  for (int i = 0; i < shape.size(); i++)
    if (int l = t.labels[size_t(i)]; shape[i] == 1 && other.has(l))
      shape[i] = other.size(l);
  t.tensor = expanded(t.tensor, shape);
}

int64_t productOf(const Term &t, const std::vector<int> &labels) {
  int64_t n = 1;
  for (int l : labels)
    n *= t.size(l);
  return n;
}

/// a times b, summed over the labels that both have and `keep` doesn't.
template <class Keep> Term multiplied(Term a, Term b, Keep keep) {
  sumOut(a, [&](int l) { return keep(l) || b.has(l); });
  sumOut(b, [&](int l) { return keep(l) || a.has(l); });
  std::vector<int> batch, left, right, inner;
  for (int l : a.labels)
    (!b.has(l) ? left : keep(l) ? batch : inner).push_back(l);
  for (int l : b.labels)
    if (!a.has(l))
      right.push_back(l);
  Term out;
  out.labels = batch;
  out.labels.insert(out.labels.end(), left.begin(), left.end());
  out.labels.insert(out.labels.end(), right.begin(), right.end());
  checkRank(int64_t(out.labels.size()), "a product");
  if (inner.empty()) {
    out.tensor = callOp(OpId::Mul, {ordered(a, out.labels), ordered(b, out.labels)});
    return out;
  }
  widen(a, b);
  widen(b, a);
  auto joined = [](std::vector<int> x, const std::vector<int> &y, const std::vector<int> &z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  Dims shape;
  for (int l : out.labels)
    shape.push(a.has(l) ? a.size(l) : b.size(l));
  int64_t n = productOf(a, batch), m = productOf(a, left), k = productOf(a, inner), p = productOf(b, right);
  Tensor x = reshaped(ordered(a, joined(batch, left, inner)), batch.empty() ? Dims({m, k}) : Dims({n, m, k}));
  Tensor y = reshaped(ordered(b, joined(batch, inner, right)), batch.empty() ? Dims({k, p}) : Dims({n, k, p}));
  out.tensor = reshaped(callOp(OpId::Matmul, {x, y}), shape);
  return out;
}

/// Labels that appear once, uppercase first, behind those of `...`.
std::vector<int> implicitOutput(const std::vector<Term> &terms, const std::vector<std::vector<int>> &written,
                                int dots) {
  std::vector<int> out;
  for (int i = 0; i < dots; i++)
    out.push_back(ellipsisLabel + i);
  for (int l = 0; l < ellipsisLabel; l++) {
    int64_t count = 0;
    for (const auto &w : written)
      count += std::count(w.begin(), w.end(), l);
    if (count == 1)
      out.push_back(l);
  }
  return out;
}

std::vector<int> explicitOutput(std::string_view text, const std::vector<Term> &terms, int dots) {
  std::vector<int> out;
  for (int l : parseTerm(text, "the output")) {
    if (l < 0) {
      for (int i = 0; i < dots; i++)
        out.push_back(ellipsisLabel + i);
      continue;
    }
    if (std::find(out.begin(), out.end(), l) != out.end())
      fail("einsum(): output subscript " + labelText(l) + " appears more than once in the output");
    if (std::none_of(terms.begin(), terms.end(), [l](const Term &t) { return t.has(l); }))
      fail("einsum(): output subscript " + labelText(l) + " does not appear in the equation for any input operand");
    out.push_back(l);
  }
  return out;
}

void checkSizes(const std::vector<Term> &terms) {
  for (size_t i = 0; i < terms.size(); i++)
    for (int l : terms[i].labels)
      for (size_t k = 0; k < i; k++)
        if (int64_t a = terms[k].has(l) ? terms[k].size(l) : 1, b = terms[i].size(l); a != b && a != 1 && b != 1)
          fail("einsum(): operands do not broadcast with remapped shapes: subscript " + labelText(l) + " has size " +
               std::to_string(b) + " for operand " + std::to_string(i) + " which does not broadcast with size " +
               std::to_string(a));
}

} // namespace

Tensor einsumOf(std::string_view equation, TensorList operands) {
  if (operands.empty())
    fail("einsum(): must provide at least one operand");
  if (TORCHC_UNLIKELY(isAutocast()) && operands.size() > 1) // as bmm
    return einsumOf(equation, AutocastCall(Autocast::Low)(operands));
  size_t arrow = equation.find("->");
  std::vector<std::string_view> texts = splitAt(equation.substr(0, arrow), ',');
  if (texts.size() != operands.size())
    fail(texts.size() > operands.size() ? "einsum(): fewer operands were provided than specified in the equation"
                                        : "einsum(): more operands were provided than specified in the equation");
  std::vector<std::vector<int>> written;
  int dots = 0;
  for (size_t i = 0; i < texts.size(); i++) {
    written.push_back(parseTerm(texts[i], "an operand"));
    if (std::find(written[i].begin(), written[i].end(), -1) != written[i].end())
      dots = std::max(dots, operands[i]->rank - int(written[i].size()) + 1);
  }
  std::vector<Term> terms;
  for (size_t i = 0; i < texts.size(); i++)
    terms.push_back(named(operands[i], written[i], i, dots));
  checkSizes(terms);
  std::vector<int> output = arrow == std::string_view::npos ? implicitOutput(terms, written, dots)
                                                            : explicitOutput(equation.substr(arrow + 2), terms, dots);
  auto wanted = [&](int l, size_t from) {
    return std::find(output.begin(), output.end(), l) != output.end() ||
           std::any_of(terms.begin() + int64_t(from), terms.end(), [l](const Term &t) { return t.has(l); });
  };
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); i++)
    result = multiplied(result, terms[i], [&](int l) { return wanted(l, i + 1); });
  sumOut(result, [&](int l) { return wanted(l, terms.size()); }, true);
  Tensor out = ordered(result, output);
  return out.same(operands[0]) ? viewShape(out, out->dims()) : out;
}

/// Sums over pairs of dimensions.
Tensor tensorDot(const Tensor &input, const Tensor &other, IntList dimsSelf, IntList dimsOther) {
  if (dimsSelf.size() != dimsOther.size())
    fail("both dimension lists should have same length");
  if (input->dtype != other->dtype)
    fail("tensordot: both inputs should have same dtype, got " + std::string(torchName(input->dtype)) + " and " +
         std::string(torchName(other->dtype)));
  Term a{input, {}}, b{other, {}};
  for (int i = 0; i < input->rank; i++)
    a.labels.push_back(i);
  for (int i = 0; i < other->rank; i++)
    b.labels.push_back(maxRank + i);
  for (size_t k = 0; k < dimsSelf.size(); k++) {
    int64_t d = wrap(dimsSelf[k], input->rank), e = wrap(dimsOther[k], other->rank);
    int64_t n = input->rank ? input->sizes()[d] : 1, m = other->rank ? other->sizes()[e] : 1;
    if (n != m && n != 1 && m != 1)
      fail("contracted dimensions need to match, but first has size " + std::to_string(n) + " in dim " +
           std::to_string(d) + " and second has size " + std::to_string(m) + " in dim " + std::to_string(e));
    if (other->rank && input->rank) {
      if (b.labels[size_t(e)] < maxRank)
        fail("dim " + std::to_string(e) + " appears multiple times in the list of dims");
      b.labels[size_t(e)] = int(d);
    }
  }
  return multiplied(a, b, [&](int l) { return l >= maxRank || !b.has(l); }).tensor;
}

} // namespace torchc::composite
