// The command line over artefacts: run and inspect.
#include "ArtefactToy.h"

namespace torchc::test {
namespace {

class ArtefactCliTest : public ToyTest {
protected:
  void SetUp() override {
    ToyTest::SetUp();
    Diag diag;
    ASSERT_TRUE(link::linkShared(model("toy"), kernel(), path("m.so"), diag)) << diag.text;
    ASSERT_TRUE(link::linkExecutable(model("toy"), kernel(), path("m"), diag)) << diag.text;
    ASSERT_TRUE(link::linkRelocatable(model("toy"), kernel(), path("m.o"), diag)) << diag.text;
    std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
    std::string x = std::string("\x93NUMPY\1\0", 8) + char(header.size()) + '\0' + header;
    x += bytesOf<float>({1, 4, 2, 5, 3, 6});
    ASSERT_TRUE(link::writeFile(path("x.npy"), llvm::StringRef(x), diag)) << diag.text;
  }
  std::pair<int, std::string> torchc(const std::string &args) {
    return shell("cd " + folder + " && " TORCHC_BIN " " + args);
  }
};

TEST_F(ArtefactCliTest, Run) {
  for (const char *file : {"m.so", "m", "./m.so"}) {
    auto r = torchc(std::string("run ") + file + " --input x=x.npy");
    EXPECT_EQ(r.first, 0);
    EXPECT_EQ(r.second, "y f32[2,3]\n10.5 40.5 90.5\n40.5 100.5 180.5\n");
    EXPECT_EQ(torchc(std::string("run ") + file + " --self-test").second, "self-test: 1 passed\n");
  }
  auto r = torchc("run m.so");
  EXPECT_EQ(r.first, 1);
  EXPECT_EQ(r.second, "error: input x: expected --input x=FILE.npy\n");
}

TEST_F(ArtefactCliTest, RunRefuses) {
  auto expect = [&](const std::string &file, const std::string &text) {
    for (std::string verb : {"run ", "inspect "}) {
      auto r = torchc(verb + file);
      EXPECT_EQ(r.first, 1);
      EXPECT_EQ(r.second.rfind("error: " + file + ": " + text, 0), 0u) << r.second;
    }
  };
  expect("none", "No such file or directory");
  expect("x.npy", "");
  expect(".", "");
  expect("/bin/sh", "expected an artefact of torchc, got an ELF file without a signature");
  EXPECT_EQ(torchc("run m.o").second, "error: m.o: expected a shared library or an executable, got an object file\n");
  Diag diag;
  ASSERT_TRUE(link::linkShared(model("toy", link::Arch::AArch64), kernel(link::Arch::AArch64), path("a.so"), diag));
  EXPECT_EQ(torchc("run a.so").second, "error: a.so: it was compiled for aarch64\n");
  EXPECT_EQ(torchc("inspect a.so").first, 0);
}

TEST_F(ArtefactCliTest, TruncatedFiles) {
  auto buffer = llvm::MemoryBuffer::getFile(path("m.so"));
  ASSERT_TRUE(bool(buffer));
  llvm::StringRef whole = (*buffer)->getBuffer();
  Diag diag;
  for (size_t n : {size_t(0), size_t(3), size_t(20), size_t(64), size_t(300), whole.size() / 2, whole.size() - 1}) {
    ASSERT_TRUE(link::writeFile(path("cut.so"), whole.take_front(n), diag)) << diag.text;
    EXPECT_EQ(torchc("run cut.so --self-test").first, 1) << n;
    EXPECT_EQ(torchc("inspect cut.so").first, 1) << n;
  }
}

TEST_F(ArtefactCliTest, Inspect) {
  for (const char *file : {"m.so", "m", "m.o"}) {
    auto r = torchc(std::string("inspect ") + file);
    EXPECT_EQ(r.first, 0);
    EXPECT_NE(r.second.find("\"name\": \"toy\""), std::string::npos) << r.second;
    EXPECT_NE(r.second.find(".torchc.weights"), std::string::npos) << r.second;
  }
}

} // namespace
} // namespace torchc::test
