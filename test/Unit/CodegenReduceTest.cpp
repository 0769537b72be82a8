// Reductions of the pack against N4 written as plain loops.
#include "test/Unit/CodegenSupport.h"
#include <functional>
#include <gtest/gtest.h>

using namespace torchc;
using namespace torchc::test;

namespace {

/// N4 on accumulators of type A.
template <class A>
A reduceN4(const std::vector<A> &x, A identity, int chains, const std::function<A(A, A)> &op, A empty) {
  if (x.empty())
    return empty;
  std::vector<A> level;
  for (size_t b = 0; b < x.size(); b += 1024) {
    std::vector<A> c(size_t(chains), identity);
    for (size_t i = b; i < std::min(b + 1024, x.size()); ++i)
      c[(i - b) % size_t(chains)] = op(c[(i - b) % size_t(chains)], x[i]);
    for (int w = chains / 2; w >= 1; w /= 2)
      for (int i = 0; i < w; ++i)
        c[size_t(i)] = op(c[size_t(i)], c[size_t(i + w)]);
    level.push_back(c[0]);
  }
  while (level.size() > 1) {
    std::vector<A> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(op(level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = next;
  }
  return level[0];
}

template <class A> A maxN7(A x, A y) {
  if constexpr (std::is_floating_point_v<A>) {
    if (std::isnan(x) || std::isnan(y))
      return A(NAN);
    if (x == 0 && y == 0)
      return std::signbit(x) ? y : x;
  }
  return x > y ? x : y;
}
template <class A> A minN7(A x, A y) {
  if constexpr (std::is_floating_point_v<A>)
    return -maxN7<A>(-x, -y);
  else
    return x < y ? x : y;
}

/// First index holding the extreme: the same bits, or any NaN.
template <class A> int64_t argN7(const std::vector<A> &x, bool isMax) {
  A m = x[0];
  for (A v : x)
    m = isMax ? maxN7<A>(m, v) : minN7<A>(m, v);
  for (size_t i = 0; i < x.size(); ++i)
    if (std::memcmp(&x[i], &m, sizeof(A)) == 0 || (m != m && x[i] != x[i]))
      return int64_t(i);
  return -1;
}

enum class Kind { Sum, Max, Min, ArgMax, ArgMin };

template <class A> Scalar toScalar(A v) {
  if constexpr (std::is_floating_point_v<A>)
    return {double(v), 0};
  else
    return {0, int64_t(v)};
}

template <class A> Scalar reference(Kind kind, const std::vector<A> &x) {
  if (kind == Kind::ArgMax || kind == Kind::ArgMin)
    return {0, x.empty() ? 0 : argN7(x, kind == Kind::ArgMax)};
  int chains = sizeof(A) == 4 ? 64 : 32;
  if (kind == Kind::Sum) {
    if constexpr (std::is_floating_point_v<A>)
      return toScalar(reduceN4<A>(x, A(-0.0), chains, [](A a, A b) { return a + b; }, A(0)));
    uint64_t s = 0;
    for (A v : x)
      s += uint64_t(int64_t(v));
    return {0, int64_t(s)};
  }
  A m = x[0];
  for (A v : x)
    m = kind == Kind::Max ? maxN7<A>(m, v) : minN7<A>(m, v);
  return toScalar(m);
}

Scalar referenceOf(Kind kind, DType t, const std::vector<Scalar> &x) {
  auto as = [&](auto zero) {
    using A = decltype(zero);
    std::vector<A> v;
    for (Scalar s : x)
      v.push_back(std::is_floating_point_v<A> ? A(s.f) : A(s.i));
    return reference<A>(kind, v);
  };
  if (!isFloat(t))
    return as(int64_t(0));
  return t == DType::F64 ? as(double(0)) : as(float(0));
}

const char *nameOf(Kind k) {
  static const char *names[] = {"sum", "amax", "amin", "argmax", "argmin"};
  return names[int(k)];
}

DType outType(Kind k, DType t) {
  if (k == Kind::ArgMax || k == Kind::ArgMin)
    return DType::I64;
  if (k != Kind::Sum)
    return t;
  return isFloat(t) ? computeType(t) : DType::I64;
}

void fill(Array &a, Rng &rng, int style) {
  fillRandom(a, rng, style == 2);
  if (style == 1) // ties and signed zeros
    for (int64_t i = 0; i < a.size; ++i)
      a.set(i, {rng() % 2 ? 0.0 : -0.0, int64_t(rng() % 2)});
}

void check(const PackTable *table, Kind kind, DType t, int64_t rows, int64_t cols, bool columns, int style, Rng &rng) {
  auto id = lookupOp(nameOf(kind));
  ASSERT_TRUE(id);
  Kernel k = findKernel(table, packKey(columns ? PackForm::ReduceCols : PackForm::Reduce, *id, t, 0));
  ASSERT_TRUE(k) << nameOf(kind) << " " << shortName(t);
  Array in(t, rows * cols), out(outType(kind, t), columns ? cols : rows), expected(out.type, out.size);
  fill(in, rng, style);
  void *ptrs[] = {out.at(0), in.at(0), nullptr};
  int64_t rowSizes[] = {cols}, colSizes[] = {rows, cols};
  k(ptrs, columns ? colSizes : rowSizes, nullptr, 0, out.size);
  ASSERT_TRUE(out.intact());
  for (int64_t o = 0; o < out.size; ++o) {
    std::vector<Scalar> x;
    for (int64_t i = 0; i < (columns ? rows : cols); ++i)
      x.push_back(in.get(columns ? i * cols + o : o * cols + i));
    expected.set(o, referenceOf(kind, t, x));
    ASSERT_TRUE(same(out.type, out.at(o), expected.at(o)))
        << nameOf(kind) << " " << shortName(t) << (columns ? " columns " : " rows ") << rows << "x" << cols << " at "
        << o << ": got " << show(out.type, out.at(o)) << ", expected " << show(out.type, expected.at(o));
  }
}

void checkAll(bool columns) {
  Rng rng(columns ? 11 : 12);
  const int64_t lengths[] = {0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 100, 1023, 1024, 1025, 3000, 5121, 70000};
  for (const PackTable *table : runnableTables())
    for (int d = 0; d < numComputeDTypes; ++d)
      for (Kind kind : {Kind::Sum, Kind::Max, Kind::Min, Kind::ArgMax, Kind::ArgMin})
        for (int64_t n : lengths) {
          if (n == 0 && kind != Kind::Sum)
            continue;
          for (int style = 0; style < (n > 5000 ? 1 : 3); ++style) {
            int64_t others = n > 5000 ? 3 : columns ? int64_t(rng() % 150) + 1 : int64_t(rng() % 4) + 1;
            check(table, kind, DType(d), columns ? n : others, columns ? others : n, columns, style, rng);
            if (testing::Test::HasFatalFailure())
              return;
          }
        }
}

} // namespace

TEST(CodegenReduce, RowsBitExact) { checkAll(false); }
TEST(CodegenReduce, ColumnsBitExact) { checkAll(true); }

namespace {

/// N4 with acc = fma(x, y, acc) in chains from +0.
template <class A> A dotN4(const std::vector<A> &x, const std::vector<A> &y, size_t chains) {
  std::vector<A> level;
  for (size_t at = 0; at < x.size(); at += 1024) {
    std::vector<A> c(chains, A(0));
    for (size_t i = at; i < std::min(at + 1024, x.size()); ++i) {
      A &acc = c[(i - at) % chains];
      if constexpr (std::is_floating_point_v<A>)
        acc = std::fma(x[i], y[i], acc);
      else
        acc += x[i] * y[i];
    }
    for (size_t w = chains / 2; w >= 1; w /= 2)
      for (size_t i = 0; i < w; ++i)
        c[i] = c[i] + c[i + w];
    level.push_back(c[0]);
  }
  for (; level.size() > 1;) {
    std::vector<A> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(level[i] + level[i + 1]);
    if (level.size() % 2)
      next.push_back(level.back());
    level = next;
  }
  return level.empty() ? A(0) : level[0];
}

template <class A> std::vector<A> valuesOf(Array &a, int64_t from, int64_t n) {
  std::vector<A> v;
  for (int64_t i = 0; i < n; ++i)
    v.push_back(std::is_floating_point_v<A> ? A(a.get(from + i).f) : A(a.get(from + i).i));
  return v;
}

/// `tiny`: products that underflow to -0, which a chain must keep.
void checkDot(const PackTable *table, DType t, int64_t rows, int64_t n, bool tiny, Rng &rng) {
  Kernel k = findKernel(table, packKey(PackForm::Reduce, *lookupOp("dot"), t, 0));
  ASSERT_TRUE(k) << shortName(t);
  Array x(t, rows * n), y(t, rows * n), out(t, rows), expected(t, rows);
  fillRandom(x, rng, n % 2);
  fillRandom(y, rng, n % 2);
  for (int64_t i = 0; tiny && i < x.size; ++i) {
    x.set(i, {t == DType::F64 ? 1e-300 : double(1e-30f), 1});
    y.set(i, {t == DType::F64 ? -1e-300 : -double(1e-30f), -1});
  }
  void *ptrs[] = {out.at(0), x.at(0), y.at(0), nullptr};
  k(ptrs, &n, nullptr, 0, rows);
  ASSERT_TRUE(out.intact());
  for (int64_t r = 0; r < rows; ++r) {
    auto reference = [&](auto zero, size_t chains) {
      using A = decltype(zero);
      return toScalar(dotN4<A>(valuesOf<A>(x, r * n, n), valuesOf<A>(y, r * n, n), chains));
    };
    expected.set(r, t == DType::F64 ? reference(0.0, 32)
                    : isFloat(t)    ? reference(0.0f, 64)
                                    : reference(uint64_t(0), 32));
    ASSERT_TRUE(same(t, out.at(r), expected.at(r)))
        << "dot " << shortName(t) << " of " << n << ", row " << r << ": got " << show(t, out.at(r)) << ", expected "
        << show(t, expected.at(r));
  }
}

} // namespace

TEST(CodegenReduce, DotBitExact) {
  Rng rng(13);
  for (const PackTable *table : runnableTables())
    for (int d = int(DType::U8); d < numComputeDTypes; ++d)
      for (int64_t n : {0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 100, 1023, 1024, 1025, 3000, 5121, 70000})
        for (bool tiny : {false, true}) {
          checkDot(table, DType(d), n > 5000 ? 1 : 3, n, tiny, rng);
          if (testing::Test::HasFatalFailure())
            return;
        }
}
