#include "compiler/import/Import.h"
#include "compiler/import/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <numeric>

using namespace mlir;

namespace torchc::compiler {
namespace {

class Importer {
public:
  Importer(const Trace &trace, MLIRContext *context, Diag &diag, bool keepStrides)
      : trace(trace), context(context), diag(diag), keepStrides(keepStrides), builder(context),
        memory(trace, builder, diag) {}
  /// Of a subgraph: everything in it stands where its node does.
  Importer(const Trace &trace, MLIRContext *context, Diag &diag, Location node)
      : Importer(trace, context, diag, false) {
    outer = node;
  }

  std::optional<Imported> run();

private:
  bool signature();
  bool node(uint32_t index);
  bool view(uint32_t index, OpId id, const Location &loc);
  bool effects();
  bool control(uint32_t index, bool loop);
  bool region(Block *block, int which, uint32_t index, ArrayRef<Value> given, Value stateAfter);
  bool body(Block *block, ArrayRef<Value> inputs, SmallVectorImpl<Value> &results);
  Value advanced(Value state, int64_t ordinals, const Location &loc);
  Value compute(uint32_t index, OpId id, const Location &loc);
  bool useHole(Operation *op, unsigned operand, uint32_t input);
  bool finish(Imported &out, func::FuncOp function);
  Value inMemoryOrder(Value v, uint32_t root);
  std::optional<RankedTensorType> typeOf(uint32_t value);
  Location location(uint32_t index);
  bool fail(uint32_t index, std::string text) {
    std::string where =
        "node " + std::to_string(index) + " (" + std::string(trace.opName(trace.nodes[index].op)) + "): ";
    return diag.fail(ErrorKind::NotImplemented, where + std::move(text));
  }

  const Trace &trace;
  MLIRContext *context;
  Diag &diag;
  bool keepStrides;
  OpBuilder builder;
  Memory memory;
  std::optional<Location> outer;
  SmallVector<Type> argumentTypes;
  std::vector<bool> writes;           // by node
  std::vector<int64_t> randomOffset;  // by node, -1: not random
  std::vector<bool> written;          // by storage
  std::map<std::pair<uint32_t, DType>, Value> holes; // numbers that are inputs, cast to a type
};

std::optional<RankedTensorType> Importer::typeOf(uint32_t value) {
  const TraceValue &v = trace.values[value];
  SmallVector<int64_t> dims;
  for (TraceDim d : trace.sizesOf(v)) {
    if (d.isSymbol()) {
      diag.fail(ErrorKind::NotImplemented, "value " + std::to_string(value) + " has a symbolic size");
      return std::nullopt;
    }
    dims.push_back(d.raw);
  }
  Type element = ir::elementType(context, v.dtype);
  if (!element) {
    diag.fail(ErrorKind::NotImplemented,
              "value " + std::to_string(value) + " has the element type " + std::string(torchName(v.dtype)));
    return std::nullopt;
  }
  return RankedTensorType::get(dims, element);
}

Location Importer::location(uint32_t index) {
  if (outer)
    return *outer;
  const TraceNode &n = trace.nodes[index];
  Location at = UnknownLoc::get(context);
  if (n.source != traceNone) {
    const TraceSource &s = trace.sources[n.source];
    at = FileLineColLoc::get(context, s.file, s.line, 0);
  }
  return NameLoc::get(StringAttr::get(context, "node " + std::to_string(index)), at);
}

bool Importer::signature() {
  for (const TraceInput &in : trace.inputs) {
    std::optional<RankedTensorType> t = typeOf(in.value);
    if (!t)
      return false;
    argumentTypes.push_back(*t);
  }
  return true;
}

bool Importer::effects() {
  writes.assign(trace.nodes.size(), false);
  randomOffset.assign(trace.nodes.size(), -1);
  written.assign(trace.storages.size(), false);
  for (const TraceEffect &e : trace.effects) {
    switch (e.kind) {
    case EffectKind::Write:
      writes[e.node] = true;
      written[e.target] = true;
      break;
    case EffectKind::Random: randomOffset[e.node] = e.payload; break;
    default: return fail(e.node, "reseeding and barriers inside a compiled graph are not supported");
    }
  }
  return true;
}

/// A generator's state with its ordinal advanced.
Value Importer::advanced(Value state, int64_t ordinals, const Location &loc) {
  if (!ordinals)
    return state;
  ir::ValueBuilder b(builder, loc);
  Value step = b.create(OpId::Arange, {},
                        {Attr::integer(2), Attr::integer(0), Attr::integer(ordinals), Attr::dtype(DType::I64)});
  return b.op(OpId::Add, {state, step});
}

/// Creates the op of one node from the current contents of its inputs.
Value Importer::compute(uint32_t index, OpId id, const Location &loc) {
  const TraceNode &n = trace.nodes[index];
  const OpInfo &info = opInfo(id);
  auto attrs = trace.attrsOf(n);
  SmallVector<Attr> own;
  for (int i = 0; i < info.numAttrs && i < int(attrs.size()); i++)
    own.push_back(trace.attr(attrs[i]));
  size_t nextNumber = info.numAttrs;
  std::vector<Value> values;
  values.reserve(n.numInputs);
  SmallVector<OpArg<Value>> operands;
  SmallVector<std::pair<unsigned, uint32_t>> numberInputs; // operand, input
  // Where the default dtype decides, it is the result's (the recorder refuses what computes in it and doesn't show it).
  DType made = trace.values[trace.outputsOf(n)[0]].dtype;
  ir::ValueBuilder b(builder, loc, isFloat(made) && !writes[index] ? made : DType::F32);
  for (uint32_t in : trace.inputsOf(n)) {
    if (in != traceNone) {
      values.push_back(memory.read(in, loc));
      if (!values.back())
        return Value();
      operands.push_back(values.back());
      continue;
    }
    if (nextNumber >= attrs.size())
      return fail(index, "a number operand has no attribute"), Value();
    Attr number = trace.attr(attrs[nextNumber++]);
    if (number.tag == AttrTag::Hole) { // a number of its kind stands for it while types are found
      auto input = uint32_t(number.i);
      bool integer = trace.values[trace.inputs[input].value].dtype == DType::I64;
      numberInputs.push_back({unsigned(operands.size()), input});
      number = integer ? Attr::integer(1) : Attr::number(1);
    }
    operands.push_back(number);
  }
  if (randomOffset[index] > 0 && !values.empty())
    values[0] = advanced(values[0], randomOffset[index], loc);
  Value v = b.create(id, operands, own);
  if (!v)
    return fail(index, b.diag.text), Value();
  for (auto [operand, input] : numberInputs)
    if (!useHole(v.getDefiningOp(), operand, input))
      return fail(index, "a number that is an input where a constant is needed"), Value();
  return v;
}

/// Puts an input in the place of the 0-d constant that a number became. As a constant, it is rounded once to the type in
/// which it takes part, an integer through float64 (N2).
bool Importer::useHole(Operation *op, unsigned operand, uint32_t input) {
  Operation *constant = op->getOperand(operand).getDefiningOp();
  if (!isa_and_nonnull<ir::FullOp>(constant))
    return false;
  auto type = cast<RankedTensorType>(constant->getResult(0).getType());
  Value &hole = holes[{input, *ir::dtypeOf(type.getElementType())}];
  if (!hole) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op->getBlock());
    ir::ValueBuilder b(builder, op->getLoc());
    DType to = *ir::dtypeOf(type.getElementType());
    Value v = memory.read(trace.inputs[input].value, op->getLoc());
    hole = b.cast(isFloat(to) ? b.cast(v, DType::F64) : v, to);
  }
  op->setOperand(operand, hole);
  constant->erase();
  return bool(hole);
}

/// A view that aliases its operand.
bool Importer::view(uint32_t index, OpId id, const Location &loc) {
  const TraceNode &n = trace.nodes[index];
  uint32_t out = trace.outputsOf(n)[0];
  if (!memory.addView(out, trace.inputsOf(n)[0], index, id))
    return false;
  Value v = memory.read(out, loc);
  std::optional<RankedTensorType> want = typeOf(out);
  return want && v && (v.getType() == *want || fail(index, "recorded a result that the op's rules don't give"));
}

bool Importer::node(uint32_t index) {
  const TraceNode &n = trace.nodes[index];
  uint32_t rawId = trace.ops[n.op].id;
  if (rawId == condOp || rawId == whileOp)
    return control(index, rawId == whileOp);
  if (rawId >= uint32_t(numOps) || n.numOutputs != 1 || trace.outputsOf(n)[0] == traceNone)
    return fail(index, "is not a builtin op with one result");
  OpId id = OpId(rawId);
  Location loc = location(index);
  uint32_t out = trace.outputsOf(n)[0];
  if ((opInfo(id).flags & OpIsView) && !writes[index] && n.numInputs && trace.inputsOf(n)[0] != traceNone &&
      trace.values[out].storage != traceNone && trace.values[trace.inputsOf(n)[0]].storage == trace.values[out].storage)
    // Created where it stands, though it may never be read: derivatives meet in the order of the program (N10).
    return view(index, id, loc);
  Value v = compute(index, id, loc);
  if (!v)
    return false;
  std::optional<RankedTensorType> want = typeOf(out);
  if (!want)
    return false;
  ir::ValueBuilder b(builder, loc);
  v = b.cast(v, trace.values[out].dtype);
  if (v && writes[index] && v.getType() != *want) { // an in-place result is broadcast into its target
    Dims dims = ir::dimsOf(*want);
    v = b.op(OpId::Expand, {v}, {rules::ints(dims)});
  }
  if (!v || v.getType() != *want)
    return fail(index, "recorded a result that the op's rules don't give: " + b.diag.text);
  if (id == OpId::Cast && n.numAttrs > opInfo(id).numAttrs && v.getDefiningOp()) // link::makeOutputsWhole
    v.getDefiningOp()->setAttr(ir::copyMark, builder.getUnitAttr());
  return writes[index] ? memory.write(out, v, loc) || fail(index, diag.text) : memory.define(out, v);
}

/// The dimensions of a storage's content in the order of its memory, slowest first.
Value Importer::inMemoryOrder(Value v, uint32_t root) {
  auto strides = trace.stridesOf(trace.values[root]);
  if (strides.empty())
    return v;
  SmallVector<int> want(strides.size()), have(strides.size());
  std::iota(want.begin(), want.end(), 0);
  std::iota(have.begin(), have.end(), 0);
  llvm::stable_sort(want, [&](int a, int b) { return strides[size_t(a)].raw > strides[size_t(b)].raw; });
  ir::ValueBuilder b(builder, builder.getUnknownLoc());
  for (int i = 0; i < int(want.size()); i++) {
    int j = int(llvm::find(have, want[size_t(i)]) - have.begin());
    if (j == i)
      continue;
    std::swap(have[size_t(i)], have[size_t(j)]);
    v = b.op(OpId::Transpose, {v}, {Attr::integer(i), Attr::integer(j)});
  }
  return v;
}

bool Importer::finish(Imported &out, func::FuncOp function) {
  std::vector<bool> wanted(trace.storages.size(), false);
  for (const TraceOutput &o : trace.outputs)
    if (trace.values[o.value].storage != traceNone)
      wanted[trace.values[o.value].storage] = true;
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (uint32_t s = 0; s < trace.storages.size(); s++) {
    int32_t input = memory.inputOf(s);
    if (!(input >= 0 ? written[s] : wanted[s]))
      continue;
    Value v = memory.content(s);
    if (!v)
      continue;
    if (keepStrides && input < 0)
      v = inMemoryOrder(v, memory.rootOf(s));
    out.results.push_back({s, input});
    results.push_back(v);
    types.push_back(v.getType());
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  function.setFunctionType(FunctionType::get(context, argumentTypes, types));
  return true;
}

/// The nodes of a subgraph, in a block; its results are what the outputs describe.
bool Importer::body(Block *block, ArrayRef<Value> inputs, SmallVectorImpl<Value> &results) {
  builder.setInsertionPointToEnd(block);
  if (!signature() || !effects())
    return false;
  for (auto [i, in] : llvm::enumerate(trace.inputs)) {
    if (inputs[i].getType() != argumentTypes[i])
      return diag.fail(ErrorKind::Value,
                       "input " + std::to_string(i) + " of a subgraph has another type than its node's");
    if (!memory.addInput(in.value, int32_t(i), inputs[i], written))
      return false;
  }
  for (uint32_t i = 0; i < trace.nodes.size(); i++)
    if (!node(i))
      return false;
  for (const TraceOutput &o : trace.outputs) {
    results.push_back(memory.read(o.value, *outer));
    if (!results.back())
      return false;
  }
  return true;
}

/// Fills the region of a subgraph, whose block has arguments for the node's inputs.
bool Importer::region(Block *block, int which, uint32_t index, ArrayRef<Value> given, Value stateAfter) {
  Location loc = location(index);
  auto attrs = trace.attrsOf(trace.nodes[index]);
  Attr map = trace.attr(attrs[size_t(2 + which)]), advance = trace.attr(attrs[size_t(4 + which)]);
  const Trace &sub = trace.subgraphs[size_t(attrs[size_t(which)].bits)];
  if (map.size != sub.inputs.size() || advance.size != map.size)
    return fail(index, "its subgraph has another number of inputs than its attributes say");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  SmallVector<Value> inputs, results;
  for (uint32_t i = 0; i < map.size; i++) {
    if (map.list[i] < 0 || size_t(map.list[i]) >= given.size() || !given[size_t(map.list[i])])
      return fail(index, "an attribute refers to input " + std::to_string(map.list[i]));
    inputs.push_back(advanced(given[size_t(map.list[i])], advance.list[i], loc));
  }
  Importer nested(sub, context, diag, loc);
  if (!nested.body(block, inputs, results)) {
    diag.text = "node " + std::to_string(index) + " (" + std::string(trace.opName(trace.nodes[index].op)) +
                "): in its subgraph " + std::to_string(which) + ": " + diag.text;
    return false;
  }
  if (stateAfter)
    results.push_back(advanced(stateAfter, trace.attr(attrs[6]).i, loc));
  builder.setInsertionPointToEnd(block);
  ir::YieldOp::create(builder, loc, results);
  return true;
}

/// A node with subgraphs as an op with regions. The generator's state, if there is one, is the node's first input; a loop
/// carries it behind its other carried tensors.
bool Importer::control(uint32_t index, bool loop) {
  const TraceNode &n = trace.nodes[index];
  Location loc = location(index);
  auto attrs = trace.attrsOf(n);
  auto outputs = trace.outputsOf(n);
  bool random = randomOffset[index] >= 0;
  constexpr AttrTag tags[] = {AttrTag::Graph,   AttrTag::Graph,   AttrTag::IntList, AttrTag::IntList,
                              AttrTag::IntList, AttrTag::IntList, AttrTag::Int};
  bool fits = attrs.size() == std::size(tags) && n.numInputs > (loop ? 0u : 1u) + random && !outputs.empty();
  for (size_t i = 0; fits && i < attrs.size(); i++)
    fits = attrs[i].tag == tags[i];
  SmallVector<Value> given; // by input of the node
  for (uint32_t in : trace.inputsOf(n))
    if (!(fits = fits && in != traceNone) || !(given.emplace_back(memory.read(in, loc))))
      return fail(index, fits ? diag.text : "expected tensors as inputs");
  if (!fits)
    return fail(index, "expected two subgraphs with their inputs");
  if (random)
    given[0] = advanced(given[0], randomOffset[index], loc);
  SmallVector<Type> types;
  for (uint32_t v : outputs)
    if (std::optional<RankedTensorType> t = typeOf(v))
      types.push_back(*t);
    else
      return false;
  SmallVector<Value> operands(given.begin() + random, given.end());
  size_t state = loop ? outputs.size() - 1 : operands.size(); // its place among the operands
  if (random)
    operands.insert(operands.begin() + ptrdiff_t(std::min(state, operands.size())), given[0]);
  OperationState op(loc, loop ? ir::WhileLoopOp::getOperationName() : ir::CondOp::getOperationName());
  op.addOperands(operands);
  op.addTypes(types);
  op.addRegion();
  op.addRegion();
  Operation *made = builder.create(op);
  for (int r = 0; r < 2; r++) {
    Block *block = builder.createBlock(&made->getRegion(unsigned(r)));
    SmallVector<Value> inside; // by input of the node
    for (size_t i = loop ? 0 : 1; i < operands.size(); i++)
      inside.push_back(block->addArgument(operands[i].getType(), loc));
    if (random) {
      size_t at = state - (loop ? 0 : 1);
      Value s = inside[at];
      inside.erase(inside.begin() + ptrdiff_t(at));
      inside.insert(inside.begin(), s);
    }
    if (!loop) // a branch doesn't read the predicate; its place keeps the numbers
      inside.insert(inside.begin() + random, Value());
    if (!region(block, r, index, inside, loop && random && r ? inside[0] : Value()))
      return false;
  }
  builder.setInsertionPointAfter(made);
  for (auto [i, v] : llvm::enumerate(outputs))
    if (!memory.define(v, made->getResult(unsigned(i))))
      return false;
  return true;
}

std::optional<Imported> Importer::run() {
  if (!signature() || !effects())
    return std::nullopt;
  Imported out;
  out.module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(out.module->getBody());
  auto function =
      func::FuncOp::create(builder, builder.getUnknownLoc(), "main", FunctionType::get(context, argumentTypes, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  for (auto [i, in] : llvm::enumerate(trace.inputs))
    if (!memory.addInput(in.value, int32_t(i), body->getArgument(unsigned(i)), written))
      return std::nullopt;
  for (uint32_t i = 0; i < trace.nodes.size(); i++)
    if (!node(i))
      return std::nullopt;
  if (!finish(out, function))
    return std::nullopt;
  return out;
}

} // namespace

std::optional<Imported> importTrace(const Trace &trace, MLIRContext *context, Diag &diag, bool keepStrides) {
  return Importer(trace, context, diag, keepStrides).run();
}

} // namespace torchc::compiler
