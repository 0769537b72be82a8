// The trace file format: round trips, truncation, damage.
#include "TraceRandom.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace torchc;
using namespace torchc::test;
using testing::HasSubstr;

namespace {

std::string refusal(std::span<const uint8_t> bytes) {
  Trace t;
  Diag diag;
  return readTrace(bytes, t, diag) ? "accepted" : diag.text;
}

void put32(std::vector<uint8_t> &bytes, size_t at, uint32_t v) { std::memcpy(&bytes[at], &v, 4); }
void put64(std::vector<uint8_t> &bytes, size_t at, uint64_t v) { std::memcpy(&bytes[at], &v, 8); }

/// A trace that has all sections.
std::vector<uint8_t> fullTrace() {
  for (uint64_t seed = 1;; ++seed) {
    Rng rng(seed);
    Trace t = randomTrace(rng);
    std::vector<uint8_t> bytes = writeTrace(t);
    if (bytes[12] == 12)
      return bytes;
  }
}

TEST(TraceFile, RandomTracesRoundTrip) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    Trace t = randomTrace(rng), back;
    Diag diag;
    ASSERT_TRUE(verifyTrace(t, diag)) << diag.text << printTrace(t);
    std::vector<uint8_t> bytes = writeTrace(t);
    ASSERT_TRUE(readTrace(bytes, back, diag)) << seed << ": " << diag.text;
    EXPECT_EQ(writeTrace(back), bytes);
    EXPECT_EQ(printTrace(back), printTrace(t));
    ASSERT_TRUE(readTrace(traceKey(t), back, diag)) << diag.text;
    EXPECT_EQ(writeTrace(back), traceKey(t));
  }
}

TEST(TraceFile, EmptyTraceIsAHeader) {
  EXPECT_EQ(writeTrace(Trace()).size(), traceHeaderBytes);
  EXPECT_EQ(refusal(writeTrace(Trace())), "accepted");
}

TEST(TraceFile, LayoutIsTheDocumentedOne) {
  std::vector<uint8_t> bytes = fullTrace();
  EXPECT_EQ(0, std::memcmp(bytes.data(), "TCTRACE\0\1\0\0\0\14\0\0\0", 16));
  uint64_t offset;
  std::memcpy(&offset, &bytes[traceHeaderBytes + 8], 8);
  EXPECT_EQ(offset, traceHeaderBytes + 12 * 24u);
}

TEST(TraceFile, SaysWhatIsWrong) {
  std::vector<uint8_t> good = fullTrace(), b = good;
  EXPECT_EQ(refusal({}), "trace file: a header of 48 bytes expected, got 0 bytes");
  b[0] = 'X';
  EXPECT_THAT(refusal(b), HasSubstr("doesn't start with 'TCTRACE'"));
  b = good, b[8] = 2;
  EXPECT_THAT(refusal(b), HasSubstr("version 1 expected, got 2"));
  b = good, b.back() ^= 1;
  EXPECT_THAT(refusal(b), HasSubstr("digest doesn't match"));
  b = good, put32(b, 12, 11);
  EXPECT_THAT(refusal(b), HasSubstr("offset"));
  b = good, put32(b, 12, 0x20000000), sealTrace(b);
  EXPECT_THAT(refusal(b), HasSubstr("doesn't fit"));
  b = good, put32(b, traceHeaderBytes, 0x7fff), sealTrace(b);
  EXPECT_THAT(refusal(b), HasSubstr("section 32767 is of no known kind"));
  b = good, put32(b, traceHeaderBytes + 24, 1), sealTrace(b);
  EXPECT_THAT(refusal(b), HasSubstr("section 1 appears twice"));
  b = good, put32(b, traceHeaderBytes + 4, 0xffffffff), sealTrace(b);
  EXPECT_THAT(refusal(b), HasSubstr("section 1 ends before its 4294967295 records"));
  b = good, put64(b, traceHeaderBytes + 16, 1ull << 62), sealTrace(b);
  EXPECT_THAT(refusal(b), HasSubstr("section 1 at offset"));
}

TEST(TraceFile, SkipsUnknownOptionalSections) {
  // An empty trace with one section of kind 0x8001.
  std::vector<uint8_t> b = writeTrace(Trace());
  b.resize(traceHeaderBytes + 24 + 8);
  put32(b, 12, 1);
  put32(b, 48, 0x8001);
  put64(b, 56, 72);
  put64(b, 64, 5);
  sealTrace(b);
  EXPECT_EQ(refusal(b), "accepted");
  put32(b, 48, 13);
  sealTrace(b);
  EXPECT_THAT(refusal(b), HasSubstr("section 13 is of no known kind"));
}

TEST(TraceFile, TruncationAtEveryLengthIsRefused) {
  std::vector<uint8_t> good = fullTrace();
  for (size_t n = 0; n < good.size(); ++n) {
    std::vector<uint8_t> b(good.begin(), good.begin() + long(n));
    EXPECT_NE(refusal(b), "accepted") << n;
    sealTrace(b); // even with a right digest
    EXPECT_NE(refusal(b), "accepted") << n;
  }
}

TEST(TraceFile, UnsealedDamageIsRefused) {
  std::vector<uint8_t> good = fullTrace();
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> b = good;
    damage(rng, b);
    if (b != good)
      ASSERT_NE(refusal(b), "accepted") << i;
  }
}

TEST(TraceFile, SealedDamageIsRefusedOrReadConsistently) {
  Rng rng(2);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Rng traceRng(uint64_t(i) / 100);
    std::vector<uint8_t> b = writeTrace(randomTrace(traceRng));
    damage(rng, b);
    sealTrace(b);
    Trace t, again;
    Diag diag;
    if (!readTrace(b, t, diag)) {
      ASSERT_FALSE(diag.text.empty());
      continue;
    }
    // What was accepted is a trace: it prints, and it survives writing and reading again.
    ++accepted;
    std::string text = printTrace(t);
    ASSERT_TRUE(readTrace(writeTrace(t), again, diag)) << diag.text;
    ASSERT_EQ(printTrace(again), text);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 19000);
}

TEST(TraceFile, DeepSubgraphsAreRefused) {
  Trace t;
  for (int i = 0; i < 17; ++i) {
    Trace outer;
    outer.addSubgraph(std::move(t));
    t = std::move(outer);
  }
  EXPECT_THAT(refusal(writeTrace(t)), HasSubstr("nested deeper than 16"));
}

} // namespace
