// Every elementwise and cast kernel of the pack against scalar references, bit for bit.
#include "dialects/rules/Status.h"
#include "test/Unit/CodegenBodyReference.h"
#include <gtest/gtest.h>

using namespace torchc;
using namespace torchc::test;

namespace {

Scalar referenceOp(const OpInfo &info, DType t, std::vector<Scalar> in) {
  DType compute = computeType(t);
  const Body &body = info.bodies[int(bodyClass(compute))];
  bool condition = info.promote == Promote::Branch;
  auto runFloat = [&](auto ref) -> Scalar {
    using Ref = decltype(ref);
    using F = decltype(typename Ref::V().f);
    std::vector<typename Ref::V> args;
    for (size_t k = 0; k < in.size(); ++k)
      args.push_back(condition && k == 0 ? Ref::t(in[k].i != 0) : Ref::f(F(in[k].f)));
    auto v = Ref::run(body, args);
    return v.kind == Ref::V::Truth ? Scalar{0, v.b} : Scalar{double(v.f), 0};
  };
  if (compute == DType::F32)
    return runFloat(FloatBody<float, int32_t>());
  if (compute == DType::F64)
    return runFloat(FloatBody<double, int64_t>());
  std::vector<int64_t> args;
  for (Scalar s : in)
    args.push_back(s.i);
  return {0, IntBody{t}.run(body, args)};
}

struct Case {
  const PackTable *table;
  OpId id;
  DType type;
  unsigned mask;
};

void checkElementwise(const Case &c, Kernel k, int64_t n, Rng &rng) {
  const OpInfo &info = opInfo(c.id);
  bool predicate = info.promote == Promote::Compare || info.promote == Promote::Truth;
  Array out(predicate ? DType::Bool : c.type, n), expected(out.type, n);
  std::vector<Array> in;
  std::vector<char> scalars(8 * info.numOperands);
  std::vector<void *> ptrs{out.at(0)};
  for (unsigned i = 0; i < info.numOperands; ++i) {
    bool condition = info.promote == Promote::Branch && i == 0;
    bool scalar = c.mask >> i & 1;
    DType t = condition ? DType::Bool : scalar ? computeType(c.type) : c.type;
    in.emplace_back(t, scalar ? 1 : n);
    fillRandom(in.back(), rng);
    if (scalar)
      std::memcpy(scalars.data() + 8 * i, in.back().at(0), size_t(itemSize(t)));
  }
  for (auto &a : in)
    ptrs.push_back(a.at(0));
  int32_t status = 0;
  ptrs.push_back(&status);
  k(ptrs.data(), nullptr, scalars.data(), 0, n);
  ASSERT_TRUE(out.intact());
  bool zero = false; // a zero divisor traps (N8)
  if ((info.flags & OpMayRaise) && isIntegral(c.type))
    for (int64_t i = 0; i < (c.mask >> 1 & 1 ? std::min<int64_t>(n, 1) : n); ++i)
      zero |= in[1].get(i).i == 0;
  ASSERT_EQ(status, zero ? int32_t(KernelStatus::DivisionByZero) : 0)
      << info.name << " " << shortName(c.type) << " mask " << c.mask << " size " << n;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Scalar> args;
    for (auto &a : in)
      args.push_back(a.get(a.size == 1 && n != 1 ? 0 : i));
    expected.set(i, referenceOp(info, c.type, args));
    ASSERT_TRUE(same(out.type, out.at(i), expected.at(i)))
        << info.name << " " << shortName(c.type) << " mask " << c.mask << " size " << n << " element " << i << ": got "
        << show(out.type, out.at(i)) << ", expected " << show(out.type, expected.at(i));
  }
}

/// N8 in steps: through f32 to the 16-bit floats; saturate to i64, then truncate.
Scalar referenceCast(Scalar v, DType from, DType to) {
  if (to == DType::Bool)
    return {0, isFloat(from) ? v.f != 0 : v.i != 0};
  if (isFloat(to)) {
    if (isFloat(from))
      return {to == DType::F64 ? v.f : double(float(v.f)), 0};
    return {to == DType::F64 ? double(v.i) : double(float(v.i)), 0};
  }
  if (!isFloat(from))
    return {0, v.i};
  if (std::isnan(v.f))
    return {0, 0};
  if (v.f >= 0x1p63)
    return {0, INT64_MAX};
  return {0, v.f < -0x1p63 ? INT64_MIN : int64_t(v.f)};
}

} // namespace

TEST(CodegenElementwise, BodiesBitExact) {
  Rng rng(7);
  int kernels = 0;
  for (const PackTable *table : runnableTables())
    for (uint64_t e = 0; e < table->count; ++e) {
      const PackEntry &entry = table->entries[e];
      if (PackForm(entry.key >> 56) != PackForm::Elementwise)
        continue;
      Case c{table, OpId(uint32_t(entry.key)), DType(entry.key >> 40 & 0xff), unsigned(entry.key >> 48 & 0xff)};
      ++kernels;
      for (int64_t n : testSizes)
        checkElementwise(c, entry.fn, n, rng);
      if (testing::Test::HasFatalFailure())
        return;
    }
  EXPECT_GT(kernels, 200);
}

TEST(CodegenElementwise, CastsBitExact) {
  Rng rng(8);
  for (const PackTable *table : runnableTables())
    for (int f = 0; f < numComputeDTypes; ++f)
      for (int t = 0; t < numComputeDTypes; ++t) {
        if (f == t)
          continue;
        DType from = DType(f), to = DType(t);
        Kernel k = findKernel(table, packKey(PackForm::Cast, 0u, from, uint32_t(to)));
        ASSERT_TRUE(k) << shortName(from) << " to " << shortName(to);
        for (int64_t n : testSizes) {
          Array in(from, n), out(to, n), expected(to, n);
          fillRandom(in, rng);
          void *ptrs[] = {out.at(0), in.at(0), nullptr};
          k(ptrs, nullptr, nullptr, 0, n);
          ASSERT_TRUE(out.intact());
          for (int64_t i = 0; i < n; ++i) {
            expected.set(i, referenceCast(in.get(i), from, to));
            ASSERT_TRUE(same(to, out.at(i), expected.at(i)))
                << shortName(from) << " to " << shortName(to) << ", element " << i << " " << show(from, in.at(i))
                << ": got " << show(to, out.at(i)) << ", expected " << show(to, expected.at(i));
          }
        }
      }
}

/// All 2^16 patterns each way, and every f32 that lies on or next to a tie of f16.
TEST(CodegenElementwise, ReducedFloatsExhaustive) {
  for (const PackTable *table : runnableTables())
    for (DType t : {DType::F16, DType::BF16}) {
      Array bits(t, 65536), wide(DType::F32, 65536), back(t, 65536);
      for (int i = 0; i < 65536; ++i)
        std::memcpy(bits.at(i), &i, 2);
      void *up[] = {wide.at(0), bits.at(0), nullptr};
      findKernel(table, packKey(PackForm::Cast, 0u, t, uint32_t(DType::F32)))(up, nullptr, nullptr, 0, 65536);
      for (int i = 0; i < 65536; ++i) {
        float expected = t == DType::F16 ? halfToFloat(uint16_t(i)) : bfloatToFloat(uint16_t(i));
        ASSERT_TRUE(same(DType::F32, wide.at(i), &expected)) << shortName(t) << " pattern " << i;
      }
      Kernel down = findKernel(table, packKey(PackForm::Cast, 0u, DType::F32, uint32_t(t)));
      for (int step = -1; step <= 1; ++step) {
        Array ties(DType::F32, 65535);
        for (int i = 0; i < 65535; ++i) {
          float mid = float((double(wide.get(i).f) + double(wide.get(i + 1).f)) / 2);
          if (step)
            mid = std::nextafter(mid, step < 0 ? -INFINITY : INFINITY);
          std::memcpy(ties.at(i), &mid, 4);
        }
        void *ptrs[] = {back.at(0), ties.at(0), nullptr};
        down(ptrs, nullptr, nullptr, 0, 65535);
        for (int i = 0; i < 65535; ++i) {
          float v = float(ties.get(i).f);
          uint16_t expected = t == DType::F16 ? floatToHalf(v) : floatToBfloat(v);
          ASSERT_TRUE(same(t, back.at(i), &expected)) << shortName(t) << " of " << v;
        }
      }
    }
}
