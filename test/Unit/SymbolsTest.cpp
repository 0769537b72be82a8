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
