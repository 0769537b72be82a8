// Measures the scalar bodies against libm of a wider type (f32: double, f64: long double), in ulps
// of the exact result. Where an error of one operand's body exceeds 0.9 or is within 2^-20 of a tie, and comes near the
// worst one, MPFR (judge.h) has the last word, if it was at hand for the build.
//   math-check BOUNDS            samples; fails where a body is worse than its line in BOUNDS
//   math-check --all NAME...     every f32 input (f64 and two operands: 2^26 samples)
//   math-check --half NAME...    the same without negative f32 inputs, for odd and even functions
//   math-check --bench           nanoseconds per element
#include "judge.h"
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <time.h>
#include <vector>

// The operators of a body in C, once per width; a body need not use them all.
#define OPERATORS(T, U, I, W, S)                                                                                       \
  [[maybe_unused]] static inline T fromInt##W(U u) { return __builtin_bit_cast(T, u); }                                \
  [[maybe_unused]] static inline U toInt##W(T x) { return __builtin_bit_cast(U, x); }                                  \
  [[maybe_unused]] static inline T fFromI##W(U u) { return (T)(I)u; }                                                  \
  [[maybe_unused]] static inline T neg##W(T x) { return -x; }                                                          \
  [[maybe_unused]] static inline T fma##W(T a, T b, T c) { return __builtin_fma##S(a, b, c); }                         \
  [[maybe_unused]] static inline T abs##W(T x) { return __builtin_fabs##S(x); }                                        \
  [[maybe_unused]] static inline T sqrt##W(T x) { return __builtin_sqrt##S(x); }                                       \
  [[maybe_unused]] static inline T floor##W(T x) { return __builtin_floor##S(x); }                                     \
  [[maybe_unused]] static inline T roundeven##W(T x) { return __builtin_roundeven##S(x); }
OPERATORS(float, uint32_t, int32_t, 32, f)
OPERATORS(double, uint64_t, int64_t, 64, )
#include "bodies.h"

// The exact functions, by body name, in double and long double.
template <class W> struct Exact {
  static W exp(W x) { return std::exp(x); }
  static W exp2(W x) { return std::exp2(x); }
  static W expm1(W x) { return std::expm1(x); }
  static W log(W x) { return std::log(x); }
  static W log2(W x) { return std::log2(x); }
  static W log10(W x) { return std::log10(x); }
  static W log1p(W x) { return std::log1p(x); }
  static W tanh(W x) { return std::tanh(x); }
  static W sinh(W x) { return std::sinh(x); }
  static W cosh(W x) { return std::cosh(x); }
  static W erf(W x) { return std::erf(x); }
  static W erfc(W x) { return std::erfc(x); }
  static W sin(W x) { return std::sin(x); }
  static W cos(W x) { return std::cos(x); }
  static W tan(W x) { return std::tan(x); }
  static W asin(W x) { return std::asin(x); }
  static W acos(W x) { return std::acos(x); }
  static W atan(W x) { return std::atan(x); }
  static W pow(W x, W y) { return std::pow(x, y); }
  static W atan2(W y, W x) { return std::atan2(y, x); }
  static W asinh(W x) { return std::asinh(x); }
  static W acosh(W x) { return std::acosh(x); }
  static W atanh(W x) { return std::atanh(x); }
  static W hypot(W x, W y) { return std::hypot(x, y); }
  static W fmod(W x, W y) { return std::fmod(x, y); }
  static W remainder(W x, W y) {
    W m = std::fmod(x, y);
    return m != 0 && (m < 0) != (y < 0) ? m + y : m;
  }
  static W floorDivide(W x, W y) {
    W m = std::fmod(x, y), q = std::round((x - m) / y);
    if (y == 0 || m == 0 || (m < 0) == (y < 0))
      return y == 0 ? x / y : q == 0 ? std::copysign((W)0, x / y) : q;
    return q - 1;
  }
  static W nextafter(W x, W y) { // of the type that W is the wider one of
    using Narrow = std::conditional_t<std::is_same_v<W, double>, float, double>;
    return std::nextafter((Narrow)x, (Narrow)y);
  }
  /// Newton's method on erfc, whose values near 1 - |x| keep their digits; 1 - |x| is exact in W.
  static W erfinv(W x) {
    W a = std::fabs(x), c = 1 - a;
    if (!(a < 1))
      return a == 1 ? std::copysign((W)INFINITY, x) : (W)NAN;
    W l = -std::log(c * (1 + a)), y = std::sqrt(l) * (l < 1 ? (W)0.886 : (W)0.9);
    for (int i = 0; i < 60; i++) {
      W error = a < (W)0.5 ? std::erf(y) - a : c - std::erfc(y);
      W step = error / ((W)1.1283791670955125739L * std::exp(-y * y)), next = y - step / (1 + y * step);
      if (next == y)
        break;
      y = next;
    }
    return a == 0 ? x : std::copysign(y, x);
  }
  static W lgamma(W x) { return std::lgamma(x); }
  /// Moved up to 40 by the recurrence, then the series with Bernoulli numbers.
  static W digamma(W x) {
    if (x == 0)
      return std::copysign((W)INFINITY, -x);
    if (x < 0) {
      W r = x - std::round(x), p = std::acos((W)-1);
      return r == 0 ? (W)NAN : digamma(1 - x) - p * std::cos(p * r) / std::sin(p * r);
    }
    W sum = 0;
    for (; x < 40; x += 1)
      sum += 1 / x;
    W z = 1 / (x * x);
    W series = z * (1 / (W)12 - z * (1 / (W)120 - z * (1 / (W)252 - z * (1 / (W)240 - z * 5 / (W)660))));
    return std::log(x) - 1 / (2 * x) - series - sum;
  }
  static W trigamma(W x) {
    if (x < 0) {
      W s = std::sin(std::acos((W)-1) * (x - std::round(x))), p = std::acos((W)-1);
      return p * p / (s * s) - trigamma(1 - x);
    }
    W sum = 0;
    for (; x < 40; x += 1)
      sum += 1 / (x * x);
    W z = 1 / (x * x);
    return sum + 1 / x + z / 2 + z / x * (1 / (W)6 - z * (1 / (W)30 - z * (1 / (W)42 - z / (W)30)));
  }
  static W silu(W x) { return x * sigmoid(x); }
  static W gelu(W x) { return x * std::erfc(-x * std::sqrt((W)0.5L)) / 2; }
  static W geluTanh(W x) { // x * (1 + tanh u) / 2, also where 1 + tanh u cancels
    const W k = std::sqrt(2 / std::acos((W)-1));
    return x / (1 + std::exp(-2 * k * (x + (W)0.044715L * x * x * x)));
  }
  static W sigmoid(W x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
};

template <class T> struct Format;
template <> struct Format<float> {
  using Wide = double;
  using Int = uint32_t;
  static constexpr int digits = 24, minExp = -126, maxExp = 127;
};
template <> struct Format<double> {
  using Wide = long double;
  using Int = uint64_t;
  static constexpr int digits = 53, minExp = -1022, maxExp = 1023;
};

// Exponent of a positive number, and 2^e: by bits in double, for speed.
static inline int exponentOf(double x) { return (int)(__builtin_bit_cast(uint64_t, x) >> 52) - 1023; }
static inline int exponentOf(long double x) { return std::ilogb(x); }
static inline void powerOf2(int e, double &p) { p = __builtin_bit_cast(double, (uint64_t)(e + 1023) << 52); }
static inline void powerOf2(int e, long double &p) { p = std::scalbn(1.0L, e); }

/// Distance in units of the last place of the exact result; infinity counts as the next power of
/// two. Wrong NaN or wrong sign is an infinite error.
template <class T> static inline double ulpError(T got, typename Format<T>::Wide want) {
  using W = typename Format<T>::Wide;
  using F = Format<T>;
  if (got != got || want != want)
    return (got != got) == (want != want) ? 0 : INFINITY;
  if (std::signbit(got) != std::signbit(want))
    return INFINITY;
  W g = std::fabs((W)got), w = std::fabs(want), top, ulps;
  powerOf2(F::maxExp + 1, top);
  if (std::isinf(want))
    return std::isinf(got) ? 0 : INFINITY;
  g = g < top ? g : top, w = w < top ? w : top;
  int e = w > 0 ? exponentOf(w) : F::minExp;
  e = e < F::minExp ? F::minExp : e > F::maxExp ? F::maxExp : e;
  powerOf2(F::digits - 1 - e, ulps);
  return (double)(std::fabs(g - w) * ulps);
}

template <class T> struct Worst {
  double error = -1;
  T x = 0, y = 0, got = 0;
};

static std::atomic<uint64_t> judgements{0}, corrections{0};

/// One body with its exact function, over arrays so that the compiler vectorises the body as the
/// kernels do.
template <class T> struct Case {
  using W = typename Format<T>::Wide;
  const char *op, *body;
  int ops;
  bool binary;
  void (*run)(const T *x, const T *y, T *out, int n);
  W (*exact)(W x, W y);

  /// Of (x/2) * (1 + erf(...)) as rule N6 writes it the factor cancels: its error is relative to x.
  bool byInput() const { return !std::strncmp(body, "gelu", 4); }

  /// These cross 0 between their samples: the error counts in ulps of at least 1.
  bool crossesZero() const { return !std::strncmp(body, "lgamma", 6) || !std::strncmp(body, "digamma", 7); }

  double errorOf(T x, T got, W want) const {
    if (byInput() && x != 0 && std::isfinite(x))
      return ulpError(x, (W)x + (want - (W)got));
    if (crossesZero() && std::isfinite(got) && std::fabs(want) < 1)
      return ulpError((T)1.5, (W)1.5 + (want - (W)got));
    return ulpError(got, want);
  }

  double judgedError(T x, T got, double error, double worst) const {
    if (error < worst * (1 - 0x1p-10) || binary || !std::isfinite(x) || !std::isfinite(got) ||
        (error <= 0.9 && std::fabs(error - 0.5) > 0x1p-20))
      return error;
    W want = (W)judged(op, x);
    if (!std::isfinite(want))
      return error;
    double e = errorOf(x, got, want);
    judgements++;
    corrections += std::fabs(e - error) > (sizeof(T) == 4 ? 0x1p-20 : 0x1p-6);
    return e;
  }

  void chunk(const T *x, const T *y, int n, Worst<T> &w) const {
    static thread_local T out[4096];
    run(x, y, out, n);
    for (int i = 0; i < n; i++) {
      double e = judgedError(x[i], out[i], errorOf(x[i], out[i], exact((W)x[i], (W)y[i])), w.error);
      if (e > w.error)
        w = {e, x[i], y[i], out[i]};
    }
  }
};

static std::vector<Case<float>> cases32;
static std::vector<Case<double>> cases64;
static auto &list(float) { return cases32; }
static auto &list(double) { return cases64; }
#define RUN(op, body, T, ops)                                                                                          \
  static void run_##body(const T *__restrict x, const T *__restrict y, T *__restrict out, int n) {                     \
    for (int i = 0; i < n; i++)                                                                                        \
      out[i] = body(x[i], y[i]);                                                                                       \
  }
#define ADD_UNARY(op, body, T, ops)                                                                                    \
  list(T()).push_back({#op, #body, ops, false, run_##body, [](auto x, auto) { return Exact<decltype(x)>::op(x); }});
#define ADD_BINARY(op, body, T, ops)                                                                                   \
  list(T()).push_back({#op, #body, ops, true, run_##body, [](auto x, auto y) { return Exact<decltype(x)>::op(x, y); }});
FOR_BODIES(RUN, RUN)

static uint64_t mix(uint64_t i) { // splitmix64: sample i, whatever the thread
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Half of the samples are any bit pattern, the rest are spread evenly over ranges where the bodies
/// are busy.
template <class T> static T sample(uint64_t i) {
  using I = typename Format<T>::Int;
  uint64_t r = mix(i);
  T u = (T)((double)(int64_t)r * 0x1p-63); // (-1, 1)
  switch (i % 8) {
  case 0:
  case 1:
  case 2: return __builtin_bit_cast(T, (I)r);
  case 3: return u;
  case 4: return u * 10;
  case 5: return u * (T)(sizeof(T) == 4 ? 110 : 760);
  case 6: return 1 + u / 2;
  default: { // exponents -40 .. 40
    T m = 1 + std::fabs(u);
    return std::scalbn(r & 1 ? m : -m, (int)(mix(r) % 81) - 40);
  }
  }
}

template <class T> static std::vector<T> specials() {
  using I = typename Format<T>::Int;
  std::vector<T> v;
  T inf = INFINITY;
  for (T x : {(T)0, (T)1, (T)0.5, (T)2, (T)10, (T)88.5, (T)104, (T)709.5, (T)745.2, (T)3.1415926535897931, inf, (T)NAN,
              std::scalbn((T)1, Format<T>::minExp), std::scalbn((T)1, Format<T>::maxExp),
              // next to multiples of pi/2
              std::scalbn((T)16367173, 72), std::scalbn((T)6381956970095103, sizeof(T) == 4 ? 0 : 797)})
    for (int d = -2; d <= 2; d++) {
      I b = __builtin_bit_cast(I, x) + (I)d;
      T y = __builtin_bit_cast(T, b);
      v.push_back(y), v.push_back(-y);
    }
  return v;
}

/// Second operands: by turns like the first, a small integer or half, near 1.
template <class T> static T sample2(uint64_t i) {
  uint64_t r = mix(i + (1ull << 60));
  switch (i / 8 % 4) {
  case 0: return sample<T>(r);
  case 1: return (T)((double)(int64_t)(r % 81) * 0.5 - 20);
  case 2: return (T)(1 + (double)(int64_t)r * 0x1p-65);
  default: return (T)((double)(int64_t)r * (sizeof(T) == 4 ? 0x1p-57 : 0x1p-54)); // +-64, +-512
  }
}

template <class T> static Worst<T> sampled(const Case<T> &c, uint64_t first, uint64_t n) {
  Worst<T> w;
  std::vector<T> s = specials<T>();
  for (T second : s) {
    std::vector<T> same(s.size(), second);
    c.chunk(s.data(), same.data(), (int)s.size(), w);
    if (!c.binary)
      break;
  }
  T x[4096], y[4096] = {};
  for (uint64_t i = 0; i < n; i += 4096) {
    for (int j = 0; j < 4096; j++)
      x[j] = sample<T>(first + i + j);
    for (int j = 0; j < 4096 && c.binary; j++)
      y[j] = sample2<T>(first + i + j);
    c.chunk(x, y, 4096, w);
  }
  return w;
}

static Worst<float> everyInput(const Case<float> &c, uint64_t first, uint64_t n) {
  Worst<float> w;
  float x[4096], y[4096] = {};
  for (uint64_t i = 0; i < n; i += 4096) {
    for (int j = 0; j < 4096; j++)
      x[j] = fromInt32((uint32_t)(first + i + j));
    c.chunk(x, y, 4096, w);
  }
  return w;
}

/// Splits [0, total) in pieces over the cores.
template <class T, class F> static Worst<T> parallel(uint64_t total, F piece) {
  unsigned cores = std::thread::hardware_concurrency();
  std::vector<Worst<T>> worst(cores);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> next{0};
  const uint64_t step = 1 << 20;
  for (unsigned t = 0; t < cores; t++)
    threads.emplace_back([&, t] {
      for (uint64_t i; (i = next.fetch_add(step)) < total;) {
        Worst<T> w = piece(i, step);
        if (w.error > worst[t].error)
          worst[t] = w;
      }
    });
  for (auto &t : threads)
    t.join();
  Worst<T> all;
  for (auto &w : worst)
    if (w.error > all.error)
      all = w;
  return all;
}

template <class T> static bool report(const Case<T> &c, const Worst<T> &w, double bound) {
  bool ok = w.error <= bound;
  printf("%-12s %3d ops  %.3f ulp at %a", c.body, c.ops, w.error, (double)w.x);
  if (c.binary)
    printf(", %a", (double)w.y);
  printf(" -> %a%s\n", (double)w.got, ok ? "" : "  ABOVE ITS BOUND");
  fflush(stdout);
  return ok;
}

template <class T> static void bench(const Case<T> &c) {
  static T x[4096], y[4096], out[4096];
  for (int i = 0; i < 4096; i++)
    x[i] = (T)(0.5 + i / 1024.0), y[i] = (T)(i / 1024.0);
  double best = 1e9;
  for (int rep = 0; rep < 200; rep++) {
    timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int k = 0; k < 16; k++) {
      c.run(x, y, out, 4096);
      asm volatile("" ::: "memory");
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    best = ns < best ? ns : best;
  }
  printf("%-12s %3d ops  %.3f ns/element\n", c.body, c.ops, best / 16 / 4096);
}

static double boundOf(FILE *f, const char *body) {
  char name[64];
  double bound;
  rewind(f);
  for (char line[256]; fgets(line, sizeof line, f);)
    if (sscanf(line, "%63s %lf", name, &bound) == 2 && !strcmp(name, body))
      return bound;
  return -1; // a body without a line fails
}

static void printSummary() {
  printf("MPFR judged %llu errors and corrected %llu\n", (unsigned long long)judgements,
         (unsigned long long)corrections);
}

int main(int argc, char **argv) {
  FOR_BODIES(ADD_UNARY, ADD_BINARY)
  std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--bench") {
    for (auto &c : cases32)
      bench(c);
    for (auto &c : cases64)
      bench(c);
    return 0;
  }
  if (mode == "--all" || mode == "--half") {
    uint64_t inputs = mode == "--all" ? 1ull << 32 : (1ull << 31) + (1 << 20);
    auto wanted = [&](const char *body) {
      for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], body))
          return true;
      return argc == 2;
    };
    const uint64_t samples = 1 << 26;
    for (auto &c : cases32)
      if (wanted(c.body)) {
        auto every = [&](uint64_t i, uint64_t n) { return everyInput(c, i, n); };
        auto some = [&](uint64_t i, uint64_t n) { return sampled(c, i, n); };
        report(c, c.binary ? parallel<float>(samples, some) : parallel<float>(inputs, every), INFINITY);
      }
    for (auto &c : cases64)
      if (wanted(c.body)) {
        auto some = [&](uint64_t i, uint64_t n) { return sampled(c, i, n); };
        report(c, parallel<double>(samples, some), INFINITY);
      }
    printSummary();
    return 0;
  }
  FILE *f = argc == 2 ? fopen(argv[1], "r") : nullptr;
  if (!f) {
    fprintf(stderr, "usage: %s BOUNDS | --all [BODY...] | --half [BODY...] | --bench\n", argv[0]);
    return 2;
  }
  bool ok = true;
  for (auto &c : cases32)
    ok &= report(c, sampled(c, 0, 1 << 19), boundOf(f, c.body));
  for (auto &c : cases64)
    ok &= report(c, sampled(c, 0, 1 << 19), boundOf(f, c.body));
  fclose(f);
  printSummary();
  return ok ? 0 : 1;
}
