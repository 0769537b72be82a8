#include "tools/torchc/SelfTest.h"
#include "compiler/codegen/Target.h"
#include "runtime/exec/Executable.h"
#include "runtime/kernels/Pack.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;
namespace torchc {
namespace {

constexpr int64_t mostBytes = 256 << 10; // of inputs and results together
constexpr int64_t mostMemory = int64_t(4) << 30;

int64_t bytesOf(const link::TensorDesc &t) {
  int64_t n = itemSize(t.dtype);
  for (int64_t d : t.dims)
    if (d < 0 || __builtin_mul_overflow(n, d, &n))
      return mostMemory;
  return n;
}

bool fits(const link::Model &m, uint64_t arenaBytes) {
  int64_t total = 0;
  for (const link::TensorDesc &t : m.inputs)
    total += bytesOf(t);
  for (const link::TensorDesc &t : m.outputs)
    total += bytesOf(t);
  return total <= mostBytes && m.symbols.empty() && arenaBytes < uint64_t(mostMemory);
}

/// SplitMix64.
struct Random {
  uint64_t state;
  uint64_t operator()() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
};

/// Floats in [-1, 1), booleans, integers in [0, integers): small ones are indices as a rule.
void fill(const link::TensorDesc &t, Random &random, uint64_t integers, char *to, int64_t bytes) {
  int64_t size = itemSize(t.dtype);
  for (int64_t at = 0; at < bytes; at += size) {
    float f = float(int64_t(random() >> 40) - (1 << 23)) * 0x1p-23f;
    double d = double(int64_t(random() >> 11) - (int64_t(1) << 52)) * 0x1p-52;
    uint64_t bits = random() % (t.dtype == DType::Bool ? 2 : integers);
    if (t.dtype == DType::F32)
      memcpy(&bits, &f, 4);
    else if (t.dtype == DType::F64)
      memcpy(&bits, &d, 8);
    else if (t.dtype == DType::BF16) // a float's upper half; every pattern is a number below 1
      bits = (random() & 0x8000) | (random() % 0x3f80);
    else if (t.dtype == DType::F16)
      bits = (random() & 0x8000) | (random() % 0x3c00);
    memcpy(to + at, &bits, size_t(size));
  }
}

/// Memory of the graph's pointers; each piece is aligned to 64 bytes.
class Buffers {
public:
  ~Buffers() {
    for (void *p : pieces)
      std::free(p);
  }
  char *add(uint64_t bytes) {
    pieces.push_back(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
    if (pieces.back())
      memset(pieces.back(), 0, bytes);
    return static_cast<char *>(pieces.back());
  }

private:
  std::vector<void *> pieces;
};

/// One try; false: it trapped, or there is no memory.
bool runOnce(const link::Model &m, const Executable &code, uint64_t arenaBytes, uint64_t integers,
             link::SelfTest &test) {
  Buffers memory;
  Random random{m.inputs.size() + 1};
  size_t outs = m.outputs.size(), ins = m.inputs.size();
  std::vector<void *> ptrs(outs + ins + m.weights.size() + 2);
  int32_t status = 0;
  for (size_t i = 0; i < outs; ++i)
    ptrs[i] = memory.add(uint64_t(bytesOf(m.outputs[i])));
  for (size_t i = 0; i < ins; ++i) {
    int64_t bytes = bytesOf(m.inputs[i]);
    char *data = memory.add(uint64_t(bytes));
    if (!data)
      return false;
    fill(m.inputs[i], random, integers, data, bytes);
    test.inputs.emplace_back(data, size_t(bytes));
    ptrs[outs + m.inputSlots[i]] = data;
  }
  for (size_t i = 0; i < m.weights.size(); ++i) {
    char *data = memory.add(m.weights[i].size());
    if (!data)
      return false;
    memcpy(data, m.weights[i].data(), m.weights[i].size());
    ptrs[outs + m.weightSlots[i]] = data;
  }
  ptrs[ptrs.size() - 2] = &status;
  ptrs.back() = memory.add(arenaBytes);
  for (void *p : ptrs)
    if (!p)
      return false;
  code.entry()(ptrs.data(), nullptr, nullptr, 0, 1);
  auto keep = [&](const link::TensorDesc &t, void *data) {
    test.outputs.emplace_back(static_cast<char *>(data), size_t(bytesOf(t)));
  };
  for (size_t i = 0; i < outs; ++i)
    keep(m.outputs[i], ptrs[i]);
  for (size_t i = 0; i < ins; ++i)
    if (m.inputs[i].written)
      keep(m.inputs[i], ptrs[outs + m.inputSlots[i]]);
  return status == 0;
}

} // namespace

bool runsHere(codegen::Isa isa) {
  codegen::Isa host = codegen::hostIsa();
  if (isa == codegen::Isa::A64)
    return host == codegen::Isa::A64;
  return packIsa() != Isa::None && (isa == codegen::Isa::V3 || host == codegen::Isa::V4);
}

bool addSelfTest(StringRef object, uint64_t arenaBytes, link::Model &m, Diag &diag) {
  if (!fits(m, arenaBytes))
    return true;
  std::shared_ptr<const Executable> code = Executable::load(object.data(), object.size(), diag);
  if (!code)
    return false;
  for (uint64_t integers : {3, 1}) { // the second try: indices of 0
    link::SelfTest test;
    if (runOnce(m, *code, arenaBytes, integers, test)) {
      m.tests.push_back(std::move(test));
      return true;
    }
  }
  return true;
}

} // namespace torchc
