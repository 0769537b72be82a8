// Programs compiled ahead of time by the torchc command, run, and compared bit for bit with the same trace compiled and
// loaded in this process.
#include "ArtefactNetwork.h"
#include "ArtefactToy.h"
#include "compiler/link/FromProgram.h"
#include "compiler/pipeline/Pipeline.h"
#include "runtime/artefact/Npy.h"
#include "runtime/exec/Executable.h"
#include "runtime/kernels/Pack.h"
#include "torchc/compiler.h"
#include "llvm/Object/ObjectFile.h"
#include <cstring>
#include <dlfcn.h>
#include <thread>

namespace torchc::test {
namespace {

class ArtefactNetworkTest : public ToyTest {
protected:
  using Buffer = std::vector<char>;
  using Buffers = std::vector<Buffer>;

  void SetUp() override {
    ToyTest::SetUp();
    if (packIsa() == Isa::None)
      GTEST_SKIP() << "this processor runs no kernel";
  }
  std::pair<int, std::string> torchc(const std::string &args) {
    return shell("cd " + folder + " && " TORCHC_BIN " " + args);
  }
  void save(const ProgramBuilder &b, const char *name = "net.tcz") {
    Diag diag;
    ASSERT_TRUE(writeProgramFile(path(name), b.p, diag)) << diag.text;
  }
  std::string compile(const std::string &args) {
    auto r = torchc("compile " + args);
    EXPECT_EQ(r.first, 0) << args << ": " << r.second;
    return r.second;
  }

  /// The results of the graph, run by the JIT's loader and kernels; written inputs change in `inputs`.
  Buffers jit(const ProgramBuilder &b, Buffers &inputs) {
    Diag diag;
    Trace trace = b.t;
    link::makeOutputsWhole(trace);
    for (TraceOp &op : trace.ops)
      op.id = uint32_t(*lookupOp(opBaseName(trace.strings[op.name])));
    compiler::PipelineOptions options;
    options.isa = codegen::hostIsa();
    compiler::Compiled compiled;
    EXPECT_TRUE(compiler::runPipeline(trace, options, compiled, diag)) << diag.text;
    auto code = Executable::load(compiled.object.data(), compiled.object.size(), diag);
    EXPECT_TRUE(code) << diag.text;
    Buffers results;
    std::vector<void *> ptrs;
    for (const TensorType &t : compiled.results)
      results.emplace_back(size_t(t.dims.numel() * itemSize(t.dtype)));
    for (Buffer &r : results)
      ptrs.push_back(r.data());
    size_t next = 0;
    for (const TraceInput &in : trace.inputs)
      if (const SafeTensor *w = b.p.weightOf(in))
        ptrs.push_back(const_cast<uint8_t *>(w->data.data()));
      else
        ptrs.push_back(inputs.at(next++).data());
    int32_t status = 0;
    void *arena = std::aligned_alloc(64, size_t(compiled.plan.arenaBytes + 64) / 64 * 64);
    ptrs.push_back(&status);
    ptrs.push_back(arena);
    if (code)
      code->entry()(ptrs.data(), nullptr, nullptr, 0, 1);
    std::free(arena);
    EXPECT_EQ(status, 0);
    return results;
  }

  static DLTensor tensor(Buffer &data, DType type, std::vector<int64_t> &shape) {
    DLTensor t{};
    t.data = data.data();
    t.device.device_type = kDLCPU;
    t.ndim = int32_t(shape.size());
    t.dtype = {uint8_t(type == DType::Bool ? kDLBool
                       : isFloat(type)     ? kDLFloat
                                           : kDLInt),
               uint8_t(8 * itemSize(type)), 1};
    t.shape = shape.data();
    return t;
  }
  void npy(const std::string &name, Buffer data, DType type, std::vector<int64_t> shape) {
    char error[200];
    DLTensor t = tensor(data, type, shape);
    ASSERT_TRUE(torchc_npy_write(&t, path(name).c_str(), error, sizeof error)) << error;
  }
  Buffer readNpy(const std::string &name) {
    Npy npy{};
    char error[200];
    if (!torchc_npy_read(&npy, path(name).c_str(), error, sizeof error)) {
      ADD_FAILURE() << error;
      return {};
    }
    size_t bytes = npy.tensor.dtype.bits / 8;
    for (int i = 0; i < npy.tensor.ndim; ++i)
      bytes *= size_t(npy.shape[i]);
    auto *data = static_cast<char *>(npy.tensor.data) + npy.tensor.byte_offset;
    Buffer out(data, data + bytes);
    std::free(npy.file);
    return out;
  }
  static Buffer numbers(size_t n) {
    Buffer b(4 * n);
    for (size_t i = 0; i < n; ++i) {
      float f = float(int(i * 37 % 101) - 50) / 64.0f + float(i % 7) * 0x1p-20f;
      memcpy(&b[4 * i], &f, 4);
    }
    return b;
  }
};

TEST_F(ArtefactNetworkTest, ExecutableAndLibraryGiveTheBitsOfTheJit) {
  for (int64_t batch : {1, 3, 37, 64}) {
    ProgramBuilder b;
    b.network(batch, 64, 48, 10);
    save(b);
    Buffers inputs{numbers(size_t(batch) * 64)};
    Buffers want = jit(b, inputs);
    ASSERT_EQ(want.size(), 2u);
    npy("x.npy", inputs[0], DType::F32, {batch, 64});
    for (std::string emit : {"exe", "so"}) {
      compile("net.tcz --emit=" + emit + " -o net." + emit);
      auto r = torchc("run net." + emit + " --input x=x.npy --output output0=best.npy --output output1=y.npy");
      ASSERT_EQ(r.first, 0) << r.second;
      EXPECT_EQ(readNpy("best.npy"), want[0]);
      EXPECT_EQ(readNpy("y.npy"), want[1]);
      EXPECT_EQ(torchc("run net." + emit + " --self-test").second, "self-test: 1 passed\n");
    }
    EXPECT_EQ(shell("cd " + folder + " && env -i ./net.exe --input x=x.npy | head -1").second,
              "output0 i64[" + std::to_string(batch) + "]\n");
  }
}

TEST_F(ArtefactNetworkTest, LargeProductsUseScratchMemoryOfTheInstance) {
  ProgramBuilder b;
  b.network(301, 1100, 259, 33);
  save(b);
  Buffers inputs{numbers(301 * 1100)};
  Buffers want = jit(b, inputs);
  npy("x.npy", inputs[0], DType::F32, {301, 1100});
  compile("net.tcz --emit=so -o net.so --weights=external");
  auto r = torchc("run net.so --weights net.so.weights --input x=x.npy --output output1=y.npy");
  ASSERT_EQ(r.first, 0) << r.second;
  EXPECT_EQ(readNpy("y.npy"), want[1]);
}

TEST_F(ArtefactNetworkTest, TwoModelsInOneProgram) {
  ProgramBuilder b, c;
  b.network(2, 8, 16, 4);
  c.network(3, 64, 8, 5);
  save(b, "one.tcz");
  save(c, "two.tcz");
  compile("one.tcz --emit=o -o one.o");
  compile("two.tcz --emit=a -o libtwo.a");
  Diag diag;
  ASSERT_TRUE(link::writeFile(path("main.c"), llvm::StringRef(R"(
#include "one.h"
#include "libtwo.h"
#include <stdio.h>
int main(void) {
  const torchc_model_table *m[] = {torchc_one_model(1), torchc_two_model(1)};
  for (int i = 0; i < 2; ++i)
    printf("%s %d %d\n", m[i]->name, m[i]->self_test(NULL), (int)m[i]->test_count);
}
)"),
                              diag));
  auto r =
      shell("cd " + folder + " && " TORCHC_TEST_CC " -I" TORCHC_INCLUDE_DIR " main.c one.o libtwo.a -o main && ./main");
  EXPECT_EQ(r.second, "one 0 1\ntwo 0 1\n");
}

TEST_F(ArtefactNetworkTest, OtherTargetsLinkAndCarryTests) {
  ProgramBuilder b;
  b.network(2, 8, 16, 4);
  save(b);
  for (std::string target : {"x86-64-v4", "aarch64"}) {
    for (std::string emit : {"exe", "so", "a", "o"})
      compile("net.tcz --target=" + target + " --emit=" + emit + " -o net." + emit);
    std::string text = torchc("inspect net.so").second;
    EXPECT_NE(text.find("\"target\": \"" + target + "\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"self_tests\": 1"), std::string::npos) << text;
  }
  // The other architecture's code gives this one's bits, where an emulator and a C library for it are installed.
  if (::access("/usr/bin/qemu-aarch64-static", X_OK) == 0 &&
      ::access("/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1", R_OK) == 0)
    EXPECT_EQ(shell("qemu-aarch64-static -L /usr/aarch64-linux-gnu " + path("net.exe") + " --self-test").second,
              "self-test: 1 passed\n");
#if defined(__x86_64__)
  compile("net.tcz --target=x86-64-v4 --emit=exe -o net");
  auto r = torchc("run net --self-test");
  if (__builtin_cpu_supports("x86-64-v4"))
    EXPECT_EQ(r.second, "self-test: 1 passed\n");
  else
    EXPECT_EQ(r.second, "error: this model needs a processor with AVX-512 (x86-64-v4)\n");
#endif
}

TEST_F(ArtefactNetworkTest, SizesAreSmall) {
  ProgramBuilder b, tiny;
  b.network(1, 64, 48, 10);
  save(b);
  tiny.t.addOutput(tiny.op(OpId::Neg, {tiny.input({4}, "x")}, {}, {4}));
  save(tiny, "tiny.tcz");
  compile("tiny.tcz --emit=so -o tiny.so");
  compile("net.tcz --emit=so --weights=external -o net.so");
#if defined(__x86_64__)
  // Four times the registers make the longest kernels; everything a program needs is in the file.
  compile("net.tcz --target=x86-64-v4 --emit=exe -o net");
#endif
  auto loaded = [&](const char *name) {
    auto file = llvm::object::ObjectFile::createObjectFile(path(name));
    uint64_t total = 0;
    if (!file) {
      ADD_FAILURE() << llvm::toString(file.takeError());
      return total;
    }
    for (const llvm::object::SectionRef &s : file->getBinary()->sections())
      if (llvm::cantFail(s.getName()).starts_with(".text"))
        total += s.getSize();
    return total;
  };
  printf("code: %d bytes without products, %d with\n", int(loaded("tiny.so")), int(loaded("net.so")));
  EXPECT_LE(loaded("tiny.so"), 12u << 10);
  EXPECT_LE(loaded("net.so"), 40u << 10);
#if defined(__x86_64__)
  EXPECT_LE(loaded("net"), 40u << 10);
#endif
}

TEST_F(ArtefactNetworkTest, OutputsThatAreViewsInputsOrTheSame) {
  ProgramBuilder b;
  uint32_t x = b.input({3, 4}, "x"), n = b.op(OpId::Neg, {x}, {}, {3, 4});
  uint32_t t = b.view(OpId::Transpose, n, {Attr::integer(0), Attr::integer(1)}, {4, 3}, {1, 4});
  uint32_t row = b.view(OpId::Slice, n, {Attr::integer(0), Attr::integer(1), Attr::integer(2), Attr::integer(1)},
                        {1, 4}, {4, 1}, 4);
  for (uint32_t v : {row, x, t, n, n})
    b.t.addOutput(v);
  save(b);
  Buffers inputs{numbers(12)};
  npy("x.npy", inputs[0], DType::F32, {3, 4});
  compile("net.tcz --emit=so -o net.so");
  auto r = torchc("run net.so --input x=x.npy --output output0=0.npy --output output1=1.npy --output output2=2.npy "
                  "--output output3=3.npy --output output4=4.npy");
  ASSERT_EQ(r.first, 0) << r.second;
  Buffers want = jit(b, inputs);
  ASSERT_EQ(want.size(), 5u);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(readNpy(std::to_string(i) + ".npy"), want[size_t(i)]) << i;
  EXPECT_EQ(readNpy("1.npy"), inputs[0]);
  auto at = [](const Buffer &buffer, size_t i) {
    float f;
    memcpy(&f, &buffer[4 * i], 4);
    return f;
  };
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j)
      EXPECT_EQ(at(want[2], j * 3 + i), -at(inputs[0], i * 4 + j));
}

TEST_F(ArtefactNetworkTest, WrittenInputsAndNumbers) {
  ProgramBuilder b;
  uint32_t w = b.weight({2, 3}, "w"), g = b.input({2, 3}, "g");
  uint32_t lr = b.t.addNumberInput(DType::F64, "lr");
  Attr hole;
  hole.tag = AttrTag::Hole;
  hole.i = lr;
  uint32_t step = b.op(OpId::Mul, {g, traceNone}, {hole}, {2, 3});
  b.into(w, OpId::Sub, {w, step});
  b.t.addOutput(b.op(OpId::Neg, {step}, {}, {2, 3}));
  save(b);
  compile("net.tcz --emit=exe -o net");
  EXPECT_EQ(torchc("run net --self-test").second, "self-test: 1 passed\n");
  double rate = 0.25;
  Buffer weights(24), rates(8);
  memcpy(weights.data(), b.data[0].data(), 24);
  memcpy(rates.data(), &rate, 8);
  npy("w.npy", weights, DType::F32, {2, 3});
  npy("g.npy", numbers(6), DType::F32, {2, 3});
  npy("lr.npy", rates, DType::F64, {});
  auto r = torchc("run net --input w=w.npy --input g=g.npy --input lr=lr.npy --output w=after.npy");
  ASSERT_EQ(r.first, 0) << r.second;
  Buffer after = readNpy("after.npy"), grad = numbers(6);
  ASSERT_EQ(after.size(), 24u);
  for (size_t i = 0; i < 6; ++i) {
    float got, d;
    memcpy(&got, &after[4 * i], 4);
    memcpy(&d, &grad[4 * i], 4);
    EXPECT_EQ(got, b.data[0][i] - d * 0.25f);
  }
  EXPECT_NE(torchc("run net --signature").second.find("\"written\":true"), std::string::npos);
}

TEST_F(ArtefactNetworkTest, ErrorsNameTheUsersLine) {
  ProgramBuilder b;
  uint32_t x = b.input({4}, "x", DType::Bool);
  uint32_t y = b.op(OpId::LogicalNot, {x}, {}, {4}, DType::Bool);
  b.source = b.t.addSource("model.py", 12, "forward");
  b.t.addOutput(b.op(OpId::Dot, {x, y}, {}, {}, DType::Bool));
  save(b);
  auto r = torchc("compile net.tcz --emit=exe -o net");
  EXPECT_EQ(r.first, 1);
  EXPECT_EQ(r.second.rfind("error: model.py:12: node 1: dot(): ", 0), 0u) << r.second;
  ProgramBuilder c; // a malformed view is named by its own line, not by that of its reader
  c.source = c.t.addSource("model.py", 7, "forward");
  c.t.addOutput(c.view(OpId::Expand, c.input({3, 4}, "x"), {}, {2, 3, 4}, {0, 4, 1}));
  save(c);
  r = torchc("compile net.tcz --emit=exe -o net");
  EXPECT_EQ(r.second.rfind("error: model.py:7: node 0 (expand): ", 0), 0u) << r.second;
  EXPECT_NE(::access(path("net").c_str(), F_OK), 0);
}

TEST_F(ArtefactNetworkTest, DumpsParseBack) {
  ProgramBuilder b;
  b.network(3, 8, 16, 4);
  uint32_t x = b.t.inputs[0].value;
  int64_t axis = 0;
  b.t.addOutput(b.op(OpId::Sum, {x}, {Attr::ints(&axis, 1), Attr::boolean(false)}, {8}));
  uint32_t half = b.op(OpId::Cast, {x}, {Attr::dtype(DType::BF16)}, {3, 8}, DType::BF16);
  b.t.addOutput(b.op(OpId::Tanh, {half}, {}, {3, 8}, DType::BF16));
  save(b);
  std::vector<uint8_t> bytes = writeTrace(b.t);
  Diag diag;
  ASSERT_TRUE(link::writeFile(path("net.tctrace"),
                              llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()), diag));
  for (std::string stage : {"torchc", "loops"})
    for (std::string target : {"x86-64-v3", "x86-64-v4", "aarch64"})
      for (std::string options : {"", " --grad"}) {
        compile("net.tctrace --emit=" + stage + " --target=" + target + options + " -o dump.mlir");
        auto r = shell(TORCHC_OPT " " + path("dump.mlir") + " > " + path("again.mlir"));
        EXPECT_EQ(r.first, 0) << stage << target << r.second.substr(0, 2000);
      }
  for (const char *stage : {"trace", "llvm", "asm"})
    EXPECT_EQ(compile(std::string("net.tcz --emit=") + stage), compile(std::string("net.tctrace --emit=") + stage));
}

TEST_F(ArtefactNetworkTest, CleanErrors) {
  ProgramBuilder b;
  b.network(2, 8, 16, 4);
  save(b);
  auto expect = [&](const std::string &args, const std::string &text) {
    auto r = torchc(args);
    EXPECT_EQ(r.first, 1) << args;
    EXPECT_NE(r.second.find(text), std::string::npos) << args << "\n" << r.second;
  };
  expect("compile net.tcz --emit=exe -o none/net", "cannot write none/net: ");
  expect("compile net.tcz --emit=exe -o .", "cannot write .: it is a folder");
  expect("compile net.tcz --emit=so -o net.so --name=1x", "expected a C identifier");
  compile("net.tcz --emit=exe -o net");
  npy("short.npy", numbers(8), DType::F32, {1, 8});
  npy("double.npy", numbers(32), DType::F64, {2, 8});
  expect("run net --input x=short.npy", "input x: expected f32[2,8], got f32[1,8]");
  expect("run net --input x=double.npy", "input x: expected f32[2,8], got f64[2,8]");
  expect("run net --input z=short.npy", "the model has no such input");
  expect("run net --input x=none.npy", "none.npy: No such file or directory");
  npy("x.npy", numbers(16), DType::F32, {2, 8});
  expect("run net --input x=x.npy --output output1=none/y.npy", "none/y.npy");
  EXPECT_EQ(shell("ls " + folder + " | grep -c tmp").second, "0\n");
}

TEST_F(ArtefactNetworkTest, CompilesMayOverlap) {
  ProgramBuilder b;
  uint32_t x = b.input({8, 16}, "x"), w = b.weight({16, 4}, "w");
  b.t.addOutput(b.op(OpId::Relu, {b.op(OpId::Matmul, {x, w}, {}, {8, 4})}, {}, {8, 4}));
  std::vector<uint8_t> trace = writeTrace(b.t);
  std::string options = "{\"target\": \"x86-64-v3\"}", request = "TCRQ";
  for (uint32_t word : {1u, uint32_t(options.size())})
    request.append(reinterpret_cast<const char *>(&word), 4);
  request += options;
  request.append(reinterpret_cast<const char *>(trace.data()), trace.size());
  auto compiled = [&] {
    std::string object;
    auto sink = [](void *to, const char *kind, const uint8_t *bytes, size_t n) {
      *static_cast<std::string *>(to) += std::string(kind) + std::string(reinterpret_cast<const char *>(bytes), n);
    };
    torchc_compile(reinterpret_cast<const uint8_t *>(request.data()), request.size(), sink, &object, nullptr);
    return object;
  };
  std::string want = compiled();
  ASSERT_EQ(want.substr(0, 10), "object\x7f"
                                "ELF");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; k++)
        EXPECT_EQ(compiled(), want);
    });
  for (std::thread &t : threads)
    t.join();
}

} // namespace
} // namespace torchc::test
