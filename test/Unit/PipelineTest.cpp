// Traces through the whole pipeline: compiled, loaded, run. Numbers are small integers, so that sums are exact in any
// order and the references can be plain loops.
#include "compiler/pipeline/Pipeline.h"
#include "dialects/rules/OpInfo.h"
#include "runtime/exec/Executable.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <functional>

using namespace torchc;

namespace {

using Floats = std::vector<float>;

/// Builds a trace op by op; every method returns a value id.
struct Program {
  Trace t;

  std::vector<TraceDim> dims(std::initializer_list<int64_t> d) { return {d.begin(), d.end()}; }
  uint32_t input(std::initializer_list<int64_t> shape, DType type = DType::F32) {
    uint32_t v = t.addTensor(type, dims(shape));
    t.addInput(v, InputKind::Argument);
    return v;
  }
  uint32_t strided(std::initializer_list<int64_t> shape, std::initializer_list<int64_t> strides) {
    auto d = dims(shape), s = dims(strides);
    uint32_t storage = t.addStorage(-1, DType::F32);
    uint32_t v = t.addValue(DType::F32, d, storage, 0, s);
    t.addInput(v, InputKind::Argument);
    return v;
  }
  uint32_t op(OpId id, std::vector<uint32_t> in, std::vector<Attr> attrs, std::initializer_list<int64_t> shape,
              DType type = DType::F32) {
    uint32_t out = t.addTensor(type, dims(shape));
    node(id, in, out, attrs);
    return out;
  }
  uint32_t view(OpId id, uint32_t of, std::vector<Attr> attrs, std::initializer_list<int64_t> shape,
                std::initializer_list<int64_t> strides, int64_t offset = 0) {
    auto d = dims(shape), s = dims(strides);
    uint32_t out = t.addValue(t.values[of].dtype, d, t.values[of].storage, offset, s);
    node(id, {of}, out, attrs);
    return out;
  }
  /// In place: the result has the layout of `target`.
  uint32_t into(uint32_t target, OpId id, std::vector<uint32_t> in, std::vector<Attr> attrs = {}) {
    TraceValue v = t.values[target];
    std::vector<TraceDim> d(t.sizesOf(v).begin(), t.sizesOf(v).end()), s(t.stridesOf(v).begin(), t.stridesOf(v).end());
    uint32_t out = t.addValue(v.dtype, d, v.storage, v.offset, s);
    uint32_t n = node(id, in, out, attrs);
    t.addEffect(n, EffectKind::Write, v.storage);
    return out;
  }
  uint32_t node(OpId id, const std::vector<uint32_t> &in, uint32_t out, const std::vector<Attr> &attrs) {
    uint32_t outs[] = {out};
    return t.addNode(t.addOp(opInfo(id).name, uint32_t(id)), in, outs, attrs);
  }
};

struct Execution {
  compiler::Compiled compiled;
  std::shared_ptr<const Executable> code;
  std::vector<std::vector<char>> results;
  int32_t status = 0;

  explicit Execution(const Program &p, bool grad = false) {
    Diag diag;
    compiler::PipelineOptions options;
    options.isa = codegen::hostIsa();
    options.grad = grad;
    EXPECT_TRUE(verifyTrace(p.t, diag)) << diag.text;
    bool ok = compiler::runPipeline(p.t, options, compiled, diag);
    EXPECT_TRUE(ok) << diag.text;
    if (ok)
      code = Executable::load(compiled.object.data(), compiled.object.size(), diag);
    EXPECT_TRUE(code) << diag.text;
  }
  void operator()(std::vector<void *> inputs) {
    if (!code)
      return;
    std::vector<void *> ptrs;
    results.clear();
    for (const TensorType &t : compiled.results) {
      results.emplace_back(size_t(t.dims.numel() * itemSize(t.dtype)) + 1);
      ptrs.push_back(results.back().data());
    }
    ptrs.insert(ptrs.end(), inputs.begin(), inputs.end());
    void *arena = std::aligned_alloc(64, size_t(compiled.plan.arenaBytes + 64) / 64 * 64);
    status = 0;
    ptrs.push_back(&status);
    ptrs.push_back(arena);
    code->entry()(ptrs.data(), nullptr, nullptr, 0, 0);
    std::free(arena);
  }
  Floats floats(size_t i) const {
    Floats f((results.at(i).size() - 1) / 4);
    std::memcpy(f.data(), results[i].data(), f.size() * 4);
    return f;
  }
};

Floats numbers(size_t n, int seed) {
  Floats f(n);
  for (size_t i = 0; i < n; i++)
    f[i] = float((int(i) * 7 + seed * 13) % 11 - 5);
  return f;
}
Attr num(double v) { return Attr::number(v); }

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
  int64_t shape[] = {3, 8};
  uint32_t sl = p.view(OpId::Slice, x, {Attr::integer(1), Attr::integer(1), Attr::integer(6), Attr::integer(2)}, {4, 3},
                       {1, 8}, 4);
  uint32_t t = p.view(OpId::Transpose, sl, {Attr::integer(0), Attr::integer(1)}, {3, 4}, {8, 1}, 4);
  uint32_t n = p.op(OpId::Neg, {t}, {}, {3, 4});
  (void)shape;
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

} // namespace
