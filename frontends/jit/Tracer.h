// Records what a thread executes as segments (Recording). Knows tensors and ops only: it is fed by the dispatcher.
#pragma once
#include "frontends/jit/Recording.h"
#include <functional>
#include <memory>
#include <unordered_map>

namespace torchc::jit {

/// Where the program stands: the binding answers for Python. May take the interpreter's lock.
using SourceCallback = Site (*)();
extern SourceCallback sourceCallback;

/// A number for each recording or run, so that tags of others are told apart.
uint32_t nextRunId();

class Tracer {
public:
  /// Segments are handed to `sink` as they end, in order.
  explicit Tracer(std::function<void(std::unique_ptr<Recording>)> sink);
  ~Tracer();
  Tracer(const Tracer &) = delete;

  void record(const OpCall &call, TensorImpl *result);
  /// A cond or while_loop has run. `inputs` and `state` as Control has them.
  void record(const std::shared_ptr<const Control> &control, const std::vector<Tensor> &inputs, TensorImpl *state,
              const std::vector<Tensor> &results);
  /// Whole graphs refuse what would end a segment: values that are looked at, ops that no graph holds.
  void mustBeWhole(std::string what) { whole = std::move(what); }
  bool isWhole() const { return !whole.empty(); }
  /// One graph is asked for: nothing but the program itself should end a segment.
  void wantOneGraph() { oneGraph = true; }
  bool oneGraphWanted() const { return oneGraph || isWhole(); }
  /// How many random numbers a graph draws isn't known from here on.
  void forgetOrdinal() { unknownOrdinal = true; }
  /// Not-implemented error unless `t` was made in this segment.
  void checkWrite(TensorImpl *t);
  /// The program looks at `t` (null: at something): the segment ends here if it made or wrote `t`.
  void observe(TensorImpl *t);
  /// An op that isn't recorded runs next: the segment ends here.
  void opaque(const std::string &op);
  /// The ops for which opaque() was called, with the program's lines.
  const std::vector<std::string> &opaqueOps() const { return unseen; }
  /// The segment can't be compiled; the first reason counts.
  void refuse(std::string why);
  /// Ends the last segment.
  void finish();
  /// The tensors that the last segment met as inputs (not owned, null for a generator), and the tag it left on tensors.
  const std::vector<TensorImpl *> &lastInputs() const { return met; }
  uint64_t lastTag() const { return metTag; }
  /// The number of a tensor in the trace; one that no op made becomes an input. traceNone: it was refused.
  uint32_t valueOf(TensorImpl *t);
  /// By number of the segment's inputs so far; null for a generator's state. Borrowed until finish().
  std::vector<TensorImpl *> inputTensors() const;
  struct InputState {
    TensorImpl *tensor;
    uint64_t words[2]; // of a generator
  };
  std::vector<InputState> inputsWithStates() const;

private:
  struct Generator {
    uint32_t value;
    uint64_t seed, ordinal;
  };
  void begin();
  void end();
  uint32_t find(uint32_t storage, TensorImpl *t);
  uint32_t addInput(TensorImpl *t);
  uint32_t addGenerator(uint64_t seed, uint64_t ordinal);
  uint32_t addValue(TensorImpl *t, uint32_t storage);
  uint32_t addStorage(Storage *s, char *base, int64_t nbytes, bool isInput, DType dtype);
  bool operands(const OpCall &call, Step &step);
  bool randomState(TensorImpl *state, Step &step);
  bool place(const OpCall &call, TensorImpl *result, Step &step, uint32_t &output);
  void addNode(const OpCall &call, const Step &step, uint32_t output);
  struct Deaths;
  struct Watched;
  void watch(Storage *s);
  void unwatch(Watched *w);
  static void storageDied(Storage *s, void *watched);
  /// Numbers of the storages that live.
  std::unordered_map<Storage *, uint32_t> &known();

  std::function<void(std::unique_ptr<Recording>)> sink;
  std::unique_ptr<Recording> r;
  uint64_t tag = 0;
  std::unordered_map<Storage *, uint32_t> numbers;
  std::vector<char *> bases; // by storage
  std::vector<Watched *> alive; // fresh storages by number; null: freed, or an input
  std::shared_ptr<Deaths> deaths; // of storages since the last look
  std::vector<std::vector<uint32_t>> layouts; // canonical values by storage
  std::vector<TensorImpl *> held; // inputs, so that their memory isn't reused meanwhile
  std::vector<Generator> generators;
  std::vector<TensorImpl *> met;
  uint64_t metTag = 0;
  std::vector<std::string> unseen;
  std::string whole; // what the segment belongs to, for messages; empty: it may end
  bool unknownOrdinal = false, oneGraph = false;
};

} // namespace torchc::jit
