// A recorded program in memory: what the tracer writes, the compiler imports and `.tctrace` files
// carry (rule J1).
//
// A value is a *description of a tensor*: element type, sizes, and where it lies in a storage.
// Every value has one definition (an input, or one output of one node). A node reads the memory its
// inputs describe at the moment it runs, so views and in-place writes stay visible: an in-place
// node returns a new value over the same storage and has a `Write` effect naming that storage. Only
// compiler/import turns this into value semantics.
#pragma once
#include "dialects/rules/Attr.h"
#include "dialects/rules/DType.h"
#include "dialects/rules/Diag.h"
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchc {

/// "no value", "no storage", "no source": an optional reference that is absent.
inline constexpr uint32_t traceNone = 0xffffffffu;
/// The OpId of a name that is not (yet) resolved.
inline constexpr uint32_t unresolvedOp = 0xffffffffu;
/// Nodes with subgraphs, whose ids lie between those of the op table and custom ops (J2). Attributes: two Graphs; for each
/// an IntList that gives, by input of the subgraph, the input of the node it is; for each an IntList of what is added to
/// the state's ordinal for that input; how many ordinals the second graph takes.
///   cond: inputs [state,] predicate, tensors; the first graph where the predicate is true, else the second.
///   while_loop: inputs [state,] carried tensors, more tensors; while the first graph gives true, the second gives the
///   carried tensors anew. `outputs`: the carried ones, then with a state that.
/// `state` is a generator's seed and ordinal, where a graph draws random numbers (a Random effect says so).
inline constexpr uint32_t condOp = 0xff00, whileOp = 0xff01;
inline constexpr std::string_view condName = "cond", whileName = "while_loop";
/// Largest rank a trace may carry.
inline constexpr unsigned traceMaxRank = 64;

/// A size, stride or offset: a constant >= 0, or a symbol.
struct TraceDim {
  int64_t raw = 0; // >= 0 the constant, < 0 the symbol ~raw

  constexpr TraceDim() = default;
  constexpr TraceDim(int64_t constant) : raw(constant) {}
  static constexpr TraceDim symbol(uint32_t index) { return TraceDim(~int64_t(index)); }
  constexpr bool isSymbol() const { return raw < 0; }
  constexpr uint32_t symbolIndex() const { return uint32_t(~raw); }
  friend constexpr bool operator==(TraceDim, TraceDim) = default;
};

/// An op used by the trace: `name` is a string index ("add.Tensor"), `id` the OpId of this build
/// (J2).
struct TraceOp {
  uint32_t name = 0;
  uint32_t id = unresolvedOp;
};

/// Where a node came from in the user's program. Not part of the cache key.
struct TraceSource {
  std::string file, function;
  uint32_t line = 0;
};

/// A size unknown until run time: the value that it has in the trace (rules/Symbols.h), and its range.
struct TraceSymbol {
  uint32_t name = 0; // string index
  int64_t hint = 0, min = 0, max = std::numeric_limits<int64_t>::max();
};

struct TraceStorage {
  static constexpr uint8_t External = 1; // memory that somebody outside sees (NumPy, DLPack, shared memory; J3)
  static constexpr uint8_t knownFlags = External;
  static constexpr uint8_t noDType = 0xff;

  int64_t nbytes = -1; // -1: depends on symbols
  uint8_t dtype = noDType; // DType, or noDType
  uint8_t flags = 0;
  uint16_t device = 0; // device type << 8 | index
  uint32_t tag = 0; // equal non-zero tags: the same memory (aliasing between inputs)
};

struct TraceValue {
  static constexpr uint16_t RequiresGrad = 1;
  static constexpr uint16_t Contiguous = 2; // row-major; no strides are kept
  static constexpr uint16_t knownFlags = RequiresGrad | Contiguous;

  DType dtype = DType::F32;
  uint8_t rank = 0;
  uint16_t flags = 0;
  uint32_t storage = traceNone; // none: a number (hole) or a value without memory
  uint32_t firstDim = 0; // rank sizes, then rank strides unless Contiguous, in Trace::dims
  TraceDim offset; // in elements
};

/// An attribute whose list or string lies in the trace's pools.
struct TraceAttr {
  AttrTag tag = AttrTag::None;
  uint32_t size = 0; // elements of a list
  int64_t bits = 0; // number (floats by their bits), string index, first element in Trace::ints,
  // input index (Hole) or subgraph index (Graph)
};

/// One executed op; ranges lie in Trace::refs (inputs then outputs) and Trace::attrs.
struct TraceNode {
  uint32_t op = 0;
  uint32_t source = traceNone;
  uint32_t firstRef = 0, firstAttr = 0;
  uint16_t numInputs = 0, numOutputs = 0, numAttrs = 0;
};

enum class EffectKind : uint32_t {
  Write = 0, // target = storage that the node writes
  Random = 1, // payload = how many random ops ran before it in this trace (N9)
  SetSeed = 2, // payload = seed; the ordinal restarts at 0
  Barrier = 3, // nothing moves across
  NumKinds
};

struct TraceEffect {
  uint32_t node = 0;
  EffectKind kind = EffectKind::Write;
  uint32_t target = traceNone;
  int64_t payload = 0;
};

enum class ObserveKind : uint32_t { Item = 0, Bool = 1, Shape = 2, Print = 3, Export = 4, NumKinds };

/// The program looked at a value after the first `position` nodes had run and saw `seen` (None when
/// it is no number).
struct TraceObservation {
  uint32_t position = 0;
  uint32_t value = 0;
  ObserveKind kind = ObserveKind::Item;
  TraceAttr seen;
};

enum class InputKind : uint32_t {
  Argument = 0,
  Captured = 1,
  Parameter = 2,
  Buffer = 3,
  Number = 4, // a hole (J5): a 0-d I64 or F64 value without storage
  NumKinds
};

struct TraceInput {
  uint32_t value = 0;
  InputKind kind = InputKind::Argument;
  uint32_t name = traceNone; // string index
};

enum class OutputKind : uint32_t {
  Result = 0, // returned by the function
  Grad = 1, // becomes (or replaces) .grad of input `index`
  Saved = 2, // kept for a backward graph, slot `index`
  NumKinds
};

struct TraceOutput {
  uint32_t value = 0;
  OutputKind kind = OutputKind::Result;
  uint32_t index = 0;
};

/// A trace and the pools its records point into. Records may be read directly; use the functions
/// below to add some.
class Trace {
public:
  std::vector<std::string> strings;
  std::vector<TraceOp> ops;
  std::vector<TraceSource> sources;
  std::vector<TraceSymbol> symbols;
  std::vector<TraceStorage> storages;
  std::vector<TraceValue> values;
  std::vector<TraceNode> nodes;
  std::vector<TraceEffect> effects;
  std::vector<TraceObservation> observations;
  std::vector<TraceInput> inputs;
  std::vector<TraceOutput> outputs;
  std::vector<Trace> subgraphs; // closed: everything they need comes in by their inputs

  std::vector<TraceDim> dims; // pool of TraceValue
  std::vector<uint32_t> refs; // pool of TraceNode: value indices or traceNone
  std::vector<TraceAttr> attrs; // pool of TraceNode
  std::vector<int64_t> ints; // pool of TraceAttr lists

  // Adding. Each returns the new record's index; strings, ops and sources are shared when equal.
  uint32_t addString(std::string_view text);
  uint32_t addOp(std::string_view qualifiedName, uint32_t id = unresolvedOp);
  uint32_t addSource(std::string_view file, uint32_t line, std::string_view function);
  uint32_t addSymbol(std::string_view name, int64_t hint, int64_t min = 0,
                     int64_t max = std::numeric_limits<int64_t>::max());
  uint32_t addStorage(int64_t nbytes, DType dtype, uint16_t device = 0, uint8_t flags = 0, uint32_t tag = 0);
  /// A value over part of a storage. Empty `strides` means row-major; else one per dimension.
  uint32_t addValue(DType dtype, std::span<const TraceDim> sizes, uint32_t storage, TraceDim offset = 0,
                    std::span<const TraceDim> strides = {}, bool requiresGrad = false);
  /// A row-major value that fills a new storage of its own.
  uint32_t addTensor(DType dtype, std::span<const TraceDim> sizes, bool requiresGrad = false);
  /// `attributes` are copied. At most 65,535 inputs, outputs and attributes each.
  uint32_t addNode(uint32_t op, std::span<const uint32_t> nodeInputs, std::span<const uint32_t> nodeOutputs,
                   std::span<const Attr> attributes = {}, uint32_t source = traceNone);
  uint32_t addEffect(uint32_t node, EffectKind kind, uint32_t target = traceNone, int64_t payload = 0);
  uint32_t addObservation(uint32_t position, uint32_t value, ObserveKind kind, Attr seen = {});
  uint32_t addInput(uint32_t value, InputKind kind, std::string_view name = {});
  /// A number that became an input (J5): adds a 0-d value and its input; refer to it by Attr tag
  /// Hole, i = the result.
  uint32_t addNumberInput(DType dtype, std::string_view name = {});
  uint32_t addOutput(uint32_t value, OutputKind kind = OutputKind::Result, uint32_t index = 0);
  uint32_t addSubgraph(Trace graph);

  // Reading.
  std::string_view opName(uint32_t op) const { return strings[ops[op].name]; }
  std::span<const uint32_t> inputsOf(const TraceNode &n) const { return {refs.data() + n.firstRef, n.numInputs}; }
  std::span<const uint32_t> outputsOf(const TraceNode &n) const {
    return {refs.data() + n.firstRef + n.numInputs, n.numOutputs};
  }
  std::span<const TraceAttr> attrsOf(const TraceNode &n) const { return {attrs.data() + n.firstAttr, n.numAttrs}; }
  std::span<const TraceDim> sizesOf(const TraceValue &v) const { return {dims.data() + v.firstDim, v.rank}; }
  /// Empty when the value is Contiguous.
  std::span<const TraceDim> stridesOf(const TraceValue &v) const {
    return v.flags & TraceValue::Contiguous ? std::span<const TraceDim>()
                                            : std::span<const TraceDim>(dims.data() + v.firstDim + v.rank, v.rank);
  }
  /// The attribute as eager calls see it; borrows from this trace. Hole and Graph keep their index
  /// in `i`.
  Attr attr(const TraceAttr &a) const;
  /// Copies an attribute into the pools.
  TraceAttr makeAttr(const Attr &a);

private:
  // Only adding needs these; a trace that was read builds them on the first addition.
  bool indexed = false;
  std::unordered_map<std::string, uint32_t> stringIndex, opIndex, sourceIndex;
  void buildIndex();
};

/// OpId of a qualified name, or `unresolvedOp`. Builtins and ops registered at run time answer
/// through one function.
using LookupOp = uint32_t (*)(std::string_view qualifiedName);

/// "add" of "add.Tensor".
inline std::string_view opBaseName(std::string_view qualified) { return qualified.substr(0, qualified.find('.')); }

/// Fills TraceOp::id everywhere; a name nobody knows is a NotImplemented error naming it.
bool resolveOps(Trace &trace, LookupOp lookup, Diag &diag);

/// Checks every index, range and definition-before-use; the records of a trace that passes can be walked without further
/// checks. What its ops make of their attributes and operands is not checked: that is compiler/import's.
bool verifyTrace(const Trace &trace, Diag &diag);

} // namespace torchc
