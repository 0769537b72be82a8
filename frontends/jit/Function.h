// One compiled function: its recordings, what the next call does, and the report about it.
#pragma once
#include "frontends/jit/Replay.h"
#include "frontends/jit/Retrace.h"
#include "frontends/jit/Tracer.h"

namespace torchc::jit {

struct FunctionOptions {
  std::string name;
  Site site;               // where it is defined
  bool compile = true;     // false: stays eager (TORCHC_COMPILE=off)
  bool interpret = false;  // tests: re-traced segments run step by step, without compiled code
  bool measure = true;     // small functions re-trace only if that is measured to be faster (J4)
  int maxRecordings = 32;  // segments kept; more, and new paths stay eager
  bool dynamic = true;     // sizes that change become dynamic (J5); false: each has a recording of its own
  bool oneGraph = false;   // the caller wants to know what keeps a call from being one compiled graph
};

class Function {
public:
  explicit Function(FunctionOptions options);

  const FunctionOptions &options() const { return settings; }
  /// "eager", "recording" or "re-trace": what the next call will do, and why in words.
  std::string tier(std::string *why = nullptr);
  /// The text of report(): tier, recordings with their state, records with source lines.
  std::string report();
  /// Numbers for tests and tools. `dynamic`: recordings whose sizes are known at run time.
  struct Counts {
    uint64_t calls = 0, recorded = 0, retraced = 0, left = 0, recordings = 0, ready = 0, failed = 0, pending = 0,
             launches = 0, interpreted = 0, replayed = 0, dynamic = 0;
  };
  Counts counts();
  /// With oneGraph: what keeps some recorded call from being one compiled graph; empty: nothing so far.
  std::string broken();

  /// Frontends that proved that the function depends on its tensor arguments alone say so; others say why not.
  void allowReplay(bool allowed, std::string why);
  /// Runs the call without the program, if that was allowed and some recording fits. Nothing has happened otherwise.
  bool replay(TensorImpl *const *arguments, uint32_t count, std::vector<TensorImpl *> &results, bool &tuple);

  // For the runs.
  /// What has followed the observation at a recording's end.
  Run::Segments after(const Recording &r);
  /// The instance of a dynamic recording for these sizes, kept for some time; null: there is none.
  std::shared_ptr<Recording> instance(const std::shared_ptr<Recording> &dynamic, const std::vector<int64_t> &sizes);
  std::vector<int64_t> lastSizes(const Recording &dynamic);
  void noteLeave(const Site &site, const char *reason, std::string expected = {}, std::string came = {});
  /// The recording that a run followed to its end: tried first from now on.
  void prefer(const std::shared_ptr<Recording> &r);
  /// An op that no recording shows runs between two segments.
  void noteOpaque(const Site &site, const std::string &op);
  /// A caller has waited so long for the compiler and doesn't any longer.
  void noteWait(double seconds);
  void wantMore(const std::shared_ptr<Recording> &r, const std::vector<uint32_t> &storages);

private:
  friend class Call;
  using Segments = Run::Segments;
  enum class Next : uint8_t { Eager, Record, Retrace };
  Next next(std::string *why, uint32_t sizeClass, uint64_t shape = 0);
  Next fasterOf(std::string *why, uint32_t sizeClass);
  void measured(bool retrace, uint32_t sizeClass, int64_t nanoseconds);
  void raised();
  std::shared_ptr<Recording> add(std::vector<std::unique_ptr<Recording>> path, bool byShape);
  bool generalise(Segments &list, std::unique_ptr<Recording> &segment);
  std::shared_ptr<Recording> covering(const Segments &list, const Recording &segment);
  std::shared_ptr<Recording> joinSizes(Segments &list, const Recording &segment);
  void dropReplaced(Segments &list);
  std::shared_ptr<Recording> instanceFor(const ReplayPlan &plan, TensorImpl *const *arguments);
  void confirm(const Run &run, const std::vector<TensorImpl *> &arguments, const std::vector<TensorImpl *> &results,
               bool tuple);
  std::shared_ptr<Recording> instanceLocked(const std::shared_ptr<Recording> &dynamic,
                                            const std::vector<int64_t> &sizes);
  void compile(const std::shared_ptr<Recording> &r);
  template <class F> void each(const Segments &list, F f) {
    for (const auto &r : list) {
      f(*r);
      each(r->next, f);
    }
  }
  void note(RecordKind kind, const Site &site, const std::string &reason, const std::string &old = {},
            const std::string &now = {});

  FunctionOptions settings;
  ForkMutex mutex{LockOrder::Function}; // of roots and what hangs below, and the fields after it
  Segments roots;
  bool unexpected = false; // a run left: record the next call
  bool waiting = false;    // a run left while a recording was being compiled, which may be the one it needed
  uint64_t strayed = 0;    // runs that left while nothing was
  bool replayable = false;
  std::string whyNoReplay = "nobody has shown that it depends on its arguments alone";
  struct Plan {
    ReplayPlan plan;
    bool tuple;
  };
  std::vector<Plan> plans;
  std::vector<std::shared_ptr<Recording>> instances; // the one that was used last in front
  bool replacing = false; // some recording will replace others when it is compiled
  std::vector<uint64_t> shapes; // of arguments, that calls were recorded with
  uint64_t missed = 0; // shapes of a call that left before anything like it was recorded
  uint64_t lastShapes = 0;
  int idle = 0;            // recordings in a row that told nothing new
  int raises = 0, rest = 0; // recordings in a row that ended by an exception; calls before the next one after them
  int skip = 0;            // calls before the next one: what comes at every n-th call must be met at some time
  std::string stopped;     // why no more is recorded
  std::string whyBroken;
  struct Timing {
    int count = 0;
    int64_t best = INT64_MAX; // ns
  };
  static constexpr uint32_t sizeClasses = 32;
  static constexpr size_t maxShapes = 64, maxInstances = 64;
  Timing timing[sizeClasses][2]; // by size of the call: eager, re-trace
  uint32_t lastSize = 0;
  Counts numbers;
  Records records{64};
};

/// One call of a function, around the program's own: made before, finish() after it returned, destroyed (also without
/// finish(), after an exception) in any case. Inside another recorded or re-traced call it does nothing.
class Call {
public:
  /// `elements`: of the biggest argument, if known; small and large calls are measured apart. `shapes`: a digest of all
  /// arguments' shapes, 0 if unknown; a call with new ones is recorded.
  explicit Call(Function &f, int64_t elements = 0, uint64_t shapes = 0);
  ~Call();
  Call(const Call &) = delete;
  /// Computes what is deferred. Throws Error if that fails.
  void finish();
  /// Does returned() tell anything?
  bool wantsResults() const;
  /// After finish() of a call: its arguments and results, for replay. `tuple`: the results came as one.
  void returned(const std::vector<TensorImpl *> &arguments, const std::vector<TensorImpl *> &results, bool tuple);

  /// What the tracer has handed over, for a caller that doesn't call finish().
  std::vector<std::unique_ptr<Recording>> takeRecorded() { return (kept = true, std::move(path)); }

  /// jitHooks.opaque.
  void opaque(const std::string &op);

  Tracer *tracer() { return recording.get(); }
  Run *run() { return retrace.get(); }

private:
  void close();
  Function &function;
  uint32_t sizeClass;
  bool byShape = false; // recorded for its arguments' shapes alone
  std::shared_ptr<Recording> only; // what finish() recorded, if it is one segment
  int64_t began = 0; // ns; 0: not measured
  bool eager = false;
  std::vector<std::unique_ptr<Recording>> path;
  std::unique_ptr<Tracer> recording;
  std::unique_ptr<Run> retrace;
  bool open = false, kept = false; // `kept`: the program returned
};

/// Fills jitHooks; once is enough.
void installHooks();

} // namespace torchc::jit
