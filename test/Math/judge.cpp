#include "judge.h"
#include <cmath>
#ifdef TORCHC_MPFR
#include <cstring>
#include <mpfr.h>

namespace {

constexpr mpfr_prec_t bits = 256;
class Number {
public:
  explicit Number(long double x = 0) {
    mpfr_init2(v, bits);
    mpfr_set_ld(v, x, MPFR_RNDN);
  }
  ~Number() { mpfr_clear(v); }
  Number(const Number &) = delete;
  operator mpfr_ptr() { return v; }

private:
  mpfr_t v;
};
constexpr auto nearest = MPFR_RNDN;

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
constexpr struct {
  const char *op;
  Unary f;
} direct[] = {{"exp", mpfr_exp},     {"exp2", mpfr_exp2},      {"expm1", mpfr_expm1}, {"log", mpfr_log},
              {"log2", mpfr_log2},   {"log10", mpfr_log10},    {"log1p", mpfr_log1p}, {"tanh", mpfr_tanh},
              {"sinh", mpfr_sinh},   {"cosh", mpfr_cosh},      {"erf", mpfr_erf},     {"erfc", mpfr_erfc},
              {"sin", mpfr_sin},     {"cos", mpfr_cos},        {"tan", mpfr_tan},     {"asin", mpfr_asin},
              {"acos", mpfr_acos},   {"atan", mpfr_atan},      {"asinh", mpfr_asinh}, {"acosh", mpfr_acosh},
              {"atanh", mpfr_atanh}, {"digamma", mpfr_digamma}};

/// 1 / (1 + exp(-x))
void sigmoid(Number &out, Number &x) {
  mpfr_neg(out, x, nearest);
  mpfr_exp(out, out, nearest);
  mpfr_add_ui(out, out, 1, nearest);
  mpfr_ui_div(out, 1, out, nearest);
}
/// x * erfc(-x / sqrt 2) / 2
void gelu(Number &out, Number &x) {
  Number half(0.5L);
  mpfr_sqrt(out, half, nearest);
  mpfr_mul(out, out, x, nearest);
  mpfr_neg(out, out, nearest);
  mpfr_erfc(out, out, nearest);
  mpfr_mul(out, out, x, nearest);
  mpfr_div_2ui(out, out, 1, nearest);
}
/// x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))), the constant as PyTorch's source has it in decimal.
void geluTanh(Number &out, Number &x) {
  Number cube, c;
  mpfr_set_str(c, "0.044715", 10, nearest);
  mpfr_pow_ui(cube, x, 3, nearest);
  mpfr_fma(cube, cube, c, x, nearest);
  mpfr_const_pi(c, nearest);
  mpfr_ui_div(c, 2, c, nearest);
  mpfr_sqrt(c, c, nearest);
  mpfr_mul(cube, cube, c, nearest);
  mpfr_mul_si(cube, cube, 2, nearest);
  sigmoid(out, cube);
  mpfr_mul(out, out, x, nearest);
}
/// Newton's method on erf(y) = x or erfc(y) = 1 - x, whichever keeps its digits, from a start in double.
void erfinv(Number &out, Number &x) {
  Number target, step, scale;
  bool negative = mpfr_signbit(x);
  mpfr_abs(x, x, nearest);
  mpfr_ui_sub(target, 1, x, nearest);
  bool small = mpfr_cmp_d(x, 0.5) < 0;
  double l = -std::log(mpfr_get_d(target, nearest) * (1 + mpfr_get_d(x, nearest)));
  mpfr_set_d(out, std::sqrt(l) * (l < 1 ? 0.886 : 0.9), nearest);
  if (small)
    mpfr_mul_d(out, x, 0.886, nearest);
  for (int i = 0; i < 60; i++) {
    (small ? mpfr_erf : mpfr_erfc)(step, out, nearest);
    if (small)
      mpfr_sub(step, x, step, nearest);
    else
      mpfr_sub(step, step, target, nearest); // erf' = 2 / sqrt(pi) exp(-y^2)
    mpfr_sqr(scale, out, nearest);
    mpfr_exp(scale, scale, nearest);
    mpfr_mul(step, step, scale, nearest);
    mpfr_const_pi(scale, nearest);
    mpfr_sqrt(scale, scale, nearest);
    mpfr_mul(step, step, scale, nearest);
    mpfr_div_2ui(step, step, 1, nearest);
    mpfr_add(out, out, step, nearest);
    if (mpfr_zero_p(step) || mpfr_get_exp(step) < mpfr_get_exp(out) - 120)
      break;
  }
  if (negative)
    mpfr_neg(out, out, nearest);
}

} // namespace

long double judged(const char *op, long double x) {
  Number in(x), out;
  auto is = [&](const char *name) { return !std::strcmp(op, name); };
  for (auto &d : direct)
    if (is(d.op)) {
      d.f(out, in, nearest);
      return mpfr_get_ld(out, nearest);
    }
  if (is("lgamma")) {
    int sign;
    mpfr_lgamma(out, &sign, in, nearest);
  } else if (is("sigmoid"))
    sigmoid(out, in);
  else if (is("silu")) {
    sigmoid(out, in);
    mpfr_mul(out, out, in, nearest);
  } else if (is("gelu"))
    gelu(out, in);
  else if (is("geluTanh"))
    geluTanh(out, in);
  else if (is("erfinv") && x != 0 && std::fabs(x) < 1)
    erfinv(out, in);
  else
    return NAN;
  return mpfr_get_ld(out, nearest);
}
#else
long double judged(const char *, long double) { return NAN; }
#endif
