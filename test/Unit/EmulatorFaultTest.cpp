// Each kind of mistake a kernel can make is found, and the same kernel without it is not accused.
#include "EmulatorSupport.h"
#include "dialects/rules/DeviceKernel.h"
#include "dialects/rules/OpInfo.h"
#include "runtime/cuda/DevicePack.h"
#include <vector>

namespace torchc::ptx {
namespace {

constexpr char store[] = "\tst.global.b32 [%rd4], %r1;\n";

TEST(EmulatorFault, AddressesOutOfBounds) {
  Memory exact(32 * 4), less(32 * 4 - 4);
  EXPECT_EQ(runBody(store, exact, 32).kind, Fault::None);
  EXPECT_EQ(exact.words[31], 31u);
  Fault f = runBody(store, less, 32);
  EXPECT_EQ(f.kind, Fault::Address);
  EXPECT_NE(f.text.find("out of bounds"), std::string::npos) << f.text;
  EXPECT_NE(f.text.find("kernel k, line 21, block 0, thread 31"), std::string::npos) << f.text;
}

TEST(EmulatorFault, AddressesBeforeABlock) {
  Memory m;
  EXPECT_EQ(runBody("\tld.global.b32 %r4, [%rd1+-4];\n", m, 1).kind, Fault::Address);
}

TEST(EmulatorFault, FreedMemory) {
  Memory m;
  auto at = uint64_t(m.words);
  m.blocks.note(at, 128, true);
  EXPECT_EQ(runBody(store, m, 32).kind, Fault::None);
  EXPECT_EQ(runBody(store, m, 33).kind, Fault::Address); // the next tensor's, which doesn't live
  m.blocks.note(at, 128, false);
  Fault f = runBody(store, m, 32);
  EXPECT_EQ(f.kind, Fault::Address);
  EXPECT_NE(f.text.find("free"), std::string::npos) << f.text;
}

TEST(EmulatorFault, MisalignedAddresses) {
  Memory m;
  EXPECT_EQ(runBody("\tld.global.b32 %r4, [%rd1+4];\n", m, 1).kind, Fault::None);
  EXPECT_EQ(runBody("\tld.global.b32 %r4, [%rd1+2];\n", m, 1).kind, Fault::Misaligned);
  EXPECT_EQ(runBody("\tld.global.v2.b32 {%r4, %r5}, [%rd1+8];\n", m, 1).kind, Fault::None);
  EXPECT_EQ(runBody("\tld.global.v2.b32 {%r4, %r5}, [%rd1+4];\n", m, 1).kind, Fault::Misaligned);
}

constexpr char sharedWords[] = "\t.shared .align 4 .b8 words[256];\n";
/// Thread t writes word t, then reads word 63 - t: of another warp.
std::string exchange(const std::string &between) {
  return "\tmov.b32 %r4, words;\n\tshl.b32 %r5, %r1, 2;\n\tadd.s32 %r6, %r4, %r5;\n\tst.shared.b32 [%r6], %r1;\n" +
         between +
         "\tsub.s32 %r7, 63, %r1;\n\tshl.b32 %r8, %r7, 2;\n\tadd.s32 %r9, %r4, %r8;\n\tld.shared.b32 %r10, [%r9];\n"
         "\tst.global.b32 [%rd4], %r10;\n";
}

TEST(EmulatorFault, MissingBarriers) {
  Memory m;
  EXPECT_EQ(runBody(exchange("\tbar.sync 0;\n"), m, 64, 1, sharedWords).kind, Fault::None);
  EXPECT_EQ(m.words[0], 63u);
  EXPECT_EQ(m.words[63], 0u);
  EXPECT_EQ(runBody(exchange(""), m, 64, 1, sharedWords).kind, Fault::Race);
}

TEST(EmulatorFault, SharedMemoryOutOfBounds) {
  Memory m;
  Fault f = runBody(exchange("\tbar.sync 0;\n"), m, 96, 1, sharedWords);
  EXPECT_EQ(f.kind, Fault::Address);
  EXPECT_NE(f.text.find("shared"), std::string::npos) << f.text;
}

TEST(EmulatorFault, RacesInGlobalMemory) {
  Memory m;
  EXPECT_EQ(runBody("\tst.global.b32 [%rd1], %r1;\n", m, 1).kind, Fault::None);
  EXPECT_EQ(runBody("\tst.global.b32 [%rd1], %r1;\n", m, 2).kind, Fault::Race);
  EXPECT_EQ(runBody("\tst.global.b32 [%rd1], %r1;\n", m, 1, 2).kind, Fault::Race); // two blocks
  EXPECT_EQ(runBody("\tatom.global.add.u32 %r4, [%rd1], 1;\n", m, 64, 3).kind, Fault::None);
  // A reader of what another block writes.
  EXPECT_EQ(
      runBody("\tsetp.eq.b32 %p1, %r2, 0;\n\t@%p1 st.global.b32 [%rd1], %r1;\n\t@!%p1 ld.global.b32 %r4, [%rd1];\n", m,
              1, 2)
          .kind,
      Fault::Race);
}

TEST(EmulatorFault, DivergedBarriers) {
  Memory m;
  const std::string half = "\tsetp.lt.u32 %p1, %r1, 16;\n";
  EXPECT_EQ(runBody("\tbar.sync 0;\n", m, 64).kind, Fault::None);
  EXPECT_EQ(runBody(half + "\t@%p1 bar.sync 0;\n", m, 64).kind, Fault::Divergence);
  EXPECT_EQ(runBody(half + "\t@%p1 bra $L;\n\tbar.sync 0;\n$L:\n", m, 64).kind, Fault::Divergence);
}

TEST(EmulatorFault, DivergedShuffles) {
  Memory m;
  const std::string shuffle = "shfl.sync.bfly.b32 %r4|%p2, %r1, 1, 31, -1;\n", half = "\tsetp.lt.u32 %p1, %r1, 16;\n";
  EXPECT_EQ(runBody("\t" + shuffle + "\tst.global.b32 [%rd4], %r4;\n", m, 32).kind, Fault::None);
  EXPECT_EQ(m.words[6], 7u);
  EXPECT_EQ(runBody(half + "\t@%p1 " + shuffle, m, 32).kind, Fault::Divergence);
  EXPECT_EQ(runBody("\tshfl.sync.bfly.b32 %r4|%p2, %r1, 1, 31, 65535;\n", m, 32).kind, Fault::Divergence);
}

TEST(EmulatorFault, InexactAndUnknownInstructionsAreRefused) {
  Memory m;
  for (const char *bad : {"\tadd.rn.ftz.f32 %r4, %r5, %r6;\n", "\tdiv.approx.f32 %r4, %r5, %r6;\n", "\twgmma %r4;\n",
                          "\tld.local.b32 %r4, [%rd1];\n", "\tbra $nowhere;\n", "\tadd.s32 %r4, %r5, nothing;\n"}) {
    Fault f = runBody(bad, m, 1);
    EXPECT_EQ(f.text.rfind("parse: line ", 0), 0u) << bad << f.text;
  }
}

/// The kernel of the pack that sums f32 in blocks.
std::string sumText() {
  for (int i = 0; i < numOps; ++i)
    if (std::string_view(opTable[i].name) == "sum")
      if (const DevicePackEntry *e = findDeviceKernel(deviceKey(DeviceForm::Reduce, uint32_t(i), DType::F32)))
        return e->text;
  ADD_FAILURE() << "the pack has no sum";
  return "";
}

Fault runSum(const std::string &text, std::vector<float> &x, float &out) {
  Module module;
  std::string error;
  if (!parse(text, module, error))
    return {Fault::Unsupported, error};
  Blocks blocks;
  blocks.add(uint64_t(x.data()), x.size() * 4);
  blocks.add(uint64_t(&out), 4);
  uint64_t words[] = {uint64_t(x.data()), uint64_t(&out), x.size(), 1};
  const void *parameters[] = {&words[0], &words[1], &words[2], &words[3]};
  Shape shape;
  shape.block[0] = unsigned(deviceChains(4));
  return launch(module.kernels.begin()->second, shape, parameters, blocks);
}

TEST(EmulatorFault, EveryBarrierOfTheSumIsNeeded) {
  std::vector<float> x(1000, 0.5f);
  float out = 0;
  std::string text = sumText();
  ASSERT_EQ(runSum(text, x, out).kind, Fault::None);
  EXPECT_EQ(out, 500.0f);
  int barriers = 0;
  for (size_t at = text.find("bar.sync"); at != std::string::npos; at = text.find("bar.sync", at + 1), ++barriers) {
    std::string without = text;
    without.replace(at, without.find(';', at) - at, "bar.warp.sync -1");
    // Up to 32 threads are one warp, which the hardware doesn't promise to keep in step.
    EXPECT_EQ(runSum(without, x, out).kind, Fault::Race) << "barrier " << barriers;
  }
  EXPECT_EQ(barriers, 6);
}

} // namespace
} // namespace torchc::ptx
