// The schedule of one compiled graph: buffers, and kernel calls in order.
#pragma once
#include "dialects/rules/DType.h"
#include "dialects/rules/Diag.h"
#include "dialects/rules/Dims.h"
#include "dialects/rules/Symbols.h"
#include <string>
#include <vector>

namespace torchc::schedule {

/// Memory of one value. Arguments and results are the caller's; everything else lies in the arena.
struct Buffer {
  enum Place : uint8_t { Argument, Result, Arena };
  DType dtype;
  int64_t elements;
  Place place = Arena;
  unsigned index = 0;            // Argument, Result: its number
  int64_t offset = 0;            // Arena: bytes
  int first = -1, last = -1;     // steps between which the content lives

  int64_t bytes() const { return elements * itemSize(dtype); }
};

struct Pointer {
  unsigned buffer;
  int64_t offset = 0; // elements
};

/// What a step with plans of its own does with them: first if the predicate holds, else second; or first tells whether to
/// run second, again and again.
enum class Control : uint8_t { None, Cond, Loop };

/// One call with the ABI of E5. The status word follows `pointers`.
struct Step {
  std::string callee;
  bool external = false; // a symbol that the loader or linker resolves
  std::vector<Pointer> writes, reads; // in this order in ptrs
  std::vector<int64_t> sizes;
  std::vector<uint64_t> scalars;
  int scalarBuffer = -1; // or: the scalars are read from this buffer
  int64_t begin = 0, end = 0;
  int64_t elements = -1; // of what it writes, if it can't run for none
  bool mayTrap = false;
  /// A control step calls the entries `callee` + "_0" and "_1" of Plan::nested[nested], [nested + 1]. Cond: writes are
  /// results, reads the predicate and the arguments. Loop: writes are the first plan's predicate and the carried tensors,
  /// reads further arguments; the second plan writes the carried ones back.
  Control control = Control::None;
  unsigned nested = 0;
  int scratch = -1; // buffer that is the arena of either
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  unsigned numArguments = 0, numResults = 0; // results that get memory of their own
  int64_t arenaBytes = 0;
  std::vector<Plan> nested;
  /// Sizes known at run time. All integers above are then their values at the symbols' point, and the arena has no fixed
  /// places: each slot is as large as its largest buffer, and they follow each other. Not with nested plans.
  Symbols symbols;
  std::vector<std::vector<unsigned>> slots;

  /// f(step) for all steps, nested plans' included.
  template <class F> void eachStep(F f) const {
    for (const Step &s : steps)
      f(s);
    for (const Plan &p : nested)
      p.eachStep(f);
  }

  /// "step 3: k4 writes b7[arena+512] reads b1[arg 0] ..." per line, for dumps and tests.
  std::string str() const;
};

/// Gives every arena buffer an offset (multiples of 64): first fit over the intervals, largest first. With symbols: a slot.
void placeBuffers(Plan &plan);

} // namespace torchc::schedule
