// The .npy reader: what it takes, and that no damaged file makes it read outside of its bytes (run
// under ASan).
#include "runtime/artefact/Npy.h"
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>

namespace {

std::string file(const std::string &dict, size_t dataBytes, int version = 1) {
  std::string out = std::string("\x93NUMPY") + char(version) + '\0';
  size_t n = dict.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += char(n >> 8 * i);
  return out + dict + std::string(dataBytes, '\1');
}

/// Parses a copy on the heap of exactly that size, and touches every element.
const char *parse(const std::string &bytes, Npy &npy) {
  std::unique_ptr<char[]> copy(new char[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  const char *bad = torchc_npy_parse(&npy, copy.get(), bytes.size());
  if (bad)
    return bad;
  size_t n = npy.tensor.dtype.bits / 8;
  for (int i = 0; i < npy.tensor.ndim; ++i)
    n *= size_t(npy.shape[i]);
  volatile char sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum = sum + static_cast<char *>(npy.tensor.data)[i];
  return nullptr;
}

TEST(ArtefactNpy, Reads) {
  Npy npy;
  EXPECT_EQ(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24), npy), nullptr);
  EXPECT_EQ(npy.tensor.ndim, 2);
  EXPECT_EQ(npy.strides[0], 3);
  EXPECT_EQ(parse(file("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", 48, 2), npy), nullptr);
  EXPECT_EQ(npy.strides[0], 1);
  EXPECT_EQ(npy.strides[1], 2);
  EXPECT_EQ(parse(file("{'shape': (), 'descr': '|b1', 'fortran_order': False}", 1, 3), npy), nullptr);
  EXPECT_EQ(npy.tensor.ndim, 0);
  EXPECT_EQ(parse(file("{'descr': '<c16', 'fortran_order': False, 'shape': (5,), }", 80), npy), nullptr);
  EXPECT_EQ(npy.tensor.dtype.bits, 128);
  EXPECT_EQ(parse(file("{'descr': '<i8', 'fortran_order': False, 'shape': (4, 0, 7), }", 0), npy), nullptr);
}

TEST(ArtefactNpy, Refuses) {
  Npy npy;
  const char *start = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  EXPECT_STREQ(parse("", npy), "this is not a .npy file");
  EXPECT_STREQ(parse(file(std::string(start) + "(2, 3), }", 23), npy), "the file is truncated");
  EXPECT_STREQ(parse(file(std::string(start) + "(9223372036854775807, 9), }", 8), npy), "the shape is too large");
  EXPECT_STREQ(parse(file(std::string(start) + "(99999999999999999999,), }", 8), npy), "the shape is too large");
  EXPECT_STREQ(parse(file(std::string(start) + "(-1,), }", 8), npy), "the shape is malformed");
  std::string deep = std::string(start) + "(";
  for (int i = 0; i < 33; ++i)
    deep += "1, ";
  EXPECT_STREQ(parse(file(deep + "), }", 8), npy), "the rank is above 32");
  EXPECT_STREQ(parse(file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8), npy),
               "the element type is not one of b1 u1 i1 i2 i4 i8 f2 f4 f8 c8 c16, little-endian");
  EXPECT_STREQ(parse(file("{'descr': '<f4', 'shape': (1,), }", 4), npy),
               "the header lacks descr, fortran_order or shape");
  EXPECT_STREQ(parse(file("{'descr': '<f4', 'frob': 1}", 4), npy), "the header has an unknown or repeated key");
}

TEST(ArtefactNpy, EveryTruncation) {
  Npy npy;
  std::string whole = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(parse(whole.substr(0, n), npy), nullptr) << n;
}

TEST(ArtefactNpy, RandomDamage) {
  Npy npy;
  std::mt19937 random(1);
  std::string whole = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  const std::string letters = "0123456789(),{}:' \"<|>fiubcVTrueFals";
  for (int i = 0; i < 200000; ++i) {
    std::string damaged = whole;
    for (int k = random() % 4; k >= 0; --k)
      damaged[random() % damaged.size()] = random() % 2 ? letters[random() % letters.size()] : char(random());
    parse(damaged, npy);
  }
}

} // namespace
