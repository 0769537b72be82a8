// A run of the program with its ops matched against recordings and deferred (J3). Whatever doesn't match makes the run
// compute what was deferred and leave: the rest is plain eager execution.
//
// A deferred result is a tensor over a storage that has no memory yet (FlagPending, its `data` an offset); the tape, views
// and version counters work on it as usual. Storages get their memory when the segment is launched or interpreted, and
// tensors notice it when they are next touched.
#pragma once
#include "frontends/autograd/Tape.h"
#include "frontends/jit/Compiled.h"

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
  /// Something outside looks at deferred values: computes them. At the end of a recorded segment matching goes on with
  /// what followed it, elsewhere the run leaves.
  void observe();
  /// Computes what is deferred and stops matching; null: nothing to report.
  void leave(const char *reason, std::string expected = {}, std::string came = {});
  bool left() const { return gone; }
  /// The program has returned.
  void finish();

private:
  struct Slot {
    Storage *storage = nullptr; // a deferred one is not owned: null once nobody else has it
    char *base = nullptr;
    bool pending = false, dirty = false;
  };
  void start(Segments segments);
  void endSegment();
  bool usable(const Recording &r) const;
  void choose(std::shared_ptr<Recording> r);
  bool match(const OpCall &call);
  bool matches(const OpCall &call);
  bool matchesStep(const OpCall &call, const Step &s);
  bool resolves(TensorImpl *t, uint32_t want);
  bool bind(TensorImpl *t, uint32_t want);
  bool bindRandom(TensorImpl *state, const Step &s);
  uint32_t numberOf(Storage *s) const;
  void unbind(size_t mark);
  bool indexInRange(const OpCall &call, const Step &s);
  bool needs(uint32_t storage, std::vector<bool> &steps) const;
  TensorImpl *fresh(const Step &s);
  TensorImpl *view(const OpCall &call, const Step &s);
  void write(TensorImpl *target, const Step &s);
  bool endsHere();
  void flush();
  void compute();
  bool launch(const std::vector<Storage *> &alive);
  bool fits(const Compiled &c, const std::vector<Storage *> &alive);
  void interpret();
  static void pendingDied(Storage *s);

  Function &function;
  Segments segments;
  std::shared_ptr<Recording> graph;
  uint64_t tag = 0;
  uint32_t position = 0;
  bool gone = false, leaving = false, alone = true;
  uint32_t started = 0;
  std::vector<Slot> slots; // by storage
  std::vector<TensorImpl *> inputs; // owned, by input
  std::vector<std::pair<uint64_t, uint64_t>> generators; // by input
  std::vector<uint32_t> bound; // inputs in the order they were met
  std::vector<TensorImpl *> written; // owned: tensors that are marked pending though their memory is real
  std::vector<std::pair<uint32_t, int64_t>> checked; // index values known to be below a bound
};

/// What installing hooks needs: brings a tensor's flags and pointer up to date after its storage got memory. Runtime error
/// if its value was lost to an earlier error.
void settle(TensorImpl *t);

/// Values of Storage::deferred: the run that defers its content, or this: its content was lost to an error.
inline constexpr uint64_t storageLost = 1;

} // namespace torchc::jit
