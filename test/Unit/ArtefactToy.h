// A model for the tests of linking and running: y[n,3] = x[n,3] * w[3] + b.
#pragma once
#include "compiler/link/Files.h"
#include "compiler/link/Link.h"
#include "torchc/model.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace torchc::test {

template <class T> std::string bytesOf(std::initializer_list<T> list) {
  return std::string(reinterpret_cast<const char *>(list.begin()), list.size() * sizeof(T));
}

class ToyTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/torchc-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override { (void)!::system(("rm -rf " + folder).c_str()); }

  link::Model model(const std::string &name, link::Arch arch = link::Arch::X86_64) {
    link::Model m;
    m.name = name;
    m.arch = arch;
    m.inputs = {{"x", DType::F32, {-1, 3}}};
    m.outputs = {{"y", DType::F32, {-1, 3}}};
    m.symbols = {"n"};
    m.arenaBytes = 64;
    m.weights = {w, b};
    m.tests = {{{bytesOf<float>({1, 1, 1, 0, 0, 2})}, {bytesOf<float>({10.5f, 20.5f, 30.5f, 0.5f, 0.5f, 60.5f})}, {2}}};
    m.provenance["compiler"] = "test";
    return m;
  }
  std::vector<link::Object> kernel(link::Arch arch = link::Arch::X86_64) {
    std::string file = std::string(TORCHC_TOY_DIR "/toy-") + link::archName(arch) + ".o";
    auto buffer = llvm::MemoryBuffer::getFile(file);
    EXPECT_TRUE(bool(buffer)) << file;
    object = (*buffer)->getBuffer().str();
    return {{"toy.o", object}};
  }
  std::string path(const std::string &name) { return folder + "/" + name; }

  /// Runs a command; its exit code and what it printed.
  std::pair<int, std::string> shell(const std::string &command) {
    std::string out;
    FILE *pipe = ::popen((command + " 2>&1").c_str(), "r");
    char block[4096];
    for (size_t n; (n = ::fread(block, 1, sizeof block, pipe)) > 0;)
      out.append(block, n);
    int status = ::pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out};
  }

  std::string folder, object;
  const std::string w = bytesOf<float>({10, 20, 30}), b = bytesOf<float>({0.5f});
};

} // namespace torchc::test
