// Traces built op by op, compiled in process, loaded and run.
#pragma once
#include "compiler/pipeline/Pipeline.h"
#include "dialects/rules/OpInfo.h"
#include "runtime/exec/Executable.h"
#include "gtest/gtest.h"
#include <cstring>

namespace torchc::test {

using Floats = std::vector<float>;

/// Builds a trace op by op; every method returns a value id.
struct Program {
  Trace t;

  std::vector<TraceDim> dims(std::initializer_list<int64_t> d) { return {d.begin(), d.end()}; }
  uint32_t input(std::initializer_list<int64_t> shape, DType type = DType::F32) {
    uint32_t v = t.addTensor(type, dims(shape));
    t.addInput(v, InputKind::Argument);
    return v;
  }
  uint32_t strided(std::initializer_list<int64_t> shape, std::initializer_list<int64_t> strides) {
    auto d = dims(shape), s = dims(strides);
    uint32_t storage = t.addStorage(-1, DType::F32);
    uint32_t v = t.addValue(DType::F32, d, storage, 0, s);
    t.addInput(v, InputKind::Argument);
    return v;
  }
  uint32_t op(OpId id, std::vector<uint32_t> in, std::vector<Attr> attrs, std::initializer_list<int64_t> shape,
              DType type = DType::F32) {
    uint32_t out = t.addTensor(type, dims(shape));
    node(id, in, out, attrs);
    return out;
  }
  uint32_t view(OpId id, uint32_t of, std::vector<Attr> attrs, std::initializer_list<int64_t> shape,
                std::initializer_list<int64_t> strides, int64_t offset = 0) {
    auto d = dims(shape), s = dims(strides);
    uint32_t out = t.addValue(t.values[of].dtype, d, t.values[of].storage, offset, s);
    node(id, {of}, out, attrs);
    return out;
  }
  /// In place: the result has the layout of `target`.
  uint32_t into(uint32_t target, OpId id, std::vector<uint32_t> in, std::vector<Attr> attrs = {}) {
    TraceValue v = t.values[target];
    std::vector<TraceDim> d(t.sizesOf(v).begin(), t.sizesOf(v).end()), s(t.stridesOf(v).begin(), t.stridesOf(v).end());
    uint32_t out = t.addValue(v.dtype, d, v.storage, v.offset, s);
    uint32_t n = node(id, in, out, attrs);
    t.addEffect(n, EffectKind::Write, v.storage);
    return out;
  }
  uint32_t node(OpId id, const std::vector<uint32_t> &in, uint32_t out, const std::vector<Attr> &attrs) {
    uint32_t outs[] = {out};
    return t.addNode(t.addOp(opInfo(id).name, uint32_t(id)), in, outs, attrs);
  }
};

struct Execution {
  compiler::Compiled compiled;
  std::shared_ptr<const Executable> code;
  std::vector<std::vector<char>> results;
  int32_t status = 0;

  explicit Execution(const Program &p, bool grad = false) {
    Diag diag;
    compiler::PipelineOptions options;
    options.isa = codegen::hostIsa();
    options.grad = grad;
    EXPECT_TRUE(verifyTrace(p.t, diag)) << diag.text;
    bool ok = compiler::runPipeline(p.t, options, compiled, diag);
    EXPECT_TRUE(ok) << diag.text;
    if (ok)
      code = Executable::load(compiled.object.data(), compiled.object.size(), diag);
    EXPECT_TRUE(code) << diag.text;
  }
  void operator()(std::vector<void *> inputs) {
    if (!code)
      return;
    std::vector<void *> ptrs;
    results.clear();
    for (const TensorType &t : compiled.results) {
      results.emplace_back(size_t(t.dims.numel() * itemSize(t.dtype)) + 1);
      ptrs.push_back(results.back().data());
    }
    ptrs.insert(ptrs.end(), inputs.begin(), inputs.end());
    void *arena = std::aligned_alloc(64, size_t(compiled.plan.arenaBytes + 64) / 64 * 64);
    status = 0;
    ptrs.push_back(&status);
    ptrs.push_back(arena);
    code->entry()(ptrs.data(), nullptr, nullptr, 0, 0);
    std::free(arena);
  }
  Floats floats(size_t i) const {
    Floats f((results.at(i).size() - 1) / 4);
    std::memcpy(f.data(), results[i].data(), f.size() * 4);
    return f;
  }
};

inline Floats numbers(size_t n, int seed) {
  Floats f(n);
  for (size_t i = 0; i < n; i++)
    f[i] = float((int(i) * 7 + seed * 13) % 11 - 5);
  return f;
}
inline Attr num(double v) { return Attr::number(v); }

} // namespace torchc::test
