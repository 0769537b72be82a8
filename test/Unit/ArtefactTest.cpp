// Linked libraries, called in process: every check that `create` and `run` make.
#include "ArtefactToy.h"
#include <cmath>
#include <dlfcn.h>
#include <random>

namespace torchc::test {
namespace {

/// A tensor of f32 with its own memory.
struct Tensor {
  std::vector<float> data;
  std::vector<int64_t> shape, strides;
  DLTensor tensor{};
  torchc_value value{};

  Tensor(std::vector<int64_t> s, std::vector<float> d) : data(std::move(d)), shape(std::move(s)) { bind(); }
  void bind() {
    tensor.data = data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = int(shape.size());
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    value.kind = TORCHC_TENSOR;
    value.as.tensor = &tensor;
  }
};

class ArtefactTest : public ToyTest {
protected:
  void load(const link::Model &m) {
    Diag diag;
    ASSERT_TRUE(link::linkShared(m, kernel(), path("m.so"), diag)) << diag.text;
    library = ::dlopen(path("m.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    function = reinterpret_cast<torchc_model_function>(::dlsym(library, "torchc_model"));
    ASSERT_NE(function, nullptr);
    table = function(TORCHC_MODEL_ABI);
    ASSERT_NE(table, nullptr);
    options.bytes = sizeof options;
    options.max_sizes = &limit;
    options.max_sizes_count = 1;
    options.error = error;
    options.error_bytes = sizeof error;
  }
  void create() { ASSERT_EQ(table->create(&options, &instance), TORCHC_OK) << error; }
  void TearDown() override {
    if (table)
      table->destroy(instance);
    if (library)
      ::dlclose(library);
    ToyTest::TearDown();
  }
  int run(Tensor &x, Tensor &y) {
    x.bind();
    y.bind();
    int status = table->run(instance, &x.value, 1, &y.value, 1);
    message = table->message(instance);
    return status;
  }

  void *library = nullptr;
  torchc_model_function function = nullptr;
  const torchc_model_table *table = nullptr;
  torchc_instance *instance = nullptr;
  torchc_options options{};
  int64_t limit = 4;
  char error[256] = "";
  std::string message;
};

TEST_F(ArtefactTest, TableAndSignature) {
  load(model("toy"));
  EXPECT_EQ(function(0), nullptr);
  EXPECT_EQ(function(2), nullptr);
  EXPECT_EQ(table->abi, 1u);
  EXPECT_EQ(table->bytes, sizeof(torchc_model_table));
  EXPECT_STREQ(table->name, "toy");
  EXPECT_STREQ(table->inputs[0].name, "x");
  EXPECT_EQ(table->inputs[0].dims[0], -1);
  EXPECT_STREQ(table->symbols[0], "n");
  auto json = llvm::json::parse(table->signature_json);
  ASSERT_TRUE(bool(json));
  EXPECT_EQ(json->getAsObject()->getString("name"), "toy");
  EXPECT_EQ(table->self_test(&options), TORCHC_OK) << error;
}

TEST_F(ArtefactTest, RunsDenseStridedAndUnaligned) {
  load(model("toy"));
  create();
  Tensor x({2, 3}, {1, 2, 3, 4, 5, 6}), y({2, 3}, std::vector<float>(6));
  ASSERT_EQ(run(x, y), TORCHC_OK) << message;
  const std::vector<float> expected{10.5f, 40.5f, 90.5f, 40.5f, 100.5f, 180.5f};
  EXPECT_EQ(y.data, expected);
  Tensor t({2, 3}, {1, 4, 2, 5, 3, 6}), z({2, 3}, std::vector<float>(6));
  t.strides = {1, 2};
  ASSERT_EQ(run(t, z), TORCHC_OK) << message;
  EXPECT_EQ(z.data, expected);
  std::string shifted = "?" + bytesOf<float>({1, 2, 3, 4, 5, 6});
  x.bind();
  x.tensor.data = shifted.data();
  x.tensor.byte_offset = 1;
  std::fill(y.data.begin(), y.data.end(), 0.f);
  ASSERT_EQ(table->run(instance, &x.value, 1, &y.value, 1), TORCHC_OK);
  EXPECT_EQ(y.data, expected);
}

TEST_F(ArtefactTest, NegativeAndZeroStrides) {
  load(model("toy"));
  create();
  Tensor x({2, 3}, {4, 5, 6, 1, 2, 3}), y({2, 3}, std::vector<float>(6));
  x.strides = {-3, 1};
  x.bind();
  x.tensor.byte_offset = 12;
  ASSERT_EQ(table->run(instance, &x.value, 1, &y.value, 1), TORCHC_OK);
  EXPECT_EQ(y.data[0], 10.5f);
  Tensor e({4, 3}, {1, 1, 1}), z({4, 3}, std::vector<float>(12));
  e.strides = {0, 1};
  ASSERT_EQ(run(e, z), TORCHC_OK) << message;
  EXPECT_EQ(z.data[9], 10.5f);
}

TEST_F(ArtefactTest, EmptyInput) {
  load(model("toy"));
  create();
  Tensor x({0, 3}, {}), y({0, 3}, {});
  x.bind();
  x.tensor.data = nullptr;
  y.tensor.data = nullptr;
  EXPECT_EQ(table->run(instance, &x.value, 1, &y.value, 1), TORCHC_OK) << table->message(instance);
}

TEST_F(ArtefactTest, RefusesWrongInputs) {
  load(model("toy"));
  create();
  Tensor y({2, 3}, std::vector<float>(6)), x({2, 4}, std::vector<float>(8));
  EXPECT_EQ(run(x, y), TORCHC_INVALID);
  EXPECT_EQ(message, "input x: expected f32[n,3], got f32[2,4]");
  Tensor large({5, 3}, std::vector<float>(15));
  EXPECT_EQ(run(large, y), TORCHC_INVALID);
  EXPECT_EQ(message, "input x: size 0 (n): expected at most 4, got 5");
  Tensor flat({6}, std::vector<float>(6));
  EXPECT_EQ(run(flat, y), TORCHC_INVALID);
  EXPECT_EQ(message, "input x: expected f32[n,3], got f32[6]");
  Tensor negative({-1, 3}, std::vector<float>(6));
  EXPECT_EQ(run(negative, y), TORCHC_INVALID);
  Tensor good({2, 3}, std::vector<float>(6));
  good.bind();
  good.tensor.dtype = {kDLInt, 64, 1};
  EXPECT_EQ(table->run(instance, &good.value, 1, &y.value, 1), TORCHC_INVALID);
  EXPECT_STREQ(table->message(instance), "input x: expected f32[n,3], got i64[2,3]");
  good.bind();
  good.tensor.data = nullptr;
  EXPECT_EQ(table->run(instance, &good.value, 1, &y.value, 1), TORCHC_INVALID);
  good.bind();
  good.tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(table->run(instance, &good.value, 1, &y.value, 1), TORCHC_INVALID);
  good.bind();
  good.value.kind = TORCHC_MAP;
  EXPECT_EQ(table->run(instance, &good.value, 1, &y.value, 1), TORCHC_INVALID);
  EXPECT_STREQ(table->message(instance), "input x: expected f32[n,3], got a value of kind 5");
  EXPECT_EQ(table->run(instance, nullptr, 0, &y.value, 1), TORCHC_INVALID);
  EXPECT_STREQ(table->message(instance), "expected 1 inputs and 1 outputs, got 0 and 1");
  EXPECT_EQ(table->run(nullptr, &good.value, 1, &y.value, 1), TORCHC_INVALID);
}

// Whatever the metadata of a tensor says, a call gives a status; strides alone are the caller's
// word.
TEST_F(ArtefactTest, RandomMetadata) {
  load(model("toy"));
  create();
  std::mt19937 random(2);
  const int64_t sizes[] = {0, 1, 2, 3, 4, -1, 5, INT64_MAX, INT64_MIN, int64_t(1) << 32};
  int fine = 0;
  for (int i = 0; i < 50000; ++i) {
    Tensor in({2, 3, 1, 1}, std::vector<float>(12)), out({2, 3, 1, 1}, std::vector<float>(12));
    in.tensor.ndim = out.tensor.ndim = 2;
    for (Tensor *t : {&in, &out})
      for (int k = random() % 3; k > 0; --k) {
        DLTensor &x = t->tensor;
        switch (random() % 8) {
        case 0: x.ndim = random() % 8 ? int(random() % 6) - 1 : 1 << 20; break;
        case 1: x.dtype.code = random() % 9; break;
        case 2: x.dtype.bits = random() % 2 ? 64 : random(); break;
        case 3: x.dtype.lanes = random() % 3; break;
        case 4: x.device.device_type = DLDeviceType(random() % 16); break;
        case 5: t->shape[random() % 2] = sizes[random() % 10]; break;
        case 6: *(random() % 2 ? (void **)&x.data : (void **)&x.shape) = nullptr; break;
        case 7: t->value.kind = random() % 8; break;
        }
      }
    int status = table->run(instance, &in.value, 1, &out.value, 1);
    ASSERT_TRUE(status == TORCHC_OK || status == TORCHC_INVALID || status == TORCHC_TOO_SMALL);
    EXPECT_EQ(status == TORCHC_OK, !*table->message(instance));
    fine += status == TORCHC_OK;
  }
  EXPECT_GT(fine, 1000);
}

TEST_F(ArtefactTest, Outputs) {
  load(model("toy"));
  create();
  Tensor x({2, 3}, {1, 2, 3, 4, 5, 6}), y({1, 3}, std::vector<float>(3));
  EXPECT_EQ(run(x, y), TORCHC_TOO_SMALL);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 3}));
  Tensor roomy({4, 3}, std::vector<float>(12));
  EXPECT_EQ(run(x, roomy), TORCHC_OK) << message;
  EXPECT_EQ(roomy.shape, (std::vector<int64_t>{2, 3}));
  Tensor strided({2, 3}, std::vector<float>(12));
  strided.strides = {6, 2};
  EXPECT_EQ(run(x, strided), TORCHC_INVALID);
  Tensor same({2, 3}, std::vector<float>(6));
  same.bind();
  same.tensor.data = x.data.data() + 3;
  EXPECT_EQ(table->run(instance, &x.value, 1, &same.value, 1), TORCHC_INVALID);
  EXPECT_STREQ(table->message(instance), "output y: overlaps input x");
}

TEST_F(ArtefactTest, Trap) {
  load(model("toy"));
  create();
  Tensor x({1, 3}, {1000, 0, 0}), y({1, 3}, std::vector<float>(3));
  EXPECT_EQ(run(x, y), TORCHC_TRAP);
  EXPECT_EQ(message, "index out of range in self");
  x.data[0] = 1;
  EXPECT_EQ(run(x, y), TORCHC_OK) << message;
  EXPECT_EQ(message, "");
}

TEST_F(ArtefactTest, RefusesWrongOptions) {
  load(model("toy"));
  options.threads = 2;
  EXPECT_EQ(table->create(&options, &instance), TORCHC_UNSUPPORTED);
  EXPECT_STREQ(error, "options.threads: this model is serial, got 2");
  options.threads = 0;
  options.max_sizes_count = 0;
  EXPECT_EQ(table->create(&options, &instance), TORCHC_INVALID);
  EXPECT_EQ(table->create(nullptr, &instance), TORCHC_INVALID);
  options.max_sizes_count = 1;
  limit = -3;
  EXPECT_EQ(table->create(&options, &instance), TORCHC_INVALID);
  limit = INT64_MAX / 2;
  EXPECT_EQ(table->create(&options, &instance), TORCHC_NO_MEMORY);
  limit = 4;
  options.bytes = 8;
  EXPECT_EQ(table->create(&options, &instance), TORCHC_INVALID);
  EXPECT_EQ(instance, nullptr);
}

#if defined(__x86_64__)
TEST_F(ArtefactTest, RefusesACpuThatLacksTheIsa) {
  for (auto [isa, name, has] :
       {std::tuple(link::Isa::V3, "AVX2, FMA and BMI2 (x86-64-v3)", __builtin_cpu_supports("x86-64-v3")),
        std::tuple(link::Isa::V4, "AVX-512 (x86-64-v4)", __builtin_cpu_supports("x86-64-v4"))}) {
    link::Model m = model("toy");
    m.isa = isa;
    load(m);
    EXPECT_EQ(table->create(&options, &instance), has ? TORCHC_OK : TORCHC_UNSUPPORTED);
    if (!has)
      EXPECT_EQ(error, std::string("this model needs a processor with ") + name);
    table->destroy(instance);
    instance = nullptr;
    ::dlclose(library);
    library = nullptr;
    table = nullptr;
  }
}
#endif

TEST_F(ArtefactTest, ExternalWeights) {
  link::Model m = model("toy");
  m.place = link::WeightsPlace::External;
  Diag diag;
  auto write = [&](const std::string &to) {
    link::OutputFile file;
    return file.open(to, diag) && link::writeWeights(m, file, diag) && file.commit(false, diag);
  };
  ASSERT_TRUE(write(path("w.bin"))) << diag.text;
  load(m);
  EXPECT_EQ(table->create(&options, &instance), TORCHC_INVALID);
  std::string missing = path("none"), weights = path("w.bin");
  options.weights_path = missing.c_str();
  EXPECT_EQ(table->create(&options, &instance), TORCHC_IO);
  EXPECT_EQ(error, missing + ": No such file or directory");
  ASSERT_EQ(::truncate(weights.c_str(), 100), 0);
  options.weights_path = weights.c_str();
  EXPECT_EQ(table->create(&options, &instance), TORCHC_IO);
  EXPECT_EQ(error, weights + ": expected 128 bytes of weights, got 100");
  ASSERT_TRUE(write(weights)) << diag.text;
  create();
  EXPECT_EQ(table->self_test(&options), TORCHC_OK) << error;
}

TEST_F(ArtefactTest, SelfTestComparesBits) {
  link::Model m = model("toy");
  m.tests[0].outputs[0][3] ^= 1;
  load(m);
  EXPECT_EQ(table->self_test(&options), TORCHC_TRAP);
  EXPECT_STREQ(error, "self-test 0: y differs at element 0");
  m.tests[0] = {{bytesOf<float>({NAN, 1, 1})}, {bytesOf<float>({-NAN, 20.5f, 30.5f})}, {1}};
  ::dlclose(library);
  library = nullptr;
  table = nullptr;
  load(m);
  EXPECT_EQ(table->self_test(&options), TORCHC_OK) << error;
}

TEST_F(ArtefactTest, LinkRefuses) {
  Diag diag;
  link::Model m = model("not a name");
  EXPECT_FALSE(link::linkShared(m, kernel(), path("a.so"), diag));
  EXPECT_EQ(diag.text, "model name 'not a name': expected a C identifier of at most 200 characters");
  diag = {};
  m = model("toy");
  m.entry = "system"; // exists in libc, but is on no allow list
  EXPECT_FALSE(link::linkShared(m, {}, path("a.so"), diag));
  EXPECT_NE(diag.text.find("undefined hidden symbol: system"), std::string::npos) << diag.text;
  EXPECT_EQ(diag.text.find("/proc/"), std::string::npos) << diag.text;
  diag = {};
  EXPECT_FALSE(link::linkRelocatable(m, {}, path("a.o"), diag));
  EXPECT_EQ(diag.text, "undefined symbols that an artefact may not import: system");
  diag = {};
  EXPECT_FALSE(link::linkExecutable(model("toy"), kernel(), path("none/a"), diag));
  EXPECT_EQ(diag.text, "cannot write " + path("none/a") + ": No such file or directory");
  diag = {};
  EXPECT_FALSE(link::linkExecutable(model("toy"), kernel(), folder, diag));
  EXPECT_EQ(diag.text, "cannot write " + folder + ": it is a folder");
  diag = {};
  EXPECT_FALSE(link::linkShared(model("toy"), {{"bad.o", "not an object"}}, path("a.so"), diag));
  EXPECT_NE(diag.text.find("bad.o"), std::string::npos) << diag.text;
  EXPECT_EQ(shell("ls -A " + folder).second, "") << "something half-written is left";
}

} // namespace
} // namespace torchc::test
