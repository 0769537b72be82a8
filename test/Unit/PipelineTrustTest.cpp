// Traces that no frontend records: whoever can write a file can write these. Each is refused by name or compiled, and what is
// compiled stays within its memory.
#include "PipelineProgram.h"
#include "TraceRandom.h"
#include "compiler/api/CompileTrace.h"
#include "dialects/rules/Infer.h"
#include "gmock/gmock.h"

using namespace torchc;
using namespace torchc::test;
using testing::HasSubstr;

namespace {

/// The report of a compile, or "compiled".
std::string reportOf(const Trace &t, const char *emit = "loops") {
  std::vector<uint8_t> bytes = writeTrace(t);
  CompileRequest request;
  request.options.emit = emit;
  request.trace = {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  CompileError error;
  bool ok = compileTrace(request, [](llvm::StringRef, llvm::StringRef) {}, error);
  EXPECT_EQ(ok, error.ok());
  return ok ? "compiled" : error.text;
}

/// One node over an f32[4], and its report.
std::string reportOf(OpId id, std::vector<Attr> attrs, std::initializer_list<int64_t> shape = {4},
                     DType type = DType::F32, unsigned operands = 1) {
  Program p;
  uint32_t x = p.input({4});
  p.t.addOutput(p.op(id, std::vector<uint32_t>(operands, x), attrs, shape, type));
  return reportOf(p.t);
}

/// One view of an f32[4].
std::string reportOfView(OpId id, std::vector<Attr> attrs, std::initializer_list<int64_t> shape,
                         std::initializer_list<int64_t> strides) {
  Program p;
  uint32_t x = p.input({4});
  p.t.addOutput(p.op(OpId::Neg, {p.view(id, x, attrs, shape, strides)}, {}, shape));
  return reportOf(p.t);
}

Attr text() { return Attr::string("mean", 4); }

} // namespace

TEST(PipelineTrust, AttributesHaveTheTypesOfTheRecord) {
  Attr f32 = Attr::dtype(DType::F32);
  int64_t four = 4;
  Attr size = Attr::ints(&four, 1);
  EXPECT_THAT(reportOf(OpId::Full, {size, Attr(), f32}, {4}, DType::F32, 0),
              HasSubstr("node 0 (full): full(): expected a number for value, got none"));
  EXPECT_THAT(reportOf(OpId::Full, {size, text(), f32}, {4}, DType::F32, 0), HasSubstr("expected a number"));
  EXPECT_THAT(reportOf(OpId::Reshape, {text()}), HasSubstr("expected a list of ints for shape, got a string"));
  EXPECT_THAT(reportOf(OpId::Reshape, {Attr::integer(4)}), HasSubstr("expected a list of ints"));
  EXPECT_THAT(reportOf(OpId::Transpose, {text(), text()}), HasSubstr("expected an int"));
  EXPECT_THAT(reportOf(OpId::Cast, {}), HasSubstr("expected 1 attributes, got 0"));
  EXPECT_THAT(reportOf(OpId::Cast, {Attr::integer(8)}), HasSubstr("expected a dtype"));
  EXPECT_THAT(reportOf(OpId::Sum, {Attr::integer(5), Attr::boolean(true)}, {}), HasSubstr("expected a list of ints"));
  EXPECT_THAT(reportOf(OpId::Neg, {text()}, {4}, DType::F32, 1), HasSubstr("compiled")); // one too many is nobody's
  EXPECT_THAT(reportOfView(OpId::Slice, {text(), Attr::integer(0), Attr::integer(4), Attr::integer(1)}, {4}, {1}),
              HasSubstr("expected an int for dim, got a string"));
}

TEST(PipelineTrust, ListsAreNoLongerThanARank) {
  std::vector<int64_t> ones(10000, 1), axes(70, 0);
  for (uint32_t n : {65u, 10000u})
    EXPECT_THAT(reportOf(OpId::Full, {Attr::ints(ones.data(), n), num(1), Attr::dtype(DType::F32)}, {4}, DType::F32, 0),
                HasSubstr("expected at most 64 numbers for shape, got " + std::to_string(n)));
  EXPECT_THAT(reportOf(OpId::Sum, {Attr::ints(axes.data(), 70), Attr::boolean(false)}, {}), HasSubstr("at most 64"));
}

TEST(PipelineTrust, AsStridedStaysWithinItsOperand) {
  std::vector<int64_t> sizes(4, 3), strides(4, int64_t(1) << 61), four{4}, one{1}, ten{10};
  auto list = [](const std::vector<int64_t> &v) { return Attr::ints(v.data(), uint32_t(v.size())); };
  for (bool view : {true, false}) {
    auto report = [&](std::vector<Attr> attrs, std::initializer_list<int64_t> shape) {
      std::initializer_list<int64_t> zeros[] = {{}, {0}, {0, 0}, {0, 0, 0}, {0, 0, 0, 0}};
      return view ? reportOfView(OpId::AsStrided, attrs, shape, zeros[shape.size()])
                  : reportOf(OpId::AsStrided, attrs, shape);
    };
    EXPECT_THAT(report({}, {4}), HasSubstr("attributes"));
    EXPECT_THAT(report({list(sizes), list(strides), Attr::integer(0)}, {3, 3, 3, 3}), HasSubstr("outside"));
    EXPECT_THAT(report({list(four), list(one), Attr::integer(1)}, {4}), HasSubstr("outside"));
    EXPECT_THAT(report({list(ten), list(one), Attr::integer(0)}, {10}), HasSubstr("outside"));
    EXPECT_THAT(report({list(sizes), list(one), Attr::integer(0)}, {3, 3, 3, 3}), testing::Not("compiled"));
  }
  EXPECT_EQ(reportOf(OpId::AsStrided, {list(four), list(one), Attr::integer(0)}), "compiled");
}

TEST(PipelineTrust, NodesHaveAResultAndTensorsWhereTensorsAreRead) {
  Program p;
  uint32_t x = p.input({4});
  p.node(OpId::Neg, {x}, traceNone, {});
  p.t.addOutput(x);
  EXPECT_THAT(reportOf(p.t), HasSubstr("node 0 (neg): is not a builtin op with one result"));
  Program q;
  uint32_t y = q.input({4, 4});
  q.t.addOutput(q.op(OpId::Matmul, {y, traceNone}, {num(2)}, {4, 4}));
  EXPECT_THAT(reportOf(q.t), HasSubstr("expected tensors, got a number as operand 1"));
  Program r;
  r.input({4});
  r.t.addOutput(r.op(OpId::Add, {0, traceNone}, {text()}, {4}));
  EXPECT_THAT(reportOf(r.t), HasSubstr("expected a number"));
}

TEST(PipelineTrust, ComplexTypesAreRefused) {
  EXPECT_THAT(reportOf(OpId::Cast, {Attr::dtype(DType::C64)}, {4}, DType::C64), HasSubstr("cast(): complex types"));
  int64_t four = 4;
  EXPECT_THAT(reportOf(OpId::Full, {Attr::ints(&four, 1), num(1), Attr::dtype(DType::C128)}, {4}, DType::C128, 0),
              HasSubstr("complex types"));
}

TEST(PipelineTrust, RecordedShapesAndTypesAreThoseOfTheRules) {
  EXPECT_THAT(
      reportOfView(OpId::Slice, {Attr::integer(0), Attr::integer(0), Attr::integer(2), Attr::integer(1)}, {3}, {1}),
      HasSubstr("recorded a result"));
  // A write of doubles to the memory of floats.
  Program p;
  uint32_t x = p.input({4});
  uint32_t wide = p.op(OpId::Cast, {x}, {Attr::dtype(DType::F64)}, {4}, DType::F64);
  std::vector<TraceDim> four{4};
  uint32_t out = p.t.addValue(DType::F64, four, p.t.values[x].storage);
  p.t.storages[p.t.values[x].storage].nbytes = -1;
  p.t.addEffect(p.node(OpId::Neg, {wide}, out, {}), EffectKind::Write, p.t.values[x].storage);
  EXPECT_THAT(reportOf(p.t), HasSubstr("another type"));
}

TEST(PipelineTrust, WhatNoMemoryHoldsIsRefused) {
  Program p;
  uint32_t x = p.input({1});
  int64_t axis = 0, big = int64_t(1) << 57;
  uint32_t wide = p.op(OpId::Expand, {x}, {Attr::ints(&big, 1)}, {big});
  uint32_t run = p.op(OpId::Cumsum, {wide}, {Attr::integer(0), Attr::boolean(false)}, {big});
  p.t.addOutput(p.op(OpId::Sum, {run}, {Attr::ints(&axis, 1), Attr::boolean(false)}, {}));
  EXPECT_THAT(reportOf(p.t), HasSubstr("doesn't fit into memory"));
}

// Of five depths two are asked for: the kernel for windows of 2x2 takes depths one to one.
TEST(PipelineTrust, MaxPoolOfFewerDepthsThanThereAre) {
  int64_t size[] = {2, 2, 3}, kernel[] = {1, 2, 2}, none[] = {0, 0, 0}, ones[] = {1, 1, 1};
  auto list = [](const int64_t *v) { return Attr::ints(v, 3); };
  Program p;
  uint32_t x = p.input({3, 5, 4, 6});
  p.t.addOutput(
      p.op(OpId::MaxPool, {x}, {list(size), list(kernel), list(kernel), list(none), list(ones)}, {3, 2, 2, 3}));
  Execution run(p);
  Floats xs = numbers(3 * 5 * 4 * 6, 3), want;
  run({xs.data()});
  for (size_t c = 0; c < 3; c++)
    for (size_t d = 0; d < 2; d++)
      for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++) {
          const float *at = &xs[((c * 5 + d) * 4 + 2 * i) * 6 + 2 * j];
          want.push_back(std::max({at[0], at[1], at[6], at[7]}));
        }
  EXPECT_EQ(run.floats(0), want);
}

namespace {

/// Nodes of every builtin with attributes of mostly the right types; results mostly of the type that the rules give.
Trace randomProgram(Rng &rng) {
  Program p;
  std::vector<uint32_t> live;
  auto some = [&](uint64_t n) { return int64_t(below(rng, n)); };
  auto sizes = [&](uint64_t most) {
    std::vector<TraceDim> d(below(rng, 4));
    for (TraceDim &s : d)
      s = some(most);
    return d;
  };
  static const DType types[] = {DType::F32,  DType::F32, DType::F32, DType::I64,
                                DType::Bool, DType::F16, DType::F64, DType::C64};
  for (int64_t i = 1 + some(3); i-- > 0;) {
    live.push_back(p.t.addTensor(types[some(8)], sizes(5)));
    p.t.addInput(live.back(), InputKind::Argument);
  }
  std::vector<std::vector<int64_t>> lists;
  auto attrOf = [&](AttrTag tag) {
    if (some(30) == 0)
      tag = AttrTag(some(8));
    auto small = [&] { return some(20) ? some(7) - 1 : int64_t(rng()); };
    switch (tag) {
    case AttrTag::Bool: return Attr::boolean(some(2));
    case AttrTag::Int: return Attr::integer(small());
    case AttrTag::Str: return text();
    case AttrTag::DType: return Attr::dtype(types[some(8)]);
    case AttrTag::IntList: {
      lists.emplace_back(size_t(some(40) ? some(4) : 80));
      for (int64_t &v : lists.back())
        v = small();
      return Attr::ints(lists.back().data(), uint32_t(lists.back().size()));
    }
    default: return some(2) ? Attr::integer(small()) : num(double(small()));
    }
  };
  for (int64_t nodes = 1 + some(5); nodes-- > 0;) {
    OpId id = OpId(some(numOps));
    const OpInfo &info = opInfo(id);
    std::vector<uint32_t> in(info.flags & OpVariadic ? size_t(1 + some(3)) : size_t(info.numOperands));
    std::vector<Attr> attrs;
    for (int i = 0; i < info.numAttrs; i++)
      attrs.push_back(attrOf(info.attrs[i].tag));
    size_t own = attrs.size();
    std::vector<OperandType> types;
    std::vector<Dims> shapes(in.size());
    for (size_t i = 0; i < in.size(); i++) {
      in[i] = some(8) ? live[size_t(some(live.size()))] : traceNone;
      if (in[i] == traceNone) {
        attrs.push_back(num(2));
        types.push_back({DType::F64, true, nullptr});
        continue;
      }
      for (TraceDim d : p.t.sizesOf(p.t.values[in[i]]))
        shapes[i].push(d.raw);
      types.push_back({p.t.values[in[i]].dtype, false, &shapes[i]});
    }
    TensorType type;
    Diag diag;
    std::vector<TraceDim> result;
    if (inferOp(id, types.data(), int(types.size()), attrs.data(), int(own), DType::F32, type, diag) && some(10)) {
      if (type.dims.numel() > 1 << 20)
        continue;
      result.assign(type.dims.begin(), type.dims.end());
    } else {
      result = sizes(5);
      type.dtype = DType(some(numDTypes));
    }
    uint32_t out = in.size() && in[0] != traceNone && (info.flags & OpIsView) && some(2)
                       ? p.t.addValue(type.dtype, result, p.t.values[in[0]].storage)
                       : p.t.addTensor(type.dtype, result);
    p.t.storages[p.t.values[out].storage].nbytes = -1;
    uint32_t node = p.node(id, in, some(100) ? out : traceNone, attrs);
    if (some(10) == 0)
      p.t.addEffect(node, EffectKind::Write, p.t.values[out].storage);
    if (p.t.outputsOf(p.t.nodes[node])[0] == out)
      live.push_back(out);
  }
  p.t.addOutput(live.back());
  return p.t;
}

} // namespace

TEST(PipelineTrust, RandomProgramsAreCompiledOrRefused) {
  Rng rng(20);
  int compiled = 0;
  constexpr int rounds = 4000;
  for (int i = 0; i < rounds; i++) {
    Trace t = randomProgram(rng);
    Diag diag;
    if (!verifyTrace(t, diag))
      continue;
    compiled += reportOf(t, i % 2 ? "loops" : "torchc") == "compiled";
  }
  EXPECT_GT(compiled, rounds / 40); // the programs go deep enough to mean something
}

TEST(PipelineTrust, DamagedTracesAreCompiledOrRefused) {
  Rng rng(21);
  for (int i = 0; i < 4000; i++) {
    std::vector<uint8_t> bytes = writeTrace(i % 4 ? randomProgram(rng) : randomTrace(rng));
    damage(rng, bytes);
    sealTrace(bytes); // else the digest would stop everything
    Trace t;
    Diag diag;
    if (!readTrace(bytes, t, diag))
      continue;
    bool small = true;
    for (const TraceValue &v : t.values)
      for (TraceDim d : t.sizesOf(v))
        small &= d.raw < 1 << 20;
    if (small)
      reportOf(t);
  }
}
