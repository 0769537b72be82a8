// Executables, objects and archives, and what the linked files look like.
#include "ArtefactToy.h"

namespace torchc::test {
namespace {

class ArtefactProgramTest : public ToyTest {
protected:
  static std::string npy(const std::string &descr, const std::string &shape, const std::string &data) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string out("\x93NUMPY\1\0", 8);
    out += char(header.size());
    out += char(header.size() >> 8);
    return out + header + data;
  }
  void write(const std::string &name, const std::string &bytes) {
    Diag diag;
    ASSERT_TRUE(link::writeFile(path(name), llvm::StringRef(bytes), diag)) << diag.text;
  }
  std::string read(const std::string &name) {
    auto buffer = llvm::MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  void link(link::Arch arch = link::Arch::X86_64) {
    Diag diag;
    ASSERT_TRUE(link::linkExecutable(model("toy", arch), kernel(arch), path("m"), diag)) << diag.text;
    write("x.npy", npy("<f4", "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6})));
  }
};

TEST_F(ArtefactProgramTest, Runs) {
  link();
  auto printed = shell(path("m") + " --input x=" + path("x.npy"));
  EXPECT_EQ(printed.first, 0);
  EXPECT_EQ(printed.second, "y f32[2,3]\n10.5 40.5 90.5\n40.5 100.5 180.5\n");
  EXPECT_EQ(shell(path("m") + " --input=x=" + path("x.npy") + " --output y=" + path("y.npy")).first, 0);
  std::string y = read("y.npy");
  EXPECT_EQ(y.size() % 64, 24u);
  EXPECT_EQ(y.substr(y.size() - 24), bytesOf<float>({10.5f, 40.5f, 90.5f, 40.5f, 100.5f, 180.5f}));
  auto test = shell(path("m") + " --self-test");
  EXPECT_EQ(test.second, "self-test: 1 passed\n");
  EXPECT_NE(shell(path("m") + " --help").second.find("--input x=FILE.npy  f32[n,3]"), std::string::npos);
  EXPECT_EQ(shell(path("m") + " --signature").second, link::signatureJson(model("toy")) + "\n");
}

TEST_F(ArtefactProgramTest, CleanErrors) {
  link();
  auto expect = [&](const std::string &args, const std::string &text) {
    auto r = shell(path("m") + " " + args);
    EXPECT_EQ(r.first, 1) << args;
    EXPECT_EQ(r.second, "error: " + text + "\n");
  };
  expect("", "input x: expected --input x=FILE.npy");
  expect("--frob", "unknown or incomplete option --frob; see --help");
  expect("--input z=a.npy", "--input z=a.npy: the model has no such input; see --help");
  expect("--input x=/none.npy", "/none.npy: No such file or directory");
  expect("--input x=" + path("m"), path("m") + ": this is not a .npy file");
  expect("--input x=" + path("x.npy") + " --output y=/none/y.npy", "/none/y.npy: No such file or directory");
  write("bad.npy", npy("<f4", "(2, 4)", std::string(32, 0)));
  expect("--input x=" + path("bad.npy"), "input x: expected f32[n,3], got f32[2,4]");
  write("bad.npy", npy("<i8", "(2, 3)", std::string(48, 0)));
  expect("--input x=" + path("bad.npy"), "input x: expected f32[n,3], got i64[2,3]");
  write("bad.npy", npy(">f4", "(2, 3)", std::string(24, 0)));
  expect("--input x=" + path("bad.npy"),
         path("bad.npy") + ": the element type is not one of b1 u1 i1 i2 i4 i8 f2 f4 f8 c8 c16, little-endian");
  write("bad.npy", npy("<f4", "(1, 3)", bytesOf<float>({1000, 0, 0})));
  expect("--input x=" + path("bad.npy"), "index out of range in self");
}

TEST_F(ArtefactProgramTest, SameBytesEachTime) {
  Diag diag;
  for (auto form : {link::linkExecutable, link::linkShared, link::linkRelocatable, link::linkArchive}) {
    ASSERT_TRUE(form(model("toy"), kernel(), path("m"), diag)) << diag.text;
    std::string first = read("m");
    ASSERT_TRUE(form(model("toy"), kernel(), path("m"), diag)) << diag.text;
    EXPECT_EQ(first, read("m"));
  }
}

TEST_F(ArtefactProgramTest, NeedsOnlyLibc) {
  Diag diag;
  link();
  ASSERT_TRUE(link::linkShared(model("toy"), kernel(), path("m.so"), diag)) << diag.text;
  for (std::string file : {"m", "m.so"}) {
    auto dynamic = shell("llvm-readelf-22 -dW " + path(file));
    if (dynamic.first)
      GTEST_SKIP() << "no llvm-readelf-22";
    EXPECT_EQ(dynamic.second.find("NEEDED"), dynamic.second.rfind("NEEDED")) << dynamic.second;
    EXPECT_NE(dynamic.second.find("[libc.so.6]"), std::string::npos) << dynamic.second;
    // The weights are the last loaded segment, read only.
    std::string segments = shell("llvm-readelf-22 -lW " + path(file) + " | grep LOAD | tail -1").second;
    EXPECT_NE(segments.find(" R   0x1000"), std::string::npos) << segments;
    EXPECT_EQ(shell("llvm-readelf-22 -lW " + path(file) + " | grep -c 'LOAD.* RWE\\|LOAD.*WE'").second, "0\n");
  }
  std::string names = shell("llvm-nm-22 -D --defined-only --format=just-symbols " + path("m.so")).second;
  EXPECT_EQ(names, "torchc_model\ntorchc_toy_model\n");
}

TEST_F(ArtefactProgramTest, SurvivesStrip) {
  link();
  if (shell("strip " + path("m")).first)
    GTEST_SKIP() << "no strip";
  EXPECT_EQ(shell(path("m") + " --self-test").second, "self-test: 1 passed\n");
}

TEST_F(ArtefactProgramTest, EmptyRoot) {
  link();
  std::string root = path("root"), x = "/lib/x86_64-linux-gnu/";
  shell("mkdir -p " + root + x + " " + root + "/lib64 && cp -L /lib64/ld-linux-x86-64.so.2 " + root +
        "/lib64/ && cp -L " + x + "libc.so.6 " + x + "libm.so.6 " + root + x + " && cp " + path("m") + " " + root +
        "/");
  auto r = shell("unshare -r chroot " + root + " /m --self-test");
  if (r.second.find("unshare") != std::string::npos || r.second.find("chroot") != std::string::npos)
    GTEST_SKIP() << r.second;
  EXPECT_EQ(r.second, "self-test: 1 passed\n");
}

TEST_F(ArtefactProgramTest, TwoModelsInOneProgram) {
  Diag diag;
  ASSERT_TRUE(link::linkRelocatable(model("first"), kernel(), path("first.o"), diag)) << diag.text;
  ASSERT_TRUE(link::linkArchive(model("second"), kernel(), path("libsecond.a"), diag)) << diag.text;
  link::Model odd = model("first"); // a name that would end the header's comment
  odd.inputs[0].name = "x */ the comment ended /* y";
  write("first.h", link::headerText(odd));
  write("second.h", link::headerText(model("second")));
  write("main.c", R"(#include "first.h"
#include "second.h"
#include <stdio.h>
int main(void) {
  char error[100] = "";
  torchc_options o = {sizeof o, 0, NULL, 0, sizeof error, error, NULL};
  int a = torchc_first_model(1)->self_test(&o), b = torchc_second_model(1)->self_test(&o);
  printf("%d %d %s %s%s\n", a, b, torchc_first_model(1)->name, torchc_second_model(1)->name, error);
  return 0;
}
)");
  // The user's own compiler and linker.
  for (const char *linker : {"-fuse-ld=lld", ""}) {
    auto r = shell(std::string(TORCHC_TEST_CC " -std=c99 -Wall -Werror -I" TORCHC_INCLUDE_DIR " ") + linker + " -o " +
                   path("two") + " " + path("main.c") + " " + path("first.o") + " " + path("libsecond.a") + " && " +
                   path("two"));
    EXPECT_EQ(r.second, "0 0 first second\n") << linker;
  }
}

TEST_F(ArtefactProgramTest, AArch64) {
  link(link::Arch::AArch64);
  Diag diag;
  for (auto form : {link::linkShared, link::linkRelocatable})
    EXPECT_TRUE(form(model("toy", link::Arch::AArch64), kernel(link::Arch::AArch64), path("m2"), diag)) << diag.text;
  std::string emulator = "qemu-aarch64-static -L /usr/aarch64-linux-gnu ";
  if (shell("test -e /usr/aarch64-linux-gnu/lib/libc.so.6 && qemu-aarch64-static --version").first)
    GTEST_SKIP() << "no emulator";
  EXPECT_EQ(shell(emulator + path("m") + " --self-test").second, "self-test: 1 passed\n");
  EXPECT_EQ(shell(emulator + path("m") + " --input x=" + path("x.npy")).second,
            "y f32[2,3]\n10.5 40.5 90.5\n40.5 100.5 180.5\n");
}

} // namespace
} // namespace torchc::test
