// Ops registered from C++: schemas, kernels, derivatives, recordings.
#include "frontends/eager/CustomOp.h"
#include "JitCoreSupport.h"

using namespace torchc;
using namespace torchc::jit;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Tensor tensorOf(const CustomValue &v) { return std::get<Tensor>(v); }

/// y = x^3 * by, element by element in the kernel itself.
CustomOp &cube() {
  static CustomOp &op = [&]() -> CustomOp & {
    CustomOp &made = defineCustomOp("unit::cube(Tensor x, float by=1.0) -> Tensor");
    made.kernel([](const CustomValues &a) {
      Tensor x = composite::contiguousTensor(tensorOf(a[0])), y = empty(x.sizes());
      for (int64_t i = 0; i < x.numel(); i++) {
        float v = x.dataAs<float>()[i];
        y.dataAs<float>()[i] = v * v * v * float(std::get<double>(a[1]));
      }
      return CustomValues{y};
    });
    made.fake([](const CustomValues &a) { return CustomValues{add(tensorOf(a[0]), 0)}; });
    made.derivative({[](CustomContext &c, const CustomValues &a, const CustomValues &) {
                       c.save({tensorOf(a[0])});
                       c.values = {a[1]};
                     },
                     [](CustomContext &c, const std::vector<Tensor> &g) {
                       Tensor x = c.saved()[0];
                       return std::vector<Tensor>{mul(g[0], mul(mul(x, x), 3 * std::get<double>(c.values[0])))};
                     }});
    return made;
  }();
  return op;
}
Tensor cubed(const Tensor &x, double by = 1) { return tensorOf(callCustomOp(cube(), {x, by})[0]); }

} // namespace

TEST(CustomOp, HasANameAndANumber) {
  EXPECT_GE(cube().id(), 0x10000u);
  EXPECT_EQ(findCustomOp("unit::cube"), &cube());
  EXPECT_EQ(findCustomOp(cube().id()), &cube());
  EXPECT_EQ(findCustomOp("unit::nothing"), nullptr);
  EXPECT_EQ(findCustomOp(0xffffffffu), nullptr);
  EXPECT_THAT(customOpNames("unit"), testing::Contains("cube"));
  EXPECT_THAT(errorOf([] { defineCustomOp("unit::cube(Tensor x) -> Tensor"); }), HasSubstr("multiple times"));
}

TEST(CustomOp, SchemasPrintAsTheyAreRead) {
  for (const char *text :
       {"a::b() -> ()", "a::b.over(Tensor x) -> Tensor", "a::b(Tensor(a!) x, Tensor?[] y, int[2] n=[1, 1]) -> ()",
        "a::b(Tensor? x=None, *, bool flag=True, str s=\"t\", float f=1.5) -> (Tensor, Tensor[])",
        "a::b(Tensor(z) x, ScalarType t=float32, Scalar? s=None) -> Tensor(z)",
        "a::b(float[]? f=None) -> (int, bool)"}) {
    CustomSchema s;
    Diag diag;
    ASSERT_TRUE(parseSchema(text, s, diag)) << diag.text;
    EXPECT_EQ(s.str(), text);
  }
  for (const char *text : {"", "a", "a::", "a::b", "a::b(", "a::b()", "a::b() ->", "a::b(Tensor x,, int y) -> ()",
                           "a::b(Tensor x) -> Tensor,", "a::b(int x=1.5) -> ()", "a::b(str s=\"t) -> ()",
                           "a::b(Tensor(a x) -> ()", "a::b(int[99999999999999999999] x) -> ()"}) {
    CustomSchema s;
    Diag diag;
    EXPECT_FALSE(parseSchema(text, s, diag)) << text;
    EXPECT_EQ(diag.kind, ErrorKind::Runtime);
    EXPECT_THAT(diag.text, HasSubstr("at position"));
  }
}

TEST(CustomOp, ComputesAndChecksItsArguments) {
  EXPECT_THAT(values(cubed(vec({1, 2, 3}), 2)), ElementsAre(2, 16, 54));
  EXPECT_THAT(values(tensorOf(callCustomOp(cube(), {vec({2})})[0])), ElementsAre(8)); // the default
  EXPECT_THAT(errorOf([] { callCustomOp(cube(), {}); }), HasSubstr("missing value for argument 'x'"));
  EXPECT_THAT(errorOf([] { callCustomOp(cube(), {1.0}); }), HasSubstr("Expected a value of type 'Tensor'"));
  EXPECT_THAT(errorOf([] { callCustomOp(cube(), {vec({1}), std::string("a")}); }), HasSubstr("type 'str'"));
  EXPECT_THAT(errorOf([] { callCustomOp(cube(), {vec({1}), 1.0, 2.0}); }), HasSubstr("at most 2"));
}

TEST(CustomOp, IsDifferentiatedTwice) {
  Tensor x = vec({1, 2, 3}, true);
  Tensor y = sum(cubed(x, 2));
  std::vector<Tensor> first = grad({y}, {x}, {}, true, true);
  EXPECT_THAT(values(first[0]), ElementsAre(6, 24, 54)); // 6 x^2
  EXPECT_THAT(values(grad({sum(first[0])}, {x})[0]), ElementsAre(12, 24, 36));
  backward(y);
  EXPECT_THAT(gradValues(x), ElementsAre(6, 24, 54));
  EXPECT_THAT(errorOf([&] { backward(y); }), HasSubstr("second time"));
}

TEST(CustomOp, SavedTensorsNoticeWrites) {
  Tensor x = mul(vec({1, 2}, true), 2), y = sum(cubed(x));
  {
    NoGradGuard quiet;
    add_(x, 1);
  }
  EXPECT_THAT(errorOf([&] { backward(y); }), HasSubstr("modified by an inplace operation"));
}

TEST(CustomOp, WithoutADerivativeBackwardSaysSo) {
  CustomOp &op = defineCustomOp("unit::plain(Tensor x) -> Tensor");
  op.kernel([](const CustomValues &a) { return CustomValues{add(tensorOf(a[0]), 1)}; });
  Tensor y = tensorOf(callCustomOp(op, {vec({1}, true)})[0]);
  EXPECT_THAT(errorOf([&] { backward(y); }), HasSubstr("unit::plain but no autograd formula"));
  ErrorKind kind = ErrorKind::None;
  EXPECT_THAT(errorOf([&] { callCustomOp(op, {empty({2}, std::nullopt, DeviceId{DeviceKind::Meta})}); }, &kind),
              HasSubstr("no fake impl"));
  EXPECT_EQ(kind, ErrorKind::NotImplemented);
}

TEST(CustomOp, ResultsAreCheckedAgainstTheSchema) {
  CustomOp &op = defineCustomOp("unit::wrong(Tensor x) -> (Tensor, int)");
  op.kernel([](const CustomValues &a) { return CustomValues{a[0]}; });
  EXPECT_THAT(errorOf([&] { callCustomOp(op, {vec({1})}); }), HasSubstr("1 results where the schema has 2"));
  op.kernel([](const CustomValues &a) { return CustomValues{a[0], 1.5}; });
  EXPECT_THAT(errorOf([&] { callCustomOp(op, {vec({1})}); }), HasSubstr("'float' as result 1"));
}

TEST(CustomOp, WritesBumpVersions) {
  CustomOp &op = defineCustomOp("unit::fill_(Tensor(a!) x, float v) -> ()");
  op.kernel([](const CustomValues &a) {
    Tensor x = tensorOf(a[0]);
    for (int64_t i = 0; i < x.numel(); i++)
      x.dataAs<float>()[i] = float(std::get<double>(a[1]));
    return CustomValues{};
  });
  Tensor x = vec({1, 2});
  uint32_t before = x->version();
  callCustomOp(op, {x, 7.0});
  EXPECT_THAT(values(x), ElementsAre(7, 7));
  EXPECT_GT(x->version(), before);
  EXPECT_THAT(errorOf([&] { callCustomOp(op, {vec({1}, true), 7.0}); }), HasSubstr("leaf"));
  EXPECT_THAT(errorOf([&] { op.derivative({}); }), HasSubstr("non-functional"));
}

TEST(CustomOp, SplitsARecordedGraph) {
  Subject s;
  for (int i = 0; i < 4; i++) {
    Tensor x[2] = {vec({1, 2, float(i)}, true), vec({1, 2, float(i)}, true)};
    int run = 0;
    auto program = [&] {
      Tensor a = x[run++], loss = sum(mul(cubed(exp(mul(a, 0.1)), 2), a));
      backward(loss);
      return std::vector<Tensor>{loss, gradOf(a.impl())};
    };
    std::vector<Tensor> want = program(), got = s(program);
    for (size_t k = 0; k < want.size(); k++)
      EXPECT_EQ(bytesOf(want[k]), bytesOf(got[k])) << k;
  }
  EXPECT_EQ(s.f.counts().left, 0u) << s.f.report();
  EXPECT_EQ(s.f.counts().recordings, 2u);
  EXPECT_EQ(s.f.counts().interpreted, 6u);
  EXPECT_THAT(s.f.report(), HasSubstr("the custom op unit::cube is opaque"));
}
