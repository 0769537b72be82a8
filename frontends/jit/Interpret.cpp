#include "frontends/jit/Interpret.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Modes.h"
#include "frontends/jit/Control.h"

namespace torchc::jit {

Interpreter::~Interpreter() {
  for (Memory &m : memory)
    if (m.storage)
      release(m.storage);
}

void Interpreter::bind(uint32_t n, Storage *s, char *base) { memory[n] = {retain(s), base, true}; }

void Interpreter::bindGenerator(uint32_t input, const uint64_t *words) { generators.emplace_back(input, words); }

Tensor Interpreter::tensorOf(uint32_t value) const {
  const Value &v = r.values[value];
  const Memory &m = memory[v.storage];
  if (!m.storage)
    fail(ErrorKind::Internal, "interpreted value " + std::to_string(value) + " has no memory");
  Tensor t(newShell(v.dtype, v.rank, r.sizesOf(v), v.contiguous ? nullptr : r.stridesOf(v)));
  t->storage = retain(m.storage);
  t->data = m.base + v.offset;
  return t;
}

/// The result of a step that defines a storage, laid out as it was recorded: copied to memory that others see already,
/// else taken as it is.
void Interpreter::keep(uint32_t storage, TensorImpl *result) {
  Memory &m = memory[storage];
  if (m.given) {
    if (size_t bytes = size_t(r.storages[storage].nbytes))
      std::memcpy(m.base, result->data, bytes);
    return;
  }
  if (m.storage)
    release(m.storage);
  m.storage = retain(result->storage);
  m.base = result->data;
}

/// The generator's state that a random step takes.
Tensor Interpreter::stateOf(const Step &s) const {
  Tensor state(newTensor(DType::I64, Dims({2})));
  auto *words = reinterpret_cast<uint64_t *>(state->data);
  for (auto &[input, given] : generators)
    if (input == r.values[r.ins[s.firstIn]].input) {
      words[0] = given[0];
      words[1] = given[1] + s.random;
    }
  return state;
}

void Interpreter::runControl(const Step &s) {
  std::vector<Tensor> inputs;
  Tensor state = s.random == traceNone ? Tensor() : stateOf(s);
  for (uint32_t i = s.random != traceNone; i < s.numOperands; i++)
    inputs.push_back(tensorOf(r.ins[s.firstIn + i]));
  std::vector<Tensor> results = evaluate(*r.controls[s.control], inputs, state);
  for (uint32_t k = 0; k < s.numResults; k++)
    keep(r.values[s.result + k].storage, results[k].impl());
}

void Interpreter::run(uint32_t index) {
  const Step &s = r.steps[index];
  if (s.isView)
    return;
  InternalGuard quiet;
  if (s.control != traceNone)
    return runControl(s);
  std::vector<Tensor> tensors;
  std::vector<Operand> operands;
  tensors.reserve(s.numOperands + 1u);
  uint32_t number = s.firstAttr + s.numAttrs;
  for (uint32_t i = 0; i < s.numOperands; i++) {
    uint32_t in = r.ins[s.firstIn + i];
    if (in == traceNone) {
      const Attr &a = r.attrs[number++];
      operands.push_back(Scalar::fromAttr(a.tag == AttrTag::Hole ? (*numbers)[size_t(a.i)] : a));
      continue;
    }
    if (s.random != traceNone && i == 0) {
      tensors.push_back(stateOf(s));
    } else
      tensors.push_back(tensorOf(in));
    operands.push_back(tensors.back());
  }
  OpCall call{s.op, operands.data(), int(operands.size()), r.attrs.data() + s.firstAttr, s.numAttrs, {}};
  if (s.out == Out::None) {
    Tensor result(callSlow(call));
    keep(r.values[s.result].storage, result.impl());
    return;
  }
  tensors.push_back(tensorOf(s.result));
  Tensor &target = tensors.back();
  uint32_t version = target->storage->version; // it moved when the program made the call
  call.out = {s.out, target.impl()};
  release(callSlow(call));
  target->storage->version = version;
}

} // namespace torchc::jit
