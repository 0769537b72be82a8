#include "dialects/rules/Symbols.h"
#include <algorithm>

namespace torchc {

Symbols::Symbols(std::span<const int64_t> point) : values(point.begin(), point.end()) {
  if (values.empty())
    return;
  // Factors of half a step between two products would be read in two ways.
  bound = values[0] / (values.size() == 1 ? 8 : 4);
  for (int p = 1; p < products(); p++) {
    product[p] = 1;
    for (size_t s = 0; s < values.size(); s++)
      for (int k = 0; k < power(p, s); k++)
        if (__builtin_mul_overflow(product[p], values[s], &product[p]))
          product[p] = INT64_MAX;
  }
}

int Symbols::power(int p, size_t s) const {
  if (values.size() == 1)
    return p;
  return p == 3 ? 1 : p == int(s) + 1;
}

static bool isPrime(int64_t n) {
  for (int64_t d = 2; d * d <= n; d++)
    if (n % d == 0)
      return false;
  return true;
}

static int64_t primeFrom(int64_t n) {
  while (!isPrime(n))
    n++;
  return n;
}

static constexpr int64_t least = 1 << 13, most = int64_t(1) << 30, mostOfTwo = 1 << 19;

std::optional<Symbols> Symbols::choose(size_t count, int64_t largest, int attempt) {
  const int64_t room = count == 1 ? 64 : 8; // products of two leave less
  if (count > maxSymbols || largest > most / room)
    return std::nullopt;
  std::vector<int64_t> values;
  int64_t first = std::max(least, room * largest);
  for (int i = 0; i <= attempt; i++)
    first = primeFrom(first + 1);
  values.push_back(first);
  if (count == 2) {
    if (first > mostOfTwo)
      return std::nullopt;
    values.push_back(primeFrom(first * first + first * first / 2)); // far from the square of the first
  }
  return Symbols(values);
}

bool Symbols::isPoint(std::span<const int64_t> values) {
  if (values.empty() || values.size() > maxSymbols || values[0] < least || values[0] > 2 * most || !isPrime(values[0]))
    return values.empty();
  if (values.size() == 1)
    return true;
  int64_t square = values[0] * values[0];
  return values[0] <= mostOfTwo && values[1] > square && values[1] < 2 * square && isPrime(values[1]);
}

std::optional<SizeTerms> Symbols::read(int64_t x) const {
  SizeTerms t;
  for (int p = products(); p-- > 1;) {
    int64_t half = product[p] / 2, q = x / product[p], rest = x % product[p];
    if (rest > half)
      q++;
    else if (rest < -half)
      q--;
    if (q > bound || q < -bound)
      return std::nullopt;
    t.factor[p] = q;
    x = rest > half ? rest - product[p] : rest < -half ? rest + product[p] : rest;
  }
  if (!values.empty() && (x > bound || x < -bound))
    return std::nullopt;
  t.factor[0] = x;
  return t;
}

std::optional<SizeTerms> Symbols::times(const SizeTerms &a, const SizeTerms &b) const {
  SizeTerms out;
  for (int p = 0; p < products(); p++)
    for (int q = 0; q < products(); q++) {
      if (!a.factor[p] || !b.factor[q])
        continue;
      int r = 0;
      auto isProduct = [&] {
        for (size_t s = 0; s < values.size(); s++)
          if (power(r, s) != power(p, s) + power(q, s))
            return false;
        return true;
      };
      while (r < products() && !isProduct())
        r++;
      int64_t factor;
      if (r == products() || __builtin_mul_overflow(a.factor[p], b.factor[q], &factor) ||
          __builtin_add_overflow(out.factor[r], factor, &out.factor[r]))
        return std::nullopt;
    }
  return out;
}

std::optional<int64_t> Symbols::evaluate(const SizeTerms &t, std::span<const int64_t> sizes) const {
  int64_t sum = t.factor[0];
  for (int p = 1; p < products(); p++) {
    int64_t v = t.factor[p];
    for (size_t s = 0; v && s < values.size(); s++)
      for (int k = 0; k < power(p, s); k++)
        if (__builtin_mul_overflow(v, sizes[s], &v))
          return std::nullopt;
    if (__builtin_add_overflow(sum, v, &sum))
      return std::nullopt;
  }
  return sum;
}

bool Symbols::moves(int64_t x) const {
  std::optional<SizeTerms> t = read(x);
  return !t || !t->constant();
}

std::string Symbols::str(const SizeTerms &t) const {
  std::string out;
  for (int p = products(); p-- > 0;) {
    int64_t f = t.factor[p];
    if (!f)
      continue;
    std::string term;
    for (size_t s = 0; p && s < values.size(); s++)
      for (int k = 0; k < power(p, s); k++)
        term += (term.empty() ? "s" : "*s") + std::to_string(s);
    std::string number = std::to_string(f < 0 ? -f : f);
    term = term.empty() ? number : (f == 1 || f == -1) ? term : number + "*" + term;
    out += out.empty() ? (f < 0 ? "-" + term : term) : (f < 0 ? " - " : " + ") + term;
  }
  return out.empty() ? "0" : out;
}

} // namespace torchc
