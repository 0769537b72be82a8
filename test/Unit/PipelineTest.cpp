// Traces through the whole pipeline: compiled, loaded, run. Numbers are small integers, so that sums are exact in any
// order and the references can be plain loops.
#include "PipelineProgram.h"
#include "gmock/gmock.h"
#include <cmath>
#include <ctime>
#include <set>

using namespace torchc;
using namespace torchc::test;

namespace {

TEST(Pipeline, FusesAChainWithBroadcastAndNumbers) {
  Program p;
  uint32_t x = p.input({5, 7}), b = p.input({7});
  uint32_t s = p.op(OpId::Add, {x, b}, {}, {5, 7});
  uint32_t m = p.op(OpId::Mul, {s, traceNone}, {num(3)}, {5, 7});
  uint32_t r = p.op(OpId::Relu, {m}, {}, {5, 7});
  p.t.addOutput(r);
  Execution run(p);
  Floats xs = numbers(35, 1), bs = numbers(7, 2);
  run({xs.data(), bs.data()});
  EXPECT_EQ(run.compiled.plan.steps.size(), 1u) << run.compiled.plan.str();
  for (size_t i = 0; i < 35; i++)
    EXPECT_EQ(run.floats(0)[i], std::fmax((xs[i] + bs[i % 7]) * 3, 0.0f)) << i;
}

TEST(Pipeline, ReadsTransposedAndSlicedInputs) {
  Program p;
  uint32_t x = p.strided({4, 6}, {1, 4}); // column-major memory
  uint32_t sl = p.view(OpId::Slice, x, {Attr::integer(1), Attr::integer(1), Attr::integer(6), Attr::integer(2)}, {4, 3},
                       {1, 8}, 4);
  uint32_t t = p.view(OpId::Transpose, sl, {Attr::integer(0), Attr::integer(1)}, {3, 4}, {8, 1}, 4);
  uint32_t n = p.op(OpId::Neg, {t}, {}, {3, 4});
  p.t.addOutput(n);
  Execution run(p);
  Floats mem = numbers(24, 3);
  run({mem.data()});
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      EXPECT_EQ(run.floats(0)[size_t(i * 4 + j)], -mem[size_t(j + 4 * (1 + 2 * i))]);
}

TEST(Pipeline, ReducesRowsColumnsAndMiddles) {
  for (auto [dims, outShape] : std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
           {{0}, {6, 70}}, {{2}, {5, 6}}, {{1}, {5, 70}}, {{0, 1, 2}, {}}, {{0, 2}, {6}}, {{0, 1}, {70}}}) {
    Program p;
    uint32_t x = p.input({5, 6, 70});
    uint32_t d = p.op(OpId::Mul, {x, traceNone}, {num(2)}, {5, 6, 70});
    std::vector<TraceDim> od(outShape.begin(), outShape.end());
    uint32_t out = p.t.addTensor(DType::F32, od);
    p.node(OpId::Sum, {d}, out, {Attr::ints(dims.data(), uint32_t(dims.size())), Attr::boolean(false)});
    p.t.addOutput(out);
    Execution run(p);
    Floats xs = numbers(5 * 6 * 70, 4);
    run({xs.data()});
    int64_t shape[3] = {5, 6, 70};
    std::vector<float> want(run.floats(0).size(), 0);
    for (int64_t i = 0; i < 5; i++)
      for (int64_t j = 0; j < 6; j++)
        for (int64_t k = 0; k < 70; k++) {
          int64_t at[3] = {i, j, k}, flat = 0;
          for (int64_t a = 0; a < 3; a++)
            if (std::find(dims.begin(), dims.end(), a) == dims.end())
              flat = flat * shape[a] + at[a];
          want[size_t(flat)] += 2 * xs[size_t((i * 6 + j) * 70 + k)];
        }
    EXPECT_EQ(run.floats(0), want) << run.compiled.plan.str();
  }
}

TEST(Pipeline, MultipliesWithStridesAsTheyLie) {
  Program p;
  uint32_t x = p.input({9, 5}), w = p.input({4, 5});
  uint32_t wt = p.view(OpId::Transpose, w, {Attr::integer(0), Attr::integer(1)}, {5, 4}, {1, 5});
  uint32_t y = p.op(OpId::Matmul, {x, wt}, {}, {9, 4});
  p.t.addOutput(y);
  Execution run(p);
  Floats xs = numbers(45, 5), ws = numbers(20, 6);
  run({xs.data(), ws.data()});
  EXPECT_EQ(run.compiled.plan.steps.size(), 1u);
  for (size_t i = 0; i < 9; i++)
    for (size_t j = 0; j < 4; j++) {
      float sum = 0;
      for (size_t k = 0; k < 5; k++)
        sum += xs[i * 5 + k] * ws[j * 5 + k];
      EXPECT_EQ(run.floats(0)[i * 4 + j], sum);
    }
}

TEST(Pipeline, UpdatesAnArgumentInPlaceWithoutACopy) {
  Program p;
  uint32_t w = p.input({10}), g = p.input({10});
  uint32_t s = p.op(OpId::Mul, {g, traceNone}, {num(2)}, {10});
  p.into(w, OpId::Sub, {w, s});
  Execution run(p);
  Floats ws = numbers(10, 7), gs = numbers(10, 8), old = ws;
  run({ws.data(), gs.data()});
  EXPECT_EQ(run.compiled.plan.steps.size(), 1u) << run.compiled.plan.str();
  for (size_t i = 0; i < 10; i++)
    EXPECT_EQ(ws[i], old[i] - 2 * gs[i]);
}

TEST(Pipeline, SwapsTwoArguments) {
  Program p;
  uint32_t a = p.input({6}), b = p.input({6});
  uint32_t ca = p.op(OpId::Mul, {a, traceNone}, {num(1)}, {6});
  p.into(a, OpId::Cast, {b}, {Attr::dtype(DType::F32)});
  p.into(b, OpId::Cast, {ca}, {Attr::dtype(DType::F32)});
  Execution run(p);
  Floats as = numbers(6, 1), bs = numbers(6, 2), oldA = as, oldB = bs;
  run({as.data(), bs.data()});
  EXPECT_EQ(as, oldB) << run.compiled.plan.str();
  EXPECT_EQ(bs, oldA);
}

TEST(Pipeline, WritesThroughAViewAndReadsTheBase) {
  Program p;
  uint32_t x = p.input({4, 3});
  uint32_t c = p.op(OpId::Mul, {x, traceNone}, {num(1)}, {4, 3});
  uint32_t row = p.view(OpId::Slice, c, {Attr::integer(0), Attr::integer(1), Attr::integer(3), Attr::integer(1)},
                        {2, 3}, {3, 1}, 3);
  uint32_t t = p.view(OpId::Transpose, row, {Attr::integer(0), Attr::integer(1)}, {3, 2}, {1, 3}, 3);
  p.into(t, OpId::Add, {t, traceNone}, {num(100)});
  uint32_t y = p.op(OpId::Neg, {c}, {}, {4, 3});
  p.t.addOutput(y);
  p.t.addOutput(row);
  Execution run(p);
  Floats xs = numbers(12, 9);
  run({xs.data()});
  Floats want = xs;
  for (size_t i = 3; i < 9; i++)
    want[i] += 100;
  ASSERT_EQ(run.compiled.results.size(), 2u);
  EXPECT_EQ(run.floats(0), want); // the storage of c, whole
  for (size_t i = 0; i < 12; i++)
    EXPECT_EQ(run.floats(1)[i], -want[i]);
}

TEST(Pipeline, ATrapLeavesArgumentsAsTheyWere) {
  Program p;
  uint32_t w = p.input({4}), index = p.input({2}, DType::I64), x = p.input({3});
  p.into(w, OpId::Add, {w, traceNone}, {num(1)});
  uint32_t y = p.op(OpId::IndexSelect, {x, index}, {Attr::integer(0)}, {2});
  p.t.addOutput(y);
  Execution run(p);
  Floats ws{1, 2, 3, 4}, xs{10, 20, 30};
  int64_t good[] = {2, 0}, bad[] = {0, 3}, negative[] = {-1, 0};
  run({ws.data(), good, xs.data()});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(ws, (Floats{2, 3, 4, 5}));
  EXPECT_EQ(run.floats(0), (Floats{30, 10}));
  for (int64_t *index : {bad, negative}) {
    run({ws.data(), index, xs.data()});
    EXPECT_NE(run.status, 0);
    EXPECT_EQ(ws, (Floats{2, 3, 4, 5}));
  }
}

TEST(Pipeline, GathersScattersAndJoins) {
  Program p;
  uint32_t x = p.input({3, 4}), index = p.input({3, 2}, DType::I64);
  uint32_t g = p.op(OpId::Gather, {x, index}, {Attr::integer(1)}, {3, 2});
  int64_t shape[] = {3, 4};
  uint32_t z = p.op(OpId::Full, {}, {Attr::ints(shape, 2), num(0), Attr::dtype(DType::F32)}, {3, 4});
  uint32_t s = p.op(OpId::ScatterAdd, {z, index, g}, {Attr::integer(1)}, {3, 4});
  uint32_t c = p.op(OpId::Cat, {g, s}, {Attr::integer(-1)}, {3, 6});
  p.t.addOutput(c);
  Execution run(p);
  Floats xs = numbers(12, 10);
  int64_t ix[] = {1, 1, 0, 3, 2, 0};
  run({xs.data(), ix});
  Floats want(18, 0);
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 2; j++) {
      float v = xs[i * 4 + size_t(ix[i * 2 + j])];
      want[i * 6 + j] = v;
      want[i * 6 + 2 + size_t(ix[i * 2 + j])] += v;
    }
  EXPECT_EQ(run.floats(0), want);
}

TEST(Pipeline, DifferentiatesATraceWithoutBackward) {
  Program p;
  uint32_t x = p.input({3, 4}), w = p.input({4, 2}), b = p.input({2});
  uint32_t y = p.op(OpId::Matmul, {x, w}, {}, {3, 2});
  uint32_t z = p.op(OpId::Add, {y, b}, {}, {3, 2});
  p.t.addOutput(p.op(OpId::Relu, {z}, {}, {3, 2}));
  Execution run(p, /*grad=*/true);
  Floats xs = numbers(12, 1), ws = numbers(8, 2), bs = numbers(2, 3), g = numbers(6, 4);
  run({xs.data(), ws.data(), bs.data(), g.data()});
  ASSERT_EQ(run.compiled.results.size(), 4u);
  Floats dx(12, 0), dw(8, 0), db(2, 0);
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 2; j++) {
      float sum = bs[j];
      for (size_t k = 0; k < 4; k++)
        sum += xs[i * 4 + k] * ws[k * 2 + j];
      float d = sum > 0 ? g[i * 2 + j] : 0;
      db[j] += d;
      for (size_t k = 0; k < 4; k++) {
        dx[i * 4 + k] += d * ws[k * 2 + j];
        dw[k * 2 + j] += d * xs[i * 4 + k];
      }
    }
  EXPECT_EQ(run.floats(1), dx);
  EXPECT_EQ(run.floats(2), dw);
  EXPECT_EQ(run.floats(3), db);
}

TEST(Pipeline, OneObjectServesAllSizesOfASymbol) {
  Program p;
  const int64_t n = (*Symbols::choose(1, 64))[0], zero = 0; // the program is written down at n
  p.t.addSymbol("s0", n);
  uint32_t x = p.input({n, 3}), w = p.input({3, 4});
  uint32_t y = p.op(OpId::Relu, {p.op(OpId::Matmul, {x, w}, {}, {n, 4})}, {}, {n, 4});
  uint32_t turned = p.view(OpId::Transpose, y, {Attr::integer(0), Attr::integer(1)}, {4, n}, {1, 4});
  uint32_t z = p.op(OpId::Mul, {turned, traceNone}, {num(2)}, {4, n});
  uint32_t total = p.op(OpId::Sum, {y}, {Attr::ints(&zero, 1), Attr::boolean(false)}, {4});
  for (uint32_t v : {y, z, total})
    p.t.addOutput(v);
  Execution run(p);
  ASSERT_TRUE(run.code);
  Floats ws = numbers(12, 2);
  for (int64_t rows : {5, 1, 0, 17, 130}) {
    int64_t bytes = -1;
    void *ask[] = {&bytes};
    run.code->entry()(ask, &rows, nullptr, 0, 0);
    ASSERT_GE(bytes, 0) << rows;
    EXPECT_EQ(bytes % 64, 0);
    size_t m = size_t(rows);
    Floats xs = numbers(m * 3, int(rows)), ys(m * 4 + 1, -7), zs(m * 4 + 1, -7), sums(4, -7), want(m * 4), wantSums(4);
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j < 4; j++) {
        float v = 0;
        for (size_t k = 0; k < 3; k++)
          v += xs[i * 3 + k] * ws[k * 4 + j];
        wantSums[j] += want[i * 4 + j] = std::fmax(v, 0.0f);
      }
    void *arena = std::aligned_alloc(64, size_t(bytes) + 64);
    int32_t status = 0;
    void *ptrs[] = {ys.data(), zs.data(), sums.data(), xs.data(), ws.data(), &status, arena};
    run.code->entry()(ptrs, &rows, nullptr, 0, 1);
    std::free(arena);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(sums, wantSums) << rows;
    EXPECT_EQ(ys.back(), -7) << "written beyond its end";
    EXPECT_EQ(zs.back(), -7) << "written beyond its end";
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j < 4; j++) {
        EXPECT_EQ(ys[i * 4 + j], want[i * 4 + j]) << i << " " << j;
        EXPECT_EQ(zs[j * m + i], 2 * want[i * 4 + j]) << i << " " << j;
      }
  }
}

TEST(Pipeline, RefusesWhatIsNoPolynomialOfASymbol) {
  Program p;
  const int64_t n = (*Symbols::choose(1, 64))[0];
  p.t.addSymbol("s0", n);
  uint32_t x = p.input({n, 2});
  p.t.addOutput(
      p.op(OpId::Relu,
           {p.view(OpId::Slice, x, {Attr::integer(0), Attr::integer(0), Attr::integer(n / 2), Attr::integer(1)},
                   {n / 2, 2}, {2, 1})},
           {}, {n / 2, 2}));
  compiler::PipelineOptions options;
  compiler::Compiled out;
  Diag diag;
  EXPECT_FALSE(compiler::runPipeline(p.t, options, out, diag));
  EXPECT_NE(diag.text.find("no polynomial"), std::string::npos) << diag.text;
}

TEST(Pipeline, RefusesANumberOfElementsThatIsNoPolynomial) {
  Program p;
  const Symbols s = *Symbols::choose(2, 64);
  p.t.addSymbol("s0", s[0]);
  p.t.addSymbol("s1", s[1]);
  uint32_t x = p.input({s[0], s[0], 3}), y = p.input({s[1]}); // 3 * s0 * s0 is nearly 2 * s1
  p.t.addOutput(p.op(OpId::Relu, {x}, {}, {s[0], s[0], 3}));
  p.t.addOutput(p.op(OpId::Relu, {y}, {}, {s[1]}));
  compiler::PipelineOptions options;
  compiler::Compiled out;
  Diag diag;
  EXPECT_FALSE(compiler::runPipeline(p.t, options, out, diag));
  EXPECT_NE(diag.text.find("no polynomial"), std::string::npos) << diag.text;
}

TEST(Pipeline, RefusesSymbolsWithoutAPoint) {
  for (int64_t hint : {0, 1, 64, 8210}) {
    Program p;
    p.t.addSymbol("s0", hint);
    uint32_t x = p.input({hint, 2});
    p.t.addOutput(p.op(OpId::Relu, {x}, {}, {hint, 2}));
    compiler::PipelineOptions options;
    compiler::Compiled out;
    Diag diag;
    EXPECT_FALSE(compiler::runPipeline(p.t, options, out, diag)) << hint;
    EXPECT_NE(diag.text.find("told from"), std::string::npos) << diag.text;
  }
}

TEST(Pipeline, AnArenaTooLargeForInt64IsTooLargeForMemory) {
  Program p;
  const int64_t n = (*Symbols::choose(1, 64))[0];
  p.t.addSymbol("s0", n);
  uint32_t x = p.input({n, 4});
  const int64_t axis = 0;
  uint32_t y = p.op(OpId::Cumsum, {x}, {Attr::integer(0), Attr::boolean(false)}, {n, 4});
  p.t.addOutput(p.op(OpId::Sum, {p.op(OpId::Cumsum, {y}, {Attr::integer(1), Attr::boolean(false)}, {n, 4})},
                     {Attr::ints(&axis, 1), Attr::boolean(false)}, {4}));
  Execution run(p);
  ASSERT_TRUE(run.code);
  for (int64_t rows : {int64_t(1) << 60, int64_t(1) << 59}) {
    int64_t bytes = -1;
    void *ask[] = {&bytes};
    run.code->entry()(ask, &rows, nullptr, 0, 0);
    EXPECT_GE(bytes, int64_t(1) << 47) << rows;
  }
}

TEST(Pipeline, StopsAtEveryTextualStage) {
  Program p;
  uint32_t x = p.input({8});
  p.t.addOutput(p.op(OpId::Exp, {x}, {}, {8}));
  for (auto [stage, fragment] : {std::pair("trace", "exp"),
                                 {"torchc", "torchc.exp"},
                                 {"loops", "torchc_entry"},
                                 {"llvm", "define"},
                                 {"asm", "torchc_entry"}}) {
    compiler::PipelineOptions options;
    options.stop = *compiler::parseStage(stage);
    compiler::Compiled out;
    Diag diag;
    EXPECT_TRUE(compiler::runPipeline(p.t, options, out, diag)) << diag.text;
    EXPECT_NE(out.text.find(fragment), std::string::npos) << stage;
  }
}

TEST(Pipeline, ADivisionByZeroLeavesArgumentsAsTheyWere) {
  // In front of the write, in the step that writes, and in a reduction.
  for (int where = 0; where < 3; where++) {
    Program p;
    uint32_t x = p.input({4}, DType::I64), a = p.input({4}, DType::I64), b = p.input({4}, DType::I64);
    uint32_t q = p.op(OpId::FloorDivide, {a, b}, {}, {4}, DType::I64);
    int64_t axis = 0;
    if (where == 2)
      q = p.op(OpId::Sum, {q}, {Attr::ints(&axis, 1), Attr::boolean(false)}, {}, DType::I64);
    else if (where == 0)
      p.t.addOutput(p.op(OpId::Cumsum, {q}, {Attr::integer(0), Attr::boolean(false)}, {4}, DType::I64));
    if (where == 0)
      p.into(x, OpId::Add, {x, traceNone}, {Attr::integer(1)});
    else
      p.into(x, OpId::Add, {x, q});
    Execution run(p);
    int64_t xs[] = {5, 6, 7, 8}, as[] = {8, 8, 8, 8}, bs[] = {1, 2, 4, 8}, bad[] = {1, 2, 0, 8};
    run({xs, as, bad});
    EXPECT_NE(run.status, 0) << where;
    EXPECT_THAT(xs, testing::ElementsAre(5, 6, 7, 8)) << where << "\n" << run.compiled.plan.str();
    run({xs, as, bs});
    EXPECT_EQ(run.status, 0);
    if (where == 0)
      EXPECT_THAT(xs, testing::ElementsAre(6, 7, 8, 9));
    else if (where == 1)
      EXPECT_THAT(xs, testing::ElementsAre(13, 10, 9, 9));
    else
      EXPECT_THAT(xs, testing::ElementsAre(20, 21, 22, 23));
  }
}

TEST(Pipeline, ManyStepsThatMayTrap) {
  Program p;
  constexpr int steps = 1500;
  uint32_t b = p.input({4}, DType::I64), x = p.input({4}, DType::I64), y = x;
  int64_t axis = 0;
  for (int i = 0; i < steps; i++) { // a reduction ends each kernel
    uint32_t q = p.op(OpId::FloorDivide, {y, b}, {}, {4}, DType::I64);
    uint32_t s = p.op(OpId::Sum, {q}, {Attr::ints(&axis, 1), Attr::boolean(true)}, {1}, DType::I64);
    y = p.op(OpId::Sub, {x, s}, {}, {4}, DType::I64);
  }
  p.t.addOutput(y);
  Execution run(p);
  int64_t bs[] = {8, 8, 16, 8}, xs[] = {10, 200, 3000, -40}, want[4], got[4];
  std::copy(xs, xs + 4, want);
  for (int i = 0; i < steps; i++) {
    int64_t s = 0;
    for (int k = 0; k < 4; k++)
      s += int64_t(std::floor(double(want[k]) / double(bs[k])));
    for (int k = 0; k < 4; k++)
      want[k] = xs[k] - s;
  }
  run({bs, xs});
  EXPECT_EQ(run.status, 0);
  std::memcpy(got, run.results[0].data(), sizeof got);
  EXPECT_THAT(got, testing::ElementsAreArray(want));
  bs[2] = 0;
  run({bs, xs});
  EXPECT_NE(run.status, 0);
}

TEST(Pipeline, OffsetsBeyond256MiB) {
  Program p;
  constexpr int64_t n = (int64_t(1) << 26) + 8;
  uint32_t x = p.input({n});
  uint32_t end = p.view(OpId::Slice, x, {Attr::integer(0), Attr::integer(n - 8), Attr::integer(n), Attr::integer(1)},
                        {8}, {1}, n - 8);
  p.t.addOutput(p.op(OpId::Neg, {end}, {}, {8}));
  Execution run(p);
  Floats xs(n);
  for (int i = 0; i < 8; i++)
    xs[size_t(n - 8 + i)] = float(i + 1);
  run({xs.data()});
  EXPECT_EQ(run.floats(0), (Floats{-1, -2, -3, -4, -5, -6, -7, -8}));
}

TEST(Pipeline, AnArenaBeyond256MiB) {
  Program p;
  constexpr int64_t n = int64_t(1) << 26;
  uint32_t x = p.input({n});
  auto scan = [&](uint32_t of) { return p.op(OpId::Cumsum, {of}, {Attr::integer(0), Attr::boolean(false)}, {n}); };
  uint32_t a = scan(x), b = scan(a), c = scan(b);
  uint32_t sum = p.op(OpId::Add, {a, b}, {}, {n});
  p.t.addOutput(p.op(OpId::Add, {sum, c}, {}, {n}));
  compiler::PipelineOptions options;
  options.stop = compiler::Stage::LLVM;
  compiler::Compiled out;
  Diag diag;
  ASSERT_TRUE(compiler::runPipeline(p.t, options, out, diag)) << diag.text;
  EXPECT_NE(out.text.find(", i64 268435456"), std::string::npos);
}

TEST(Pipeline, LongChainsOfViewsAndOfMembers) {
  Program p;
  constexpr int64_t n = 6000;
  uint32_t x = p.input({n + 1}), v = x;
  for (int64_t i = 0; i < n; i++)
    v = p.view(OpId::Slice, v, {Attr::integer(0), Attr::integer(1), Attr::integer(n + 1 - i), Attr::integer(1)},
               {n - i}, {1}, i + 1);
  p.t.addOutput(p.op(OpId::Neg, {v}, {}, {1}));
  uint32_t y = x;
  for (int i = 0; i < 6000; i++)
    y = p.op(OpId::Neg, {y}, {}, {n + 1});
  int64_t axis = 0;
  p.t.addOutput(p.op(OpId::Sum, {y}, {Attr::ints(&axis, 1), Attr::boolean(false)}, {}));
  compiler::PipelineOptions options;
  options.stop = compiler::Stage::Loops;
  compiler::Compiled out;
  Diag diag;
  EXPECT_TRUE(compiler::runPipeline(p.t, options, out, diag)) << diag.text;
  EXPECT_EQ(out.plan.steps.size(), 2u) << out.plan.str();
}

TEST(Pipeline, AStateThatIsWrittenIsReadBefore) {
  for (bool write : {false, true}) {
    static Floats first;
    Program p;
    uint32_t state = p.input({2}, DType::I64);
    uint32_t next = p.op(OpId::Add, {state, traceNone}, {Attr::integer(1)}, {2}, DType::I64);
    int64_t size = 16;
    uint32_t r = p.op(OpId::Uniform, {state}, {Attr::ints(&size, 1), Attr::dtype(DType::F32)}, {16});
    p.t.addOutput(r);
    if (write)
      p.into(state, OpId::Cast, {next}, {Attr::dtype(DType::I64)});
    Execution run(p);
    int64_t numbers[] = {42, 7};
    run({numbers});
    if (write) {
      EXPECT_EQ(run.floats(0), first) << run.compiled.plan.str();
      EXPECT_THAT(numbers, testing::ElementsAre(43, 8));
    }
    first = run.floats(0);
  }
}

TEST(Pipeline, EqualKernelsAreOneFunction) {
  // y = y + sum(y), five times: the sums and the additions are each one function; another number makes another one.
  Program p;
  uint32_t x = p.input({4}), y = x;
  int64_t axis = 0;
  for (int i = 0; i < 5; i++)
    y = p.op(OpId::Add, {p.op(OpId::Sum, {y}, {Attr::ints(&axis, 1), Attr::boolean(true)}, {1}), y}, {}, {4});
  y = p.op(OpId::Mul, {p.op(OpId::Sum, {y}, {Attr::ints(&axis, 1), Attr::boolean(true)}, {1}), traceNone}, {num(3)},
           {1});
  y = p.op(OpId::Mul, {p.op(OpId::Sum, {y}, {Attr::ints(&axis, 1), Attr::boolean(true)}, {1}), traceNone}, {num(5)},
           {1});
  p.t.addOutput(y);
  Execution run(p);
  std::set<std::string> callees;
  run.compiled.plan.eachStep([&](const schedule::Step &s) { callees.insert(s.callee); });
  EXPECT_GE(run.compiled.plan.steps.size(), 10u);
  EXPECT_LE(callees.size(), 6u) << run.compiled.plan.str();
  Floats xs = {1, 2, 3, 4};
  run({xs.data()});
  // Each round adds the sum to all four: the sum grows by 5.
  EXPECT_EQ(run.floats(0), Floats{10 * 3125 * 3 * 5});
}

TEST(Pipeline, FusionCostsLittlePerOp) {
  // A reduction stands between each member and the next: what once took time by the cube of the ops.
  Program p;
  uint32_t x = p.input({4}), y = x;
  int64_t axis = 0;
  for (int i = 0; i < 8000; i++)
    y = p.op(OpId::Add, {p.op(OpId::Sum, {y}, {Attr::ints(&axis, 1), Attr::boolean(true)}, {1}), y}, {}, {4});
  p.t.addOutput(y);
  compiler::PipelineOptions options;
  options.stop = compiler::Stage::Torchc;
  options.verify = false;
  compiler::Compiled out;
  Diag diag;
  clock_t begin = std::clock();
  ASSERT_TRUE(compiler::runPipeline(p.t, options, out, diag)) << diag.text;
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 10); // 16,000 ops: 64 s before
}

} // namespace
