// Recordings that differ in sizes become one (J5), interpreted.
#include "JitCoreSupport.h"
#include "frontends/jit/Control.h"

using namespace torchc;
using namespace torchc::jit;
using testing::HasSubstr;

namespace {

Tensor numbers(int64_t rows, int64_t columns) {
  std::vector<float> v(size_t(rows * columns));
  for (size_t i = 0; i < v.size(); i++)
    v[i] = float((int(i) * 7) % 11 - 5);
  return make(v, {rows, columns});
}

/// Runs the program on n rows of `columns`; bits must be those of eager.
template <class F> void serve(Subject &s, std::initializer_list<int64_t> sizes, int64_t columns, F program) {
  for (int64_t n : sizes) {
    Tensor x = numbers(n, columns);
    Tensor want = program(x, n), got = s([&] { return program(x, n); });
    EXPECT_EQ(want->dims(), got->dims()) << n;
    EXPECT_EQ(bytesOf(want), bytesOf(got)) << n << s.f.report();
  }
}

TEST(JitSizes, TheSecondSizeMakesARecordingForAll) {
  Subject s;
  serve(s, {4, 7, 7, 9, 1, 0, 33}, 3, [](const Tensor &x, int64_t) { return sum(mul(add(x, 1), 2)); });
  Function::Counts c = s.f.counts();
  EXPECT_EQ(c.dynamic, 1u) << s.f.report();
  EXPECT_EQ(c.recordings, 1u) << s.f.report();
  EXPECT_EQ(c.recorded, 2u) << s.f.report();
  EXPECT_EQ(c.left, 1u) << s.f.report();
  EXPECT_EQ(c.interpreted, 4u) << s.f.report();
}

TEST(JitSizes, ProductsAndViewsFollow) {
  Subject s;
  serve(s, {2, 5, 5, 8, 1, 3}, 6, [](const Tensor &x, int64_t n) {
    std::vector<int64_t> shape{n * 2, 3};
    Tensor flat = reshape(add(x, 1), shape);
    return matmul(transpose(flat, 0, 1), flat);
  });
  EXPECT_EQ(s.f.counts().recordings, 1u) << s.f.report();
}

TEST(JitSizes, MoreThanTwoSizesStayConstantsAndSaySo) {
  Subject s;
  for (int64_t n : {0, 1, 1, 1}) {
    Tensor x = numbers(n ? 5 : 3, n ? 7 : 4), y = numbers(n ? 11 : 5, 2);
    s([&] { return add(sum(x), sum(y)); });
  }
  EXPECT_EQ(s.f.counts().dynamic, 0u);
  EXPECT_THAT(s.f.report(), HasSubstr("3 sizes change; 2 at most can be dynamic"));
}

TEST(JitSizes, EachSizeByItselfWhenNotWanted) {
  FunctionOptions o;
  o.interpret = true;
  o.measure = false;
  o.dynamic = false;
  Function f(o);
  for (int64_t n : {4, 7, 7, 4, 7}) {
    Tensor x = numbers(n, 3);
    Call call(f);
    mul(x, 2);
    call.finish();
  }
  EXPECT_EQ(f.counts().dynamic, 0u);
  EXPECT_EQ(f.counts().recordings, 2u);
}

TEST(JitSizes, GraphsOfACondStayOfOneSizeAndSaySo) {
  Subject s;
  serve(s, {4, 7, 7, 4, 7, 9, 9}, 3, [](const Tensor &x, int64_t) {
    Tensor y = mul(x, 2);
    auto graph = [&](int by) {
      return recordSubgraph([by](const std::vector<Tensor> &t) { return std::vector<Tensor>{mul(t[0], by)}; }, {y},
                            "fn");
    };
    return add(cond(gt(sum(y), 0), graph(3), graph(5), {y})[0], 1);
  });
  Function::Counts c = s.f.counts();
  EXPECT_EQ(c.dynamic, 0u) << s.f.report();
  EXPECT_EQ(c.recordings, 3u) << s.f.report();
  EXPECT_THAT(s.f.report(), HasSubstr("the graphs of cond() are recorded for one size"));
}

TEST(JitSizes, MemoryThatIsSharedWithinACallIsAnotherProgram) {
  Subject s;
  auto program = [](const Tensor &x, const Tensor &y) {
    Tensor sum = add(x, y);
    add_(x, 1);
    return add(sum, y);
  };
  for (int64_t n : {4, 7, 7, 9, 9}) {
    Tensor x = numbers(n, 3), y = numbers(n, 3), a = numbers(n, 3), b = numbers(n, 3);
    Tensor want = program(x, y), got = s([&] { return program(a, b); });
    EXPECT_EQ(bytesOf(want), bytesOf(got)) << n << s.f.report();
  }
  EXPECT_EQ(s.f.counts().dynamic, 1u) << s.f.report();
  for (int64_t n : {9, 7, 5, 5, 6}) {
    Tensor x = numbers(n, 3), a = numbers(n, 3);
    Tensor want = program(x, x), got = s([&] { return program(a, a); });
    EXPECT_EQ(bytesOf(want), bytesOf(got)) << n << s.f.report();
    EXPECT_EQ(bytesOf(x), bytesOf(a)) << n << s.f.report();
  }
}

} // namespace
