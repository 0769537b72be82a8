// Building, verifying and printing traces.
#include "TraceRandom.h"
#include "dialects/trace/Sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace torchc;
using testing::HasSubstr;

namespace {

/// y = x * 2 + n, then x.copy_(y): a view, a hole and a write.
Trace sample() {
  Trace t;
  uint32_t batch = t.addSymbol("batch", 64, 1);
  TraceDim sizes[] = {TraceDim::symbol(batch), 10}, part[] = {4, 2}, strides[] = {10, 1};
  uint32_t x = t.addTensor(DType::F32, sizes, true);
  t.addInput(x, InputKind::Argument, "x");
  uint32_t number = t.addNumberInput(DType::F64, "n");
  uint32_t view = t.addValue(DType::F32, part, t.values[x].storage, 3, strides);
  uint32_t y = t.addTensor(DType::F32, part), z = t.addTensor(DType::F32, part);
  uint32_t line = t.addSource("file.py", 12, "f");
  int64_t starts[] = {0, 3};
  Attr slice[] = {Attr::ints(starts, 2)}, two[] = {Attr::number(2)}, hole[] = {Attr::integer(number)};
  hole[0].tag = AttrTag::Hole;
  t.addNode(t.addOp("slice.Tensor"), {{x}}, {{view}}, slice, line);
  t.addNode(t.addOp("mul.Scalar"), {{view}}, {{y}}, two, line);
  t.addNode(t.addOp("add.Scalar"), {{y}}, {{z}}, hole, t.addSource("file.py", 13, "f"));
  uint32_t after = t.addValue(DType::F32, part, t.values[x].storage, 3, strides);
  uint32_t copy = t.addNode(t.addOp("copy_.default"), {{view, z}}, {{after}});
  t.addEffect(copy, EffectKind::Write, t.values[x].storage);
  t.addObservation(3, z, ObserveKind::Bool, Attr::boolean(true));
  t.addOutput(z);
  return t;
}

TEST(Trace, PrintsOneNodePerLine) {
  EXPECT_EQ(printTrace(sample()), R"(trace {
  symbol batch = 64 in [1, ...]
  %0 = input argument "x" : f32[batch,10] @s0 grad
  %1 = input number "n" : f64[] number
  %2 = slice.Tensor(%0) {[0,3]} : f32[4,2] @s0+3 strides[10,1]  // file.py:12
  %3 = mul.Scalar(%2) {2.0} : f32[4,2] @s1  // file.py:12
  %4 = add.Scalar(%3) {%1} : f32[4,2] @s2  // file.py:13
  observe bool %4 = true
  %5 = copy_.default(%2, %4) writes s0 : f32[4,2] @s0+3 strides[10,1]
  output %4
}
)");
}

TEST(Trace, SharesStringsOpsAndSources) {
  Trace t = sample();
  EXPECT_EQ(t.addOp("mul.Scalar"), 1u);
  EXPECT_EQ(t.sources.size(), 2u);
  EXPECT_EQ(t.addSource("file.py", 12, "f"), 0u);
  EXPECT_EQ(t.addString("batch"), 0u);
}

TEST(Trace, AddsToATraceThatWasRead) {
  Trace t;
  Diag diag;
  ASSERT_TRUE(readTrace(writeTrace(sample()), t, diag)) << diag.text;
  EXPECT_EQ(t.addOp("mul.Scalar"), 1u);
  EXPECT_EQ(t.addOp("exp.default"), 4u);
  EXPECT_EQ(t.addSource("file.py", 13, "f"), 1u);
}

TEST(Trace, AttributesKeepTheirBits) {
  Trace t;
  int64_t list[] = {-1, 1ll << 62};
  for (const Attr &a : {Attr(), Attr::boolean(true), Attr::integer(-5), Attr::number(-0.0), Attr::string("a\0b", 3),
                        Attr::dtype(DType::I8), Attr::ints(list, 2)})
    EXPECT_TRUE(t.attr(t.makeAttr(a)) == a);
}

/// Applies `change` to the sample and expects a refusal that says `problem`.
template <class Change> void refuses(Change change, const char *problem) {
  Trace t = sample();
  change(t);
  Diag diag;
  EXPECT_FALSE(verifyTrace(t, diag));
  EXPECT_EQ(diag.kind, ErrorKind::Runtime);
  EXPECT_THAT(diag.text, HasSubstr(problem));
}

TEST(TraceVerify, AcceptsTheSample) {
  Diag diag;
  EXPECT_TRUE(verifyTrace(sample(), diag)) << diag.text;
}

TEST(TraceVerify, RefusesWrongReferences) {
  refuses([](Trace &t) { t.ops[2].name = 99; }, "op 2: refers to string 99");
  refuses([](Trace &t) { t.strings[t.ops[0].name] = "a b"; }, "op 0: name expected");
  refuses([](Trace &t) { t.nodes[1].op = 7; }, "node 1: refers to op 7, but there are 4");
  refuses([](Trace &t) { t.refs[0] = 5; }, "node 0: value %5 is used before its definition");
  refuses([](Trace &t) { t.refs[0] = 50; }, "node 0: refers to value 50");
  refuses([](Trace &t) { t.refs[1] = 0; }, "node 0: value %0 already has a definition");
  refuses([](Trace &t) { t.values[2].storage = 9; }, "value 2: refers to storage 9");
  refuses([](Trace &t) { t.dims[0] = TraceDim::symbol(4); }, "value 0: refers to symbol 4");
  refuses([](Trace &t) { t.effects[0].target = 9; }, "effect 0: refers to storage 9");
  refuses([](Trace &t) { t.observations[0].position = 1; }, "computed only later");
  refuses([](Trace &t) { t.attrs[2].bits = 0; }, "node 2: a hole must refer to a number input");
  refuses([](Trace &t) { t.inputs[1].value = 3; }, "input 1: a number must be a 0-d i64 or f64");
}

TEST(TraceVerify, RefusesWhatReachesBeyondItsStorage) {
  refuses([](Trace &t) { t.storages[1].nbytes = 31; }, "value 3: it reaches beyond its storage");
  refuses([](Trace &t) { t.dims[t.values[3].firstDim] = TraceDim(1ll << 62); }, "size overflows");
}

TEST(TraceResolve, NamesTheUnknownOp) {
  Trace t = sample();
  Diag diag;
  LookupOp lookup = [](std::string_view name) { return name == "add.Scalar" ? unresolvedOp : uint32_t(name.size()); };
  EXPECT_FALSE(resolveOps(t, lookup, diag));
  EXPECT_EQ(diag.kind, ErrorKind::NotImplemented);
  EXPECT_THAT(diag.text, HasSubstr("'add.Scalar'"));
  EXPECT_EQ(t.ops[0].id, 12u);
}

TEST(TraceKey, IgnoresSourcePositionsOnly) {
  Trace a = sample(), b = sample();
  b.sources[0].line = 99;
  b.sources[1].file = "other.py";
  b.nodes[3].source = 0;
  EXPECT_EQ(traceKey(a), traceKey(b));
  EXPECT_NE(writeTrace(a), writeTrace(b));
  b.attrs[1].bits ^= 1;
  EXPECT_NE(traceKey(a), traceKey(b));
}

std::string hashText(std::string_view s) {
  return toHex(sha256({reinterpret_cast<const uint8_t *>(s.data()), s.size()}));
}

TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(hashText(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hashText("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hashText("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hashText(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameDigest) {
  std::vector<uint8_t> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i * 7);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    Sha256 hash;
    hash.update(std::span(bytes).first(cut));
    hash.update(std::span(bytes).subspan(cut));
    EXPECT_EQ(hash.finish(), sha256(bytes));
  }
}

} // namespace
