// Nanoseconds per eager operation from C++, best of many.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace torchc;

template <class F> static double best(F f, int n = 20000) {
  double least = 1e9;
  for (int r = 0; r < 60; r++) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n; i++)
      f();
    least =
        std::min(least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / n);
  }
  return least;
}

int main() {
  Tensor a = ones({1}), b = ones({1}), g = ones({1}), h = ones({1}), m = ones({1, 1});
  setRequiresGrad(g.impl(), true);
  setRequiresGrad(h.impl(), true);
  add(a, b);
  auto print = [](const char *name, double ns) { std::printf("%-28s %8.1f\n", name, ns); };
  print("add", best([&] { release(binary(OpId::Add, a.impl(), b.impl())); }));
  print("add by API", best([&] { add(a, b); }));
  print("add number", best([&] { release(binaryScalar(OpId::Add, a.impl(), Scalar(1.0))); }));
  print("add recording", best([&] { release(binary(OpId::Add, g.impl(), h.impl())); }));
  print("mul recording", best([&] { release(binary(OpId::Mul, g.impl(), h.impl())); }));
  print("exp recording", best([&] { release(unary(OpId::Exp, g.impl())); }));
  print("add_", best([&] { inplace(OpId::Add, a.impl(), b.impl()); }));
  print("add broadcast", best([&] { add(m, a); }));
  print("view", best([&] { view(a, {1, 1}); }));
  print("select", best([&] { select(m, 0, 0); }));
  print("sum", best([&] { sum(a); }));
  Tensor big = ones({1000000});
  print("big + big", best([&] { add(big, big); }, 20));
  print("big sum", best([&] { sum(big); }, 20));
  print("forward+backward of 10", best(
                                      [&] {
                                        Tensor y = g;
                                        for (int i = 0; i < 5; i++)
                                          y = add(mul(y, h), h);
                                        backward(y);
                                      },
                                      2000));
}
