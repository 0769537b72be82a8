// Sizes that are known only at run time. A program with such sizes is written down at a point where each of them is a large
// prime that no constant of it comes near. Every integer of it is then read as a polynomial in them: N * 12 + 1 is the only
// one with small factors that has the value of 12 * prime + 1, as digits are those of a number.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace torchc {

inline constexpr size_t maxSymbols = 2;

/// A polynomial in the symbols: a factor for each of their products, the constant first.
struct SizeTerms {
  static constexpr int most = 4;
  int64_t factor[most] = {};

  bool constant() const { return !factor[1] && !factor[2] && !factor[3]; }
  friend bool operator==(const SizeTerms &, const SizeTerms &) = default;
};

class Symbols {
public:
  Symbols() = default;
  /// The symbols' values at the point where the program is written down, in order; at most maxSymbols.
  explicit Symbols(std::span<const int64_t> values);
  /// A point for programs whose factors are at most `largest`; none if it is too large for two symbols. `attempt` gives
  /// others.
  static std::optional<Symbols> choose(size_t count, int64_t largest, int attempt = 0);
  /// Whether choose() may have given such values; with others integers are read wrongly.
  static bool isPoint(std::span<const int64_t> values);

  bool empty() const { return values.empty(); }
  size_t size() const { return values.size(); }
  int64_t operator[](size_t i) const { return values[i]; }
  const std::vector<int64_t> &point() const { return values; }
  /// Of one symbol: 1, N, N * N; of two: 1, N, M, N * M. How often symbol `s` is a factor of product `p`.
  int power(int p, size_t s) const;
  int products() const { return values.empty() ? 1 : values.size() == 1 ? 3 : 4; }

  /// The polynomial that has the value `x` at the point; none: it isn't one with small factors.
  std::optional<SizeTerms> read(int64_t x) const;
  /// None: it has a product that isn't among ours, whose value may read as another polynomial.
  std::optional<SizeTerms> times(const SizeTerms &a, const SizeTerms &b) const;
  /// Its value with other sizes; none if it leaves int64.
  std::optional<int64_t> evaluate(const SizeTerms &t, std::span<const int64_t> sizes) const;
  /// Does `x` depend on a symbol (or can't be read)?
  bool moves(int64_t x) const;
  /// "12*s0 + 1".
  std::string str(const SizeTerms &t) const;

private:
  std::vector<int64_t> values;
  int64_t product[SizeTerms::most] = {1, 0, 0, 0}; // ascending
  int64_t bound = INT64_MAX; // of factors
};

} // namespace torchc
