#include "dialects/torchc/ValueBuilder.h"

using namespace mlir;

namespace torchc::ir {

static Value marked(Value v, StringRef mark) {
  if (v)
    v.getDefiningOp()->setAttr(mark, UnitAttr::get(v.getContext()));
  return v;
}

Value behind(Value v, StringRef mark) {
  Operation *op = v.getDefiningOp();
  return op && op->hasAttr(mark) ? op->getOperand(0) : v;
}

Value ValueBuilder::number(const Attr &number, DType type) {
  return marked(create(OpId::Full, {}, {Attr::ints(nullptr, 0), number, Attr::dtype(type)}), numberMark);
}

Value ValueBuilder::promoted(Value v, DType type) {
  return !v || dtype(v) == type ? v : marked(cast(v, type), promotedMark);
}

/// The number that a constant was made from.
OpArg<Value> ValueBuilder::asNumber(const OpArg<V> &operand) {
  Operation *op = operand.value && *operand.value ? operand.value->getDefiningOp() : nullptr;
  SmallVector<Attr> attrs;
  return op && op->hasAttr(numberMark) && readAttrs(op, opInfo(OpId::Full), attrs) ? OpArg<V>(attrs[1]) : operand;
}

Value ValueBuilder::cast(Value v, DType type) {
  if (!v || dtype(v) == type)
    return v;
  OpArg<V> operand(v);
  return create(OpId::Cast, operand, Attr::dtype(type));
}

Value ValueBuilder::op(OpId id, const Value *operands, int n, std::initializer_list<Attr> attrs) {
  SmallVector<OpArg<V>> args;
  for (int i = 0; i < n; i++)
    args.push_back(operands[i]);
  return create(id, args, ArrayRef(attrs.begin(), attrs.size()));
}

Value ValueBuilder::create(OpId id, ArrayRef<OpArg<V>> given, ArrayRef<Attr> attrs) {
  const OpInfo &info = opInfo(id);
  SmallVector<OpArg<V>> operands(given);
  if (info.promote != Promote::None)
    for (OpArg<V> &o : operands)
      o = asNumber(o);
  if (llvm::all_of(operands, [](const OpArg<V> &o) { return !o.value; })) // numbers alone: at least one is a tensor
    operands.assign(given.begin(), given.end());
  SmallVector<OperandType> types;
  std::vector<Dims> shapes;
  shapes.reserve(operands.size());
  for (const OpArg<V> &o : operands) {
    if (!o.value) {
      types.push_back({numberCategory(o.number), true, nullptr});
      continue;
    }
    if (!*o.value) // an operand that failed before
      return Value();
    shapes.push_back(dims(*o.value));
    types.push_back({dtype(*o.value), false, &shapes.back()});
  }
  TensorType result;
  if (!inferOp(id, types.data(), int(types.size()), attrs.data(), int(attrs.size()), defaultDType, result, diag))
    return Value();
  auto complex = [](const Attr &a) { return a.tag == AttrTag::DType && isComplex(a.asDType()); };
  if (isComplex(result.dtype) || llvm::any_of(attrs, complex)) {
    diag.fail(ErrorKind::NotImplemented, std::string(info.name) + "(): complex types are not compiled");
    return Value();
  }
  // In the dialect these count elements of a row-major operand, as a tensor has no memory to look beyond.
  bool strided = info.shape == ShapeRule::AsStrided || info.shape == ShapeRule::AsStridedUpdate;
  if (strided && !stridedWithin(shapes[0].numel(), attrs.data())) {
    diag.fail(ErrorKind::NotImplemented, std::string(info.name) + "(): memory outside of a row-major operand");
    return Value();
  }

  SmallVector<Value> values;
  Promoted p =
      info.promote == Promote::None ? Promoted{} : promote(info.promote, types.data(), int(types.size()), defaultDType);
  for (auto [i, o] : llvm::enumerate(operands)) {
    bool condition = info.promote == Promote::Branch && i == 0;
    DType want = condition                       ? DType::Bool
                 : info.promote == Promote::None ? (o.value ? types[i].dtype : types[0].dtype)
                                                 : p.compute;
    if (o.value)
      values.push_back(promoted(*o.value, want));
    else
      values.push_back(number(o.number, info.promote == Promote::None ? want : numberType(info.promote, want)));
    if (!values.back())
      return Value();
  }
  OperationState state(loc, (llvm::Twine("torchc.") + info.name).str());
  state.addOperands(values);
  state.addTypes(tensorType(builder.getContext(), result));
  for (int k = 0; k < info.numAttrs; k++)
    state.addAttribute(info.attrs[k].name, toMlir(builder.getContext(), info.attrs[k], attrs[k]));
  return builder.create(state)->getResult(0);
}

} // namespace torchc::ir
