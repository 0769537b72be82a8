#include "frontends/jit/Function.h"
#include "frontends/eager/Modes.h"
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>

namespace torchc::jit {

Function::Function(FunctionOptions options) : settings(std::move(options)) {
  installHooks();
  if (!settings.compile)
    stopped = "compiling is off";
}

void Function::note(RecordKind kind, const Site &site, const std::string &reason, const std::string &old,
                    const std::string &now) {
  records.add(kind, site, reason, old, now);
  Records::global().add(kind, site.line ? site : settings.site, reason, old, now);
}

//===-- what a call does ----------------------------------------------------------------------------------------===//

Function::Next Function::next(std::string *why, uint32_t sizeClass, uint64_t shape) {
  auto say = [&](Next n, std::string_view text) {
    if (why)
      *why = text;
    return n;
  };
  if (!settings.compile)
    return say(Next::Eager, stopped);
  if (replacing)
    dropReplaced(roots);
  bool pending = false, ready = false;
  std::string failure;
  each(roots, [&](Recording &r) {
    if (r.state() == CompileState::Pending && r.generation != CompileService::generation())
      unexpected = true; // asked for by the process that this one was forked from
    else
      pending |= r.state() == CompileState::Pending;
    if (why && r.state() == CompileState::Failed && failure.empty())
      failure = r.failure();
  });
  bool dynamicReady = false;
  for (const auto &r : roots)
    if (r->refused.empty() && (r->state() == CompileState::Ready || settings.interpret)) {
      ready = true;
      dynamicReady |= r->dynamic();
    }
  if (strayed > 20 && strayed > 2 * (numbers.retraced - numbers.left)) {
    if (stopped.empty())
      note(RecordKind::Fallback, settings.site, "stays eager: most calls leave the recorded path");
    return say(Next::Eager, stopped = "most calls leave the recorded path");
  }
  waiting = waiting && pending;
  if (waiting)
    return say(Next::Eager, "compiling in the background");
  bool later = unexpected && skip > 0;
  skip -= later && !why; // not for a mere question
  bool path = roots.empty() || (unexpected && !later);
  bool strange = shape && shapes.size() < maxShapes && !std::count(shapes.begin(), shapes.end(), shape) &&
                 (!dynamicReady || missed == shape);
  bool record = stopped.empty() && (path || strange) && !pending, resting = record && rest > 0;
  rest -= resting && !why;
  if (record && !resting)
    return say(Next::Record, roots.empty() ? "not called yet"
                             : path        ? "the last call took a path that isn't recorded"
                                           : "the arguments have shapes that aren't recorded");
  if (ready)
    return fasterOf(why, sizeClass);
  if (pending)
    return say(Next::Eager, "compiling in the background");
  if (resting)
    return say(Next::Eager, "it raised an exception whenever it was recorded; one of the next calls is recorded again");
  return say(Next::Eager, !failure.empty() ? failure : !stopped.empty() ? stopped : "no op was recorded");
}

namespace {
constexpr int maxRest = 1023;            // calls between two recordings of a function that always raises
constexpr int maxIdle = 8;               // recordings that told nothing new before no more are made
constexpr int measuredCalls = 5;         // of each kind, of which the fastest counts
constexpr int64_t smallCall = 20'000;    // ns: above, what an op costs by itself doesn't matter

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
std::string microseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", double(ns) / 1000);
  return text;
}
} // namespace

/// Re-trace, unless it was measured slower (J4).
Function::Next Function::fasterOf(std::string *why, uint32_t sizeClass) {
  const Timing &eager = timing[sizeClass][0], &retrace = timing[sizeClass][1];
  bool known = retrace.count >= measuredCalls && (eager.count >= measuredCalls || retrace.best > smallCall);
  auto say = [&](Next n, auto text) {
    if (why)
      *why = text();
    return n;
  };
  if (settings.measure && !known && retrace.count >= measuredCalls)
    return say(Next::Eager, [] { return "eager calls are measured, to compare"; });
  if (settings.measure && known && retrace.best <= smallCall && retrace.best > eager.best)
    return say(Next::Eager, [&] {
      return "re-trace was measured slower: " + microseconds(retrace.best) + " against " + microseconds(eager.best);
    });
  return say(Next::Retrace, [] { return "Python runs, its ops are matched and launched together"; });
}

void Function::measured(bool retrace, uint32_t sizeClass, int64_t nanoseconds) {
  std::lock_guard<std::mutex> lock(mutex);
  Timing &t = timing[sizeClass][retrace];
  t.count++;
  t.best = std::min(t.best, nanoseconds);
}

std::string Function::tier(std::string *why) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Plan &p : plans)
    if (replayable && p.plan.graph->state() == CompileState::Ready) {
      if (why)
        *why = "Python is skipped where no gradient is recorded: the results depend on the tensor arguments alone";
      return "replay";
    }
  switch (next(why, lastSize)) {
  case Next::Record: return "recording";
  case Next::Retrace: return "re-trace";
  default: return "eager";
  }
}

void Function::compile(const std::shared_ptr<Recording> &r) {
  if (settings.interpret)
    return;
  CompileService::global().compile(r, &mutex);
  if (r->state() == CompileState::Failed)
    note(RecordKind::CompileFailed, r->steps.empty() ? settings.site : r->siteOf(0), r->failure());
}

/// Puts the segment, with numbers as inputs, in the place of one that differs from it in numbers alone (at the end of the
/// list). The lock is held.
bool Function::generalise(Segments &list, std::unique_ptr<Recording> &segment) {
  if (!segment->refused.empty())
    return false;
  auto earlier = std::find_if(list.begin(), list.end(),
                              [&](auto &r) { return r->refused.empty() && r->skeleton == segment->skeleton; });
  if (earlier == list.end() || !segment->generalise(**earlier))
    return false;
  std::vector<uint32_t> outputs;
  for (uint32_t s = 0; s < (*earlier)->wanted.size(); s++)
    if ((*earlier)->wanted[s])
      outputs.push_back(s);
  segment->want(outputs);
  segment->next = (*earlier)->next;
  note(RecordKind::Specialise, segment->siteOf(0),
       "a number changes from call to call: it is an input of the code now");
  list.erase(earlier);
  list.push_back(std::move(segment));
  return true;
}

std::string Function::broken() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!settings.oneGraph || !whyBroken.empty())
    return whyBroken;
  for (const auto &r : roots)
    if (r->state() == CompileState::Failed)
      return r->failure();
  return {};
}

/// Enters the segments of one call into the tree.
std::shared_ptr<Recording> Function::add(std::vector<std::unique_ptr<Recording>> path, bool byShape) {
  std::vector<std::shared_ptr<Recording>> work;
  std::shared_ptr<Recording> only;
  bool single = path.size() == 1;
  {
    std::lock_guard<std::mutex> lock(mutex);
    numbers.recorded++;
    unexpected = false;
    raises = 0;
    if (settings.oneGraph && whyBroken.empty())
      whyBroken = breakOf(path);
    size_t count = 0;
    each(roots, [&](Recording &) { count++; });
    Segments *list = &roots;
    bool news = false;
    for (auto &segment : path) {
      auto same = [&](auto &r) { return r->refused == segment->refused && r->identity == segment->identity; };
      auto known = std::find_if(list->begin(), list->end(), same);
      std::shared_ptr<Recording> made;
      if (known == list->end() && (made = covering(*list, *segment)))
        known = std::find(list->begin(), list->end(), made);
      else if (known == list->end() && (made = joinSizes(*list, *segment))) {
        work.push_back(only = made);
        list = &made->next;
        news = true;
        continue;
      }
      if (known == list->end() && generalise(*list, segment)) {
        work.push_back(only = list->back());
        list = &list->back()->next;
        news = true;
        continue;
      }
      if (known == list->end()) // with its numbers as inputs it may be one that is there
        known = std::find_if(list->begin(), list->end(), same);
      if (known == list->end()) {
        if (count++ >= size_t(settings.maxRecordings)) {
          stopped = "it has " + std::to_string(settings.maxRecordings) + " recordings, which is the limit";
          break;
        }
        list->push_back(std::move(segment));
        work.push_back(list->back());
        only = list->back();
        list = &list->back()->next;
        news = true;
        continue;
      }
      std::vector<uint32_t> outputs;
      for (uint32_t s = 0; s < segment->wanted.size(); s++)
        if (segment->wanted[s])
          outputs.push_back(s);
      bool more = segment->refused.empty() && (*known)->want(outputs);
      bool forked = (*known)->state() == CompileState::Pending && (*known)->generation != CompileService::generation();
      if (more || forked) {
        work.push_back(*known);
        news = true;
      }
      only = *known;
      list = &(*known)->next;
    }
    idle = news ? 0 : idle + !byShape;
    if (idle >= maxIdle && stopped.empty())
      stopped = "recording again told nothing new";
    if (!stopped.empty())
      records.add(RecordKind::Fallback, settings.site, "nothing more is recorded: " + stopped);
  }
  for (const auto &r : work)
    compile(r);
  return single ? only : nullptr;
}

/// A recorded call ended by an exception: what it recorded has no end and isn't kept. The more often in a row, the longer
/// until the next attempt.
void Function::raised() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    numbers.recorded++;
    rest = raises < 10 ? (1 << raises) - 1 : maxRest;
    raises++;
  }
  note(RecordKind::Fallback, settings.site, "the function raised an exception while it was recorded: nothing is kept");
}

void Function::allowReplay(bool allowed, std::string why) {
  std::lock_guard<std::mutex> lock(mutex);
  replayable = allowed && settings.compile && !settings.interpret;
  whyNoReplay = std::move(why);
}

bool Function::replay(TensorImpl *const *arguments, uint32_t count, std::vector<TensorImpl *> &results, bool &tuple) {
  // Nothing that the tape, a tracer or a mode would see.
  if (!replayable || threadState.run || (threadState.modes.flags & ~uint32_t(FlagNoGrad)))
    return false;
  if (!(threadState.modes.flags & FlagNoGrad))
    for (uint32_t i = 0; i < count; i++)
      if (arguments[i]->flags & (FlagRequiresGrad | FlagView)) // a view's base may require gradients by now
        return false;
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < plans.size(); i++) {
    Plan &p = plans[i];
    if (p.plan.numArguments != count)
      continue;
    std::shared_ptr<Recording> graph = p.plan.graph;
    if (graph->dynamic() && !(graph = instanceFor(p.plan, arguments)))
      continue;
    results.resize(p.plan.results.size());
    if (!jit::replay(p.plan, *graph, arguments, results.data()))
      continue;
    tuple = p.tuple;
    numbers.calls++;
    numbers.replayed++;
    if (i)
      std::swap(plans[0], plans[i]);
    return true;
  }
  return false;
}

Function::Segments Function::after(const Recording &r) {
  std::lock_guard<std::mutex> lock(mutex);
  return r.next;
}

void Function::noteLeave(const Site &site, const char *reason, std::string expected, std::string came) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    numbers.left++;
    each(roots, [&](Recording &r) {
      waiting |= r.state() == CompileState::Pending && r.generation == CompileService::generation();
    });
    if (!waiting) {
      strayed++;
      if (!unexpected)
        skip = idle;
      unexpected = true;
      missed = lastShapes;
    }
  }
  note(RecordKind::Miss, site.line ? site : settings.site, reason, expected, came);
}

void Function::noteWait(double seconds) {
  char text[96];
  std::snprintf(text, sizeof text, "waited %g s for the compiler; stays eager until the code comes", seconds);
  note(RecordKind::Fallback, settings.site, text);
}

void Function::noteOpaque(const Site &site, const std::string &op) {
  note(RecordKind::Fallback, site.line ? site : settings.site,
       "the custom op " + op + " is opaque: the graph ends before it, it runs by itself, and another graph follows");
}

void Function::prefer(const std::shared_ptr<Recording> &r) {
  std::lock_guard<std::mutex> lock(mutex);
  if (roots.size() < 2 || roots[0] == r)
    return;
  auto it = std::find(roots.begin(), roots.end(), r);
  if (it != roots.end())
    std::rotate(roots.begin(), it, it + 1);
}

void Function::wantMore(const std::shared_ptr<Recording> &r, const std::vector<uint32_t> &storages) {
  note(RecordKind::Specialise, r->siteOf(0),
       "more values are kept than when it was recorded; compiled again with them");
  {
    std::lock_guard<std::mutex> lock(mutex);
    r->want(storages);
    r->recompiles++;
  }
  compile(r);
}

//===-- report --------------------------------------------------------------------------------------------------===//

Function::Counts Function::counts() {
  std::lock_guard<std::mutex> lock(mutex);
  Counts c = numbers;
  each(roots, [&](Recording &r) {
    c.recordings++;
    c.dynamic += r.dynamic();
    c.ready += r.state() == CompileState::Ready;
    c.failed += r.state() == CompileState::Failed;
    c.pending += r.state() == CompileState::Pending;
    c.launches += r.launches;
    c.interpreted += r.interpreted;
  });
  return c;
}

static std::string stateText(const Recording &r) {
  if (!r.refused.empty())
    return "not compiled: " + r.refused;
  switch (r.state()) {
  case CompileState::Pending: return "compiling";
  case CompileState::Failed: return "not compiled: " + r.failure();
  case CompileState::Ready: {
    std::shared_ptr<const Compiled> c = r.compiled();
    return "compiled (" + r.origin() + "), " + std::to_string(c ? c->codeBytes() : 0) + " bytes of code";
  }
  default: return "interpreted";
  }
}

static void describe(const Run::Segments &list, int depth, std::string &out) {
  for (const auto &r : list) {
    std::string indent(size_t(2 + 2 * depth), ' ');
    out += indent + (r->dynamic() ? "dynamic (" + r->describeSymbols() + "): " : "") + std::to_string(r->steps.size()) +
           " ops, " + std::to_string(r->inputs.size()) + " inputs, " +
           std::to_string(std::count(r->wanted.begin(), r->wanted.end(), true)) + " results";
    if (Site s = r->siteOf(0); s.line)
      out += ", from " + s.file + ":" + std::to_string(s.line);
    out += ": " + stateText(*r) + "; launched " + std::to_string(r->launches) + " times, interpreted " +
           std::to_string(r->interpreted) + (r->boundary.empty() ? "" : "; then the custom op " + r->boundary) + "\n";
    describe(r->next, depth + 1, out);
  }
}

std::string Function::report() {
  std::string why, name = tier(&why);
  Counts c = counts();
  std::lock_guard<std::mutex> lock(mutex);
  std::string out = settings.name + ": tier " + name + " (" + why + ")\n";
  out +=
      "  replay: " +
      (replayable ? std::string(plans.empty() ? "possible, nothing recorded yet" : "yes, where no gradient is recorded")
                  : "no: " + whyNoReplay) +
      "\n";
  out += "calls: " + std::to_string(c.calls) + " in all, " + std::to_string(c.recorded) + " recorded, " +
         std::to_string(c.retraced) + " re-traced, " + std::to_string(c.left) + " of those left the recorded path, " +
         std::to_string(c.replayed) + " replayed\n";
  out += "recordings: " + std::to_string(c.recordings) + "\n";
  describe(roots, 0, out);
  if (std::string text = records.text(); !text.empty())
    out += "records:\n" + text;
  return out;
}

//===-- one call ------------------------------------------------------------------------------------------------===//

Call::Call(Function &f, int64_t elements, uint64_t shapes)
    : function(f),
      sizeClass(std::min<uint32_t>(uint32_t(std::bit_width(uint64_t(elements))), Function::sizeClasses - 1)) {
  // Modes that change what ops mean aren't recorded yet.
  constexpr uint32_t strange = FlagInference | FlagSavedHooks;
  Function::Next next;
  Function::Segments segments;
  {
    std::lock_guard<std::mutex> lock(f.mutex);
    f.numbers.calls++;
    if (threadState.run)
      return;
    if (threadState.modes.flags & strange) {
      f.records.add(RecordKind::Fallback, f.settings.site,
                    "called under inference mode or with hooks for saved tensors: stays eager");
      return;
    }
    next = f.next(nullptr, f.lastSize = sizeClass, f.lastShapes = shapes);
    if (next == Function::Next::Record && shapes) {
      byShape = !f.roots.empty() && !f.unexpected;
      f.shapes.push_back(shapes);
    }
    if (next == Function::Next::Retrace) {
      f.numbers.retraced++;
      segments = f.roots;
    }
    bool retraced = next == Function::Next::Retrace;
    if (f.settings.measure && next != Function::Next::Record && f.timing[sizeClass][retraced].count < measuredCalls)
      began = now();
  }
  eager = next == Function::Next::Eager;
  if (eager)
    return;
  if (next == Function::Next::Record)
    recording = std::make_unique<Tracer>([this](std::unique_ptr<Recording> r) { path.push_back(std::move(r)); });
  else
    retrace = std::make_unique<Run>(f, std::move(segments));
  open = true; // nothing throws from here on, so that the destructor runs
  threadState.run = this;
  changeFlags(recording ? FlagRecording : FlagRetracing, 0);
}

void Call::opaque(const std::string &op) {
  if (recording) {
    function.noteOpaque(sourceCallback ? sourceCallback() : Site(), op);
    recording->opaque(op);
  } else if (retrace)
    retrace->observe();
}

void Call::close() {
  if (!open)
    return;
  open = false;
  changeFlags(0, FlagRecording | FlagRetracing);
  threadState.run = nullptr;
}

void Call::finish() {
  if (eager && began)
    function.measured(false, sizeClass, now() - began);
  if (!open)
    return;
  changeFlags(0, FlagRecording | FlagRetracing);
  if (recording) {
    kept = true;
    recording->finish();
    close();
    only = function.add(std::move(path), byShape);
    return;
  }
  struct Close {
    Call &c;
    ~Close() { c.close(); }
  } closing{*this};
  bool whole = !retrace->left();
  retrace->finish();
  if (began && whole)
    function.measured(true, sizeClass, now() - began);
}

/// Nothing for replay under autocast: there the same code means other ops.
bool Call::wantsResults() const {
  return !(threadState.modes.flags & FlagAutocast) && (only || (retrace && retrace->whole()));
}

void Call::returned(const std::vector<TensorImpl *> &arguments, const std::vector<TensorImpl *> &results, bool tuple) {
  if (retrace && retrace->whole())
    return function.confirm(*retrace, arguments, results, tuple);
  if (!only || results.empty())
    return;
  ReplayPlan plan;
  if (!planReplay(only, recording->lastInputs(), recording->lastTag(), arguments, results, plan))
    return;
  std::lock_guard<std::mutex> lock(function.mutex);
  bool known = std::any_of(function.plans.begin(), function.plans.end(),
                           [&](const Function::Plan &p) { return p.plan.graph == plan.graph; });
  if (function.replayable && !known && function.plans.size() < size_t(function.settings.maxRecordings))
    function.plans.push_back({std::move(plan), tuple});
}

Call::~Call() {
  if (!open)
    return;
  changeFlags(0, FlagRecording | FlagRetracing);
  try {
    if (retrace) // where an exception ends a call is no path that the next one should be recorded for
      retrace->leave(nullptr);
    else if (!kept)
      function.raised();
  } catch (...) { // the program's own exception goes on
  }
  close();
}

} // namespace torchc::jit
