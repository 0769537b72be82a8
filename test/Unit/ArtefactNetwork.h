// Small programs as traces, for tests that compile them ahead of time.
#pragma once
#include "dialects/rules/OpInfo.h"
#include "dialects/trace/SavedProgram.h"

namespace torchc::test {

/// Builds a saved program op by op; values are numbers of the trace.
struct ProgramBuilder {
  SavedProgram p;
  std::vector<std::vector<float>> data; // of the weights; appending doesn't move the numbers

  Trace &t = p.trace;
  using Sizes = std::initializer_list<int64_t>;
  static std::vector<TraceDim> dims(Sizes d) { return {d.begin(), d.end()}; }

  uint32_t input(Sizes shape, const char *name, DType type = DType::F32) {
    uint32_t v = t.addTensor(type, dims(shape));
    t.addInput(v, InputKind::Argument, name);
    return v;
  }
  /// A parameter with numbers from a small generator.
  uint32_t weight(Sizes shape, const char *name) {
    uint32_t v = t.addTensor(DType::F32, dims(shape));
    t.addInput(v, InputKind::Parameter, name);
    size_t n = 1;
    for (int64_t d : shape)
      n *= size_t(d);
    std::vector<float> numbers(n);
    uint32_t state = uint32_t(7 + data.size());
    for (float &x : numbers) {
      state = state * 1664525 + 1013904223;
      x = float(int32_t(state) >> 8) * 0x1p-25f;
    }
    data.push_back(std::move(numbers));
    const std::vector<float> &kept = data.back();
    p.weights.push_back(
        {name, DType::F32, {shape.begin(), shape.end()}, {reinterpret_cast<const uint8_t *>(kept.data()), 4 * n}});
    return v;
  }
  uint32_t op(OpId id, std::vector<uint32_t> in, std::vector<Attr> attrs, Sizes shape, DType type = DType::F32) {
    uint32_t out = t.addTensor(type, dims(shape));
    return node(id, in, attrs, out), out;
  }
  uint32_t view(OpId id, uint32_t of, std::vector<Attr> attrs, Sizes shape, Sizes strides, int64_t offset = 0) {
    auto d = dims(shape), s = dims(strides);
    uint32_t out = t.addValue(t.values[of].dtype, d, t.values[of].storage, offset, s);
    return node(id, {of}, attrs, out), out;
  }
  /// In place: the result has the layout of `target`, a row-major value.
  uint32_t into(uint32_t target, OpId id, std::vector<uint32_t> in, std::vector<Attr> attrs = {}) {
    TraceValue v = t.values[target];
    std::vector<TraceDim> d(t.sizesOf(v).begin(), t.sizesOf(v).end());
    uint32_t out = t.addValue(v.dtype, d, v.storage, v.offset);
    t.addEffect(node(id, in, attrs, out), EffectKind::Write, v.storage);
    return out;
  }
  uint32_t node(OpId id, const std::vector<uint32_t> &in, const std::vector<Attr> &attrs, uint32_t out) {
    return t.addNode(t.addOp(opInfo(id).name, uint32_t(id)), in, {&out, 1}, attrs, source);
  }

  /// log_softmax(relu(x @ w1 + b1) @ w2.T + b2), and its argmax.
  void network(int64_t batch, int64_t in, int64_t hidden, int64_t classes) {
    uint32_t x = input({batch, in}, "x"), w1 = weight({in, hidden}, "w1"), b1 = weight({hidden}, "b1");
    uint32_t w2 = weight({classes, hidden}, "w2"), b2 = weight({classes}, "b2");
    uint32_t h = op(OpId::Matmul, {x, w1}, {}, {batch, hidden});
    h = op(OpId::Add, {h, b1}, {}, {batch, hidden});
    h = op(OpId::Relu, {h}, {}, {batch, hidden});
    uint32_t w2t = view(OpId::Transpose, w2, {Attr::integer(0), Attr::integer(1)}, {hidden, classes}, {1, hidden});
    uint32_t y = op(OpId::Matmul, {h, w2t}, {}, {batch, classes});
    y = op(OpId::Add, {y, b2}, {}, {batch, classes});
    y = op(OpId::LogSoftmax, {y}, {Attr::integer(1)}, {batch, classes});
    int64_t axis = 1;
    uint32_t best = op(OpId::Argmax, {y}, {Attr::ints(&axis, 1), Attr::boolean(false)}, {batch}, DType::I64);
    t.addOutput(best);
    t.addOutput(y);
  }

  uint32_t source = traceNone;
};

} // namespace torchc::test
