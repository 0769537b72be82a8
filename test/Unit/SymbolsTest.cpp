// Integers read as polynomials in sizes.
#include "dialects/rules/Symbols.h"
#include "gtest/gtest.h"

using namespace torchc;

namespace {

SizeTerms terms(int64_t one, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
  SizeTerms t;
  t.factor[0] = one;
  t.factor[1] = a;
  t.factor[2] = b;
  t.factor[3] = c;
  return t;
}

TEST(Symbols, ReadsPolynomialsOfOneSize) {
  Symbols s = *Symbols::choose(1, 1000);
  int64_t n = s[0];
  EXPECT_EQ(s.read(12 * n + 1), terms(1, 12));
  EXPECT_EQ(s.read(n - 1), terms(-1, 1));
  EXPECT_EQ(s.read(-3 * n), terms(0, -3));
  EXPECT_EQ(s.read(5 * n * n + 7 * n - 2), terms(-2, 7, 5));
  EXPECT_EQ(s.read(0), terms(0));
  EXPECT_EQ(s.read(1000), terms(1000));
  EXPECT_FALSE(s.moves(1000));
  EXPECT_TRUE(s.moves(n));
}

TEST(Symbols, ReadsProductsOfTwoSizes) {
  Symbols s = *Symbols::choose(2, 100);
  int64_t n = s[0], m = s[1];
  EXPECT_EQ(s.read(n), terms(0, 1));
  EXPECT_EQ(s.read(m), terms(0, 0, 1));
  EXPECT_EQ(s.read(3 * n + 4 * m - 5), terms(-5, 3, 4));
  EXPECT_EQ(s.read(100 * n * m + m), terms(0, 0, 1, 100));
}

TEST(Symbols, RefusesWhatIsNoPolynomialWithSmallFactors) {
  Symbols s = *Symbols::choose(1, 10);
  EXPECT_FALSE(s.read(s[0] / 2));
  EXPECT_FALSE(s.read((s[0] - 1) / 2 + 1));
  EXPECT_FALSE(s.read(s[0] / 3 * 2));
  Symbols two = *Symbols::choose(2, 10);
  EXPECT_FALSE(two.read(two[0] * two[0])); // isn't among the products
}

TEST(Symbols, MultipliesWithinItsProducts) {
  Symbols one = *Symbols::choose(1, 100);
  EXPECT_EQ(one.times(terms(1, 2), terms(-3, 4)), terms(-3, -2, 8));
  EXPECT_FALSE(one.times(terms(0, 0, 1), terms(0, 1)));
  EXPECT_EQ(one.times(terms(0), terms(0, 0, 5)), terms(0));
  Symbols two = *Symbols::choose(2, 100);
  EXPECT_EQ(two.times(terms(1, 2), terms(5, 0, 3)), terms(5, 10, 3, 6));
  EXPECT_FALSE(two.times(terms(0, 1), terms(0, 1)));
  EXPECT_FALSE(two.times(terms(0, 0, 0, 1), terms(0, 0, 1)));
  EXPECT_FALSE(two.times(terms(INT64_MAX), terms(2)));
}

TEST(Symbols, KnowsItsPoints) {
  EXPECT_TRUE(Symbols::isPoint({}));
  for (size_t count : {1, 2})
    for (int attempt : {0, 1, 7})
      for (int64_t largest : {1, 1000, 50000})
        EXPECT_TRUE(Symbols::isPoint(Symbols::choose(count, largest, attempt)->point()));
  int64_t n = (*Symbols::choose(1, 1 << 24))[0];
  EXPECT_TRUE(Symbols::isPoint(std::vector{n}));
  Symbols two = *Symbols::choose(2, 10);
  for (std::vector<int64_t> bad : {std::vector<int64_t>{0},
                                   {1},
                                   {7},
                                   {-8209},
                                   {8209 * 3},
                                   {INT64_MAX},
                                   {8209, 8209},
                                   {two[1], two[0]},
                                   {two[0], two[1] + 1},
                                   {two[0], INT64_MAX},
                                   {n, n * 2},
                                   {two[0], two[1], two[1]}})
    EXPECT_FALSE(Symbols::isPoint(bad));
}

TEST(Symbols, ReadsTheLargestNumbers) {
  for (size_t count : {1, 2})
    for (int64_t largest : {10, 50000}) {
      Symbols s = *Symbols::choose(count, largest);
      for (int64_t x : {INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MAX / 2})
        if (std::optional<SizeTerms> t = s.read(x)) {
          EXPECT_EQ(s.evaluate(*t, s.point()).value_or(x), x);
        }
    }
}

TEST(Symbols, EvaluatesOrRefusesToLeaveInt64) {
  Symbols s = *Symbols::choose(2, 10);
  int64_t sizes[] = {3, 5};
  EXPECT_EQ(s.evaluate(*s.read(2 * s[0] * s[1] - s[0] + 4), sizes), 2 * 3 * 5 - 3 + 4);
  int64_t zero[] = {0, 0};
  EXPECT_EQ(s.evaluate(*s.read(7 * s[0] + 1), zero), 1);
  int64_t large[] = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_FALSE(s.evaluate(*s.read(s[0] * s[1]), large));
}

TEST(Symbols, HasNoPointForTooLargeConstants) {
  EXPECT_FALSE(Symbols::choose(1, int64_t(1) << 40));
  EXPECT_FALSE(Symbols::choose(3, 1));
  EXPECT_TRUE(Symbols::choose(1, 1 << 20));
  EXPECT_TRUE(Symbols::choose(2, 1 << 15));
  EXPECT_FALSE(Symbols::choose(2, 1 << 17));
  EXPECT_NE((*Symbols::choose(1, 10, 0))[0], (*Symbols::choose(1, 10, 1))[0]);
}

TEST(Symbols, WithoutSymbolsEverythingIsConstant) {
  Symbols none;
  EXPECT_EQ(none.read(INT64_MAX), terms(INT64_MAX));
  EXPECT_FALSE(none.moves(-5));
}

TEST(Symbols, PrintsPolynomials) {
  Symbols s = *Symbols::choose(2, 100);
  EXPECT_EQ(s.str(*s.read(12 * s[0] * s[1] - s[1] + 1)), "12*s0*s1 - s1 + 1");
  EXPECT_EQ(s.str(terms(0)), "0");
}

} // namespace
