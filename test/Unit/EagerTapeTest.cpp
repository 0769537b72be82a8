// The tape: gradients against hand formulas, writes and views, errors, depth.
#include "EagerUtil.h"
#include <thread>

using namespace torchc;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Tape, Chain) {
  Tensor x = vec({1, 2, 3}, true), y = vec({4, 5, 6}, true);
  Tensor z = sum(mul(add(x, y), x)); // x^2 + xy
  backward(z);
  EXPECT_THAT(gradValues(x), ElementsAre(6, 9, 12));
  EXPECT_THAT(gradValues(y), ElementsAre(1, 2, 3));
  backward(sum(mul(x, 2)));
  EXPECT_THAT(gradValues(x), ElementsAre(8, 11, 14));
}

TEST(Tape, BroadcastAndTypes) {
  Tensor x = make({1, 2, 3, 4, 5, 6}, {2, 3}, true), b = vec({1, 2, 3}, true), s = full({}, 2.0);
  setRequiresGrad(s.impl(), true);
  backward(sum(mul(add(x, b), s)));
  EXPECT_THAT(gradValues(x), ElementsAre(2, 2, 2, 2, 2, 2));
  EXPECT_THAT(gradValues(b), ElementsAre(4, 4, 4));
  EXPECT_THAT(gradValues(s), ElementsAre(33));
  Tensor d = vec({1, 2}, true);
  backward(sum(mul(composite::toF64(d), full({2}, 3.0, DType::F64))));
  EXPECT_EQ(gradOf(d.impl()).dtype(), DType::F32);
  Tensor k = vec({1}, true);
  backward(add(mul(k, k), rsub(k, 1)));
  EXPECT_THAT(gradValues(k), ElementsAre(1));
}

TEST(Tape, Functions) {
  Tensor x = vec({0.5, 2}, true);
  backward(sum(exp(x)));
  EXPECT_NEAR(gradValues(x)[1], std::exp(2), 1e-5);
  Tensor y = vec({0.5, -2}, true);
  backward(sum(relu(y)));
  EXPECT_THAT(gradValues(y), ElementsAre(1, 0));
  Tensor z = vec({2, 4}, true);
  backward(sum(callOp(OpId::Div, {1, z}))); // number on the left
  EXPECT_THAT(gradValues(z), ElementsAre(-0.25, -0.0625));
  Tensor m = vec({3, 1, 3}, true);
  backward(amax(m));
  EXPECT_THAT(gradValues(m), ElementsAre(0.5, 0, 0.5));
  Tensor w = vec({3, 1, 2}, true);
  backward(std::get<0>(max(w, 0)));
  EXPECT_THAT(gradValues(w), ElementsAre(1, 0, 0));
}

TEST(Tape, MatmulViewsIndex) {
  Tensor a = make({1, 2, 3, 4}, {2, 2}, true), b = make({5, 6, 7, 8}, {2, 2}, true);
  backward(sum(matmul(a, b)));
  EXPECT_THAT(gradValues(a), ElementsAre(11, 15, 11, 15));
  EXPECT_THAT(gradValues(b), ElementsAre(4, 4, 6, 6));
  Tensor x = make({1, 2, 3, 4, 5, 6}, {2, 3}, true);
  backward(sum(mul(select(transpose(x, 0, 1), 0, 1), vec({10, 20}))));
  EXPECT_THAT(gradValues(x), ElementsAre(0, 10, 0, 0, 20, 0));
  Tensor e = make({1, 2, 3, 4, 5, 6}, {3, 2}, true);
  Tensor index = stack({full({}, 2), full({}, 0), full({}, 2)});
  backward(sum(index_select(e, 0, index)));
  EXPECT_THAT(gradValues(e), ElementsAre(1, 1, 0, 0, 2, 2));
  Tensor c = vec({1, 2}, true), d = vec({3}, true);
  backward(sum(mul(cat({c, d}), vec({1, 2, 3}))));
  EXPECT_THAT(gradValues(c), ElementsAre(1, 2));
  EXPECT_THAT(gradValues(d), ElementsAre(3));
}

TEST(Tape, HigherOrder) {
  Tensor x = vec({2}, true);
  Tensor y = mul(mul(x, x), x);
  Tensor g = grad(TensorList(&y, 1), TensorList(&x, 1), {}, false, true)[0];
  EXPECT_THAT(values(g), ElementsAre(12));
  Tensor gg = grad(TensorList(&g, 1), TensorList(&x, 1), {}, false, true)[0];
  EXPECT_THAT(values(gg), ElementsAre(12));
  EXPECT_THAT(values(grad(TensorList(&gg, 1), TensorList(&x, 1))[0]), ElementsAre(6));
  Tensor e = exp(x); // its derivative reads the result
  Tensor de = grad(TensorList(&e, 1), TensorList(&x, 1), {}, false, true)[0];
  EXPECT_NEAR(values(grad(TensorList(&de, 1), TensorList(&x, 1))[0])[0], std::exp(2), 1e-5);
  EXPECT_FALSE(gradOf(x.impl()).defined());
}

TEST(Tape, GradOfSome) {
  Tensor x = vec({1}, true), y = vec({2}, true), z = vec({3}, true), m = mul(x, y), out = mul(m, m);
  Tensor want[] = {m, x};
  auto g = grad(TensorList(&out, 1), TensorList(want, 2));
  EXPECT_THAT(values(g[0]), ElementsAre(4));
  EXPECT_THAT(values(g[1]), ElementsAre(8));
  out = mul(x, y);
  EXPECT_THAT(errorOf([&] { grad(TensorList(&out, 1), TensorList(&z, 1), {}, true); }),
              HasSubstr("appears to not have been used"));
  EXPECT_FALSE(grad(TensorList(&out, 1), TensorList(&z, 1), {}, true, false, true)[0].defined());
  EXPECT_FALSE(gradOf(y.impl()).defined());
}

TEST(Tape, Errors) {
  Tensor x = vec({1, 2}, true);
  EXPECT_THAT(errorOf([&] { backward(vec({1})); }), HasSubstr("does not require grad and does not have a grad_fn"));
  EXPECT_THAT(errorOf([&] { backward(mul(x, x)); }),
              HasSubstr("grad can be implicitly created only for scalar outputs"));
  Tensor y = sum(mul(x, x));
  backward(y);
  EXPECT_THAT(errorOf([&] { backward(y); }), HasSubstr("Trying to backward through the graph a second time"));
  EXPECT_THAT(errorOf([&] { add_(x, 1); }),
              HasSubstr("a leaf Variable that requires grad is being used in an in-place operation"));
  EXPECT_THAT(errorOf([&] { add_(select(x, 0, 0), 1); }), HasSubstr("a view of a leaf Variable that requires grad"));
  Tensor a = mul(x, 1), b = mul(a, a);
  add_(a, 1);
  EXPECT_THAT(errorOf([&] { backward(sum(b)); }), HasSubstr("modified by an inplace operation"));
  EXPECT_THAT(errorOf([&] { setRequiresGrad(arange(3).impl(), true); }), HasSubstr("floating point"));
  Tensor out = empty({2});
  EXPECT_THAT(errorOf([&] { mul_out(out, x, x); }), HasSubstr("don't support automatic differentiation"));
  NoGradGuard guard;
  add_(x, 1);
  EXPECT_THAT(values(x), ElementsAre(2, 3));
}

TEST(Tape, Inplace) {
  Tensor x = vec({1, 2}, true), w = vec({3, 4}, true);
  Tensor y = mul(x, 1);
  mul_(y, w); // y = x*w; its old value is kept for w
  exp_(y);
  backward(sum(y));
  EXPECT_NEAR(gradValues(x)[0], 3 * std::exp(3), 1e-3);
  EXPECT_NEAR(gradValues(w)[1], 2 * std::exp(8), 1);
  Tensor s = vec({3}, true), q = mul(s, 1);
  mul_(q, q);
  backward(sum(q));
  EXPECT_THAT(gradValues(s), ElementsAre(6));
}

TEST(Tape, WritesThroughViews) {
  Tensor w = vec({2, 3}, true), base = zeros({2, 2});
  copy_(select(base, 0, 1), w);
  EXPECT_TRUE(requiresGrad(base.impl()));
  mul_(select(transpose(base, 0, 1), 0, 0), 5); // first column: 0, 2 -> 0, 10
  EXPECT_THAT(values(base), ElementsAre(0, 0, 10, 3));
  backward(sum(mul(base, base)));
  EXPECT_THAT(gradValues(w), ElementsAre(100, 6)); // d(5 w0)^2, d w1^2
  Tensor rows = zeros({2, 3}); // selected in one step, written in turn
  mul_(copy_(select(select(rows, 0, 1), 0, 2), sum(w)), 3);
  Tensor row = select(rows, 0, 1);
  backward(sum(mul(row, row)));
  EXPECT_THAT(gradValues(w), ElementsAre(100 + 2 * 15 * 3, 6 + 2 * 15 * 3));
  Tensor v = zeros({3}), part = narrow(v, 0, 1, 1);
  mul_(v, 1);
  add_(v, vec({1, 2, 3}, true));
  EXPECT_TRUE(requiresGrad(part.impl())); // made before the base had a history
  Tensor z = mul(vec({1, 1, 1}, true), 2), zv = view(z, {3});
  mul_(z, 3);
  backward(sum(zv));
  EXPECT_THAT(values(zv), ElementsAre(6, 6, 6));
}

TEST(Tape, NoGradViewIsRefused) {
  Tensor b = mul(vec({1, 2}, true), 1), v;
  {
    NoGradGuard guard;
    v = select(b, 0, 0);
  }
  EXPECT_THAT(errorOf([&] { mul_(v, 2); }), HasSubstr("no_grad")); // the history of b would not know
  EXPECT_THAT(values(b), ElementsAre(1, 2));
  EXPECT_THAT(errorOf([&] { copy_(v, sum(b)); }), HasSubstr("no_grad"));
}

TEST(Tape, HooksAndRetain) {
  Tensor x = vec({1, 2}, true), y = mul(x, 2);
  retainGrad(y.impl());
  HookHandle id = registerHook(x.impl(), [](const Tensor &g) { return mul(g, 10); });
  int seen = 0;
  registerPostAccumulateHook(x.impl(), [&](const Tensor &) { seen++; });
  backward(sum(y));
  EXPECT_THAT(gradValues(x), ElementsAre(20, 20));
  EXPECT_THAT(gradValues(y), ElementsAre(1, 1));
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(removeHook(id));
  EXPECT_FALSE(removeHook(id));
}

TEST(Tape, DetachAndData) {
  Tensor x = vec({1, 2}, true), d = detach(x);
  EXPECT_FALSE(requiresGrad(d.impl()));
  EXPECT_EQ(d.data(), x.data());
  add_(d, 1);
  EXPECT_EQ(x->version(), 1u);
  Tensor p = dataOf(x);
  add_(p, 1);
  EXPECT_EQ(x->version(), 1u);
  EXPECT_THAT(values(x), ElementsAre(3, 4));
}

TEST(Tape, DeepChain) {
  MemoryStats before = memoryStats();
  {
    Tensor x = vec({1}, true), y = mul(x, 1);
    for (int i = 0; i < 1000000; i++)
      y = add(y, x);
    backward(y);
    EXPECT_THAT(gradValues(x), ElementsAre(1000001));
    Tensor z = x;
    for (int i = 0; i < 1000000; i++)
      z = mul(z, x);
  } // freed without having run
  EXPECT_LT(memoryStats().allocated - before.allocated, 1000);
}

TEST(Tape, OtherThread) {
  Tensor x = vec({3}, true), y = mul(x, x);
  std::thread([&] { backward(y); }).join();
  EXPECT_THAT(gradValues(x), ElementsAre(6));
}

TEST(Tape, FunctionNode) {
  struct Double : NodeFunction {
    std::string name() const override { return "DoubleBackward"; }
    std::vector<Tensor> apply(const std::vector<Tensor> &g, const std::vector<bool> &) override {
      return {mul(g[0], 2)};
    }
  };
  Tensor x = vec({1, 2}, true), out;
  {
    NoGradGuard guard;
    out = mul(x, 2);
  }
  recordFunction(std::make_unique<Double>(), TensorList(&x, 1), TensorList(&out, 1));
  backward(sum(out));
  EXPECT_THAT(gradValues(x), ElementsAre(2, 2));
  EXPECT_EQ(nodeName(gradFn(out.impl())), "DoubleBackward");
}

// A digits-like step: two layers, cross entropy, SGD; the loss falls.
TEST(Tape, TrainsAnMlp) {
  manualSeed(1);
  Tensor x = rand({32, 64}), target = composite::toI64(mul(rand({32}), 10));
  auto parameter = [](std::vector<int64_t> sizes) {
    Tensor p = rand(sizes);
    p = mul(sub(p, 0.5), 0.25);
    setRequiresGrad(p.impl(), true);
    return p;
  };
  Tensor w1 = parameter({32, 64}), b1 = parameter({32}), w2 = parameter({10, 32}), b2 = parameter({10});
  double first = 0, last = 0;
  for (int step = 0; step < 60; step++) {
    Tensor loss = cross_entropy(linear(relu(linear(x, w1, b1)), w2, b2), target);
    last = item(loss).toDouble();
    first = step ? first : last;
    backward(loss);
    NoGradGuard guard;
    for (const Tensor &p : {w1, b1, w2, b2}) {
      Tensor q = p;
      add_(q, gradOf(p.impl()), -0.5);
      setGrad(p.impl(), {});
    }
  }
  EXPECT_GT(first, 2);
  EXPECT_LT(last, 0.5 * first);
}
