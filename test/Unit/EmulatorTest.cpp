// Single instructions of the interpreter, with results written down by hand from PTX's description.
#include "EmulatorSupport.h"
#include "runtime/cuda/DevicePack.h"
#include <bit>
#include <cmath>

namespace torchc::ptx {
namespace {

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }

/// Word 0 after `code`, which leaves its result in %r9; %r4, %r5, %r6 hold the arguments.
uint32_t compute(const std::string &code, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  Memory m;
  m.words[1] = a, m.words[2] = b, m.words[3] = c;
  Fault f =
      runBody("\tld.global.b32 %r4, [%rd1+4];\n\tld.global.b32 %r5, [%rd1+8];\n\tld.global.b32 %r6, [%rd1+12];\n\t" +
                  code + "\n\tst.global.b32 [%rd1], %r9;\n",
              m, 1);
  EXPECT_EQ(f.kind, Fault::None) << code << ": " << f.text;
  return m.words[0];
}

TEST(Emulator, Integers) {
  EXPECT_EQ(compute("add.s32 %r9, %r4, %r5;", 0xffffffff, 2), 1u);
  EXPECT_EQ(compute("mul.lo.s32 %r9, %r4, %r5;", 0x10001, 0x10000), 0x10000u);
  EXPECT_EQ(compute("mul.hi.u32 %r9, %r4, %r5;", 0x80000000, 6), 3u);
  EXPECT_EQ(compute("mul.hi.s32 %r9, %r4, %r5;", 0x80000000, 6), 0xfffffffdu);
  EXPECT_EQ(compute("div.s32 %r9, %r4, %r5;", uint32_t(-7), 2), uint32_t(-3));
  EXPECT_EQ(compute("rem.s32 %r9, %r4, %r5;", uint32_t(-7), 2), uint32_t(-1));
  EXPECT_EQ(compute("div.u32 %r9, %r4, %r5;", uint32_t(-7), 2), 0x7ffffffcu);
  EXPECT_EQ(compute("shl.b32 %r9, %r4, %r5;", 3, 33), 0u);
  EXPECT_EQ(compute("shr.s32 %r9, %r4, %r5;", 0x80000000, 40), 0xffffffffu);
  EXPECT_EQ(compute("shr.u32 %r9, %r4, 4;", 0x80000000), 0x08000000u);
  EXPECT_EQ(compute("bfe.u32 %r9, %r4, 4, 8;", 0x12345678), 0x67u);
  EXPECT_EQ(compute("bfe.s32 %r9, %r4, 24, 8;", 0x92345678), 0xffffff92u);
  EXPECT_EQ(compute("prmt.b32 %r9, %r4, %r5, 0x3417;", 0x33221100, 0x77665544), 0x33441177u);
  EXPECT_EQ(compute("shf.l.wrap.b32 %r9, %r4, %r5, 8;", 0x11223344, 0xaabbccdd), 0xbbccdd11u);
  EXPECT_EQ(compute("clz.b32 %r9, %r4;", 0x00ff0000), 8u);
  EXPECT_EQ(compute("brev.b32 %r9, %r4;", 0x00000003), 0xc0000000u);
  EXPECT_EQ(compute("min.s32 %r9, %r4, %r5;", uint32_t(-1), 1), uint32_t(-1));
  EXPECT_EQ(compute("min.u32 %r9, %r4, %r5;", uint32_t(-1), 1), 1u);
}

TEST(Emulator, Floats) {
  float big = 16777216, nan = std::nanf("");
  EXPECT_EQ(compute("add.rn.f32 %r9, %r4, %r5;", bits(big), bits(1)), bits(big));
  EXPECT_EQ(compute("fma.rn.f32 %r9, %r4, %r5, %r6;", bits(1 + 0x1p-12f), bits(1 - 0x1p-12f), bits(-1)),
            bits(-0x1p-24f));
  EXPECT_EQ(compute("max.f32 %r9, %r4, %r5;", bits(nan), bits(1)), bits(1));
  EXPECT_EQ(compute("max.NaN.f32 %r9, %r4, %r5;", bits(nan), bits(1)), 0x7fc00000u);
  EXPECT_EQ(compute("max.f32 %r9, %r4, %r5;", bits(-0.0f), bits(0.0f)), bits(0.0f));
  EXPECT_EQ(compute("min.f32 %r9, %r4, %r5;", bits(0.0f), bits(-0.0f)), bits(-0.0f));
  EXPECT_EQ(compute("neg.f32 %r9, %r4;", 0x7fc00001), 0xffc00001u);
  EXPECT_EQ(compute("copysign.f32 %r9, %r4, %r5;", bits(-2), bits(3)), bits(-3)); // the sign comes first
  EXPECT_EQ(compute("rcp.rn.f32 %r9, %r4;", bits(3)), bits(1.0f / 3));
  EXPECT_EQ(compute("div.rn.f32 %r9, %r4, %r5;", bits(0x1p-149f), bits(2)), bits(0)); // denormals stay, then round
  EXPECT_EQ(compute("cvt.rni.f32.f32 %r9, %r4;", bits(2.5f)), bits(2));
  EXPECT_EQ(compute("cvt.rmi.f32.f32 %r9, %r4;", bits(-0.5f)), bits(-1));
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %r9, %r4;", bits(-3e9f)), 0x80000000u);
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %r9, %r4;", bits(nan)), 0u);
  EXPECT_EQ(compute("cvt.rn.f32.s32 %r9, %r4;", uint32_t(-16777217)), bits(-big));
  EXPECT_EQ(compute("cvt.s32.s8 %r9, %r4;", 0x80), 0xffffff80u);
}

TEST(Emulator, NarrowSignedLoadsFillWideRegisters) {
  Memory m;
  m.words[1] = 0xfffe;
  Fault f = runBody("\tld.global.s16 %rd6, [%rd1+4];\n\tst.global.b64 [%rd1+8], %rd6;\n", m, 1);
  EXPECT_EQ(f.kind, Fault::None) << f.text;
  EXPECT_EQ(m.words[2], 0xfffffffeu);
  EXPECT_EQ(m.words[3], 0xffffffffu);
}

TEST(Emulator, ComparisonsWithNan) {
  auto holds = [](const char *name, float x, float y) {
    return compute("setp." + std::string(name) + ".f32 %p1, %r4, %r5;\n\tselp.b32 %r9, 1, 0, %p1;", bits(x), bits(y)) ==
           1;
  };
  float nan = std::nanf("");
  EXPECT_TRUE(holds("lt", 1, 2));
  EXPECT_FALSE(holds("lt", nan, 2));
  EXPECT_TRUE(holds("ltu", nan, 2));
  EXPECT_FALSE(holds("ltu", 3, 2));
  EXPECT_TRUE(holds("neu", nan, nan));
  EXPECT_FALSE(holds("ne", nan, nan));
  EXPECT_TRUE(holds("nan", nan, 1));
  EXPECT_TRUE(holds("num", 2, 1));
}

TEST(Emulator, LanesMeetAgainAfterABranch) {
  Memory m;
  // Even lanes add 100, odd ones 200, each in a loop of as many steps as its number; then all shuffle together.
  const char *body =
      "\tand.b32 %r4, %r1, 1;\n\tsetp.eq.b32 %p1, %r4, 0;\n\tmov.b32 %r5, 0;\n\tmov.b32 %r6, 0;\n$LOOP:\n"
      "\tsetp.ge.u32 %p2, %r6, %r1;\n\t@%p2 bra $DONE;\n\t@%p1 bra $EVEN;\n\tadd.s32 %r5, %r5, 200;\n"
      "\tbra.uni $NEXT;\n$EVEN:\n\tadd.s32 %r5, %r5, 100;\n$NEXT:\n\tadd.s32 %r6, %r6, 1;\n\tbra.uni $LOOP;\n"
      "$DONE:\n\tshfl.sync.down.b32 %r7|%p3, %r5, 1, 31, -1;\n\tst.global.b32 [%rd4], %r7;\n";
  Fault f = runBody(body, m, 32);
  ASSERT_EQ(f.kind, Fault::None) << f.text;
  for (uint32_t t = 0; t < 31; ++t)
    EXPECT_EQ(m.words[t], (t + 1) * ((t + 1) % 2 ? 200 : 100)) << t;
  EXPECT_EQ(m.words[31], 31u * 200); // nothing below: its own
}

TEST(Emulator, ReadsEveryKernelOfThePack) {
  const DevicePack *pack = devicePack();
  ASSERT_TRUE(pack);
  EXPECT_GT(pack->count, 500u);
  for (uint64_t i = 0; i < pack->count; ++i) {
    const DevicePackEntry &e = pack->entries[i];
    Module module;
    std::string error;
    EXPECT_TRUE(parse(e.text, module, error)) << e.name << ": " << error;
    EXPECT_EQ(module.kernels.count(e.name), 1u) << e.name;
    EXPECT_EQ(std::string_view(e.text).find(".extern"), std::string_view::npos) << e.name << " calls something";
    if (i)
      EXPECT_LT(pack->entries[i - 1].key, e.key);
  }
}

} // namespace
} // namespace torchc::ptx
