#include "compiler/lower/KernelBuilder.h"

using namespace mlir;

namespace torchc::lower {

KernelBuilder::KernelBuilder(ModuleOp module, const codegen::TargetInfo &target)
    : ImplicitLocOpBuilder(module.getLoc(), module.getContext()), theModule(module), targetInfo(target) {
  setInsertionPointToEnd(module.getBody());
}

LLVM::LLVMFuncOp KernelBuilder::beginFunction(llvm::StringRef name, llvm::ArrayRef<Type> args) {
  setInsertionPointToEnd(theModule.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), args);
  function = LLVM::LLVMFuncOp::create(*this, name, type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  function.setDsoLocal(true);
  dims.clear();
  setInsertionPointToStart(function.addEntryBlock(*this));
  return function;
}

LLVM::LLVMFuncOp KernelBuilder::beginKernel(llvm::StringRef name, bool isEntry) {
  firstSymbol = isEntry ? 0 : -int64_t(symbols.size());
  Type p = ptrType(), i = getI64Type();
  return beginFunction(name, {p, p, p, i, i});
}

void KernelBuilder::endKernel() {
  LLVM::ReturnOp::create(*this, ValueRange());
  setInsertionPointToEnd(theModule.getBody());
}

Value KernelBuilder::arg(unsigned i) { return function.getArgument(i); }

Value KernelBuilder::pointer(unsigned i) { return loadRaw(addressAt(ptrs(), i, getI64Type()), ptrType(), 8); }

Value KernelBuilder::sizeAt(unsigned i) { return loadRaw(addressAt(sizes(), i, getI64Type()), getI64Type(), 8); }

Value KernelBuilder::dim(int64_t v) {
  if (symbols.empty())
    return i64(v);
  std::optional<SizeTerms> terms = symbols.read(v);
  unreadable |= !terms;
  if (!terms || terms->constant())
    return i64(v);
  auto known = dims.find(v);
  if (known != dims.end())
    return known->second;
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&function.getBody().front());
  Value sum = i64(terms->factor[0]);
  for (int p = 1; p < symbols.products(); p++) {
    if (!terms->factor[p])
      continue;
    Value product = i64(terms->factor[p]);
    for (size_t s = 0; s < symbols.size(); s++)
      for (int k = 0; k < symbols.power(p, s); k++)
        product = mul(product, loadRaw(addressAt(sizes(), firstSymbol + int64_t(s), getI64Type()), getI64Type(), 8));
    sum = add(sum, product);
  }
  return dims[v] = sum;
}

bool KernelBuilder::isMultiple(int64_t size, int64_t of) const {
  std::optional<SizeTerms> terms = symbols.read(size);
  return terms && llvm::all_of(terms->factor, [&](int64_t factor) { return factor % of == 0; });
}

Type KernelBuilder::elementType(DType t) {
  switch (t) {
  case DType::F32: return getF32Type();
  case DType::F64: return getF64Type();
  case DType::F16:
  case DType::BF16: return getI16Type();
  case DType::Bool: return getI1Type();
  default: return getIntegerType(unsigned(itemSize(t)) * 8);
  }
}

Type KernelBuilder::memoryType(DType t) { return t == DType::Bool ? Type(getI8Type()) : elementType(t); }

Type KernelBuilder::wide(Type element, unsigned lanes) {
  return lanes == 1 ? element : VectorType::get({int64_t(lanes)}, element);
}

unsigned KernelBuilder::lanesOf(Value v) {
  auto type = dyn_cast<VectorType>(v.getType());
  return type ? unsigned(type.getNumElements()) : 1;
}

Type KernelBuilder::scalarOf(Type t) {
  auto type = dyn_cast<VectorType>(t);
  return type ? type.getElementType() : t;
}

static Value constant(KernelBuilder &b, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, Attribute(element)));
  return arith::ConstantOp::create(b, element);
}

Value KernelBuilder::intConst(Type type, int64_t v) {
  unsigned width = scalarOf(type).getIntOrFloatBitWidth();
  return constant(*this, type, IntegerAttr::get(scalarOf(type), llvm::APInt(64, uint64_t(v)).trunc(width)));
}

Value KernelBuilder::floatConst(Type type, double v) {
  auto element = cast<FloatType>(scalarOf(type));
  llvm::APFloat value(v);
  bool lost;
  value.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return constant(*this, type, FloatAttr::get(element, value));
}

Value KernelBuilder::bitsConst(Type type, uint64_t bits) {
  Type element = scalarOf(type);
  unsigned width = element.getIntOrFloatBitWidth();
  llvm::APInt pattern = llvm::APInt(64, bits).trunc(width);
  if (auto f = dyn_cast<FloatType>(element))
    return constant(*this, type, FloatAttr::get(f, llvm::APFloat(f.getFloatSemantics(), pattern)));
  return constant(*this, type, IntegerAttr::get(element, pattern));
}

Value KernelBuilder::splat(Value scalar, unsigned lanes) {
  if (lanes == 1)
    return scalar;
  return vector::BroadcastOp::create(*this, wide(scalar.getType(), lanes), scalar);
}

Value KernelBuilder::step(Type element, unsigned lanes) {
  if (lanes == 1)
    return intConst(element, 0);
  unsigned width = element.getIntOrFloatBitWidth();
  llvm::SmallVector<llvm::APInt> values;
  for (unsigned i = 0; i < lanes; ++i)
    values.push_back(llvm::APInt(width, i));
  auto type = cast<VectorType>(wide(element, lanes));
  return arith::ConstantOp::create(*this, DenseElementsAttr::get(type, values));
}

Value KernelBuilder::address(Value base, Value index, Type element) {
  return LLVM::GEPOp::create(*this, ptrType(), element, base, ValueRange{index});
}

Value KernelBuilder::addressAt(Value base, int64_t index, Type element) {
  if (index == 0)
    return base;
  if (!llvm::isInt<29>(index)) // a GEPArg holds no more
    return address(base, i64(index), element);
  return LLVM::GEPOp::create(*this, ptrType(), element, base, llvm::ArrayRef<LLVM::GEPArg>{int32_t(index)});
}

Value KernelBuilder::loadRaw(Value address, Type type, unsigned align) {
  return LLVM::LoadOp::create(*this, type, address, align);
}

void KernelBuilder::storeRaw(Value value, Value address, unsigned align) {
  LLVM::StoreOp::create(*this, value, address, align);
}

Value KernelBuilder::load(Value base, Value index, DType t, unsigned lanes, Value mask) {
  Type element = memoryType(t), type = wide(element, lanes);
  unsigned align = unsigned(itemSize(t));
  Value where = address(base, index, element), v;
  if (mask)
    v = LLVM::MaskedLoadOp::create(*this, type, where, mask, zero(type), align);
  else
    v = loadRaw(where, type, align);
  if (t == DType::Bool)
    v = compare(arith::CmpIPredicate::ne, v, intConst(type, 0));
  return v;
}

void KernelBuilder::store(Value value, Value base, Value index, DType t, Value mask) {
  Type element = memoryType(t);
  unsigned align = unsigned(itemSize(t));
  if (t == DType::Bool)
    value = arith::ExtUIOp::create(*this, wide(element, lanesOf(value)), value);
  Value where = address(base, index, element);
  if (mask)
    LLVM::MaskedStoreOp::create(*this, value, where, mask, align);
  else
    storeRaw(value, where, align);
}

Value KernelBuilder::zero(Type type) { return bitsConst(type, 0); }

Value KernelBuilder::stackSlots(Type element, int64_t count, unsigned align) {
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(*this, ptrType(), element, i64(count), align);
}

Value KernelBuilder::roundDown(Value x, int64_t m) { return arith::AndIOp::create(*this, x, i64(-m)); }

Values KernelBuilder::loop(Value from, Value to, int64_t step, ValueRange init, LoopBody body) {
  auto op =
      scf::ForOp::create(*this, from, to, i64(step), init, [&](OpBuilder &, Location, Value iv, ValueRange carried) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPointToEnd(iv.getParentBlock());
        Values next = body(iv, carried);
        scf::YieldOp::create(*this, next);
      });
  return Values(op.getResults());
}

void KernelBuilder::loop(Value from, Value to, int64_t step, PlainBody body) {
  loop(from, to, step, ValueRange(), [&](Value iv, ValueRange) {
    body(iv);
    return Values();
  });
}

Values KernelBuilder::whileLoop(ValueRange init, llvm::function_ref<Value(ValueRange)> condition,
                                llvm::function_ref<Values(ValueRange)> body) {
  auto op = scf::WhileOp::create(
      *this, init.getTypes(), init,
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPointToEnd(inner.getInsertionBlock());
        Value c = condition(carried);
        scf::ConditionOp::create(*this, c, carried);
      },
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPointToEnd(inner.getInsertionBlock());
        scf::YieldOp::create(*this, body(carried));
      });
  return Values(op.getResults());
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> then) {
  scf::IfOp::create(*this, condition, [&](OpBuilder &inner, Location) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToEnd(inner.getInsertionBlock());
    then();
    scf::YieldOp::create(*this);
  });
}

Values KernelBuilder::ifElse(Value condition, TypeRange types, llvm::function_ref<Values()> then,
                             llvm::function_ref<Values()> otherwise) {
  auto op = scf::IfOp::create(*this, types, condition, /*withElseRegion=*/true);
  for (auto [block, fill] : {std::pair(op.thenBlock(), then), std::pair(op.elseBlock(), otherwise)}) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToEnd(block);
    Values results = fill();
    if (block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>())
      scf::YieldOp::create(*this, results);
  }
  return Values(op.getResults());
}

} // namespace torchc::lower
