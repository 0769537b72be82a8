// One recorded segment of a function: its trace for the compiler, and the same steps in the form that matching and
// interpreting walk. An observation ends a segment; what followed it hangs below as further segments.
#pragma once
#include "dialects/rules/Symbols.h"
#include "dialects/trace/Sha256.h"
#include "dialects/trace/Trace.h"
#include "frontends/eager/JitHooks.h"
#include "frontends/jit/Records.h"
#include "runtime/core/ForkMutex.h"
#include <atomic>
#include <memory>
#include <span>

namespace torchc::jit {

class Compiled;
struct Control;

/// A tensor as the trace sees it. Values with equal layout over one storage share a canonical number; tensors carry that.
struct Value {
  uint32_t storage;
  uint32_t canonical;
  uint32_t input = traceNone; // number of the input that it is
  uint32_t firstDim; // in Recording::dims: sizes, then strides
  int64_t offset; // bytes from the storage's base
  int64_t numel;
  DType dtype;
  uint8_t rank;
  bool contiguous;
};

struct StorageInfo {
  int64_t nbytes;
  uint32_t firstValue;
  uint32_t memory; // number of the first storage with the same memory (inputs may alias)
  bool isInput, written = false;
};

/// One executed op.
struct Step {
  OpId op;
  Out::Kind out;
  bool isView; // the result lies in operand 0's storage
  uint16_t numOperands, numAttrs;
  uint32_t firstIn; // in Recording::ins: canonical values, traceNone for a number
  uint32_t firstAttr; // in Recording::attrs: the op's own, then the numbers in operand order (Hole: of an input)
  uint32_t result; // canonical value; of an in-place op the target's
  uint32_t control = traceNone; // in Recording::controls: a cond or while_loop, whose `op` is none
  uint16_t numResults = 1; // of a control step: values in a row from `result`, each in memory of its own
  uint32_t random = traceNone; // ordinals after the generator input's, traceNone: not random
  uint32_t output = traceNone; // the value that the trace's node defines
};

struct RecordedInput {
  uint32_t value;
  bool generator = false; // two words, seed and ordinal, instead of a tensor
  bool number = false; // a Python number that changes from call to call (J5): 8 bytes
};

/// A tensor's metadata ready to copy. Not for more than inlineDims dimensions.
struct Template {
  bool usable = false;
  char bytes[metadataBytes];
};

enum class CompileState : uint8_t { None, Pending, Ready, Failed };

/// Where a symbol's size is read: dimension `dim` of input `input`.
struct SymbolPlace {
  uint32_t input, dim;
};

/// A recording with sizes that are known at run time ("dynamic") is written down at its symbols' point and compiled like
/// that; it doesn't match anything itself. For sizes that come it has an instance: the same program with these sizes,
/// found by the rules of its ops, which matching and interpreting walk as any recording.
class Recording {
public:
  Trace trace;
  std::vector<Value> values;
  std::vector<int64_t> dims;
  std::vector<StorageInfo> storages;
  std::vector<Step> steps;
  std::vector<uint32_t> ins;
  std::vector<Attr> attrs; // borrow from the trace's pools
  std::vector<RecordedInput> inputs;
  std::vector<std::shared_ptr<const Control>> controls;
  std::vector<Template> templates; // by value
  std::vector<bool> wanted; // storages that somebody outside may read afterwards
  DType defaultType = DType::F32; // torch.get_default_dtype(), which decides results of integer operands
  std::string refused; // why it can't be compiled; empty: it can
  std::string boundary; // the custom op that runs behind it; empty: none does
  Sha256Digest identity = {}; // of the program without source positions
  Sha256Digest skeleton = {}; // the same whatever numbers there are that may become inputs
  std::vector<std::shared_ptr<Recording>> next; // what came after the observation at the end

  Symbols symbols; // dynamic: its point
  std::vector<SymbolPlace> places; // by symbol
  std::vector<std::shared_ptr<Recording>> replaces; // what it makes superfluous when it is compiled
  std::shared_ptr<Recording> family; // of an instance: the dynamic recording
  std::vector<int64_t> sizes; // of an instance: by symbol. Of a dynamic one: those that came last
  std::vector<int64_t> ints; // lists of an instance's attributes
  std::atomic<bool> confirmed{false}; // of an instance: the program ran along it from begin to end

  bool dynamic() const { return !symbols.empty(); }
  /// The recording that is compiled and counted.
  Recording &root() { return family ? *family : *this; }
  const Recording &root() const { return family ? *family : *this; }
  /// A dynamic recording of what two recordings have in common that differ in sizes. Null with the reason in `why`; an
  /// empty one: they differ in more, or not in sizes.
  static std::shared_ptr<Recording> joinSizes(const Recording &a, const Recording &b, std::string &why);
  /// The instance of `dynamic` for these sizes; null: the program means nothing there, or another one.
  static std::shared_ptr<Recording> instance(const std::shared_ptr<Recording> &dynamic, std::span<const int64_t> sizes,
                                             std::string *why = nullptr);
  /// Is `other` this program, with the same sizes?
  bool sameProgram(const Recording &other) const;
  /// "s0 = dimension 0 of input 1".
  std::string describeSymbols() const;

  const int64_t *sizesOf(const Value &v) const { return dims.data() + v.firstDim; }
  const int64_t *stridesOf(const Value &v) const { return dims.data() + v.firstDim + v.rank; }
  Site siteOf(uint32_t step) const;
  /// A tensor with the value's metadata and no storage; owned.
  TensorImpl *shell(uint32_t value) const {
    const Template &t = templates[value];
    if (TORCHC_UNLIKELY(!t.usable))
      return slowShell(value);
    TensorImpl *out = allocTensor();
    std::memcpy(reinterpret_cast<char *>(out) + metadataOffset, t.bytes, metadataBytes);
    return out;
  }
  void makeTemplates();
  /// Sets identity and skeleton; the trace has no outputs yet.
  void identify();
  /// Are the first `count` steps of both the same program but for numbers?
  bool samePrefix(const Recording &other, uint32_t count) const;
  /// How many numbers a step has besides its own attributes.
  uint32_t numbersOf(const Step &s) const;
  /// The k-th of them.
  Attr &numberOf(const Step &s, uint32_t k) { return attrs[s.firstAttr + s.numAttrs + k]; }
  const Attr &numberOf(const Step &s, uint32_t k) const { return attrs[s.firstAttr + s.numAttrs + k]; }
  /// Makes inputs of the numbers in which an earlier recording with the same skeleton differs, and of those that are
  /// inputs there. Numbers that were equal in both share one. False: both are the same already.
  bool generalise(const Recording &earlier);
  /// Adds storages to what the compiled code gives back; false if all were there.
  bool want(const std::vector<uint32_t> &more);

  // Compilation; set from the helper's thread.
  CompileState state() const { return root().stateNow.load(std::memory_order_acquire); }
  std::shared_ptr<const Compiled> compiled() const;
  /// `request`: startCompile()'s number. An answer older than one that came already changes nothing.
  void finishCompile(uint64_t request, std::shared_ptr<const Compiled> result, std::string why, std::string how);
  uint64_t startCompile();
  std::string failure() const;
  std::string origin() const;
  uint64_t generation = 0; // of the process (forks) when its compile was asked for

  // Counts for the report.
  std::atomic<uint64_t> launches{0}, interpreted{0}, recompiles{0};

private:
  TensorImpl *slowShell(uint32_t value) const;
  std::atomic<CompileState> stateNow{CompileState::None};
  ForkMutex mutex{LockOrder::Recording};
  uint64_t requested = 0, answered = 0; // numbers of compiles
  std::shared_ptr<const Compiled> result;
  std::string why, how;
};

/// Layout of a tensor compared with a recorded value's; not the storage.
bool sameLayout(const Recording &r, const Value &v, const TensorImpl *t);

/// What keeps the segments of one call from being one compiled graph; empty: nothing.
std::string breakOf(const std::vector<std::unique_ptr<Recording>> &path);

/// Bytes that a tensor's elements span.
int64_t spanOf(const TensorImpl *t);
/// An op that reads so many bytes of memory which another library may write can be deferred: what it reads is copied.
inline constexpr int64_t maxForeignBytes = 64 << 20;
bool mayCopyForeign(OpId op, int64_t bytes);

/// "mul float32[3] float32[3] 0.5": an op with its tensors and numbers, as records show it.
std::string describe(const OpCall &call);
std::string describe(const Recording &r, uint32_t step);

} // namespace torchc::jit
