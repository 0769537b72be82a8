#include "RuntimePack.h"
#include "runtime/exec/Executable.h"
#include "runtime/exec/ObjectLoader.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <vector>

using namespace torchc;

namespace {

#if defined(__aarch64__)
constexpr const char *nativeObject = TORCHC_TEST_OBJECTS "/loader-aarch64.o";
#else
constexpr const char *nativeObject = TORCHC_TEST_OBJECTS "/loader-x86_64.o";
#endif

std::vector<char> readFile(const char *path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

int externalCalls;
void external(void **, const int64_t *, const void *, int64_t, int64_t) { ++externalCalls; }

void *resolve(void *, const char *name) {
  if (!std::strcmp(name, "torchc_k_test_v3"))
    return reinterpret_cast<void *>(&external);
  return resolveRuntimeSymbol(nullptr, name);
}
/// Answers every name, far from everything: relocations run into their range checks and jump slots.
void *resolveFar(void *, const char *) { return reinterpret_cast<void *>(0x123456789abcull); }

} // namespace

TEST(RuntimeLoader, RunsAnObject) {
  auto bytes = readFile(nativeObject);
  ASSERT_FALSE(bytes.empty());
  Diag diag;
  ObjectImage image;
  ASSERT_TRUE(image.load(bytes.data(), bytes.size(), resolve, nullptr, diag)) << diag.text;
  std::fill(bytes.begin(), bytes.end(), 0); // nothing refers to the bytes any more
  auto entry = reinterpret_cast<Kernel>(image.symbol("torchc_entry"));
  ASSERT_NE(entry, nullptr);
  float in[20], out[20];
  for (int i = 0; i < 20; ++i)
    in[i] = 3;
  void *ptrs[2] = {out, in};
  externalCalls = 0;
  entry(ptrs, nullptr, nullptr, 0, 20);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(out[i], 3.f * float(1 << (i & 15)));
  EXPECT_EQ(externalCalls, 1);
  auto calls = reinterpret_cast<int64_t (*)()>(image.symbol("torchc_calls"));
  EXPECT_EQ(calls(), 41);
  auto name = reinterpret_cast<const char *(*)(int64_t)>(image.symbol("torchc_name"));
  EXPECT_STREQ(name(2), "three");
  reinterpret_cast<void (*)()>(image.symbol("torchc_clear"))();
  EXPECT_EQ(image.symbol("missing"), nullptr);
  ObjectImage moved = std::move(image);
  EXPECT_EQ(reinterpret_cast<int64_t (*)()>(moved.symbol("torchc_calls"))(), 41);
  moved.unload();
  EXPECT_EQ(moved.symbol("torchc_entry"), nullptr);
  EXPECT_EQ(moved.size(), 0u);
}

TEST(RuntimeLoader, UndefinedSymbolIsNamed) {
  auto bytes = readFile(nativeObject);
  Diag diag;
  EXPECT_EQ(Executable::load(bytes.data(), bytes.size(), diag), nullptr);
  EXPECT_EQ(diag.text, "object: undefined symbol 'torchc_k_test_v3'");
  EXPECT_EQ(diag.kind, ErrorKind::Runtime);
}

TEST(RuntimeLoader, ExecutableFindsThePack) {
  static const PackEntry entry{packKey(PackForm::Gemm, 0u, DType::F32, 0), external, "torchc_k_test_v3"};
  static const PackTable v3{packAbi, Isa::V3, 1, &entry}, a64{packAbi, Isa::A64, 1, &entry};
  static const PackTable *const tables[] = {&v3, &a64, nullptr};
  packUse(tables);
  auto bytes = readFile(nativeObject);
  Diag diag;
  auto e = Executable::load(bytes.data(), bytes.size(), diag);
  ASSERT_NE(e, nullptr) << diag.text;
  EXPECT_NE(e->entry(), nullptr);
  EXPECT_GT(e->memoryBytes(), 0u);
  torchc::testing::useTestPack();
}

TEST(RuntimeLoader, BothMachinesRelocate) {
  for (auto [file, machine] : {std::pair{TORCHC_TEST_OBJECTS "/loader-x86_64.o", ElfMachine::X86_64},
                               {TORCHC_TEST_OBJECTS "/loader-aarch64.o", ElfMachine::AArch64}}) {
    auto bytes = readFile(file);
    ASSERT_FALSE(bytes.empty());
    Diag diag;
    ObjectImage image;
    EXPECT_TRUE(image.load(bytes.data(), bytes.size(), resolveFar, nullptr, diag, machine)) << diag.text;
    Diag wrong;
    EXPECT_FALSE(image.load(bytes.data(), bytes.size(), resolve, nullptr, wrong,
                            machine == ElfMachine::X86_64 ? ElfMachine::AArch64 : ElfMachine::X86_64));
    EXPECT_NE(wrong.text.find("made for ELF machine"), std::string::npos);
  }
}

TEST(RuntimeLoader, KeepsMetadata) {
  // The test object's section is SHF_ALLOC (C can't say otherwise): clear the flag, as the compiler writes it.
  auto bytes = readFile(nativeObject);
  auto *h = reinterpret_cast<Elf64_Ehdr *>(bytes.data());
  auto *s = reinterpret_cast<Elf64_Shdr *>(bytes.data() + h->e_shoff);
  const char *names = bytes.data() + s[h->e_shstrndx].sh_offset;
  for (int i = 0; i < h->e_shnum; ++i)
    if (!std::strcmp(names + s[i].sh_name, ".torchc.meta"))
      s[i].sh_flags = 0;
  Diag diag;
  ObjectImage image;
  ASSERT_TRUE(image.load(bytes.data(), bytes.size(), resolve, nullptr, diag)) << diag.text;
  ASSERT_NE(image.section(".torchc.meta"), nullptr);
  EXPECT_STREQ(image.section(".torchc.meta")->c_str(), "{\"entry\": \"torchc_entry\"}");
  EXPECT_EQ(image.section(".torchc.other"), nullptr);
}

TEST(RuntimeLoader, TruncationAtEveryLength) {
  for (auto [file, machine] : {std::pair{TORCHC_TEST_OBJECTS "/loader-x86_64.o", ElfMachine::X86_64},
                               {TORCHC_TEST_OBJECTS "/loader-aarch64.o", ElfMachine::AArch64}}) {
    auto bytes = readFile(file);
    for (size_t n = 0; n < bytes.size(); ++n) {
      std::vector<char> part(bytes.begin(), bytes.begin() + long(n)); // its own block: asan sees reads past it
      Diag diag;
      ObjectImage image;
      ASSERT_FALSE(image.load(part.data(), n, resolve, nullptr, diag, machine)) << n;
      ASSERT_FALSE(diag.ok());
    }
  }
}

TEST(RuntimeLoader, DamagedObjects) {
  std::mt19937 r(42);
  for (auto [file, machine] : {std::pair{TORCHC_TEST_OBJECTS "/loader-x86_64.o", ElfMachine::X86_64},
                               {TORCHC_TEST_OBJECTS "/loader-aarch64.o", ElfMachine::AArch64}}) {
    auto bytes = readFile(file);
    ASSERT_FALSE(bytes.empty());
    int loaded = 0;
    // Every byte once with a few bits flipped, then random damage, a third of it in the section table and with
    // values that provoke overflows.
    static const uint64_t evil[] = {0,          1,   7, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX, uint64_t(-8),
                                    1ull << 40, 4096};
    size_t rounds = bytes.size() + 8000;
    for (size_t i = 0; i < rounds; ++i) {
      auto copy = bytes;
      size_t flips = i < bytes.size() ? 1 : 1 + r() % 4;
      // Magic, class, byte order; e_type and e_machine.
      bool telling = i < bytes.size() && (i < 6 || (i >= 16 && i < 20));
      for (size_t k = 0; k < flips; ++k) {
        size_t at = i < bytes.size() ? i : r() % copy.size();
        if (i >= bytes.size() && r() % 3 == 0) {
          auto *h = reinterpret_cast<const Elf64_Ehdr *>(bytes.data());
          at = std::min(size_t(h->e_shoff) + 8 * (r() % (h->e_shnum * 8u)), copy.size() - 8);
          std::memcpy(&copy[at], &evil[r() % 10], 8);
        } else
          copy[at] = char(copy[at] ^ (1 << r() % 8));
      }
      Diag diag;
      ObjectImage image;
      bool ok = image.load(copy.data(), copy.size(), r() % 2 ? resolve : resolveFar, nullptr, diag, machine);
      ASSERT_EQ(ok, diag.ok());
      ASSERT_FALSE(ok && telling) << "byte " << i;
      ASSERT_TRUE(ok || diag.text.starts_with("object: ")) << diag.text;
      loaded += ok;
    }
    // Damage to code, constants and names goes unseen, damage to the tables doesn't.
    EXPECT_GT(loaded, int(rounds / 4));
    EXPECT_LT(loaded, int(rounds * 9 / 10));
  }
}

TEST(RuntimeLoader, RefusesWhatItDoesNotRun) {
  auto load = [](const std::vector<char> &b) {
    Diag diag;
    ObjectImage image;
    image.load(b.data(), b.size(), resolve, nullptr, diag);
    return diag.text;
  };
  EXPECT_NE(load({}), "");
  EXPECT_NE(load(std::vector<char>(1000, 'x')), "");
  auto bytes = readFile("/proc/self/exe");
  EXPECT_EQ(load(bytes), "object: expected a relocatable 64-bit little-endian ELF file");
}
