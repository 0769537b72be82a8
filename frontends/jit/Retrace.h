// A run of the program with its ops matched against recordings and deferred (J3). Whatever doesn't match makes the run
// compute what was deferred and leave: the rest is plain eager execution.
//
// A deferred result is a tensor over a storage that has no memory yet (FlagPending, its `data` an offset); the tape, views
// and version counters work on it as usual. Storages get their memory when the segment is launched or interpreted, and
// tensors notice it when they are next touched.
#pragma once
#include "frontends/autograd/Tape.h"
#include "frontends/jit/Compiled.h"
#include "frontends/jit/RunGate.h"

namespace torchc::jit {

class Function;

class Run {
public:
  using Segments = std::vector<std::shared_ptr<Recording>>;
  Run(Function &f, Segments roots);
  ~Run();
  Run(const Run &) = delete;

  /// jitHooks.lazyOp.
  TensorImpl *op(const OpCall &call);
  /// The same for a cond or while_loop: its pending results; empty where the program left the trace.
  std::vector<Tensor> op(const std::shared_ptr<const Control> &control, const std::vector<Tensor> &inputs,
                         TensorImpl *state);
  /// Something outside looks at deferred values: computes them. At the end of a recorded segment matching goes on with
  /// what followed it, elsewhere the run leaves.
  void observe();
  /// Computes what is deferred and stops matching; null: nothing to report.
  void leave(const char *reason, std::string expected = {}, std::string came = {});
  bool left() const { return gone; }
  /// After finish(): the recording that the whole program followed as one segment, the tensors that it met as inputs (not
  /// owned), and the tag left on tensors; null: it didn't.
  const std::shared_ptr<Recording> &whole() const { return followed; }
  const std::vector<TensorImpl *> &lastInputs() const { return met; }
  uint64_t lastTag() const { return metTag; }
  /// The program has returned.
  void finish();
  /// Another thread needs the content of `s`: its run, if it has one, computes what it defers and leaves.
  static void computeElsewhere(Storage *s);

private:
  struct Slot {
    Storage *storage = nullptr; // owned; of a deferred one nobody else may be an owner any more
    char *base = nullptr;
    bool pending = false, dirty = false;
    bool foreign = false; // others may write this memory at any time: deferred ops read a copy
  };
  /// What deferred ops have read of foreign memory, as it was then: [low, high) bytes from the slot's base.
  struct Snapshot {
    uint32_t slot;
    int64_t low, high;
    Storage *copy; // owned
    char *base() const { return reinterpret_cast<char *>(reinterpret_cast<intptr_t>(copy->data) - low); }
  };
  void start(Segments segments);
  void endSegment();
  void stopDeferring();
  bool usable(const Recording &r) const;
  void choose(std::shared_ptr<Recording> r);
  bool adopt(const std::shared_ptr<Recording> &other);
  bool admits(const Recording &other) const;
  bool acceptsNumber(const Attr &recorded, const Attr &now);
  bool match(const OpCall &call);
  /// The instance of a dynamic recording for the sizes of this run, as far as they are known; null: none.
  std::shared_ptr<Recording> instanceOf(const std::shared_ptr<Recording> &dynamic, const OpCall *call);
  bool matches(const OpCall &call);
  bool matchesStep(const OpCall &call, const Step &s);
  bool resolves(TensorImpl *t, uint32_t want);
  bool bind(TensorImpl *t, uint32_t want);
  bool bindRandom(TensorImpl *state, const Step &s);
  uint32_t numberOf(Storage *s) const;
  void unbind(size_t mark, size_t numberMark);
  bool indexInRange(const OpCall &call, const Step &s);
  bool readForeign(const OpCall &call, const Step &s);
  bool take(uint32_t slot, int64_t low, int64_t high);
  char *contentOf(uint32_t slot) const;
  bool needs(uint32_t storage, std::vector<bool> &steps) const;
  TensorImpl *fresh(uint32_t value);
  void leaveAt(const OpCall &call);
  TensorImpl *view(const OpCall &call, const Step &s);
  void write(TensorImpl *target, const Step &s);
  bool endsHere();
  void flush();
  void compute();
  bool launch(const std::vector<Storage *> &alive);
  bool fits(const Compiled &c, const std::vector<Storage *> &alive);
  void interpret(const std::vector<Storage *> &alive);

  Function &function;
  const void *home = &threadState; // of the thread that runs the program
  std::shared_ptr<RunGate> gate = std::make_shared<RunGate>(this);
  Segments segments;
  std::shared_ptr<Recording> graph;
  uint64_t tag = 0;
  uint32_t position = 0;
  const Control *incoming = nullptr; // of the call that is being matched
  bool gone = false, leaving = false, alone = true;
  uint32_t segmentsSeen = 0;
  std::shared_ptr<Recording> followed;
  std::vector<TensorImpl *> met;
  uint64_t metTag = 0;
  uint32_t started = 0;
  std::vector<Slot> slots; // by storage
  bool foreign = false; // some slot is
  std::vector<Snapshot> snapshots;
  std::vector<TensorImpl *> inputs; // owned, by input
  std::vector<std::pair<uint64_t, uint64_t>> generators; // by input
  std::vector<Attr> numbers; // by input; None: not met yet
  std::vector<uint32_t> bound, boundNumbers; // inputs in the order they were met
  std::vector<TensorImpl *> written; // owned: tensors that are marked pending though their memory is real
  std::vector<std::pair<uint32_t, int64_t>> checked; // index values known to be below a bound
};

/// What installing hooks needs: brings a tensor's flags and pointer up to date after its storage got memory. Runtime error
/// if its value was lost to an earlier error.
void settle(TensorImpl *t);

/// Values of Storage::deferred: the run that defers its content, or this: its content was lost to an error.
inline constexpr uint64_t storageLost = 1;

/// What marks a storage as deferred by a run.
inline uint64_t runWord(const Run *r) { return reinterpret_cast<uint64_t>(r); }

} // namespace torchc::jit
