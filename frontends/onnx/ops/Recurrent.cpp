// RNN, GRU, LSTM: one step for each element of the sequence, states kept where a sequence has ended.
#include "frontends/onnx/ops/Ops.h"
#include <algorithm>
#include <cctype>

namespace torchc::onnx {
namespace {

/// One of ONNX's named functions with its parameters.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;

  Tensor operator()(const Tensor &x) const {
    if (name == "sigmoid")
      return sigmoid(x);
    if (name == "tanh")
      return tanh(x);
    if (name == "relu")
      return relu(x);
    if (name == "affine")
      return add(mul(x, alpha), beta);
    if (name == "leakyrelu")
      return where(lt(x, 0), mul(x, alpha), x);
    if (name == "thresholdedrelu")
      return where(gt(x, alpha), x, 0);
    if (name == "scaledtanh")
      return mul(tanh(mul(x, beta)), alpha);
    if (name == "hardsigmoid")
      return clamp(add(mul(x, alpha), beta), Scalar(0), Scalar(1));
    if (name == "elu")
      return elu(x, alpha);
    if (name == "softsign")
      return div(x, add(abs(x), 1));
    return softplus(x);
  }
};

struct Defaults {
  const char *name;
  double alpha, beta;
};
constexpr Defaults known[] = {
    {"sigmoid", 0, 0},      {"tanh", 0, 0},
    {"relu", 0, 0},         {"affine", 1, 0},
    {"leakyrelu", 0.01, 0}, {"thresholdedrelu", 1, 0},
    {"scaledtanh", 1, 1},   {"hardsigmoid", 0.2, 0.5},
    {"elu", 1, 0},          {"softsign", 0, 0},
    {"softplus", 0, 0},
};

/// `count` functions for each direction; the parameters are listed for those that take some.
std::vector<Activation> activationsOf(const NodeRun &n, std::vector<std::string> names, size_t directions) {
  std::vector<std::string_view> given = n.textsAttr("activations");
  size_t count = names.size();
  std::vector<std::string> all;
  for (size_t d = 0; d < directions; d++)
    all.insert(all.end(), names.begin(), names.end());
  if (!given.empty() && given.size() != all.size())
    n.invalid(std::to_string(given.size()) + " activations, expected " + std::to_string(all.size()));
  std::vector<double> alpha = n.floatsAttr("activation_alpha"), beta = n.floatsAttr("activation_beta");
  std::vector<Activation> out;
  size_t nextAlpha = 0, nextBeta = 0;
  for (size_t i = 0; i < count * directions; i++) {
    std::string name(given.empty() ? std::string_view(all[i]) : given[i]);
    for (char &c : name)
      c = char(std::tolower(static_cast<unsigned char>(c)));
    const Defaults *found = nullptr;
    for (const Defaults &k : known)
      if (name == k.name)
        found = &k;
    if (!found)
      n.unsupported("the activation '" + name + "'");
    Activation a{name, found->alpha, found->beta};
    if ((found->alpha != 0) && nextAlpha < alpha.size())
      a.alpha = alpha[nextAlpha++];
    if ((found->beta != 0 || name == "affine") && nextBeta < beta.size())
      a.beta = beta[nextBeta++];
    out.push_back(a);
  }
  return out;
}

/// What the three operators share: operands in [sequence, batch, ...] order, directions, lengths.
struct Sequence {
  Tensor x, lengths; // lengths: undefined when all are full
  int64_t steps, batch, hidden, gates;
  std::vector<bool> reverse; // by direction
  bool batchFirst;
  double clip;

  Sequence(NodeRun &n, int64_t gates) : gates(gates) {
    batchFirst = n.intAttr("layout", 0);
    if (n.tensor(0).dim() != 3 || n.tensor(1).dim() != 3 || n.tensor(2).dim() != 3)
      n.invalid("expected a sequence of rank 3 and weights of rank 3");
    x = batchFirst ? transpose(n.tensor(0), 0, 1) : n.tensor(0);
    IntList weights = n.tensor(2).sizes(); // [directions, gates * hidden, hidden], or the last two the other way round
    steps = x.sizes()[0], batch = x.sizes()[1], hidden = std::min(weights[1], weights[2]);
    if (std::max(weights[1], weights[2]) != gates * hidden || n.intAttr("hidden_size", hidden) != hidden)
      n.invalid("hidden_size of " + std::to_string(n.intAttr("hidden_size", hidden)) + " with weights of " +
                std::to_string(weights[1]) + " x " + std::to_string(weights[2]));
    std::string_view direction = n.textAttr("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      n.invalid("direction '" + std::string(direction) + "'");
    reverse = direction == "bidirectional" ? std::vector<bool>{false, true} : std::vector<bool>{direction == "reverse"};
    if (n.tensor(1).sizes()[0] != int64_t(reverse.size()))
      n.invalid("weights of " + std::to_string(n.tensor(1).sizes()[0]) + " directions, expected " +
                std::to_string(reverse.size()));
    clip = n.floatAttr("clip", 0);
    if (n.has(4))
      lengths = to(n.tensor(4), DType::I64);
  }
  /// Part `d` of an operand by direction; undefined when it is absent.
  static Tensor part(const NodeRun &n, size_t input, int64_t d) {
    return n.has(input) ? select(n.tensor(input), 0, d) : Tensor();
  }
  Tensor initial(const NodeRun &n, size_t input, int64_t d) const {
    if (!n.has(input))
      return zeros({batch, hidden}, x.dtype());
    return select(n.tensor(input), batchFirst ? 1 : 0, d);
  }
  Tensor clipped(const Tensor &t) const { return clip > 0 ? clamp(t, Scalar(-clip), Scalar(clip)) : t; }
  /// Rows of the batch that are alive at step t, as a column.
  Tensor alive(int64_t t) const { return lengths ? unsqueeze(gt(lengths, t), 1) : Tensor(); }
};

/// Runs `step(d, x_t, state)` over a direction's steps and stores all results. The state's first tensor is the output.
template <class Step> void unroll(NodeRun &n, Sequence &s, std::vector<std::vector<Tensor>> states, Step step) {
  std::vector<Tensor> outputs;
  for (size_t d = 0; d < s.reverse.size(); d++) {
    std::vector<Tensor> &state = states[d], rows(size_t(s.steps));
    for (int64_t k = 0; k < s.steps; k++) {
      int64_t t = s.reverse[d] ? s.steps - 1 - k : k;
      std::vector<Tensor> next = step(int64_t(d), select(s.x, 0, t), state);
      Tensor alive = s.alive(t);
      for (size_t i = 0; alive && i < next.size(); i++)
        next[i] = where(alive, next[i], state[i]);
      rows[size_t(t)] = alive ? where(alive, next[0], 0) : next[0];
      state = next;
    }
    outputs.push_back(rows.empty() ? zeros({0, s.batch, s.hidden}, s.x.dtype()) : stack(rows, 0));
  }
  if (n.wants(0)) // [steps, directions, batch, hidden], or [batch, steps, directions, hidden]
    n.set(0, s.batchFirst ? permute(stack(outputs, 0), {2, 1, 0, 3}) : stack(outputs, 1));
  for (size_t i = 0; i < states[0].size(); i++) {
    std::vector<Tensor> last;
    for (auto &state : states)
      last.push_back(state[i]);
    n.set(1 + i, stack(last, s.batchFirst ? 1 : 0));
  }
}

/// The bias of one direction: that of the input and of the state; undefined without one.
std::pair<Tensor, Tensor> biasOf(const NodeRun &n, const Sequence &s, int64_t d) {
  Tensor b = Sequence::part(n, 3, d);
  if (!b)
    return {};
  return {narrow(b, 0, 0, s.gates * s.hidden), narrow(b, 0, s.gates * s.hidden, s.gates * s.hidden)};
}
Tensor plus(const Tensor &a, const Tensor &b) { return b ? add(a, b) : a; }

void rnn(NodeRun &n) {
  Sequence s(n, 1);
  std::vector<Activation> f = activationsOf(n, {"tanh"}, s.reverse.size());
  std::vector<std::vector<Tensor>> states;
  for (size_t d = 0; d < s.reverse.size(); d++)
    states.push_back({s.initial(n, 5, int64_t(d))});
  unroll(n, s, states, [&](int64_t d, const Tensor &x, const std::vector<Tensor> &state) {
    auto [wb, rb] = biasOf(n, s, d);
    Tensor sum =
        add(plus(matmul(x, t(Sequence::part(n, 1, d))), wb), plus(matmul(state[0], t(Sequence::part(n, 2, d))), rb));
    return std::vector<Tensor>{f[size_t(d)](s.clipped(sum))};
  });
}

void gru(NodeRun &n) {
  Sequence s(n, 3);
  std::vector<Activation> f = activationsOf(n, {"sigmoid", "tanh"}, s.reverse.size());
  bool resetAfter = n.intAttr("linear_before_reset");
  std::vector<std::vector<Tensor>> states;
  for (size_t d = 0; d < s.reverse.size(); d++)
    states.push_back({s.initial(n, 5, int64_t(d))});
  int64_t H = s.hidden;
  unroll(n, s, states, [&](int64_t d, const Tensor &x, const std::vector<Tensor> &state) {
    const Tensor &h = state[0];
    auto [wb, rb] = biasOf(n, s, d);
    const Activation &gate = f[size_t(d) * 2], &out = f[size_t(d) * 2 + 1];
    Tensor xs = plus(matmul(x, t(Sequence::part(n, 1, d))), wb), r = Sequence::part(n, 2, d);
    Tensor hs = plus(matmul(h, t(narrow(r, 0, 0, 2 * H))), rb ? narrow(rb, 0, 0, 2 * H) : Tensor());
    Tensor zr = gate(s.clipped(add(narrow(xs, 1, 0, 2 * H), hs)));
    Tensor update = narrow(zr, 1, 0, H), reset = narrow(zr, 1, H, H), rh = t(narrow(r, 0, 2 * H, H));
    Tensor bias = rb ? narrow(rb, 0, 2 * H, H) : Tensor();
    Tensor inner = resetAfter ? mul(reset, plus(matmul(h, rh), bias)) : plus(matmul(mul(reset, h), rh), bias);
    Tensor candidate = out(s.clipped(add(narrow(xs, 1, 2 * H, H), inner)));
    return std::vector<Tensor>{add(mul(rsub(update, 1), candidate), mul(update, h))};
  });
}

/// The gates' sums i, o, f, c -> the next state.
std::vector<Tensor> lstmStep(const NodeRun &n, const Sequence &s, const Activation *f, const Tensor &sums,
                             const std::vector<Tensor> &state, const Tensor &peephole) {
  int64_t H = s.hidden;
  const Tensor &c = state[1];
  auto gate = [&](int64_t k) { return narrow(sums, 1, k * H, H); };
  auto peep = [&](int64_t k, const Tensor &cell, const Tensor &sum) {
    return peephole ? add(sum, mul(narrow(peephole, 0, k * H, H), cell)) : sum;
  };
  Tensor in = f[0](s.clipped(peep(0, c, gate(0))));
  Tensor forget = n.intAttr("input_forget", 0) ? rsub(in, 1) : f[0](s.clipped(peep(2, c, gate(2))));
  Tensor cell = add(mul(forget, c), mul(in, f[1](s.clipped(gate(3)))));
  Tensor out = f[0](s.clipped(peep(1, cell, gate(1))));
  return {mul(out, f[2](cell)), cell};
}

std::vector<std::vector<Tensor>> lstmStates(const NodeRun &n, const Sequence &s) {
  std::vector<std::vector<Tensor>> states;
  for (size_t d = 0; d < s.reverse.size(); d++)
    states.push_back({s.initial(n, 5, int64_t(d)), s.initial(n, 6, int64_t(d))});
  return states;
}

void lstm(NodeRun &n) {
  Sequence s(n, 4);
  std::vector<Activation> f = activationsOf(n, {"sigmoid", "tanh", "tanh"}, s.reverse.size());
  unroll(n, s, lstmStates(n, s), [&](int64_t d, const Tensor &x, const std::vector<Tensor> &state) {
    auto [wb, rb] = biasOf(n, s, d);
    Tensor sums =
        add(plus(matmul(x, t(Sequence::part(n, 1, d))), wb), plus(matmul(state[0], t(Sequence::part(n, 2, d))), rb));
    return lstmStep(n, s, &f[size_t(d) * 3], sums, state, Sequence::part(n, 7, d));
  });
}

/// com.microsoft: int8 weights, [directions, input, 4 x hidden] each; x is quantised as a whole, h at every step.
void quantisedLstm(NodeRun &n) {
  Sequence s(n, 4);
  std::vector<Activation> f = activationsOf(n, {"sigmoid", "tanh", "tanh"}, s.reverse.size());
  for (size_t i = 8; i < 12; i++)
    if (!n.has(i))
      n.invalid("input " + std::to_string(i) + " is missing");
  auto product = [&](const Quantised &q, size_t weight, size_t scale, int64_t d) {
    Tensor w = sub(to(Sequence::part(n, weight, d), DType::I32),
                   to(Sequence::part(n, scale + 1, d), DType::I32)); // one zero point, or one for each column
    Tensor exact = matmul(sub(to(q.values, DType::I32), to(q.zero, DType::I32)), w);
    return mul(to(exact, DType::F32), mul(q.scale, Sequence::part(n, scale, d)));
  };
  Quantised whole = quantiseDynamically(s.x);
  std::vector<Tensor> projected;
  Quantised flat = whole;
  flat.values = reshape(whole.values, {s.steps * s.batch, -1});
  for (size_t d = 0; d < s.reverse.size(); d++)
    projected.push_back(reshape(product(flat, 1, 8, int64_t(d)), {s.steps, s.batch, 4 * s.hidden}));
  std::vector<int64_t> at(s.reverse.size(), 0);
  unroll(n, s, lstmStates(n, s), [&](int64_t d, const Tensor &, const std::vector<Tensor> &state) {
    auto [wb, rb] = biasOf(n, s, d);
    int64_t k = at[size_t(d)]++, step = s.reverse[size_t(d)] ? s.steps - 1 - k : k;
    Tensor sums = add(plus(select(projected[size_t(d)], 0, step), wb),
                      plus(product(quantiseDynamically(state[0]), 2, 10, d), rb));
    return lstmStep(n, s, &f[size_t(d) * 3], sums, state, Sequence::part(n, 7, d));
  });
}

const HandlerRow rows[] = {
    {"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}, {"DynamicQuantizeLSTM", quantisedLstm, 0, "com.microsoft"}};

} // namespace

Rows recurrentRows() { return Rows(rows, std::size(rows)); }

} // namespace torchc::onnx
