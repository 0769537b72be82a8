// Zip archives, safetensors and saved programs: round trips, other tools' files, truncation,
// damage.
#include "TraceRandom.h"
#include "dialects/trace/SavedProgram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace torchc;
using namespace torchc::test;
using testing::HasSubstr;

namespace {

std::span<const uint8_t> bytesOf(std::string_view s) { return {reinterpret_cast<const uint8_t *>(s.data()), s.size()}; }
std::vector<uint8_t> fileBytes(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string temporaryPath(const char *name) {
  return testing::TempDir() + "torchc-" + std::to_string(getpid()) + "-" + name;
}

std::string zipRefusal(std::span<const uint8_t> bytes) {
  std::vector<ZipEntry> entries;
  Diag diag;
  return readZip(bytes, entries, diag) ? "accepted" : diag.text;
}

std::vector<uint8_t> sampleZip() {
  ZipEntry entries[] = {{"a.txt", bytesOf("hello")}, {"dir/empty", {}}, {"b", bytesOf("0123456789")}};
  return writeZip(entries);
}

TEST(Zip, Crc32MatchesTheStandard) {
  EXPECT_EQ(crc32(bytesOf("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32(bytesOf("456789"), crc32(bytesOf("123"))), 0xcbf43926u);
}

TEST(Zip, RoundTripsWithAlignedData) {
  std::vector<uint8_t> zip = sampleZip();
  std::vector<ZipEntry> back;
  Diag diag;
  ASSERT_TRUE(readZip(zip, back, diag)) << diag.text;
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[1].name, "dir/empty");
  EXPECT_EQ(0, std::memcmp(back[2].data.data(), "0123456789", 10));
  for (const ZipEntry &e : back)
    EXPECT_EQ((e.data.data() - zip.data()) % 64, 0);
  EXPECT_EQ(zipRefusal(writeZip({})), "accepted");
}

TEST(Zip, ManyEntriesUseZip64) {
  std::vector<ZipEntry> entries(70000), back;
  for (size_t i = 0; i < entries.size(); ++i)
    entries[i].name = std::to_string(i);
  Diag diag;
  ASSERT_TRUE(readZip(writeZip(entries), back, diag)) << diag.text;
  EXPECT_EQ(back.size(), entries.size());
}

TEST(Zip, SaysWhatIsWrong) {
  std::vector<uint8_t> good = sampleZip(), b = good;
  EXPECT_THAT(zipRefusal({}), HasSubstr("end record expected, got 0 bytes"));
  b[64] ^= 1;
  EXPECT_THAT(zipRefusal(b), HasSubstr("entry 'a.txt': CRC-32 doesn't match"));
  size_t directory = good.size() - 22 - (46 * 3 + 5 + 9 + 1);
  b = good, b[directory + 10] = 8;
  EXPECT_THAT(zipRefusal(b), HasSubstr("stored (uncompressed) entry expected, got method 8"));
  b = good, b[directory + 8] |= 1;
  EXPECT_THAT(zipRefusal(b), HasSubstr("encrypted"));
  ZipEntry escaping[] = {{"x/../../y", {}}}, twice[] = {{"x", {}}, {"x", {}}};
  EXPECT_THAT(zipRefusal(writeZip(escaping)), HasSubstr("leads out of the archive"));
  EXPECT_THAT(zipRefusal(writeZip(twice)), HasSubstr("'x' appears twice"));
}

TEST(Zip, TruncationAtEveryLengthIsRefused) {
  std::vector<uint8_t> good = sampleZip();
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(zipRefusal(std::span(good).first(n)), "accepted") << n;
}

TEST(Zip, DamageNeverChangesData) {
  std::vector<uint8_t> good = sampleZip();
  Rng rng(3);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> b = good;
    damage(rng, b);
    std::vector<ZipEntry> back;
    Diag diag;
    if (!readZip(b, back, diag))
      continue;
    for (const ZipEntry &e : back) // padding and names may change, data may not
      ASSERT_TRUE(e.data.empty() || e.data.size() == 5 || e.data.size() == 10);
  }
}

TEST(Zip, FileIsWrittenWholeOrNotAtAll) {
  std::string path = temporaryPath("zip");
  ZipEntry entries[] = {{"a", bytesOf("data")}};
  Diag diag;
  ASSERT_TRUE(writeZipFile(path, entries, diag)) << diag.text;
  EXPECT_EQ(fileBytes(path), writeZip(entries));
  std::filesystem::remove(path);
  EXPECT_FALSE(writeZipFile("/no/such/folder/x.tcz", entries, diag));
  EXPECT_EQ(diag.kind, ErrorKind::OS);
  EXPECT_THAT(diag.text, HasSubstr("/no/such/folder/x.tcz"));
}

TEST(Zip, WhatAnotherWriterLeftIsNotInTheWay) {
  std::string path = temporaryPath("left.zip"), left = path + ".tmp" + std::to_string(getpid());
  std::string data(100000, 'x');
  ZipEntry entries[] = {{"a", bytesOf(data)}};
  std::ofstream(left) << "left behind";
  Diag diag;
  EXPECT_TRUE(writeZipFile(path, entries, diag)) << diag.text;
  std::filesystem::remove(left);
  std::atomic<int> written = 0; // threads that save under one name: each whole, the last one stays
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; k++) {
        Diag mine;
        written += writeZipFile(path, entries, mine);
      }
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(written, 80);
  EXPECT_EQ(fileBytes(path), writeZip(entries));
  std::filesystem::remove(path);
}

TEST(Zip, PythonReadsItAndWeReadPythons) {
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "needs python3";
  std::string ours = temporaryPath("ours.zip"), theirs = temporaryPath("theirs.zip");
  ZipEntry entries[] = {{"a.txt", bytesOf("hello")}, {"b", bytesOf("x")}};
  Diag diag;
  ASSERT_TRUE(writeZipFile(ours, entries, diag)) << diag.text;
  std::string script = "python3 -c \"import zipfile as z; a = z.ZipFile('" + ours +
                       "'); assert a.testzip() is None and a.read('a.txt') == b'hello'; "
                       "z.ZipFile('" +
                       theirs + "', 'w').writestr('c', b'from python')\"";
  ASSERT_EQ(std::system(script.c_str()), 0);
  std::vector<uint8_t> bytes = fileBytes(theirs);
  std::vector<ZipEntry> back;
  ASSERT_TRUE(readZip(bytes, back, diag)) << diag.text;
  EXPECT_EQ(back[0].data.size(), 11u);
  std::filesystem::remove(ours);
  std::filesystem::remove(theirs);
}

std::vector<uint8_t> safetensors(std::string header, size_t dataBytes) {
  std::vector<uint8_t> out(8);
  uint64_t n = header.size();
  std::memcpy(out.data(), &n, 8);
  out.insert(out.end(), header.begin(), header.end());
  out.resize(out.size() + dataBytes);
  return out;
}
std::string safeRefusal(std::span<const uint8_t> bytes) {
  std::vector<SafeTensor> tensors;
  SafeMetadata metadata;
  Diag diag;
  return readSafetensors(bytes, tensors, metadata, diag) ? "accepted" : diag.text;
}
std::string safeRefusal(const std::string &header, size_t dataBytes) {
  return safeRefusal(safetensors(header, dataBytes));
}

const float someData[6] = {1, 2, 3, 4, 5, 6};
std::vector<SafeTensor> someTensors() {
  auto raw = bytesOf({reinterpret_cast<const char *>(someData), sizeof(someData)});
  return {{"flags", DType::Bool, {3}, raw.first(3)},
          {"w \"quoted\" é", DType::F32, {2, 3}, raw},
          {"empty", DType::BF16, {0, 7}, {}},
          {"scalar", DType::F64, {}, raw.first(8)}};
}
std::vector<uint8_t> sampleSafetensors() {
  std::vector<uint8_t> out;
  Diag diag;
  EXPECT_TRUE(writeSafetensors(someTensors(), {{"format", "pt"}}, out, diag)) << diag.text;
  return out;
}

TEST(Safetensors, RoundTripsAligned) {
  std::vector<uint8_t> file = sampleSafetensors();
  std::vector<SafeTensor> back;
  SafeMetadata metadata;
  Diag diag;
  ASSERT_TRUE(readSafetensors(file, back, metadata, diag)) << diag.text;
  EXPECT_EQ(metadata, (SafeMetadata{{"format", "pt"}}));
  ASSERT_EQ(back.size(), 4u);
  for (const SafeTensor &t : back) {
    EXPECT_EQ((t.data.data() - file.data()) % itemSize(t.dtype), 0) << t.name;
    bool found = false;
    for (const SafeTensor &s : someTensors())
      found |= s.name == t.name && s.dtype == t.dtype && s.shape == t.shape &&
               std::equal(s.data.begin(), s.data.end(), t.data.begin(), t.data.end());
    EXPECT_TRUE(found) << t.name;
  }
}

TEST(Safetensors, SaysWhatIsWrong) {
  const char *f32 = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(safeRefusal(f32, 8), "accepted");
  EXPECT_THAT(safeRefusal(f32, 7), HasSubstr("tensor 'a': data from byte 0 of 7 expected"));
  EXPECT_THAT(safeRefusal(f32, 9), HasSubstr("8 bytes of data expected, got 9"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]}})", 2),
              HasSubstr("tensor 'a' has dtype 'F8_E8M0', which isn't supported"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
              HasSubstr("don't take 8 bytes"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"F32","shape":[4611686018427387903,9],"data_offsets":[0,8]}})", 8),
              HasSubstr("don't take 8 bytes"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,8]}})", 8),
              HasSubstr("unexpected a negative number"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2), HasSubstr("from byte 0"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1),
              HasSubstr("one of two data_offsets"));
  EXPECT_THAT(safeRefusal(R"({"a":{"dtype":"U8","shape":[1]}})", 1), HasSubstr("expected"));
  EXPECT_THAT(safeRefusal(R"({"a":{},"a":{}})", 0), HasSubstr("dtype, shape and data_offsets expected"));
  EXPECT_THAT(safeRefusal(std::string(f32).insert(1, std::string(f32 + 1, std::strlen(f32) - 2) + ","), 8),
              HasSubstr("name 'a' appears twice"));
  EXPECT_THAT(safeRefusal("{\"a\":", 0), HasSubstr("isn't JSON at byte"));
  EXPECT_THAT(safeRefusal("[]", 0), HasSubstr("doesn't start with '{'"));
  EXPECT_THAT(safeRefusal(std::string("{\"a\":") + std::string(1000000, '['), 0), HasSubstr("an array"));
  EXPECT_THAT(safeRefusal(std::vector<uint8_t>(8, 0xff)), HasSubstr("doesn't fit"));
}

TEST(Safetensors, WriterRefusesWhatItCannotSay) {
  std::vector<uint8_t> out;
  auto refusal = [&](const std::vector<SafeTensor> &tensors) {
    Diag diag;
    return writeSafetensors(tensors, {}, out, diag) ? "accepted" : diag.text;
  };
  EXPECT_THAT(refusal({{"a", DType::C128, {0}, {}}}), HasSubstr("no complex128"));
  EXPECT_THAT(refusal({{"a", DType::F32, {1}, {}}}), HasSubstr("don't take 0 bytes"));
  EXPECT_THAT(refusal({{"a", DType::F32, {0}, {}}, {"a", DType::F32, {0}, {}}}), HasSubstr("twice"));
  EXPECT_THAT(refusal({{"\xff\n", DType::F32, {0}, {}}}), HasSubstr("isn't UTF-8"));
}

TEST(Safetensors, TruncationAndDamageAreRefusedOrConsistent) {
  std::vector<uint8_t> good = sampleSafetensors();
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(safeRefusal(std::span(good).first(n)), "accepted") << n;
  Rng rng(4);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> b = good, out;
    damage(rng, b);
    std::vector<SafeTensor> tensors;
    SafeMetadata metadata;
    Diag diag;
    if (!readSafetensors(b, tensors, metadata, diag))
      continue;
    for (const SafeTensor &t : tensors)
      ASSERT_TRUE(t.data.empty() ||
                  (t.data.data() >= b.data() && t.data.data() + t.data.size() <= b.data() + b.size()));
    ASSERT_TRUE(writeSafetensors(tensors, metadata, out, diag)) << diag.text;
  }
}

SavedProgram sampleProgram() {
  SavedProgram p;
  TraceDim sizes[] = {2, 3};
  uint32_t x = p.trace.addTensor(DType::F32, sizes), w = p.trace.addTensor(DType::F32, sizes),
           y = p.trace.addTensor(DType::F32, sizes);
  p.trace.addInput(x, InputKind::Argument, "x");
  p.trace.addInput(w, InputKind::Parameter, "layer.weight");
  p.trace.addNode(p.trace.addOp("add.Tensor"), {{x, w}}, {{y}});
  p.trace.addOutput(y);
  p.weights = {{"layer.weight", DType::F32, {2, 3}, someTensors()[1].data}};
  p.meta = "{\"producer\":\"test\"}";
  return p;
}

TEST(SavedProgram, RoundTrips) {
  SavedProgram p = sampleProgram(), back;
  std::vector<uint8_t> bytes, again;
  Diag diag;
  ASSERT_TRUE(writeProgram(p, bytes, diag)) << diag.text;
  ASSERT_TRUE(readProgram(bytes, back, diag)) << diag.text;
  EXPECT_EQ(back.meta, p.meta);
  EXPECT_EQ(back.weightOf(back.trace.inputs[0]), nullptr);
  ASSERT_NE(back.weightOf(back.trace.inputs[1]), nullptr);
  EXPECT_EQ((back.weights[0].data.data() - bytes.data()) % 64, 0);
  ASSERT_TRUE(writeProgram(back, again, diag));
  EXPECT_EQ(again, bytes);
}

TEST(SavedProgram, WeightsMustFitTheTrace) {
  std::vector<uint8_t> bytes;
  auto refusal = [&](SavedProgram p) {
    Diag diag;
    return writeProgram(p, bytes, diag) ? "accepted" : diag.text;
  };
  SavedProgram p = sampleProgram();
  p.weights[0].name = "other";
  EXPECT_THAT(refusal(p), HasSubstr("no tensor 'layer.weight'"));
  p = sampleProgram();
  p.weights[0].shape = {3, 2};
  EXPECT_THAT(refusal(p), HasSubstr("'layer.weight' hasn't the dtype and shape"));
}

TEST(SavedProgram, TruncationAndDamageAreRefused) {
  std::vector<uint8_t> good;
  Diag diag;
  ASSERT_TRUE(writeProgram(sampleProgram(), good, diag));
  std::string wanted = printTrace(sampleProgram().trace);
  for (size_t n = 0; n < good.size(); ++n) {
    SavedProgram p;
    Diag d;
    EXPECT_FALSE(readProgram(std::span(good).first(n), p, d)) << n;
  }
  Rng rng(5);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> b = good;
    damage(rng, b);
    SavedProgram p;
    Diag d;
    if (readProgram(b, p, d))
      ASSERT_EQ(printTrace(p.trace), wanted);
  }
}

} // namespace
