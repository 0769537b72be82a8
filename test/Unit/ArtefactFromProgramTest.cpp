// A saved program and a compiled graph become a model: which inputs are weights, and in which order the entry gets them.
#include "ArtefactToy.h"
#include "compiler/link/FromProgram.h"

namespace torchc::test {
namespace {

class ArtefactFromProgramTest : public ToyTest {
protected:
  /// y = x * w + b, recorded with the weights around the argument: w, x, b.
  void record() {
    Trace &t = program.trace;
    uint32_t n = t.addSymbol("n", 2);
    const TraceDim batch[] = {TraceDim::symbol(n), 3}, row[] = {3}, one[] = {1};
    uint32_t weight = t.addTensor(DType::F32, row), x = t.addTensor(DType::F32, batch);
    uint32_t bias = t.addTensor(DType::F32, one), scaled = t.addTensor(DType::F32, batch);
    uint32_t y = t.addTensor(DType::F32, batch);
    t.addInput(weight, InputKind::Parameter, "w");
    t.addInput(x, InputKind::Argument, "x");
    t.addInput(bias, InputKind::Buffer, "b");
    const uint32_t first[] = {x, weight}, second[] = {scaled, bias};
    t.addNode(t.addOp("mul.Tensor"), first, {&scaled, 1});
    t.addNode(t.addOp("add.Tensor"), second, {&y, 1});
    t.addOutput(y);
    meta.entry = "torchc_entry";
    meta.results = {{t.values[y].storage, DType::F32, {2, 3}}};
    auto bytes = [](const std::string &s) { return std::span(reinterpret_cast<const uint8_t *>(s.data()), s.size()); };
    program.weights = {{"w", DType::F32, {3}, bytes(w)}, {"b", DType::F32, {1}, bytes(b)}};
  }

  SavedProgram program;
  link::ObjectMeta meta;
  link::Model m;
  Diag diag;
};

TEST_F(ArtefactFromProgramTest, WeightsAndSlots) {
  record();
  ASSERT_TRUE(link::modelFromProgram(program, meta, m, diag)) << diag.text;
  EXPECT_EQ(m.inputSlots, std::vector<uint32_t>{1});
  EXPECT_EQ(m.weightSlots, (std::vector<uint32_t>{0, 2}));
  ASSERT_EQ(m.inputs.size(), 1u);
  EXPECT_EQ(m.inputs[0].dims, (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(m.outputs[0].name, "output");
  // The toy kernel wants x, w, b: it stands for a graph recorded in that order.
  m.name = "toy";
  m.arenaBytes = 64;
  m.inputSlots = {0};
  m.weightSlots = {1, 2};
  m.tests = model("toy").tests;
  ASSERT_TRUE(link::linkExecutable(m, kernel(), path("m"), diag)) << diag.text;
  EXPECT_EQ(shell(path("m") + " --self-test").second, "self-test: 1 passed\n");
  m.weightSlots = {1, 1};
  EXPECT_FALSE(link::linkExecutable(m, kernel(), path("m"), diag));
}

TEST_F(ArtefactFromProgramTest, GradientsAndWrites) {
  record();
  // Differentiated twice: the cotangent of y, the gradient of x; cotangents of both, gradients of x and of the former.
  meta.contents = {meta.results[0].storage};
  meta.cotangents = {{DType::F32, {2, 3}, 0}, {DType::F32, {2, 3}, 0}, {DType::F64, {2, 3}, 1}};
  for (int64_t argument : {1, 1, 3})
    meta.results.push_back({-1, DType::F64, {2, 3}, argument});
  ASSERT_TRUE(link::modelFromProgram(program, meta, m, diag)) << diag.text;
  std::vector<std::string> names;
  for (const link::TensorDesc &t : m.inputs)
    names.push_back(t.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "output.grad", "output.grad2", "x.grad.grad"}));
  EXPECT_EQ(m.inputSlots, (std::vector<uint32_t>{1, 3, 4, 5}));
  names.clear();
  for (const link::TensorDesc &t : m.outputs)
    names.push_back(t.name);
  EXPECT_EQ(names, (std::vector<std::string>{"output", "x.grad", "x.grad2", "output.grad.grad"}));
  EXPECT_EQ(m.outputs[1].dtype, DType::F64);
  meta.results.push_back({-1, DType::F64, {2, 3}, 9}); // of no argument
  m = {};
  EXPECT_FALSE(link::modelFromProgram(program, meta, m, diag));
  meta.cotangents.clear();
  meta.results.resize(1);
  diag = {};
  meta.writtenInputs = {0};
  m = {};
  ASSERT_TRUE(link::modelFromProgram(program, meta, m, diag)) << diag.text;
  ASSERT_EQ(m.inputs.size(), 2u); // a weight that is written is the caller's
  EXPECT_EQ(m.inputs[0].name, "w");
  EXPECT_TRUE(m.inputs[0].written);
  EXPECT_FALSE(m.inputs[1].written);
  EXPECT_EQ(m.weights.size(), 1u);
}

TEST_F(ArtefactFromProgramTest, NumbersAreInputsOfRankZero) {
  record();
  program.trace.addNumberInput(DType::F64, "lr");
  ASSERT_TRUE(link::modelFromProgram(program, meta, m, diag)) << diag.text;
  EXPECT_EQ(m.inputs.back().name, "lr");
  EXPECT_EQ(m.inputs.back().dtype, DType::F64);
  EXPECT_TRUE(m.inputs.back().dims.empty());
}

TEST_F(ArtefactFromProgramTest, RefusesViews) {
  record();
  program.trace.values[program.trace.outputs[0].value].offset = 1;
  m = {};
  EXPECT_FALSE(link::modelFromProgram(program, meta, m, diag));
  EXPECT_EQ(diag.text, "'output' is a view of other memory, which an artefact can't take or give yet");
}

TEST_F(ArtefactFromProgramTest, Metadata) {
  EXPECT_TRUE(link::parseObjectMeta(
      R"({"arena": 640, "entry": "e", "results": [{"storage": 4, "dtype": "i64", "dims": [2, 3]}],
          "writes": [{"storage": 1, "input": 2}], "contents": [4, 1],
          "inputs": [{"dtype": "i64", "dims": [3]}, {"dtype": "f32", "dims": [], "cotangent": 0}], "products": [["f32", 1, 2, 3, 4, 5, 6, 7, 8, 1]]})",
      meta, diag));
  EXPECT_EQ(meta.entry, "e");
  EXPECT_EQ(meta.arenaBytes, 640u);
  EXPECT_EQ(meta.results[0].dtype, DType::I64);
  EXPECT_EQ(meta.results[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(meta.writtenInputs, std::vector<int64_t>{2});
  EXPECT_EQ(meta.cotangents[0].of, 0);
  EXPECT_EQ(meta.contents, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(meta.products[0].k, 3);
  EXPECT_EQ(meta.products[0].cRow, 8);
  EXPECT_EQ(meta.products[0].start, 1);
  for (const char *bad : {"", "[]", "{}", R"({"arena": -1, "entry": "e", "results": [], "writes": []})",
                          R"({"arena": 1, "entry": "e", "results": [3], "writes": []})"}) {
    diag = {};
    EXPECT_FALSE(link::parseObjectMeta(bad, meta, diag)) << bad;
  }
}

} // namespace
} // namespace torchc::test
