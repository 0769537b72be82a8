// cond and while_loop below Python: eager, recorded and interpreted, with gradients.
#include "JitCoreSupport.h"
#include "frontends/jit/Control.h"

using namespace torchc;
using namespace torchc::jit;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Tensors = std::vector<Tensor>;

SubgraphRef graph(const TensorFunction &fn, const Tensors &operands) { return recordSubgraph(fn, operands, "fn"); }

Tensor choose(const Tensor &x) {
  SubgraphRef yes = graph([](const Tensors &t) { return Tensors{mul(exp(t[0]), t[0])}; }, {x});
  SubgraphRef no = graph([](const Tensors &t) { return Tensors{mul(t[0], 3)}; }, {x});
  return cond(gt(sum(detachTensor(x)), 0), yes, no, {x})[0];
}
Tensor plain(const Tensor &x, bool positive) { return positive ? mul(exp(x), x) : mul(x, 3); }

} // namespace

TEST(JitControl, RecordingComputesNothing) {
  Tensor x = vec({1, 2}), seen;
  uint32_t version = x->version();
  SubgraphRef s = graph(
      [&](const Tensors &t) {
        seen = t[0];
        return Tensors{add(t[0], x)};
      },
      {x});
  EXPECT_FALSE(seen.same(x));
  EXPECT_EQ(x->version(), version);
  ASSERT_EQ(s->captured.size(), 1u);
  EXPECT_TRUE(s->captured[0].same(x));
  EXPECT_EQ(s->resultType(0), "float32[2]");
  EXPECT_THAT(values(runSubgraph(*s, {vec({5, 6}), x}, nullptr)[0]), ElementsAre(6, 8));
}

TEST(JitControl, ChoosesInOneGraph) {
  Subject s;
  for (int i = 0; i < 6; i++) {
    float sign = i % 2 ? -1.f : 1.f;
    Tensor x = vec({sign, 2 * sign, float(i) * sign});
    Tensor got = s([&] { return add(choose(mul(x, 1)), 1); });
    EXPECT_EQ(bytesOf(add(plain(x, sign > 0), 1)), bytesOf(got)) << i;
  }
  Function::Counts c = s.f.counts();
  EXPECT_EQ(c.recordings, 1u) << s.f.report();
  EXPECT_EQ(c.left, 0u) << s.f.report();
  EXPECT_EQ(c.interpreted, 5u);
}

TEST(JitControl, GradientsOfAnyOrder) {
  for (float sign : {1.f, -1.f}) {
    Tensor x = vec({sign, 2 * sign}, true);
    Tensor y = sum(choose(x));
    Tensor first = grad({y}, {x}, {}, true, true)[0];
    Tensor z = vec({sign, 2 * sign}, true);
    Tensor want = grad({sum(plain(z, sign > 0))}, {z}, {}, true, true)[0];
    EXPECT_EQ(bytesOf(first), bytesOf(want));
    if (sign > 0)
      EXPECT_EQ(bytesOf(grad({sum(first)}, {x})[0]), bytesOf(grad({sum(want)}, {z})[0]));
  }
}

TEST(JitControl, RefusesWritesToWhatIsNotItsOwn) {
  Tensor x = vec({1, 2});
  auto text = errorOf([&] { graph([&](const Tensors &t) { return Tensors{add_(t[0], 1)}; }, {x}); });
  EXPECT_THAT(text, HasSubstr("fn might be modifying the input"));
  EXPECT_THAT(errorOf([&] { graph([&](const Tensors &) { return Tensors{add_(x, 1)}; }, {x}); }),
              HasSubstr("fn might be modifying the input"));
  EXPECT_THAT(values(x), ElementsAre(1, 2));
  EXPECT_EQ(threadState.abstract, 0);
  EXPECT_TRUE(isGradEnabled());
}

TEST(JitControl, LoopsRunInOneGraph) {
  Subject s;
  for (int rounds = 0; rounds < 6; rounds++) {
    Tensor i = full({}, rounds), x = vec({1, 2});
    auto program = [&] {
      Tensors carried = {i, x};
      SubgraphRef goesOn = graph([](const Tensors &t) { return Tensors{gt(t[0], 0)}; }, carried);
      SubgraphRef body = graph([](const Tensors &t) { return Tensors{sub(t[0], 1), mul(t[1], 2)}; }, carried);
      return whileLoop(goesOn, body, carried, {});
    };
    Tensors got = s(program);
    EXPECT_THAT(values(got[1]), ElementsAre(double(1 << rounds), double(2 << rounds)));
  }
  EXPECT_EQ(s.f.counts().recordings, 1u) << s.f.report();
  EXPECT_EQ(s.f.counts().left, 0u) << s.f.report();
}
